"""How much of their time solid-state drives need at least: commands, dies, channels, connector.

A drive works on many I/Os at once, so each of its parts bounds them separately and the busiest part counts:

============ ==========================================================================
part         time of one I/O
============ ==========================================================================
controller   commands / commands a second that it takes
dies         reads x time of a read + bytes written / (bytes of a program / its time),
             over the dies; programs over those that may program at once
channels     bytes read and written / (channels x rate)
connector    bytes one way / its rate, or both ways where it has one at a time
============ ==========================================================================

Garbage collection only adds to this, so it is left out, as is what the write buffer and the map cost.
"""

from __future__ import annotations

import math
from functools import cached_property

from ....model.core.exact_sums import sum_in_order
from ....model.solid_state.spec import SolidStateSpec
from ...description.scenario import ScenarioSpec
from ...designs.requirement import Limits
from .drive_time import OPS, Demand, DriveTime

_LATE = 0.01
"""Share of the I/Os that a 99th percentile leaves free."""


class FlashTime(DriveTime):
    """The least time of solid-state drives; see :class:`.DriveTime`."""

    def __init__(self, spec: ScenarioSpec, flash: SolidStateSpec) -> None:
        super().__init__(spec, flash)
        self.flash = flash

    @property
    def caches_writes(self) -> bool:
        """See :meth:`DriveTime.caches_writes`: all of them do."""
        return True

    def kept_writes(self, size: float) -> tuple[float, float]:
        """See :meth:`DriveTime.kept_writes`."""
        held = (self.flash.write_buffer + self.flash.slc_cache) / size
        return held, held

    def demand(self, iops: float, limits: Limits | None = None) -> Demand:
        """See :meth:`DriveTime.demand`; limits change nothing, for a drive has nothing to choose."""
        visits = sum_in_order(self.shares[op] * self.visits[op].total for op in OPS)
        if not self.is_bounded or visits <= 0:
            return Demand(iops * visits, 0.0, 0.0)
        return Demand(iops * visits, self._busiest_s / visits, iops * self._busiest_s)

    def least_latency(self, op: str, kind: str) -> float:
        """See :meth:`DriveTime.least_latency`.

        A read waits for its die, and for the controller before that. What the write buffer, md or a controller may hold
        is answered sooner.
        """
        if not self.is_bounded or op == "write":
            return 0.0
        kept = min(1.0, self._read_again + self._held)
        least = self.flash.read_overhead + self._read_s + min(self.sizes[op]) / self.flash.interface_rate
        return (least if kept < _LATE else 0.0) if kind == "p99" else (1.0 - kept) * least

    @cached_property
    def _held(self) -> float:
        """Share of the places that need no die: in the write buffer, read ahead, kept by md, or merged with another."""
        return min(1.0, (self._unseen + self.flash.write_buffer + self.flash.read_ahead) / self._region)

    @property
    def _read_s(self) -> float:
        """Shortest read of a die (s)."""
        flash = self.flash
        return min(flash.read_time, flash.slc_read_time or flash.read_time) if flash.slc_cache else flash.read_time

    @property
    def _program_rate(self) -> float:
        """Most bytes per second that all dies of a drive program; without end for memory that takes no time for it."""
        flash = self.flash
        if not flash.program_time:
            return math.inf
        rates = [flash.planes * flash.page * flash.bits_per_cell / flash.program_time]
        if flash.slc_cache and flash.slc_program_time:
            rates.append(flash.planes * flash.page / flash.slc_program_time)
        return max(rates) * min(flash.dies, flash.programs_at_once or flash.dies)

    @cached_property
    def _busiest_s(self) -> float:
        """Time (s) of the busiest part of the drives for one I/O; several drives share it."""
        flash = self.flash
        seen = 1.0 - self._held
        commands, reads, moved = 0.0, 0.0, {"read": 0.0, "write": 0.0}
        for op in OPS:
            visits, share = self.visits[op], self.shares[op] * seen
            smallest = self.below.moved(op, min(self.sizes[op]))
            written = share * (visits.writes + visits.returns)
            commands += share * visits.total
            reads += share * visits.reads
            moved["read"] += share * visits.reads * smallest
            moved["write"] += written * smallest
        both = moved["read"] + moved["write"]
        cable = max(moved.values()) if flash.full_duplex else both
        return max(
            commands / flash.command_rate,
            reads * self._read_s / flash.by_commands.dies,
            moved["write"] / self._program_rate,
            both / (flash.channels * flash.channel_rate),
            cable / flash.interface_rate,
        )
