"""Cached writes on their way to the platters.

Rules, as drive firmware is described by Ruemmler and Wilkes (IEEE Computer 27(3), 1994), by DiskSim's disk
module (Bucy et al., CMU-PDL-08-101, 2008) and in makers' manuals (Maxtor D540X-4G, 2-4: writes are accepted until the
write command stack or the buffer is full, and may be reordered):

- a cached write waits as an extent; neighbors merge, and the number of extents is limited as well as their bytes;
- a destage write that has begun is finished, at most ``DESTAGE_UNIT`` bytes of it;
- a write that finds the buffer full makes destaging urgent: a whole batch of the run at hand is written
  before the head serves anything else;
- destaging sweeps upwards through the offsets and round again and, among the next few extents, takes the one it
  reaches soonest.
"""

from __future__ import annotations

from abc import abstractmethod
from math import floor
from typing import Final

from mypy_extensions import mypyc_attr

from ..core.search import right_of
from .mechanics.geometry import Geometry
from .mechanics.head import EARLY, Head
from .mechanics.seek import SeekCurve
from .segments import DirtyExtents, Place

DESTAGE_UNIT: Final = 128 * 1024
"""Bytes of an extent written before the head looks at commands again."""
SWEEP_WINDOW: Final = 8
"""Extents ahead of the sweep among which the soonest reached is written first."""


@mypyc_attr(free_list_len=1)
class Destaged:
    """A destage write: when it is over (s), and the bytes that it writes."""

    __slots__ = ("done", "end", "start")

    def __init__(self, done: float, start: int, end: int) -> None:
        self.done = done
        self.start = start
        self.end = end


