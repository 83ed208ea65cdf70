"""RAID 10 as md does it: mirrored chunks dealt over any number of members, even or odd.

near: the copies of a chunk lie side by side in one row. far: the first part of every member is a RAID 0, and each
further copy repeats all of it one member further on, in the next part. offset: like far, but every row is
followed by its own shifted repetition. Source: Linux 6.1 drivers/md/raid10.c (__raid10_find_phys, calc_sectors).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import ClassVar

from .layout import Copies, CopyPlace, Extent, Layout, outside


class Raid10Layout(Layout):
    """Copies of every chunk on `copies_per_chunk` different members.

    Parameters
    ----------
    member_bytes
        Size of each member; all are used up to the end of the smallest.
    chunk_bytes
        Bytes on one member before the next one is used.
    algorithm
        "near", "far" or "offset".
    copies_per_chunk
        How often every chunk is stored; at most the number of members.

    Attributes
    ----------
    member_rows
        Rows of a member that are in use.
    period
        Number of chunks after which the pattern repeats, at higher offsets.

    slots, starts
        By the number of the chunk in a period: the members of its copies, and the bytes at which these begin there.
    turn_bytes
        How much further down the next period is.

    Notes
    -----
    A layout with other places overrides :meth:`pattern` and its inverse, :meth:`chunk_at`.
    """

    __slots__ = (
        "_bytes",
        "_groups",
        "_period_rows",
        "_table",
        "copies_per_chunk",
        "member_rows",
        "period",
        "slots",
        "starts",
        "turn_bytes",
    )
    algorithms: ClassVar = {"raid10": ("near", "far", "offset")}

    def __init__(
        self, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str = "near", copies_per_chunk: int = 2
    ) -> None:
        near = copies_per_chunk if algorithm == "near" else 1
        far = 1 if algorithm == "near" else copies_per_chunk
        members = len(member_bytes)
        chunks = min(member_bytes) // chunk_bytes // far * members // near
        super().__init__("raid10", algorithm, chunk_bytes, member_bytes, chunks * chunk_bytes)
        self.copies_per_chunk = copies_per_chunk
        self.member_rows = -(-chunks * copies_per_chunk // members)
        self._table, self._period_rows = self.pattern()
        self.period = len(self._table)
        self.slots = [[member for member, _ in places] for places in self._table]
        self.starts = [[row * chunk_bytes for _, row in places] for places in self._table]
        self.turn_bytes = self._period_rows * chunk_bytes
        self._bytes = tuple([tuple([(m, row * chunk_bytes) for m, row in places]) for places in self._table])
        self._groups = frozenset(frozenset(member for member, _ in places) for places in self._table)

    @property
    def on_all_members(self) -> bool:
        """Whether every member holds everything: near copies, as many as there are members."""
        return self.algorithm == "near" and self.copies_per_chunk == self.members

    @classmethod
    def made(
        cls, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str, copies: int
    ) -> Raid10Layout:
        return cls(member_bytes, chunk_bytes, algorithm, copies)

    def pattern(self) -> tuple[tuple[tuple[CopyPlace, ...], ...], int]:
        """Places of the copies of the first chunks, until they repeat, and how many rows further down they do.

        Unless they are near, a copy after the first may lie anywhere below: of far ones the second is
        ``member_rows // copies_per_chunk`` rows down.
        """
        copies, members, algorithm = self.copies_per_chunk, self.members, self.algorithm
        near, far = (copies, 1) if algorithm == "near" else (1, copies)
        stride = 1 if algorithm == "offset" else self.member_rows // far
        spread = far if algorithm == "offset" else 1
        period = members // gcd(members, near)
        table = []
        for chunk in range(period):
            places = []
            for slot in range(chunk * near, (chunk + 1) * near):
                row, first = divmod(slot, members)
                places += [((first + shift) % members, row * spread + shift * stride) for shift in range(far)]
            table.append(tuple(places))
        return tuple(table), period * near // members * spread

    def chunk_at(self, member: int, row: int) -> int:
        """The logical chunk of which `row` of `member` is a copy; beyond the last one for a row not used.

        Source: raid10.c, raid10_find_virt.
        """
        copies, members = self.copies_per_chunk, self.members
        if self.algorithm == "near":
            return (row * members + member) // copies
        if self.algorithm == "offset":
            row, shift = divmod(row, copies)
        else:
            shift, row = divmod(row, self.member_rows // copies)
            if shift >= copies:
                return self.chunks
        return row * members + (member - shift) % members

    def tolerates(self, lost: frozenset[int]) -> bool:
        return not any(group <= lost for group in self._groups)

    @property
    def survives(self) -> int:
        return self.copies_per_chunk - 1

    def extents(self, offset: int, size: int) -> list[Extent]:
        chunk, inside = divmod(offset, self.chunk_bytes)
        if inside + size <= self.chunk_bytes and 0 < size <= self.capacity - offset and offset >= 0:
            turn, index = divmod(chunk, self.period)
            member, at = self._bytes[index][0]
            return [(member, at + turn * self._period_rows * self.chunk_bytes + inside, size, offset)]
        return [(*places[0], length, logical) for logical, length, places in self.copies(offset, size)]

    def copies(self, offset: int, size: int) -> list[Copies]:
        end = offset + size
        if size <= 0 or offset < 0 or end > self.capacity:
            raise outside(self, offset, size)
        length = self.chunk_bytes
        chunk, inside = divmod(offset, length)
        period, table, step = self.period, self._bytes, self._period_rows * length
        pieces: list[Copies] = []
        while offset < end:
            piece = length - inside
            if piece > end - offset:
                piece = end - offset
            turn, index = divmod(chunk, period)
            down = turn * step + inside
            places: list[CopyPlace] = []
            for member, at in table[index]:
                places.append((member, at + down))
            pieces.append((offset, piece, tuple(places)))
            offset += piece
            chunk += 1
            inside = 0
        return pieces

    def map_chunk(self, chunk: int) -> CopyPlace:
        turn, index = divmod(chunk, self.period)
        member, row = self._table[index][0]
        return member, row + turn * self._period_rows

    def map_copies(self, chunk: int) -> tuple[CopyPlace, ...]:
        turn, index = divmod(chunk, self.period)
        down = turn * self._period_rows
        return tuple([(member, row + down) for member, row in self._table[index]])
