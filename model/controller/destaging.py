"""Destaging: writing a controller's dirty rows to its array.

A few rows are under way at a time. A parity array gathers what it is given by row itself: the pieces of a row are
handed over together, as writes that nobody waits for, and then the array is unplugged, which ends the gathering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.join import Join
from ..core.request import ASYNC, FLUSHER_ISSUER, WAITED, WRITE, Request
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
        "_drains",
        "_engine",
        "_flushing",
        "_high",
        "_landed",
        "_low",
        "_plug",
        "_settings",
        "_sync",
        "_timer",
        "_under_way",
        "_unplug",
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
        self._settings = settings
        self._cache = cache
        self._landed = landed
        self._chunk_bytes = parity_chunk_of(array) if settings.partial_rows == "chunk by chunk" else 0
        self._high = settings.high_water * cache.capacity_bytes
        self._low = settings.low_water * cache.capacity_bytes
        self._plug = array.plug
        self._unplug = array.unplug
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
        cache, settings = self._cache, self._settings
        if cache.dirty_bytes > self._high:
            self._flushing = True
        if self._under_way > settings.destage_depth // 2:
            return
        started = False
        while self._under_way < settings.destage_depth:
            if cache.dirty_bytes <= self._low:
                self._flushing = False
            row = cache.take(self._flushing or bool(self._drains) or (pressed and not self._under_way))
            if row is None:
                break
            if not started:
                self._plug()
            started = True
            self._write(row)
        if started:
            self._unplug()
        if cache.rows and not self._timer and not cache.in_turn:
            self._arm()

    def _arm(self) -> None:
        due = self._cache.age(self._engine._now, self._settings.partial_age_s)
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
            self._write_chunks(row, self._chunks(row))
            return
        extents = list(row.extents)
        join = Join(len(extents), lambda: self._row_written(row))
        for start, end in extents:
            self._array.submit(Request(WRITE, start, end - start, join, FLUSHER_ISSUER, self._sync))

    def _chunks(self, row: DirtyRow) -> Iterator[tuple[int, int]]:
        """What is dirty of a row, cut where chunks end."""
        chunk = self._chunk_bytes
        for start, end in list(row.extents):
            while start < end:
                border = min(end, start - start % chunk + chunk)
                yield start, border
                start = border

    def _write_chunks(self, row: DirtyRow, chunks: Iterator[tuple[int, int]]) -> None:
        """Write the next chunk of a row, and the others after it: they change the same parity."""
        piece = next(chunks, None)
        if piece is None:
            self._row_written(row)
            return
        start, end = piece
        self._array.submit(
            Request(WRITE, start, end - start, lambda _: self._write_chunks(row, chunks), FLUSHER_ISSUER, self._sync)
        )
        if self._unplug is not None:
            self._unplug()

    def _row_written(self, row: DirtyRow) -> None:
        self._under_way -= 1
        self._cache.land(row)
        pressed = self._landed()
        if self._drains and not self._cache.unwritten_bytes:
            drains, self._drains = self._drains, []
            for done in drains:
                done()
        self.pump(pressed)
