"""Dirty data that a write cache has held for long when a run begins: where it lies, without an object for each row.

A cache of some GiB takes minutes to fill and as long again until what it holds no longer depends on how it was filled.
A run that is to begin with a full cache is given its contents instead (:class:`StandingRows`). A row becomes an object
of the cache when its turn to be written comes, or when the host writes to it or reads it.

How such contents lie is known (:func:`long_held`): rows are written in sweeps of rising address, so just behind the
sweep there is nothing, and the number of writes that wait grows in proportion to the time since the sweep passed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..core.search import left_of, right_of

Extents = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Starts and ends (bytes) of extents in order, none of which touches another."""


class StandingRows:
    """Dirty extents that no row of the cache holds yet.

    Parameters
    ----------
    starts, ends
        The extents (bytes of the array) in order; each lies in one row.
    row_bytes
        Data bytes of a row.

    Attributes
    ----------
    left_bytes
        What is still here.
    """

    __slots__ = ("_ends", "_here", "_next", "_row_bytes", "_starts", "left_bytes")

    def __init__(self, starts: list[int], ends: list[int], row_bytes: int) -> None:
        self._starts = starts
        self._ends = ends
        self._row_bytes = row_bytes
        self._here = bytearray(b"\x01" * len(starts))
        self._next = 0
        self.left_bytes = sum(ends) - sum(starts)

    def begin_at(self, row: int) -> None:
        """The sweep goes on with the first row from `row` on."""
        self._next = left_of(self._starts, row * self._row_bytes)

    def next_row(self) -> int:
        """The next row of the sweep, in rising order up to the end of the array; -1 if there is none any more."""
        here, at, last = self._here, self._next, len(self._starts)
        while at < last and not here[at]:
            at += 1
        self._next = at
        return self._starts[at] // self._row_bytes if at < last else -1

    def take(self, row: int) -> list[tuple[int, int]]:
        """The extents of a row, which are here no longer; none if there are none."""
        start = row * self._row_bytes
        at, last = left_of(self._starts, start), left_of(self._starts, start + self._row_bytes)
        found = []
        while at < last:
            if self._here[at]:
                self._here[at] = 0
                found.append((self._starts[at], self._ends[at]))
                self.left_bytes -= self._ends[at] - self._starts[at]
            at += 1
        return found

    def holds(self, row: int) -> bool:
        """Whether anything of a row is here."""
        start = row * self._row_bytes
        at, last = left_of(self._starts, start), right_of(self._starts, start + self._row_bytes - 1)
        while at < last:
            if self._here[at]:
                return True
            at += 1
        return False


def long_held(draw: Callable[[int], Extents], row_bytes: int, first_row: int, least_bytes: int) -> Extents:
    """What a cache holds that has swept for long, when the sweep is at `first_row`.

    A row that the sweep reaches after a share c of its rows has been passed over for a share 1 - c of the time of a
    sweep, so of the writes of a whole sweep it holds the last ones, a share 1 - c. How many writes come during one
    sweep follows from `least_bytes`.

    Parameters
    ----------
    draw
        Makes a number of writes of the load: their starts and ends (bytes), in the order in which they come.
    row_bytes
        Data bytes of a row.
    first_row
        Which row the sweep reaches next.
    least_bytes
        Bytes in the cache; what is found may be a little more (:func:`within`).
    """
    starts, ends = draw(_FIRST)
    count = int(2.02 * least_bytes / float((ends - starts).mean())) + _FIRST
    for _ in range(_ROUNDS):
        starts, ends = draw(count)
        known, index = np.unique(starts // row_bytes, return_inverse=True)
        ahead = np.roll(np.arange(len(known)), int(np.searchsorted(known, first_row)))
        waited = 1.0 - (ahead + 0.5) / len(known)
        kept = np.arange(count, 0, -1) < waited[index] * count
        starts, ends = merged(starts[kept], ends[kept])
        held = int((ends - starts).sum())
        if least_bytes <= held <= _CLOSE * least_bytes or (held < least_bytes and count >= _MOST_DRAWN):
            break
        count = min(_MOST_DRAWN, int(1.02 * count * min(2.0, least_bytes / max(held, 1))) + _FIRST)
    return starts, ends


_FIRST = 256
_ROUNDS = 8
_CLOSE = 1.1
_MOST_DRAWN = 1 << 23


def merged(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Extents:
    """The union of extents, as extents in order."""
    order = np.argsort(starts, kind="stable")
    starts, reached = starts[order], np.maximum.accumulate(ends[order])
    if not len(starts):
        return starts, reached
    begins = np.concatenate(([True], starts[1:] > reached[:-1]))
    last = np.concatenate((np.flatnonzero(begins)[1:] - 1, [len(starts) - 1]))
    return starts[begins], reached[last]


def within(extents: Extents, most_bytes: int) -> Extents:
    """Extents less some spread evenly over them, so that they are `most_bytes` long or a little shorter."""
    starts, ends = extents
    total = int((ends - starts).sum())
    if total <= most_bytes:
        return extents
    target = np.arange(len(starts)) * (most_bytes / total)
    kept = np.floor(target + most_bytes / total) > np.floor(target)
    starts, ends = starts[kept], ends[kept]
    fits = np.cumsum(ends - starts) <= most_bytes
    return starts[fits], ends[fits]


def cut_at_rows(extents: Extents, row_bytes: int) -> Extents:
    """Extents cut where rows end."""
    starts, ends = extents
    while True:
        borders = (starts // row_bytes + 1) * row_bytes
        beyond = ends > borders
        if not beyond.any():
            order = np.argsort(starts, kind="stable")
            return starts[order], ends[order]
        rest = borders[beyond], ends[beyond]
        ends = np.where(beyond, borders, ends)
        starts, ends = np.concatenate((starts, rest[0])), np.concatenate((ends, rest[1]))
