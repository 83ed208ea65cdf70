"""bcache: each missed read comes into the cache at once, appended to a bucket; writes as the mode has it.

An I/O is cut at what is cached. Hits are read from the cache, all at once; of an I/O the first miss is read for the
cache as well, the others from the origin alone. In writeback a write is complete when its data are in the cache and its
key in memory; a flush writes the journal. A write that passes the cache by takes its keys out of it. Long streams pass
by (:mod:`.bypass`), and everything once 95 % of the buckets hold dirty data.
Source: Linux 6.1, drivers/md/bcache/request.c (cached_dev_read, cached_dev_cache_miss, cached_dev_write,
bch_data_insert, should_writeback), super.c (BDEV_DATA_START_DEFAULT).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from ...block.kernel_thread import compute
from ...core.device import Device
from ...core.engine import Engine
from ...core.join import Join, Parts
from ...core.request import ASYNC, DAEMON_ISSUER, READ, WRITE, WRITE_THROUGH, Completion, Request
from ...tasks.host import Host
from ...waits.causes import CACHED_BLOCK, JOURNAL
from ..device import CACHE, ORIGIN, CacheDevice
from ..levels import NONE
from ..settings import BcacheSettings
from ..warm import WarmBlocks
from .buckets import Buckets
from .bypass import READ_THRESHOLD_S, WRITE_THRESHOLD_S, Bypass
from .journal import BcacheJournal
from .writeback import BcacheWriteback

DATA_OFFSET: Final = 8192
"""Bytes in front of the data on the origin: bcache's superblock."""
SUPERBLOCK: Final = 4096
"""Where that is, and its bytes."""
_MOST_SYNC: Final = 0.7
_MOST_ASYNC: Final = 0.4
"""Share of the buckets that may be in use before writes go to both devices: those that somebody waits for, and others
(CUTOFF_WRITEBACK_SYNC, CUTOFF_WRITEBACK)."""
_MOST_USED: Final = 0.95
"""The same before all I/O passes the cache by (CUTOFF_CACHE_ADD)."""
_LOOK_BIOS: Final = 0.5
"""CPU time of looking at a bucket for the least used ones, in that of passing on a bio: 780 us for 756 buckets, where a
bio takes 1.9 us (validation/truth/caches)."""
_JOURNAL_SHARE: Final = 7
_MOST_JOURNAL: Final = 256
_MOST_PIECES: Final = 1 << 20


