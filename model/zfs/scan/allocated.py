"""The blocks of a vdev that are there when a scan begins, in the order of their places."""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import i64

from ..allocation.allocator import Place
from ..records.block_table import BlockTable


class AllocatedBlocks:
    """Gives one block after the other.

    Blocks that are written anew during the scan are left out: the scan ends with the group in which it began.

    Parameters
    ----------
    vdev
        Number of the vdev in the pool.
    tables
        Blocks of others, and of volumes and files, with their number, in the order of their places.
    done
        Share that a scan has done before, 0 to 1.

    Attributes
    ----------
    total_bytes, done_bytes
        Space of all blocks, and of those that were given or left out.
    """

    __slots__ = ("_index", "_number", "_tables", "_vdev", "done_bytes", "total_bytes")

    def __init__(self, vdev: int, tables: Sequence[tuple[BlockTable, int]], done: float = 0.0) -> None:
        self._vdev = vdev
        self._tables = [
            (table, count) for table, blocks in tables if (count := table.count_on(vdev, blocks) if blocks else 0)
        ]
        self.total_bytes: i64 = sum([count * table.asize(vdev) for table, count in self._tables])
        self.done_bytes: i64 = 0
        self._number: i64 = 0
        self._index: i64 = 0
        left = int(done * float(self.total_bytes))
        while self._number < len(self._tables):
            table, count = self._tables[self._number]
            self._index = min(left // table.asize(vdev), count)
            self.done_bytes += self._index * table.asize(vdev)
            if self._index < count:
                break
            left -= count * table.asize(vdev)
            self._number += 1
            self._index = 0

    @property
    def over(self) -> bool:
        """Whether all blocks were given."""
        return self._number >= len(self._tables)

    def ahead(self, blocks: i64) -> Place | None:
        """A block that comes after `blocks` others; None if there are not as many."""
        number, index = self._number, self._index + blocks
        while number < len(self._tables):
            table, count = self._tables[number]
            if index < count:
                return table.first(self._vdev, index)
            index -= count
            number += 1
        return None

    def next(self) -> Place | None:
        """The next block; None if there is none."""
        while self._number < len(self._tables):
            table, count = self._tables[self._number]
            place = table.standing(self._vdev, self._index)
            self.done_bytes += table.asize(self._vdev)
            self._index += 1
            if self._index >= count:
                self._number += 1
                self._index = 0
            if place is not None:
                return place
        return None
