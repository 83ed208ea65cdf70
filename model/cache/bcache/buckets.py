"""bcache's buckets and keys: what of the origin is cached, in which bucket, and what of it is dirty.

Data are appended to an open bucket. A bucket is used again as a whole: its generation is raised, and all keys that
point to the old one are stale. Buckets without dirty data are taken again, the one that was used least recently first.
Which these are the garbage collection says, after each sixteenth of the cache that is written, or when none is left.
Before new ones are handed out, the generations of all buckets are written (prio_write), then the journal.
Source: Linux 6.1, drivers/md/bcache/alloc.c (bch_alloc_sectors, bch_allocator_thread, invalidate_buckets_lru,
bch_bucket_alloc), super.c (cache_alloc, bch_prio_write), btree.c (bch_btree_gc_finish, bch_update_bucket_in_use),
btree.h (set_gc_sectors).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from ..levels import NONE

_GC_SHARE: Final = 16
"""The garbage is collected after this fraction of the cache has been written."""
_GENERATIONS: Final = 1 << 20
_BUCKET_DISK: Final = 3
"""Bytes of a bucket's priority and generation on the medium."""
_PRIO_HEADER: Final = 48


class Buckets:
    """The buckets of a cache, in blocks.

    Parameters
    ----------
    count
        Buckets.
    blocks
        Blocks in each.
    block_bytes
        Bytes of a block.

    Attributes
    ----------
    available
        Buckets without dirty data at the last garbage collection, less those taken since.
    batch
        Buckets that are made ready at a time.
    prio_buckets
        Buckets that the generations of all take.
    dirty
        Blocks of the origin that are dirty.
    ready
        Buckets that may be taken before generations are written again.
    """

    __slots__ = (
        "_blocks",
        "_dirty_in",
        "_fresh",
        "_gc_left",
        "_generation",
        "_left",
        "_left_pieces",
        "_marked",
        "_open",
        "_piece",
        "_pieces",
        "_place",
        "_used",
        "available",
        "batch",
        "count",
        "dirty",
        "prio_buckets",
        "ready",
    )

    def __init__(self, count: int, blocks: int, block_bytes: int) -> None:
        self.count = count
        self._blocks = blocks
        self._generation = [0] * count
        self._dirty_in = [0] * count
        # Buckets that are taken for dirty until the next garbage collection.
        self._marked = bytearray(count)
        self._gc_left = count * blocks // _GC_SHARE
        self.available = count
        self._place: dict[int, int] = {}
        self.dirty: dict[int, None] = {}
        # Buckets that are or were full, the least recently used first.
        self._used: OrderedDict[int, None] = OrderedDict()
        self._piece = 1
        self._pieces: dict[int, int] = {}
        self._left_pieces: set[int] = set()
        self._fresh = 0
        self._open = NONE
        self._left = 0
        free = max(1, (1 << (count - 1).bit_length()) >> 10)
        self.batch = max(1, 4 * free - 1)
        self.ready = self.batch
        per_bucket = (blocks * block_bytes - _PRIO_HEADER) // _BUCKET_DISK
        self.prio_buckets = -(-count // per_bucket)

    def find(self, block: int) -> int:
        """Where a block of the origin is, in blocks of the cache; NONE if it is not there."""
        found = self._place.get(block, NONE)
        if found == NONE:
            piece, inside = divmod(block, self._piece)
            found = self._pieces.get(piece, NONE)
            if found == NONE or block in self._left_pieces:
                return NONE
            found += inside * _GENERATIONS
        place, generation = divmod(found, _GENERATIONS)
        bucket = place // self._blocks
        if self._generation[bucket] != generation:
            self._place.pop(block, None)
            return NONE
        return place

    def touch(self, place: int) -> None:
        """A block is read: its bucket is used."""
        bucket = place // self._blocks
        if bucket in self._used:
            self._used.move_to_end(bucket)

    def room(self) -> int:
        """Blocks left in the open bucket; 0 if the next one has to be taken first."""
        return self._left

    def take_bucket(self) -> bool:
        """Open the next bucket; False if none is free of dirty data."""
        if self._open != NONE:
            self._used[self._open] = None
        if self._fresh < self.count:
            bucket = self._fresh
            self._fresh += 1
        else:
            bucket = self._least_used()
            if bucket == NONE:
                self.collect_garbage()
                bucket = self._least_used()
            if bucket == NONE:
                return False
            del self._used[bucket]
            self._generation[bucket] += 1
        self._open = bucket
        self._left = self._blocks
        self.ready -= 1
        self.available = max(0, self.available - 1)
        return True

    def _least_used(self) -> int:
        return next((each for each in self._used if not self._marked[each]), NONE)

    def collect_garbage(self) -> None:
        """See which buckets hold dirty data."""
        self._gc_left = self.count * self._blocks // _GC_SHARE
        self._marked = bytearray(number > 0 for number in self._dirty_in)
        self.available = self._marked.count(0)

    def append(self, blocks: int) -> int:
        """Take blocks of the open bucket; where they begin."""
        place = self._open * self._blocks + self._blocks - self._left
        self._left -= blocks
        self._gc_left -= blocks
        if self._gc_left < 0:
            self.collect_garbage()
        return place

    def insert(self, block: int, place: int, dirty: bool) -> None:
        """A block of the origin is at this place from now on."""
        self.forget(block)
        bucket = place // self._blocks
        self._place[block] = place * _GENERATIONS + self._generation[bucket]
        if dirty:
            self.dirty[block] = None
            self._dirty_in[bucket] += 1
            self._marked[bucket] = 1

    def forget(self, block: int) -> None:
        """A block is not cached any more."""
        self.clean(block)
        self._place.pop(block, None)
        if self._pieces:
            self._left_pieces.add(block)

    def clean(self, block: int) -> None:
        """A block is the same on the origin."""
        if block in self.dirty:
            del self.dirty[block]
            place = self.find(block)
            self._dirty_in[place // self._blocks] -= 1

    def fill(self, pieces: list[int], blocks: int) -> None:
        """Have pieces of `blocks` blocks of the origin in the cache from the start, the last ones used last.

        A piece is kept as one key, whose blocks leave it one by one: a warm cache may have a hundred million blocks.
        """
        self._piece = blocks
        for piece in pieces:
            if self._left < blocks:
                self.take_bucket()
            place = self.append(blocks)
            self._pieces[piece] = place * _GENERATIONS + self._generation[place // self._blocks]
        self.ready = self.batch
        self.collect_garbage()

    @property
    def in_use(self) -> float:
        """Share of the buckets that are not available (0 to 1)."""
        return 1.0 - self.available / self.count

    @property
    def used_share(self) -> float:
        """Share of the buckets that hold data (0 to 1)."""
        return self._fresh / self.count
