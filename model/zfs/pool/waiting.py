"""What waits: a read for its blocks, and a call without arguments for the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy_extensions import i64

from ...core.request import Request


class Blocks:
    """Counts the blocks that a read waits for."""

    __slots__ = ("_left", "_request", "_then")

    def __init__(self, request: Request, left: i64, then: Callable[[Request], None]) -> None:
        self._request = request
        self._left = left
        self._then = then

    def part(self) -> None:
        """One block is there."""
        self._left -= 1
        if not self._left:
            self._then(self._request)


class Call:
    """A call without arguments, for the clock."""

    __slots__ = ("_then",)

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def call(self, _: Any) -> None:
        """Call it."""
        self._then()
