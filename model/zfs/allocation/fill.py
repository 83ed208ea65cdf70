"""What a vdev holds when a run begins: full from its start to its fill, or with free segments between as it has aged.

zpool's FRAG is the mean over free space of a number that each segment has by its size: 50 % is that of 128 KiB.
Source: module/zfs/metaslab.c (zfs_frag_table). FRAG does not say how sizes spread. Assumed here: half of the free
space is in segments four times as large, and half in segments a quarter as large, which larger blocks cannot use.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ...core.errors import InputError

_FRAGMENTATION: Final = (
    *((100, 10), (98, 11), (95, 12), (90, 13), (80, 14), (70, 15), (60, 16), (50, 17)),
    *((40, 18), (30, 19), (20, 20), (15, 21), (10, 22), (5, 23), (0, 24)),
)
"""(fragmentation in percent, binary logarithm of the size of free segments in bytes)."""
_SPREAD: Final = 4
"""Size of the larger segments, over that of the segment with this FRAG."""


def free_segment(fragmentation: float) -> int:
    """Bytes of the free segments of a vdev with this FRAG (0 to 1), between two lines of the table in proportion."""
    percent = 100 * fragmentation
    if not 0 <= percent <= 100:
        raise InputError("fragmentation", f"found {fragmentation:g}", "expected: 0 to 1")
    above, shift_above = _FRAGMENTATION[0]
    for below, shift in _FRAGMENTATION[1:]:
        if percent >= below:
            share = (percent - below) / (above - below)
            return int(2 ** (shift + share * (shift_above - shift)))
        above, shift_above = below, shift
    return 1 << shift_above


class Fill:
    """Where used space is.

    Parameters
    ----------
    size
        Bytes of the vdev.
    used
        Bytes in use.
    fragmentation
        zpool's FRAG, 0 to 1; 0: all used space is in front.
    unit
        Bytes that places and sizes of blocks are multiples of.

    Attributes
    ----------
    size, used
        The same.
    """

    __slots__ = ("_gap", "_run", "_unit", "size", "used")

    def __init__(self, size: int, used: int, fragmentation: float = 0.0, unit: int = 4096) -> None:
        if used > size:
            raise InputError("used", f"found {used} bytes of a vdev of {size}", "expected: at most its size")
        self.size = size
        self.used: i64 = used
        self._unit = unit
        self._gap: i64 = 0
        self._run: i64 = max(used, 1)
        if fragmentation and 0 < used < size:
            # In Python's integers: the product of the two may have more than 64 bits.
            gap: int = max(unit, _SPREAD * free_segment(fragmentation) // unit * unit)
            usable: int = (size - used) // 2
            run: int = max(unit, gap * (size - usable) // usable // unit * unit)
            self._gap = gap
            self._run = run

    def place(self, offset: i64, size: i64) -> i64:
        """Where the used byte number `offset`, of all used bytes, is: the start of a block of `size` bytes."""
        gap = self._gap
        if not gap:
            return offset
        run = self._run
        if size >= run:
            return offset // run * (run + gap) % max(1, self.size - size)
        # No block lies across a gap: what does not fit into a run is left out.
        room = run // size * size
        return offset // room * (run + gap) + offset % room

    def used_range(self, offset: i64) -> tuple[int, int]:
        """Where the used byte number `offset` is, and how many used bytes follow each other from there on."""
        if not self._gap:
            return offset, self.used - offset
        run, rest = offset // self._run, offset % self._run
        return run * (self._run + self._gap) + rest, min(self._run - rest, self.used - offset)

    def largest(self, start: i64, end: i64) -> int:
        """Bytes of the largest free segment between `start` and `end`, or a little more."""
        return min(self._gap, end - start) if self._gap else max(0, end - max(start, self.used))

    def free(self, start: int, end: int) -> list[tuple[int, int]]:
        """The free segments between `start` and `end` (bytes), as far as blocks may use them."""
        segments = [(int(self.used), end)]
        if self._gap:
            period = int(self._run + self._gap)
            segments = [(at + int(self._run), at + period) for at in range(start // period * period, end, period)]
        unit = self._unit
        inside = [(-(-max(start, first) // unit) * unit, min(end, last) // unit * unit) for first, last in segments]
        return [(first, last) for first, last in inside if first < last]
