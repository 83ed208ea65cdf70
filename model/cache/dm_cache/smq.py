"""The policy smq of dm-cache: which blocks are promoted, demoted and written back.

Misses are counted in the *hotspot queue*, by blocks of up to 16 cache blocks; one that has climbed to the promotion
level is promoted. How high that is depends on how well the queue has told what is hit: a tick looks at how many of the
accesses were in its upper quarter. Blocks of the cache stand in a clean and a dirty queue of their own.
Source: Linux 6.1, drivers/md/dm-cache-policy-smq.c (__lookup, should_promote, queue_promotion, queue_demotion,
queue_writeback, smq_tick, update_promote_levels).
"""

from __future__ import annotations

from collections import deque
from typing import Final

from ..levels import LEVELS, NONE, Entries, LevelQueue

PROMOTE: Final = 0
DEMOTE: Final = 1
WRITE_BACK: Final = 2

_HZ: Final = 250
"""Jiffies a second, in which the policy measures its periods: each may last a jiffy longer."""
HOTSPOT_PERIOD_S: Final = 1.0
CACHE_PERIOD_S: Final = 60.0
WRITEBACK_PERIOD_S: Final = 10.0
FREE_SHARE: Final = 0.25
"""A full cache demotes a clean block for each promotion that it refuses, until this share of it is free."""
_LEAST_HOTSPOTS: Final = 1024
_TOP_LEVELS: Final = 8
_HIT_LEVEL: Final = LEVELS * 3 // 4
_POOR: Final = 1 / 16
_FAIR: Final = 1 / 8


class Work:
    """A block to move.

    Attributes
    ----------
    kind
        ``PROMOTE``, ``DEMOTE`` or ``WRITE_BACK``.
    block, place
        The block of the origin, and of the cache.
    """

    __slots__ = ("block", "kind", "place")

    def __init__(self, kind: int, block: int, place: int) -> None:
        self.kind = kind
        self.block = block
        self.place = place


class _Statistics:
    """Accesses of a queue: in its upper quarter, and below it or not at all."""

    __slots__ = ("hits", "misses")

    def __init__(self) -> None:
        self.hits = self.misses = 0

    def access(self, level: int) -> None:
        """Count an access to an entry of a level."""
        if level >= _HIT_LEVEL:
            self.hits += 1
        else:
            self.misses += 1

    @property
    def share(self) -> float:
        """Share of accesses in the upper quarter."""
        return self.hits / (self.hits + self.misses) if self.hits else 0.0


