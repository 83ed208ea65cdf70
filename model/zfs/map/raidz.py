"""raidz1, raidz2 and raidz3: each block is a stripe of its own, as wide as it needs.

The units of a vdev are numbered across its members: unit u is row u div n of member u mod n. A block of s units has
ceil(s / (n - p)) rows of parity. Its columns stand on the members one after the other from the block's first unit,
parity first, then the data; a column is contiguous on its member. Where the columns are not equally long, the first
ones are longer by a unit.

Two rules more. raidz1 swaps its parity with the first data column in every other MiB of the vdev. A block takes a
multiple of p + 1 units, so that what is freed can always be used again; the units added are padding, each behind
one of the shorter columns. Source: OpenZFS 2.3 module/zfs/vdev_raidz.c (vdev_raidz_asize, vdev_raidz_map_alloc).
"""

from __future__ import annotations

from .labels import data_bytes
from .vdev import DATA, PADDING, PARITY, Piece, Vdev

SWAP = 1 << 20
"""Bit of a block's offset that swaps the parity of raidz1 with its first data column."""


class Raidz(Vdev):
    """A raidz vdev.

    Parameters
    ----------
    members
        How many members, at least one more than `parity`.
    parity
        1, 2 or 3.
    ashift
        See :class:`Vdev`.
    """

    def size(self, least_member: int) -> int:
        """What is between the labels of all members."""
        return self.members * data_bytes(least_member)

    def asize(self, psize: int) -> int:
        """Data, parity and padding to a multiple of p + 1 units."""
        units = self.units(psize)
        return self._rounded(units + self.parity * -(-units // (self.members - self.parity))) << self.ashift

    def reads(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """The data columns; all surviving columns, every parity included, if one with data is lost."""
        columns = self._columns(offset, psize)
        data = [column for column in columns if column.kind == DATA]
        if not lost or not any(column.member in lost for column in data):
            return data
        left = [column for column in columns if column.member not in lost]
        if len(columns) - len(left) > self.parity:
            raise self.unreadable(len(lost))
        return left

    def writes(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """All columns and the padding."""
        pieces = self._columns(offset, psize) + self._padding(offset, psize)
        return [piece for piece in pieces if piece.member not in lost]

    def scrubs(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """All columns, parity too."""
        return [column for column in self._columns(offset, psize) if column.member not in lost]

    def trims(self, start: int, end: int) -> list[Piece]:
        """Of each member the rows whose units are in the range (vdev_raidz_xlate)."""
        first, last = start >> self.ashift, end >> self.ashift
        found = []
        for member in range(self.members):
            row, behind = (-((member - unit) // self.members) for unit in (first, last))
            if behind > row:
                found.append(Piece(member, row * self.unit_sectors, (behind - row) * self.unit_sectors, DATA))
        return found

    def _rounded(self, units: int) -> int:
        multiple = self.parity + 1
        return -(-units // multiple) * multiple

    def _columns(self, offset: int, psize: int) -> list[Piece]:
        units = self.units(psize)
        width, rest = divmod(units, self.members - self.parity)
        longer = rest + self.parity if rest else 0
        columns = []
        first = offset >> self.ashift
        for column in range(self.members if width else longer):
            row, member = divmod(first + column, self.members)
            height = width + 1 if column < longer else width
            # A column past the last member goes on in the next row of the first one.
            kind = PARITY if column < self.parity else DATA
            columns.append(Piece(member, row * self.unit_sectors, height * self.unit_sectors, kind))
        if self.parity == 1 and offset & SWAP:
            parity, data = columns[0], columns[1]
            columns[0] = Piece(data.member, data.sector, data.sectors, PARITY)
            columns[1] = Piece(parity.member, parity.sector, parity.sectors, DATA)
        return columns

    def _padding(self, offset: int, psize: int) -> list[Piece]:
        units = self.units(psize)
        width, rest = divmod(units, self.members - self.parity)
        shorter = rest + self.parity if rest else 0
        used = units + self.parity * (width + (1 if rest else 0))
        first = offset >> self.ashift
        pieces = []
        for column in range(shorter, shorter + self._rounded(used) - used):
            # The padding begins at the first shorter column; the swap of raidz1 does not move it.
            row, member = divmod(first + column % self.members, self.members)
            height = width + column // self.members
            pieces.append(Piece(member, (row + height) * self.unit_sectors, self.unit_sectors, PADDING))
        return pieces
