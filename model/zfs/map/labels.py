"""The labels of a member: two in front of the data and two behind, each with a ring of uberblocks.

An uberblock is a pool's root. Each transaction group writes one into every label of the members that get it, in the
next slot of the rings. Source: OpenZFS 2.3 include/sys/vdev_impl.h (vdev_label_t, VDEV_UBERBLOCK_*) and
module/zfs/vdev_label.c (vdev_uberblock_sync).
"""

from __future__ import annotations

from .vdev import SECTOR_BYTES

LABEL_BYTES = 256 * 1024
FRONT_BYTES = 4 * 2**20
"""Two labels and room for a boot loader."""
END_BYTES = 2 * LABEL_BYTES
FRONT_SECTORS = FRONT_BYTES // SECTOR_BYTES
"""Where sector 0 of a vdev's map is on a member."""

_RING_BYTES = LABEL_BYTES // 2
_LEAST_UBERBLOCK, _MOST_UBERBLOCK = 1024, 8192


def label_bytes_of(member_bytes: int) -> int:
    """Bytes of a member that its labels lie in: whole labels."""
    return member_bytes // LABEL_BYTES * LABEL_BYTES


def data_bytes(member_bytes: int) -> int:
    """Bytes of a member between its labels."""
    return label_bytes_of(member_bytes) - FRONT_BYTES - END_BYTES


def uberblock_bytes(ashift: int) -> int:
    """Size of an uberblock's slot: an allocation unit, 1 to 8 KiB."""
    return min(max(1 << ashift, _LEAST_UBERBLOCK), _MOST_UBERBLOCK)


def uberblocks(txg: int, member_bytes: int, ashift: int) -> list[tuple[int, int]]:
    """(sector, sectors) of the four uberblocks that transaction group `txg` writes to a member.

    Sectors count from the end of the front labels: those of the two labels in front are negative.
    """
    size = uberblock_bytes(ashift)
    place = _RING_BYTES + txg % (_RING_BYTES // size) * size
    end = label_bytes_of(member_bytes)
    labels = (0, LABEL_BYTES, end - 2 * LABEL_BYTES, end - LABEL_BYTES)
    return [((label + place - FRONT_BYTES) // SECTOR_BYTES, size // SECTOR_BYTES) for label in labels]
