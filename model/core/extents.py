"""Sets of byte ranges, kept as sorted disjoint extents (a page cache holds runs of pages, not pages).

:class:`FlatExtentSet` keeps all extents in two lists, so an insertion takes time in proportion to their number.
:class:`SplitExtentSet` splits lists that grow long, so its time is in proportion to the logarithm of the number.
:class:`ExtentSet` is one of these only while it has, or had, more than one extent.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from mypy_extensions import mypyc_attr

from .search import left_of, right_of

MOST_EXTENTS = 512
"""A :class:`SplitExtentSet` splits a flat set that has more extents."""


@mypyc_attr(acyclic=True)
class FlatExtentSet:
    """A set of bytes as sorted, disjoint, non-touching half-open extents in two lists.

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
        # What the new extent overlaps or touches lies in front of `last`. One search finds it: a second one would read
        # as many numbers from all over the memory again.
        last = right_of(starts, end)
        if not last or ends[last - 1] < start:
            starts.insert(last, start)
            ends.insert(last, end)
            self.total += end - start
            return end - start
        first = last - 1
        if starts[first] <= start and end <= ends[first]:
            return 0
        while first and ends[first - 1] >= start:
            first -= 1
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
        first = right_of(ends, start)
        last = left_of(starts, end)
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
        i = right_of(self.starts, position) - 1
        if i >= 0 and self.ends[i] > position:
            return self.ends[i]
        return position

    def run_to(self, position: int) -> int:
        """Start of the extent that holds the byte before `position`, or `position` itself if none does."""
        i = left_of(self.starts, position) - 1
        if i >= 0 and self.ends[i] >= position:
            return self.starts[i]
        return position

    def next_start(self, position: int) -> int | None:
        """Start of the first extent at or after `position`."""
        i = left_of(self.starts, position)
        return self.starts[i] if i < len(self.starts) else None

    def parts(self, start: int, end: int) -> list[tuple[int, int, bool]]:
        """[start, end) in order, cut where the set begins and ends: each part, and whether it is in the set."""
        if start >= end:
            return []
        starts, ends = self.starts, self.ends
        i = right_of(starts, start)
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
        i = right_of(self.ends, start)
        return i < len(self.starts) and self.starts[i] < end

    def first(self) -> tuple[int, int]:
        """The lowest extent."""
        return self.starts[0], self.ends[0]

    def split(self) -> FlatExtentSet:
        """Move the upper half of the extents to a set of their own; returns that."""
        upper, middle = FlatExtentSet(), len(self.starts) // 2
        upper.starts, upper.ends = self.starts[middle:], self.ends[middle:]
        del self.starts[middle:], self.ends[middle:]
        upper.total = sum(upper.ends) - sum(upper.starts)
        self.total -= upper.total
        return upper


@mypyc_attr(acyclic=True)
class SplitExtentSet:
    """A set of bytes as :class:`FlatExtentSet` has it, of many extents.

    It holds flat sets of up to `MOST_EXTENTS` extents each, sorted: all extents of one lie below those of the next.

    Attributes
    ----------
    total
        Bytes in the set.
    """

    __slots__ = ("_flat", "_heads", "total")

    def __init__(self) -> None:
        self._flat = [FlatExtentSet()]
        # Where the first extent of each flat set starts; of the first one, an address that is not behind that.
        self._heads = [0]
        self.total = 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return chain.from_iterable(self._flat)

    def _at(self, position: int) -> int:
        """Number of the flat set that holds `position` if any does: the last that starts at or before it."""
        heads = self._heads
        if len(heads) == 1:
            return 0
        number = right_of(heads, position) - 1
        return number if number > 0 else 0

    def _split(self, number: int) -> None:
        """Split a flat set that has grown too long."""
        upper = self._flat[number].split()
        self._flat.insert(number + 1, upper)
        self._heads.insert(number + 1, upper.starts[0])

    def add(self, start: int, end: int) -> int:
        """Add [start, end); returns how many bytes were not in the set before."""
        if start >= end:
            return 0
        heads, number = self._heads, self._at(start)
        flat = self._flat[number]
        if number + 1 < len(heads) and heads[number + 1] <= end:
            new = self._add_across(number, start, end)
        else:
            new = flat.add(start, end)
            if start < heads[number]:
                heads[number] = start
        self.total += new
        if len(flat.starts) > MOST_EXTENTS:
            self._split(number)
        return new

    def _add_across(self, first: int, start: int, end: int) -> int:
        """Add what overlaps or touches extents of further flat sets; those become part of an extent of the first."""
        flat, heads, last = self._flat, self._heads, self._at(end)
        top = flat[last]
        end = top.run_from(end)
        moved = sum([between.total for between in flat[first + 1 : last]]) + top.remove(heads[last], end)
        gone = last if top.starts else last + 1
        del flat[first + 1 : gone], heads[first + 1 : gone]
        if top.starts:
            heads[first + 1] = top.starts[0]
        new = flat[first].add(start, end) - moved
        heads[first] = flat[first].starts[0]
        return new

    def remove(self, start: int, end: int) -> int:
        """Remove [start, end); returns how many bytes were in the set."""
        if start >= end:
            return 0
        flat, heads, number, gone = self._flat, self._heads, self._at(start), 0
        for each in range(left_of(heads, end) - 1, number - 1, -1):
            block = flat[each]
            gone += block.remove(start, end)
            if block.starts:
                heads[each] = block.starts[0]
            elif len(flat) > 1:
                del flat[each], heads[each]
        self.total -= gone
        if number < len(flat) and len(flat[number].starts) > MOST_EXTENTS:
            self._split(number)
        return gone

    def run_from(self, position: int) -> int:
        """End of the extent that holds `position`, or `position` itself if none does."""
        return self._flat[self._at(position)].run_from(position)

    def run_to(self, position: int) -> int:
        """Start of the extent that holds the byte before `position`, or `position` itself if none does."""
        return self._flat[self._at(position - 1)].run_to(position)

    def next_start(self, position: int) -> int | None:
        """Start of the first extent at or after `position`."""
        number = self._at(position)
        found = self._flat[number].next_start(position)
        if found is None and number + 1 < len(self._heads):
            return self._heads[number + 1]
        return found

    def parts(self, start: int, end: int) -> list[tuple[int, int, bool]]:
        """[start, end) in order, cut where the set begins and ends: each part, and whether it is in the set."""
        flat, heads, number = self._flat, self._heads, self._at(start)
        parts: list[tuple[int, int, bool]] = []
        while number + 1 < len(heads) and heads[number + 1] < end:
            parts += flat[number].parts(start, heads[number + 1])
            number += 1
            start = heads[number]
        return parts + flat[number].parts(start, end) if parts else flat[number].parts(start, end)

    def overlaps(self, start: int, end: int) -> bool:
        """Whether any byte of [start, end) is in the set."""
        number = self._at(start)
        if self._flat[number].overlaps(start, end):
            return True
        return number + 1 < len(self._heads) and self._heads[number + 1] < end

    def first(self) -> tuple[int, int]:
        """The lowest extent."""
        return self._flat[0].first()


