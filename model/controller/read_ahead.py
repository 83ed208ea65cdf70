"""The read cache of a RAID controller, and the readers it reads ahead for.

"Adaptive" read-ahead begins when the most recent reads were sequential and then keeps whole stripes coming
(LSI MegaRAID SAS Software User Guide, "Read Policy": on if the two most recent accesses were to sequential sectors).
The cache holds what was read, stripe by stripe; the stripe used longest ago goes first.
"""

from __future__ import annotations

from collections import OrderedDict

from ..core.extents import ExtentSet
from .cache import WriteCache
from .stages import Waiter


def uncovered(sets: list[ExtentSet], low: int, high: int) -> tuple[int, int] | None:
    """From the first to the last byte of [low, high) that is in none of the sets, or None if there is none."""
    known = [extents for extents in sets if extents]
    if not known:
        return (low, high) if low < high else None
    first = -1
    last = position = low
    while position < high:
        reach, begins = position, high
        for extents in known:
            reach = max(reach, extents.run_from(position))
        if reach > position:
            position = reach
            continue
        if first < 0:
            first = position
        for extents in known:
            start = extents.next_start(position)
            if start is not None and start < begins:
                begins = start
        last = position = begins
    return None if first < 0 else (first, last)


class Arrival:
    """Data on its way from the array into the cache."""

    __slots__ = ("end", "start", "waiters")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.waiters: list[Waiter] = []


class _Line:
    """What the cache has of one row, and what is on its way."""

    __slots__ = ("arrivals", "coming", "present")

    def __init__(self) -> None:
        self.present = ExtentSet()
        self.coming = ExtentSet()
        self.arrivals: list[Arrival] = []


class ReadCache:
    """Clean data by row, the least recently used row given up first.

    Parameters
    ----------
    capacity_bytes
        Memory for it.
    row_bytes
        Data bytes of a row.
    """

    __slots__ = ("_lines", "_row_bytes", "capacity_bytes", "used_bytes")

    def __init__(self, capacity_bytes: int, row_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self._row_bytes = row_bytes
        self._lines: OrderedDict[int, _Line] = OrderedDict()
        self.used_bytes = 0

    def sets(self, row: int, coming: bool) -> list[ExtentSet]:
        """What is there of a row, and with `coming` what will be."""
        line = self._lines.get(row)
        if line is None:
            return []
        self._lines.move_to_end(row)
        return [line.present, line.coming] if coming else [line.present]

    def arrivals(self, row: int, low: int, high: int) -> list[Arrival]:
        """What of [low, high) in a row is on its way."""
        line = self._lines.get(row)
        if line is None:
            return []
        return [arrival for arrival in line.arrivals if arrival.start < high and arrival.end > low]

    def expect(self, start: int, end: int) -> Arrival | None:
        """Reserve room for [start, end) of one row, none of which is here or coming; None if there is no room."""
        if not self._make_room(end - start):
            return None
        line = self._line(start // self._row_bytes)
        self.used_bytes += line.coming.add(start, end)
        arrival = Arrival(start, end)
        line.arrivals.append(arrival)
        return arrival

    def arrived(self, arrival: Arrival) -> None:
        """The data is here; whoever waited for it goes on."""
        line = self._line(arrival.start // self._row_bytes)
        line.arrivals.remove(arrival)
        self.used_bytes -= line.coming.remove(arrival.start, arrival.end)
        self.used_bytes += line.present.add(arrival.start, arrival.end)
        for waiter in arrival.waiters:
            waiter.part()

    def keep(self, start: int, end: int) -> None:
        """Keep data that was read on demand, as far as it fits."""
        while start < end:
            border = min(end, (start // self._row_bytes + 1) * self._row_bytes)
            if self._make_room(border - start):
                self.used_bytes += self._line(start // self._row_bytes).present.add(start, border)
            start = border

    def forget(self, start: int, end: int) -> None:
        """[start, end) is being overwritten."""
        if not self._lines:
            return
        for row in range(start // self._row_bytes, (end - 1) // self._row_bytes + 1):
            line = self._lines.get(row)
            if line is not None:
                self.used_bytes -= line.present.remove(start, end)

    def _line(self, row: int) -> _Line:
        line = self._lines.get(row)
        if line is None:
            line = self._lines[row] = _Line()
        else:
            self._lines.move_to_end(row)
        return line

    def _make_room(self, size: int) -> bool:
        """Give up rows until `size` bytes fit; rows with data on its way stay."""
        if size > self.capacity_bytes:
            return False
        lines, awaited = self._lines, []
        while lines and self.used_bytes + size > self.capacity_bytes:
            row, line = lines.popitem(last=False)
            if line.arrivals:
                awaited.append((row, line))
            else:
                self.used_bytes -= line.present.total
        for row, line in reversed(awaited):
            lines[row] = line
            lines.move_to_end(row, last=False)
        return self.used_bytes + size <= self.capacity_bytes


class SequentialReader:
    """A reader whose reads follow one another.

    Attributes
    ----------
    reads
        How many in a row.
    ahead
        Where reading ahead has got to (bytes).
    """

    __slots__ = ("ahead", "reads")

    def __init__(self) -> None:
        self.reads = 0
        self.ahead = 0


class SequentialReaders:
    """The last few readers, known by where their next read would be.

    Parameters
    ----------
    most
        How many are remembered.
    """

    __slots__ = ("_expected", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._expected: OrderedDict[int, SequentialReader] = OrderedDict()

    def read(self, start: int, end: int) -> SequentialReader:
        """The reader that reads [start, end)."""
        expected = self._expected
        reader = expected.pop(start, None)
        if reader is None:
            reader = SequentialReader()
            if len(expected) >= self._most:
                expected.popitem(last=False)
        reader.reads += 1
        expected[end] = reader
        return reader


def look_up(
    reads: ReadCache, writes: WriteCache, row_bytes: int, start: int, end: int
) -> tuple[tuple[int, int] | None, list[Arrival]]:
    """What of [start, end) has to be read, from its first to its last byte, and the arrivals to wait for."""
    missing: tuple[int, int] | None = None
    waits: list[Arrival] = []
    while start < end:
        row = start // row_bytes
        border = min(end, (row + 1) * row_bytes)
        hole = uncovered(ready(reads, writes, row, False), start, border)
        if hole is not None:
            awaited = reads.arrivals(row, *hole)
            if awaited:
                waits += awaited
                hole = uncovered(ready(reads, writes, row, True), start, border)
            if hole is not None:
                missing = hole if missing is None else (missing[0], hole[1])
        start = border
    return missing, waits


def ready(reads: ReadCache, writes: WriteCache, row: int, coming: bool) -> list[ExtentSet]:
    """What is in memory of a row: dirty, being written, read; with `coming` also what is on its way."""
    found = reads.sets(row, coming)
    for known in (writes.row(row), writes.flights.get(row)):
        if known is not None:
            found.append(known.extents)
    return found
