"""How fast a drive is at its best, as BFQ finds out (block/bfq-iosched.c bfq_update_peak_rate)."""

from __future__ import annotations

from typing import Final

_SECTOR: Final = 512
_REFERENCE = (14_000 / 65_536 * _SECTOR * 1e6, 33_000 / 65_536 * _SECTOR * 1e6)
"""Rate (bytes/s) of reference drives that turn and that do not (ref_rate: sectors a microsecond, 16-bit fractions)."""
_FIRST_SHARE: Final = 2 / 3
_HIGHEST: Final = 20 * _SECTOR * 1e6
_INTERVAL_S: Final = 1.0
_SHORTEST_S: Final = 0.3
_FEWEST: Final = 32
_IDLE_S: Final = 0.1
_QUICK_S: Final = 0.002
"""After a completion not longer ago the drive counts as busy (BFQ_MIN_TT)."""
_SLOW: Final = _SECTOR * 1e6 / 1024
"""Bytes/s of the largest request since the last completion, below which the drive was idle."""


class PeakRate:
    """The estimate.

    Parameters
    ----------
    rotational
        Whether the drive turns.

    Attributes
    ----------
    rate
        Bytes/s.
    updates
        How often it has changed.
    """

    __slots__ = ("_bytes", "_completed", "_first", "_largest", "_last", "_samples", "_sequential", "rate", "updates")

    def __init__(self, rotational: bool) -> None:
        self.rate = _REFERENCE[not rotational] * _FIRST_SHARE
        self.updates = 0
        self._samples = self._sequential = self._bytes = self._largest = 0
        self._first = self._last = self._completed = 0.0

    def dispatched(self, size: int, near: bool, in_driver: int, now: float) -> None:
        """A request of `size` bytes goes to the drive, which has `in_driver`; `near`: it continues the one before."""
        if not self._samples:
            self._begin(size, now)
            return
        if now - self._last > _IDLE_S and not in_driver:
            self._update()
            self._begin(size, now)
            return
        self._samples += 1
        if near and (in_driver or now - self._completed < _QUICK_S):
            self._sequential += 1
        self._bytes += size
        self._largest = max(self._largest, size) if self._samples % _FEWEST else size
        self._last = now
        if now - self._first >= _INTERVAL_S:
            self._update()
            self._begin(size, now)

    def completed(self, now: float) -> None:
        """The drive has done a request."""
        passed = now - self._completed
        if passed > _QUICK_S and self._largest / passed < _SLOW:
            self._update()
            self._samples = 0
        self._completed = now

    def _begin(self, size: int, now: float) -> None:
        self._first = self._last = now
        self._samples = 1
        self._sequential = 0
        self._bytes = self._largest = size

    def _update(self) -> None:
        """Let what was dispatched count, if it tells something: the more, the more sequential and the longer it is."""
        passed = self._last - self._first
        if self._samples < _FEWEST or passed < _SHORTEST_S:
            return
        passed = max(passed, self._completed - self._first)
        rate = self._bytes / passed
        if (self._sequential * 4 < 3 * self._samples and rate <= self.rate) or rate > _HIGHEST:
            return
        weight = min(8, int(9 * self._sequential // self._samples * passed / _INTERVAL_S))
        self.rate += (rate - self.rate) / (10 - weight)
        self.updates += 1
