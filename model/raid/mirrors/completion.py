"""The end of a logical request on mirrors: what the read balance and the barrier have to hear of."""

from __future__ import annotations

from collections.abc import Callable

from ...core.request import Request
from ..read_balance import ReadBalance
from .barrier import ResyncBarrier


class _Parts:
    """The member requests of a logical one."""

    __slots__ = ("_balance", "_barrier", "_left", "_request", "_ticket")

    def __init__(self, request: Request, parts: int, ticket: int, barrier: ResyncBarrier, balance: ReadBalance) -> None:
        self._request = request
        self._left = parts
        self._ticket = ticket
        self._barrier = barrier
        self._balance = balance

    def done(self, child: Request) -> None:
        self._balance.ended(child.parent, child.offset + child.size)
        self._left -= 1
        if not self._left:
            request = self._request
            request.done(request)
            self._barrier.leave(self._ticket)


def part_done(
    request: Request, parts: int, ticket: int, barrier: ResyncBarrier, balance: ReadBalance
) -> Callable[[Request], None]:
    """What each of the `parts` member requests of `request` calls when it is complete.

    A member request has its slot as `parent`. After the last one `request` is complete, and leaves the barrier.
    """
    return _Parts(request, parts, ticket, barrier, balance).done
