"""A journal of whole metadata blocks, in transactions that are committed one after the other: jbd and reiserfs."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.request import DAEMON_ISSUER, WAITED, WRITE_THROUGH
from ..core.signal import Signal
from ..memory.page_cache import PageCache
from ..memory.paged_file import PagedFile
from .journal import Journal, JournalArea
from .settings import FileSystemSettings


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


class BlockJournal(Journal):
    """A journal of whole metadata blocks (Linux fs/jbd/commit.c; fs/reiserfs/journal.c).

    A transaction is committed when it is old, large, or somebody waits for it: the data of files that grew in it are
    written first, then a block that describes and the metadata blocks one behind the other, and when these are on the
    device the block that makes them count. Where the metadata blocks themselves are written, and no copies of them, who
    wants to change one waits until it is in the journal, unless the next transaction has changed it before that began:
    the old content is then written.

    Parameters
    ----------
    engine, cache
        Clock; of the device.
    settings
        Of the file system.
    start, size
        Address of the journal, and its bytes.
    device
        What it is on, if that is another device than the cache's.
    """

    __slots__ = (
        "_block",
        "_cache",
        "_committing",
        "_engine",
        "_most",
        "_ordered",
        "_running",
        "_settings",
        "_shadow",
        "_started",
        "_to_forget",
        "area",
    )

    def __init__(
        self,
        engine: Engine,
        cache: PageCache,
        settings: FileSystemSettings,
        start: int,
        size: int,
        device: Device | None = None,
    ) -> None:
        self._engine = engine
        self._cache = cache
        self._settings = settings
        self._block = settings.block
        self._ordered = settings.ordered
        head = settings.journal_head
        self.area = JournalArea(cache, start, size, settings.block, head, head, device)
        # On a file system that is too small for its journal, that is smaller, and so are its transactions.
        self._most = settings.transaction if size == settings.journal_size else min(settings.transaction, size // 4)
        self._running = _Transaction()
        self._committing: _Transaction | None = None
        self._shadow: Signal | None = None
        self._started = Signal()
        self._to_forget: dict[int, None] = {}  # committed, and at the last commit not yet in their places
        engine.spawn(self._commit_thread())

    def keeps(self) -> list[int]:
        """Blocks that stay in memory although they are clean: of transactions, and of those that are not forgotten.

        A committed block is forgotten at the first commit after it has been written to its place (Linux
        fs/jbd2/checkpoint.c, __jbd2_journal_clean_checkpoint_list).
        """
        committing = self._committing.blocks if self._committing is not None else {}
        return list(self._running.blocks | committing | self._to_forget)

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
        for each in addresses:
            if each in committing.blocks and each not in taken:
                return shadow
        return None

    def change(self, addresses: Iterable[int], times: bool = False) -> None:
        running = self._running
        blocks = running.blocks
        for address in addresses:
            blocks[address] = None
        if not times:
            running.more_than_times = True
        if running.timer is None:
            self._start(running)
        if len(blocks) * self._block >= self._most:
            running.due.fire()

    def _start(self, transaction: _Transaction) -> None:
        due = transaction.due
        transaction.timer = self._engine.call_at(self._engine._now + self._settings.commit_interval, due.fire)
        self._started.fire()

    def grew(self, file: PagedFile) -> None:
        if self._ordered:
            self._running.files[file] = None

    def drop(self, file: PagedFile) -> None:
        self._running.files.pop(file, None)

    def settle(self) -> Generator[Any, Any, None]:
        yield from ()

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

    def _freed(self) -> int:
        """Bytes of the journal whose blocks are all in their places, if it is worth saying so."""
        settings, area, file = self._settings, self.area, self._cache.device_file
        if not settings.journal_tail or file.dirty or file.writing_bytes:
            return 0
        return area.used if area.used >= settings.journal_tail * area.size else 0

    def _write(self, transaction: _Transaction) -> Generator[Any, Any, None]:
        cache, block = self._cache, self._settings.block
        dirty = cache.device_file.dirty
        self._to_forget = {each: None for each in self._to_forget if dirty.run_from(each) > each}
        ordered = [file for file in transaction.files if file.dirty or file.writing_bytes]
        yield from cache.write_back_all(ordered, DAEMON_ISSUER)
        size = (len(transaction.blocks) + 1) * block
        freed = self._freed()
        yield from self.area.make_room(size + block)
        logged = self.area.write(size)
        if not self._settings.journal_copies:
            self._shadow = logged
        yield logged
        self._shadow = None
        if freed:
            yield self.area.move_tail(freed, block, WRITE_THROUGH if self._settings.barrier else WAITED)
        if self._settings.barrier:
            yield from self.area.flush()
            yield self.area.write(block, WRITE_THROUGH)
        else:
            yield self.area.write(block)
        running = self._running.blocks
        self._to_forget.update(transaction.blocks)
        for address in transaction.blocks:
            if address not in running:
                cache.mark_dirty(cache.device_file, address, address + block)
