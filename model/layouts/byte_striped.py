"""RAID 3: every sector of the array is split over all data members, the last member holds the parity.

FreeBSD's graid3 makes a sector of 512 * (n - 1) bytes of n members, so every I/O, however small, keeps all of them
busy, and no write has to read first. Its own map is that of RAID 4 with chunks of 512 bytes.
graid3 takes 2^k + 1 members only; the arithmetic holds for any number. Source: FreeBSD sys/geom/raid3/g_raid3.c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .layout import outside
from .parity import ParityLayout

MEMBER_SECTOR = 512


class ByteStripedLayout(ParityLayout):
    """Equal members that work in lockstep; `chunk_bytes` is the 512 bytes of one sector on one member.

    Parameters
    ----------
    member_bytes
        Size of each member; all are used up to the end of the smallest.
    """

    __slots__ = ()
    algorithms: ClassVar = {"raid3": ("",)}

    def __init__(self, member_bytes: Sequence[int]) -> None:
        super().__init__("raid3", member_bytes, MEMBER_SECTOR, "parity-last")
        self.algorithm = None

    @classmethod
    def made(
        cls, level: str, member_bytes: Sequence[int], chunk_bytes: int, algorithm: str, copies: int
    ) -> ByteStripedLayout:
        return cls(member_bytes)

    @property
    def sector_bytes(self) -> int:
        """The smallest I/O of the array: 512 bytes of each data member."""
        return self.stripe_bytes

    def member_extent(self, offset: int, size: int) -> tuple[int, int]:
        """Return member offset and size of the one I/O that each member does for a range.

        The range is widened to whole sectors of the array.

        Raises
        ------
        ModelError
            If the range is empty or goes beyond the array.
        """
        if size <= 0 or offset < 0 or offset + size > self.capacity:
            raise outside(self, offset, size)
        sector = self.stripe_bytes
        first = offset // sector
        last = -(-(offset + size) // sector)
        return first * MEMBER_SECTOR, (last - first) * MEMBER_SECTOR
