"""How RAID 1 chooses the mirror that serves a read: one policy a class.

md of 2.4 and of 2.6 keep a sequential reader on its mirror and otherwise go by head distance (2.6 prefers an
idle mirror); see raid1.c, read_balance, of the two kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from .request import Request


class ReadBalance(ABC):
    """Chooses among the mirrors that hold the data.

    Parameters
    ----------
    mirrors
        Number of slots.
    """

    __slots__ = ("head", "last", "pending")

    def __init__(self, mirrors: int) -> None:
        self.head = [0] * mirrors
        self.pending = [0] * mirrors
        self.last = 0

    @abstractmethod
    def choose(self, request: Request, candidates: Sequence[int]) -> int:
        """Slot to read from; `candidates` are the readable ones in slot order."""

    def started(self, slot: int, request: Request) -> None:
        """A read has been sent to `slot`."""
        self.pending[slot] += 1
        self.last = slot

    def ended(self, slot: int, end: int) -> None:
        """A read or write that ends at byte `end` has been served by `slot`."""
        self.pending[slot] -= 1
        self.head[slot] = end

    def _nearest(self, offset: int, candidates: Sequence[int]) -> int:
        head = self.head
        return min(candidates, key=lambda slot: (abs(head[slot] - offset), slot))


class Md24(ReadBalance):
    """md of Linux 2.4: stay while sequential, move on after 128 sectors elsewhere, else the nearest head."""

    __slots__ = ("_sectors",)
    SECTOR_LIMIT = 128

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._sectors = 0

    def choose(self, request: Request, candidates: Sequence[int]) -> int:
        """See the class."""
        last = self.last
        if last in candidates and self.head[last] == request.offset:
            slot = last
        elif self._sectors >= self.SECTOR_LIMIT and len(candidates) > 1:
            self._sectors = 0
            later = [s for s in candidates if s > last]
            slot = later[0] if later else candidates[0]
        else:
            slot = self._nearest(request.offset, candidates)
        self._sectors = self._sectors + (request.size >> 9) if slot == last else request.size >> 9
        self.head[slot] = request.offset + request.size
        return slot

    def ended(self, slot: int, end: int) -> None:
        """2.4 moves the head when it submits, not when the disk is done."""
        self.pending[slot] -= 1


class Md26(ReadBalance):
    """md of Linux 2.6: stay while sequential, else the first idle mirror, else the nearest head."""

    __slots__ = ("_next_sequential",)

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._next_sequential = -1

    def choose(self, request: Request, candidates: Sequence[int]) -> int:
        """See the class."""
        last, offset = self.last, request.offset
        if last in candidates and offset in (self._next_sequential, self.head[last]):
            slot = last
        else:
            idle = [s for s in candidates if not self.pending[s]]
            slot = idle[0] if idle else self._nearest(offset, candidates)
        self._next_sequential = offset + request.size
        return slot


class PrimaryOnly(ReadBalance):
    """All reads from the first readable mirror."""

    __slots__ = ()

    def choose(self, request: Request, candidates: Sequence[int]) -> int:
        """The first."""
        return candidates[0]


READ_BALANCE: dict[str, type[ReadBalance]] = {"md-2.4": Md24, "md-2.6": Md26, "primary": PrimaryOnly}
