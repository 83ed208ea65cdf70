"""A volume, or a large file of a file system, as a device that loads run on.

Reads come from the ARC, from dirty data, or whole blocks at a time from the members. Writes become dirty data at
once, but for a partial write to a block that is not in memory, which reads it first. Synchronous writes and flushes
go through the intent log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from mypy_extensions import i64

from ...core.device import Device
from ...core.discard_limits import DiscardLimits, refused
from ...core.engine import Engine
from ...core.request import READ, WRITE_THROUGH, Request
from ...tasks.host import Host
from ...waits.causes import POOL_READ
from ..allocation.allocator import Allocator, Place
from ..arc.buffers import INDIRECT, KEY_SHIFT
from ..arc.cache import Arc
from ..arc.dbuf_cache import DbufCache
from ..arc.prefetch import Prefetch, Stream
from ..arc.settings import PrefetchSettings
from ..cpu.costs import Costs
from ..cpu.task_queue import TaskQueue
from ..intent_log.records import LogRules
from ..records.block_table import BlockTable
from ..records.metadata import POINTER_SHIFT, POINTERS, indirect_psize
from .block_read import BlockRead
from .cache_devices import CacheDevices
from .dirty_data import DirtyData
from .log_writer import LogWriter
from .member_io import ASYNC_READ, SYNC_READ
from .members import Members
from .transaction_groups import TransactionGroups
from .waiting import Blocks, Call
from .write_io import WriteIo

_BUSY_PART: Final = 16
"""Prefetches that fill this part of the ARC stop growing."""


class Dataset(Device):
    """A volume or a file.

    Parameters
    ----------
    engine, host
        The clock, and the CPU; without one, work takes no time.
    name
        Shown in results.
    number
        Of the pool's datasets.
    size
        Bytes.
    block_bytes
        Bytes of a block (volblocksize, recordsize).
    table, indirect
        Where its blocks are, and those that point to them.
    arc, dbufs, members, allocator, dirty, groups
        The pool's parts.
    costs, threads
        CPU time, and the threads that verify what is read.
    caches
        The pool's cache devices, if it has some.
    rules
        What goes to the intent log how.
    issuer
        Of the log's I/O.
    sync
        "standard", "always" or "disabled".
    caches_data, caches_pointers
        Whether data are kept in the ARC (primarycache=all), and what points to them (all or metadata).
    prefetch
        Module parameters of prefetch.
    """

    __slots__ = (
        *("_allocator", "_arc", "_closed", "_dbufs", "_engine", "_groups", "_host", "_in_place", "_log"),
        *("_open", "_prefetch", "_prefetching", "_sync", "_table", "_touched", "_under_way"),
        *(
            "base",
            "block_bytes",
            "blocks",
            "caches",
            "caches_data",
            "caches_pointers",
            "costs",
            "dirty",
            "indirect",
            "log_issuer",
        ),
        *("members", "read_bytes", "threads", "write_bytes", "write_s"),
    )

    def __init__(
        self,
        engine: Engine,
        host: Host | None,
        name: str,
        number: int,
        size: int,
        block_bytes: int,
        table: BlockTable,
        indirect: BlockTable,
        arc: Arc,
        dbufs: DbufCache,
        members: Members,
        allocator: Allocator,
        dirty: DirtyData,
        groups: TransactionGroups,
        costs: Costs,
        threads: TaskQueue,
        caches: CacheDevices | None,
        rules: LogRules,
        issuer: int,
        sync: str = "standard",
        caches_data: bool = True,
        caches_pointers: bool = True,
        prefetch: PrefetchSettings = PrefetchSettings(),  # noqa: B008
    ) -> None:
        self._engine = engine
        self._host = host
        self.name = name
        self.capacity = size
        self.block_bytes = block_bytes
        self.blocks: i64 = -(-size // block_bytes)
        self.base: i64 = number << KEY_SHIFT
        self._table, self.indirect = table, indirect
        self._arc = arc
        self._dbufs = dbufs
        self.members = members
        self._allocator, self.dirty = allocator, dirty
        self._groups = groups
        self.costs = costs
        self.write_s = costs.write_s(block_bytes, table.psize, members.pool.computed_parity)
        self.threads = threads
        self.caches = caches
        self._sync = sync
        self.caches_data, self.caches_pointers = caches_data, caches_pointers
        self._prefetch = Prefetch(prefetch, self.blocks, block_bytes)
        self._prefetching: i64 = 0
        self._under_way: dict[int, BlockRead] = {}
        self._open: dict[int, None] = {}
        self._closed: dict[int, None] = {}
        self._touched: set[int] = set()
        self._in_place: set[int] = set()
        self._log = LogWriter(engine, self, members, allocator, groups, rules)
        self.log_issuer = issuer
        self.read_bytes = self.write_bytes = 0

    @property
    def foreground_bytes(self) -> int:
        """Bytes read and written so far."""
        return self.read_bytes + self.write_bytes

    @property
    def discard_limits(self) -> DiscardLimits:
        """No discards."""
        return refused(f"{self.name} passes no discards on")

    def submit(self, request: Request) -> None:
        """Serve a read or a write."""
        request.submitted = self._engine._now
        if request.op == READ:
            self.read_bytes += request.size
            self._read(request)
        else:
            self.write_bytes += request.size
            WriteIo(self, request, self._engine._now).advance()

    def begun(self) -> None:
        """It has been written to before the run: its intent log is in use."""
        self._log.begun()

    def flush(self, done: Callable[[], None]) -> None:
        """Commit to the intent log what was written so far."""
        if self._sync == "disabled":
            done()
        else:
            self._log.commit(done)

    def _read(self, request: Request) -> None:
        block_bytes = self.block_bytes
        first = request.offset // block_bytes
        end = (request.offset + request.size - 1) // block_bytes + 1
        now = self._engine._now
        missing = [block for block in range(first, end) if not self._in_memory(block, now)]
        if self.caches_data:
            busy = self._prefetching * block_bytes > self._arc.target // _BUSY_PART
            stream = self._prefetch.read(first, end - first, now, busy)
            if stream is not None:
                start, ahead = self._prefetch.run(stream, bool(missing))
                for block in range(start, ahead):
                    self._read_ahead(block, stream)
        if not missing:
            self._copied(request)
            return
        join = Blocks(request, len(missing), self._copied)
        for block in missing:
            self.fetch(self.base + block, request.issuer, join.part)

    def _in_memory(self, block: i64, now: float) -> bool:
        if block in self._open or block in self._closed:
            return True
        key = self.base + block
        return self._arc.use(key, now) if self.caches_data else self._dbufs.holds(key)

    @property
    def psize(self) -> int:
        """Physical size of a block (bytes)."""
        return self._table.psize

    @property
    def now(self) -> float:
        """The time (s)."""
        return self._engine._now

    def is_dirty(self, block: int) -> bool:
        """Whether a block has data that no transaction group has written."""
        return block in self._open or block in self._closed

    def has(self, block: i64) -> bool:
        """Whether a block is in memory, so that a partial write need not read it."""
        return self._in_memory(block, self._engine._now)

    def has_pointers(self, block: i64) -> bool:
        """Whether what points to a block is in memory."""
        key = self.base + INDIRECT + (block >> POINTER_SHIFT)
        return (block >> POINTER_SHIFT) in self._touched or self._arc.use(key, self._engine._now)

    def fetch_pointers(self, block: i64, issuer: i64, done: Callable[[], None]) -> None:
        """Read what points to a block."""
        self.fetch(self.base + INDIRECT + (block >> POINTER_SHIFT), issuer, done)

    def fetch_block(self, block: i64, issuer: i64, done: Callable[[], None]) -> None:
        """Read a block."""
        self.fetch(self.base + block, issuer, done)

    def fetch(self, key: i64, issuer: i64, done: Callable[[], None]) -> None:
        """Read a block, or wait for a read that is under way."""
        read = self._under_way.get(key)
        if read is None:
            read = self._begin(key, SYNC_READ, issuer, None)
        else:
            read.demand()
        read.waiters.append(done)

    def _read_ahead(self, block: i64, stream: Stream) -> None:
        key = self.base + block
        if key in self._under_way or block in self._open or block in self._closed or self._arc.holds(key):
            return
        self._prefetching += 1
        self._begin(key, ASYNC_READ, 0, stream)

    def _begin(self, key: i64, priority: i64, issuer: i64, stream: Stream | None) -> BlockRead:
        read = BlockRead(self, key, priority, issuer, stream)
        self._under_way[key] = read
        block = key - self.base
        if block < INDIRECT and not self.has_pointers(block):
            self.fetch_pointers(block, issuer, read.issue)
        else:
            read.issue()
        return read

    def read_done(self, read: BlockRead) -> None:
        """A block has been read and verified."""
        key = read.key
        block = key - self.base
        now = self._engine._now
        del self._under_way[key]
        stream = read.stream
        if stream is not None:
            self._prefetching -= 1
            if block < stream.position:
                stream.overtaken = True
        metadata = block >= INDIRECT
        if self.caches_pointers if metadata else self.caches_data:
            prefetched = stream is not None and not read.waiters
            self._arc.add(key, self.size_of(key), metadata, now, prefetched, read.cached)
        for waiter in read.waiters:
            waiter()

    def places_of(self, key: i64) -> list[Place]:
        """Where a block is, by its key."""
        block = key - self.base
        return self.indirect.places(block - INDIRECT) if block >= INDIRECT else self._table.places(block)

    def size_of(self, key: i64) -> int:
        """Physical size of a block, by its key."""
        return self.indirect.psize if key - self.base >= INDIRECT else self._table.psize

    def _copied(self, request: Request) -> None:
        """Copy the data of a read to the program, and complete it."""
        request.mark(POOL_READ, self._engine._now)
        costs, size = self.costs, self.block_bytes
        seconds = costs.copy_s(request.size)
        end = request.offset + request.size
        first, last = request.offset // size, (end - 1) // size
        if not self.caches_data:
            ends = last + 1 == self.blocks or end == (last + 1) * size
            begins = request.offset <= last * size
            missing = self._dbufs.missing_uncached(self.base + first, self.base + last, size, begins, ends)
            seconds += missing * size * costs.decompress_s_per_byte
        elif costs.decompress_s_per_byte:
            missing = self._dbufs.missing(self.base + first, self.base + last, size)
            seconds += missing * size * costs.decompress_s_per_byte
        self.after(seconds, request.complete)

    def after(self, seconds: float, then: Callable[[], None]) -> None:
        """Go on when the CPU has done its work."""
        if not seconds or self._host is None:
            then()
        else:
            self._host.cpu.run_then(seconds, None, Call(then).call)

    def at(self, time: float, then: Callable[[], None]) -> None:
        """Go on at a time (s)."""
        self._engine.call_at(time, Call(then).call)

    def dirtied(self, block: i64) -> None:
        """A block has new data."""
        if block not in self._open:
            self._open[block] = None
            self._arc.remove(self.base + block)
            if not self.caches_data:
                self._dbufs.drop(self.base + block)
            if self.caches is not None:
                self.caches.level.drop(self.base + block)
            self._arc.dirty += self.block_bytes
            self._groups.dirtied(self, self.block_bytes)
        if self._in_place:
            self._in_place.discard(block)

    def written_call(self, request: Request, logged: Callable[[], None]) -> None:
        """The data of a write are in memory: log it, and complete it now or when the log is on disk."""
        synchronous = self._sync == "always" or (request.sync == WRITE_THROUGH and self._sync == "standard")
        if self._sync != "disabled":
            self._log.add(request.offset, request.size, synchronous)
        if synchronous:
            self._log.commit(logged)
        else:
            request.complete()

    # What a transaction group asks (see :class:`.transaction_groups.Owner`).

    def close_group(self) -> None:
        """The open group is closed."""
        self._closed, self._open = self._open, {}
        self._touched = {block >> POINTER_SHIFT for block in self._closed}
        self._log.group_closed()

    def take_dirty(self) -> Iterator[tuple[int, int]]:
        """Blocks of the closed group that are not on disk, in order; those that are count as written."""
        for block in sorted(self._closed):
            if block in self._in_place:
                self._in_place.discard(block)
                self._clean(block)
            else:
                yield block, self._table.psize

    def written(self, block: int, places: list[Place]) -> None:
        """A block is on disk."""
        self.move(block, places)
        self._clean(block)

    def move(self, block: int, places: list[Place]) -> None:
        """A block is at a new place; the old one is free."""
        for place in self._table.move(block, places):
            self._allocator.free(place)

    def put_in_place(self, block: int, places: list[Place]) -> None:
        """The intent log writes a dirty block to its place: its group need not, unless it changes again."""
        self._in_place.add(block)
        self.move(block, places)

    def _clean(self, block: int) -> None:
        del self._closed[block]
        self._arc.dirty -= self.block_bytes
        if self.caches_data and block not in self._open:
            self._arc.add(self.base + block, self._table.psize, False, self._engine._now)
        self.dirty.remove(self.block_bytes)

    def pointers(self) -> list[int]:
        """Physical sizes of the indirect blocks that the group writes."""
        sizes = []
        for number in sorted(self._touched):
            psize = indirect_psize(min(POINTERS, int(self.blocks) - number * POINTERS))
            sizes.append(psize)
            if self.caches_pointers:
                self._arc.add(self.base + INDIRECT + number, psize, True, self._engine._now)
        return sizes

    def group_done(self) -> None:
        """The closed group is on disk."""
        self._touched = set()
        self._log.group_done()
