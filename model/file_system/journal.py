"""What happens to a changed metadata block before it may be written to its place.

Without a journal it is dirty at once. With a journal it belongs to the running transaction, is written to the journal
when that is committed, and is dirty only then; ordinary write-back brings it to its place later. While a transaction is
being committed, operations go on in the next one; they wait only when the journal is full, until all that has been
committed is in its place and the journal empty again.

Where the file system uses barriers, a drive's volatile cache is flushed before what makes a transaction count is
written, and that is written through it (REQ_PREFLUSH and REQ_FUA): then a commit is on the medium when it is over, and
costs what the medium costs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, Protocol

from ..engine import Engine
from ..page_cache import PageCache
from ..paged_file import PagedFile
from ..request import DAEMON_STREAM, WAITED, WRITE, WRITE_THROUGH, Request
from ..signal import Signal
from .settings import FileSystemSettings

SECTOR = 512
_WRITE_BYTES = 128 * 1024
"""Contiguous bytes of the journal written with one request."""


class Journal(Protocol):
    """Takes changed metadata blocks."""

    def holds(self, address: int) -> bool:
        """Whether the block is in memory because a transaction has it."""

    @property
    def full(self) -> bool:
        """Whether the next operation has to wait for :meth:`make_room`."""

    def make_room(self) -> Generator[Any, Any, None]:
        """Wait until there is room for one more operation."""

    def in_shadow(self, addresses: Iterable[int]) -> Signal | None:
        """What fires when these blocks may be changed; None if they may be now."""

    def change(self, addresses: Iterable[int], times: bool = False) -> None:
        """These blocks have been changed in memory, or nothing of them but `times`."""

    def grew(self, file: PagedFile) -> None:
        """The file has bytes that did not have a place before."""

    def drop(self, file: PagedFile) -> None:
        """The file is gone."""

    def commit(self, data_only: bool = False) -> Generator[Any, Any, bool]:
        """Wait until what has been changed so far is in the journal; returns whether something was to be written.

        With `data_only` changed times alone are nothing to wait for (fdatasync).
        """


class NoJournal:
    """Changed blocks are dirty.

    Parameters
    ----------
    cache
        Of the device.
    block
        Bytes of a block.
    """

    __slots__ = ("_block", "_cache")

    def __init__(self, cache: PageCache, block: int) -> None:
        self._cache = cache
        self._block = block

    def holds(self, address: int) -> bool:
        return False

    @property
    def full(self) -> bool:
        return False

    def make_room(self) -> Generator[Any, Any, None]:
        yield from ()

    def in_shadow(self, addresses: Iterable[int]) -> Signal | None:
        return None

    def change(self, addresses: Iterable[int], times: bool = False) -> None:
        for address in addresses:
            self._cache.mark_dirty(self._cache.device_file, address, address + self._block)

    def grew(self, file: PagedFile) -> None:
        pass

    def drop(self, file: PagedFile) -> None:
        pass

    def commit(self, data_only: bool = False) -> Generator[Any, Any, bool]:
        yield from ()
        return False


class JournalArea:
    """The place of a journal on the device, written from front to back and around.

    Attributes
    ----------
    used
        Bytes written since all that was committed was in its place.
    written_bytes
        In all.
    """

    __slots__ = ("_cache", "_emptied", "_head", "_start", "size", "used", "written_bytes")

    def __init__(self, cache: PageCache, start: int, size: int) -> None:
        self._cache = cache
        self._start = start
        self._head = 0
        self._emptied: Signal | None = None
        self.size = size
        self.used = 0
        self.written_bytes = 0

    def write(self, size: int, sync: int = WAITED) -> Signal:
        """Write the next `size` bytes; the signal fires when they are on the device."""
        done = Signal()
        pieces: list[tuple[int, int]] = []
        self.used += size
        self.written_bytes += size
        while size:
            piece = min(size, _WRITE_BYTES, self.size - self._head)
            pieces.append((self._start + self._head, piece))
            self._head = (self._head + piece) % self.size
            size -= piece
        left = len(pieces)

        def written(request: Request) -> None:
            nonlocal left
            left -= 1
            if not left:
                done.fire()

        device = self._cache.device
        for address, piece in pieces:
            device.submit(Request(WRITE, address, piece, written, DAEMON_STREAM, sync))
        device.unplug()
        return done

    def make_room(self, size: int) -> Generator[Any, Any, None]:
        """Wait until `size` bytes may be written: when they may not, all that was committed goes to its place."""
        while self.used + size > self.size and self.used:
            if self._emptied is not None:
                yield self._emptied
                continue
            emptied = self._emptied = Signal()
            used = self.used
            yield from self._cache.write_back(self._cache.device_file, DAEMON_STREAM)
            self.used -= used
            self._emptied = None
            emptied.fire()


class _Transaction:
    """Blocks and files of a transaction, in the order in which they came, and whether more than times is changed."""

    __slots__ = ("blocks", "done", "due", "files", "more_than_times", "timer")

    def __init__(self) -> None:
        self.blocks: dict[int, None] = {}
        self.files: dict[PagedFile, None] = {}
        self.more_than_times = False
        self.due = Signal()
        self.done = Signal()
        self.timer: Any = None


class BlockJournal:
    """A journal of whole metadata blocks (Linux fs/jbd/commit.c; fs/reiserfs/journal.c).

    A transaction is committed when it is old, large, or somebody waits for it: the data of files that grew in it are
    written first, then a block that describes and the metadata blocks one behind the other, and when these are on the
    device the block that makes them count. Where the metadata blocks themselves are written, and no copies of them, who
    wants to change one waits until it is in the journal, unless the next transaction has changed it before that began:
    then what is written is how it was.

    Parameters
    ----------
    engine, cache
        Clock; of the device.
    settings
        Of the file system.
    start, size
        Address of the journal, and its bytes.
    """

    __slots__ = (
        "_cache",
        "_committing",
        "_engine",
        "_most",
        "_running",
        "_settings",
        "_shadow",
        "_started",
        "area",
        "commits",
    )

    def __init__(self, engine: Engine, cache: PageCache, settings: FileSystemSettings, start: int, size: int) -> None:
        self._engine = engine
        self._cache = cache
        self._settings = settings
        self.area = JournalArea(cache, start, size)
        # On a file system that is too small for its journal, that is smaller, and so are its transactions.
        self._most = settings.transaction if size == settings.journal_size else min(settings.transaction, size // 4)
        self.commits = 0
        self._running = _Transaction()
        self._committing: _Transaction | None = None
        self._shadow: Signal | None = None
        self._started = Signal()
        engine.spawn(self._commit_thread())

    def holds(self, address: int) -> bool:
        if address in self._running.blocks:
            return True
        return self._committing is not None and address in self._committing.blocks

    @property
    def full(self) -> bool:
        return self.area.used + self._most > self.area.size and self.area.used > 0

    def make_room(self) -> Generator[Any, Any, None]:
        yield from self.area.make_room(self._most)

    def in_shadow(self, addresses: Iterable[int]) -> Signal | None:
        shadow, committing, taken = self._shadow, self._committing, self._running.blocks
        if shadow is None or shadow.fired or committing is None:
            return None
        return shadow if any(each in committing.blocks and each not in taken for each in addresses) else None

    def change(self, addresses: Iterable[int], times: bool = False) -> None:
        running = self._running
        running.blocks.update(dict.fromkeys(addresses))
        if not times:
            running.more_than_times = True
        if running.timer is None:
            self._start(running)
        if len(running.blocks) * self._settings.block >= self._most:
            running.due.fire()

    def _start(self, transaction: _Transaction) -> None:
        due = transaction.due
        transaction.timer = self._engine.call_at(self._engine._now + self._settings.commit_interval, due.fire)
        self._started.fire()

    def grew(self, file: PagedFile) -> None:
        if self._settings.ordered:
            self._running.files[file] = None

    def drop(self, file: PagedFile) -> None:
        self._running.files.pop(file, None)

    def commit(self, data_only: bool = False) -> Generator[Any, Any, bool]:
        running = self._running
        wanted = running.more_than_times if data_only else running.timer is not None
        transaction = running if wanted else self._committing
        if transaction is None:
            return False
        transaction.due.fire()
        yield transaction.done
        return True

    def _commit_thread(self) -> Generator[Any, Any, None]:
        while True:
            running = self._running
            if running.timer is None:
                self._started = Signal()
                yield self._started
            if not running.due.fired:
                yield running.due
            self._engine.cancel(running.timer)
            self._committing = running
            self._running = _Transaction()
            yield from self._write(running)
            self._committing = None
            running.done.fire()

    def _write(self, transaction: _Transaction) -> Generator[Any, Any, None]:
        cache, block = self._cache, self._settings.block
        ordered = [file for file in transaction.files if file.dirty or file.writing_bytes]
        yield from cache.write_back_all(ordered, DAEMON_STREAM)
        size = (len(transaction.blocks) + 1) * block
        yield from self.area.make_room(size + block)
        logged = self.area.write(size)
        if not self._settings.journal_copies:
            self._shadow = logged
        yield logged
        self._shadow = None
        if self._settings.barrier:
            yield cache.flush_device()
            yield self.area.write(block, WRITE_THROUGH)
        else:
            yield self.area.write(block)
        self.commits += 1
        running = self._running.blocks
        for address in transaction.blocks:
            if address not in running:
                cache.mark_dirty(cache.device_file, address, address + block)


class RecordJournal:
    """A journal of records of the changes (Linux fs/xfs/xfs_log.c, fs/jfs/jfs_logmgr.c).

    Operations append records to a buffer in memory. A full buffer is written without anybody waiting for it, as long as
    there is another one to fill; the blocks that its records are about are dirty from when it is on the device. With
    checkpoints each block is in a buffer once however often it changes (fs/xfs/xfs_log_cil.c), and no more of it is
    written than there is.

    Parameters
    ----------
    engine, cache, settings, start, size
        As of a :class:`BlockJournal`.
    """

    __slots__ = (
        "_blocks",
        "_buffers_bytes",
        "_cache",
        "_engine",
        "_filled",
        "_free",
        "_more_than_times",
        "_queue",
        "_settings",
        "_timer",
        "_under_way",
        "_waiting",
        "area",
        "commits",
    )

    def __init__(self, engine: Engine, cache: PageCache, settings: FileSystemSettings, start: int, size: int) -> None:
        self._engine = engine
        self._cache = cache
        self._settings = settings
        self.area = JournalArea(cache, start, size)
        self.commits = 0
        self._blocks: dict[int, None] = {}
        self._more_than_times = False
        self._filled = 0
        self._free = settings.log_buffers - 1
        self._buffers_bytes = min(settings.log_buffer * settings.log_buffers, size // 2)
        self._queue: list[tuple[dict[int, None], Signal, int]] = []
        self._under_way: list[tuple[dict[int, None], Signal, int]] = []
        self._waiting: list[Signal] = []
        self._timer: Any = None

    def holds(self, address: int) -> bool:
        if address in self._blocks:
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
            if settings.checkpoints and address in self._blocks:
                continue
            self._blocks[address] = None
            self._filled += settings.record
            if self._filled >= settings.log_buffer:
                self._close_buffer()
                self._filled -= settings.log_buffer

    def grew(self, file: PagedFile) -> None:
        pass

    def drop(self, file: PagedFile) -> None:
        pass

    def commit(self, data_only: bool = False) -> Generator[Any, Any, bool]:
        if self._blocks and (self._more_than_times or not data_only):
            self._close_buffer()
            self._filled = 0
        waits = [done for _, done, _ in (*self._under_way, *self._queue) if not done.fired]
        for done in waits:
            if not done.fired:
                yield done
        return bool(waits)

    def _old(self, _: Any) -> None:
        """What is in the buffer has waited long enough."""
        self._timer = None
        if self._blocks:
            self._close_buffer()
            self._filled = 0

    def _close_buffer(self) -> None:
        settings = self._settings
        size = settings.log_buffer
        if settings.checkpoints:  # its header, its records, and the record that makes it count
            size = -(-(self._filled + settings.record + 2 * SECTOR) // SECTOR) * SECTOR
        self._queue.append((self._blocks, Signal(), size))
        self._blocks = {}
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
            yield cache.flush_device()
            yield self.area.write(size, WRITE_THROUGH)
        else:
            yield self.area.write(size)
        self.commits += 1
        self._under_way.remove(buffer)
        for address in blocks:
            cache.mark_dirty(cache.device_file, address, address + block)
        self._free += 1
        done.fire()
        waiting, self._waiting = self._waiting, []
        for signal in waiting:
            signal.fire()
        self._write_next()
