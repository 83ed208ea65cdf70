"""What members have outstanding: reads, writes, prefetch, scrub and resilver, each alone and with random reads.

The level of a class is the number of its requests that a member has at most times. With a load, the reads of a scan are
those of another size than the load's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ....model.core.request import ASYNC, READ, WAITED, WRITE, WRITE_THROUGH
from ....model.zfs.pool.settings import DatasetSettings
from ....model.zfs.scan.begin import begin_scan
from ....model.zfs.scan.settings import ScanSettings
from ..base import KindResult, NotSupported, Progress
from .laboratory import Job, Laboratory, Member, pool_named

_PHASE = re.compile(r"q_(randread|dsync|async|seqread|scrub|resilver)(?:_(load|full|small|j\d+))?")
_LOAD_BYTES = 16 << 10
_LOAD_THREADS, _JOB_THREADS = 4, 32
_JOB_S, _SCAN_S = 0.6, 1.5
_FEW = 20
_FILES = {"small": (32 << 20, 16 << 10), "large": (256 << 20, 128 << 10)}
"""Size and record of the files."""


class Transfer(NamedTuple):
    """A request: member, operation, when it was issued and complete (s), and bytes."""

    member: int
    op: int
    begin: float
    end: float
    size: int


def check_queues(file: str, content: Mapping[str, Any], result: KindResult, progress: Progress) -> None:
    """Compare each phase that the model has."""
    member = Member.recorded(content["member"])
    for phase in content["phases"]:
        match = _PHASE.fullmatch(phase["phase"])
        if match is None:
            continue
        progress(f"{file} {phase['phase']}")
        try:
            model = _run(file, match[1], match[2] or "", member, bool(content["member"].get("rotational")))
        except NotSupported as error:
            result.skip(file, phase["phase"], error)
            continue
        recorded = levels(_recorded(phase["requests"]), match[1], match[2] == "load")
        found = levels(model, match[1], match[2] == "load")
        different = [
            f"{what}: recorded {recorded.get(what, 0)}; the model has {found.get(what, 0)}"
            for what in recorded.keys() | found.keys()
            if recorded.get(what) != found.get(what)
        ]
        result.record(file, phase["phase"], "\n".join(sorted(different)))


def levels(transfers: Sequence[Transfer], work: str, loaded: bool) -> dict[str, int]:
    """Requests outstanding at a member at most times, by class; of scans and synchronous writes the most."""
    by_member: dict[int, list[Transfer]] = {}
    for each in transfers:
        by_member.setdefault(each.member, []).append(each)
    read = [[each for each in mine if each.op == READ] for mine in by_member.values()]
    written = [[each for each in mine if each.op == WRITE] for mine in by_member.values()]
    if work in ("randread", "seqread"):
        return {"reads": _level(_spent(read))}
    if work == "dsync":
        return {"most writes": max(_spent(written))}
    if work == "async":
        return {"writes": _level(_spent(written))}
    found = {}
    if work == "resilver":
        # The new member is the one that is written most; the others are read.
        found["writes"] = _level(_spent([max(written, key=lambda mine: sum(each.size for each in mine))]))
    scans = [[each for each in mine if each.size != _LOAD_BYTES or not loaded] for mine in read]
    loads = [[each for each in mine if each.size == _LOAD_BYTES and loaded] for mine in read]
    alone: Counter[int] = Counter()
    beside: Counter[int] = Counter()
    for scan, load in zip(scans, loads, strict=True):
        if len(scan) < _FEW:
            continue
        for (level, others), seconds in _both(scan, load).items():
            (beside if others > 1 else alone)[level] += seconds  # type: ignore[assignment]
    found["reads"] = _level(alone)
    if loaded:
        found["reads with a load"] = _level(beside)
    return found


def _run(file: str, work: str, how: str, member: Member, rotating: bool) -> list[Transfer]:
    """The same on the model."""
    pool = pool_named(file.partition(".")[0].partition("_10ms")[0])
    scans = work in ("scrub", "resilver")
    rebuilding = frozenset([0] if work == "resilver" else [])
    datasets = [
        DatasetSettings(name, size, record, primarycache="all" if work in ("async", "seqread") else "metadata")
        for name, (size, record) in _FILES.items()
    ]
    lab = Laboratory(pool, member, datasets, rotating=rotating, rebuilding=rebuilding)
    small, large = lab.pool.datasets["small"], lab.pool.datasets["large"]
    if scans:
        scan = begin_scan(lab.engine, None, lab.pool, work, 0.01, ScanSettings())  # type: ignore[arg-type]
        lab.engine.spawn(scan.run())
        if how == "load":
            Job(lab, small, READ, _LOAD_BYTES, WAITED, _LOAD_THREADS, _JOB_S)
        lab.rest(_SCAN_S)
    elif work == "async":
        data, size = (large, 128 << 10) if how == "full" else (small, _LOAD_BYTES)
        Job(lab, data, WRITE, size, ASYNC, 1, 0.1)
        lab.sync()
    elif work == "seqread":
        Job(lab, large, READ, 128 << 10, WAITED, 1, None, calls=200)
    else:
        op, sync = (READ, WAITED) if work == "randread" else (WRITE, WRITE_THROUGH)
        Job(lab, small, op, _LOAD_BYTES, sync, _JOB_THREADS, _JOB_S)
    return [
        Transfer(number, op, at, at + member.service_s, size)
        for number, disk in enumerate(lab.disks)
        for at, op, size in disk.log
    ]


def _recorded(requests: Iterable[Sequence[Any]]) -> list[Transfer]:
    """Requests of the data area: reads that look for labels are left out."""
    ops = {"R": READ, "W": WRITE}
    return [
        Transfer(member, ops[rwbs[0]], us / 1e6, (us + lasts) / 1e6, sectors * 512)
        for us, lasts, member, rwbs, sector, sectors in requests
        if lasts is not None and rwbs in ops and sector >= 0
    ]


def _spent(members: Iterable[Sequence[Transfer]]) -> Counter[int]:
    """Seconds with each number of requests outstanding, over all members."""
    spent: Counter[int] = Counter()
    for mine in members:
        for (level, _), seconds in _both(mine, ()).items():
            spent[level] += seconds  # type: ignore[assignment]
    return spent


def _both(first: Sequence[Transfer], second: Sequence[Transfer]) -> dict[tuple[int, int], float]:
    """Seconds with some of the first kind outstanding, by how many of both are."""
    changes = [(each.begin, 1, 0) for each in first] + [(each.end, -1, 0) for each in first]
    changes += [(each.begin, 0, 1) for each in second] + [(each.end, 0, -1) for each in second]
    spent: dict[tuple[int, int], float] = {}
    now, level, others = 0.0, 0, 0
    for at, more, more_others in sorted(changes):
        if level:
            spent[level, others] = spent.get((level, others), 0.0) + at - now
        now = at
        level += more
        others += more_others
    return spent


def _level(spent: Counter[int]) -> int:
    return max(spent, key=lambda level: spent[level], default=0)
