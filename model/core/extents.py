"""Sets of byte ranges, kept as sorted disjoint extents (a page cache holds runs of pages, not pages).

:class:`FlatExtentSet` keeps all extents in two lists, so an insertion takes time in proportion to their number.
:class:`ExtentSet` splits lists that grow long, so its time is in proportion to the logarithm of the number.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from .search import left_of, right_of

MOST_EXTENTS = 512
"""An :class:`ExtentSet` splits a flat set that has more extents."""


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


class ExtentSet:
    """A set of bytes as :class:`FlatExtentSet` has it, of any number of extents.

    It holds flat sets of up to `MOST_EXTENTS` extents each, sorted: all extents of one lie below those of the next.

    Attributes
    ----------
    total
        Bytes in the set.
    """

    __slots__ = ("_flat", "_heads", "_only", "total")

    def __init__(self) -> None:
        only = FlatExtentSet()
        self._flat = [only]
        # The flat set if there is only one: most sets are small, and need no search for the flat set of an address.
        self._only: FlatExtentSet | None = only
        # Where the first extent of each flat set starts; not kept for an only one.
        self._heads: list[int] = []
        self.total = 0

    def __bool__(self) -> bool:
        return self.total > 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return chain.from_iterable(self._flat)

    def _at(self, position: int) -> int:
        """Number of the flat set that holds `position` if any does: the last that starts at or before it."""
        number = right_of(self._heads, position) - 1
        return number if number > 0 else 0

    def _split(self, number: int) -> None:
        """Split a flat set that has grown too long."""
        flat = self._flat[number]
        upper = flat.split()
        self._flat.insert(number + 1, upper)
        if self._only is not None:
            self._only = None
            self._heads = [flat.starts[0]]
        self._heads.insert(number + 1, upper.starts[0])

    def _count(self) -> None:
        """There may be only one flat set left, or none."""
        if not self._flat:
            self._flat.append(FlatExtentSet())
        if len(self._flat) == 1:
            self._only = self._flat[0]
            self._heads = []

    def add(self, start: int, end: int) -> int:
        """Add [start, end); returns how many bytes were not in the set before."""
        flat, number = self._only, 0
        if flat is not None:
            new = flat.add(start, end)
        elif start >= end:
            return 0
        else:
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
        self._count()
        return new

    def remove(self, start: int, end: int) -> int:
        """Remove [start, end); returns how many bytes were in the set."""
        only, flat, number, gone = self._only, self._flat, 0, 0
        if only is not None:
            gone = only.remove(start, end)
        elif start < end:
            heads, number = self._heads, self._at(start)
            for each in range(left_of(heads, end) - 1, number - 1, -1):
                block = flat[each]
                gone += block.remove(start, end)
                if block.starts:
                    heads[each] = block.starts[0]
                else:
                    del flat[each], heads[each]
            self._count()
        self.total -= gone
        if number < len(flat) and len(flat[number].starts) > MOST_EXTENTS:
            self._split(number)
        return gone

    def run_from(self, position: int) -> int:
        """End of the extent that holds `position`, or `position` itself if none does."""
        only = self._only
        return only.run_from(position) if only is not None else self._flat[self._at(position)].run_from(position)

    def run_to(self, position: int) -> int:
        """Start of the extent that holds the byte before `position`, or `position` itself if none does."""
        only = self._only
        return only.run_to(position) if only is not None else self._flat[self._at(position - 1)].run_to(position)

    def next_start(self, position: int) -> int | None:
        """Start of the first extent at or after `position`."""
        if self._only is not None:
            return self._only.next_start(position)
        number = self._at(position)
        found = self._flat[number].next_start(position)
        if found is None and number + 1 < len(self._heads):
            return self._heads[number + 1]
        return found

    def parts(self, start: int, end: int) -> list[tuple[int, int, bool]]:
        """[start, end) in order, cut where the set begins and ends: each part, and whether it is in the set."""
        if self._only is not None:
            return self._only.parts(start, end)
        flat, heads, number = self._flat, self._heads, self._at(start)
        parts: list[tuple[int, int, bool]] = []
        while number + 1 < len(heads) and heads[number + 1] < end:
            parts += flat[number].parts(start, heads[number + 1])
            number += 1
            start = heads[number]
        return parts + flat[number].parts(start, end)

    def overlaps(self, start: int, end: int) -> bool:
        """Whether any byte of [start, end) is in the set."""
        if self._only is not None:
            return self._only.overlaps(start, end)
        number = self._at(start)
        if self._flat[number].overlaps(start, end):
            return True
        return number + 1 < len(self._heads) and self._heads[number + 1] < end

    def first(self) -> tuple[int, int]:
        """The lowest extent."""
        return self._flat[0].first()
