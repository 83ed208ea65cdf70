"""Read balance of Linux 2.6's md RAID 1 (raid1.c, read_balance, up to 2.6.13)."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.request import Request
from .base import ReadBalance


class Md26(ReadBalance):
    """md of Linux 2.6: stay while sequential, else the first idle one of the other mirrors, else the nearest head.

    It looks through the mirrors downwards from the one before the last used, and leaves that only for a better one.
    Write-mostly members came with 2.6.14.
    """

    __slots__ = ("_next_sequential",)
    name = "md-2.6"

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._next_sequential = -1

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """See the class."""
        last, *others = mirrors = self._downwards(candidates)
        offset = request.offset
        if offset in (self._next_sequential, self.head[last]):
            slot = last
        else:
            idle = [slot for slot in (*others, last) if not self.pending[slot]]
            slot = idle[0] if idle else self._nearest(offset, mirrors)
        self._next_sequential = offset + request.size
        return slot
