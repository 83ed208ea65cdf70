"""dm-writecache's blocks: which block of the origin is where in the cache, which of them are committed, and their age.

Free places are taken in the order of their addresses, around from where the last one was, so that a stream lies in one
piece. A block that is written while its older copy is being written back has two entries. Source: Linux 6.1,
drivers/md/dm-writecache.c (writecache_pop_from_freelist, writecache_find_entry, writecache_add_to_freelist).
"""

from __future__ import annotations

from typing import Final

from ..levels import NONE, Entries, LevelQueue

HEADER: Final = 64
ENTRY: Final = 16
"""Bytes of the superblock, and of an entry of the metadata."""
REGION: Final = 65_536
"""Metadata are written in pieces of this size (BITMAP_GRANULARITY)."""


def places_in(size: int, block: int) -> tuple[int, int]:
    """How many blocks of data a cache of `size` bytes has, and bytes of metadata in front of them."""
    places = size // (block + ENTRY)
    while True:
        metadata = -(-(HEADER + places * ENTRY) // block) * block
        if metadata + places * block <= size:
            return places, metadata
        places -= 1


class WritecacheEntries:
    """The entries.

    Parameters
    ----------
    places
        How many there are.

    Attributes
    ----------
    block_of
        The block of the origin at each place; NONE where it is free.
    free, busy
        Free places, and those that are being written back.
    uncommitted
        Places written since the last commit, oldest first.
    dirty_regions
        Regions of the metadata that are to be written.
    """

    __slots__ = (
        "_ages",
        "_committed",
        "_current",
        "_entries",
        "_free",
        "_newest",
        "_older",
        "block_of",
        "busy",
        "dirty_regions",
        "free",
        "in_progress",
        "uncommitted",
    )

    def __init__(self, places: int) -> None:
        self.block_of = [NONE] * places
        self.free = places
        self.busy = 0
        self.in_progress = bytearray(places)
        self.uncommitted: list[int] = []
        self.dirty_regions: set[int] = set()
        self._committed = bytearray(places)
        self._free = bytearray(b"\1" * places)
        self._current = 0
        self._newest: dict[int, int] = {}
        self._older: dict[int, int] = {}
        self._entries = Entries(places)
        self._ages = LevelQueue(self._entries)

    def find(self, block: int) -> int:
        """Where the newest copy of a block is; NONE if it is not there."""
        return self._newest.get(block, NONE)

    def is_committed(self, place: int) -> bool:
        """Whether the metadata of a place are on the medium."""
        return bool(self._committed[place])

    def take(self, block: int, expected: int = NONE) -> int:
        """Put a block at the next free place, the youngest; NONE if there is none, or it is not the expected one."""
        place = self._current
        if not self.free or (expected != NONE and place != expected):
            return NONE
        self._free[place] = 0
        self.free -= 1
        if self.free:
            following = self._free.find(1, place + 1)
            self._current = following if following >= 0 else self._free.find(1)
        before = self._newest.get(block, NONE)
        if before != NONE:
            self._older[block] = before
        self._newest[block] = place
        self.block_of[place] = block
        self._committed[place] = 0
        self._ages.push(place)
        self.uncommitted.append(place)
        return place

    def release(self, place: int) -> None:
        """Free a place."""
        block = self.block_of[place]
        if self._older.get(block, NONE) == place:
            del self._older[block]
        elif self._newest.get(block, NONE) == place:
            del self._newest[block]
        if self.in_progress[place]:
            self.in_progress[place] = 0
            self.busy -= 1
        else:
            self._ages.remove(place)
        self.block_of[place] = NONE
        self._free[place] = 1
        if not self.free:
            self._current = place
        self.free += 1
        self.note(place)

    def note(self, place: int) -> None:
        """The entry of a place is to be written to the metadata."""
        self.dirty_regions.add((HEADER + place * ENTRY) // REGION)

    def commit(self) -> list[int]:
        """Mark everything as committed; returns the places of older copies that may be freed."""
        stale = []
        for place in self.uncommitted:
            self._committed[place] = 1
            older = self._older.get(self.block_of[place], NONE)
            if older != NONE and not self.in_progress[older]:
                stale.append(older)
        self.uncommitted = []
        return stale

    def oldest(self) -> int:
        """The oldest place that is not being written back; NONE if there is none."""
        return self._ages.peek(1, True)

    def waits(self, place: int) -> bool:
        """Whether the older copy of its block is still being written back."""
        return self._older.get(self.block_of[place], place) != place

    def write_back(self, place: int, most: int) -> int:
        """Begin to write back a place and those that follow it on both devices; how many they are."""
        count = 0
        while count < most:
            at = place + count
            self._ages.remove(at)
            self.in_progress[at] = 1
            self.busy += 1
            count += 1
            block = self.block_of[at] + 1
            following = self._newest.get(block, NONE)
            if following != at + 1 or self.in_progress[following] or not self._committed[following]:
                break
            if self._older.get(block, NONE) != NONE:
                break
        return count

    def postpone(self, place: int) -> None:
        """Look at a place later."""
        self._ages.remove(place)
        self._ages.push(place)