class WritingHead(Head):
    """A head with a write buffer; what else it does between commands is its subclass's.

    Parameters
    ----------
    geometry, seeks, phase
        As for :class:`~.mechanics.head.Head`.
    write_buffer_bytes, write_extents
        Room for cached writes: bytes and separate extents.
    destage_batch_bytes
        Bytes for which destaging continues once it has begun.
    head_switch_s
        As for :class:`~.mechanics.head.Head`.

    Attributes
    ----------
    dirty
        Cached writes that no destage write has taken up.
    in_flight
        Bytes of accepted writes that are still crossing the link.
    destaged_bytes
        Cached bytes written to the platters.
    partial_mask
        Bits of an address within a physical sector. A sector that a write covers in part is read under the head and
        written a turn later (IDEMA, "Advanced Format": read-modify-write of 512-byte emulation). Sectors at both ends
        of a write are read and written one after the other, which takes two turns more: 16 to 22 ms at 7,200 and
        5,400 rpm (HP, dx2390 hardware reference guide, 512e drives). 0: there are none.
    """

    __slots__ = (
        "_batch",
        "_batch_bytes",
        "_freeing",
        "_leaving",
        "_sweep",
        "_sweep_s",
        "_sweep_turns",
        "_written",
        "destaged_bytes",
        "dirty",
        "in_flight",
        "partial_mask",
        "write_buffer_bytes",
        "write_extents",
    )

    def __init__(
        self,
        geometry: Geometry,
        seeks: SeekCurve,
        phase: float,
        write_buffer_bytes: int,
        write_extents: int,
        destage_batch_bytes: int,
        head_switch_s: float = 0.0,
    ) -> None:
        super().__init__(geometry, seeks, phase, head_switch_s)
        self.write_buffer_bytes = write_buffer_bytes
        self.write_extents = write_extents
        self._batch_bytes = destage_batch_bytes
        self._batch = 0  # bytes left of it
        self.dirty = DirtyExtents()
        self.in_flight = 0
        self._freeing: list[Destaged] = []  # destage writes under way, in order
        self._leaving = 0  # bytes in `_freeing`
        self._sweep = 0  # offset at which the last write to the platters ended
        self._sweep_s = -1.0  # and when
        self._sweep_turns = 0.0  # and where: Geometry.turns_at_end()
        self._written = False  # whether a write has come since the last read
        self.destaged_bytes = 0
        self.partial_mask = 0

    @abstractmethod
    def settle(self, to: float) -> None:
        """Work out what the head does unasked until `to` (s)."""

    @abstractmethod
    def call_away(self, at: float) -> float:
        """Stop what the head does unasked, at `at` (s); when it can move to another address (s)."""

    def write(self, offset: int, size: int, at: float, sent_from_s: float, sent_s: float) -> float:
        """Write to the platters without caching; when the last byte is on them (s).

        Parameters
        ----------
        offset, size
            Bytes.
        at
            When the arm can start (s).
        sent_from_s, sent_s
            When the first and the last byte arrive in the buffer (s).
        """
        if self.dirty.total:
            self.settle(at)
        start = self.call_away(at)
        self._written = True
        end = offset + size
        cylinder, turns, last_cylinder, end_turns = self.geometry.span(offset, end)
        transfer = (end_turns - self._sweep_turns) * self._revolution_s
        goes_on = offset == self._sweep and start == self._sweep_s
        if goes_on and sent_from_s <= start and sent_s <= start + transfer:
            # The head goes on from the write before: tracks are crossed under way, within the skew.
            begin = start
        else:
            transfer = (end_turns - turns) * self._revolution_s
            not_before = sent_s - transfer
            if not_before < sent_from_s:
                not_before = sent_from_s
            begin = self._arrive(offset, cylinder, turns, start, self.seeks.write, not_before)
        if (offset | end) & self.partial_mask:
            begin += self._mend_sectors(offset, end)
        self.transfer_s += transfer
        self._free_s = done = begin + transfer
        self._sweep, self._sweep_s, self._sweep_turns = end, done, end_turns
        self._arm = last_cylinder
        self._at = end - 1
        return done

    def has_room(self, offset: int, size: int, at: float) -> bool:
        """Whether a write fits into the write buffer at time `at` (s)."""
        self.settle(at)
        freeing = self._freeing
        if freeing and freeing[0].done <= at:
            self._free(at)
        return self._fits(offset, size)

    def fits(self, offset: int, size: int, at: float) -> bool:
        """The same, without what the head might begin unasked until then."""
        self._free(at)
        return self._fits(offset, size)

    def make_room(self, offset: int, size: int, at: float) -> float:
        """Destage until a write fits into the write buffer, from `at`; when it does (s)."""
        self.settle(at)
        self._written = True
        freeing = self._freeing
        if freeing:
            self._free(at)
        if self._fits(offset, size):
            return at
        self._free_s = self.call_away(at)
        self._batch = self._batch_bytes
        while True:
            if not freeing:
                if not self.dirty.total:
                    break  # only writes still on their way fill the buffer
                self._destage()
            at = freeing[0].done
            self._free(at)
            if self._fits(offset, size):
                break
        while self._batch > 0 and self.dirty.run_from(self._sweep) > self._sweep:
            self._destage()
        return at

    def accept(self, offset: int, size: int, at: float) -> None:
        """A cached write has crossed the link: its data is dirty from `at` (s)."""
        self.settle(at)
        if not self._reading and self._free_s < at:
            self._free_s = at
        self.in_flight -= size
        self.dirty.add(offset, offset + size)

    def flush(self, at: float) -> float:
        """Destage everything, from `at`; when the last byte is on the platters (s)."""
        self.settle(at)
        if self.dirty.total:
            self._free_s = self.call_away(at)
            while self.dirty.total:
                self._destage()
        freeing = self._freeing
        return max(at, freeing[-1].done) if freeing else at

    def unwritten(self, at: float) -> int:
        """Bytes of accepted writes that are not on the platters at `at` (s)."""
        self.settle(at)
        self._free(at)
        return self.dirty.total + self._leaving + self.in_flight

    def _free(self, at: float) -> None:
        """Forget what destage writes have brought to the platters by `at` (s)."""
        freeing = self._freeing
        while freeing and freeing[0].done <= at:
            over = freeing.pop(0)
            self._leaving -= over.end - over.start

    def writes_hold(self, start: int, end: int, at: float) -> bool:
        """Whether all of [start, end) is cached writes that at `at` (s) wait or are being destaged."""
        dirty, freeing = self.dirty, self._freeing
        if freeing and freeing[0].done <= at:
            self._free(at)
        reached = dirty.run_from(start)
        if not freeing or reached >= end:
            return reached >= end
        while start < end:
            reached = dirty.run_from(start)
            for each in freeing:
                if each.start <= start and each.end > reached:
                    reached = each.end
            if reached == start:
                return False
            start = reached
        return True

    def _fits(self, offset: int, size: int) -> bool:
        dirty = self.dirty
        held = dirty.total + self._leaving + self.in_flight
        if held + size > self.write_buffer_bytes and held:
            return False
        return len(dirty.starts) < self.write_extents or dirty.touches(offset, offset + size)

    def _destage(self) -> None:
        """Write one unit of dirty data from ``_free_s`` on."""
        dirty, geometry, start = self.dirty, self.geometry, self._free_s
        starts, ends = dirty.starts, dirty.ends
        at, offset, on = self._next_extent(start)
        place = dirty.places[at] if starts[at] == offset else None
        end = ends[at]
        whole = end - offset <= DESTAGE_UNIT
        if not whole:
            end = offset + DESTAGE_UNIT
        if place is not None:
            cylinder, turns, last_cylinder, end_turns = (
                place.cylinder,
                place.turns,
                place.last_cylinder,
                place.end_turns,
            )
        else:
            cylinder, turns, last_cylinder, end_turns = geometry.span(offset, end)
        if on:
            # The head goes on from the write before: tracks are crossed under way, within the skew.
            begin, turns = start, self._sweep_turns
        else:
            arm, seek_s, rotation_s = self._arm, self.seek_s, self.rotation_s
            begin = self._arrive(offset, cylinder, turns, start, self.seeks.write)
            if offset == self._sweep and -1 <= cylinder - arm <= 1:
                # It goes on with a stream whose next data came late: it could as well have waited for more of them.
                self.seek_s, self.rotation_s = seek_s, rotation_s
        if (offset | end) & self.partial_mask:
            begin += self._mend_sectors(offset, end, not on, whole)
        size = end - offset
        transfer = (end_turns - turns) * self._revolution_s
        if whole and starts[at] == offset:
            dirty.pop(at)
        else:
            dirty.remove(offset, end)
        self.transfer_s += transfer
        self.destaged_bytes += size
        self._batch -= size
        self._arm = last_cylinder
        self._at = end - 1
        self._free_s = self._sweep_s = done = begin + transfer
        self._sweep, self._sweep_turns = end, end_turns
        self._freeing.append(Destaged(done, offset, end))
        self._leaving += size

    def _mend_sectors(self, offset: int, end: int, starts: bool = True, ends: bool = True) -> float:
        """Time (s) of the turns in which sectors are read of which a write covers a part, at its start and its end.

        Where the head goes on from the write before (not `starts`), or will go on (not `ends`), no sector is read.
        """
        mask = self.partial_mask
        at_start, at_end = starts and bool(offset & mask), ends and bool(end & mask)
        both = at_start and at_end and offset | mask != end | mask
        turns_s = self._revolution_s * (2 if both else at_start or at_end)
        self.rotation_s += turns_s
        return turns_s

    def _next_extent(self, start: float) -> tuple[int, int, bool]:
        """What a head sent to write at `start` (s) writes first: extent, offset, whether it goes on without a move."""
        starts, ends, offset = self.dirty.starts, self.dirty.ends, self._sweep
        at = right_of(starts, offset) - 1
        if at >= 0 and ends[at] > offset:
            return at, offset, start == self._sweep_s
        at += 1
        if at == len(starts):
            at = 0
        at = self._soonest(at, start)
        return at, starts[at], False

    def reach_of_destaging(self, at: float) -> float:
        """How long (s) a head sent to write back at `at` (s) takes to where that begins; 0 if nothing is dirty."""
        if not self.dirty.total:
            return 0.0
        start = self._free_s if self._free_s > at else at
        _, offset, on = self._next_extent(start)
        if on:
            return 0.0
        cylinder, turns, _, _ = self.geometry.span(offset, offset + 1)
        reach = self.seeks.write[cylinder - self._arm]
        turns -= (start + reach) * self._inverse_revolution + self._phase - EARLY
        return reach + turns % 1.0 * self._revolution_s

    def _soonest(self, at: int, start: float) -> int:
        """The extent that a head sent to write at `start` (s) reaches first, of the window from number `at` on.

        Beyond the last extent the window goes on at the first: a stream of writes that keeps one extent ahead of the
        sweep would otherwise leave all others in the buffer.
        """
        places, arm, table = self.dirty.places, self._arm, self.seeks.write
        inverse_revolution = self._inverse_revolution
        passed = start * inverse_revolution + self._phase - EARLY
        best, soonest = at, 1e9
        beyond = at + SWEEP_WINDOW - len(places)
        last = len(places) - 1 if beyond > 0 else at + SWEEP_WINDOW - 1
        wrapped = min(beyond, at)
        while True:
            place = places[last]
            if place is None:
                place = self._locate(last)
            ahead = place.cylinder >= arm
            number, step, left = (at, 1, last - at) if ahead else (last, -1, last - at)
            while left >= 0:
                place = places[number]
                if place is None:
                    place = self._locate(number)
                cylinder = place.cylinder
                reach = table[cylinder - arm] * inverse_revolution
                if reach < soonest:
                    ahead_turns = place.turns - passed - reach
                    reach += ahead_turns - floor(ahead_turns)
                    if reach < soonest:
                        best, soonest = number, reach
                elif (cylinder >= arm) == ahead:
                    break  # the others are farther away still
                number += step
                left -= 1
            if wrapped <= 0:
                return best
            at, last, wrapped = 0, wrapped - 1, 0

    def _locate(self, number: int) -> Place:
        """Find out where an extent lies."""
        offset, end = self.dirty.starts[number], self.dirty.ends[number]
        if end - offset > DESTAGE_UNIT:
            end = offset + DESTAGE_UNIT
        place = self.dirty.places[number] = Place(self.geometry.span(offset, end))
        return place