class Bcache(CacheDevice):
    """The cached device.

    Parameters
    ----------
    engine, name, members, host, cache_bytes
        As of a :class:`raidsim.model.cache.device.CacheDevice`.
    settings
        How it is set up.

    Attributes
    ----------
    buckets, bypass, journal, writeback
        Its parts.
    """

    __slots__ = (
        "_block",
        "_coming",
        "_data",
        "_preparing",
        "_reads",
        "_settings",
        "_stalled",
        "_was_dirty",
        "buckets",
        "bypass",
        "journal",
        "writeback",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        host: Host,
        settings: BcacheSettings,
        cache_bytes: int = 0,
    ) -> None:
        super().__init__(engine, name, members, members[ORIGIN].capacity - DATA_OFFSET, host, cache_bytes)
        self._settings = settings
        block, bucket = settings.block_bytes, settings.bucket_bytes
        self._block = block
        count = self._size // bucket
        journal = bucket * max(2, min(_MOST_JOURNAL, count >> _JOURNAL_SHARE))
        # The superblock's bucket, the journal, and one for a leaf of the tree.
        self._data = bucket + journal + bucket
        self.buckets = Buckets(max(1, (self._size - self._data) // bucket), bucket // block, block)
        self.journal = BcacheJournal(engine, members[CACHE], bucket, journal, block)
        target = settings.writeback_percent / 100 * self.buckets.count * bucket
        self.writeback = BcacheWriteback(
            engine,
            _Behind(members[ORIGIN]),
            members[CACHE],
            self.buckets,
            block,
            self._data,
            target,
            settings.writeback_delay_s,
            self._cleaned,
        )
        self.bypass = Bypass(settings.sequential_cutoff)
        self._preparing = self._was_dirty = False
        # Blocks that are read to be cached, with the number of that read.
        self._coming: dict[int, int] = {}
        self._reads = 0
        self._stalled: list[Callable[[], None]] = []

    @property
    def dirty_bytes(self) -> int:
        """What the cache holds that is not on the origin."""
        return len(self.buckets.dirty) * self._block

    @property
    def held_bytes(self) -> int:
        """What the buckets in use take."""
        return round(self.buckets.used_share * self.buckets.count) * self._settings.bucket_bytes

    @property
    def dirty_limit(self) -> int:
        """Dirty bytes at which writes go to both devices."""
        return int(_MOST_SYNC * self.buckets.count) * self._settings.bucket_bytes

    @property
    def warm_piece_bytes(self) -> int:
        """Bytes of the pieces in which a warm cache is filled: a block, or more if these would be over a million."""
        piece, bucket = self._block, self._settings.bucket_bytes
        while piece < bucket and self.buckets.count * bucket // piece > _MOST_PIECES:
            piece *= 2
        return piece

    @property
    def warm_pieces(self) -> int:
        """How many of them fit into it."""
        return self.buckets.count * (self._settings.bucket_bytes // self.warm_piece_bytes)

    def warm(self, found: WarmBlocks) -> None:
        """Have these pieces in the cache from the start, clean, the more popular ones used later."""
        self.buckets.fill(found.blocks, self.warm_piece_bytes // self._block)

    # An I/O.

    def _map(self, request: Request) -> None:
        now, op = self._engine._now, request.op
        self.writeback.active()
        settings = self._settings
        passes = settings.mode == "none" or (op != READ and settings.mode == "writearound")
        passes = self.bypass.passes(request.issuer, request.offset, request.size, now) or passes
        passes = passes or bool((request.offset | request.size) % self._block) or self.buckets.in_use > _MOST_USED
        if op == READ:
            self._map_read(request, passes)
        else:
            self._map_write(request, passes)

    def _map_read(self, request: Request, passes: bool) -> None:
        block, end, buckets = self._block, request.offset + request.size, self.buckets
        number, last = request.offset // block, -(-end // block)
        pieces: list[tuple[int, int, int]] = []  # place in the cache, or NONE; block; number of blocks
        while number < last:
            place, count = buckets.find(number), 1
            if place == NONE:
                while number + count < last and buckets.find(number + count) == NONE:
                    count += 1
            else:
                buckets.touch(place)
                while number + count < last and buckets.find(number + count) == place + count:
                    count += 1
            for _ in range(count):
                self._count_access(READ, place != NONE)
            pieces.append((place, number, count))
            number += count
        join = Parts(len(pieces), request)
        issuer, sync, trail = request.issuer, request.sync, request.trail
        for place, number, count in pieces:
            begin = max(request.offset, number * block)
            size = min(end, (number + count) * block) - begin
            if place != NONE:
                at = self._data + place * block + begin - number * block
                self._below(CACHE, Request(READ, at, size, _CacheRead(self, join), issuer, sync, trail=trail))
            elif passes:
                self._below(ORIGIN, Request(READ, DATA_OFFSET + begin, size, join, issuer, sync, trail=trail))
            else:
                passes = True  # the other misses of this I/O are not cached
                self._read_for_cache(number, count, Request(READ, begin, size, join, issuer, sync, trail=trail))

    def _read_for_cache(self, number: int, count: int, request: Request) -> None:
        """Read a miss, and put it into the cache when the program has it."""

        def read(below: Request) -> None:
            if below.trail is not None:
                request.trail = below.trail
            request.complete()
            if any(self._coming.get(each) == read_number for each in range(number, number + count)):
                self._append(number, count, False, DAEMON_ISSUER, Join(1, _nothing), read_number)

        self._reads += 1
        read_number = self._reads
        for each in range(number, number + count):
            self._coming[each] = read_number
        below = Request(READ, DATA_OFFSET + request.offset, request.size, read, request.issuer, request.sync)
        below.trail = request.trail
        self._below(ORIGIN, below)

    def _map_write(self, request: Request, passes: bool) -> None:
        block, buckets, settings = self._block, self.buckets, self._settings
        first, last = request.offset // block, -(-(request.offset + request.size) // block)
        for number in range(first, last):
            self._count_access(WRITE, buckets.find(number) != NONE)
            self._coming.pop(number, None)
        most = _MOST_ASYNC if request.sync == ASYNC else _MOST_SYNC
        back = settings.mode == "writeback" and not passes and buckets.in_use <= most
        if passes and self.writeback.overlaps(first, last):
            passes, back = False, settings.mode == "writeback"
        # The journal of a write that has to last goes out with data that pass by, else behind them.
        lasts = request.sync == WRITE_THROUGH
        join = Parts(1 + lasts, request)
        at, issuer, sync, trail = DATA_OFFSET + request.offset, request.issuer, request.sync, request.trail

        def journaled() -> None:
            request.mark(JOURNAL, self._engine._now)
            join.done(request)

        if back:

            def inserted() -> None:
                request.mark(CACHED_BLOCK, self._engine._now)
                join.done(request)
                if lasts:
                    self.journal.sync(journaled)

            self._insert(first, last - first, True, issuer, inserted)
        elif passes:
            for number in range(first, last):
                buckets.forget(number)
            self.journal.add(1)
            if lasts:
                self.journal.sync(journaled)
            self._below(ORIGIN, Request(WRITE, at, request.size, join, issuer, sync, trail=trail))
        else:
            both = Parts(2, request)

            def cached() -> None:
                request.mark(CACHED_BLOCK, self._engine._now)
                both.done(request)

            self._below(ORIGIN, Request(WRITE, at, request.size, both, issuer, sync, trail=trail))
            self._insert(first, last - first, False, issuer, cached)

    # Into the cache.

    def _insert(self, number: int, count: int, dirty: bool, issuer: int, then: Callable[[], None]) -> None:
        """Append blocks to open buckets and write them; then their keys come into the journal and the tree."""
        self._append(number, count, dirty, issuer, Join(1, then), 0)

    def _append(self, number: int, count: int, dirty: bool, issuer: int, join: Join, read_number: int) -> None:
        buckets = self.buckets
        while count:
            if not buckets.room() and not self._next_bucket():
                self._stalled.append(partial(self._append, number, count, dirty, issuer, join, read_number))
                return
            taken = min(count, buckets.room())
            join.left += 1
            self._write_piece(number, buckets.append(taken), taken, dirty, issuer, join, read_number)
            number += taken
            count -= taken
        join.part()

    def _write_piece(
        self, number: int, place: int, count: int, dirty: bool, issuer: int, join: Join, read_number: int
    ) -> None:
        began = self._engine._now

        def written(_: Request) -> None:
            now = self._engine._now
            self.bypass.congestion.note(now - began, WRITE_THRESHOLD_S, now)
            compute(self.host, self.prices.switch_s, inserted)

        def inserted() -> None:
            for each in range(count):
                # What was read is old if the block has been written since, or read again.
                if not read_number or self._coming.get(number + each) == read_number:
                    self.buckets.insert(number + each, place + each, dirty)
                    self._coming.pop(number + each, None)
            if dirty:
                self.journal.add(1)
                self._becomes_dirty()
            self.journal.to_tree(1)
            join.part()

        at, size = self._data + place * self._block, count * self._block
        self._below(CACHE, Request(WRITE, at, size, written, issuer, ASYNC))

    def _becomes_dirty(self) -> None:
        """Wake the writeback; the first time of all the origin's superblock says that there is dirty data."""
        if not self._was_dirty:
            self._was_dirty = True
            superblock = Request(WRITE, SUPERBLOCK, SUPERBLOCK, _ignore, DAEMON_ISSUER, WRITE_THROUGH)
            self._members[ORIGIN].submit(superblock)
        self.writeback.wake()

    def _next_bucket(self) -> bool:
        """Open another bucket; when the last that was made ready is taken, more are made ready."""
        buckets = self.buckets
        found = buckets.ready > 0 and buckets.take_bucket()
        if buckets.ready <= 0 and not self._preparing:
            self._prepare()
        return found

    def _prepare(self) -> None:
        """Write the generations of all buckets, then the journal; the buckets are ready then."""
        self._preparing = True
        size = self.buckets.prio_buckets * self._settings.bucket_bytes
        at = self._data - self._settings.bucket_bytes

        def ready() -> None:
            self._preparing = False
            self.buckets.ready += self.buckets.batch
            self._go_on()

        def written(_: Request) -> None:
            self.journal.sync(ready)

        def chosen() -> None:
            write = Request(WRITE, at, min(size, self._settings.bucket_bytes), written, DAEMON_ISSUER, WRITE_THROUGH)
            self._members[CACHE].submit(write)

        compute(self.host, self.buckets.count * _LOOK_BIOS * self.prices.bio_s, chosen)

    def _go_on(self) -> None:
        """Go on with what has waited for a bucket."""
        stalled, self._stalled = self._stalled, []
        for go_on in stalled:
            go_on()

    def _cleaned(self, keys: int) -> None:
        self.journal.add(keys)
        self.journal.to_tree(keys)
        self._go_on()

    def flush(self, done: Callable[[], None]) -> None:
        """Write the journal, then flush the origin."""
        origin = self._members[ORIGIN]
        compute(self.host, self.prices.switch_s, lambda: self.journal.sync(lambda: origin.flush(done)))


class _CacheRead(Completion):
    """A piece that is read from the cache, of which the time counts."""

    __slots__ = ("_began", "_congestion", "_engine", "_join")

    def __init__(self, cache: Bcache, join: Parts) -> None:
        self._engine = cache._engine
        self._began = cache._engine._now
        self._congestion = cache.bypass.congestion
        self._join = join

    def done(self, request: Request) -> None:
        """The piece is complete."""
        now = self._engine._now
        self._congestion.note(now - self._began, READ_THRESHOLD_S, now)
        self._join.done(request)


class _Behind(Device):
    """The origin without bcache's superblock."""

    __slots__ = ("_device",)

    def __init__(self, device: Device) -> None:
        self._device = device
        self.name = device.name
        self.capacity = device.capacity - DATA_OFFSET

    def submit(self, request: Request) -> None:
        """Pass a request on."""
        request.offset += DATA_OFFSET
        self._device.submit(request)


def _ignore(_: Request) -> None:
    """Nobody waits for the superblock."""


def _nothing() -> None:
    """Nobody waits for what a miss puts into the cache."""
