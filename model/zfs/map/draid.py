"""dRAID: groups of d + p columns on changing members, with the spares spread over all members.

A group is d + p columns of 16 MiB. Groups follow each other in the vdev's address space; on the members they fill
rows of 16 MiB from left to right, over as many members as are not spare, and go on in the next row where one ends.
As many groups as make whole rows are a slice, and each slice has its own order of the members. A block takes whole
rows of its group: short columns are filled with zeros, which are written and, if anything is lost, read.
Source: OpenZFS 2.3 module/zfs/vdev_draid.c (vdev_draid_logical_to_physical, vdev_draid_map_alloc_row,
vdev_draid_io_start_read).
"""

from __future__ import annotations

from math import gcd

from .draid_orders import Orders, draid_orders
from .labels import data_bytes
from .vdev import DATA, PARITY, Piece, Vdev

ROW_BYTES = 1 << 24
"""Height of a row on one member."""
_FREE_ROWS = 2


class Draid(Vdev):
    """A dRAID vdev.

    Parameters
    ----------
    members
        How many members, spares included (2 to 255).
    parity, data
        Columns of a group with parity (1 to 3) and with data.
    spares
        How many members' worth of space is spare.
    ashift
        See :class:`Vdev`.

    Attributes
    ----------
    width
        Columns of a group.
    disks
        Members that are not spare.
    group_bytes
        Size of a group in the vdev's address space.
    spared
        Distributed spare that takes the place of a lost member, by the member.
    """

    def __init__(self, members: int, parity: int, data: int, spares: int, ashift: int) -> None:
        super().__init__(members, parity, ashift)
        self.data = data
        self.spares = spares
        self.width = data + parity
        self.disks = members - spares
        self.group_bytes = self.width * ROW_BYTES
        self._slice_groups = self.width * self.disks // gcd(self.width, self.disks)
        self._slice_rows = self.width * self._slice_groups // self.disks
        self._orders: Orders = draid_orders(members)
        self.spared: dict[int, int] = {}

    def size(self, least_member: int) -> int:
        """Whole groups in the whole rows of the members that are not spare; two rows of each stay free."""
        rows = max(data_bytes(least_member) // ROW_BYTES - _FREE_ROWS, 0)
        return rows * ROW_BYTES * self.disks // self.group_bytes * self.group_bytes

    @property
    def place_bytes(self) -> int:
        """A row of a unit on each column (vdev_draid_metaslab_init)."""
        return self.width << self.ashift

    @property
    def rebuilds_in_order(self) -> bool:
        """Whether there is a distributed spare."""
        return self.spares > 0

    def asize(self, psize: int) -> int:
        """Whole rows of d + p units."""
        return -(-self.units(psize) // self.data) * self.width << self.ashift

    def reads(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """The data columns; if a column is lost, the zeros of all columns too, and parity if one with data is."""
        found: list[Piece] = []
        for start, units in self._parts(offset, psize):
            full = self._columns(start, units, True)
            gone = [column for column in full if column.member in lost]
            if len(gone) > self.parity:
                raise self.unreadable(len(lost))
            needs_parity = any(column.kind == DATA for column in gone)
            columns = full if gone else self._columns(start, units, False)
            found += [
                self.stand_in(column, offset)
                for column in columns
                if column.member not in lost and column.sectors and (needs_parity or column.kind == DATA)
            ]
        return found

    def writes(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """All columns at their full height."""
        return [
            self.stand_in(column, offset)
            for column in self.columns(offset, psize)
            if column.member not in lost or column.member in self.spared
        ]

    def scrubs(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """All columns at their full height."""
        return [self.stand_in(column, offset) for column in self.columns(offset, psize) if column.member not in lost]

    def columns(self, offset: int, psize: int) -> list[Piece]:
        """All columns at their full height, on their own members."""
        return [column for start, units in self._parts(offset, psize) for column in self._columns(start, units, True)]

    def trims(self, start: int, end: int) -> list[Piece]:
        """The whole rows of each group in the range."""
        found: list[Piece] = []
        row = self.width << self.ashift
        at = -(-start // row) * row
        while at + row <= end:
            stop = min(end, (at // self.group_bytes + 1) * self.group_bytes)
            rows = (stop - at) // row
            found += [self.stand_in(piece, at) for piece in self._columns(at, rows * self.data, True)]
            at = stop if stop < end else at + rows * row
        return found

    def stand_in(self, piece: Piece, offset: int) -> Piece:
        """A piece of a lost member is on its distributed spare, in the same row."""
        if piece.member not in self.spared:
            return piece
        return piece._replace(member=self.spare(offset, self.spared[piece.member]))

    def segment(self, longest: int) -> int:
        """As many bytes of each data column (vdev_draid_max_rebuildable_asize)."""
        return longest * self.data

    def spare(self, offset: int, number: int) -> int:
        """The member that holds the distributed spare `number` for the group of DVA `offset`."""
        return self._member(offset // self.group_bytes // self._slice_groups, self.disks + number)

    def _parts(self, offset: int, psize: int) -> list[tuple[int, int]]:
        """(offset, data units) of a block in each of the groups that it lies in: one or two."""
        units = self.units(psize)
        room = self.group_bytes - offset % self.group_bytes
        fits = (room >> self.ashift) // self.width * self.data
        if units <= fits:
            return [(offset, units)]
        return [(offset, fits), (offset + room, units - fits)]

    def _columns(self, offset: int, units: int, full: bool) -> list[Piece]:
        """The columns of one group; if `full`, all as high as the parity, else only their data."""
        group = offset // self.group_bytes
        start = group * self.width % self.disks
        turn = group // self._slice_groups
        row = turn * self._slice_rows + group % self._slice_groups * self.width // self.disks
        sector = row * (ROW_BYTES // self.unit_bytes) + (offset % self.group_bytes >> self.ashift) // self.width
        width, rest = divmod(units, self.data)
        longer = rest + self.parity if rest else 0
        highest = width + 1 if rest else width
        columns = []
        for column in range(self.width):
            place = start + column
            first = sector
            if place >= self.disks:
                place -= self.disks
                first += ROW_BYTES // self.unit_bytes
            height = highest if full or column < longer else width
            kind = PARITY if column < self.parity else DATA
            member = self._member(turn, place)
            columns.append(Piece(member, first * self.unit_sectors, height * self.unit_sectors, kind))
        return columns

    def _member(self, turn: int, place: int) -> int:
        """The member at a place of the slice `turn`: the orders take turns, each shifted by 0, 1, ... members."""
        order, shift = divmod(turn % (len(self._orders) * self.members), self.members)
        return (self._orders[order][place] + shift) % self.members