@mypyc_attr(acyclic=True)
class ExtentSet:
    """A set of bytes as :class:`FlatExtentSet` has it, of any number of extents.

    Most sets never have more than one extent: the pages of a small file. That one is kept in two numbers, so such a set
    is one small object. A further extent makes it a :class:`SplitExtentSet`, which it stays until it is empty.
    """

    __slots__ = ("_end", "_many", "_start")

    def __init__(self) -> None:
        self._start = 0
        self._end = 0  # no extent if it is not behind the start
        self._many: SplitExtentSet | None = None

    @property
    def total(self) -> int:
        """Bytes in the set."""
        many = self._many
        return self._end - self._start if many is None else many.total

    def __bool__(self) -> bool:
        return self._many is not None or self._end > self._start

    def __iter__(self) -> Iterator[tuple[int, int]]:
        if self._many is not None:
            return iter(self._many)
        return iter([(self._start, self._end)] if self._end > self._start else [])

    def _spread(self) -> SplitExtentSet:
        """Make room for further extents."""
        many = self._many = SplitExtentSet()
        many.add(self._start, self._end)
        return many

    def add(self, start: int, end: int) -> int:
        """Add [start, end); returns how many bytes were not in the set before."""
        many = self._many
        if many is not None:
            return many.add(start, end)
        if start >= end:
            return 0
        low, high = self._start, self._end
        if low == high:
            self._start, self._end = start, end
            return end - start
        if start > high or end < low:
            return self._spread().add(start, end)
        if start < low:
            self._start = start
        if end > high:
            self._end = end
        return self._end - self._start - (high - low)

    def remove(self, start: int, end: int) -> int:
        """Remove [start, end); returns how many bytes were in the set."""
        many = self._many
        if many is None:
            low, high = self._start, self._end
            if start >= end or start >= high or end <= low:
                return 0
            if start > low and end < high:
                many = self._spread()
            elif start > low:
                self._end = start
                return high - start
            elif end < high:
                self._start = end
                return end - low
            else:
                self._start = self._end = 0
                return high - low
        gone = many.remove(start, end)
        if not many.total:
            self._many = None
            self._start = self._end = 0
        return gone

    def run_from(self, position: int) -> int:
        """End of the extent that holds `position`, or `position` itself if none does."""
        many = self._many
        if many is not None:
            return many.run_from(position)
        return self._end if self._start <= position < self._end else position

    def run_to(self, position: int) -> int:
        """Start of the extent that holds the byte before `position`, or `position` itself if none does."""
        many = self._many
        if many is not None:
            return many.run_to(position)
        return self._start if self._start < position <= self._end else position

    def next_start(self, position: int) -> int | None:
        """Start of the first extent at or after `position`."""
        many = self._many
        if many is not None:
            return many.next_start(position)
        return self._start if position <= self._start < self._end else None

    def parts(self, start: int, end: int) -> list[tuple[int, int, bool]]:
        """[start, end) in order, cut where the set begins and ends: each part, and whether it is in the set."""
        many = self._many
        if many is not None:
            return many.parts(start, end)
        if start >= end:
            return []
        low, high = self._start, self._end
        if low == high or high <= start or low >= end:
            return [(start, end, False)]
        if low <= start and high >= end:
            return [(start, end, True)]
        parts = []
        if low > start:
            parts.append((start, low, False))
            start = low
        if high >= end:
            parts.append((start, end, True))
            return parts
        parts.append((start, high, True))
        parts.append((high, end, False))
        return parts

    def overlaps(self, start: int, end: int) -> bool:
        """Whether any byte of [start, end) is in the set."""
        many = self._many
        if many is not None:
            return many.overlaps(start, end)
        low, high = self._start, self._end
        return low < high and high > start and low < end

    def first(self) -> tuple[int, int]:
        """The lowest extent."""
        return (self._start, self._end) if self._many is None else self._many.first()
