"""How much a pool holds: the figures of `zpool list` and `zfs list` of an empty pool.

A vdev is divided into metaslabs of equal size, and what is left over is not used. `zpool list` adds these up with
their parity. `zfs list` counts a vdev by what blocks of 128 KiB leave of it, whatever sizes are written later, and
keeps a thirty-second part back (the slop space). Source: OpenZFS 2.3 module/zfs/vdev.c (vdev_metaslab_set_size,
vdev_set_deflate_ratio), module/zfs/spa_misc.c (spa_get_slop_space), module/zfs/vdev_draid.c (vdev_draid_open).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .pool import NORMAL, SPECIAL, PoolMap
from .vdev import SECTOR_BYTES, Vdev

USUAL_BLOCK = 128 * 1024
"""Bytes of the blocks that `zfs list` takes all blocks to be."""
SLOP_SHIFT = 5
"""Default of the module parameter spa_slop_shift."""

_LEAST_SLOP, _MOST_SLOP = 128 << 20, 128 << 30
_DEFAULT_SHIFT, _LEAST_SHIFT, _MOST_SHIFT = 29, 24, 34
_LEAST_METASLABS, _DEFAULT_METASLABS, _MOST_METASLABS = 16, 200, 131072
_LOG_METASLABS = 64
"""A vdev with this number of metaslabs keeps one for the intent log (zfs_embedded_slog_min_ms)."""


class PoolCapacity(NamedTuple):
    """Bytes of an empty pool.

    Attributes
    ----------
    size
        SIZE of `zpool list`: of data and special vdevs, with parity.
    usable
        USED + AVAIL of `zfs list`: for data, if all blocks are of 128 KiB.
    slop
        What is kept back, and counted neither as used nor as available.
    """

    size: int
    usable: int
    slop: int


def metaslab_shift(size: int) -> int:
    """log2 of the size of a metaslab of a vdev of `size` bytes."""
    count = size >> _DEFAULT_SHIFT
    shift = _DEFAULT_SHIFT
    if count < _LEAST_METASLABS:
        shift = (size // _LEAST_METASLABS).bit_length()
    elif count > _DEFAULT_METASLABS:
        shift = (size // _DEFAULT_METASLABS).bit_length()
    if shift > _MOST_SHIFT:
        return max(_MOST_SHIFT, (size // _MOST_METASLABS).bit_length() if size >> _MOST_SHIFT > _MOST_METASLABS else 0)
    return max(shift, _LEAST_SHIFT)


def pool_capacity(pool: PoolMap, member_bytes: Sequence[int], slop_shift: int = SLOP_SHIFT) -> PoolCapacity:
    """The capacity of a pool.

    Parameters
    ----------
    pool
        Its vdevs.
    member_bytes
        Size of each of its members; a vdev uses of all what its smallest has.
    slop_shift
        Module parameter spa_slop_shift.
    """
    size = space = log = 0
    for number, vdev in enumerate(pool.vdevs):
        if pool.roles[number] not in (NORMAL, SPECIAL):
            continue
        whole = vdev.size(min(member_bytes[leaf] for leaf in pool.leaves(number)))
        shift = metaslab_shift(whole)
        metaslabs = whole >> shift
        size += metaslabs << shift
        if pool.roles[number] == NORMAL:
            kept = 1 if metaslabs >= _LOG_METASLABS else 0
            log += _deflated(vdev, kept << shift)
            space += _deflated(vdev, (metaslabs - kept) << shift)
    slop = min(space >> slop_shift, _MOST_SLOP)
    slop -= min(log, slop // 2)
    slop = max(slop, min(space // 2, _LEAST_SLOP))
    return PoolCapacity(size, max(space - slop, 0), min(slop, space))


def _deflated(vdev: Vdev, size: int) -> int:
    """Bytes of data in `size` bytes of a vdev, in blocks of 128 KiB."""
    return size // SECTOR_BYTES * (USUAL_BLOCK // (vdev.asize(USUAL_BLOCK) // SECTOR_BYTES))
