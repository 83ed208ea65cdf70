"""fio on volumes and files of a pool: which of them the page cache holds."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.run import FioOptions, run_fio

_POOL = """
machine: {{memory: 4GiB, drives: {{model: Samsung-PM9A3-3840GB, count: 2}}}}
pools: {{tank: {{vdevs: mirrors, datasets: {{data: {{{kind}: 10GiB, {block}: 16KiB, direct: disabled}}}}}}}}
workload: {{kind: load}}
"""
_JOB = "[a] filename=/dev/tank/data ioengine=psync rw=randwrite bs=16k size=1g number_ios=3000 fsync=1 direct={direct}"


def _writes_per_s(kind: str, direct: int) -> float:
    block = "recordsize" if kind == "file" else "volblocksize"
    job = sections(_JOB.format(direct=direct).replace(" ", "\n"), "job")
    found = run_fio(document_from(_POOL.format(kind=kind, block=block)).spec(), job, FioOptions()).jobs[0].write
    return found.total_ios / found.runtime_s


def test_direct_io_past_the_arc_is_refused() -> None:
    """Protects from hits in an ARC that OpenZFS 2.3 does not ask: O_DIRECT on a file, unless its dataset says no."""
    text = _POOL.format(kind="file", block="recordsize").replace(", direct: disabled", "")
    job = sections(_JOB.format(direct=1).replace(" ", "\n"), "job")
    with pytest.raises(InputError, match="past whose ARC it goes"):
        run_fio(document_from(text).spec(), job, FioOptions())


def test_files_of_pools_are_in_no_page_cache() -> None:
    """Protects files of ZFS from two caches: buffered writes are as fast as direct ones; on a volume they are not."""
    assert _writes_per_s("file", 0) == pytest.approx(_writes_per_s("file", 1), rel=1e-9)
    assert _writes_per_s("volume", 0) != pytest.approx(_writes_per_s("volume", 1), rel=0.01)
