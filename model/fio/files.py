"""What a fio job reads and writes: a device or a part of it with direct I/O, or a file through the page cache."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import Any

from ..core.device import Device
from ..core.discard import issue
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.join import Parts
from ..core.request import DIRECT, WAITED, WRITE, WRITE_THROUGH, Request
from ..file_system import File, FileSystem
from ..memory.page_cache import PageCache
from ..memory.paged_file import PagedFile
from ..readahead import PAGE, ReadAhead
from ..tasks.cpu import Account
from ..tasks.host import Host
from ..tasks.lock import Lock
from ..waits.trail import Mark

_SLICE_BYTES = 256 * 1024
"""A program that writes is looked at after so many bytes: dirty limits, other programs."""


class InodeTimes:
    """What fsync(2) and O_SYNC commit of a file that direct I/O writes over: the times of its inode.

    A direct write of a file opened with O_SYNC is followed by fsync(2) of its range (fs/direct-io.c and
    fs/iomap/direct-io.c, generic_write_sync). The times are committed if a tick has passed since the last commit.
    """

    __slots__ = ("_engine", "_file", "_system")

    def __init__(self, engine: Engine, system: FileSystem, file: File) -> None:
        self._engine = engine
        self._system = system
        self._file = file

    def commit(self, done: Callable[[], None], issuer: int) -> None:
        """Bring data and times to the medium for a thread, then call `done`."""
        self._engine.process(self._committed(done, Account(issuer)))

    def _committed(self, done: Callable[[], None], by: Account) -> Generator[Any, Any, None]:
        yield from self._system.written_over(self._file, by)
        yield from self._system.fsync(self._file, by)
        done()


class DirectFile:
    """A file with O_DIRECT: bytes of a device, in one piece or several.

    Parameters
    ----------
    device
        What it lies on.
    place
        Gives the pieces of a range of the file, as (position in the file, address, bytes).
    contiguous
        Address of its first byte, if it lies in one piece.
    flushes
        Whether fsync(2) makes the kernel flush the device (blkdev_issue_flush).
    inode
        What its threads take turns at, at its inode; None if nobody can wait for that.
    writes_through
        Whether each write carries FUA, so that it is on the medium when it is complete.
    times
        The times of its inode, if it is on a file system that is simulated.

    Attributes
    ----------
    inode
        See above. Of a block device it is the lock that lseek(2) takes (block/fops.c, blkdev_llseek: inode_lock). Of a
        file on a file system it is the count of those that do direct I/O on it, which goes up and down with each
        (fs/xfs/xfs_file.c xfs_file_dio_read and fs/ext4/file.c: the inode's lock is taken for reading).
    on_device
        Whether it is a block device.
    """

    __slots__ = (
        "_contiguous",
        "_flushes",
        "_place",
        "_submit",
        "_times",
        "_write_sync",
        "device",
        "inode",
        "on_device",
        "queues",
        "writes_through",
    )

    def __init__(
        self,
        device: Device,
        contiguous: int | None,
        place: Callable[[int, int], Any] | None = None,
        flushes: bool = True,
        inode: Lock | None = None,
        writes_through: bool = False,
        times: InodeTimes | None = None,
    ) -> None:
        if contiguous is None and place is None:
            raise ModelError(f"a file on {device.name} without a place")
        self.device = device
        self.queues = device.queues()
        self.inode = inode
        self.on_device = place is None
        self._contiguous = contiguous
        self._flushes = flushes
        self._times = times
        self._place = place
        self.writes_through = writes_through
        self._write_sync = WRITE_THROUGH if writes_through else DIRECT
        self._submit: Callable[[Request], None] = device.submit

    def submit(
        self,
        op: int,
        offset: int,
        size: int,
        done: Callable[[Request], None],
        issuer: int,
        parent: Any,
        trail: Mark | None = None,
    ) -> None:
        """Send an I/O; `done` gets a request with this `parent` that says when it was submitted, and its `trail`."""
        sync = self._write_sync if op == WRITE else WAITED
        at = self._contiguous
        if at is not None:
            self._submit(Request(op, at + offset, size, done, issuer, sync, parent, trail))
            return
        assert self._place is not None
        pieces = [(address, length) for _, address, length in self._place(offset, offset + size)]
        if len(pieces) == 1:
            self._submit(Request(op, pieces[0][0], pieces[0][1], done, issuer, sync, parent, trail))
            return
        whole = Request(op, offset, size, done, issuer, sync, parent, trail)
        join = Parts(len(pieces), whole)
        parts = [Request(op, address, length, join, issuer, sync, trail=trail) for address, length in pieces]
        for part in parts:
            self._submit(part)
        whole.submitted = parts[0].submitted

    def flush(self, done: Callable[[], None], issuer: int, data_only: bool) -> None:
        """Bring what the device has acknowledged to the medium, and unless `data_only` the times of its inode."""
        if self._times is not None and not data_only:
            self._times.commit(done, issuer)
        elif self._flushes:
            self.device.flush(done)
        else:
            done()

    @property
    def no_trims(self) -> str:
        """Why it cannot be trimmed; empty if it can."""
        if self._contiguous is None:
            return f"a file on a file system of {self.device.name}, where fio trims block devices only"
        return self.device.discard_limits.refusal

    def trim(self, offset: int, size: int, done: Callable[[], None], issuer: int) -> None:
        """Tell the device that these bytes hold nothing any more (BLKDISCARD)."""
        assert self._contiguous is not None
        issue(self.device, self._contiguous + offset, size, done, issuer)


class LockedFile(DirectFile):
    """A file with O_DIRECT of which a write of a part of a block has all for itself.

    The file system takes the inode's lock for writing, waits for all direct I/O under way, and holds the lock until the
    write is complete; other I/Os share the lock (Linux fs/ext4/file.c, ext4_dio_write_checks and ext4_unaligned_io; XFS
    shares it for writes over what is there, fs/xfs/xfs_file.c, xfs_file_dio_write_unaligned since 5.12). An I/O that
    finds the lock taken waits in order.

    Parameters
    ----------
    device, place, flushes, inode, times
        As of a :class:`DirectFile`.
    block
        Bytes of a block of the file system.
    """

    __slots__ = ("_alone", "_block", "_under_way", "_waiting")

    def __init__(
        self,
        device: Device,
        place: Callable[[int, int], Any],
        flushes: bool,
        inode: Lock | None,
        block: int,
        times: InodeTimes | None = None,
    ) -> None:
        super().__init__(device, None, place, flushes, inode, times=times)
        self._block = block
        self._under_way = 0
        self._alone = False
        self._waiting: deque[tuple[bool, Callable[[], None]]] = deque()

    def submit(
        self,
        op: int,
        offset: int,
        size: int,
        done: Callable[[Request], None],
        issuer: int,
        parent: Any,
        trail: Mark | None = None,
    ) -> None:
        """Send an I/O when it has the lock; see :meth:`DirectFile.submit`."""
        alone = op == WRITE and bool(offset % self._block or size % self._block)

        def ended(request: Request) -> None:
            self._under_way -= 1
            self._alone = False
            done(request)
            self._let_in()
            self.device.unplug()

        send = super().submit
        self._waiting.append((alone, lambda: send(op, offset, size, ended, issuer, parent, trail)))
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting:
            alone, send = self._waiting[0]
            if self._alone or (alone and self._under_way):
                break
            self._waiting.popleft()
            self._under_way += 1
            self._alone = alone
            send()


class CachedFile:
    """A file through the page cache.

    Parameters
    ----------
    host
        The payer.
    cache
        The page cache of the device it lies on.
    file
        Its pages.
    system
        The file system it is on; None for a device.
    advice
        What the program has said of its order ("random", "sequential" or "none", with posix_fadvise): the kernel reads
        nothing ahead of a random one, and twice as far ahead of a sequential one (mm/fadvise.c).
    flushes
        As of :class:`DirectFile`, where there is no file system that knows.
    """

    __slots__ = ("_advice", "_cache", "_file", "_flushes", "_host", "_new", "_opened", "_system")

    def __init__(
        self,
        host: Host,
        cache: PageCache,
        file: PagedFile,
        system: FileSystem | None,
        advice: str,
        flushes: bool = True,
    ) -> None:
        self._host = host
        self._cache = cache
        self._file = file
        self._system = system
        self._advice = advice
        self._flushes = flushes
        self._new: File | None = file if isinstance(file, File) and file.written is not None else None
        self._opened: dict[int, ReadAhead] = {}

    def open(self, issuer: int) -> None:
        """A thread opens it."""
        if self._advice == "random":
            return
        state = self._cache.open(self._file)
        if self._advice == "sequential":
            state.widen(2)
        self._opened[issuer] = state

    def close(self, issuer: int) -> None:
        """And closes it."""
        self._opened.pop(issuer, None)

    def drop(self) -> None:
        """What is clean in memory goes (POSIX_FADV_DONTNEED)."""
        if not self._file.dirty and not self._file.writing_bytes and not self._file.pending:
            self._cache.pages.forget(self._file)

    def fill(self) -> None:
        """All of it has been read before, as far as memory goes."""
        size = self._file.size
        for start in range(0, size, 1 << 20):
            self._cache.pages.add(self._file, start, min(size, start + (1 << 20)))

    def read(self, offset: int, size: int, by: Account) -> Generator[Any, Any, None]:
        """One read(2)."""
        prices, cache, file = self._host.prices, self._cache, self._file
        end = offset + size
        per_byte = prices.file_read_s / size + prices.read_copy_s_per_byte(size)
        opened = self._opened.get(by.issuer)
        if opened is not None:
            yield from cache.read(file, opened, offset, end, by, per_byte, size, self._system)
            return
        if not cache.is_cached(file, offset, end):
            if self._system is not None and self._system.needs_map(_file(file), offset, end):
                yield from self._system.load_map(_file(file), offset, end, by)
            missing = -(-(end - max(offset, file.cached.run_from(offset))) // PAGE)
            yield from cache.spend(missing * prices.page_s + prices.bio_s, by)
            first = offset - offset % PAGE
            yield from cache.fetch(file, first, min(file.size, end + -end % PAGE), by)
        yield from cache.spend(size * per_byte, by)
        cache.pages.used(file, offset - offset % PAGE, end + -end % PAGE)

    def write(self, offset: int, size: int, by: Account) -> Generator[Any, Any, None]:
        """One write(2)."""
        prices, cache, file = self._host.prices, self._cache, self._file
        block = cache.block_bytes
        end = offset + size
        for edge in {offset - offset % block, end - end % block}:
            # A block that is written in part has to be in memory first.
            partly = not (offset <= edge and edge + block <= end) and edge < end
            if self._new is not None and not self._new.holds(edge):
                continue
            if partly and edge < file.size and not cache.is_cached(file, edge, edge + 1):
                yield from cache.fetch(file, edge, min(file.size, edge + block), by)
        per_byte = prices.file_write_s / size + prices.write_copy_s_per_byte(size) + prices.page_s / PAGE
        start = offset
        while start < end:
            stop = min(end, start - start % _SLICE_BYTES + _SLICE_BYTES)
            yield from cache.spend((stop - start) * per_byte, by)
            if self._system is not None:
                yield from self._system.written(_file(file), stop, by)
                if self._new is not None:
                    self._new.write_first(start - start % block, stop + -stop % block)
            dirtied = cache.mark_dirty(file, start, stop)
            if cache.write_behind_bytes:
                yield from cache.write_behind(file, start, stop, by)
            start = stop
            if cache.memory.over_limit:
                yield from cache.throttle(by, dirtied)

    def sync(self, by: Account, data_only: bool) -> Generator[Any, Any, None]:
        """fsync(2), or fdatasync(2)."""
        if self._system is not None:
            yield from self._system.fsync(_file(self._file), by, data_only)
            return
        if by.owed_s:
            yield self._cache.pay(by)
        yield from self._cache.write_back(self._file, by.issuer, by)
        if self._flushes:
            yield self._cache.flush_device()


def _file(file: PagedFile) -> File:
    assert isinstance(file, File)
    return file


FioFile = DirectFile | CachedFile
