"""A file as the page cache sees it: its pages in memory, and where its bytes lie on the device.

The block device underneath a file system is such a file too, with every byte at its own address: through it file
systems read and write their metadata.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from math import inf

from mypy_extensions import mypyc_attr

from ..core.extents import ExtentSet
from ..readahead import PageMarks


@mypyc_attr(acyclic=True)
class ExtentMap:
    """Where the bytes of a file are: runs of file bytes at device addresses, in file order and without holes.

    Most files are one run, which is one number: the lists are made for the second one.

    Attributes
    ----------
    size
        Bytes that have a place.
    """

    __slots__ = ("_devices", "_first", "_starts", "size")

    def __init__(self) -> None:
        self._first = -1
        self._starts: list[int] | None = None
        self._devices: list[int] | None = None
        self.size = 0

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._starts) if self._starts is not None else 1 if self._first >= 0 else 0

    @property
    def end_address(self) -> int:
        """Device address behind the last run; -1 for a file without a place."""
        starts, devices = self._starts, self._devices
        if starts is not None and devices is not None:
            return devices[-1] + self.size - starts[-1]
        return self._first + self.size if self._first >= 0 else -1

    def append(self, address: int, size: int) -> None:
        """The next `size` bytes of the file lie at device `address`."""
        if self._first < 0:
            self._first = address
        elif address != self.end_address:
            starts, devices = self._starts, self._devices
            if starts is None or devices is None:
                starts, devices = self._starts, self._devices = [0], [self._first]
            starts.append(self.size)
            devices.append(address)
        self.size += size

    def pieces(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """[start, end) of the file as (file position, device address, bytes); only what has a place."""
        if end > self.size:
            end = self.size
        if start >= end:
            return []
        starts, devices = self._starts, self._devices
        if starts is None or devices is None:
            return [(start, self._first + start, end - start)]
        found = []
        i = bisect_right(starts, start) - 1
        while start < end:
            stop = end
            if i + 1 < len(starts) and starts[i + 1] < end:
                stop = starts[i + 1]
            found.append((start, devices[i] + start - starts[i], stop - start))
            start = stop
            i += 1
        return found

    def runs(self) -> Iterator[tuple[int, int]]:
        """All runs as (device address, bytes)."""
        return iter([(address, size) for _, address, size in self.pieces(0, self.size)])


class PagedFile:
    """The pages of a file in memory, and its place on the device. The sets of pages are made when first asked for.

    Attributes
    ----------
    name
        For messages.
    size
        Bytes of the file.
    extents
        Where they are.
    writing_bytes
        Under write-back.
    listed_runs
        Runs of it on the lists of the page memory.
    losses
        How often pages of it have left memory or the active list, or have to be used again.
    dirtied_at
        When it last became dirty (s); meaningless while it is clean.
    cursor
        Where the next write-back of it goes on.
    atime_due_s
        From when on reading it changes its access time; infinite where none is kept.
    """

    __slots__ = (
        "_active",
        "_cached",
        "_dirty",
        "_marks",
        "_once",
        "_pending",
        "atime_due_s",
        "cursor",
        "dirtied_at",
        "extents",
        "listed_runs",
        "losses",
        "name",
        "size",
        "writing_bytes",
    )

    def __init__(self, name: str, size: int = 0) -> None:
        self.name = name
        self.size = size
        self.extents = ExtentMap()
        self.listed_runs = self.losses = 0
        self.writing_bytes = 0
        self.dirtied_at = 0.0
        self.cursor = 0
        self.atime_due_s = inf
        self._active: ExtentSet | None = None
        self._cached: ExtentSet | None = None
        self._dirty: ExtentSet | None = None
        self._marks: PageMarks | None = None
        self._once: ExtentSet | None = None
        self._pending: ExtentSet | None = None

    # Most files of a large tree are never in memory, and have no sets.

    @property
    def active(self) -> ExtentSet:
        """Bytes in memory that are on the active list."""
        found = self._active
        if found is None:
            found = self._active = ExtentSet()
        return found

    @property
    def cached(self) -> ExtentSet:
        """Bytes in memory."""
        found = self._cached
        if found is None:
            found = self._cached = ExtentSet()
        return found

    @property
    def dirty(self) -> ExtentSet:
        """Bytes that are newer than on the device."""
        found = self._dirty
        if found is None:
            found = self._dirty = ExtentSet()
        return found

    @property
    def marks(self) -> PageMarks:
        """Of read-ahead."""
        found = self._marks
        if found is None:
            found = self._marks = PageMarks()
        return found

    def forget_marks(self, start: int, end: int) -> None:
        """The pages of [start, end) are no longer held, so the marks of read-ahead on them are gone."""
        if self._marks is not None:
            self._marks.forget(start, end)

    @property
    def once(self) -> ExtentSet:
        """Bytes in memory that were used since they came to their list."""
        found = self._once
        if found is None:
            found = self._once = ExtentSet()
        return found

    @property
    def pending(self) -> ExtentSet:
        """Bytes that are being read."""
        found = self._pending
        if found is None:
            found = self._pending = ExtentSet()
        return found

    def held_until(self, position: int) -> int:
        """See :meth:`~raidsim.model.readahead.HeldPages.held_until`."""
        cached, pending = self.cached.run_from, self.pending.run_from
        while (further := max(cached(position), pending(position))) > position:
            position = further
        return position

    def held_since(self, position: int) -> int:
        """See :meth:`~raidsim.model.readahead.HeldPages.held_since`."""
        cached, pending = self.cached.run_to, self.pending.run_to
        while (further := min(cached(position), pending(position))) < position:
            position = further
        return position

    def place(self, end: int) -> None:
        """Give all bytes before `end` a place; for file systems that allocate when data is written back."""
        raise AssertionError(f"{self.name}: {end} bytes, of which only {self.extents.size} have a place")


def device_file(name: str, capacity: int) -> PagedFile:
    """A block device as a file."""
    file = PagedFile(name, capacity)
    file.extents.append(0, capacity)
    return file
