"""Writes of superblock and bitmap to the members of an array: where they go and what waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ...core.device import Device
from ...core.request import RESYNC_ISSUER, WAITED, WRITE, WRITE_THROUGH, Request

SECTOR = 512
SUPERBLOCK_SECTOR = 8
BITMAP_SECTORS = 8
"""Where version 1.2 metadata put the superblock on a member (sectors), and how far behind it the bitmap begins, also of
version 0.90 (MD_SB_BYTES; drivers/md/md.c, super_90_load)."""
DATA_OFFSET_SECTORS = 2048
"""Where they put the data, unless the chunk asks for more."""


@dataclass(frozen=True, slots=True)
class Superblock:
    """Where a version of metadata has the superblock of a member, and how it is written.

    Attributes
    ----------
    size
        Bytes.
    last_block
        Size of the block at the end of the used part of a member that holds the superblock, a full-stroke seek away
        from the beginning; 0: right before the data.
    through
        Whether the write is done only when it is on the platters, or once the drive has taken it.
    in_turn
        Whether one member is written after the other.
    """

    size: int = SECTOR
    last_block: int = 0
    write_through: bool = True
    in_turn: bool = False


VERSION_0_90 = Superblock(size=4096, last_block=64 * 1024, write_through=False, in_turn=True)
"""As Linux 2.6 writes it up to 2.6.12: a page (MD_SB_BYTES; include/linux/raid/md_p.h, MD_NEW_SIZE_SECTORS), and waits
for it before it goes on to the next member (drivers/md/md.c: md_update_sb, write_disk_sb); assumed: no barrier, which
md has of later kernels."""
GEOM = Superblock(size=SECTOR, last_block=SECTOR, write_through=False, in_turn=True)
"""As FreeBSD 6.2's gmirror and graid3 write it: the last sector, and the next member's when it is there
(sys/geom/mirror/g_mirror.c: g_mirror_unidle, g_mirror_idle, g_mirror_write_metadata; g_raid3.c likewise)."""
VERSION_1_2 = Superblock()
"""As Linux 6.1 was recorded to write it."""


class MetadataWrite(Request):
    """A write of superblock or bitmap to one member.

    Metadata that lie right before the data are for the member a write at its beginning.

    Attributes
    ----------
    sector
        Where it goes, relative to the beginning of the data (negative if before them).
    """

    __slots__ = ("sector",)

    def __init__(self, sector: int, size: int, done: Callable[[Request], None], write_through: bool = True) -> None:
        offset = max(sector, 0) * SECTOR
        super().__init__(WRITE, offset, size, done, RESYNC_ISSUER, WRITE_THROUGH if write_through else WAITED)
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

    def plug(self) -> None:
        """Hold requests back, so that neighbors merge."""

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

    def sector_of(self, superblock: Superblock) -> int:
        """Where the superblock is, counted from the beginning of a member."""
        block = superblock.last_block
        if not block:
            return SUPERBLOCK_SECTOR
        least = min(member.capacity for member in self._array.members)
        return (least // block - 1) * block // SECTOR + self._data_offset

    def write_superblock(self, superblock: Superblock, then: Callable[[], None]) -> None:
        """Write the superblock of every member that is there, and call `then`."""
        sector = self.sector_of(superblock)
        if not superblock.in_turn:
            self.write(sector, superblock.size, then, superblock.write_through)
            return
        self._write_in_turn(self._present(), sector - self._data_offset, superblock, then)

    def _write_in_turn(
        self,
        left: list[Device],
        offset: int,
        superblock: Superblock,
        then: Callable[[], None],
        _: Request | None = None,
    ) -> None:
        """Write the superblock of the first of the members that are left, and go on when it is there."""
        if not left:
            then()
            return
        self.writes += 1
        device, *others = left
        done = partial(self._write_in_turn, others, offset, superblock, then)
        device.submit(MetadataWrite(offset, _whole(superblock.size, device), done, superblock.write_through))
        self._array.unplug()

    def write(self, sector: int, size: int, then: Callable[[], None], write_through: bool = True) -> None:
        """Write `size` bytes at `sector` of every member that is there, last slot first, and call `then`."""
        devices = self._present()
        left = len(devices)
        self.writes += left

        def done(_: Request) -> None:
            nonlocal left
            left -= 1
            if not left:
                then()

        for device in reversed(devices):
            device.submit(MetadataWrite(sector - self._data_offset, _whole(size, device), done, write_through))
        self._array.unplug()

    def _present(self) -> list[Device]:
        """The members that are there, in slot order."""
        absent = self._array.failed - self._array.rebuilding
        return [device for slot, device in enumerate(self._array.members) if slot not in absent]


def _whole(size: int, device: Device) -> int:
    """Bytes of metadata, rounded up to the device's logical sector (drivers/md/md.c: super_1_load, rdev->sb_size)."""
    sector = device.logical_sector
    return -(-size // sector) * sector
