"""The metaslabs of a vdev: equal parts of it, of which each kind of writer has one open at a time.

Source: module/zfs/metaslab.c (metaslab_segment_weight,
metaslab_group_alloc_normal, metaslab_should_allocate, metaslab_sync_done).
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
    gathers
        If true, freed space that is not used again is remembered, to be trimmed.

    Attributes
    ----------
    count, size
        How many metaslabs there are, and their size (bytes).
    disabled
        One that is being trimmed, and gives no space meanwhile; -1: none.
    """

    __slots__ = ("_fill", "_freed", "_gathers", "_open", "_opened_at", "_spaces", "count", "disabled", "size")

    def __init__(self, fill: Fill, writers: int, gathers: bool = False) -> None:
        self._fill = fill
        self.size: i64 = 1 << metaslab_shift(fill.size)
        self.count = max(1, fill.size // int(self.size))
        self._spaces: dict[int, FreeSpace] = {}
        self._open = [-1] * writers
        self._opened_at = [0] * writers
        self._gathers = gathers
        self._freed: dict[int, FreeSpace] = {}
        self.disabled: i64 = -1

    def allocate(self, size: i64, writer: i64) -> i64:
        """Where a writer gets `size` bytes; -1 if no metaslab has them in one piece."""
        number: i64 = self._open[writer]
        if number >= 0 and number != self.disabled:
            space = self._space(number)
            if space.largest.bit_length() + SWITCH_THRESHOLD >= self._opened_at[writer]:
                place = self._take(number, size)
                if place >= 0:
                    return place
        number = self._heaviest(size, writer)
        if number < 0:
            return -1
        space = self._space(number)
        self._open[writer] = number
        self._opened_at[writer] = space.largest.bit_length()
        return self._take(number, size)

    def free(self, start: i64, size: i64) -> None:
        """A block is freed."""
        number = start // self.size
        self._space(number).give_back(start, size)
        if self._gathers:
            freed = self._freed.get(number)
            if freed is None:
                freed = self._freed[number] = FreeSpace(number * self.size, self.size, [])
            freed.give_back(start, size)

    def take_freed(self, number: int) -> list[tuple[int, int]]:
        """What of a metaslab was freed since this was asked and is free still, as (start, end), ascending."""
        freed = self._freed.pop(number, None)
        return [] if freed is None else freed.segments()

    def _take(self, number: i64, size: i64) -> i64:
        """Space in a metaslab; -1 if it has none."""
        place = self._space(number).take(size)
        freed = self._freed.get(number)
        if freed is not None and place >= 0:
            freed.exclude(place, size)
        return place

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
                if number == self.disabled or (not shares and number in self._open):
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
