"""A logical I/O whose pieces complete one by one."""

from __future__ import annotations

from ...core.request import Request


class Owner:
    """A logical I/O in pieces, most often a write spread over rows."""

    __slots__ = ("left", "request")

    def __init__(self, request: Request, left: int) -> None:
        self.request = request
        self.left = left

    def done(self) -> None:
        """One of the pieces is."""
        self.left -= 1
        if not self.left:
            request = self.request
            request.complete()
