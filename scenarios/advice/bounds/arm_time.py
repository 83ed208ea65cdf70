"""How much of their time hard disks need at least: seeks, rotation, and bytes under the heads."""

from __future__ import annotations

import math
from functools import cached_property

from ....model.core.exact_sums import sum_in_order
from ....model.disk.mechanics.geometry import SECTOR
from ....model.disk.spec import DriveSpec, mechanics
from ...description.scenario import ScenarioSpec
from ...description.workloads import MOST_OUTSTANDING
from ...designs.requirement import Limits
from .drive_time import OPS, Demand, DriveTime
from .positioning_bound import least_mean, least_positioning, least_time, log_moments, reach

_LATE = 0.01
"""Share of the I/Os that a 99th percentile leaves free."""
_EVEN = (None, "poisson", "constant")


class ArmTime(DriveTime):
    """The least time of hard disks; see :class:`.DriveTime`."""

    def __init__(self, spec: ScenarioSpec, disk: DriveSpec) -> None:
        super().__init__(spec, disk)
        self.disk = disk

    @property
    def is_bounded(self) -> bool:
        """See :meth:`DriveTime.is_bounded`.

        Several arms share the work, and writes to a media cache need no seek: one arm's time is no bound of these.
        """
        logged = self.disk.media_cache > 0 and self.shares["write"] > 0
        return super().is_bounded and self.disk.actuators == 1 and not logged

    @property
    def caches_writes(self) -> bool:
        """See :meth:`DriveTime.caches_writes`."""
        return self.disk.write_cache

    def kept_writes(self, size: float) -> tuple[float, float]:
        """See :meth:`DriveTime.kept_writes`."""
        return self.disk.write_buffer / size, self.disk.write_extents

    @cached_property
    def _cached(self) -> float:
        """Share of the visits that need no head: what a drive has read ahead, md keeps, or is merged with another."""
        ahead = self.disk.segments * self.disk.segment_size
        return min(1.0, (ahead + self._unseen) / self._region)

    def _parameters(self, writes: bool) -> tuple[DriveSpec, bool, int, int, float]:
        """What says how soon places are reached."""
        smallest = min(self.below.moved(op, min(sizes)) for op, sizes in self.sizes.items())
        return self.disk, writes, self._region, int(smallest), self._cached

    @cached_property
    def _transfer_s(self) -> float:
        """Time of the drives (s) in which the bytes of one I/O pass under heads, at least."""
        track = max(zone.sectors_per_track for zone in mechanics(self.disk)[0].zones) * SECTOR
        rate = track / mechanics(self.disk)[0].revolution_s
        kept = {"read": self._read_again + self._cached, "write": self._rewritten + self._cached}
        copies = {"read": 1, "write": 0 if self.below.gathers_writes else self.visits["read"].copies}
        return math.fsum(
            self.shares[op] * max(0.0, 1.0 - kept[op]) * copies[op] * self.below.stored(size) * share / rate
            for op in OPS
            for size, share in self.sizes[op].items()
        )

    def demand(self, iops: float, limits: Limits | None = None) -> Demand:
        """See :meth:`DriveTime.demand`.

        99 % of the I/Os are done within their limit, so that a drive has only those to choose from that came within it;
        without limits, all that may be outstanding at all.
        """
        steps = {op: self.shares[op] * self.visits[op].total for op in OPS}
        total = steps["read"] + steps["write"]
        if not self.is_bounded or total <= 0:
            return Demand(iops * total, 0.0, 0.0)
        log_choices = self._log_choices(iops, limits or Limits(), steps)
        fresh: dict[str, float] = {"read": 0.0, "write": 0.0}
        for op in OPS:
            fresh["read"] += self.shares[op] * self.visits[op].reads / total
            fresh["write"] += self.shares[op] * self.visits[op].writes / total
        parts = [(fresh[op], log_moments(*self._parameters(op == "write"))) for op in OPS]
        positioning_s = least_positioning(parts, log_choices)
        busy = iops * (total * positioning_s + self._transfer_s)
        return Demand(iops * total, positioning_s, busy)

    def _log_choices(self, iops: float, limits: Limits, steps: dict[str, float]) -> float:
        """Mean logarithm of the number of commands that a drive may choose from.

        Of two commands that are done within P of their coming one can wait while the other is served only if they came
        within P of each other, and not the other way round as well: on average a drive has P times its rate to choose
        from, and what the same I/O asks of it. Which commands are done in time is a choice too (its entropy), and so
        is the copy that a read goes to.
        """
        total = steps["read"] + steps["write"]
        even = (None if self.load.arrivals is None else self.load.arrivals.kind) in _EVEN
        late = {op: limits.of(op, "p99") if even else None for op in OPS}
        if self.writes_back:
            late["write"] = None
        prompt = sum_in_order(steps[op] for op in OPS if late[op] is not None)
        free = 1.0 - (1.0 - _LATE) * prompt / total
        longest = max((limit for limit in late.values() if limit is not None), default=0.0)
        most_own = max(self.visits[op].total for op in OPS if steps[op])
        own = min(most_own, 1.0 + most_own / self.members)
        window = longest * iops * prompt / self.members + own
        most = MOST_OUTSTANDING + self._held_writes
        entropy = -sum_in_order(share * math.log(share) for share in (free, 1.0 - free) if share > 0)
        copies = self.visits["read"].copies
        return (
            (1.0 - free) * math.log(min(window, most))
            + free * math.log(most)
            + entropy
            + steps["read"] / total * math.log(copies)
        )

    def least_latency(self, op: str, kind: str) -> float:
        """See :meth:`DriveTime.least_latency`.

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
        turn = mechanics(self.disk)[0].revolution_s
        return max(0.0, turn - max(self.sizes["write"]) / self.disk.inner_media_rate)
