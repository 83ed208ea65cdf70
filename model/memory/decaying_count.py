"""A count that forgets: what one did lately beside what all did (lib/flex_proportions.c)."""

from __future__ import annotations


class Recent:
    """A count of bytes whose past counts half after every period."""

    __slots__ = ("_bytes", "_period")

    def __init__(self) -> None:
        self._bytes = 0.0
        self._period = 0

    def add(self, size: int, period: int) -> None:
        """`size` more bytes, in this period."""
        self._bytes = self.at(period) + size
        self._period = period

    def at(self, period: int) -> float:
        """The count in this period."""
        passed = period - self._period
        return self._bytes * 0.5**passed if passed else self._bytes
