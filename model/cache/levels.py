"""Stacked LRU lists, as smq keeps its blocks: an entry moves up a level when it is hit, and swaps places with another.

The lists go through arrays of integers, so an entry costs no object. Entries from `first_sentinel` on are sentinels:
they mark a place in a level, so that what stands behind one is younger than the time at which it was moved there.
Source: Linux 6.1, drivers/md/dm-cache-policy-smq.c (q_requeue, q_redistribute, q_set_targets).
"""

from __future__ import annotations

from typing import Final

NONE: Final = -1
LEVELS: Final = 64
"""NR_HOTSPOT_LEVELS and NR_CACHE_LEVELS."""


class Entries:
    """Places of entries in the lists of one or several :class:`LevelQueue`.

    Parameters
    ----------
    count
        Entries.
    sentinels
        Further entries that are sentinels.
    """

    __slots__ = ("first_sentinel", "following", "level", "preceding")

    def __init__(self, count: int, sentinels: int = 0) -> None:
        self.first_sentinel = count
        self.level = [0] * (count + sentinels)
        self.following = [NONE] * (count + sentinels)
        self.preceding = [NONE] * (count + sentinels)


class LevelQueue:
    """Lists of entries by level.

    Parameters
    ----------
    entries
        The entries.
    top_levels, in_top_levels
        How many entries the highest levels share; the other levels share the rest.
    """

    __slots__ = ("_counts", "_entries", "_heads", "_in_top", "_tails", "_targets", "_targets_of", "_top", "size")

    def __init__(self, entries: Entries, top_levels: int = 0, in_top_levels: int = 0) -> None:
        self._entries = entries
        self._heads = [NONE] * LEVELS
        self._tails = [NONE] * LEVELS
        self._counts = [0] * LEVELS
        self._targets = [0] * LEVELS
        self._targets_of = 0
        self._top = top_levels
        self._in_top = in_top_levels
        self.size = 0

    def push(self, entry: int) -> None:
        """Put an entry behind the youngest of its level."""
        entries = self._entries
        level = entries.level[entry]
        last = self._tails[level]
        entries.preceding[entry] = last
        entries.following[entry] = NONE
        if last == NONE:
            self._heads[level] = entry
        else:
            entries.following[last] = entry
        self._tails[level] = entry
        self._count(entry, level, 1)

    def push_front(self, entry: int) -> None:
        """Put an entry in front of the oldest of its level."""
        first = self._heads[self._entries.level[entry]]
        if first == NONE:
            self.push(entry)
        else:
            self.push_before(first, entry)

    def push_before(self, place: int, entry: int) -> None:
        """Put an entry in front of another one of its level."""
        entries = self._entries
        level, before = entries.level[entry], entries.preceding[place]
        entries.preceding[entry] = before
        entries.following[entry] = place
        entries.preceding[place] = entry
        if before == NONE:
            self._heads[level] = entry
        else:
            entries.following[before] = entry
        self._count(entry, level, 1)

    def remove(self, entry: int) -> None:
        """Take an entry out."""
        entries = self._entries
        level, before, after = entries.level[entry], entries.preceding[entry], entries.following[entry]
        if before == NONE:
            self._heads[level] = after
        else:
            entries.following[before] = after
        if after == NONE:
            self._tails[level] = before
        else:
            entries.preceding[after] = before
        self._count(entry, level, -1)

    def _count(self, entry: int, level: int, number: int) -> None:
        if entry < self._entries.first_sentinel:
            self.size += number
            self._counts[level] += number

    def peek(self, levels: int, crosses_sentinels: bool) -> int:
        """The oldest entry of the lowest level, in front of the sentinels there unless these are crossed.

        NONE if there is none.
        """
        first_sentinel, following = self._entries.first_sentinel, self._entries.following
        for level in range(levels):
            if not self._counts[level]:
                continue
            entry = self._heads[level]
            while entry != NONE:
                if entry < first_sentinel:
                    return entry
                if not crosses_sentinels:
                    break
                entry = following[entry]
        return NONE

    def requeue(self, entry: int, levels: int, older: int = NONE, younger: int = NONE) -> None:
        """Raise an entry by a number of levels, as the youngest; the oldest there comes down to its level instead.

        Where there are sentinels (`older`, `younger`), that entry comes to stand in front of as many of them as before.
        """
        entries = self._entries
        level = entries.level[entry]
        raised = min(LEVELS - 1, level + levels)
        if levels and level < LEVELS - 1:
            other, passed = self._heads[raised], 0
            while other >= entries.first_sentinel:
                passed += 1
                other = entries.following[other]
            if other != NONE:
                self.remove(other)
                entries.level[other] = level
                if older == NONE or passed > 1:
                    self.push(other)
                else:
                    self.push_before(younger if passed else older, other)
        self.remove(entry)
        entries.level[entry] = raised
        self.push(entry)

    def redistribute(self) -> None:
        """Give each level its share of the entries: it takes the oldest from above, or hands its youngest up."""
        entries = self._entries
        self._set_targets()
        for level in range(LEVELS - 1):
            target = self._targets[level]
            while self._counts[level] < target:
                entry = self._oldest_above(level)
                if entry == NONE:
                    break
                self.remove(entry)
                entries.level[entry] = level
                self.push(entry)
            while self._counts[level] > target:
                entry = self._tails[level]
                while entry >= entries.first_sentinel:
                    entry = entries.preceding[entry]
                self.remove(entry)
                entries.level[entry] = level + 1
                self.push(entry)

    def _oldest_above(self, level: int) -> int:
        entries = self._entries
        for above in range(level + 1, LEVELS):
            if self._counts[above]:
                entry = self._heads[above]
                while entry >= entries.first_sentinel:
                    entry = entries.following[entry]
                return entry
        return NONE

    def _set_targets(self) -> None:
        if self._targets_of == self.size:
            return
        self._targets_of = self.size
        low = LEVELS - self._top
        self._share(self._in_top, low, LEVELS)
        self._share(max(0, self.size - self._in_top), 0, low)

    def _share(self, number: int, begin: int, end: int) -> None:
        if begin == end:
            return
        each, rest = divmod(number, end - begin)
        for level in range(begin, end):
            self._targets[level] = each + (level < begin + rest)
