"""What every read-balance policy is: it sees the reads and writes of an array begin and end, and picks copies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, ClassVar, Final, Self

from mypy_extensions import mypyc_attr

from ...core.request import READ, Request
from .options import BalanceOptions, Mirrors

SECTOR: Final = 512


@mypyc_attr(allow_interpreted_subclasses=True)
class ReadBalance:
    """Chooses among the mirrors that hold the data.

    A policy overrides :meth:`choose` and has a name; one that cuts a read into parts for several mirrors overrides
    :meth:`divide` too. What a scenario may set of it are the fields of a class of its own, :attr:`Options`, which its
    :meth:`for_members` is given. A module of this package that defines one is all that it takes.

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
    only_mirrors
        How many mirrors it works on; 0: any number.
    knows_write_mostly
        Whether it spares write-mostly members.
    as_disk
        Whether its driver shows the array as a disk, so that a request above the largest one is cut before it.
    marks_clean
        Whether its driver marks an array clean and dirty in superblocks.
    Options
        What a scenario may set.
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
    only_mirrors: ClassVar[int] = 0
    knows_write_mostly: ClassVar[bool] = False
    as_disk: ClassVar[bool] = False
    marks_clean: ClassVar[bool] = True
    Options: ClassVar[type[BalanceOptions]] = BalanceOptions

    def __init__(self, mirrors: int) -> None:
        self.head = [0] * mirrors
        self.pending = [0] * mirrors
        self.last = 0
        self.in_sync_below: float = inf

    @classmethod
    def for_members(cls, mirrors: Mirrors, options: Any) -> Self:
        """The policy for an array, or for one mirror of a stripe over mirrors.

        Parameters
        ----------
        mirrors
            What it reads from; most policies look at their number only.
        options
            An :attr:`Options` of the class.
        """
        return cls(len(mirrors.names))

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