class Smq:
    """The policy.

    Parameters
    ----------
    places
        Blocks of the cache.
    blocks
        Blocks of the origin.
    promotes
        If false, nothing is ever promoted (passthrough).
    now
        When it begins (s).

    Attributes
    ----------
    places
        Blocks of the cache.
    place_of, block_of
        Where a block of the origin is in the cache, and which block is at a place.
    dirty
        Of each place, whether it differs from the origin.
    waiting
        Blocks to move, in order.
    """

    __slots__ = (
        "_cache_period",
        "_clean",
        "_demoting",
        "_dirty",
        "_entries",
        "_free",
        "_hit_in",
        "_hotspot_blocks",
        "_hotspot_entries",
        "_hotspot_hit_in",
        "_hotspot_of",
        "_hotspot_period",
        "_hotspot_queue",
        "_hotspots",
        "_hotspots_free",
        "_jump",
        "_next_cache",
        "_next_hotspot",
        "_next_writeback",
        "_of_cache",
        "_of_hotspots",
        "_pending",
        "_promote_level",
        "_promotes",
        "_promoting",
        "_younger",
        "block_of",
        "dirty",
        "place_of",
        "places",
        "waiting",
    )

    def __init__(self, places: int, blocks: int, promotes: bool = True, now: float = 0.0) -> None:
        self.places = places
        self._promotes = promotes
        self.place_of: dict[int, int] = {}
        self.block_of = [NONE] * places
        self.dirty = bytearray(places)
        self.waiting: deque[Work] = deque()
        self._free: deque[int] = deque(range(places))
        self._pending = bytearray(places)
        self._promoting: set[int] = set()
        self._demoting = 0
        # Two sentinels a level of the dirty queue. Those of the clean queue are never looked at.
        self._entries = Entries(places, 2 * LEVELS)
        self._clean = LevelQueue(self._entries)
        self._dirty = LevelQueue(self._entries)
        self._younger = 0
        for side in (0, 1):
            for level in range(LEVELS):
                self._entries.level[places + side * LEVELS + level] = level
                self._dirty.push(places + side * LEVELS + level)
        hotspots = max(places // 4, _LEAST_HOTSPOTS)
        per_hotspot = 16
        while per_hotspot > 1 and per_hotspot * hotspots > blocks:
            per_hotspot //= 2
        self._hotspot_blocks = per_hotspot
        self._hotspot_entries = Entries(hotspots)
        self._hotspot_queue = LevelQueue(
            self._hotspot_entries, _TOP_LEVELS, min(hotspots // LEVELS, places // per_hotspot)
        )
        self._hotspots: dict[int, int] = {}
        self._hotspot_of = [NONE] * hotspots
        self._hotspots_free = 0
        self._of_hotspots = _Statistics()
        self._of_cache = _Statistics()
        self._jump = 1
        # No block has climbed so high: nothing is promoted before the first tick.
        self._promote_level = LEVELS
        self._hotspot_period = self._cache_period = 1
        self._hit_in = [0] * places
        self._hotspot_hit_in = [0] * hotspots
        self._next_hotspot = self._next_cache = int(now * _HZ)
        self._next_writeback = int((now + WRITEBACK_PERIOD_S) * _HZ)

    @property
    def dirty_blocks(self) -> int:
        """Dirty blocks that are not being written back."""
        return self._dirty.size

    @property
    def resident(self) -> int:
        """Blocks of the cache that are taken."""
        return self.places - len(self._free)

    def lookup(self, block: int, whole_write: bool = False) -> int:
        """Where a block is in the cache; NONE, and perhaps work that waits, after a miss.

        Parameters
        ----------
        block
            The block.
        whole_write
            Whether it is overwritten, so that its promotion needs no read: while there is room it is promoted at once.
        """
        place = self.place_of.get(block, NONE)
        if place != NONE:
            self._of_cache.access(self._entries.level[place])
            self._hit(place)
            return place
        self._of_cache.misses += 1
        level = self._missed(block // self._hotspot_blocks)
        if (whole_write and self._free) or level >= self._promote_level:
            self._promote(block)
        return NONE

    def _hit(self, place: int) -> None:
        """Raise a block that is hit for the first time in a period."""
        if self._pending[place] or self._hit_in[place] == self._cache_period:
            return
        self._hit_in[place] = self._cache_period
        if not self.dirty[place]:
            self._clean.requeue(place, 1)
            return
        level = self._entries.level[place]
        older = self.places + (1 - self._younger) * LEVELS + level
        self._dirty.requeue(place, 1, older, self.places + self._younger * LEVELS + level)

    def _missed(self, hotspot: int) -> int:
        """Note a miss in the hotspot queue; the level that its block has there now."""
        queue, entries = self._hotspot_queue, self._hotspot_entries
        entry = self._hotspots.get(hotspot, NONE)
        if entry != NONE:
            self._of_hotspots.access(entries.level[entry])
            first = self._hotspot_hit_in[entry] != self._hotspot_period
            self._hotspot_hit_in[entry] = self._hotspot_period
            queue.requeue(entry, self._jump if first else 0)
            return entries.level[entry]
        self._of_hotspots.misses += 1
        if self._hotspots_free < entries.first_sentinel:
            entry = self._hotspots_free
            self._hotspots_free += 1
            level = 0
        else:
            entry = queue.peek(LEVELS, True)
            queue.remove(entry)
            level = entries.level[entry]
            del self._hotspots[self._hotspot_of[entry]]
        self._hotspot_hit_in[entry] = 0
        entries.level[entry] = level
        queue.push(entry)
        self._hotspots[hotspot] = entry
        self._hotspot_of[entry] = hotspot
        return level

    def _promote(self, block: int) -> None:
        """Let a block come into the cache; where that is full, another one leaves it."""
        if not self._promotes:
            return
        if not self._free:
            if len(self._free) + self._demoting < int(self.places * FREE_SHARE):
                self._demote()
            return
        if block in self._promoting:
            return
        place = self._free.popleft()
        self._pending[place] = 1
        self._promoting.add(block)
        self.waiting.append(Work(PROMOTE, block, place))

    def _demote(self) -> None:
        """Let the oldest clean block of the lower half leave, or else have a dirty one written back."""
        place = self._clean.peek(LEVELS // 2, True)
        if place == NONE:
            if self._dirty.size:
                self._write_back(False)
            return
        self._pending[place] = 1
        self._clean.remove(place)
        self._demoting += 1
        self.waiting.append(Work(DEMOTE, self.block_of[place], place))

    def _write_back(self, idle: bool) -> None:
        """Have the oldest dirty block written back; one that was hit in the last ten seconds only if `idle`."""
        place = self._dirty.peek(LEVELS, idle)
        if place != NONE:
            self._pending[place] = 1
            self._dirty.remove(place)
            self.waiting.append(Work(WRITE_BACK, self.block_of[place], place))

    def next_work(self, idle: bool) -> Work | None:
        """The next block to move; while the origin is idle, a dirty block if nothing else is."""
        if not self.waiting and idle and self._dirty.size:
            self._write_back(True)
        return self.waiting.popleft() if self.waiting else None

    def complete(self, work: Work) -> None:
        """A block has been moved."""
        place = work.place
        if work.kind == DEMOTE:
            self._demoting -= 1
            self._pending[place] = 0
            self._leave(place)
            return
        self._pending[place] = 0
        if work.kind == PROMOTE:
            self._promoting.discard(work.block)
            self.place_of[work.block] = place
            self.block_of[place] = work.block
            self._entries.level[place] = LEVELS - 1
            self.dirty[place] = 0
        self._queue(place).push(place)

    def invalidate(self, place: int) -> None:
        """A block leaves the cache at once."""
        self._queue(place).remove(place)
        self._leave(place)

    def _leave(self, place: int) -> None:
        del self.place_of[self.block_of[place]]
        self.block_of[place] = NONE
        self.dirty[place] = 0
        self._free.append(place)

    def set_dirty(self, place: int, dirty: bool) -> None:
        """Note that a block of the cache differs from the origin's, or does not any more."""
        if bool(self.dirty[place]) == dirty:
            return
        if self._pending[place]:
            self.dirty[place] = dirty
            return
        self._queue(place).remove(place)
        self.dirty[place] = dirty
        self._queue(place).push(place)

    def _queue(self, place: int) -> LevelQueue:
        return self._dirty if self.dirty[place] else self._clean

    def fill(self, block: int, level: int, dirty: bool = False) -> None:
        """Have a block in the cache from the start, at a level of its queue."""
        place = self._free.popleft()
        self.place_of[block] = place
        self.block_of[place] = block
        self.dirty[place] = dirty
        self._entries.level[place] = level
        self._queue(place).push_front(place)

    def tick(self, now: float) -> None:
        """End a period in which an access counts once: with an I/O, and every second of the kernel's worker."""
        jiffies = int(now * _HZ)
        if jiffies > self._next_writeback:
            self._next_writeback = jiffies + int(WRITEBACK_PERIOD_S * _HZ)
            self._younger = 1 - self._younger
            for level in range(LEVELS):
                sentinel = self.places + self._younger * LEVELS + level
                self._dirty.remove(sentinel)
                self._dirty.push(sentinel)
        self._hotspot_period += 1
        share = self._of_hotspots.share
        self._promote_level = LEVELS - (LEVELS // 4 if share < _POOR else LEVELS // 2 if share < _FAIR else LEVELS)
        if jiffies > self._next_hotspot:
            self._jump = 4 if share < _POOR else 2 if share < _FAIR else 1
            self._hotspot_queue.redistribute()
            self._of_hotspots = _Statistics()
            self._next_hotspot = jiffies + int(HOTSPOT_PERIOD_S * _HZ)
        if jiffies > self._next_cache:
            self._cache_period += 1
            self._dirty.redistribute()
            self._clean.redistribute()
            self._of_cache = _Statistics()
            self._next_cache = jiffies + int(CACHE_PERIOD_S * _HZ)
