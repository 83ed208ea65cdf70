"""RAID 0: chunks dealt to the members in turn, in zones where members differ in size.

The first zone spans all members up to the end of the smallest, the next one all that are larger, and so on.
Inside a later zone md has two ways to start: `original` (Linux before 3.14, and again by choice) takes the
logical chunk number of the whole array modulo the width of the zone, `alternate` (3.14 and later) counts from the
start of the zone. They differ only with unequal members. Source: Linux 6.1 drivers/md/raid0.c (create_strip_zones,
map_sector).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from ..core.search import right_of
from .layout import CopyPlace, Extent, Layout, outside


class Zone(NamedTuple):
    """Logical chunks `start` to `end`, dealt to `members` from their chunk `first_row` on."""

    start: int
    end: int
    members: tuple[int, ...]
    first_row: int


class StripedLayout(Layout):
    """Members of any size, each used up to its last whole chunk.

    Parameters
    ----------
    member_bytes
        Size of each member.
    chunk_bytes
        Bytes on one member before the next one is used; any positive number.
    algorithm
        "original" or "alternate".
    """

    __slots__ = ("_bases", "_ends", "_width", "zones")
    algorithms: ClassVar = {"raid0": ("original", "alternate")}

    def __init__(self, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str = "original") -> None:
        self.zones = _zones([size // chunk_bytes for size in member_bytes])
        self._ends = [zone.end for zone in self.zones]
        chunks = self._ends[-1] if self._ends else 0
        super().__init__("raid0", algorithm, chunk_bytes, member_bytes, chunks * chunk_bytes)
        self._bases = [zone.start if algorithm == "alternate" else 0 for zone in self.zones]
        self._width = self.members if len(self.zones) == 1 and len(self.zones[0].members) == self.members else 0

    @classmethod
    def made(
        cls, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str, copies: int
    ) -> StripedLayout:
        return cls(member_bytes, chunk_bytes, algorithm)

    @property
    def width(self) -> int:
        """How many members the chunks are dealt to in turn; 0 if their sizes differ."""
        return self._width

    def tolerates(self, lost: frozenset[int]) -> bool:
        return not lost

    @property
    def survives(self) -> int:
        return 0

    def extents(self, offset: int, size: int) -> list[Extent]:
        if size <= 0 or offset < 0 or offset + size > self.capacity:
            raise outside(self, offset, size)
        length = self.chunk_bytes
        chunk, inside = divmod(offset, length)
        width = self._width
        if inside + size <= length:
            if width:
                row, member = divmod(chunk, width)
            else:
                member, row = self.map_chunk(chunk)
            return [(member, row * length + inside, size, offset)]
        pieces = []
        locate = self.map_chunk
        end = offset + size
        while offset < end:
            member, row = locate(chunk)
            piece = min(length - inside, end - offset)
            pieces.append((member, row * length + inside, piece, offset))
            offset += piece
            chunk += 1
            inside = 0
        return pieces

    def map_chunk(self, chunk: int) -> CopyPlace:
        width = self._width
        if width:
            return chunk % width, chunk // width
        index = right_of(self._ends, chunk)
        zone = self.zones[index]
        width = len(zone.members)
        return zone.members[(chunk - self._bases[index]) % width], zone.first_row + (chunk - zone.start) // width


def _zones(member_chunks: Sequence[int]) -> list[Zone]:
    zones = []
    start = row = 0
    for size in sorted(set(member_chunks)):
        if size > row:
            members = tuple([member for member, chunks in enumerate(member_chunks) if chunks > row])
            end = start + (size - row) * len(members)
            zones.append(Zone(start, end, members, row))
            start, row = end, size
    return zones
