"""Marks on pages: where read-ahead goes on when a program gets there (PG_readahead of Linux since 2.6.23)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort

from mypy_extensions import mypyc_attr


@mypyc_attr(acyclic=True)
class PageMarks:
    """A sorted set of page positions (bytes). There are few: one for every window read ahead and not yet reached."""

    __slots__ = ("_positions",)

    def __init__(self) -> None:
        self._positions: list[int] = []

    def add(self, position: int) -> None:
        """Mark the page at `position`."""
        if position not in self:
            insort(self._positions, position)

    def take(self, position: int) -> bool:
        """Remove the mark of the page at `position`; returns whether there was one."""
        found = position in self
        if found:
            del self._positions[bisect_left(self._positions, position)]
        return found

    def after(self, position: int) -> int | None:
        """The first marked page that starts after `position`."""
        i = bisect_right(self._positions, position)
        return self._positions[i] if i < len(self._positions) else None

    def forget(self, start: int, end: int) -> None:
        """The pages of [start, end) are no longer held, so their marks are gone."""
        positions = self._positions
        del positions[bisect_left(positions, start) : bisect_left(positions, end)]

    def __contains__(self, position: int) -> bool:
        i = bisect_left(self._positions, position)
        return i < len(self._positions) and self._positions[i] == position
