"""A top-level vdev: the part of a pool that holds whole blocks.

A block pointer names a vdev, an offset in it (its DVA offset) and the block's physical size (`psize`, what is left
after compression). From these a vdev says which members are read and written. Nothing here knows of time, queues
or free space.

Members are numbered within the vdev. Sectors have 512 bytes, and sector 0 of a member is where DVA offset 0 may lie:
behind the labels in front (:data:`~.labels.FRONT_SECTORS`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mypy_extensions import mypyc_attr

from ...core.errors import InputError

SECTOR_BYTES = 512
DATA, PARITY, PADDING = "data", "parity", "padding"


class Piece(NamedTuple):
    """A contiguous range of one member.

    Attributes
    ----------
    member
        Number of the member.
    sector, sectors
        First sector (512 bytes) behind the front labels, and how many.
    kind
        "data" (on a mirror: the whole block), "parity", or "padding": sectors that belong to the block and hold
        nothing. A queue writes padding only to join two writes or to lengthen one (:func:`joined`).
    """

    member: int
    sector: int
    sectors: int
    kind: str


def joined(pieces: Iterable[Piece]) -> list[tuple[int, int, int]]:
    """(member, sector, sectors) of the requests that write the pieces of one block, by member and sector.

    Ranges that follow each other are one request. Padding that follows nothing is not written.
    """
    runs: list[tuple[int, int, int]] = []
    for member, sector, sectors, kind in sorted(pieces):
        if runs:
            last, start, length = runs[-1]
            if last == member and start + length == sector:
                runs[-1] = (member, start, length + sectors)
                continue
        if kind != PADDING:
            runs.append((member, sector, sectors))
    return runs


@mypyc_attr(allow_interpreted_subclasses=True)
class Vdev:
    """Base of the vdevs.

    Parameters
    ----------
    members
        How many members it has.
    parity
        How many of them may be lost.
    ashift
        log2 of its allocation unit in bytes (9 to 16).

    Attributes
    ----------
    unit_bytes, unit_sectors
        The allocation unit.
    """

    def __init__(self, members: int, parity: int, ashift: int) -> None:
        self.members = members
        self.parity = parity
        self.ashift = ashift
        self.unit_bytes = 1 << ashift
        self.unit_sectors = self.unit_bytes // SECTOR_BYTES

    @property
    def rebuilds_in_order(self) -> bool:
        """Whether its lost members can be rebuilt in the order of space."""
        return False

    @property
    def place_bytes(self) -> int:
        """Bytes that the places of blocks are multiples of."""
        return self.unit_bytes

    def units(self, psize: int) -> int:
        """Allocation units of the data of a block of `psize` bytes."""
        return -(-psize // self.unit_bytes)

    def size(self, least_member: int) -> int:
        """Bytes of its address space, parity included, if its smallest member has `least_member` bytes."""
        raise NotImplementedError

    def asize(self, psize: int) -> int:
        """Bytes of the vdev that a block of `psize` bytes takes, with parity and padding."""
        raise NotImplementedError

    def reads(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """What is read for a block at DVA `offset`, when the members `lost` are missing.

        Raises
        ------
        InputError
            If more members are lost than the vdev can do without.
        """
        raise NotImplementedError

    def writes(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """What is written for a block at DVA `offset`; nothing to the members `lost`."""
        raise NotImplementedError

    def scrubs(self, offset: int, psize: int, lost: frozenset[int] = frozenset()) -> list[Piece]:
        """What a scrub or a resilver reads of a block at DVA `offset`."""
        raise NotImplementedError

    def columns(self, offset: int, psize: int) -> list[Piece]:
        """All columns of a block at DVA `offset`, on their own members, be they lost or not."""
        return self.scrubs(offset, psize)

    def trims(self, start: int, end: int) -> list[Piece]:
        """The ranges of members that the DVA offsets from `start` to `end` are."""
        raise NotImplementedError

    def stand_in(self, piece: Piece, offset: int) -> Piece:
        """Where a rebuild writes a piece of a lost member: in its place on a new one, or on a distributed spare."""
        return piece

    def segment(self, longest: int) -> int:
        """psize of the largest block that a sequential rebuild reads, of up to `longest` bytes of a member."""
        return longest

    def unreadable(self, lost: int) -> InputError:
        """The error of a block that has lost too much."""
        return InputError(
            "lost members", f"found {lost} of {self.members} members lost", f"expected: at most {self.parity}"
        )
