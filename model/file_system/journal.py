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

from abc import abstractmethod
from collections.abc import Generator, Iterable
from functools import partial
from typing import Any

from ..core.device import Device
from ..core.request import DAEMON_ISSUER, WAITED, WRITE, Request
from ..core.signal import Signal
from ..memory.page_cache import PageCache
from ..memory.paged_file import PagedFile


class Journal:
    """Takes changed metadata blocks."""

    __slots__ = ()

    @abstractmethod
    def holds(self, address: int) -> bool:
        """Whether the block is in memory because a transaction has it."""

    @property
    @abstractmethod
    def full(self) -> bool:
        """Whether the next operation has to wait for :meth:`make_room`."""

    @abstractmethod
    def make_room(self) -> Generator[Any, Any, None]:
        """Wait until there is room for one more operation."""

    @abstractmethod
    def in_shadow(self, addresses: Iterable[int]) -> Signal | None:
        """What fires when these blocks may be changed; None if they may be now."""

    @abstractmethod
    def change(self, addresses: Iterable[int], times: bool = False) -> None:
        """These blocks have been changed in memory, or nothing of them but `times`."""

    @abstractmethod
    def grew(self, file: PagedFile) -> None:
        """The file has bytes that did not have a place before."""

    @abstractmethod
    def drop(self, file: PagedFile) -> None:
        """The file is gone."""

    @abstractmethod
    def settle(self) -> Generator[Any, Any, None]:
        """Wait until what has been committed is in its place, where an ordinary write-back does not do that."""

    @abstractmethod
    def commit(self, data_only: bool = False) -> Generator[Any, Any, bool]:
        """Wait until what has been changed so far is in the journal; returns whether something was to be written.

        With `data_only` changed times alone are nothing to wait for (fdatasync).
        """


class NoJournal(Journal):
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

    def settle(self) -> Generator[Any, Any, None]:
        yield from ()

    def commit(self, data_only: bool = False) -> Generator[Any, Any, bool]:
        yield from ()
        return False


class JournalArea:
    """The place of a journal on the device, written from front to back and around.

    Parameters
    ----------
    cache
        Of the device.
    start, size
        Where it lies, and how large it is (bytes).
    bio_bytes
        Contiguous bytes of it that are written with one bio.
    head, first
        Where in it the first write goes, and where it goes on when its end is reached (bytes).
    device
        What it is on, if that is another device than the cache's.

    Attributes
    ----------
    start, size
        Where it lies, and how large it is (bytes).
    used
        Bytes written since all that was committed was in its place.
    external
        If true, it is on a separate device.
    """

    __slots__ = ("_bio_bytes", "_cache", "_device", "_emptied", "_first", "_head", "external", "size", "start", "used")

    def __init__(
        self,
        cache: PageCache,
        start: int,
        size: int,
        bio_bytes: int,
        head: int = 0,
        first: int = 0,
        device: Device | None = None,
    ) -> None:
        self._cache = cache
        self._device = cache.device if device is None else device
        self.external = device is not None
        self._bio_bytes = bio_bytes
        self.start = start
        self._head = head
        self._first = first
        self._emptied: Signal | None = None
        self.size = size
        self.used = 0

    def write(self, size: int, sync: int = WAITED) -> Signal:
        """Write the next `size` bytes; the signal fires when they are on the device."""
        done = Signal()
        pieces: list[tuple[int, int]] = []
        self.used += size
        while size:
            piece = min(size, self._bio_bytes, self.size - self._head)
            pieces.append((self.start + self._head, piece))
            self._head += piece
            if self._head == self.size:
                self._head = self._first
            size -= piece
        left = len(pieces)

        def written(request: Request) -> None:
            nonlocal left
            left -= 1
            if not left:
                done.fire()

        device = self._device
        if self.external:
            device.plug()
        else:
            self._cache.plug()
        for address, piece in pieces:
            device.submit(Request(WRITE, address, piece, written, DAEMON_ISSUER, sync))
        device.unplug()
        return done

    def move_tail(self, freed: int, block: int, sync: int) -> Signal:
        """Write the superblock of the journal, its first block, which says that `freed` bytes may be written again."""
        self.used -= freed
        done = Signal()
        device = self._device
        device.submit(Request(WRITE, self.start, block, partial(_written, done), DAEMON_ISSUER, sync))
        device.unplug()
        return done

    def flush(self) -> Generator[Any, Any, None]:
        """Flush the caches of the file system's device, and then those of the journal's if that is another one.

        Sources: Linux fs/jbd2/commit.c, jbd2_journal_commit_transaction (t_need_data_flush); fs/xfs/xfs_log.c,
        xlog_write_iclog.
        """
        yield self._cache.flush_device()
        if self.external:
            done = Signal()
            self._device.flush(done.fire)
            yield done

    def make_room(self, size: int) -> Generator[Any, Any, None]:
        """Wait until `size` bytes may be written: when they may not, all that was committed goes to its place."""
        while self.used + size > self.size and self.used:
            if self._emptied is not None:
                yield self._emptied
                continue
            emptied = self._emptied = Signal()
            used = self.used
            yield from self._cache.write_back(self._cache.device_file, DAEMON_ISSUER)
            self.used -= used
            self._emptied = None
            emptied.fire()


def _written(signal: Signal, _: Request) -> None:
    signal.fire()
