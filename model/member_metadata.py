"""Writes of superblock and bitmap to the members of an array: where they go and who waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .request import RESYNC_STREAM, WRITE, WRITE_THROUGH, Device, Request

SECTOR = 512
SUPERBLOCK_SECTOR = 8
BITMAP_SECTOR = 16
"""Where version 1.2 metadata put superblock and bitmap on a member (sectors)."""
DATA_OFFSET_SECTORS = 2048
"""Where they put the data, unless the chunk asks for more."""


class MetadataWrite(Request):
    """A write of superblock or bitmap to one member.

    The metadata lie right before the data, so for the member it is a write at its beginning.

    Attributes
    ----------
    sector
        Where it goes, relative to the beginning of the data (negative).
    """

    __slots__ = ("sector",)

    def __init__(self, sector: int, size: int, done: Callable[[Request], None]) -> None:
        super().__init__(WRITE, 0, size, done, RESYNC_STREAM, WRITE_THROUGH)
        self.sector = sector


class Redundant(Protocol):
    """What the metadata need of their array."""

    name: str

    @property
    def members(self) -> list[Device]:
        """In slot order."""

    @property
    def failed(self) -> frozenset[int]:
        """Slots that do not hold everything."""

    @property
    def rebuilding(self) -> frozenset[int]:
        """Slots among them that are there to be written."""

    @property
    def capacity(self) -> int:
        """Logical bytes."""

    def resync_range(self, offset: int, size: int) -> tuple[int, int]:
        """From where to where a logical range lies in the address space that the bitmap counts in."""

    def unplug(self) -> None:
        """Let held-back requests go."""


class MemberMetadata:
    """Writes the same metadata to every member of an array and waits for all.

    Attributes
    ----------
    writes
        Member writes so far.
    """

    __slots__ = ("_array", "_data_offset", "writes")

    def __init__(self, array: Redundant, data_offset_sectors: int) -> None:
        self._array = array
        self._data_offset = data_offset_sectors
        self.writes = 0

    def write(self, sector: int, size: int, then: Callable[[], None]) -> None:
        """Write `size` bytes at `sector` of every member that is there, last slot first, and call `then`."""
        array = self._array
        absent = array.failed - array.rebuilding
        devices = [device for slot, device in enumerate(array.members) if slot not in absent]
        left = len(devices)
        self.writes += left

        def done(_: Request) -> None:
            nonlocal left
            left -= 1
            if not left:
                then()

        for device in reversed(devices):
            device.submit(MetadataWrite(sector - self._data_offset, size, done))
        array.unplug()
