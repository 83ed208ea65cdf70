"""Cases whose answer follows from a simpler one: many disks, arrays that lost a member, rebuilds during a load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...model.kernels import kernel
from ...model.layouts import LEVELS
from ...model.statistics.usage import limit
from .law import Law, Violation
from .trial import Trial, clearly_below

SHARE = 0.9
_MOST_DRIVES = 8
_MOST_IOS = 512
LONGER = 1.25
"""How much longer reads at half their rate may take: md lets a resync that it interrupts half as often have more
requests at the members when a read comes."""
_LONG = {"workload.warm_up": "0.2s", "workload.duration": "1s"}
"""A resync sleeps for ticks of 4 ms, and must do so many times."""
_LIGHT = 0.25
"""Share of the I/Os that the array serves alone."""
_CLOSED = [
    f"workload.{name}" for name in ("depth", "iops", "engine", "think_time", "think_distribution", "fsync", "precision")
]
"""What a load at a rate does not have."""


def _all_drives(trial: Trial) -> Mapping[str, Any] | None:
    """The same load on each of several equal drives."""
    load, data = trial.closed, trial.data
    drives = data.get("machine", {}).get("drives", {})
    alike = isinstance(drives, dict) and "count" in drives and not set(drives) - {"model", "count", "state"}
    if load is None or not alike or trial.spec.arrays or len(load.targets) != 1 or load.fsync:
        return None
    count = min(_MOST_DRIVES, drives["count"])
    if count < 2 or load.targets[0] not in trial.spec.machine.drives or load.depth * load.jobs * count > _MOST_IOS:
        return None
    return {"workload.targets": [f"disk{number}" for number in range(count)]}


def _many(trial: Trial) -> Iterator[Violation]:
    values = _all_drives(trial)
    more = None if values is None else trial.varied(values)
    if more is None:
        return
    count = len((values or {})["workload.targets"])
    one, all_of_them = trial.outcome.rate, more.outcome.rate
    found = limit(more.outcome.prediction.usages)
    # A part that they share may be saturated.
    drives = more.spec.machine.drives
    shared = found is not None and found.saturated and all(part.name not in drives for part in found.parts)
    too_little = not shared and clearly_below(all_of_them, one, SHARE * count)
    if too_little or clearly_below(one, all_of_them, SHARE / count):
        yield Violation(
            "many",
            f"{all_of_them.mean / 1e6:,.4g} MB/s of {count} drives",
            f"{count} times {one.mean / 1e6:,.4g} MB/s of one, unless something that they share is saturated",
        )


def _repaired(trial: Trial) -> Mapping[str, Any] | None:
    """The array without its failure, under a load that reads."""
    load = trial.closed
    failed = {name: each for name, each in trial.spec.arrays.items() if each.failed}
    if load is None or load.read_share < 1 or not failed or trial.spec.failures:
        return None
    if any(LEVELS[each.level].redundancy == "byte parity" for each in failed.values()):
        return None
    return {f"arrays.{name}.{field}": None for name in failed for field in ("failed", "rebuilding", "resync", "spares")}


def _quiet(trial: Trial) -> Mapping[str, Any] | None:
    """The same without resync and rebuild."""
    busy = {name: each for name, each in trial.spec.arrays.items() if each.resync or each.rebuilding}
    if trial.closed is None or not busy or trial.spec.failures:
        return None
    return {f"arrays.{name}.{field}": None for name in busy for field in ("rebuilding", "resync")}


def _no_more(trial: Trial, values: Mapping[str, Any] | None, kind: str, than: str) -> Iterator[Violation]:
    other = None if values is None else trial.varied(values)
    if other is None:
        return
    mine, most = trial.outcome.rate, other.outcome.rate
    if clearly_below(most, mine, SHARE):
        yield Violation(kind, f"{mine.mean / 1e6:,.4g} MB/s", f"no more than the {most.mean / 1e6:,.4g} MB/s {than}")


def _degraded(trial: Trial) -> Iterator[Violation]:
    yield from _no_more(trial, _repaired(trial), "degraded", "of the whole array")


def _beside(trial: Trial) -> Iterator[Violation]:
    yield from _no_more(trial, _quiet(trial), "beside", "without a resync")


def _next_to_a_check(trial: Trial) -> Mapping[str, Any] | None:
    """Reads of the same array at a rate of their own next to a check, or to the resync that it has.

    The kernel is one on which a resync gives way by waiting for its own I/O.
    """
    load, spec, described = trial.load, trial.spec, trial.data.get("arrays", {})
    if load is None or load.read_share < 1 or load.pattern != "random" or len(load.targets) != 1 or spec.failures:
        return None
    name = load.targets[0]
    array = spec.arrays.get(name)
    # A kernel that naps lets a resync run as fast as it can next to a light load. A RAID 10 sends up to 32 MiB while
    # nobody reads, and the next read waits for all of it, as recorded. A hard disk with several commands goes on with
    # the resync until a read is too old, and breaks off less often for fewer reads.
    if array is None or array.controller is not None or name not in described:
        return None
    level = LEVELS[array.level]
    if level.has_groups or not (level.is_mirror or level.has_parity):
        return None
    drives = [instance.spec() for instance in spec.machine.drives.values()]
    if any(each.rotational and each.queue_depth > 1 for each in drives):
        return None
    if kernel(spec.kernel).resync.when_busy != "drain" or (array.failed and not array.rebuilding):
        return None
    values = {**dict.fromkeys(_CLOSED), **_LONG, "workload.total_iops": trial.outcome.iops * _LIGHT}
    return values if array.resync or array.rebuilding else {**values, f"arrays.{name}.resync": {"action": "check"}}


def _fewer(trial: Trial) -> Iterator[Violation]:
    values = _next_to_a_check(trial)
    busy = None if values is None else Trial(trial.document.changed(values).data).varied({})
    half = None if busy is None else busy.varied({"workload.total_iops": trial.outcome.iops * _LIGHT / 2})
    if busy is None or half is None or busy.outcome.prediction.saturated or half.outcome.prediction.saturated:
        return
    many, few = (each.outcome.prediction.estimates.get("read_mean_seconds") for each in (busy, half))
    if many is None or few is None:
        return
    spread = 2 * (few.half_width**2 + (LONGER * many.half_width) ** 2) ** 0.5
    if few.mean - spread > LONGER * many.mean:
        yield Violation(
            "fewer-reads",
            f"{few.mean * 1e3:,.4g} ms a read at half the rate",
            f"no more than {LONGER} times {many.mean * 1e3:,.4g} ms",
            busy.data,
        )


_INTERVALS = f"{1 - SHARE:.0%}, and the 90 % intervals of both figures doubled"

MANY = Law(
    "many-drives",
    "n drives with a load each move n times what one does, unless something that they share is saturated.",
    "loads with a depth on one of several equal drives",
    _INTERVALS,
    _many,
    lambda trial: trial.outcome.iops > 0 and _all_drives(trial) is not None,
    runs=1,
)
DEGRADED = Law(
    "degraded",
    "An array that lost a member reads no faster than the whole one.",
    "loads that read with a depth from an array with a failed member",
    _INTERVALS,
    _degraded,
    lambda trial: trial.outcome.iops > 0 and _repaired(trial) is not None,
    runs=1,
)
BESIDE = Law(
    "beside-resync",
    "A load beside a resync gets no more than alone.",
    "loads with a depth beside a resync or a rebuild",
    _INTERVALS,
    _beside,
    lambda trial: trial.outcome.iops > 0 and _quiet(trial) is not None,
    runs=1,
)
FEWER = Law(
    "fewer-reads",
    "Reads next to a resync or a rebuild take no longer if half as many come.",
    "random reads of RAID 1, 4, 5 and 6 of Linux since 4.2, not on disks with command queuing; a check is added",
    f"{LONGER - 1:.0%}, as md interrupts the resync less often, and the 90 % intervals of both figures doubled",
    _fewer,
    lambda trial: trial.outcome.ios > 0 and _next_to_a_check(trial) is not None,
    runs=2,
)
