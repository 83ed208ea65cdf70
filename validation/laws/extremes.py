"""Cases whose answer follows from a simpler one: many disks, arrays that lost a member, rebuilds during a load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...model.layouts import LEVELS
from ...model.statistics.usage import limit
from .law import Law, Violation
from .trial import Trial, clearly_below

SHARE = 0.9
_MOST_DRIVES = 8
_MOST_IOS = 512


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
