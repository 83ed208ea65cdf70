"""Read-ahead of the page cache, by kernel generation.

All generations keep one window being read by the program and one ahead of it; they differ in how the
window grows and in what makes them submit the next one.

* 2.4 (mm/filemap.c, generic_file_readahead): the window doubles from 3 pages to max_readahead (31 pages;
  for md RAID 5 data disks x max(4 chunks, 248 KiB)); the next window goes out when the program touches the
  first page of the newest one.
* 2.6.0-2.6.12 (mm/readahead.c, page_cache_readahead): the window starts at half the maximum and grows by two
  pages per sequential page; until about a dozen pages more than one maximum window have been read in order
  the next window waits for the last page of this one, after that it goes out at the second page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

PAGE = 4096


class ReadAhead(ABC):
    """The read-ahead state of one open file or device.

    Parameters
    ----------
    max_bytes
        Largest window.
    end
        Size of the file or device; nothing is read beyond it.
    """

    __slots__ = ("_end", "_newest", "_previous_start", "_window", "max_bytes")

    def __init__(self, max_bytes: int, end: int) -> None:
        self.max_bytes = max(PAGE, max_bytes)
        self._end = end
        self._window = 0
        self._newest = (-1, -1)
        self._previous_start = -1

    def touch(self, position: int) -> tuple[int, int] | None:
        """The program is about to read the byte at `position`: what to submit now, as [start, end), if anything."""
        start, end = self._newest
        if position == end or (end < 0 and position == 0):
            return self._submit(position)
        if start <= position < end:
            if position >= start + self._trigger():
                return self._submit(end)
            return None
        if self._previous_start <= position < start:
            return None
        self._seek()
        return self._submit(position)

    def next_trigger(self, position: int) -> int:
        """First byte at or after `position` at which :meth:`touch` has to be asked again."""
        start, end = self._newest
        if position < start:
            return min(start + self._trigger(), end)
        trigger = start + self._trigger()
        return trigger if position < trigger <= end else end

    def _submit(self, start: int) -> tuple[int, int] | None:
        if start >= self._end:
            return None
        self._window = self._grown(self._window)
        end = min(self._end, start + self._window)
        self._previous_start = start if self._newest[0] < 0 else self._newest[0]
        self._newest = (start, end)
        return start, end

    def _seek(self) -> None:
        self._window = 0
        self._newest = (-1, -1)

    @abstractmethod
    def _grown(self, window: int) -> int:
        """Size of the window after one of `window` bytes (0: after a seek or at the start)."""

    @abstractmethod
    def _trigger(self) -> int:
        """How far (bytes) into the newest window the program must be for the next to go out."""


class ReadAhead24(ReadAhead):
    """Linux 2.4."""

    __slots__ = ()

    def _grown(self, window: int) -> int:
        return min(self.max_bytes + PAGE, window * 2) if window else min(4 * PAGE, self.max_bytes)

    def _trigger(self) -> int:
        return 0


class ReadAhead26(ReadAhead):
    """Linux 2.6.0 to 2.6.12."""

    __slots__ = ("_in_order",)

    def __init__(self, max_bytes: int, end: int) -> None:
        super().__init__(max_bytes, end)
        self._in_order = 0

    def _seek(self) -> None:
        super()._seek()
        self._in_order = 0

    def _grown(self, window: int) -> int:
        self._in_order += window
        if not window:
            return max(PAGE, self.max_bytes // 2)
        return min(self.max_bytes, window + 2 * PAGE * (window // PAGE))

    def _trigger(self) -> int:
        start, end = self._newest
        if self._in_order + (end - start) > self.max_bytes * 3 // 2:
            return PAGE if end - start > PAGE else 0
        return end - start


READ_AHEAD: dict[str, type[ReadAhead]] = {"2.4": ReadAhead24, "2.6": ReadAhead26}
