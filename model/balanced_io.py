"""The end of a logical request on mirrors: what the read balance and the barrier have to hear of."""

from __future__ import annotations

from collections.abc import Callable

from .array import Join
from .read_balance import ReadBalance
from .request import Request
from .resync_barrier import ResyncBarrier


def part_done(
    request: Request, parts: int, ticket: int, barrier: ResyncBarrier, balance: ReadBalance
) -> Callable[[Request], None]:
    """What each of the `parts` member requests of `request` calls when it is complete.

    A member request has its slot as `parent`. After the last one `request` is complete, and leaves the barrier.
    """

    def then() -> None:
        request.done(request)
        barrier.leave(ticket)

    join = Join(parts, then)

    def done(child: Request) -> None:
        balance.ended(child.parent, child.offset + child.size)
        join.done(child)

    return done
