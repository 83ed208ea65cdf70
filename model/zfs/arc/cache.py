"""The ARC (adaptive replacement cache) of OpenZFS 2.2 and 2.3: recently and frequently used blocks, and their ghosts.

A block that is read is in the list of recently used blocks (MRU). An access more than 62 ms later moves it to those
used frequently (MFU). Ghost lists remember evicted blocks: a hit there is no hit, but shifts the balance of the lists.
Source: module/zfs/arc.c (arc_access, arc_evict, arc_is_overflowing).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from .balance import Balance
from .buffers import GHOST, INDIRECT, KEY_SHIFT, LISTS, MFU, MRU, Buffer, BufferList
from .settled import Settled

MINIMUM_AGE_S: Final = 0.062
"""Accesses within this time (s) count as one (ARC_MINTIME, hz / 16)."""
PREFETCH_LIFETIME_S: Final = 1.0
"""A prefetched block that nobody has read is not evicted for this time (s) (zfs_arc_min_prefetch_ms)."""
OVERFLOW_BYTES: Final = 8 << 20
"""Bytes above the target at which eviction begins (half of SPA_MAXBLOCKSIZE); it ends at the target."""
HEADER_BYTES: Final = 280
"""Memory of a block's header and dbuf; recorded: 1.2 MB for 3,916 blocks, 1.7 MB for 6,100."""


