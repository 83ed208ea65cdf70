"""How RAID 1 chooses the mirror that serves a read: one policy a class.

md of 2.4 and of 2.6 keep a sequential reader on its mirror and otherwise go by head distance (2.6 takes an idle
mirror if it meets one first). Both look through the mirrors downwards from the one before the last used and leave
that only for a better one; see raid1.c, read_balance, of the two kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from .request import READ, Request

SECTOR = 512


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
        """A read or write has been sent to `slot`."""
        self.pending[slot] += 1
        if request.op == READ:
            self.last = slot

    def ended(self, slot: int, end: int) -> None:
        """A read or write that ends at byte `end` has been served by `slot`."""
        self.pending[slot] -= 1
        self.head[slot] = end

    def _downwards(self, candidates: Sequence[int]) -> list[int]:
        """The candidates in md's order: the last used (or the next below it), and on downwards, around the end."""
        last = self.last
        return sorted(candidates, key=lambda slot: (slot > last, -slot))

    def _nearest(self, offset: int, candidates: Sequence[int]) -> int:
        """The candidate whose head is nearest, the first of equals."""
        head = self.head
        return min(candidates, key=lambda slot: abs(head[slot] - offset))


class Md24(ReadBalance):
    """md of Linux 2.4: stay while sequential, move on after 128 sectors elsewhere, else the nearest head."""

    __slots__ = ("_sectors",)
    SECTOR_LIMIT = 128

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._sectors = 0

    def choose(self, request: Request, candidates: Sequence[int]) -> int:
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


class Md26(ReadBalance):
    """md of Linux 2.6: stay while sequential, else the first idle one of the other mirrors, else the nearest head."""

    __slots__ = ("_next_sequential",)

    def __init__(self, mirrors: int) -> None:
        super().__init__(mirrors)
        self._next_sequential = -1

    def choose(self, request: Request, candidates: Sequence[int]) -> int:
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


class PrimaryOnly(ReadBalance):
    """All reads from the first readable mirror."""

    __slots__ = ()

    def choose(self, request: Request, candidates: Sequence[int]) -> int:
        """The first."""
        return candidates[0]


READ_BALANCE: dict[str, type[ReadBalance]] = {"md-2.4": Md24, "md-2.6": Md26, "primary": PrimaryOnly}
