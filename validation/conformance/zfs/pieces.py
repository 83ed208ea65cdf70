"""Which pieces of known blocks a request of a member is made of."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from ....model.zfs.map.vdev import Piece

GAP = 64
"""Sectors between two pieces that one read takes along (zfs_vdev_read_gap_limit)."""


class Owned(NamedTuple):
    """A piece and the number of its block."""

    piece: Piece
    block: int


class PieceIndex:
    """Pieces of blocks by member and sector.

    Parameters
    ----------
    pieces
        Those of each block; no two of different blocks share a sector.
    """

    def __init__(self, pieces: Iterable[Owned]) -> None:
        self._by_member: dict[int, list[Owned]] = {}
        for owned in pieces:
            self._by_member.setdefault(owned.piece.member, []).append(owned)
        self._starts: dict[int, list[int]] = {}
        for member, found in self._by_member.items():
            found.sort(key=lambda owned: owned.piece.sector)
            self._starts[member] = [owned.piece.sector for owned in found]

    def within(self, member: int, sector: int, sectors: int) -> list[Owned]:
        """The pieces that a range overlaps, by sector."""
        starts = self._starts.get(member, [])
        first = bisect_right(starts, sector) - 1
        found = []
        for owned in self._by_member.get(member, [])[max(first, 0) :]:
            if owned.piece.sector >= sector + sectors:
                break
            if owned.piece.sector + owned.piece.sectors > sector:
                found.append(owned)
        return found

    def exactly(self, member: int, sector: int, sectors: int, gap: int = GAP) -> list[Owned]:
        """The pieces that a request is made of; none if it does not begin and end with one, or leaves a gap."""
        found = self.within(member, sector, sectors)
        if not found:
            return []
        end = sector - gap if found[0].piece.sector != sector else sector
        for owned in found:
            if not 0 <= owned.piece.sector - end <= gap:
                return []
            end = owned.piece.sector + owned.piece.sectors
        return found if end == sector + sectors and found[0].piece.sector == sector else []
