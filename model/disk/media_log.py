"""The log of a media cache: its regions on the platters, and the map of the blocks in it.

The log takes the addresses of user data near it. The model stores no data, so this has no effect on times.
Simplified: the space of a block is free as soon as it has been moved; a region is one ring.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from .mechanics.geometry import Geometry
from .segments import DirtyExtents

BLOCK: Final = 4096
"""Bytes of the map's unit: the physical sector of drives with a media cache."""


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How a drive uses its media cache."""

    size: int
    regions: int
    """Bytes of the cache, and the number of equal parts, spread evenly over the disk; the first is at the outer rim."""
    entries: int
    """Writes that the map of the cache holds at most."""
    largest: int
    """Bytes of the largest write that goes to the cache; of a shingled drive those of the largest piece."""
    batch: int
    """Bytes of records that are read at once to be moved home."""
    record_s: float
    """Firmware time (s) from the end of one record to the begin of the next."""
    idle_s: float
    """Time (s) without a command after which the drive moves blocks home."""
    filled: float
    """Share of the cache that older writes, of 4 KiB at random places, take at time 0."""
    band: int = 0
    open_bands: int = 0
    """Bytes of a band of shingled tracks, and bands that are written in order at once; 0: the tracks do not overlap."""


class Entry:
    """A write in the log.

    Attributes
    ----------
    place
        Where it lies in the log (bytes).
    region
        Number of its region.
    first
        Its first block.
    blocks, left
        Its blocks, and those of them that are neither overwritten nor moved home.
    """

    __slots__ = ("blocks", "first", "left", "place", "region")

    def __init__(self, place: int, region: int, first: int, blocks: int) -> None:
        self.place = place
        self.region = region
        self.first = first
        self.blocks = blocks
        self.left = blocks


class Region:
    """A part of the log.

    Attributes
    ----------
    start, size
        Where it begins and how long it is (bytes).
    following
        Where the next record begins.
    used
        Bytes of it that hold blocks not yet moved.
    aged
        Older writes in it, of a block each, which nobody reads: what is left of those at time 0.
    entries
        Its writes, oldest first.
    """

    __slots__ = ("aged", "entries", "following", "size", "start", "used")

    def __init__(self, start: int, size: int, aged: int) -> None:
        self.start = start
        self.size = size
        self.aged = aged
        self.used = aged * BLOCK
        self.following = start + self.used % size
        self.entries: deque[Entry] = deque()


class MediaLog:
    """What is in the media cache of one drive.

    Parameters
    ----------
    settings
        How the drive uses it.
    geometry
        Where addresses lie.
    draw
        Gives the addresses of the older writes.

    Attributes
    ----------
    regions
        Its parts, from the rim inwards.
    moving
        What was read from the log and has not been written home.
    held
        Writes in the log.
    source
        Number of the region that was read from last.
    aged
        Older writes among `moving`.
    logged_bytes
        Bytes of blocks written to the log so far.
    """

    __slots__ = (
        "_draw",
        "_geometry",
        "_known",
        "aged",
        "held",
        "logged_bytes",
        "moving",
        "regions",
        "settings",
        "source",
    )

    def __init__(self, settings: LogSettings, geometry: Geometry, draw: np.random.Generator) -> None:
        self.settings = settings
        self._geometry = geometry
        self._draw = draw
        count = settings.regions
        size = settings.size // count // BLOCK * BLOCK
        aged = int(min(settings.entries / count, size / BLOCK) * settings.filled)
        apart = geometry.capacity // count
        self.regions = [Region(number * apart // BLOCK * BLOCK, size, aged) for number in range(count)]
        self._known: dict[int, Entry] = {}
        self.moving = DirtyExtents()
        self.held = aged * count
        self.source = 0
        self.aged = 0
        self.logged_bytes = 0

    def room(self, size: int) -> bool:
        """Whether a write of `size` bytes fits now."""
        if self.held >= self.settings.entries:
            return False
        size = whole(size)
        return any(region.used + size <= region.size for region in self.regions)

    def takes(self, number: int, size: int) -> bool:
        """Whether a write of `size` bytes fits into a region now."""
        region = self.regions[number]
        return self.held < self.settings.entries and region.used + whole(size) <= region.size

    def nearest(self, size: int, cylinder: int) -> int:
        """Number of the region with room for `size` bytes that is nearest to a cylinder; the emptiest if none has."""
        best, least = -1, 0
        size = whole(size)
        for number, region in enumerate(self.regions):
            if region.used + size <= region.size:
                away = abs(self._geometry.cylinder(region.following) - cylinder)
                if best < 0 or away < least:
                    best, least = number, away
        return best if best >= 0 else min(range(len(self.regions)), key=self._used)

    def _used(self, number: int) -> int:
        return self.regions[number].used

    def entry(self, block: int) -> Entry | None:
        """The write that a block of the disk was last changed by, if it is in the log."""
        return self._known.get(block)

    def has(self, start: int, end: int) -> bool:
        """Whether the log has any block of [start, end)."""
        known = self._known
        if not known:
            return False
        return any(block in known for block in range(start // BLOCK, -(-end // BLOCK)))

    def enter(self, number: int, start: int, end: int) -> None:
        """Note [start, end) as the newest write of a region."""
        self.forget(start, end)
        region = self.regions[number]
        first, beyond = start // BLOCK, -(-end // BLOCK)
        entry = Entry(region.following, number, first, beyond - first)
        for block in range(first, beyond):
            self._known[block] = entry
        size = (beyond - first) * BLOCK
        while region.entries and not region.entries[0].left:
            region.entries.popleft()  # a block that is written again and again leaves nothing behind
        region.entries.append(entry)
        region.used += size
        region.following += size
        if region.following + self.settings.largest > region.start + region.size:
            region.following = region.start
        self.held += 1
        self.logged_bytes += size

    def forget(self, start: int, end: int) -> None:
        """The blocks of [start, end) in the log are out of date."""
        known = self._known
        if not known:
            return
        first, beyond = start // BLOCK, -(-end // BLOCK)
        if beyond - first > len(known):
            stale = [block for block in known if first <= block < beyond]
        else:
            stale = [block for block in range(first, beyond) if block in known]
        for block in stale:
            self._drop(block)
            self.moving.remove(block * BLOCK, (block + 1) * BLOCK)

    def moved(self, start: int, end: int) -> None:
        """The blocks of [start, end), which were read from the log, are home."""
        for block in range(start // BLOCK, end // BLOCK):
            if block in self._known:
                self._drop(block)
            elif self.aged:
                self._drop_aged(1)
        if not self.moving.total:
            self._drop_aged(self.aged)  # those at the address of another one

    def _drop(self, block: int) -> None:
        """Take a block out of the map; its space is free."""
        entry = self._known.pop(block)
        entry.left -= 1
        self.regions[entry.region].used -= BLOCK
        if not entry.left:
            self.held -= 1

    def _drop_aged(self, count: int) -> None:
        """Count the older writes, of those read last, that are home or overwritten."""
        self.aged -= count
        self.held -= count
        self.regions[self.source].used -= count * BLOCK

    def oldest(self) -> int:
        """Address of a block of the oldest write of the fullest region; one of the older writes is dropped."""
        region = self.regions[max(range(len(self.regions)), key=self._used)]
        if region.aged:
            region.aged -= 1
            region.used -= BLOCK
            self.held -= 1
            return int(self._draw.integers(self._geometry.capacity // BLOCK)) * BLOCK
        while True:
            entry = region.entries[0]
            for block in range(entry.first, entry.first + entry.blocks):
                if self._known.get(block) is entry:
                    return block * BLOCK
            region.entries.popleft()

    def load(self) -> tuple[int, int]:
        """Read the oldest records of the fullest region; where in the log they lie, and their bytes."""
        self._drop_aged(self.aged)  # those that have been overwritten since the last ones were read
        self.source = max(range(len(self.regions)), key=self._used)
        region, add = self.regions[self.source], self.moving.add
        place, most = region.start, self.settings.batch // BLOCK
        read = self.aged = min(region.aged, most)
        if read:
            region.aged -= read
            for block in np.sort(self._draw.integers(self._geometry.capacity // BLOCK, size=read)).tolist():
                add(block * BLOCK, (block + 1) * BLOCK)
        else:
            place = region.entries[0].place
        while region.entries and read < most:
            entry = region.entries.popleft()
            read += entry.blocks
            for block in range(entry.first, entry.first + entry.blocks):
                if self._known.get(block) is entry:
                    add(block * BLOCK, (block + 1) * BLOCK)
        size = min(read * BLOCK, region.size)
        return min(place, region.start + region.size - size), size


def whole(size: int) -> int:
    """Bytes of the blocks that `size` bytes take."""
    return -(-size // BLOCK) * BLOCK