class Arc:
    """Blocks in memory.

    Parameters
    ----------
    target
        Bytes it may hold (zfs_arc_max). It is at this size from the start, because it grows faster than it is filled.

    Attributes
    ----------
    lists
        Blocks by list: see :mod:`.buffers`.
    balance
        How they share the size.
    dirty
        Bytes of blocks that are not yet written; they cannot be evicted.
    settled
        Blocks from before the run; None if there are none.
    warm
        Whether it has evicted anything.
    hits, misses
        Accesses that found a block, and those that did not.
    """

    __slots__ = ("_buffers", "_cached", "balance", "dirty", "hits", "lists", "misses", "settled", "target", "warm")

    def __init__(self, target: i64) -> None:
        self.target = target
        self.lists = [BufferList() for _ in range(LISTS)]
        self._buffers: dict[int, Buffer] = {}
        self._cached: i64 = 0
        self.settled: Settled | None = None
        self.warm = False
        self.balance = Balance()
        self.dirty: i64 = 0
        self.hits: i64 = 0
        self.misses: i64 = 0

    @property
    def size(self) -> int:
        """Bytes in use."""
        return self._cached + self.dirty

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        self.hits = self.misses = 0

    def settle(self, settled: Settled, balance: Balance) -> None:
        """Hold blocks from before the run, and share the size as that has left it."""
        self.settled = settled
        self.warm = True
        self._cached += settled.held + settled.held * HEADER_BYTES // settled.mean_size
        self.balance = balance

    def place(self, key: i64) -> i64:
        """The list of a block, -1 if none knows it."""
        buffer = self._buffers.get(key)
        if buffer is not None:
            return buffer.place
        block = key & (2 * INDIRECT - 1)
        return -1 if self.settled is None or block >= INDIRECT else self.settled.place(key >> KEY_SHIFT, block)

    def holds(self, key: i64) -> bool:
        """Whether a block is cached, without using it."""
        place = self.place(key)
        return place >= 0 and place < GHOST

    def _found(self, key: i64) -> Buffer | None:
        """A block that one of the lists knows."""
        buffer = self._buffers.get(key)
        settled = self.settled
        if buffer is not None or settled is None:
            return buffer
        block = key & (2 * INDIRECT - 1)
        if block >= INDIRECT:
            return None
        place = settled.take(key >> KEY_SHIFT, block)
        if place < 0:
            return None
        buffer = Buffer(key, settled.size(key >> KEY_SHIFT), place, -MINIMUM_AGE_S, False)
        self._buffers[key] = buffer
        self.lists[place].push(buffer)
        return buffer

    def use(self, key: i64, now: float) -> bool:
        """Read a block `now` (s); returns whether it is cached."""
        buffer = self._found(key)
        if buffer is None or buffer.place >= GHOST:
            self.misses += 1
            return False
        self.hits += 1
        place = buffer.place
        held = self.lists[place]
        held.drop(buffer)
        if buffer.prefetched:
            buffer.prefetched = False
            buffer.used = now
        elif place >= MFU:
            buffer.used = now
        elif now > buffer.used + MINIMUM_AGE_S:
            buffer.used = now
            buffer.place = place + MFU
            held = self.lists[buffer.place]
        held.push(buffer)
        return True

    def add(
        self, key: i64, size: i64, metadata: bool, now: float, prefetched: bool = False, frequent: bool = False
    ) -> None:
        """Keep a block that was read or written `now` (s); one that is cached already has new data.

        With `frequent` it comes from the second level, and counts as used frequently.
        """
        buffer = self._found(key)
        if buffer is None:
            buffer = Buffer(key, size, (MFU if frequent else MRU) + metadata, now, prefetched)
            self._buffers[key] = buffer
        else:
            place = buffer.place
            held = self.lists[place]
            held.drop(buffer)
            if place >= GHOST:
                held.hits += buffer.size
                place = metadata + (MRU if buffer.prefetched and place < GHOST + MFU else MFU)
            else:
                self._cached -= buffer.size + HEADER_BYTES
                place = MRU + metadata
            buffer.place = place
            buffer.size = size
            buffer.used = now
            buffer.prefetched = prefetched
        self.lists[buffer.place].push(buffer)
        self._cached += size + HEADER_BYTES
        if self._cached + self.dirty > self.target + OVERFLOW_BYTES:
            self._evict(now)

    def remove(self, key: i64) -> None:
        """Forget a block: it is written anew, or freed."""
        buffer = self._found(key)
        if buffer is not None:
            del self._buffers[key]
            self.lists[buffer.place].drop(buffer)
            if buffer.place < GHOST:
                self._cached -= buffer.size + HEADER_BYTES

    def _evict(self, now: float) -> None:
        """Evict down to the target (arc_evict)."""
        lists, balance = self.lists, self.balance
        self.warm = True
        balance.adapt(lists)
        data = lists[MRU].size + lists[MFU].size
        metadata = lists[MRU + 1].size + lists[MFU + 1].size
        over = self._cached + self.dirty - self.target
        wanted = data + metadata + self.dirty - over
        left = over
        recent = wanted * (balance.metadata * balance.recent_metadata >> 48) >> 16
        left -= self._shrink(MRU + 1, min(left, lists[MRU + 1].size - recent), now)
        left -= self._shrink(MFU + 1, min(left, metadata - (wanted * (balance.metadata >> 16) >> 16)), now)
        wanted -= lists[MRU + 1].size + lists[MFU + 1].size
        recent = wanted * (balance.recent_data >> 16) >> 16
        left -= self._shrink(MRU, min(left, lists[MRU].size + self.dirty - recent), now)
        self._shrink(MFU, left, now)
        for place in range(GHOST):
            others = sum([lists[other].size for other in range(GHOST) if other != place])
            ghost = lists[GHOST + place]
            if self.settled is not None and ghost.size > others // 2:
                self.settled.forget(GHOST + place, ghost.size - others // 2)
            while ghost.size > others // 2:
                oldest = ghost.ends.newer
                ghost.drop(oldest)
                del self._buffers[oldest.key]

    def _shrink(self, place: i64, size: i64, now: float) -> i64:
        """Evict `size` bytes from a list, oldest first; returns what it got (bytes)."""
        held, ghost = self.lists[place], self.lists[GHOST + place]
        got: i64 = 0
        if self.settled is not None and size > 0:
            got = self.settled.evict(place, size)
            self._cached -= got + got * HEADER_BYTES // self.settled.mean_size
        buffer = held.ends.newer
        while got < size and buffer is not held.ends:
            following = buffer.newer
            if not buffer.prefetched or now - buffer.used >= PREFETCH_LIFETIME_S:
                held.drop(buffer)
                buffer.place = GHOST + place
                ghost.push(buffer)
                got += buffer.size
                self._cached -= buffer.size + HEADER_BYTES
            buffer = following
        return got
