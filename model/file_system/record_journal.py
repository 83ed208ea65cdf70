"""A journal of records of the changes, in buffers that are written when they are full: xfs and jfs."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.request import DAEMON_ISSUER, WRITE_THROUGH
from ..core.signal import Signal, fire_all
from ..memory.page_cache import PageCache
from ..memory.paged_file import PagedFile
from .journal import Journal, JournalArea
from .log_items import LogItems
from .settings import FileSystemSettings

SECTOR = 512
_CHECKPOINT = 64
"""Bytes of the records that begin a checkpoint and make it count: three headers of 12 bytes and a transaction's of 16
(fs/xfs/xfs_log_cil.c)."""
_LARGEST_CHECKPOINT = 32 << 20
"""Of the log an eighth, but no more than this, is one checkpoint (fs/xfs/xfs_log_priv.h: XLOG_CIL_SPACE_LIMIT)."""
_PER_HEADER = 32 * 1024
"""Bytes of a log write for which it has a header of a sector (fs/xfs/xfs_log.c: XLOG_HEADER_CYCLE_SIZE)."""
_LOG_BIO = 128 * 1024
"""Contiguous bytes of the log that are written with one bio."""


class RecordJournal(Journal):
    """A journal of records of the changes (Linux fs/xfs/xfs_log.c, fs/jfs/jfs_logmgr.c).

    Operations append records to a buffer in memory. A full buffer is written without anybody waiting for it, as long as
    there is another one to fill; the blocks that its records are about are dirty from when it is on the device. With
    checkpoints each block is in a buffer once however often it changes (fs/xfs/xfs_log_cil.c), and no more of it is
    written than there is.

    Parameters
    ----------
    engine, cache, settings, start, size, device
        As of a :class:`BlockJournal`.
    items
        Sizes of what is in a checkpoint; None for a journal without checkpoints.
    """

    __slots__ = (
        "_ahead",
        "_blocks",
        "_buffer",
        "_buffers_bytes",
        "_cache",
        "_engine",
        "_filled",
        "_free",
        "_items",
        "_kinds",
        "_more_than_times",
        "_queue",
        "_settings",
        "_timer",
        "_under_way",
        "_waiting",
        "area",
    )

    def __init__(
        self,
        engine: Engine,
        cache: PageCache,
        settings: FileSystemSettings,
        start: int,
        size: int,
        items: LogItems | None = None,
        device: Device | None = None,
    ) -> None:
        self._engine = engine
        self._cache = cache
        self._settings = settings
        self.area = JournalArea(cache, start, size, _LOG_BIO, settings.journal_head, device=device)
        self._blocks: dict[int, None] = {}
        self._kinds = items
        self._items: set[int] = set()
        self._more_than_times = False
        self._filled = 0
        self._buffer = settings.log_buffer
        self._free = settings.log_buffers - 1
        self._buffers_bytes = min(settings.log_buffer * settings.log_buffers, size // 2)
        if settings.checkpoints:
            self._buffer = min(_LARGEST_CHECKPOINT, size // 8)
            self._buffers_bytes = size // 4  # that much is kept free (fs/xfs/xfs_log.c, xlog_grant_push_threshold)
        self._queue: list[tuple[dict[int, None], Signal, int]] = []
        self._under_way: list[tuple[dict[int, None], Signal, int]] = []
        self._waiting: list[Signal] = []
        self._timer: Any = None
        self._ahead: dict[int, None] = {}  # what the log is ahead of: changed blocks that are not in their place
        if settings.checkpoints:
            engine.spawn(self._push_old())

    def holds(self, address: int) -> bool:
        if address in self._blocks or address in self._ahead:
            return True
        return any(address in blocks for blocks, _, _ in self._queue) or any(
            address in blocks for blocks, _, _ in self._under_way
        )

    @property
    def full(self) -> bool:
        return self._free < 0 or (self.area.used + self._buffers_bytes > self.area.size and self.area.used > 0)

    def make_room(self) -> Generator[Any, Any, None]:
        while self._free < 0:
            signal = Signal()
            self._waiting.append(signal)
            yield signal
        self._push()
        yield from self.area.make_room(self._buffers_bytes)

    def in_shadow(self, addresses: Iterable[int]) -> Signal | None:
        return None

    def change(self, addresses: Iterable[int], times: bool = False) -> None:
        settings = self._settings
        if not times:
            self._more_than_times = True
        if self._timer is None:
            self._timer = self._engine.call_at(self._engine._now + settings.commit_interval, self._old)
        for address in addresses:
            if settings.checkpoints and address in self._items:
                continue
            self._items.add(address)
            self._blocks[address - address % settings.block] = None
            self._filled += settings.record
            if self._filled >= self._buffer:
                self._close_buffer()
                self._filled -= self._buffer

    def grew(self, file: PagedFile) -> None:
        pass

    def drop(self, file: PagedFile) -> None:
        pass

    def settle(self) -> Generator[Any, Any, None]:
        if self._ahead:
            used = self.area.used
            self._push()
            yield from self._cache.write_back(self._cache.device_file, DAEMON_ISSUER)
            self.area.used -= used

    def commit(self, data_only: bool = False) -> Generator[Any, Any, bool]:
        if self._blocks and (self._more_than_times or not data_only):
            self._close_buffer()
            self._filled = 0
        waits = [done for _, done, _ in (*self._under_way, *self._queue) if not done.fired]
        for done in waits:
            if not done.fired:
                yield done
        return bool(waits)

    def _push(self) -> None:
        """What the log is ahead of is to be written to its place (fs/xfs/xfs_trans_ail.c)."""
        cache, block, kinds = self._cache, self._settings.block, self._kinds
        for address in self._ahead:
            for start, size in kinds.written(address) if kinds is not None else ((address, block),):
                cache.mark_dirty(cache.device_file, start, start + size)
        self._ahead.clear()

    def _push_old(self) -> Generator[Any, Any, None]:
        """Now and then, though the log has room (fs/xfs/xfs_log.c, xfs_log_worker)."""
        while True:
            yield self._engine.timeout(self._settings.commit_interval)
            yield from self.settle()

    def _pieces(self, size: int) -> list[int]:
        """The writes of a buffer: each with its header, and filled up."""
        settings = self._settings
        most, unit = settings.log_write or size + SECTOR, settings.log_unit or SECTOR
        header = -(-settings.log_write // _PER_HEADER) * SECTOR or SECTOR
        whole, rest = divmod(size, most - header)
        return [most] * whole + ([-(-(rest + header) // unit) * unit] if rest or not whole else [])

    @staticmethod
    def _all(signals: list[Signal]) -> Generator[Any, Any, None]:
        for signal in signals:
            if not signal.fired:
                yield signal

    def _old(self, _: Any) -> None:
        """What is in the buffer has waited long enough."""
        self._timer = None
        if self._blocks:
            self._close_buffer()
            self._filled = 0

    def _close_buffer(self) -> None:
        settings = self._settings
        size = settings.log_buffer
        if self._kinds is not None:
            size = sum(map(self._kinds.size, self._items)) + _CHECKPOINT
            size += -size % SECTOR
        self._queue.append((self._blocks, Signal(), size))
        self._blocks = {}
        self._items.clear()
        self._more_than_times = False
        self._free -= 1
        self._write_next()

    def _write_next(self) -> None:
        while self._queue and len(self._under_way) < self._settings.log_in_flight:
            buffer = self._queue.pop(0)
            self._under_way.append(buffer)
            self._engine.spawn(self._write(buffer))

    def _write(self, buffer: tuple[dict[int, None], Signal, int]) -> Generator[Any, Any, None]:
        cache, block = self._cache, self._settings.block
        blocks, done, size = buffer
        if self._settings.barrier:
            *before, last = self._pieces(size)
            if before:
                yield from self.area.flush()
                yield from self._all([self.area.write(piece) for piece in before])
            yield from self.area.flush()
            yield self.area.write(last, WRITE_THROUGH)
        else:
            yield self.area.write(size)
        self._under_way.remove(buffer)
        if self._settings.checkpoints:
            self._ahead.update(blocks)
        else:
            for address in blocks:
                cache.mark_dirty(cache.device_file, address, address + block)
        self._free += 1
        done.fire()
        fire_all(self._waiting)
        self._write_next()
