"""A file as the page cache sees it: its pages in memory, and where its bytes lie on the device.

The block device underneath a file system is such a file too, with every byte at its own address: through it file
systems read and write their metadata.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from ..core.extents import ExtentSet
from ..readahead import PageMarks


class ExtentMap:
    """Where the bytes of a file are: runs of file bytes at device addresses, in file order and without holes.

    Attributes
    ----------
    size
        Bytes that have a place.
    """

    __slots__ = ("_devices", "_starts", "size")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._devices: list[int] = []
        self.size = 0

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._starts)

    @property
    def end_address(self) -> int:
        """Device address behind the last run; -1 for a file without a place."""
        return self._devices[-1] + self.size - self._starts[-1] if self._starts else -1

    def append(self, address: int, size: int) -> None:
        """The next `size` bytes of the file lie at device `address`."""
        if self._starts and address == self.end_address:
            self.size += size
            return
        self._starts.append(self.size)
        self._devices.append(address)
        self.size += size

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """[start, end) of the file as (file position, device address, bytes); only what has a place."""
        starts, devices = self._starts, self._devices
        end = min(end, self.size)
        i = bisect_right(starts, start) - 1
        while start < end:
            stop = min(end, starts[i + 1] if i + 1 < len(starts) else end)
            yield start, devices[i] + start - starts[i], stop - start
            start = stop
            i += 1

    def runs(self) -> Iterator[tuple[int, int]]:
        """All runs as (device address, bytes)."""
        for _, address, size in self.pieces(0, self.size):
            yield address, size


_MADE_WHEN_NEEDED = frozenset(("active", "cached", "dirty", "marks", "once", "pending"))


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
    cached, pending, dirty
        Bytes in memory (dirty ones included); being read; newer than on the device.
    writing_bytes
        Under write-back.
    once, active
        Bytes in memory that were used since they came to their list, and those on the active list
        (:mod:`raidsim.model.memory.page_memory`).
    listed_runs
        Runs of it on the lists of the page memory.
    dirtied_at
        When it last became dirty (s); meaningless while it is clean.
    cursor
        Where the next write-back of it goes on.
    marks
        Of read-ahead.
    atime_due_s
        From when on reading it changes its access time; infinite where none is kept.
    """

    __slots__ = (
        "active",
        "atime_due_s",
        "cached",
        "cursor",
        "dirtied_at",
        "dirty",
        "extents",
        "listed_runs",
        "marks",
        "name",
        "once",
        "pending",
        "size",
        "writing_bytes",
    )

    cached: ExtentSet
    pending: ExtentSet
    dirty: ExtentSet
    once: ExtentSet
    active: ExtentSet
    marks: PageMarks

    def __init__(self, name: str, size: int = 0) -> None:
        self.name = name
        self.size = size
        self.extents = ExtentMap()
        self.listed_runs = 0
        self.writing_bytes = 0
        self.dirtied_at = 0.0
        self.cursor = 0
        self.atime_due_s = inf

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            # Python asks only for a slot that is still empty. Most files of a large tree are never in memory.
            if name not in _MADE_WHEN_NEEDED:
                raise AttributeError(f"{type(self).__name__} has no {name!r}")
            made = PageMarks() if name == "marks" else ExtentSet()
            setattr(self, name, made)
            return made

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
