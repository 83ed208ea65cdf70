"""A media cache: random writes go to a log on the platters near the head, and are moved home later.

Makers describe it for conventional and for shingled drives (Seagate, "Multi-Tier Caching Technology", technology paper;
A. Aghayev and P. Desnoyers, "Skylight: a window on shingled disk operation", FAST 2015, who find such a cache
with a log and a map in two drives):

- a write that continues no other, of at most `largest` bytes, becomes part of a record; a record is written in one go
  behind the last one of its region. The drive writes to the region nearest to the head that has room;
- a record takes all writes that have reached the drive before the head begins to write it. With the write cache on it
  takes what waits in the buffer. The firmware forms the next record when the last one is on the platters, so the place
  behind it has just passed, and a drive with one command at a time writes one record a turn;
- a read finds the newest data: a block that is in the log is read from there;
- after `idle` seconds without a command, or when the regions or the map are full, the drive reads the oldest records of
  the fullest region, sorts their blocks by address and writes them home; in order of the sweep of :mod:`.destaging`;
- other writes go home at once.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..core.search import left_of
from .destaging import Destaged
from .mechanics.head import EARLY
from .media import Media
from .media_log import BLOCK, LogSettings, MediaLog

RUN: Final = 64
"""Assumed: writes that a full media cache moves home before it takes others: twice the commands that SATA queues."""


class CachingMedia(Media):
    """A head, platters and buffer with a media cache; :meth:`open_log` must be called first.

    Attributes
    ----------
    log
        What is in it.
    moved_bytes
        Bytes moved home from it.
    """

    __slots__ = (
        "_began_at",
        "_began_s",
        "_began_turns",
        "_last_end",
        "_last_s",
        "_region",
        "_run",
        "_settings",
        "log",
        "moved_bytes",
    )

    def open_log(self, settings: LogSettings, draw: np.random.Generator) -> None:
        """Set the cache up; `draw` gives the addresses of the older writes."""
        self.log = MediaLog(settings, self.geometry, draw)
        self._settings = settings
        self._last_s = 0.0  # when the last command came
        self._last_end = -1  # where the last write ended
        self._began_s = -1.0  # when the head began, or will begin, to write the last record; -1: it is done with
        self._began_turns = 0.0
        self._began_at = 0  # its place, and its region
        self._region = 0
        self._run = RUN
        self.moved_bytes = 0

    # What commands ask for.

    def write(self, offset: int, size: int, at: float, sent_from_s: float, sent_s: float) -> float:
        """See :meth:`.destaging.WritingHead.write`; a small write that continues no other goes to the cache."""
        self.settle(at)
        self._last_s = at
        end = offset + size
        home = self._goes_home(offset, size)
        self._last_end = end
        if home:
            self._began_s = -1.0
            done = super().write(offset, size, at, sent_from_s, sent_s)
            self._written_home(offset, end)
            return done
        start = self.call_away(at)
        self._written = True
        if not self.log.room(size):
            self._free_s = start
            self._make_space(size)
        start = max(start, self._free_s + self._settings.record_s)
        number = self.log.nearest(size, self._arm)
        place = self.log.regions[number].following
        cylinder, turns, last_cylinder, end_turns = self.geometry.span(place, place + size)
        transfer = (end_turns - turns) * self._revolution_s
        not_before = sent_s - transfer
        if not_before < sent_from_s:
            not_before = sent_from_s
        begin = self._arrive(place, cylinder, turns, start, self.seeks.write, not_before)
        self._began_s, self._began_turns, self._began_at, self._region = begin, turns, place, number
        self._enter(number, offset, end)
        self.transfer_s += transfer
        self._arm = last_cylinder
        self._at = place + size - 1
        self._free_s = done = begin + transfer
        return done

    def joins(self, offset: int, size: int, sent_s: float) -> bool:
        """Whether a write whose last byte arrives at `sent_s` (s) becomes part of the record that was begun last."""
        if sent_s > self._began_s or self._goes_home(offset, size):
            return False
        region = self.log.regions[self._region]
        if region.following <= self._began_at:
            return False  # the ring has gone round to its start
        return self.log.takes(self._region, size)

    def join(self, offset: int, size: int) -> float:
        """Put a write that :meth:`joins` at the end of the record; when its last byte is on the platters (s)."""
        place = self.log.regions[self._region].following
        _, _, last_cylinder, end_turns = self.geometry.span(place, place + size)
        self._enter(self._region, offset, offset + size)
        done = self._began_s + (end_turns - self._began_turns) * self._revolution_s
        self.transfer_s += done - self._free_s
        self._arm = last_cylinder
        self._at = place + size - 1
        self._last_end = offset + size
        self._free_s = done
        return done

    def read(self, offset: int, size: int, hit_s: float, miss_s: float) -> float:
        """See :meth:`.media.Media.read`; blocks that are in the cache are read from there."""
        if self.log.held:
            self.settle(hit_s)
        self._last_s = hit_s
        self._began_s = -1.0
        end = offset + size
        if not self.log.has(offset, end) or self.writes_hold(offset, end, hit_s):
            return super().read(offset, size, hit_s, miss_s)
        ready = first_s = -1.0
        at = offset
        while at < end:
            entry = self.log.entry(at // BLOCK)
            until = (at // BLOCK + 1) * BLOCK
            while until < end and self.log.entry(until // BLOCK) is entry:
                until += BLOCK
            if until > end:
                until = end
            if entry is None:
                done = super().read(at, until - at, hit_s, miss_s)
            else:
                done = self._read_log(entry.place + at - entry.first * BLOCK, until - at, miss_s)
            if first_s < 0.0:
                first_s = self.first_s
            if done > ready:
                ready = done
            at = until
        self.hit = False
        self.first_s = first_s
        return ready

    def buffered(self, offset: int, size: int, at: float) -> bool:
        """See :meth:`.media.Media.buffered`; what was read ahead of a block that is in the cache is out of date."""
        if self.log.has(offset, offset + size):
            return self.writes_hold(offset, offset + size, at)
        return super().buffered(offset, size, at)

    def make_room(self, offset: int, size: int, at: float) -> float:
        """See :meth:`.destaging.WritingHead.make_room`."""
        ready = super().make_room(offset, size, at)
        self._last_s = at
        return ready

    def flush(self, at: float) -> float:
        """See :meth:`.destaging.WritingHead.flush`."""
        done = super().flush(at)
        self._last_s = at
        return done

    def accept(self, offset: int, size: int, at: float) -> None:
        """See :meth:`.destaging.WritingHead.accept`."""
        super().accept(offset, size, at)
        self._last_s = at

    def reach_of_destaging(self, at: float) -> float:
        """See :meth:`.destaging.WritingHead.reach_of_destaging`; for small writes it is the way to the log."""
        start = self._free_s if self._free_s > at else at
        if self.dirty.total:
            number, offset, _ = self._next_extent(start)
            if self._goes_home(offset, self.dirty.ends[number] - offset):
                return super().reach_of_destaging(at)
        place = self.log.regions[self.log.nearest(BLOCK, self._arm)].following
        cylinder, turns, _, _ = self.geometry.span(place, place + BLOCK)
        reach = self.seeks.write[cylinder - self._arm]
        turns -= (start + reach) * self._inverse_revolution + self._phase - EARLY
        return reach + turns % 1.0 * self._revolution_s

    def settle(self, to: float) -> None:
        """See :meth:`.media.Media.settle`; when all that is done and the drive is idle, blocks are moved home."""
        super().settle(to)
        if not self.log.held or self._reading or self.dirty.total or self._free_s >= to:
            return
        begin = self._last_s + self._settings.idle_s
        if begin >= to:
            return
        if self._free_s < begin:
            self._free_s = begin
        while self.log.held and self._free_s < to:
            self._move()

    # What goes where.

    def _goes_home(self, offset: int, size: int) -> bool:
        """Whether a write is not for the cache: it is large, or goes on where the one before ended."""
        return size > self._settings.largest or offset in (self._last_end, self._sweep)

    def _piece(self, offset: int, end: int) -> int:
        """End of what is written to the log in one piece of an extent from `offset` to `end`."""
        return end

    def _enter(self, number: int, start: int, end: int) -> None:
        """Note [start, end) as the newest write of a region."""
        self.log.enter(number, start, end)

    def _written_home(self, start: int, end: int) -> None:
        """Note that the head has written [start, end) home: the log has nothing newer."""
        self.log.forget(start, end)

    def _destage(self) -> None:
        """Write a record of small extents, or one unit of a large one home, from ``_free_s`` on."""
        number, offset, _ = self._next_extent(self._free_s)
        size = self.dirty.ends[number] - offset
        if self._goes_home(offset, size):
            super()._destage()
            last = self._freeing[-1]
            start, end = last.start, last.end
            self._written_home(start, end)
            return
        end = self._piece(offset, offset + size)
        if not self.log.room(end - offset):
            self._make_space(end - offset)
        self._write_record(offset, end)

    def _write_record(self, offset: int, end: int) -> None:
        """Write cached data from `offset` to `end` to the log, and the small extents behind it in the same record."""
        dirty = self.dirty
        starts, ends = dirty.starts, dirty.ends
        number = self.log.nearest(end - offset, self._arm)
        region = self.log.regions[number]
        place = region.following
        cylinder, turns, _, _ = self.geometry.span(place, place + BLOCK)
        begin = self._arrive(place, cylinder, turns, self._free_s + self._settings.record_s, self.seeks.write)
        dirty.remove(offset, end)
        first = last = left_of(starts, end)
        start, total = offset, 0
        while True:
            until = region.following + end - start
            self._enter(number, start, end)
            self._free_s = done = begin + (self.geometry.turns_at_end(until) - turns) * self._revolution_s
            self._freeing.append(Destaged(done, start, end))
            total += end - start
            if last == len(starts) or total >= self._batch_bytes or region.following <= place:
                break
            start, end = starts[last], ends[last]
            if self._goes_home(start, end - start) or end - start > self._settings.largest:
                break
            if not self.log.takes(number, end - start):
                break
            last += 1
        dirty.cut(first, last)
        self._leaving += total
        self.transfer_s += done - begin
        self.destaged_bytes += total
        self._batch -= total
        self._at = until - 1
        self._arm = self.geometry.cylinder(self._at)

    def _read_log(self, place: int, size: int, at: float) -> float:
        """Read from the log; when the last byte is in the buffer (s)."""
        start = self.call_away(at)
        self.first_s = begin = self._position(place, start, self.seeks.read)
        self._pass(place, size, begin)
        return self._free_s

    def _pass(self, place: int, size: int, begin: float) -> None:
        """The head passes over `size` bytes from `place`, from `begin` (s)."""
        transfer = self.geometry.transfer_s(place, size)
        self.transfer_s += transfer
        self._at = place + size - 1
        self._arm = self.geometry.cylinder(self._at)
        self._free_s = begin + transfer

    # Moving home.

    def _make_space(self, size: int) -> None:
        """Move blocks home, from ``_free_s`` on, until a write of `size` bytes and some more fit."""
        log = self.log
        wanted = max(0, log.held - self._run)
        while log.held > wanted or (log.held and not log.room(size)):
            self._move()

    def _move(self) -> None:
        """Do the next step of moving home, from ``_free_s`` on: read records, or write a unit of what was read."""
        log = self.log
        if not log.moving.total:
            place, size = log.load()
            self._pass(place, size, self._position(place, self._free_s, self.seeks.read))
            return
        cached, self.dirty = self.dirty, log.moving
        batch, destaged = self._batch, self.destaged_bytes
        super()._destage()
        self.dirty, self._batch, self.destaged_bytes = cached, batch, destaged
        last = self._freeing.pop()
        start, end = last.start, last.end
        self._leaving -= end - start
        self.moved_bytes += end - start
        log.moved(start, end)
