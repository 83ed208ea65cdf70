"""fio on a device behind an SSD cache, as `raidsim fio --machine` runs it."""

from __future__ import annotations

import pytest

from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.result import FioRun
from raidsim.scenarios.fio.run import FioOptions, run_fio

MACHINE = """
machine: {{drives: {{disk0: {{model: WD2500JB}}, flash: {{model: Samsung-870-EVO-1TB}}}}}}
caches: {{c0: {{on: disk0, cache: flash, size: 300MiB, {cache}}}}}
workload: {{kind: load, {load}}}
"""
JOB = "[a] filename=/dev/c0 direct=1 ioengine=libaio rw={rw} bs=4k size=64m number_ios=400 iodepth=4"


def ran(cache: str, load: str = "span: 64MiB", rw: str = "randread") -> FioRun:
    """A job on the cached device."""
    job = sections(JOB.format(rw=rw).replace(" ", "\n"), "job")
    return run_fio(document_from(MACHINE.format(cache=cache, load=load)).spec(), job, FioOptions())


def ios(found: FioRun, op: str) -> dict[str, int]:
    """Commands of the drives below."""
    return {member.name: getattr(member, f"{op}_ios") for disk in found.disks for member in disk.members}


@pytest.mark.parametrize("kind", ["dm-cache", "bcache"])
def test_a_cache_that_the_machine_s_load_has_warmed_serves_fio(kind: str) -> None:
    """Protects `fio --machine`: the load of the machine's file has filled the cache, and fio finds its blocks there."""
    warm, cold = ran(f"kind: {kind}"), ran(f"kind: {kind}, state: cold")
    assert ios(warm, "read") == {"disk0": 0, "flash": 400}
    assert ios(cold, "read")["disk0"] > 300
    assert warm.jobs[0].read.runtime_s < 0.2 * cold.jobs[0].read.runtime_s
    assert not any("cold" in note for note in (*warm.notes, *cold.notes))


def test_writes_go_to_the_buffer() -> None:
    """Protects dm-writecache: the slow drive gets nothing of a burst, in whole lines of `disk_util`."""
    found = ios(ran("kind: dm-writecache", rw="randwrite"), "write")
    assert found["disk0"] == 0
    assert found["flash"] >= 400


def test_what_has_warmed_a_cache_must_be_said() -> None:
    """Protects from a warm cache that is empty: a load of streams leaves nothing there, and a note says it."""
    streams = "pattern: sequential"
    assert any("caches.c0.warmed_by" in note for note in ran("kind: dm-cache", streams).notes)
    said = ran("kind: dm-cache, warmed_by: [{span: 64MiB}]", streams)
    assert ios(said, "read") == {"disk0": 0, "flash": 400}
