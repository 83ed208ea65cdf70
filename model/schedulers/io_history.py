"""What a scheduler remembers of a process to guess whether, and where, it will read next."""

from __future__ import annotations

from typing import Final

_NEWEST: Final = 0.125
"""Weight of the newest seek."""
_WELL_KNOWN: Final = 60 / 256
_FIRST_SEEK: Final = 1 << 30
_LATER_SEEK: Final = 64 << 20
"""A seek counts as no more than four times the mean and this, so that an odd one does not spoil the mean."""


class SeekHistory:
    """How far apart (bytes) the reads of a process are.

    A mean that forgets, over what has been seen so far (as-iosched.c as_update_seekdist, cfq-iosched.c
    cfq_update_io_seektime).

    Attributes
    ----------
    mean
        Mean distance from the end of a request to the next (bytes).
    weight
        How much the mean has seen: 0 at first, 1 in the long run.
    """

    __slots__ = ("_ended", "_total", "mean", "weight")

    def __init__(self) -> None:
        self._ended = -1
        self._total = 0.0
        self.mean = 0.0
        self.weight = 0.0

    def add(self, offset: int, size: int) -> None:
        """The process has sent a request."""
        if self._ended >= 0:
            odd = _FIRST_SEEK if self.weight <= _WELL_KNOWN else _LATER_SEEK
            distance = min(abs(offset - self._ended), self.mean * 4 + odd)
            self.weight += (1.0 - self.weight) * _NEWEST
            self._total += (distance - self._total) * _NEWEST
            self.mean = self._total / self.weight
        self._ended = offset + size
