"""RAID 1: every member holds everything, at the same address.

Source: Linux 6.1 drivers/md/raid1.c; FreeBSD gmirror keeps the same map.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .layout import Copies, CopyPlace, Extent, Layout, outside


class MirroredLayout(Layout):
    """Two or more equal members; the array is as large as the smallest.

    Parameters
    ----------
    member_bytes
        Size of each member.
    """

    __slots__ = ("_order",)
    algorithms: ClassVar = {"raid1": ("",)}

    def __init__(self, member_bytes: Sequence[int]) -> None:
        super().__init__("raid1", None, 0, member_bytes, min(member_bytes))
        self._order = tuple(range(self.members))

    @classmethod
    def made(
        cls, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str, copies: int
    ) -> MirroredLayout:
        return cls(member_bytes)

    def tolerates(self, lost: frozenset[int]) -> bool:
        return any(member not in lost for member in self._order)

    @property
    def survives(self) -> int:
        return self.members - 1

    def extents(self, offset: int, size: int) -> list[Extent]:
        if size <= 0 or offset < 0 or offset + size > self.capacity:
            raise outside(self, offset, size)
        return [(0, offset, size, offset)]

    def copies(self, offset: int, size: int) -> list[Copies]:
        if size <= 0 or offset < 0 or offset + size > self.capacity:
            raise outside(self, offset, size)
        return [(offset, size, tuple([(member, offset) for member in self._order]))]

    def map_chunk(self, chunk: int) -> CopyPlace:
        return 0, chunk

    def map_copies(self, chunk: int) -> tuple[CopyPlace, ...]:
        return tuple([(member, chunk) for member in self._order])
