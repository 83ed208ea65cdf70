"""What a redundant md array writes beside the data: its superblock, and the write-intent bitmap.

The first write to a clean array marks it dirty in the superblock of every member and waits for that; after
``safe_mode_delay`` without writes it is marked clean again. With a bitmap, the first write to a bitmap chunk sets a bit
on every member and waits for that too; after a crash only chunks with their bit set are resynchronised. Bits are
cleared lazily: a chunk's counter goes 2, 1, 0 in passes of a daemon, and one more pass writes the page. Each of these
writes is one flush + FUA write a member (``WRITE_THROUGH``). Sources: drivers/md/md.c (md_write_start, md_write_end,
md_update_sb), drivers/md/md-bitmap.c (md_bitmap_startwrite, md_bitmap_endwrite, md_bitmap_unplug,
md_bitmap_daemon_work), kernel/time/timer.c (the grain of long timeouts).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ...core.engine import Engine
from ...core.errors import ModelError
from ...core.request import Request
from .superblock import (
    BITMAP_SECTOR,
    DATA_OFFSET_SECTORS,
    SECTOR,
    VERSION_1_2,
    MemberMetadata,
    MetadataWrite,
    Redundant,
    Superblock,
)

__all__ = ["SAFE_MODE_DELAY_S", "SECTOR", "ArrayMetadata", "MetadataWrite", "WriteIntentBitmap"]

SAFE_MODE_DELAY_S = 0.204
"""Idle time after which md marks an array clean (DEFAULT_SAFEMODE_DELAY, 51 jiffies of 4 ms)."""
DAEMON_SLEEP_S = 5.0
TIMER_GRAIN_S = 0.256
"""Timeouts of 2 to 16 s end on the next multiple of 64 jiffies of 4 ms."""

_PAGE = 4096
_HEADER = 256


class WriteIntentBitmap:
    """Which chunks may differ between the members.

    Parameters
    ----------
    engine
        The clock.
    array
        Whose bitmap it is.
    chunk_bytes
        What a bit stands for, in the address space of resync.
    fresh
        Whether mdadm has just written it: every bit is set then, and none is clear before three passes of the daemon.
    daemon_sleep_s
        Time between these passes.
    data_offset_sectors
        Where the data begin on the members.
    """

    __slots__ = (
        "_clearing",
        "_counters",
        "_daemon_due",
        "_dirty",
        "_engine",
        "_file_bytes",
        "_fresh",
        "_go",
        "_idle",
        "_last_run",
        "_members",
        "_need_sync",
        "_waiting",
        "_writing",
        "chunk_bytes",
        "daemon_sleep_s",
    )

    def __init__(
        self,
        engine: Engine,
        array: Redundant,
        chunk_bytes: int,
        fresh: bool = False,
        daemon_sleep_s: float = DAEMON_SLEEP_S,
        data_offset_sectors: int = DATA_OFFSET_SECTORS,
    ) -> None:
        if chunk_bytes < _PAGE or chunk_bytes & (chunk_bytes - 1):
            raise ModelError(f"{array.name}: bitmap chunk of {chunk_bytes} bytes; a power of two of at least {_PAGE}")
        self._engine = engine
        self._members = MemberMetadata(array, data_offset_sectors)
        self.chunk_bytes = chunk_bytes
        self.daemon_sleep_s = daemon_sleep_s
        _, end = array.resync_range(array.capacity - SECTOR, SECTOR)
        self._file_bytes = _HEADER + -(-end // (8 * chunk_bytes))
        self._counters: dict[int, int] = {}  # by chunk: 1 and 2 are set bits without writes, more are writes under way
        self._fresh = 2 if fresh else 0  # the counter of all chunks that are not in `_counters`
        self._dirty: set[int] = set()  # pages with a bit set that is not on the members yet
        self._clearing: set[int] = set()  # pages with bits cleared, which the next pass of the daemon writes
        self._waiting: list[Callable[[], None]] = []
        self._go: list[Callable[[], None]] = []
        self._writing = False
        self._need_sync = False
        self._idle = not fresh
        self._last_run = engine.now
        self._daemon_due = False
        if fresh:
            self._sleep()

    @property
    def writes(self) -> int:
        """Member writes of the bitmap so far."""
        return self._members.writes

    def superblock_changed(self, then: Callable[[], None]) -> None:
        """The array's event count goes up: the bitmap's own superblock follows, before the others."""
        self._members.write(BITMAP_SECTOR, self._page_bytes(0), then)

    def start(self, low: int, high: int, go: Callable[[], None]) -> None:
        """A write to [low, high) begins: `go` is called when its bits are on the members."""
        counters, fresh = self._counters, self._fresh
        for chunk in range(low // self.chunk_bytes, (high - 1) // self.chunk_bytes + 1):
            count = counters.get(chunk, fresh)
            if not count:
                self._dirty.add(self._page(chunk))
            counters[chunk] = max(count, 2) + 1
        if self._dirty or self._writing:
            self._waiting.append(go)
            if not self._writing:
                self._write_dirty()
        else:
            go()

    def end(self, low: int, high: int, first_since_event: bool) -> None:
        """A write to [low, high) is over; `first_since_event`: the first since the superblock was last written."""
        if first_since_event:
            self._need_sync = True
        counters = self._counters
        for chunk in range(low // self.chunk_bytes, (high - 1) // self.chunk_bytes + 1):
            counters[chunk] -= 1
        self._idle = False
        if not self._daemon_due:
            now = self._engine._now
            if now >= self._last_run + self.daemon_sleep_s:
                self._daemon_due = True
                self._engine.call_at(now + SAFE_MODE_DELAY_S, self._daemon)
            else:
                self._sleep()

    def _page(self, chunk: int) -> int:
        return (_HEADER + chunk // 8) // _PAGE

    def _page_bytes(self, page: int) -> int:
        return min(_PAGE, -(-(self._file_bytes - page * _PAGE) // SECTOR) * SECTOR)

    def _write_page(self, page: int, then: Callable[[], None]) -> None:
        sector = BITMAP_SECTOR + page * (_PAGE // SECTOR)
        self._members.write(sector, self._page_bytes(page), then)

    def _write_dirty(self) -> None:
        """Write the pages with new bits; what came before may go then, what comes meanwhile waits for the next."""
        pages, self._dirty = sorted(self._dirty), set()
        self._go, self._waiting = self._waiting, []
        self._writing = True
        left = len(pages)

        def written() -> None:
            nonlocal left
            left -= 1
            if left:
                return
            self._writing = False
            going, self._go = self._go, []
            if self._dirty:
                self._write_dirty()
            else:
                going += self._waiting
                self._waiting = []
            for go in going:
                go()

        for page in pages:
            self._clearing.discard(page)
            self._write_page(page, written)

    def _sleep(self) -> None:
        """The daemon sleeps: until the grain of the timer after `daemon_sleep_s`."""
        self._daemon_due = True
        due = self._engine._now + self.daemon_sleep_s
        self._engine.call_at((due // TIMER_GRAIN_S + 1) * TIMER_GRAIN_S, self._daemon)

    def _daemon(self, _: Any) -> None:
        """One pass: counters without writes go down, and pages whose bits were cleared a pass ago are written."""
        self._last_run = self._engine._now
        self._daemon_due = False
        if self._idle:
            return
        self._idle = True
        write, self._clearing = self._clearing - self._dirty, self._clearing & self._dirty
        synced, self._need_sync = self._need_sync, False
        if synced:
            write.add(0)
        counters = self._counters
        for chunk, count in list(counters.items()):
            if count == 1:
                del counters[chunk]
                if self._fresh:
                    counters[chunk] = 0
                self._clear(self._page(chunk), write)
            elif count == 2:
                counters[chunk] = 1
                self._idle = False
        if self._fresh:
            self._fresh -= 1
            self._idle = False
            if not self._fresh:
                for chunk in [chunk for chunk, count in counters.items() if not count]:
                    del counters[chunk]
                for page in range(self._page(0), -(-self._file_bytes // _PAGE)):
                    self._clear(page, write)
        for page in sorted(write):
            self._write_page(page, _nothing)
        self._sleep()

    def _clear(self, page: int, writing: set[int]) -> None:
        """A bit of `page` is cleared: the page is written by the next pass, or now if it is written anyway."""
        if page not in writing:
            self._clearing.add(page)
            self._idle = False


class ArrayMetadata:
    """Superblock and bitmap of one array, between it and its writes.

    Parameters
    ----------
    engine
        The clock.
    array
        Whose metadata they are; it calls :meth:`before_write`.
    bitmap
        Its write-intent bitmap, or None.
    safe_mode_delay_s
        Idle time after which the array is marked clean; 0: never, once it is dirty (``safe_mode_delay`` 0).
    data_offset_sectors
        Where the data begin on the members.
    superblock
        Where it is, and how it is written.
    """

    __slots__ = (
        "_array",
        "_bitmap",
        "_engine",
        "_first_since_event",
        "_idle_since",
        "_on_written",
        "_safe_mode_delay_s",
        "_superblock",
        "_supers",
        "_timer",
        "_updating",
        "_waiting",
        "_writes",
        "clean",
        "has_bitmap",
    )

    def __init__(
        self,
        engine: Engine,
        array: Redundant,
        bitmap: WriteIntentBitmap | None = None,
        safe_mode_delay_s: float = SAFE_MODE_DELAY_S,
        data_offset_sectors: int = DATA_OFFSET_SECTORS,
        superblock: Superblock = VERSION_1_2,
    ) -> None:
        self._engine = engine
        self._array = array
        self._bitmap = bitmap
        self.has_bitmap = bitmap is not None
        self._superblock = superblock
        self._safe_mode_delay_s = safe_mode_delay_s
        self._supers = MemberMetadata(array, data_offset_sectors)
        self.clean = True
        self._updating = False
        self._first_since_event = False
        self._writes = 0
        self._idle_since = 0.0
        self._timer = False
        self._waiting: list[tuple[Request, Callable[[Request], None]]] = []
        self._on_written: list[Callable[[], None]] = []

    @property
    def holds_writers(self) -> bool:
        """Whether superblocks are being written: who comes with a write sleeps until they are (md_write_start)."""
        return self._updating

    @property
    def holds_thread(self) -> bool:
        """Whether md's thread is busy with them: it marks arrays clean, while writers mark them dirty themselves."""
        return self._updating and self.clean

    def when_written(self, callback: Callable[[], None]) -> None:
        """Call back once, when superblocks are being written no more."""
        self._on_written.append(callback)

    @property
    def bitmap(self) -> WriteIntentBitmap | None:
        """The write-intent bitmap."""
        return self._bitmap

    def before_write(self, request: Request, write: Callable[[Request], None]) -> None:
        """Call ``write(request)`` once the array is marked dirty and the request's bits are set."""
        self._writes += 1
        if self._updating or self.clean:
            self._waiting.append((request, write))
            if not self._updating:
                self.clean = False
                self._update_superblock()
            return
        self._marked(request, write)

    def _marked(self, request: Request, write: Callable[[Request], None]) -> None:
        bitmap, done = self._bitmap, request.done
        if bitmap is None:

            def over(_: Request) -> None:
                self._over()
                request.done = done
                done(request)

            request.done = over
            write(request)
            return
        low, high = self._array.resync_range(request.offset, request.size)

        def over_and_noted(_: Request) -> None:
            first, self._first_since_event = self._first_since_event, False
            bitmap.end(low, high, first and not self._array.failed)
            self._over()
            request.done = done
            done(request)

        request.done = over_and_noted
        bitmap.start(low, high, partial(write, request))

    def _over(self) -> None:
        self._writes -= 1
        if not self._writes and self._safe_mode_delay_s:
            self._idle_since = self._engine._now
            if not self._timer:
                self._timer = True
                self._engine.call_at(self._idle_since + self._safe_mode_delay_s, self._safe_mode)

    def _safe_mode(self, _: Any) -> None:
        self._timer = False
        if self._writes or self.clean:
            return
        due = self._idle_since + self._safe_mode_delay_s
        if due > self._engine._now:
            self._timer = True
            self._engine.call_at(due, self._safe_mode)
            return
        self.clean = True
        self._update_superblock()

    def _update_superblock(self) -> None:
        self._updating = True
        if self._bitmap is not None:
            self._bitmap.superblock_changed(self._write_superblock)
        else:
            self._write_superblock()

    def _write_superblock(self) -> None:
        self._supers.write_superblock(self._superblock, self._superblock_written)

    def _superblock_written(self) -> None:
        self._updating = False
        self._first_since_event = not self.clean
        if self._waiting and self.clean:  # marked clean while a write arrived
            self.clean = False
            self._update_superblock()
        elif self._waiting:
            waiting, self._waiting = self._waiting, []
            for request, write in waiting:
                self._marked(request, write)
            self._array.unplug()
        sleepers, self._on_written = self._on_written, []
        for callback in sleepers:
            callback()


def _nothing() -> None:
    pass
