"""The write-intent bitmap of a redundant md array.

The first write to a bitmap chunk sets a bit on every member and waits for that; after a crash only chunks with their
bit set are resynchronised. Bits are cleared lazily: a chunk's counter goes 2, 1, 0 in passes of a daemon, and one more
pass writes the page. Each of these writes is one flush + FUA write a member (``WRITE_THROUGH``). The process or thread
that waits for a new bit differs by level and kernel: see :mod:`raidsim.model.raid.metadata.bitmap_waits`. Sources:
drivers/md/md-bitmap.c (md_bitmap_startwrite, md_bitmap_endwrite, md_bitmap_unplug, md_bitmap_daemon_work),
kernel/time/timer.c (the grain of long timeouts).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.engine import Engine
from ...core.errors import ModelError
from .superblock import (
    BITMAP_SECTORS,
    DATA_OFFSET_SECTORS,
    SECTOR,
    VERSION_1_2,
    MemberMetadata,
    Redundant,
    Superblock,
)

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
        Bytes per bit, in the address space of resync.
    fresh
        Whether mdadm has just written it: every bit is set then, and none is clear before three passes of the daemon.
    daemon_sleep_s
        Time between these passes.
    data_offset_sectors
        Where the data begin on the members.
    superblock
        Where the superblock is, behind which the bitmap lies.

    Attributes
    ----------
    chunks
        How many there are.
    """

    __slots__ = (
        "_clearing",
        "_counters",
        "_daemon_due",
        "_dirty",
        "_engine",
        "_file_bytes",
        "_fresh",
        "_idle",
        "_last_run",
        "_members",
        "_need_sync",
        "_sector",
        "_since",
        "_waited_s",
        "_waiting",
        "_write_through",
        "_writing",
        "chunk_bytes",
        "chunks",
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
        superblock: Superblock = VERSION_1_2,
    ) -> None:
        if chunk_bytes < _PAGE or chunk_bytes & (chunk_bytes - 1):
            raise ModelError(f"{array.name}: bitmap chunk of {chunk_bytes} bytes; a power of two of at least {_PAGE}")
        self._engine = engine
        self._members = MemberMetadata(array, data_offset_sectors)
        self._sector = self._members.sector_of(superblock) + BITMAP_SECTORS
        self._write_through = superblock.write_through
        self.chunk_bytes = chunk_bytes
        self.daemon_sleep_s = daemon_sleep_s
        _, end = array.resync_range(array.capacity - SECTOR, SECTOR)
        self.chunks = -(-end // chunk_bytes)
        self._file_bytes = _HEADER + -(-end // (8 * chunk_bytes))
        self._counters: dict[int, int] = {}  # by chunk: 1 and 2 are set bits without writes, more are writes under way
        self._fresh = 2 if fresh else 0  # the counter of all chunks that are not in `_counters`
        self._dirty: set[int] = set()  # pages with a bit set that is not on the members yet
        self._clearing: set[int] = set()  # pages with bits cleared, which the next pass of the daemon writes
        self._waiting: list[Callable[[], None]] = []
        self._writing = False
        self._need_sync = False
        self._waited_s, self._since = 0.0, engine.now
        self._idle = not fresh
        self._last_run = engine.now
        self._daemon_due = False
        if fresh:
            self._sleep(self.daemon_sleep_s)

    @property
    def writes(self) -> int:
        """Member writes of the bitmap so far."""
        return self._members.writes

    def superblock_changed(self, then: Callable[[], None]) -> None:
        """The array's event count goes up: the bitmap's own superblock follows, before the others."""
        self._members.write(self._sector, self._page_bytes(0), then, self._write_through)

    @property
    def waited_s(self) -> float:
        """Time (s) since :meth:`start_statistics` in which writes waited for new bits to be on the members."""
        return self._waited_s + (self._engine._now - self._since if self._writing else 0.0)

    def start_statistics(self) -> None:
        """What was waited so far does not count."""
        self._waited_s, self._since = 0.0, self._engine._now

    @property
    def bits_set(self) -> int:
        """Chunks whose bit is set."""
        return self.chunks if self._fresh else len(self._counters)

    @property
    def bits_written(self) -> int:
        """Chunks whose bit was set by a write, and not because all were."""
        return len(self._counters)

    def idle_bits(self) -> list[int]:
        """Chunks that were written since one or two passes of the daemon ago and are not written now."""
        return [chunk for chunk, count in self._counters.items() if 0 < count <= 2]

    def unset(self, chunks: Sequence[int]) -> list[int]:
        """Those of some chunks whose bit no write has set."""
        return [chunk for chunk in chunks if chunk not in self._counters]

    def open_long_ago(self) -> None:
        """Take all bits as set, and the daemon as asleep, until :meth:`stands` says which of them stay so."""
        self._fresh = 2
        self._daemon_due = True

    def stands(self, written: Sequence[int], before: Sequence[int], neither: Sequence[int] = ()) -> None:
        """Go on as if a load had lasted for long, half a period after a pass of the daemon.

        Parameters
        ----------
        written, before, neither
            Chunks without writes under way, by number, that were last written since that pass, in the period before
            it, or earlier.
        """
        counters = self._counters
        for chunk in written:
            counters[chunk] = 2
        for chunk in before:
            counters[chunk] = 1
        for chunk in neither:
            del counters[chunk]
        self._idle = False
        if self._fresh:
            self._fresh = 0
            self._sleep(self.daemon_sleep_s / 2)

    @property
    def dirty(self) -> bool:
        """Whether a bit is set that no member has yet."""
        return bool(self._dirty)

    def mark(self, low: int, high: int) -> None:
        """A write to [low, high) begins: set the bits of its chunks, in memory (md_bitmap_startwrite)."""
        counters, fresh = self._counters, self._fresh
        for chunk in range(low // self.chunk_bytes, (high - 1) // self.chunk_bytes + 1):
            count = counters.get(chunk, fresh)
            if not count:
                self._dirty.add(self._page(chunk))
            counters[chunk] = max(count, 2) + 1

    def flush(self, then: Callable[[], None]) -> None:
        """Write the pages with new bits to the members, behind what is being written, and call `then`.

        Without new bits `then` is called at once, also while others are on their way (md_bitmap_unplug).
        """
        if not self._dirty:
            then()
        elif self._writing:
            self._waiting.append(then)
        else:
            self._waiting.append(then)
            self._write_dirty()

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
                self._sleep(self.daemon_sleep_s)

    def _page(self, chunk: int) -> int:
        return (_HEADER + chunk // 8) // _PAGE

    def _page_bytes(self, page: int) -> int:
        return min(_PAGE, -(-(self._file_bytes - page * _PAGE) // SECTOR) * SECTOR)

    def _write_page(self, page: int, then: Callable[[], None]) -> None:
        sector = self._sector + page * (_PAGE // SECTOR)
        self._members.write(sector, self._page_bytes(page), then, self._write_through)

    def _write_dirty(self) -> None:
        """Write the pages with new bits for all that wait; a request that comes meanwhile waits for the next write."""
        pages, self._dirty = sorted(self._dirty), set()
        going, self._waiting = self._waiting, []
        if not self._writing:
            self._since = self._engine._now
        self._writing = True
        left = len(pages)

        def written() -> None:
            nonlocal left
            left -= 1
            if left:
                return
            if self._dirty and self._waiting:
                self._write_dirty()
            else:
                self._writing = False
                self._waited_s += self._engine._now - self._since
            for go in going:
                go()

        for page in pages:
            self._clearing.discard(page)
            self._write_page(page, written)

    def _sleep(self, sleep_s: float) -> None:
        """The daemon sleeps: until the grain of the timer after `sleep_s`."""
        self._daemon_due = True
        due = self._engine._now + sleep_s
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
        self._sleep(self.daemon_sleep_s)

    def _clear(self, page: int, writing: set[int]) -> None:
        """A bit of `page` is cleared: the page is written by the next pass, or now if it is written anyway."""
        if page not in writing:
            self._clearing.add(page)
            self._idle = False


def _nothing() -> None:
    pass
