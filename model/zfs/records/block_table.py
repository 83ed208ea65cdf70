"""Where the blocks of a file or volume are: in order, as they were first written, but for those written since.

So a volume of any size takes memory only for what a run writes to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import i64

from ..allocation.allocator import Place, aliquot
from ..allocation.fill import Fill
from ..map.pool import PoolMap


class BlockTable:
    """Places by block number.

    Parameters
    ----------
    pool
        The map.
    fills
        What of each vdev is in use.
    vdevs
        Numbers of the vdevs that the blocks were written to in turn.
    bases
        Used bytes of each vdev of the pool that come before the blocks'.
    psize
        Physical size of a block (bytes).
    between
        Physical size of what lies behind each block and belongs to others (bytes); 0: nothing.
    """

    __slots__ = ("_asizes", "_bases", "_cycle", "_fills", "_moved", "_runs", "_vdevs", "psize")

    def __init__(
        self,
        pool: PoolMap,
        fills: Sequence[Fill],
        vdevs: Sequence[int],
        bases: Sequence[int],
        psize: int,
        between: int = 0,
    ) -> None:
        self.psize = psize
        self._vdevs = list(vdevs)
        self._fills = [fills[vdev] for vdev in vdevs]
        self._bases = [bases[vdev] for vdev in vdevs]
        self._asizes = [
            pool.vdevs[vdev].asize(psize) + (pool.vdevs[vdev].asize(between) if between else 0) for vdev in vdevs
        ]
        self._runs = [
            max(1, -(-aliquot(pool.vdevs[vdev]) // asize)) for vdev, asize in zip(vdevs, self._asizes, strict=True)
        ]
        self._cycle: i64 = sum(self._runs)
        self._moved: dict[int, list[Place]] = {}

    def used(self, blocks: int) -> list[int]:
        """Bytes that the first `blocks` blocks take of each of the vdevs."""
        cycles, rest = divmod(blocks, int(self._cycle))
        found = []
        for run, asize in zip(self._runs, self._asizes, strict=True):
            found.append((cycles * run + min(rest, run)) * asize)
            rest = max(0, rest - run)
        return found

    def count_on(self, vdev: int, blocks: int) -> int:
        """How many of the first `blocks` blocks were first written to a vdev of the pool."""
        if vdev not in self._vdevs:
            return 0
        number = self._vdevs.index(vdev)
        return self.used(blocks)[number] // self._asizes[number]

    def asize(self, vdev: int) -> int:
        """Bytes that a block takes of a vdev, with what lies behind it."""
        return self._asizes[self._vdevs.index(vdev)]

    def standing(self, vdev: int, index: i64) -> Place | None:
        """Where the block number `index` of those on a vdev is; None if it has been written again since."""
        number = self._vdevs.index(vdev)
        cycle, rest = divmod(index, self._runs[number])
        block = cycle * self._cycle + sum(self._runs[:number]) + rest
        return None if block in self._moved else self.first(vdev, index)

    def first(self, vdev: int, index: i64) -> Place:
        """Where the block number `index` of those on a vdev was at first."""
        number = self._vdevs.index(vdev)
        asize: i64 = self._asizes[number]
        return Place(vdev, self._fills[number].place(self._bases[number] + index * asize, asize), self.psize)

    def places(self, block: i64) -> list[Place]:
        """Where a block is: one place, or the parts of a gang."""
        moved = self._moved.get(block)
        if moved is not None:
            return moved
        rest = block % self._cycle
        number = 0
        while rest >= self._runs[number]:
            rest -= self._runs[number]
            number += 1
        return [self.first(self._vdevs[number], block // self._cycle * self._runs[number] + rest)]

    def move(self, block: int, places: list[Place]) -> list[Place]:
        """A block is at new places; returns the old ones."""
        old = self.places(block)
        self._moved[block] = places
        return old
