"""What the head does when no command asks: it reads ahead, writes cached data back, and rests.

The rules are those of :mod:`.media`; this part has the look-ahead's end and what calls the head away from it.
"""

from __future__ import annotations

from typing import Final

from .buffer import BufferedHead
from .mechanics.geometry import Geometry
from .mechanics.seek import SeekCurve
from .segments import Segment

_STREAM_HITS: Final = 4
"""Assumed: reads that continue an earlier one, from which a segment is a stream."""


class LookingAhead(BufferedHead):
    """A head that reads ahead and destages unasked; what commands ask for is its subclass's.

    Parameters
    ----------
    geometry, seeks, phase, write_buffer_bytes, write_extents, destage_batch_bytes, head_switch_s
        As for :class:`~.destaging.WritingHead`.
    segments, segment_bytes, look_ahead_bytes, look_ahead_until, wraps, keeps_sent, keeps_written, writes_clear
        As for :class:`~.buffer.BufferedHead`, with `keeps_before` and `minimum_prefetch_bytes`.
    low_water_bytes
        A batch of destaging is cut short when the read stream's lead falls to this.
    look_ahead_returns
        Whether the head goes back to the read stream unasked although a write has come since its last read.
    """

    __slots__ = ("_low_water", "_returns")

    def __init__(
        self,
        geometry: Geometry,
        seeks: SeekCurve,
        phase: float,
        write_buffer_bytes: int,
        write_extents: int,
        destage_batch_bytes: int,
        head_switch_s: float,
        segments: int,
        segment_bytes: int,
        look_ahead_bytes: int,
        look_ahead_until: str,
        wraps: bool,
        keeps_sent: bool,
        keeps_written: bool,
        writes_clear: bool,
        keeps_before: bool,
        minimum_prefetch_bytes: int,
        low_water_bytes: int,
        look_ahead_returns: bool,
    ) -> None:
        super().__init__(
            geometry,
            seeks,
            phase,
            write_buffer_bytes,
            write_extents,
            destage_batch_bytes,
            head_switch_s,
            segments,
            segment_bytes,
            look_ahead_bytes,
            look_ahead_until,
            wraps,
            keeps_sent,
            keeps_written,
            writes_clear,
            keeps_before,
            minimum_prefetch_bytes,
        )
        self._low_water = low_water_bytes
        self._returns = look_ahead_returns

    def settle(self, to: float) -> None:
        """Work out what the head does unasked until `to` (s): read ahead, destage, return, or rest."""
        segment, dirty = self._segment, self.dirty
        while True:
            if self._reading:
                assert segment is not None
                if to < segment.safe_s or not self._halted(segment, to):
                    return
            if self._free_s >= to:
                return
            if segment is None or not segment.hits or (self._written and not self._returns):
                # To a single random read the head does not return once it has been called away.
                if not dirty.total:
                    return
                if segment is not None and self._batch <= 0:
                    self._batch = self._batch_bytes
                self._destage()
                continue
            end = self._end_of(segment)
            limit = min(segment.consumed + segment.ahead, self.geometry.capacity)
            done = end >= limit
            if dirty.total and (done or (self._batch > 0 and end - segment.consumed > self._low_water)):
                if self._batch <= 0:
                    self._batch = self._batch_bytes
                self._destage()
                continue
            if done:
                return
            arm, seek_s, rotation_s = self._arm, self.seek_s, self.rotation_s
            begin = self._position(end, self._free_s, self.seeks.read)
            if -1 <= self._arm - arm <= 1:
                # It has waited for room in the buffer and not for the platter: no work that a command would wait for.
                self.seek_s, self.rotation_s = seek_s, rotation_s
            self._free_s = begin
            segment.begun_s = begin
            segment.begun_turns = self.geometry.turns(end)
            segment.end = end
            segment.safe_s = 0.0
            self._reading = True
            self._batch = 0

    def head_cylinder(self, at: float) -> int:
        """Cylinder the head is over at `at` (s), which must not be before it was last sent somewhere."""
        if self._reading and at - self._free_s > self._revolution_s:
            assert self._segment is not None
            return self.geometry.cylinder(max(self._end_at(self._segment, at) - 1, 0))
        return self._arm

    def free_from(self, at: float) -> float:
        """When the head can be sent to another address, not before `at` (s)."""
        return self._free_s if self._free_s > at else at

    @property
    def stream(self) -> Segment | None:
        """The segment the head reads into, or returns to when it has nothing else to do."""
        return self._segment

    def call_away(self, at: float) -> float:
        """Stop reading ahead, at `at`; when the head can move to another address (s)."""
        if self._segment is not None:
            return self._leave(self._segment, at)
        return self._free_s if self._free_s > at else at

    def _leave(self, segment: Segment, at: float) -> float:
        """Call the head away from reading ahead, at `at`; when it can go (s)."""
        if not self._reading:
            if self._free_s < at:
                self.settle(at)
            if not self._reading:
                return self._free_s if self._free_s > at else at
        if self._free_s > at:
            at = self._free_s
        segment.stopped_s = at
        segment.stale = True
        if self._switch_s or at - self._free_s > self._revolution_s:
            self._at = max(self._end_of(segment) - 1, 0)
            self._arm = self.geometry.cylinder(self._at)
        self._reading = False
        return at

    def _prefetched(self, segment: Segment, at: float) -> float:
        """When a stream has been read ahead as far as the head stays with it, not before `at` (s).

        That is the minimum, but no more than what has been read in order, so that a single read in several commands
        does not hold others up.
        """
        if segment.hits < _STREAM_HITS:
            return at
        ahead: int = segment.consumed - segment.start
        if ahead > self._minimum:
            ahead = self._minimum
        if ahead > segment.ahead:
            ahead = segment.ahead
        geometry = self.geometry
        end = segment.consumed + ahead
        if end > geometry.capacity:
            end = geometry.capacity
        until = segment.begun_s + (geometry.turns_at_end(end) - segment.begun_turns) * self._revolution_s
        return until if until > at else at

    def _halted(self, segment: Segment, to: float) -> bool:
        """Stop the look-ahead if it reaches its limit by `to` (s), which is not before ``safe_s``; whether it did."""
        geometry = self.geometry
        limit = min(segment.consumed + segment.ahead, geometry.capacity)
        full_s = segment.begun_s + (geometry.turns_at_end(limit) - segment.begun_turns) * self._revolution_s
        if full_s > to:
            segment.safe_s = full_s
            return False
        segment.end = limit
        self._reading = False
        self._arm = geometry.cylinder(limit - 1)
        self._at = limit - 1
        if self._free_s < full_s:
            self._free_s = full_s
        return True
