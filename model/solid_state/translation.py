"""The flash translation layer: what the host writes, deallocates and finds again.

The map knows single units and, of large writes, chunks of them as one; :mod:`.superblocks` has what becomes of the
places that are overwritten. Units written to cells with one bit stand in a log of their own, from which the oldest
are moved (folded) to the open superblock.

What is written in order, in large writes or in small ones, is striped over the dies (see :mod:`.placement`).

Limits: small writes of several streams at a time are not recognized as written in order, nor are those to cells with
one bit; memory grows with what is written to a drive that began empty or filled in order.

Sources: Agrawal et al., USENIX ATC 2008; NVM Express command set specification 1.0, "Dataset Management" (deallocate).
"""

from __future__ import annotations

import itertools
from collections import deque

from ..core.extents import ExtentSet
from .superblocks import RESERVE, Superblock, Superblocks

MOST_TRACKED = 500_000
"""Units known one by one, at most; beyond it the oldest become anonymous."""


class Translation(Superblocks):
    """The map of a drive; see :class:`.superblocks.Superblocks` for its parameters.

    Attributes
    ----------
    cache, cache_log, cached_units
        The cells that are written with one bit, what they hold in order, and how many units that takes.
    """

    __slots__ = ("_cached_before", "cache", "cache_log", "cached_units")

    def __init__(self, superblocks: int, superblock_units: int, units: int, chunk_units: int, state: str) -> None:
        super().__init__(superblocks, superblock_units, units, chunk_units, state)
        self.cache = Superblock()
        self.cache_log: deque[int] = deque()
        self.cached_units = 0
        self._cached_before = 0  # of these, those that were written before the run; they are folded first

    @property
    def valid(self) -> int:
        """Units that hold data, also in the cells with one bit."""
        return super().valid + self.cache.tracked + self._cached_before

    def fill_cache(self, start: int, end: int) -> None:
        """The units [start, end) have been written to cells with one bit before the run, after everything else."""
        if start >= end:
            return
        for a, b, unmapped in list(self.unmapped.parts(start, end)):
            if not unmapped:
                self._lose(a, b)
        self.unmapped.remove(start, end)
        self._cached_before += end - start
        self.cached_units += end - start

    def write(self, unit: int) -> None:
        """The host writes a unit."""
        units = self.units
        holder = units.get(unit)
        if holder is not None:
            holder.tracked -= 1
        elif self.chunks or self._in_order or self.unmapped.total:
            self._invalidate(unit)
        else:
            self._anonymous -= 1
        block = self._open
        units[unit] = block
        block.tracked += 1
        log = block.log
        log.append(unit)
        size = self.chunk_units
        if not (unit + 1) % size and size <= len(log) and log[-size] == unit + 1 - size:
            self._join(block, unit + 1 - size)
        self._account(1)
        if len(units) > MOST_TRACKED and not self.unmapped and not self._in_order:
            self._forget()

    def write_chunk(self, chunk: int) -> None:
        """The host writes all units of a chunk at once."""
        self._invalidate_chunk(chunk)
        block = self._open
        self.chunks[chunk] = block
        block.tracked += self.chunk_units
        block.log.append(~chunk)
        self._account(self.chunk_units)

    def _join(self, block: Superblock, first: int) -> None:
        """The units of a chunk may have been written one after another: then they are known as one from now on."""
        size = self.chunk_units
        if block.log[-size:] == list(range(first, first + size)):
            del block.log[-size:]
            block.log.append(~(first // size))
            self.chunks[first // size] = block
            for unit in range(first, first + size):
                del self.units[unit]

    def _account(self, units: int) -> None:
        self._filled += units
        if self._victim is not None:
            self._owed += self._pace * units
        if self._filled >= self._superblock_units:
            self._open_next()

    def cache_write(self, unit: int) -> None:
        """The host writes a unit to the cells with one bit."""
        holder = self.units.get(unit)
        if holder is not None:
            holder.tracked -= 1
        else:
            self._invalidate(unit)
        self.units[unit] = self.cache
        self.cache.tracked += 1
        self.cache_log.append(unit)
        self.cached_units += 1

    def cache_write_chunk(self, chunk: int) -> None:
        """The host writes a chunk to the cells with one bit."""
        self._invalidate_chunk(chunk)
        self.chunks[chunk] = self.cache
        self.cache.tracked += self.chunk_units
        self.cache_log.append(~chunk)
        self.cached_units += self.chunk_units

    def fold(self, units: int) -> int:
        """Move the oldest `units` out of the cells with one bit; how many of them were still valid."""
        moved = 0
        log, cache = self.cache_log, self.cache
        target = max(0, self.cached_units - units)
        while self._cached_before and self.cached_units > target:
            here = min(self._cached_before, self.cached_units - target, max(1, self._superblock_units - self._filled))
            share = here / self.scale
            self._cached_before -= here
            self.cached_units -= here
            self._anonymous += here
            self._weight += share
            self._open.anonymous += share
            self._filled += here
            moved += here
            if self._victim is not None:
                self._owed += self._pace * here
            if self._filled >= self._superblock_units:
                self._open_next()
        while log and self.cached_units > target:
            entry = log.popleft()
            self.cached_units -= 1 if entry >= 0 else self.chunk_units
            valid = self._move(entry, cache)
            moved += valid
            if self._victim is not None:
                self._owed += self._pace * valid
            if self._filled >= self._superblock_units:
                self._open_next()
        return moved

    def waste(self, units: int) -> None:
        """Pages of as many units are programmed without data."""
        self._account(units)

    def is_unmapped(self, unit: int) -> bool:
        """Whether a unit that is not tracked holds no data."""
        return self.unmapped.run_from(unit) > unit

    def trim(self, start: int, end: int) -> None:
        """The host deallocates the units [start, end)."""
        units, chunk_units = self.units, self.chunk_units
        first, last = start // chunk_units, (end - 1) // chunk_units
        chunks: list[int] | range = range(first, last + 1)
        if last - first > len(self.chunks):
            chunks = [chunk for chunk in self.chunks if first <= chunk <= last]
        for chunk in chunks:
            holder = self.chunks.get(chunk)
            if holder is None:
                continue
            del self.chunks[chunk]
            for unit in range(chunk * chunk_units, (chunk + 1) * chunk_units):
                if unit not in units:
                    units[unit] = holder
                    holder.log.append(unit)
                    if holder is self.cache:
                        self.cache_log.append(unit)
                        self.cached_units += 1
        touched = range(start, end) if end - start < len(units) else sorted(u for u in units if start <= u < end)
        tracked = ExtentSet()
        for unit in touched:
            holder = units.pop(unit, None)
            if holder is not None:
                holder.tracked -= 1
                tracked.add(unit, unit + 1)
        for a, b, inside in self.unmapped.parts(start, end):
            if not inside:
                for low, high, was_tracked in tracked.parts(a, b):
                    if not was_tracked:
                        self._lose(low, high)
        self.unmapped.add(start, end)

    def _invalidate(self, unit: int) -> None:
        """What an untracked unit held is no longer valid."""
        holder = self.chunks.get(unit // self.chunk_units)
        if holder is not None:
            holder.tracked -= 1
        elif not self.unmapped or not self.is_unmapped(unit):
            self._lose(unit, unit + 1)

    def _invalidate_chunk(self, chunk: int) -> None:
        units, size = self.units, self.chunk_units
        start = chunk * size
        holder = self.chunks.get(chunk)
        if holder is None and not units:
            if not self.unmapped:
                self._lose(start, start + size)
            else:
                for a, b, inside in self.unmapped.parts(start, start + size):
                    if not inside:
                        self._lose(a, b)
            return
        for unit in range(start, start + size):
            own = units.pop(unit, None)
            if own is not None:
                own.tracked -= 1
            elif holder is not None:
                holder.tracked -= 1
            elif not self.is_unmapped(unit):
                self._lose(unit, unit + 1)

    def _lose(self, start: int, end: int) -> None:
        """Units [start, end) that are not tracked and held data are no longer valid."""
        if self._in_order:
            size = self._superblock_units
            while start < end:
                stop = min(end, (start // size + 1) * size)
                block = self._in_order[start // size]
                if block is None:
                    self._anonymous -= stop - start
                else:
                    block.in_order -= stop - start
                start = stop
        else:
            self._anonymous -= end - start

    def _forget(self) -> None:
        """The oldest of the tracked units become anonymous."""
        share = 1 / self.scale
        for unit in list(itertools.islice(self.units, len(self.units) // 4)):
            block = self.units.pop(unit)
            if unit // self.chunk_units in self.chunks or block is self.cache:
                self.units[unit] = block
                continue
            block.tracked -= 1
            block.anonymous += share
            self._anonymous += 1
            self._weight += share


class InPlace(Translation):
    """The map of a drive whose memory is overwritten in place: 3D XPoint, DRAM, or none (a null block device).

    Such memory has no erase blocks, so there is no spare flash, no garbage collection and no write amplification. The
    map only knows which units hold data. Wear levelling of 3D XPoint is not simulated.

    Sources: AnandTech, "The Intel Optane SSD DC P4800X Review" (2017): 3D XPoint is read and written by the word, not
    by the page; Linux Documentation/block/null_blk.rst.

    Parameters
    ----------
    units
        Mapping units that the host sees.
    chunk_units
        Units that are written as one in a large write.
    state
        "fresh": no unit holds data. Any other state: every unit does.
    """

    __slots__ = ("_units",)

    def __init__(self, units: int, chunk_units: int, state: str) -> None:
        # One superblock of everything, besides those that collection would keep erased: it is never full.
        super().__init__(RESERVE + 2, units, units, chunk_units, "fresh")
        self._units = units
        if state != "fresh":
            self.unmapped.remove(0, units)

    @property
    def valid(self) -> int:
        """Units that hold data."""
        return self._units - self.unmapped.total

    def write(self, unit: int) -> None:
        """The host writes a unit."""
        if self.unmapped.total:
            self.unmapped.remove(unit, unit + 1)

    def write_chunk(self, chunk: int) -> None:
        """The host writes all units of a chunk at once."""
        size = self.chunk_units
        if self.unmapped.total:
            self.unmapped.remove(chunk * size, (chunk + 1) * size)

    def trim(self, start: int, end: int) -> None:
        """The host deallocates the units [start, end)."""
        self.unmapped.add(start, end)

    def waste(self, units: int) -> None:
        """A program of fewer units than a die takes at once: the rest of the memory is not touched."""
