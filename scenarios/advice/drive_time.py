"""How much of their time the drives of a design need at least for a load; what bounds I/Os per second and latencies.

Only random I/O whose places are all as likely is bounded by the drives' arms: what is read in order, or again and
again, may come out of some cache.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ...model.drives import DriveSpec, mechanics
from ...model.geometry import SECTOR
from ...model.layouts import Layout, ParityLayout, Raid10Layout
from ..scenario import Devices, ScenarioSpec
from ..workloads import MOST_OUTSTANDING, LoadSpec
from .member_visits import Visits, visits_for
from .positioning_bound import least_mean, least_positioning, least_time, log_moments, reach
from .requirement import TARGET, Limits

_LATE = 0.01
"""Share of the I/Os that a 99th percentile leaves free."""
_STRIPE_CACHE = 32768 * 4096
"""Bytes of each member that md keeps at most (stripe_cache_size)."""
_UNIFORM = (None, "uniform")
_EVEN = (None, "poisson", "constant")
_OPS = ("read", "write")


@dataclass(frozen=True, slots=True)
class Demand:
    """What the drives need at least, at some I/Os per second.

    Attributes
    ----------
    visits
        Commands per second that need a head, of all drives together.
    choices
        Commands that a drive can choose from, as a geometric mean.
    positioning_s
        Seek and rotation (s) per command.
    busy
        Drives' seconds per second; more than there are drives cannot be.
    """

    visits: float
    choices: float
    positioning_s: float
    busy: float


class DriveTime:
    """The least time of the drives for the load of a scenario with one array of equal drives.

    Parameters
    ----------
    spec
        The scenario; its workload is a load on one array.
    """

    def __init__(self, spec: ScenarioSpec) -> None:
        assert isinstance(spec.workload, LoadSpec)
        self.load = spec.workload
        array = spec.arrays[TARGET]
        devices = Devices(spec.machine, spec.arrays)
        self.layout: Layout = array.layout([devices.capacity(member) for member in array.members])
        self.members = len(array.members)
        self.drive: DriveSpec = spec.machine.drives[array.members[0]].spec()
        controlling = spec.machine.controllers[array.controller] if array.controller is not None else None
        self.controller = controlling.spec() if controlling is not None else None
        self.sizes = {op: _sizes(self.load, op) for op in _OPS}
        self.shares = {"read": self.load.read_share, "write": 1.0 - self.load.read_share}

    @property
    def is_bounded(self) -> bool:
        """Whether the arms bound this load."""
        kind = None if self.load.locality is None else self.load.locality.kind
        return self.load.pattern == "random" and kind in _UNIFORM

    @property
    def writes_back(self) -> bool:
        """Whether writes are acknowledged before the platters have them."""
        return self.drive.write_cache or (self.controller is not None and self.controller.settings().writes_back)

    @cached_property
    def visits(self) -> dict[str, Visits]:
        """Visits of one read, and of one write, on average."""
        kept = {"read": self._read_again, "write": self._rewritten}
        found = {}
        for op, sizes in self.sizes.items():
            each = [
                visits_for(self.layout, op == "write", size, self.load.align).times(share)
                for size, share in sizes.items()
            ]
            found[op] = sum(each[1:], each[0]).times(1.0 - kept[op])
        return found

    @cached_property
    def _span(self) -> int:
        """Bytes of the array that the load reaches."""
        return self.load.span or self.layout.capacity - self.load.start

    @cached_property
    def _region(self) -> int:
        """Bytes of a drive that one copy of the data lies in."""
        apart = isinstance(self.layout, Raid10Layout) and self.layout.algorithm != "near"
        copies = self.layout.copies_per_chunk if isinstance(self.layout, Raid10Layout) and apart else 1
        return max(SECTOR, int(min(self.layout.member_bytes) / copies * min(1.0, self._span / self.layout.capacity)))

    @cached_property
    def _read_again(self) -> float:
        """Share of the reads that a controller's memory may hold."""
        return min(1.0, self.controller.cache / self._span) if self.controller is not None else 0.0

    @cached_property
    def _held_writes(self) -> float:
        """Writes that may wait in the memory of a controller or of the drives."""
        smallest = min(self.sizes["write"])
        in_controller = self.controller.cache if self.controller is not None and self.writes_back else 0
        in_drives = self.members * self.drive.write_buffer if self.drive.write_cache else 0
        return (in_controller + in_drives) / smallest

    @property
    def settles_after(self) -> float:
        """I/Os in which everything is as it stays, at least, if more come than are served.

        The memory that takes writes fills, is replaced, and is replaced again while it is measured
        (:mod:`~raidsim.scenarios.steady`). Drives keep no more writes than they have entries for.
        """
        share = self.shares["write"]
        if not share or not self.writes_back:
            return 0.0
        size = sum(size * part for size, part in self.sizes["write"].items())
        in_controller = min(self.controller.cache, self._span) / size if self.controller is not None else 0.0
        in_drive = min(self.drive.write_extents, self.drive.write_buffer / size) if self.drive.write_cache else 0.0
        return 3.0 * (in_controller + self.members * in_drive) / share

    @cached_property
    def _rewritten(self) -> float:
        """Share of the writes that go to a row of which something waits to be written."""
        row = self.layout.chunk_bytes * self.members or max(self.sizes["write"])
        return min(1.0, self._held_writes * row / self._span)

    @cached_property
    def _cached(self) -> float:
        """Share of the visits that need no head: what a drive has read ahead, md keeps, or is merged with another."""
        smallest = min(min(sizes) for sizes in self.sizes.values())
        largest = max(max(sizes) for sizes in self.sizes.values())
        ahead = self.drive.segments * self.drive.segment_size
        stripes = _STRIPE_CACHE if _has_parity(self.layout) else 0
        merged = (MOST_OUTSTANDING + self._held_writes) * 2 * max(smallest, largest) / self.members
        return min(1.0, (ahead + stripes + merged) / self._region)

    def _parameters(self, writes: bool) -> tuple[DriveSpec, bool, int, int, float]:
        """What says how soon places are reached."""
        smallest = min(min(sizes) for sizes in self.sizes.values())
        return self.drive, writes, self._region, smallest, self._cached

    @cached_property
    def _transfer_s(self) -> float:
        """Time of the drives (s) in which the bytes of one I/O pass under heads, at least."""
        track = max(zone.sectors_per_track for zone in mechanics(self.drive)[0].zones) * SECTOR
        rate = track / mechanics(self.drive)[0].revolution_s
        kept = {"read": self._read_again + self._cached, "write": self._rewritten + self._cached}
        copies = {"read": 1, "write": self.visits["read"].copies}
        return math.fsum(
            self.shares[op] * max(0.0, 1.0 - kept[op]) * copies[op] * size * share / rate
            for op in _OPS
            for size, share in self.sizes[op].items()
        )

    def demand(self, iops: float, limits: Limits | None = None) -> Demand:
        """What the drives need.

        Parameters
        ----------
        iops
            I/Os per second.
        limits
            How late they may be. 99 % of the I/Os are done within their limit, so that a drive has only those to
            choose from that came within it; without limits, all that may be outstanding at all.
        """
        steps = {op: self.shares[op] * self.visits[op].total for op in _OPS}
        total = steps["read"] + steps["write"]
        if not self.is_bounded or total <= 0:
            return Demand(iops * total, math.inf, 0.0, 0.0)
        log_choices = self._log_choices(iops, limits or Limits(), steps)
        fresh: dict[str, float] = {"read": 0.0, "write": 0.0}
        for op in _OPS:
            fresh["read"] += self.shares[op] * self.visits[op].reads / total
            fresh["write"] += self.shares[op] * self.visits[op].writes / total
        parts = [(fresh[op], log_moments(*self._parameters(op == "write"))) for op in _OPS]
        positioning_s = least_positioning(parts, log_choices)
        busy = iops * (total * positioning_s + self._transfer_s)
        return Demand(iops * total, math.exp(log_choices), positioning_s, busy)

    def _log_choices(self, iops: float, limits: Limits, steps: dict[str, float]) -> float:
        """Mean logarithm of the number of commands that a drive may choose from.

        Of two commands that are done within P of their coming one can wait while the other is served only if they came
        within P of each other, and not the other way round as well: on average a drive has P times its rate to choose
        from, and what the same I/O asks of it. Which commands are done in time is a choice too (its entropy), and so
        is the copy that a read goes to.
        """
        total = steps["read"] + steps["write"]
        even = (None if self.load.arrivals is None else self.load.arrivals.kind) in _EVEN
        late = {op: limits.of(op, "p99") if even else None for op in _OPS}
        if self.writes_back:
            late["write"] = None
        prompt = sum(steps[op] for op in _OPS if late[op] is not None)
        free = 1.0 - (1.0 - _LATE) * prompt / total
        longest = max((limit for limit in late.values() if limit is not None), default=0.0)
        most_own = max(self.visits[op].total for op in _OPS if steps[op])
        own = min(most_own, 1.0 + most_own / self.members)
        window = longest * iops * prompt / self.members + own
        most = MOST_OUTSTANDING + self._held_writes
        entropy = -sum(share * math.log(share) for share in (free, 1.0 - free) if share > 0)
        copies = self.visits["read"].copies
        return (
            (1.0 - free) * math.log(min(window, most))
            + free * math.log(most)
            + entropy
            + steps["read"] / total * math.log(copies)
        )

    def most_iops(self, limits: Limits | None = None) -> float:
        """I/Os per second beyond which the drives need more time than there is; infinite if nothing says so."""
        high = 1.0
        while self.demand(high, limits).busy < self.members:
            high *= 2.0
            if high > 1e9:
                return math.inf
        low = high / 2.0
        for _ in range(40):
            middle = (low + high) / 2.0
            if self.demand(middle, limits).busy < self.members:
                low = middle
            else:
                high = middle
        return high

    def least_latency(self, op: str, kind: str) -> float:
        """Latency (s) that "read" or "write" cannot stay below, "p99" or "mean", on drives that do nothing else.

        A command waits at least for the seek and the turn from where the arm is when it comes. What is read,
        changed and written back waits for the place to come round again.
        """
        if not self.is_bounded or (op == "write" and self.writes_back):
            return 0.0
        visits = self.visits[op]
        first = "read" if op == "read" or visits.reads >= 1.0 else "write"
        kept = (self._read_again if op == "read" else self._rewritten) + self._cached
        times, share = reach(*self._parameters(first == "write"))
        tries = visits.copies if op == "read" else 1
        within = share + kept
        least = least_time(times, within, 1.0 - _LATE, tries) if kind == "p99" else least_mean(times, within, tries)
        if op == "write" and visits.reads >= 1.0 - kept and math.isclose(visits.reads, visits.returns):
            least += self._turn_back_s * (1.0 if kind == "p99" and kept < _LATE else max(0.0, 1.0 - kept))
        return least

    @property
    def _turn_back_s(self) -> float:
        """From the end of reading something to the beginning of writing it (s)."""
        turn = mechanics(self.drive)[0].revolution_s
        return max(0.0, turn - max(self.sizes["write"]) / self.drive.inner_media_rate)


def _has_parity(layout: Layout) -> bool:
    groups = getattr(layout, "groups", (layout,))
    return any(isinstance(group, ParityLayout) for group in groups)


def _sizes(load: LoadSpec, op: str) -> dict[int, float]:
    """Sizes of the reads or writes, with their shares."""
    own = load.read_size if op == "read" else load.write_size
    size = load.block_size if own is None else own
    return dict(size) if isinstance(size, dict) else {size: 1.0}
