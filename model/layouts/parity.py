"""RAID 4, 5 and 6: rows of one chunk per member, of which one or two hold parity.

Where P and Q stand in a row, and in which order the data follow, is the algorithm: left or right (which way
parity walks), symmetric (data continue after the parity) or asymmetric (data restart at the first member), parity
first or last, the `*-6` ones (RAID 5 on all but the last member, Q on the last) and the three of the SNIA Disk Data
Format. Everything repeats after a few rows, so it is kept as a table. Source: Linux 6.1 drivers/md/raid5.c
(raid5_compute_sector, raid6_idx_to_slot), the names from mdadm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from .layout import CopyPlace, Extent, Layout, outside
from .levels import LEVELS

RAID4_ALGORITHMS = ("parity-last",)
RAID5_ALGORITHMS = (
    "left-symmetric",
    "left-asymmetric",
    "right-symmetric",
    "right-asymmetric",
    "parity-first",
    "parity-last",
)
RAID6_ALGORITHMS = (
    *RAID5_ALGORITHMS,
    "left-symmetric-6",
    "left-asymmetric-6",
    "right-symmetric-6",
    "right-asymmetric-6",
    "parity-first-6",
    "ddf-zero-restart",
    "ddf-N-restart",
    "ddf-N-continue",
)


class Row(NamedTuple):
    """The members of one row: the data in logical order, P, and Q (None below RAID 6)."""

    data: tuple[int, ...]
    p: int
    q: int | None


class ParityLayout(Layout):
    """Equal members; row r is at byte r * chunk_bytes of every member.

    Parameters
    ----------
    level
        "raid3", "raid4", "raid5" or "raid6": the first three have P, the last has P and Q.
    member_bytes
        Size of each member; all are used up to the end of the smallest.
    chunk_bytes
        Bytes of one member in one row.
    algorithm
        One of the names in this module.

    Attributes
    ----------
    parities, data_members
        How many members of a row hold parity, and how many data.
    rows
        How many rows there are.
    stripe_bytes
        Data bytes of a row.
    row_table
        The rows of one period as :class:`Row`; row r is ``row_table[r % period]``.
    exponent_table
        Per row of one period the power of 2 that each data chunk has in Q, in logical order; empty without Q.
    period
        After how many rows the table repeats.
    """

    __slots__ = (
        "_data",
        "_q_orders",
        "data_members",
        "exponent_table",
        "parities",
        "period",
        "row_table",
        "rows",
        "stripe_bytes",
    )
    algorithms: ClassVar = {"raid4": RAID4_ALGORITHMS, "raid5": RAID5_ALGORITHMS, "raid6": RAID6_ALGORITHMS}

    def __init__(self, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str) -> None:
        members = len(member_bytes)
        self.parities = LEVELS[level].parities
        self.data_members = members - self.parities
        self.rows = min(member_bytes) // chunk_bytes
        self.stripe_bytes = self.data_members * chunk_bytes
        super().__init__(level, algorithm, chunk_bytes, member_bytes, self.rows * self.stripe_bytes)
        self.row_table = self.pattern()
        self.period = len(self.row_table)
        self._data = tuple([row.data for row in self.row_table])
        self.exponent_table = tuple([_exponents(algorithm, members, row) for row in self.row_table])
        self._q_orders = tuple(
            [
                tuple(sorted(zip(row.data, powers, strict=False), key=lambda pair: pair[1]))
                for row, powers in zip(self.row_table, self.exponent_table, strict=True)
            ]
        )

    @classmethod
    def made(
        cls, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str, copies: int
    ) -> ParityLayout:
        return cls(level, member_bytes, chunk_bytes, algorithm)

    def pattern(self) -> tuple[Row, ...]:
        """The rows until they repeat. A layout that deals them in another way overrides this."""
        algorithm, members = str(self.algorithm), self.members
        place = _raid6_row if self.parities == 2 else _raid5_row
        return tuple([place(algorithm, members, row) for row in range(_period(algorithm, members))])

    def tolerates(self, lost: frozenset[int]) -> bool:
        return len(lost) <= self.parities

    def row(self, row: int) -> Row:
        """Return the members of a row (unchecked)."""
        return self.row_table[row % self.period]

    def exponents(self, row: int) -> tuple[int, ...]:
        """Return the exponent of 2 that each data chunk of a row has in Q, in logical order; () without Q."""
        return self.exponent_table[row % self.period]

    def q_order(self, row: int) -> tuple[tuple[int, int], ...]:
        """Return (member, exponent of 2) for each data member of a row, by rising exponent; () without Q.

        md counts the data members in cyclic order from the one after Q, skipping P; the DDF algorithms use the
        number of the member itself, so parity members leave gaps.
        """
        return self._q_orders[row % self.period]

    def locate(self, offset: int) -> tuple[int, int, int]:
        """Return row, index of the data chunk in the row, and offset inside the chunk (unchecked)."""
        chunk, inside = divmod(offset, self.chunk_bytes)
        row, index = divmod(chunk, self.data_members)
        return row, index, inside

    @property
    def survives(self) -> int:
        return self.parities

    def extents(self, offset: int, size: int) -> list[Extent]:
        if size <= 0 or offset < 0 or offset + size > self.capacity:
            raise outside(self, offset, size)
        length = self.chunk_bytes
        data, period, width = self._data, self.period, self.data_members
        chunk, inside = divmod(offset, length)
        row, index = divmod(chunk, width)
        if inside + size <= length:
            return [(data[row % period][index], row * length + inside, size, offset)]
        pieces = []
        end = offset + size
        while offset < end:
            piece = min(length - inside, end - offset)
            pieces.append((data[row % period][index], row * length + inside, piece, offset))
            offset += piece
            inside = 0
            index += 1
            if index == width:
                index = 0
                row += 1
        return pieces

    def map_chunk(self, chunk: int) -> CopyPlace:
        row, index = divmod(chunk, self.data_members)
        return self._data[row % self.period][index], row


def _period(algorithm: str, members: int) -> int:
    if algorithm.startswith("parity-"):
        return 1
    return members - 1 if algorithm.endswith("-6") else members


def _raid5_row(algorithm: str, members: int, row: int) -> Row:
    p = {
        "left": members - 1 - row % members,
        "right": row % members,
        "parity": 0 if algorithm == "parity-first" else members - 1,
    }[algorithm.partition("-")[0]]
    if algorithm.endswith("-symmetric"):
        return Row(_after(p, members - 1, members), p, None)
    return Row(_others(members, p), p, None)


def _raid6_row(algorithm: str, members: int, row: int) -> Row:
    if algorithm.endswith("-6"):
        data, p, _ = _raid5_row(algorithm.removesuffix("-6"), members - 1, row)
        return Row(data, p, members - 1)
    if algorithm == "ddf-N-continue":  # left-symmetric, but Q stands before P
        p = members - 1 - row % members
        return Row(_after(p, members - 2, members), p, (p - 1) % members)
    if algorithm == "parity-last":
        return Row(_others(members, members - 2, members - 1), members - 2, members - 1)
    if algorithm == "ddf-zero-restart":
        p = row % members
    elif algorithm == "ddf-N-restart":  # left-asymmetric one row further on: the first row ends with P, Q
        p = members - 1 - (row + 1) % members
    else:
        p = _raid5_row(algorithm, members, row).p
    q = (p + 1) % members
    if algorithm.endswith("-symmetric"):
        return Row(_after(q, members - 2, members), p, q)
    return Row(_others(members, p, q), p, q)


def _after(member: int, count: int, members: int) -> tuple[int, ...]:
    return (*range(member + 1, members), *range(member + 1))[:count]


def _others(members: int, *parity: int) -> tuple[int, ...]:
    others = list(range(members))
    for member in sorted(parity, reverse=True):
        del others[member]
    return tuple(others)


def _exponents(algorithm: str, members: int, row: Row) -> tuple[int, ...]:
    if row.q is None:
        return ()
    if algorithm.startswith("ddf-"):
        return row.data
    cyclic = [member for member in _after(row.q, members, members) if member not in (row.p, row.q)]
    place = {member: number for number, member in enumerate(cyclic)}
    return tuple([place[member] for member in row.data])
