"""Completion of a request that was split: its parts are counted down, or its one part completes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import i64, mypyc_attr

from ..waits.trail import Mark
from .request import Completion, Request


def _over() -> None:
    """What a join that is over does."""


class Join(Completion):
    """Counts member requests down and calls `then` after the last, whose trail it keeps."""

    __slots__ = ("left", "then", "trail")

    def __init__(self, left: i64, then: Callable[[], None]) -> None:
        self.left = left
        self.then = then
        self.trail: Mark | None = None

    def done(self, request: Request) -> None:
        """One member request is complete."""
        if request.trail is not None:
            self.trail = request.trail
        self.part()

    def part(self) -> None:
        """One part is complete."""
        self.left -= 1
        if not self.left:
            # A function that asks for the trail holds the join: the two would hold each other.
            then = self.then
            self.then = _over
            then()


@mypyc_attr(free_list_len=1)
class Parts(Completion):
    """Counts member requests down and completes `whole` after the last."""

    __slots__ = ("left", "whole")

    def __init__(self, left: i64, whole: Request) -> None:
        self.left = left
        self.whole = whole

    def done(self, request: Request) -> None:
        """One member request is complete."""
        self.left -= 1
        if not self.left:
            whole = self.whole
            if request.trail is not None:
                whole.trail = request.trail
            whole.completion.done(whole)


class _Whole(Completion):
    """Of a member request that is the whole of its parent."""

    __slots__ = ()

    def done(self, request: Request) -> None:
        """Complete the parent."""
        parent: Request = request.parent
        if request.trail is not None:
            parent.trail = request.trail
        parent.completion.done(parent)


FORWARD: Final = _Whole()
"""Completion of a member request that is the whole of its parent."""
