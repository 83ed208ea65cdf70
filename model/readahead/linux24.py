"""Read-ahead of Linux 2.4 (mm/filemap.c, generic_file_readahead).

The window doubles from 3 pages to max_readahead (31 pages; for md RAID 5 data disks x max(4 chunks, 248 KiB)); the
next window goes out when the program touches the first page of the newest one.
"""

from __future__ import annotations

from .base import PAGE, TwoWindows


class ReadAhead24(TwoWindows):
    """Linux 2.4."""

    __slots__ = ()

    def _grown(self, window: int) -> int:
        return min(self.max_bytes + PAGE, window * 2) if window else min(4 * PAGE, self.max_bytes)

    def _trigger(self) -> int:
        return 0
