"""A logical I/O whose pieces complete one by one."""

from __future__ import annotations

from ...core.request import Request
from ...waits.trail import Mark


class Owner:
    """A logical I/O in pieces, most often a write spread over rows."""

    __slots__ = ("left", "request")

    def __init__(self, request: Request, left: int) -> None:
        self.request = request
        self.left = left

    def done(self, trail: Mark | None = None) -> None:
        """One of the pieces is, whose `trail` the I/O takes if it is the last."""
        self.left -= 1
        if not self.left:
            request = self.request
            if trail is not None:
                request.trail = trail
            request.complete()
