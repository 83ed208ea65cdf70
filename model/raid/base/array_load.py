"""The I/O that an array itself has served and has under way, as the kernel's statistics of its disk count it."""

from __future__ import annotations

from collections.abc import Callable

from ...core.request import Request


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
        request.done = self._counted(request.done)

    def _counted(self, done: Callable[[Request], None]) -> Callable[[Request], None]:
        def over(request: Request) -> None:
            self.under_way -= 1
            self.completed_bytes += request.size
            done(request)

        return over
