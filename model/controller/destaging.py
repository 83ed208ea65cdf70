"""Destaging: writing a controller's dirty rows to its array.

A few rows are under way at a time. A parity array gathers what it is given by row itself: the pieces of a row are
handed over together, as writes that nobody waits for, and then the array is unplugged, which ends the gathering.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy_extensions import i64

from ..core.device import Device
from ..core.engine import Engine
from ..core.request import ASYNC, FLUSHER_ISSUER, WAITED, WRITE, Completion, Request
from .cache import DirtyRow, WriteCache
from .settings import ControllerSettings, parity_chunk_of


class Destager:
    """Decides when dirty rows are written, and writes them.

    Parameters
    ----------
    engine
        The clock.
    array
        What they are written to.
    settings
        The controller's.
    cache
        The dirty rows.
    landed
        Called after each row that the drives have; True if writers still wait for room.
    """

    __slots__ = (
        "_array",
        "_cache",
        "_chunk_bytes",
        "_depth",
        "_drains",
        "_engine",
        "_flushing",
        "_high",
        "_landed",
        "_low",
        "_partial_age_s",
        "_sync",
        "_timer",
        "_under_way",
    )

    def __init__(
        self,
        engine: Engine,
        array: Device,
        settings: ControllerSettings,
        cache: WriteCache,
        landed: Callable[[], bool],
    ) -> None:
        self._engine = engine
        self._array = array
        self._depth = settings.destage_depth
        self._partial_age_s = settings.partial_age
        self._cache = cache
        self._landed = landed
        self._chunk_bytes = parity_chunk_of(array) if settings.partial_rows == "chunk by chunk" else 0
        self._high = settings.high_water * cache.capacity_bytes
        self._low = settings.low_water * cache.capacity_bytes
        self._sync = WAITED if cache.in_turn else ASYNC
        self._flushing = False
        self._timer = False
        self._under_way = 0
        self._drains: list[Callable[[], None]] = []

    def drain(self, done: Callable[[], None]) -> None:
        """Write everything; `done` is called when nothing is dirty."""
        if not self._cache.unwritten_bytes:
            done()
            return
        self._drains.append(done)
        self.pump(False)

    def pump(self, pressed: bool) -> None:
        """Start what may be written now; `pressed` if writers wait for room.

        They wait for the rows under way first: a row that is still being filled is written in part only if nothing else
        makes room.
        """
        cache, depth = self._cache, self._depth
        if cache.dirty_bytes > self._high:
            self._flushing = True
        if self._under_way > depth // 2:
            return
        started = False
        while self._under_way < depth:
            if cache.dirty_bytes <= self._low:
                self._flushing = False
            row = cache.take(self._flushing or bool(self._drains) or (pressed and not self._under_way))
            if row is None:
                break
            if not started:
                self._array.plug()
            started = True
            self._write(row)
        if started:
            self._array.unplug()
        if cache.rows and not self._timer and not cache.in_turn:
            self._arm()

    def _arm(self) -> None:
        due = self._cache.age(self._engine._now, self._partial_age_s)
        if due is not None:
            self._timer = True
            self._engine.call_at(due, self._timer_fired)

    def _timer_fired(self, _: Any) -> None:
        self._timer = False
        self._arm()
        self.pump(False)

    def _write(self, row: DirtyRow) -> None:
        self._under_way += 1
        if self._chunk_bytes and not self._cache.is_full(row):
            ChunkWrites(self, row, self._chunks(row)).go_on()
            return
        extents = list(row.extents)
        write = RowWrite(self, row, len(extents))
        for start, end in extents:
            self.submit(start, end, write)

    def submit(self, start: int, end: int, done: Completion) -> None:
        """Write some bytes of a row to the array."""
        self._array.submit(Request(WRITE, start, end - start, done, FLUSHER_ISSUER, self._sync))

    def unplug(self) -> None:
        """Let the array begin with what it has been given."""
        self._array.unplug()

    def _chunks(self, row: DirtyRow) -> list[tuple[int, int]]:
        """What is dirty of a row, cut where chunks end."""
        chunk = self._chunk_bytes
        found = []
        for start, end in list(row.extents):
            while start < end:
                border = min(end, start - start % chunk + chunk)
                found.append((start, border))
                start = border
        return found

    def row_written(self, row: DirtyRow) -> None:
        """The array has a row."""
        self._under_way -= 1
        self._cache.land(row)
        pressed = self._landed()
        if self._drains and not self._cache.unwritten_bytes:
            drains, self._drains = self._drains, []
            for done in drains:
                done()
        self.pump(pressed)


class RowWrite(Completion):
    """The writes of a row that are under way together."""

    __slots__ = ("_destager", "_left", "_row")

    def __init__(self, destager: Destager, row: DirtyRow, left: i64) -> None:
        self._destager = destager
        self._row = row
        self._left = left

    def done(self, request: Request) -> None:
        """One of them is over."""
        self._left -= 1
        if not self._left:
            self._destager.row_written(self._row)


class ChunkWrites(Completion):
    """The writes of a row's chunks, one after the other: they change the same parity."""

    __slots__ = ("_at", "_chunks", "_destager", "_row")

    def __init__(self, destager: Destager, row: DirtyRow, chunks: list[tuple[int, int]]) -> None:
        self._destager = destager
        self._row = row
        self._chunks = chunks
        self._at = 0

    def go_on(self) -> None:
        """Write the next chunk; after the last one the row is written."""
        if self._at == len(self._chunks):
            self._destager.row_written(self._row)
            return
        start, end = self._chunks[self._at]
        self._at += 1
        self._destager.submit(start, end, self)
        self._destager.unplug()

    def done(self, request: Request) -> None:
        """A chunk is written."""
        self.go_on()
