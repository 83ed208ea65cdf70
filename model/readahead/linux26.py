"""Read-ahead of Linux 2.6.0 to 2.6.12 (mm/readahead.c, page_cache_readahead).

The window starts at half the maximum and grows by two pages per sequential page; until about a dozen pages more than
one maximum window have been read in order the next window waits for the last page of this one, after that it goes out
at the second page.
"""

from __future__ import annotations

from typing import ClassVar

from .base import PAGE, TwoWindows


class ReadAhead26(TwoWindows):
    """Linux 2.6.0 to 2.6.12."""

    __slots__ = ("_in_order",)
    name: ClassVar[str] = "2.6"

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
