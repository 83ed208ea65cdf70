"""Completion of a request that was split: its parts are counted down, or its one part completes it."""

from __future__ import annotations

from collections.abc import Callable

from .request import Request


class Join:
    """Counts member requests down and calls `then` after the last."""

    __slots__ = ("left", "then")

    def __init__(self, left: int, then: Callable[[], None]) -> None:
        self.left = left
        self.then = then

    def done(self, _: Request) -> None:
        """One member request is complete."""
        self.left -= 1
        if not self.left:
            self.then()


def forward(done_of_parent: Request) -> None:
    """Completion of a member request that is the whole of its parent."""
    parent: Request = done_of_parent.parent
    parent.done(parent)
