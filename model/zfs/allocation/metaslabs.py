"""The metaslabs of a vdev: equal parts of it, of which each kind of writer has one open at a time.

Source: module/zfs/metaslab.c (metaslab_segment_weight,
metaslab_group_alloc_normal, metaslab_should_allocate).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ..map.capacity import metaslab_shift
from .fill import Fill
from .free_space import FreeSpace

SWITCH_THRESHOLD: Final = 2
"""Powers of two by which the largest segment may shrink before a metaslab is closed (zfs_metaslab_switch_threshold)."""
LOG_LEAST_COUNT: Final = 64
"""Metaslabs from which on a vdev keeps one for the intent log (zfs_embedded_slog_min_ms)."""


class Metaslabs:
    """The metaslabs of one vdev.

    Parameters
    ----------
    fill
        What is in use at the beginning.
    writers
        How many writers have a metaslab of their own: the first, second and third copy of a block, and the intent log.

    Attributes
    ----------
    count, size
        How many metaslabs there are, and their size (bytes).
    """

    __slots__ = ("_fill", "_open", "_opened_at", "_spaces", "count", "size")

    def __init__(self, fill: Fill, writers: int) -> None:
        self._fill = fill
        self.size: i64 = 1 << metaslab_shift(fill.size)
        self.count = max(1, fill.size // int(self.size))
        self._spaces: dict[int, FreeSpace] = {}
        self._open = [-1] * writers
        self._opened_at = [0] * writers

    def allocate(self, size: i64, writer: i64) -> i64:
        """Where a writer gets `size` bytes; -1 if no metaslab has them in one piece."""
        number: i64 = self._open[writer]
        if number >= 0:
            space = self._space(number)
            if space.largest.bit_length() + SWITCH_THRESHOLD >= self._opened_at[writer]:
                place = space.take(size)
                if place >= 0:
                    return place
        number = self._heaviest(size, writer)
        if number < 0:
            return -1
        space = self._space(number)
        self._open[writer] = number
        self._opened_at[writer] = space.largest.bit_length()
        return space.take(size)

    def free(self, start: i64, size: i64) -> None:
        """A block is freed."""
        self._space(start // self.size).give_back(start, size)

    def _space(self, number: i64) -> FreeSpace:
        space = self._spaces.get(number)
        if space is None:
            start = number * self.size
            space = FreeSpace(start, self.size, self._fill.free(start, start + self.size))
            self._spaces[number] = space
        return space

    def _heaviest(self, size: i64, writer: i64) -> i64:
        """The metaslab with the largest free segment (its power of two counts) that no other writer has open.

        Of equal ones the first, which lies further out on a disk. Without another one writers share.
        """
        for shares in (False, True):
            best, weight = -1, 0
            for number in range(self.count):
                if not shares and number in self._open:
                    continue
                space = self._spaces.get(number)
                if space is None:
                    start = number * self.size
                    largest = self._fill.largest(start, start + self.size)
                else:
                    largest = space.largest
                if largest >= size and largest.bit_length() > weight:
                    best, weight = number, largest.bit_length()
            if best >= 0:
                return best
        return -1
