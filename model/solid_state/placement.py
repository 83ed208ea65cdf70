"""Which die holds which data.

What is written in order is striped: consecutive flash pages go to the dies of a group, one die on each channel, then
to the next plane and page of the same dies until what they program at once is full, then to the next group. A large
read therefore has all channels work for it, and the pages that it finds on the planes of one die are read at once.

What is written at random lies where the write frontier was when it came, which has nothing to do with its address:
a shuffled table spreads the mapping units evenly over the dies, the same way in every run with the same seed.

Sources: Agrawal et al., "Design tradeoffs for SSD performance", USENIX ATC 2008 (interleaving, superpages); Hu et al.,
"Performance impact and interplay of SSD parallelism", ICS 2011 (channel first, then die, then plane).

Limits: where a unit lies does not change when it is rewritten at random or moved by garbage collection.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import numpy as np

from .spec import SolidStateSpec

TABLE_MASK = 4095
"""Of an index into the table of dies."""


class Placement:
    """Dies by address.

    Parameters
    ----------
    spec
        The drive.
    generator
        Shuffles the table.

    Attributes
    ----------
    table
        Dies; the unit `u` that was written at random is on ``table[(u ^ u >> 12 ^ u >> 24) & TABLE_MASK]``.
    group
        Dies that fill together.
    page
        Bytes in order on one die before the next die's begin.
    read_s
        Time (s) of a read of a unit that was written at random, by the index into `table`. The units are on all kinds
        of pages alike.
    """

    __slots__ = ("_bits", "_groups", "_line_bytes", "_line_read_s", "group", "page", "read_s", "table")

    def __init__(self, spec: SolidStateSpec, generator: np.random.Generator) -> None:
        self.page = max(spec.page, spec.mapping_unit)
        self._bits = spec.bits_per_cell
        planes = spec.planes * spec.page // self.page
        # What a group programs at once has to be gathered in the write buffer, while the one before it is programmed.
        dies = max(1, spec.write_buffer // (2 * planes * self._bits * self.page))
        self.group = gcd(spec.dies, spec.channels)
        while self.group > dies and self.group % 2 == 0:
            self.group //= 2
        self._groups = spec.dies // self.group
        self._line_bytes = self.group * planes * self.page
        entries = np.arange(TABLE_MASK + 1) % spec.dies
        self.table: list[int] = generator.permutation(entries).tolist()
        self._line_read_s = times = spec.read_times
        kinds = generator.permutation(np.arange(TABLE_MASK + 1) % len(times)).tolist()
        self.read_s: list[float] = [times[kind] for kind in kinds]

    def scattered(self, unit: int) -> int:
        """Die of a mapping unit that was written at random."""
        return self.table[(unit ^ unit >> 12 ^ unit >> 24) & TABLE_MASK]

    def striped_die(self, offset: int) -> int:
        """Die of a byte that was written in order."""
        return offset // self._line_bytes // self._bits % self._groups * self.group + offset // self.page % self.group

    def striped_read_s(self, offset: int) -> float:
        """Time (s) of a read of the page with a byte that was written in order."""
        return self._line_read_s[offset // self._line_bytes % len(self._line_read_s)]

    def striped(self, start: int, end: int) -> Iterator[tuple[int, int, float]]:
        """Parts of [start, end) (bytes), written in order, each read at once from all planes of a die.

        Yields
        ------
        tuple
            Die, bytes, and the time (s) of the read.
        """
        page, group, line_bytes = self.page, self.group, self._line_bytes
        while start < end:
            line = start // line_bytes
            read_s = self._line_read_s[line % len(self._line_read_s)]
            stop = min(end, (line + 1) * line_bytes)
            base = line // self._bits % self._groups * group
            first, last = start // page, (stop - 1) // page
            for here in range(first, min(last + 1, first + group)):
                below = (last - here) // group
                size = (below + 1) * page
                if here == first:
                    size -= start - first * page
                if here + below * group == last:
                    size -= (last + 1) * page - stop
                yield base + here % group, size, read_s
            start = stop
