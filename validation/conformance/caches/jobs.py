"""Recorded jobs of fio on a cached device: rates, and how often reads and writes find their block.

fio's offsets are those that its generator draws. The jobs run one after the other on the same device, each for the
recorded time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....model.core.request import READ, WRITE
from ....model.programs.fio.jobs import jobs
from ....model.programs.fio.offsets import FioOffsets
from ....model.programs.fio.sections import sections
from ....model.programs.operation import Kind
from ..base import KindResult, NotSupported, Progress
from .compared import accesses, counted, counters, off
from .laboratory import Laboratory
from .setup import build_of_jobs

_DEVICE = "/dev/cached"
_PAUSE_S = 0.3
"""Between two jobs (s); not recorded."""
_WORDS = re.compile(
    r"fio over the first (?P<mib>\d+) MiB, (?P<kib>\d+) KiB, depth (?P<depth>\d+), .*?zipf (?P<theta>[\d.]+)"
)
_JOB = re.compile(r"(?P<kind>zipf_read|zipf_rw70|randwrite)_q\d+\.\d")
_KINDS = {"zipf_read": "rw=randread", "zipf_rw70": "rw=randrw\nrwmixread=70", "randwrite": "rw=randwrite"}
_ORDER = tuple(_KINDS)
_RATE = 0.2
_KINDS_OF_IO = {Kind.READ: READ, Kind.WRITE: WRITE}


def check_jobs(name: str, content: Mapping[str, Any], variant: str, result: KindResult, progress: Progress) -> None:
    """Run the jobs of one variant, in the order of their recording."""
    words = _WORDS.match(content["jobs"])
    if words is None:
        raise NotSupported(name, f"jobs {content['jobs']!r}"[:90], "expected: fio over the first N MiB, N KiB, depth N")
    found = [(case, match) for case in content["results"][variant] if (match := _JOB.fullmatch(case)) is not None]
    found.sort(key=lambda each: _ORDER.index(each[1]["kind"]))
    laboratory = Laboratory(content, build_of_jobs(content, variant, name), name)
    device, statuses = laboratory.device, _statuses(content["status"])
    for number, (case, match) in enumerate(found):
        progress(f"{variant} {case}")
        recorded = content["results"][variant][case]
        laboratory.rest(_PAUSE_S)
        seconds = max(recorded[each]["ios"] / recorded[each]["iops"] for each in ("read", "write") if each in recorded)
        before = counted(device)
        rates = laboratory.job(_ios(words, match["kind"], device.capacity), int(words["depth"]), seconds)
        now = [after - then for after, then in zip(counted(device), before, strict=True)]
        lines = [
            off(f"{what}s a second", recorded[what]["iops"], rate, _RATE, "")
            for what, rate in zip(("read", "write"), rates, strict=True)
            if what in recorded
        ]
        if len(statuses) > number + 1:
            changed = [after - then for after, then in zip(statuses[number + 1], statuses[number], strict=True)]
            lines += accesses(changed, now)
        result.record(name, f"{variant} {case}", "\n".join(line for line in lines if line))


def _statuses(status: Mapping[str, Sequence[str]]) -> list[list[int]]:
    """What dm-cache had counted before the first job, and after each; nothing of bcache, which counts late."""
    return [counters(line) for line in status.get("dm_shown", ())]


def _ios(words: re.Match[str], kind: str, capacity: int) -> Iterator[tuple[int, int, int]]:
    """The I/Os of a job: operation, offset and size."""
    zipf = f"random_distribution=zipf:{words['theta']}\n" if kind.startswith("zipf") else ""
    text = (
        f"[job]\nfilename={_DEVICE}\nioengine=libaio\ndirect=1\nbs={words['kib']}k\niodepth={words['depth']}\n"
        f"size={words['mib']}m\ntime_based=1\nruntime=60\n{zipf}{_KINDS[kind]}\n"
    )
    (job,) = jobs(sections(text), {_DEVICE: capacity}, [_DEVICE])
    for operation in FioOffsets(job).operations():
        if operation.kind in _KINDS_OF_IO:
            yield _KINDS_OF_IO[operation.kind], operation.offset, operation.size
