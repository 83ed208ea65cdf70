"""Conformance of SSD caches: each phase of a recording, one after the other on the same device.

Compared are, of each phase, the requests of the origin and of the cache (reads, writes, flushes, and their bytes), hits
and promotions, and the mean and the median response time of the program's I/Os. dm-writecache's requests are those
that were recorded, each with its device, sector and length. A phase is compared with its own changes, but begins as the
model has left the phase before.

A commit of dm-cache's metadata that the recording itself caused (``dmsetup status`` between two phases) is made there.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from ....model.cache.dm_cache.target import DmCache
from ....model.cache.writecache.target import Writecache
from ....model.core.request import FLUSH, READ
from ..base import KindResult, NotSupported, Progress, TruthFile
from .compared import FEW, REQUESTS, accesses, counted, counters, off
from .jobs import check_jobs
from .laboratory import Laboratory
from .member import SECTOR, Noted
from .setup import build_of

TIMES = 0.2
SAME = 0.99
"""Share of dm-writecache's requests that have to be the recorded ones."""
RARE = 10.0
"""A mean that is more than this times the median is that of a few I/Os, and not compared."""
_KIB = 1024
_ROLES = ("origin", "cache")
_KINDS = ("reads", "KiB read", "writes", "KiB written", "flushes")


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Run every recorded phase on the model."""
    result = KindResult("cache")
    for file in files:
        name, content = file.path.name, file.content
        for variant, phases in content["results"].items():
            try:
                played = [(phase, got) for phase, got in phases.items() if "op" in got and got.get("rc") == 0]
                if not played:
                    check_jobs(name, content, variant, result, progress)
                    continue
                laboratory = Laboratory(content, build_of(content, name), name)
                status, of_phases = content["status"][variant], requests_of(file.path, variant)
            except NotSupported as error:
                result.skip(name, variant, error, len(phases))
                continue
            before: Sequence[int] = ()
            for phase, got in played:
                if got["op"] != "sleep" and not laboratory.knows(got["op"]):
                    continue
                progress(f"{variant} {phase}")
                counts = counters(status.get(phase, ""))
                changed = [now - then for now, then in zip(counts, before or (0,) * len(counts), strict=True)]
                before = counts
                lines = difference(laboratory, got, changed, of_phases.get(phase))
                result.record(name, f"{variant} {phase}", "\n".join(lines))
    return result


def requests_of(path: Path, variant: str) -> Mapping[str, Any]:
    """The requests of each phase, if they are next to the recording."""
    beside = path.with_name(f"{path.name.split('.')[0]}.requests.json.gz")
    if not beside.is_file():
        return {}
    found: Mapping[str, Any] = json.loads(gzip.decompress(beside.read_bytes())).get(variant, {})
    return found


def difference(laboratory: Laboratory, got: Mapping[str, Any], changed: Sequence[int], requests: Any) -> Iterator[str]:
    """What differs in a phase, figure by figure."""
    device = laboratory.device
    first, ours = len(laboratory.noted), counted(device)
    times = laboratory.play(got["op"])
    noted = laboratory.noted[first:]
    now = [after - before for after, before in zip(counted(device), ours, strict=True)]
    if isinstance(device, DmCache):
        laboratory.commit(device)
    if isinstance(device, Writecache) and requests is not None:
        yield from _requests(requests, noted)
    else:
        yield from _counts(got["members"], noted)
    if changed:
        yield from accesses(changed, now)
    if times:
        if got["mean_us"] < RARE * got["p50"]:
            yield from filter(None, [off("mean", float(got["mean_us"]), 1e6 * fmean(times), TIMES, " us")])
        yield from filter(None, [off("median", float(got["p50"]), 1e6 * median(times), TIMES, " us")])


def _requests(recorded: Any, noted: Sequence[Noted]) -> Iterator[str]:
    there = Counter(
        (member, "F" if "F" in rwbs and not sectors else "R" if "R" in rwbs else "W", sector, sectors)
        for _, _, member, rwbs, sector, sectors in recorded
    )
    here = Counter((each.member, "RWF"[each.op], each.offset // SECTOR, each.size // SECTOR) for each in noted)
    same, most = (there & here).total(), max(there.total(), here.total())
    if same < SAME * most:
        yield f"{same} of {there.total()} recorded requests are the model's {here.total()}"


def _counts(recorded: Sequence[Sequence[float]], noted: Sequence[Noted]) -> Iterator[str]:
    for member, role in enumerate(_ROLES):
        mine = [each for each in noted if each.member == member]
        reads = [each.size for each in mine if each.op == READ]
        writes = [each.size for each in mine if each.op not in (READ, FLUSH)]
        flushes = len(mine) - len(reads) - len(writes)
        ours = (len(reads), sum(reads) / _KIB, len(writes), sum(writes) / _KIB, flushes)
        for what, there, here in zip(_KINDS, recorded[member], ours, strict=True):
            few = FEW * (64 if "KiB" in what else 1)
            if abs(there - here) > max(few, REQUESTS * there):
                yield f"{what} of the {role}: {there:,.0f} recorded, {here:,.0f} from the model"
