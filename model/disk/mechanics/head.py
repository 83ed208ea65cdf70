"""The arm and the platters: where the head is, when it is free, and how long it takes to get to a place.

Moving costs the seek curve's time; then the platter has to bring the place round. The platters turn at a constant
speed from an angle of their own at time 0, so the wait is exact and two requests on a track are never both lucky.
"""

from __future__ import annotations

from math import floor
from typing import Final

from .geometry import Geometry
from .seek import SeekCurve, SeekTimes

EARLY: Final = 1e-7
"""Turns by which a place counts as still ahead although rounding says it has just passed."""


class Head:
    """The head of one drive.

    Parameters
    ----------
    geometry, seeks
        The mechanics.
    phase
        Angle (turns) of the platters at time 0.
    head_switch_s
        Time (s) of a move to another track of the same cylinder; 0: no time beyond the wait for the platter.

    Attributes
    ----------
    seek_s, rotation_s, transfer_s
        Time (s) the arm moved, the head waited for the platter, and requested data passed under it.
    moved_s, arrived_s, sector_s
        When the arm began its last move and was there, and when the sector had come round (s).
    """

    __slots__ = (
        "_arm",
        "_at",
        "_edges",
        "_free_s",
        "_heads",
        "_inverse_revolution",
        "_phase",
        "_reading",
        "_revolution_s",
        "_rows",
        "_switch_s",
        "arrived_s",
        "geometry",
        "moved_s",
        "rotation_s",
        "sector_s",
        "seek_s",
        "seeks",
        "transfer_s",
    )

    def __init__(self, geometry: Geometry, seeks: SeekCurve, phase: float = 0.0, head_switch_s: float = 0.0) -> None:
        self.geometry = geometry
        self.seeks = seeks
        self._phase = phase
        self._rows = geometry.rows
        self._edges = geometry.edges
        self._heads = geometry.heads
        self._revolution_s = geometry.revolution_s
        self._inverse_revolution = 1.0 / geometry.revolution_s
        self._switch_s = head_switch_s
        self._arm = 0  # cylinder
        self._at = 0  # an offset on the track that the head is on; kept only where switching heads takes time
        self._free_s = 0.0  # from when the head can be sent elsewhere
        self._reading = False  # whether it reads on, unasked, after what it was sent for
        self.seek_s = 0.0
        self.rotation_s = 0.0
        self.transfer_s = 0.0
        self.moved_s = self.arrived_s = self.sector_s = 0.0

    def booked(self, now: float) -> float:
        """Time (s) of the work that is worked out already but lies after `now` (s)."""
        return self._free_s - now if self._free_s > now else 0.0

    def angle(self, at: float) -> float:
        """Turns of the platters at `at` (s); the fraction is the angle under the head."""
        return at * self._inverse_revolution + self._phase

    def _position(self, offset: int, start: float, table: SeekTimes, not_before: float = 0.0) -> float:
        """Move the head to `offset`, from `start`; when that byte passes under it (s)."""
        cylinder, turns, _, _ = self.geometry.span(offset, offset + 1)
        return self._arrive(offset, cylinder, turns, start, table, not_before)

    def _arrive(
        self, offset: int, cylinder: int, turns: float, start: float, table: SeekTimes, not_before: float = 0.0
    ) -> float:
        """Move the head to `offset`, which lies at a cylinder and turns, from `start`; when it passes under it (s)."""
        seek = table[cylinder - self._arm]
        if self._switch_s:
            seek = self._switched(offset, seek, table)
        arrived = start + seek
        if arrived < not_before:
            arrived = not_before
        ahead = turns - arrived * self._inverse_revolution - self._phase + EARLY
        wait = (ahead - floor(ahead)) * self._revolution_s
        self.seek_s += seek
        self.rotation_s += wait
        self._arm = cylinder
        self.moved_s, self.arrived_s, self.sector_s = start, start + seek, arrived + wait
        return arrived + wait

    def _switched(self, offset: int, seek: float, table: SeekTimes) -> float:
        """The time (s) of a move to `offset`, a seek of `seek` seconds, with the change of heads that is part of it."""
        geometry = self.geometry
        track, before = geometry.track(offset), geometry.track(self._at)
        if track != before and geometry.head_of(track) != geometry.head_of(before):
            switch = self._switch_s
            if table is self.seeks.write:
                switch += self.seeks.write_settle_s
            if seek < switch:
                seek = switch
        self._at = offset
        return seek

    def _reach_s(self, offset: int, start: float) -> float:
        """When `offset` would pass under a head sent to read there at `start` (s)."""
        if start < self._free_s:
            start = self._free_s
        geometry = self.geometry
        arrived = start + self.seeks.read[geometry.cylinder(offset) - self._arm]
        turns = geometry.turns(offset) - arrived * self._inverse_revolution - self._phase + EARLY
        return arrived + (turns % 1.0) * self._revolution_s
