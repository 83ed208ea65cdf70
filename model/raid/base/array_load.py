"""The I/O that an array itself has served and has under way, as the kernel's statistics of its disk count it."""

from __future__ import annotations

from ...core.request import Completion, Request


class ArrayLoad:
    """Counts of an array's own I/O, resync excluded.

    Attributes
    ----------
    under_way
        I/Os that are not complete.
    completed_bytes
        Bytes of those that are.
    """

    __slots__ = ("completed_bytes", "under_way")

    def __init__(self) -> None:
        self.under_way = self.completed_bytes = 0

    def add(self, request: Request) -> None:
        """The array is given an I/O."""
        self.under_way += 1
        request.completion = _Counted(self, request.completion)


class _Counted(Completion):
    """Of an I/O that an array counts."""

    __slots__ = ("_load", "_then")

    def __init__(self, load: ArrayLoad, then: Completion) -> None:
        self._load = load
        self._then = then

    def done(self, request: Request) -> None:
        """Count it, and pass that on."""
        load = self._load
        load.under_way -= 1
        load.completed_bytes += request.size
        self._then.done(request)


class UnderWay(Completion):
    """Of a request that counts as under way at a member until it is complete.

    Parameters
    ----------
    counts
        Bytes under way, by member.
    slot, then
        The member, and what else is told.
    """

    __slots__ = ("_counts", "_slot", "_then")

    def __init__(self, counts: list[int], slot: int, then: Completion) -> None:
        self._counts = counts
        self._slot = slot
        self._then = then

    def done(self, request: Request) -> None:
        """Count it, and pass that on."""
        self._counts[self._slot] -= request.size
        self._then.done(request)
