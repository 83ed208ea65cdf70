"""Mirrors and single disks: every side has the whole block, a read goes to one side.

The side with the least load serves a read. The load of a side is the number of its requests under way, plus a price
for moving its head: nothing if the read begins where its last request ended; else 1, or on rotating disks 5, 2 if
the head is nearer than 1 MiB. Sides of equal load take turns by the block's offset, 2 MiB each. Source: OpenZFS 2.3
module/zfs/vdev_mirror.c (vdev_mirror_load, vdev_mirror_preferred_child_randomize, zfs_vdev_mirror_*).
"""

from __future__ import annotations

from collections.abc import Sequence

from .labels import data_bytes
from .vdev import DATA, SECTOR_BYTES, Piece, Vdev

TURN_SHIFT = 21
"""Sides of equal load change every 2 MiB of a vdev."""

NEAR_SECTORS = 2**20 // SECTOR_BYTES
SEEK_LOAD, ROTATING_SEEK_LOAD, NEAR_SEEK_LOAD = 1, 5, 2
"""Load (requests) of a read that moves the head: on other members, on rotating ones, and on those to a near place."""


def side_load(under_way: int, last_end: int, sector: int, rotating: bool) -> int:
    """Load of a side with `under_way` requests for a read at `sector`, if its last request ends at `last_end`."""
    if sector == last_end:
        return under_way
    if not rotating:
        return under_way + SEEK_LOAD
    near = abs(sector - last_end) < NEAR_SECTORS
    return under_way + (NEAR_SEEK_LOAD if near else ROTATING_SEEK_LOAD)


class Mirror(Vdev):
    """A mirror of two or more sides, or a single disk (one side); see :class:`Vdev`."""

    def __init__(self, members: int, ashift: int) -> None:
        super().__init__(members, members - 1, ashift)

    def size(self, least_member: int) -> int:
        """What is between the labels of a side."""
        return data_bytes(least_member)

    @property
    def rebuilds_in_order(self) -> bool:
        """Whether there is another side."""
        return self.members > 1

    def asize(self, psize: int) -> int:
        """The data in whole allocation units."""
        return self.units(psize) << self.ashift

    def side(self, offset: int, lost: frozenset[int], loads: Sequence[int] | None = None) -> int:
        """The side that serves a read at DVA `offset`; `loads` has one of :func:`side_load` a side."""
        sides = [side for side in range(self.members) if side not in lost]
        if not sides:
            raise self.unreadable(len(lost))
        if loads is not None:
            least = min([loads[side] for side in sides])
            sides = [side for side in sides if loads[side] == least]
        return sides[(offset >> TURN_SHIFT) % len(sides)]

    def reads(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """The whole block, of the side that serves it when all are idle."""
        return [self._whole(self.side(offset, lost), offset, psize)]

    def writes(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """The whole block, to every side."""
        return [self._whole(side, offset, psize) for side in range(self.members) if side not in lost]

    def scrubs(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """The whole block, of every side."""
        return self.writes(offset, psize, lost)

    def trims(self, start: int, end: int) -> list[Piece]:
        """The same range of every side."""
        return self.writes(start, end - start)

    def _whole(self, side: int, offset: int, psize: int) -> Piece:
        return Piece(side, offset // SECTOR_BYTES, self.units(psize) * self.unit_sectors, DATA)
