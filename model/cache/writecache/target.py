"""dm-writecache: writes go to a fast device, later to the slow one (LVM: ``--type writecache``); it caches no reads.

A write takes free blocks of the cache, or overwrites its block there. What has been written becomes valid with a
commit: the changed regions of the metadata, then the superblock with the next sequence number. A flush, a full
counter, or a second without a commit brings one; all other I/O waits for it, since it holds the lock. Below the high
watermark's rest of free blocks the oldest are written back until the low watermark's are free; the metadata of freed
blocks are written after a flush of the origin. Reads go to the origin but for blocks that are in the cache, each of
which is a separate request.
Source: Linux 6.1, drivers/md/dm-writecache.c (writecache_map_read, writecache_map_write, writecache_flush,
ssd_commit_flushed, writecache_writeback, writecache_endio_thread).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...core.device import Device
from ...core.engine import Engine
from ...core.join import Parts
from ...core.request import READ, WRITE, Call, Request
from ...tasks.host import Host
from ...waits.causes import CACHE_METADATA
from ..copier import Copier
from ..device import CACHE, ORIGIN, CacheDevice
from ..levels import NONE
from ..settings import WritecacheSettings
from .commits import WritecacheCommits
from .entries import WritecacheEntries, places_in
from .lock import WritecacheLock

_LONGEST_LOOK_S: Final = 1.0
_WALKED: Final = 64
"""Blocks that one pass of the writeback takes (WRITEBACK_LATENCY)."""
_LARGEST_COPY: Final = 256


class Writecache(CacheDevice):
    """The cache.

    Parameters
    ----------
    engine, name, members, host, cache_bytes
        As of a :class:`raidsim.model.cache.device.CacheDevice`.
    settings
        How it is set up.

    Attributes
    ----------
    entries
        Its blocks.
    places, block_bytes
        How many blocks it has, and their size.
    lock, commits
        What a commit holds, and the metadata.
    writebacks
        Blocks written back so far.
    """

    __slots__ = (
        "_autocommit",
        "_commit_next",
        "_copied",
        "_copier",
        "_copies",
        "_data",
        "_ends",
        "_high",
        "_low",
        "_origin_ended",
        "_origin_idle_since",
        "_origin_writes",
        "_read_ended",
        "_settings",
        "_wait_for_place",
        "_write_ended",
        "_writeback",
        "block_bytes",
        "commits",
        "entries",
        "lock",
        "places",
        "writebacks",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        host: Host,
        settings: WritecacheSettings,
        cache_bytes: int = 0,
    ) -> None:
        super().__init__(engine, name, members, members[ORIGIN].capacity, host, cache_bytes)
        self._settings = settings
        self.block_bytes = settings.block_bytes
        places, self._data = places_in(self._size, settings.block_bytes)
        self.places = places
        self.entries = WritecacheEntries(places)
        self.lock = WritecacheLock()
        self.commits = WritecacheCommits(members[CACHE], self.entries, self.lock, self._data)
        self._high = int(places * (1.0 - settings.high_watermark) + 0.5)
        self._low = int(places * (1.0 - settings.low_watermark) + 0.5)
        self._copier = Copier(engine, members, host)
        self._wait_for_place: list[Request] = []
        self._origin_ended = Call(self._end_on_origin)
        self._read_ended = Call(self._end_read)
        self._write_ended = Call(self._end_write)
        self._copied: list[tuple[int, int]] = []
        self._copies = 0
        self._origin_writes = 0
        self._origin_idle_since = -math.inf
        self._commit_next = self._ends = self._writeback = False
        self._autocommit: Any = None

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        super().start_statistics()
        self.writebacks = 0

    @property
    def dirty_bytes(self) -> int:
        """What the cache holds that is not on the origin."""
        return (self.places - self.entries.free) * self._settings.block_bytes

    @property
    def dirty_limit(self) -> int:
        """Its size."""
        return self.places * self._settings.block_bytes

    def fill(self, blocks: Sequence[int]) -> None:
        """Have blocks in the cache from the start that are still to be written back, the oldest first."""
        for block in blocks:
            self.entries.take(block)
        self.entries.commit()
        self._check_watermark()

    # An I/O.

    def _map(self, request: Request) -> None:
        if self.lock.held:
            self.lock.take(lambda: self._go_on(request))
        elif request.op == READ:
            self._map_read(request)
        else:
            self._map_write(request)

    def _go_on(self, request: Request) -> None:
        request.mark(CACHE_METADATA, self._engine._now)
        self._map(request)

    def _map_read(self, request: Request) -> None:
        """Read each cached block from the cache, and what lies between from the origin."""
        length, entries = self._settings.block_bytes, self.entries
        first, last = request.offset // length, -(-(request.offset + request.size) // length)
        pieces: list[tuple[int, int, int]] = []  # place, or NONE; block; number of blocks
        block = first
        while block < last:
            place = entries.find(block)
            end = block + 1
            if place == NONE:
                while end < last and entries.find(end) == NONE:
                    end += 1
            pieces.append((place, block, end - block))
            self._count_blocks(READ, place != NONE, end - block)
            block = end
        join = Parts(len(pieces), request)
        for place, block, count in pieces:
            begin = max(request.offset, block * length)
            size = min(request.offset + request.size, (block + count) * length) - begin
            if place == NONE:
                self._below(ORIGIN, Request(READ, begin, size, join, request.issuer, request.sync, trail=request.trail))
            else:
                at = self._data + place * length + begin - block * length
                self._to_cache(
                    Request(READ, at, size, self._read_ended, request.issuer, request.sync, join, request.trail)
                )

    def _to_cache(self, below: Request) -> None:
        self.lock.begin(below.op)
        self._below(CACHE, below)

    def _end_read(self, below: Request) -> None:
        self.lock.end(READ)
        below.parent.done(below)

    def _end_write(self, below: Request) -> None:
        self.lock.end(WRITE)
        below.parent.done(below)

    def _count_blocks(self, op: int, hit: bool, blocks: int) -> None:
        for _ in range(blocks):
            self._count_access(op, hit)

    def _map_write(self, request: Request) -> None:
        """Write into the cache, piece by piece as blocks lie next to each other there; to the origin if it is full."""
        length, entries = self._settings.block_bytes, self.entries
        block, last = request.offset // length, -(-(request.offset + request.size) // length)
        pieces: list[tuple[int, int, int]] = []
        while block < last:
            place = entries.find(block)
            count = 1
            if place != NONE and not entries.in_progress[place]:
                self.commits.overwrote = self.commits.overwrote or entries.is_committed(place)
                while block + count < last and entries.find(block + count) == place + count:
                    if entries.in_progress[place + count]:
                        break
                    self.commits.overwrote = self.commits.overwrote or entries.is_committed(place + count)
                    count += 1
                self._count_blocks(WRITE, True, count)
            else:
                old = place
                place = entries.take(block)
                if place == NONE and old != NONE:
                    # The block is being written back, and there is no other place for it: wait for one.
                    rest = max(request.offset, block * length)
                    self._send(request, pieces, rest)
                    return
                if place == NONE:
                    while block + count < last and entries.find(block + count) == NONE:
                        count += 1
                else:
                    while block + count < last and entries.take(block + count, place + count) != NONE:
                        count += 1
                self._count_blocks(WRITE, False, count)
                self._check_watermark()
            pieces.append((place, block, count))
            block += count
        self._send(request, pieces)
        if len(entries.uncommitted) >= self._settings.autocommit_blocks:
            self._queue_commit()
        elif self._autocommit is None and entries.uncommitted:
            due = self._engine._now + self._settings.autocommit_s
            self._autocommit = self._engine.call_at(due, self._autocommit_due)

    def _send(self, request: Request, pieces: Sequence[tuple[int, int, int]], rest: int = NONE) -> None:
        """Submit the pieces of a write; what is left of it from byte `rest` on waits for a free place."""
        length, end = self._settings.block_bytes, request.offset + request.size
        join = Parts(len(pieces) + (rest != NONE), request)
        issuer, sync = request.issuer, request.sync
        if rest != NONE:
            left = Request(WRITE, rest, end - rest, join, issuer, sync, trail=request.trail)
            self._wait_for_place.append(left)
        for place, block, count in pieces:
            begin = max(request.offset, block * length)
            size = min(end, (block + count) * length) - begin
            if place == NONE:
                self._origin_writes += 1
                self._below(ORIGIN, Request(WRITE, begin, size, self._origin_ended, issuer, sync, join, request.trail))
            else:
                at = self._data + place * length + begin - block * length
                self._to_cache(Request(WRITE, at, size, self._write_ended, issuer, sync, join, request.trail))

    def _end_on_origin(self, below: Request) -> None:
        self._leaves_origin()
        below.parent.done(below)

    def _leaves_origin(self) -> None:
        self._origin_writes -= 1
        if not self._origin_writes:
            self._origin_idle_since = self._engine._now

    # Commits.

    def flush(self, done: Callable[[], None]) -> None:
        """Commit what has been written, then flush the origin."""

        def committed() -> None:
            self.lock.release()
            self._origin_writes += 1
            self._members[ORIGIN].flush(flushed)

        def flushed() -> None:
            self._leaves_origin()
            done()

        self._copier.work(lambda: self.lock.take(lambda: self._commit(committed)))

    def _autocommit_due(self, _: Any) -> None:
        self._autocommit = None
        self._queue_commit()

    def _queue_commit(self) -> None:
        """Commit in the work queue: behind the pass of the writeback that is running or waiting there."""
        if self._writeback:
            self._commit_next = True
        else:
            self.lock.take(self._commit_in_queue)

    def _commit_in_queue(self) -> None:
        self._commit(self.lock.release)

    def _commit(self, then: Callable[[], None]) -> None:
        if self._autocommit is not None:
            self._engine.cancel(self._autocommit)
            self._autocommit = None
        self.commits.run(then)

    # Writeback.

    def _check_watermark(self) -> None:
        """Begin to write back where fewer blocks are free than the high watermark leaves."""
        entries = self.entries
        if not self._writeback and entries.free + entries.busy <= self._high:
            self._writeback = True
            self._copier.work(self._look)

    def _look(self, _: Any = None) -> None:
        """Wait until the copies of the last pass are over and the origin is idle, then take the lock."""
        now = self._engine._now
        # A time to compare with, since a difference may be a rounding error short of the pause for ever.
        due = (now if self._origin_writes else self._origin_idle_since) + self._settings.pause_s
        if now < due:
            self._engine.call_at(min(due, now + _LONGEST_LOOK_S), self._look)
        elif not self._copies:
            self.lock.take(lambda: self.lock.when_quiet(WRITE, self._pass) if self.commits.overwrote else self._pass())
        # With copies under way the last of them looks again.

    def _pass(self) -> None:
        """Write back the oldest blocks, as many as a pass takes; what is not committed is committed first."""
        entries, length = self.entries, self._settings.block_bytes
        walked, postponed = 0, 0
        runs: list[tuple[int, int]] = []
        while walked < _WALKED and entries.free + entries.busy <= self._low:
            place = entries.oldest()
            if place == NONE or postponed > _WALKED:
                break
            if not entries.is_committed(place):
                if not runs:
                    self._commit(self._committed_in_pass)
                    return
                break
            if entries.waits(place):
                entries.postpone(place)
                postponed += 1
                continue
            count = entries.write_back(place, _LARGEST_COPY)
            runs.append((place, count))
            walked += count
        self._writeback = bool(runs)
        self._copies += len(runs)
        for place, count in runs:
            at, to = self._data + place * length, entries.block_of[place] * length
            size = min(count * length, self.capacity - to)
            self._copier.copy(CACHE, at, ORIGIN, to, size, self._copy_over(place, count))
        if self._commit_next:
            self._commit_next = False
            self.lock.take(self._commit_in_queue)

    def _committed_in_pass(self) -> None:
        self.lock.release()
        self.lock.take(self._pass)

    def _copy_over(self, place: int, count: int) -> Callable[[], None]:
        def over() -> None:
            self._copied.append((place, count))
            self._copies -= 1
            if not self._copies and self._writeback:
                self._copier.work(self._look)
            if not self._ends:
                self._ends = True
                self._copier.work(self._end_copies)

        return over

    def _end_copies(self) -> None:
        """The thread that ends copies: flush the origin, free what has been copied, and write the metadata."""
        copied, self._copied = self._copied, []
        if not copied:
            self._ends = False
            return

        def free() -> None:
            self.lock.held = True
            for place, count in copied:
                self.writebacks += count
                for at in range(place, place + count):
                    self.entries.release(at)
            self.lock.when_quiet(READ, lambda: self.commits.write_regions(over))

        def over() -> None:
            self.lock.release()
            waiting, self._wait_for_place = self._wait_for_place, []
            for request in waiting:
                self._map(request)
            self._end_copies()

        self._members[ORIGIN].flush(lambda: self.lock.take(free))
