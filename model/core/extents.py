"""Sets of byte ranges, kept as sorted disjoint extents (a page cache holds runs of pages, not pages)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator


class ExtentSet:
    """A set of bytes as sorted, disjoint, non-touching half-open extents.

    Attributes
    ----------
    starts, ends
        Of the extents, in order.
    total
        Bytes in the set.
    """

    __slots__ = ("ends", "starts", "total")

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.total = 0

    def __bool__(self) -> bool:
        return bool(self.starts)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self.starts, self.ends, strict=True))

    def add(self, start: int, end: int) -> int:
        """Add [start, end); returns how many bytes were not in the set before."""
        starts, ends = self.starts, self.ends
        if ends and ends[-1] == start:
            ends[-1] = end
            self.total += end - start
            return end - start
        if start >= end:
            return 0
        first = bisect_left(ends, start)
        if first < len(ends) and starts[first] <= start and end <= ends[first]:
            return 0
        last = bisect_right(starts, end)
        new = end - start
        if first == last:
            starts.insert(first, start)
            ends.insert(first, end)
            self.total += new
            return new
        if last == first + 1:
            before = ends[first] - starts[first]
            if start < starts[first]:
                starts[first] = start
            if end > ends[first]:
                ends[first] = end
            new = ends[first] - starts[first] - before
            self.total += new
            return new
        start = min(start, starts[first])
        new_end = max(end, ends[last - 1])
        new = (new_end - start) - sum(ends[i] - starts[i] for i in range(first, last))
        starts[first:last] = [start]
        ends[first:last] = [new_end]
        self.total += new
        return new

    def remove(self, start: int, end: int) -> int:
        """Remove [start, end); returns how many bytes were in the set."""
        if start >= end:
            return 0
        starts, ends = self.starts, self.ends
        first = bisect_right(ends, start)
        last = bisect_left(starts, end)
        if first >= last:
            return 0
        if starts[first] == start and ends[first] >= end:
            if ends[first] == end:
                del starts[first], ends[first]
            else:
                starts[first] = end
            self.total -= end - start
            return end - start
        gone = 0
        keep_starts: list[int] = []
        keep_ends: list[int] = []
        for i in range(first, last):
            a, b = starts[i], ends[i]
            gone += min(b, end) - max(a, start)
            if a < start:
                keep_starts.append(a)
                keep_ends.append(start)
            if b > end:
                keep_starts.append(end)
                keep_ends.append(b)
        starts[first:last] = keep_starts
        ends[first:last] = keep_ends
        self.total -= gone
        return gone

    def run_from(self, position: int) -> int:
        """End of the extent that holds `position`, or `position` itself if none does."""
        i = bisect_right(self.starts, position) - 1
        if i >= 0 and self.ends[i] > position:
            return self.ends[i]
        return position

    def run_to(self, position: int) -> int:
        """Start of the extent that holds the byte before `position`, or `position` itself if none does."""
        i = bisect_left(self.starts, position) - 1
        if i >= 0 and self.ends[i] >= position:
            return self.starts[i]
        return position

    def next_start(self, position: int) -> int | None:
        """Start of the first extent at or after `position`."""
        i = bisect_left(self.starts, position)
        return self.starts[i] if i < len(self.starts) else None

    def parts(self, start: int, end: int) -> list[tuple[int, int, bool]]:
        """[start, end) in order, cut where the set begins and ends: each part, and whether it is in the set."""
        if start >= end:
            return []
        starts, ends = self.starts, self.ends
        i = bisect_right(starts, start)
        if i and ends[i - 1] > start:
            i -= 1
            if ends[i] >= end:
                return [(start, end, True)]
        elif i == len(starts) or starts[i] >= end:
            return [(start, end, False)]
        parts = []
        while start < end:
            if i == len(starts) or starts[i] >= end:
                parts.append((start, end, False))
                break
            if starts[i] > start:
                parts.append((start, starts[i], False))
                start = starts[i]
            here = ends[i]
            if here > end:
                here = end
            parts.append((start, here, True))
            start = here
            i += 1
        return parts

    def overlaps(self, start: int, end: int) -> bool:
        """Whether any byte of [start, end) is in the set."""
        i = bisect_right(self.ends, start)
        return i < len(self.starts) and self.starts[i] < end

    def first(self) -> tuple[int, int]:
        """The lowest extent."""
        return self.starts[0], self.ends[0]
