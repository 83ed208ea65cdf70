"""Read balance of Linux 2.4's md RAID 1 (raid1.c, raid1_read_balance)."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.request import Request
from .base import SECTOR, ReadBalance


class Md24(ReadBalance):
    """md of Linux 2.4: stay while sequential, move on after 128 sectors at other addresses, else the nearest head.

    It looks through the mirrors downwards from the one before the last used, and leaves that only for a better one.
    2.4 knows no write-mostly members.
    """

    __slots__ = ("_sectors",)
    name = "md-2.4"
    SECTOR_LIMIT = 128

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._sectors = 0

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        mirrors = self._downwards(candidates)
        last, offset = mirrors[0], request.offset
        if self.head[last] == offset:
            slot = last
        elif self._sectors >= self.SECTOR_LIMIT:
            self._sectors = 0
            slot = mirrors[1 % len(mirrors)]
        else:
            slot = self._nearest(offset, mirrors)
        if slot != last:
            self._sectors = 0
        self._sectors += request.size // SECTOR
        self.head[slot] = request.offset + request.size
        return slot

    def ended(self, slot: int, end: int) -> None:
        """2.4 moves the head when it submits, not when the disk is done."""
        self.pending[slot] -= 1
