"""What every read-balance policy is: it sees the reads and writes of an array begin and end, and picks copies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import inf
from typing import ClassVar, Self

from ...core.request import READ, Request

SECTOR = 512


class ReadBalance(ABC):
    """Chooses among the mirrors that hold the data.

    A policy overrides :meth:`choose` and has a name; one that cuts a read into parts for several mirrors overrides
    :meth:`divide` too. A module of this package that defines one is all that it takes.

    Parameters
    ----------
    mirrors
        Number of slots.

    Attributes
    ----------
    name
        By which scenarios and kernels ask for it; a class without one of its own is no policy to choose.
    only_raid1
        Whether it cannot work on md's RAID 10, because its driver has none or it needs more than copies of a chunk.
    head
        Byte where each member's head is thought to be.
    pending
        Requests under way at each member.
    last
        Slot of the last read.
    in_sync_below
        Array address up to which the copies are known to be equal; infinite unless the array is being resynced
        after it was assembled dirty.
    """

    __slots__ = ("head", "in_sync_below", "last", "pending")
    name: ClassVar[str] = ""
    only_raid1: ClassVar[bool] = False

    def __init__(self, mirrors: int) -> None:
        self.head = [0] * mirrors
        self.pending = [0] * mirrors
        self.last = 0
        self.in_sync_below: float = inf

    @classmethod
    def for_members(cls, rotational: Sequence[bool], write_mostly: frozenset[int] = frozenset()) -> Self:
        """The policy for an array whose member in slot i is `rotational[i]`; most policies do not look at it.

        Parameters
        ----------
        rotational
            Whether each slot's member is a disk that turns.
        write_mostly
            Slots that are read only if no other holds the data.
        """
        return cls(len(rotational))

    def use_clock(self, clock: Callable[[], float]) -> None:
        """The array gives a policy that measures time a clock (s)."""

    @abstractmethod
    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """Slot to read from.

        Parameters
        ----------
        request
            The read, with the array's address.
        candidates
            The readable slots: in slot order for RAID 1, in the order of the copies (the primary one first) for
            RAID 10.
        offsets
            Byte on the member where each candidate's copy lies; None where it is the request's own (RAID 1).
        """

    def divide(self, request: Request, candidates: Sequence[int]) -> list[tuple[int, int, int]]:
        """(slot, offset, size) of each part of a RAID 1 read: the whole of it from one mirror unless overridden."""
        return [(self.choose(request, candidates), request.offset, request.size)]

    def rebuild_source(self, candidates: Sequence[int]) -> int:
        """Slot that a rebuild copies from: the one last read, or the first."""
        return self.last if self.last in candidates else candidates[0]

    def started(self, slot: int, request: Request) -> None:
        """A read or write has been sent to `slot`."""
        self.pending[slot] += 1
        if request.op == READ:
            self.last = slot

    def ended(self, slot: int, end: int) -> None:
        """A read or write that ends at byte `end` of the member has been served by `slot`."""
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
