"""The utilization law (Denning and Buzen, Computing Surveys 10, 1978): busy = throughput x service time, of every part.

What is named as the bottleneck is busy, and what is said to have time left has some.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model.disk.spec import DriveSpec
from ...model.statistics.usage import HOST_MEMORY, LOCK, PLACES, limit
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.machine.drives import is_solid_state
from .law import Law, Violation
from .monotone import streams_on_disks
from .trial import Trial

BUSY = 0.9
"""Least utilization of a part that is named as the bottleneck."""
GAIN = 1.05
"""Throughput with four times the I/Os outstanding over that without, at least, where no part is said to limit."""
HALF = 0.35
"""Least utilization at half the throughput over that at the full one. Half is 0.5; disks serve what waits in a queue in
a better order, so that an I/O takes longer at half the load and less is never right."""
LEAST_IOS = 100
"""Of each of the two simulations: fewer tell a utilization to no more than a fifth."""
MEDIA = 0.9
"""Least utilization of a disk over the share of the time that its medium needs for what is written."""
_ENDS = 2
"""Commands that may count though they were under way at the ends of the measurement."""


def _closed(trial: Trial) -> bool:
    return trial.closed is not None and trial.outcome.iops > 0


def _always(trial: Trial) -> bool:
    return trial.outcome.run.span > 0


def _named(trial: Trial) -> Iterator[Violation]:
    found = limit(trial.outcome.prediction.usages)
    if found is None or not found.saturated:
        return
    part = found.parts[0]
    if part.kind not in (LOCK, PLACES, HOST_MEMORY) and part.utilization < BUSY:
        yield Violation(
            "bottleneck",
            f"{found.words} limits",
            f"{BUSY:.0%} busy or more, or no limit",
        )


def _more_outstanding(load: LoadSpec) -> dict[str, Any]:
    """Four times the I/Os outstanding."""
    if load.engine == "psync":
        return {"workload.jobs": 4 * load.jobs}
    return {"workload.depth": 4 * load.depth}


def _unsaturated(trial: Trial) -> Iterator[Violation]:
    load, outcome = trial.closed, trial.outcome
    assert load is not None
    found = limit(outcome.prediction.usages)
    if found is not None and found.saturated:
        return
    more = trial.varied(_more_outstanding(load))
    if more is None or more.outcome.rate.half_width > (GAIN - 1) * more.outcome.rate.mean:
        return
    rate, most = outcome.rate, more.outcome.rate
    if rate.half_width < (GAIN - 1) * rate.mean and most.mean < GAIN * rate.mean:
        yield Violation(
            "unsaturated",
            f"no part limits at {outcome.iops:,.4g} IOPS ({outcome.prediction.bottleneck})",
            f"a part is named: four times the I/Os outstanding give {more.outcome.iops:,.4g} IOPS",
        )


def _half_applies(trial: Trial) -> bool:
    load = trial.closed
    # Of several streams a disk reads ahead for one while the others rest, so that half the load takes it far less time.
    streams = load is not None and load.jobs > 1 and streams_on_disks(trial)
    # What comes in order moves from a member of a mirror to another one when more waits there, and stays.
    mirrors = any(array.level in ("raid1", "raid10") for array in trial.spec.arrays.values())
    moves = load is not None and load.pattern != "random" and mirrors
    return load is not None and trial.outcome.iops > 0 and not load.fsync and not streams and not moves


def _half(trial: Trial) -> Iterator[Violation]:
    outcome = trial.outcome
    full = {(usage.kind, usage.name): usage.utilization for usage in outcome.prediction.usages}
    if max(full.values(), default=0.0) < 0.5:
        return
    rate = {"workload.depth": None, "workload.engine": None, "workload.think_time": None}
    half = trial.varied({**rate, "workload.total_iops": float(f"{outcome.iops / 2:.6g}")})
    if half is None or half.outcome.prediction.saturated or min(outcome.ios, half.outcome.ios) < LEAST_IOS:
        return
    reached = _least_share(half, trial)
    at_half = {(usage.kind, usage.name): usage.utilization for usage in half.outcome.prediction.usages}
    drives = outcome.run.machine.disks
    copied = any(is_solid_state(drive) and drive.spec.in_submission == "copy" for drive in drives.values())
    # A disk whose cache holds more than came in the measurement is busy with what came before.
    behind = {
        name for name, drive in drives.items() if not is_solid_state(drive) and drive.dirty_bytes > drive.write_bytes
    }
    for (kind, name), busy in full.items():
        if kind in ("cpu", "SSD") and copied:
            continue  # cores that copy wait for the memory bus, and the more of them the longer
        if kind == "disk" and name in behind:
            continue
        least = HALF / 0.5 * reached * busy
        if kind in ("disk", "SSD", "link", "cpu") and busy >= 0.5 and at_half.get((kind, name), 0.0) < least:
            yield Violation(
                "half",
                f"{kind} {name} is {at_half.get((kind, name), 0.0):.1%} busy at {half.outcome.iops:,.4g} IOPS",
                f"{least:.1%} or more, as it is {busy:.1%} busy at {outcome.iops:,.4g} IOPS",
            )
            return


def _least_share(less: Trial, more: Trial) -> float:
    """The least throughput of a job in one trial, as a share of that of the same job in the other.

    A rate is divided equally among jobs, a depth by how fast the target of each is.
    """
    before, after = more.outcome.run.machine.loads, less.outcome.run.machine.loads
    spans = more.outcome.run.span, less.outcome.run.span
    rates = [(load.reads + load.writes) / spans[0] for load in before]
    shares = [(load.reads + load.writes) / spans[1] / rate for load, rate in zip(after, rates, strict=True) if rate]
    return min(shares, default=0.0)


def _mechanics(trial: Trial) -> Iterator[Violation]:
    run, load = trial.outcome.run, trial.load
    if load is not None and load.span is not None:
        return  # what is overwritten in the cache never reaches the medium
    busy = {usage.name: usage.utilization for usage in trial.outcome.prediction.usages if usage.kind == "disk"}
    for name, drive in run.machine.disks.items():
        spec = drive.spec
        if not isinstance(spec, DriveSpec) or name not in busy:
            continue
        largest = drive.write_bytes / max(1, drive.writes)
        moved = drive.write_bytes - spec.write_buffer - spec.media_cache - _ENDS * largest
        share = moved / (spec.actuators * spec.outer_media_rate * run.span)
        if busy[name] < MEDIA * min(1.0, share):
            yield Violation(
                "mechanics",
                f"{name} is {busy[name]:.1%} busy while it writes {moved / run.span / 1e6:,.4g} MB/s to the medium",
                f"{share:.1%} or more at {spec.outer_media_rate / 1e6:,.4g} MB/s",
            )


BOTTLENECK = Law(
    "bottleneck",
    "What is named as the bottleneck is 90 % busy or more, or is a lock, a wait or memory.",
    "all scenarios with a part that is said to limit",
    "none: the figure is in the same output",
    _named,
    _always,
)
UNSATURATED = Law(
    "unsaturated",
    "The latency of I/Os limits, and no part, only if more of them outstanding raise the throughput.",
    "loads with a depth for which no part is said to limit, and whose throughput is known to 5 %",
    "5 %: four times the I/Os outstanding give a multiple where really no part limits",
    _unsaturated,
    _closed,
    runs=1,
)
HALF_BUSY = Law(
    "half",
    "At half the throughput each part is about half as busy.",
    "loads with a depth and a part that is busy for half the time or more, not in order on mirrors; not the CPU that "
    "copies to RAM disks, which waits for the memory bus, nor disks that write back more than came in the measurement",
    "30 %: I/Os that wait together are served in a better order, and merged",
    _half,
    _half_applies,
    runs=1,
)
MECHANICS = Law(
    "mechanics",
    "A hard disk is busy while its medium is written, also after the host has its answer.",
    "scenarios that write more to a hard disk than its caches hold, all over the device",
    "10 %, the rate of the outermost zone, which is the fastest, and two commands at the ends",
    _mechanics,
    _always,
)
