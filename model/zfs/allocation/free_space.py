"""The free segments of a metaslab, and how one is chosen: first fit from a cursor, or best fit when space is scarce.

Source: module/zfs/metaslab.c (metaslab_df_alloc, metaslab_block_picker, metaslab_block_find).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ...core.search import left_of, right_of

MAX_SEARCH: Final = 16 << 20
"""Bytes that first fit looks ahead of its cursor (metaslab_df_max_search)."""
SCARCE_BYTES: Final = 128 << 10
SCARCE_PART: Final = 25
"""Largest segment, and part of the metaslab that is free (a 25th), below which the best fit is taken
(metaslab_df_alloc_threshold, metaslab_df_free_pct)."""


class FreeSpace:
    """Free segments in a range.

    Parameters
    ----------
    start, size
        The range (bytes).
    free
        Its free segments as (start, end), ascending and apart.

    Attributes
    ----------
    free
        Free bytes.
    """

    __slots__ = ("_cursors", "_ends", "_largest", "_size", "_starts", "free")

    def __init__(self, start: i64, size: i64, free: list[tuple[int, int]]) -> None:
        self._size = size
        self._starts = [first for first, _ in free]
        self._ends = [end for _, end in free]
        # A cursor for each alignment: blocks of one size follow each other.
        self._cursors: dict[int, int] = {}
        self.free: i64 = sum([end - first for first, end in free])
        self._largest: i64 = max([end - first for first, end in free], default=0)

    @property
    def largest(self) -> int:
        """Bytes of the largest free segment, or a little more: it is looked up again when a block does not fit."""
        return self._largest

    def take(self, size: i64) -> i64:
        """Start of `size` free bytes, which are free no more; -1 if no segment is as large."""
        if size > self._largest:
            return -1
        alignment = size & -size
        cursor: i64 = self._cursors.get(alignment, 0)
        index = -1
        if self._largest >= SCARCE_BYTES and self.free >= self._size // SCARCE_PART:
            index = self._first_fit(cursor, size)
        if index < 0:
            index = self._best_fit(size)
            if index < 0:
                return -1
            cursor = self._starts[index]
        place: i64 = max(cursor, self._starts[index])
        self._cut(index, place, place + size)
        self._cursors[alignment] = place + size
        self.free -= size
        return place

    def give_back(self, start: i64, size: i64) -> None:
        """Free a range again."""
        starts, ends, end = self._starts, self._ends, start + size
        index = left_of(starts, start)
        first = start
        if index and ends[index - 1] == start:
            index -= 1
            first = starts[index]
            if index + 1 < len(starts) and starts[index + 1] == end:
                end = ends[index + 1]
                del starts[index + 1], ends[index + 1]
            ends[index] = end
        elif index < len(starts) and starts[index] == end:
            starts[index] = start
            end = ends[index]
        else:
            starts.insert(index, start)
            ends.insert(index, end)
        self.free += size
        self._largest = max(self._largest, end - first)

    def exclude(self, start: i64, size: i64) -> None:
        """What is free of a range is free no more."""
        starts, ends, end = self._starts, self._ends, start + size
        index = max(right_of(starts, start) - 1, 0)
        while index < len(starts) and starts[index] < end:
            first: i64 = max(starts[index], start)
            last: i64 = min(ends[index], end)
            count = len(starts)
            if first < last:
                self._cut(index, first, last)
                self.free -= last - first
            if len(starts) >= count:
                index += 1

    def segments(self) -> list[tuple[int, int]]:
        """The free segments as (start, end), ascending."""
        return list(zip(self._starts, self._ends, strict=True))

    def _first_fit(self, cursor: i64, size: i64) -> i64:
        """Index of the first segment with room behind the cursor and within the search; -1 if there is none."""
        starts, ends = self._starts, self._ends
        index = max(right_of(starts, cursor) - 1, 0)
        limit = cursor + MAX_SEARCH
        if not cursor and starts:
            limit += starts[0]
        while index < len(starts):
            start: i64 = max(starts[index], cursor)
            if start > limit:
                return -1
            if start + size <= ends[index]:
                return index
            index += 1
        return -1

    def _best_fit(self, size: i64) -> i64:
        """Index of the smallest segment that is large enough, the first of several; -1 if there is none."""
        found: i64 = -1
        least: i64 = 0
        largest: i64 = 0
        for index in range(len(self._starts)):
            length: i64 = self._ends[index] - self._starts[index]
            if length >= size and (found < 0 or length < least):
                found, least = index, length
            if length > largest:
                largest = length
        self._largest = largest
        return found

    def _cut(self, index: i64, start: i64, end: i64) -> None:
        starts, ends = self._starts, self._ends
        first, last = starts[index], ends[index]
        if first == start and last == end:
            del starts[index], ends[index]
        elif first == start:
            starts[index] = end
        elif last == end:
            ends[index] = start
        else:
            ends[index] = start
            starts.insert(index + 1, end)
            ends.insert(index + 1, last)
