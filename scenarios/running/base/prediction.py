"""What a run gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ....model.core.exact_sums import sum_in_order
from ....model.statistics import Estimate, Usage
from .drift import Drift
from .waits import WaitTimes
from .wear import DriveWear

LatencyBins = tuple[tuple[float, float], ...]
"""Latencies (s), ascending, each with how many I/Os had it, within 1/128 of it."""


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """A rebuild, check or reshape during the measurement.

    Attributes
    ----------
    array
        Name of the array or pool.
    action
        "recover", "check", "repair", "reshape" or "trim".
    rate
        Bytes per second and member.
    total_bytes
        Bytes per member from beginning to end.
    position
        How far it had come at the end of the measurement (bytes per member).
    """

    array: str
    action: str
    rate: float
    total_bytes: int
    position: int

    @property
    def moves_data(self) -> bool:
        """Whether it is a rebuild or a reshape, which somebody waits for, and no check."""
        return self.action in ("recover", "reshape")

    @property
    def duration_s(self) -> float:
        """How long all of it takes at this rate (s); infinite if it stood still."""
        return self.total_bytes / self.rate if self.rate else float("inf")

    @property
    def left_s(self) -> float:
        """How long the rest takes at this rate (s); infinite if it stood still."""
        left = self.total_bytes - self.position
        return left / self.rate if self.rate else float("inf") if left else 0.0


@dataclass(frozen=True, slots=True)
class DriveActivity:
    """What a drive did during the measurement, as iostat shows it and as it was inside.

    Attributes
    ----------
    name
        Name of the drive.
    iops
        Commands that the drive completed per second.
    mean_s
        Mean time (s) of a request from when the kernel made it to its completion (iostat's ``await``), with the time
        in a plug and in the I/O scheduler; 0 without requests.
    utilization
        Share of the time that the drive itself worked, 0 to 1. Of a hard disk: the arm moved, waited for the platter or
        passed over data that was asked for or written, also to write its caches back; of one without command queuing
        at least the time with a command inside. Of a solid-state drive: its busiest part. The same as in
        :attr:`Prediction.usages`; the bottleneck and the power follow it.
    host_utilization
        Share of the time with a command inside the drive, 0 to 1.
    kernel_utilization
        Share of the time with a request, as the kernel's clock ticks count it (iostat's ``%util``), 0 to 1
        (:mod:`raidsim.model.block.io_statistics`).

    Notes
    -----
    The host's kernel does not see the drives of a hardware controller. Of these `mean_s` is the time from a command's
    arrival at the drive to its completion, and `kernel_utilization` is `host_utilization`.
    """

    name: str
    iops: float
    mean_s: float
    utilization: float
    host_utilization: float
    kernel_utilization: float


@dataclass(frozen=True, slots=True)
class CacheHits:
    """What an SSD cache did during the measurement.

    Attributes
    ----------
    name
        Its name.
    read_hits, reads, write_hits, writes
        Accesses to its blocks: those that found the block in the cache, and all.
    dirty_bytes
        What it held at the end that was not on the slow device.
    full_of_dirty_s
        Time (s) after which it holds as much of that as it may, at the rate of the measurement; None: it does not rise.
        Writes are no faster then than the slow device takes them.
    held_bytes, fills_s
        What it held at the end, and the time after which it is full, at the rate of the measurement; None: it is, or
        nothing comes in.
    """

    name: str
    read_hits: int
    reads: int
    write_hits: int
    writes: int
    dirty_bytes: int
    full_of_dirty_s: float | None = None
    held_bytes: int = 0
    fills_s: float | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a run gives.

    Attributes
    ----------
    seconds, measured_s
        Duration of the whole workload, and of the part of it that was measured (s).
    rate
        Bytes per second of all programs together.
    iops
        I/Os per second of the programs (of the page cache, for a program that goes through it), by "read" and
        "write".
    usages
        Utilization of every device, link and CPU.
    bottleneck
        What limits, in words.
    latencies
        Of the same I/Os during the measurement, by "read" and "write": number, mean, percentiles and extremes (s).
    member_ios
        Commands that the drives served.
    rebuilds
        Every resync thread that was at work.
    events
        Scheduled events of the simulation.
    figures
        What is compared with measurements, by name, in SI units: "rate", "seconds" and "iops"; of dd on devices also
        "cpu", the utilization of the host's processors (a share); of a load of direct I/O also the latencies
        "read_mean_seconds" and "read_p99_seconds", and the same of writes; of programs "STEP.FIGURE", what the program
        itself reports.
    reports
        What each step of a workload of programs prints, by its title.
    estimates
        Of a load of direct I/O: the 90 % intervals of "rate", "iops", "mean_seconds" (latency of all I/Os),
        "read_mean_seconds", "read_p99_seconds", and the same of writes.
    saturated
        An open load sends more than the devices take: `rate` and `iops` are what they take, and the latencies, which
        would grow for ever, have no meaning.
    offered_iops
        I/Os per second that an open load sends; None of others, and of several loads together.
    precision_reached
        Of a load with a precision: half-width of the interval over the value, of the throughput, or of the mean
        latency of an open load. More than was asked for if the longest time was over, or up to 5 % if the load is
        saturated; infinite if the machine had not settled then, so that nothing is known.
    drift
        Of a load that is measured for a given time: what rose or fell all the while, so that the figures are those of a
        start; None: nothing did.
    phases
        Of a load with phases: what each gives, by its name; the rest is then the mean of the day, and `figures` and
        `estimates` have theirs as "PHASE.FIGURE" too.
    loads
        Of several loads at the same time: what each gets, by its name; the rest is of all together, and `figures` and
        `estimates` have theirs as "LOAD.FIGURE" too. With phases too, it is what each gets while it runs.
    latency_bins
        The same I/Os as `latencies`, counted.
    scale
        The run was simulated at this fraction of its size; see :mod:`raidsim.scenarios.running.program_run`.
    wear
        Of the solid-state drives that were written: how long they last, the shortest life first.
    ssd_caches
        Hits of the SSD caches.
    prices_read
        Fields of :class:`raidsim.model.tasks.prices.Prices` that the simulation has read of the machine's CPU: the
        others may have any value without a change of the result.
    bottlenecks
        Of programs: what limits each phase that a program times, by "STEP.PHASE".
    notes
        What is not right with the result, and the state of flash that was assumed; a sentence each.
    drives
        What each drive did during the measurement.
    waits
        What the mean latency of "read" and "write" in `latencies` is made of, without remainder: seconds by cause
        (:mod:`raidsim.model.waits.causes`), the largest first. Empty if no I/O was accounted.
    """

    seconds: float
    measured_s: float
    rate: float
    iops: dict[str, float]
    usages: tuple[Usage, ...]
    bottleneck: str
    latencies: dict[str, dict[str, float]]
    member_ios: int
    rebuilds: tuple[RebuildProgress, ...]
    events: int
    figures: dict[str, float]
    reports: dict[str, str] = field(default_factory=dict)
    scale: int = 1
    estimates: dict[str, Estimate] = field(default_factory=dict)
    saturated: bool = False
    offered_iops: float | None = None
    precision_reached: float | None = None
    drift: Drift | None = None
    phases: dict[str, Prediction] = field(default_factory=dict)
    loads: dict[str, Prediction] = field(default_factory=dict)
    latency_bins: dict[str, LatencyBins] = field(default_factory=dict)
    wear: tuple[DriveWear, ...] = ()
    prices_read: tuple[str, ...] = ()
    bottlenecks: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    drives: tuple[DriveActivity, ...] = ()
    waits: dict[str, WaitTimes] = field(default_factory=dict)
    ssd_caches: tuple[CacheHits, ...] = ()

    @property
    def served_iops(self) -> float:
        """I/Os per second of reads and writes together."""
        return sum_in_order(self.iops.values())

    @property
    def lost_iops(self) -> float | None:
        """I/Os per second that an open load sends and that are never served; None of other loads."""
        if self.offered_iops is None:
            return None
        return max(0.0, self.offered_iops - self.served_iops) if self.saturated else 0.0

    @property
    def settled(self) -> bool:
        """Whether neither this nor any part of it was measured while something still rose or fell."""
        parts = (*self.phases.values(), *self.loads.values())
        known = self.drift is None and self.precision_reached != math.inf
        return known and all(part.settled for part in parts)
