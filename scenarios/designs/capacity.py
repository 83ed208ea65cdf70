"""How much an array holds as planners count it: parity, spares, metadata, the file system, and how full it may get.

Sources: mdadm's super1.c (metadata 1.2 begins the data at sector 264,192 of a large device); e2fsprogs' mke2fs.conf and
mke2fs (inodes of 256 bytes, one for 64 KiB of a file system above 16 TiB and one for 16 KiB below 4 TiB, 5 % reserved
for root, a journal of 1 GiB at most); xfsprogs (a log of 2 GiB at most); what XFS reserves for its trees is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...model.core.errors import InputError
from ...model.drives.power import kwh_a_year
from ...model.files.quantities import format_size
from ...model.layouts import LEVELS, layout_for
from ...model.layouts.factory import level_name
from ...model.zfs.map.capacity import USUAL_BLOCK, pool_capacity
from ...model.zfs.map.kinds import vdevs_for
from ...model.zfs.map.pool import PoolMap
from ...model.zfs.map.words import are_alike, shared_out, vdev_words

FileSystemName = Literal["none", "ext4", "xfs"]
CHUNK = 512 * 1024
"""Bytes: mdadm's default."""
DATA_OFFSET = 264_192 * 512
"""Bytes before the data of a member, as mdadm makes arrays on drives of more than 128 GiB."""
USUAL_ASHIFT = 12
ZFS_PARTITION = 9 << 20
"""Bytes of a drive outside the partition that zpool makes: 1 MiB in front, 8 MiB behind (libzfs, zpool_label_disk)."""
_GIB = 1 << 30
_TIB = 1 << 40
_INODE_BYTES = 256
_INODE_RATIOS = ((16 * _TIB, 65536), (4 * _TIB, 32768), (0, 16384))
"""From a size of the file system on, the bytes that have one inode: "huge", "big" and the default of mke2fs.conf."""
_EXT4_RESERVED = 0.05
_EXT4_JOURNAL = 1 * _GIB
_XFS_LOG = 2 * _GIB
_XFS_TREES = 0.007
"""Share that XFS keeps for the trees of free space and of shared extents; assumed, what df shows of an empty one."""


@dataclass(frozen=True, slots=True)
class CapacityPlan:
    """What an array holds.

    Attributes
    ----------
    drives, spares
        All drives, and how many of them stand by.
    raw_bytes
        Of all drives.
    array_bytes
        Of the array, without parity, copies, spares and md's metadata; of a pool in blocks of 128 KiB.
    metadata_bytes
        What md keeps for itself on all members; of a pool labels, the rest of its last metaslabs and a metaslab for
        the intent log.
    file_system_bytes
        What the file system keeps for itself; of a pool the slop space.
    usable_bytes
        What files have.
    planned_bytes
        What should be stored: `usable_bytes` up to the fill limit.
    survives_any
        Drives that may be lost, whichever they are.
    cost
        Of all drives; None if the price is not given.
    pool_size
        Of a pool of ZFS, SIZE of `zpool list`: parity included. None of arrays.
    """

    drives: int
    spares: int
    raw_bytes: int
    array_bytes: int
    metadata_bytes: int
    file_system_bytes: int
    usable_bytes: int
    planned_bytes: int
    survives_any: int
    cost: float | None
    pool_size: int | None = None

    @property
    def cost_per_tb(self) -> float | None:
        """Cost of a terabyte (10^12 bytes) that should be stored."""
        return None if self.cost is None else self.cost / (self.planned_bytes / 1e12)


@dataclass(frozen=True, slots=True)
class PlannedPower:
    """The power of all drives of an array.

    Attributes
    ----------
    idle_watts, active_watts
        With all drives idle and all busy (W); None if the catalogue has no figure.
    class_spread
        The factor that drives of the class differ by whose power was taken; None if it is the drive's own.
    energy_price
        Price of a kWh; None if nobody asks.
    """

    idle_watts: float | None = None
    active_watts: float | None = None
    energy_price: float | None = None
    class_spread: float | None = None

    @property
    def kwh_a_year(self) -> tuple[float, float] | None:
        """Energy of a year (kWh) with all drives idle and all busy."""
        if self.idle_watts is None or self.active_watts is None:
            return None
        return kwh_a_year(self.idle_watts), kwh_a_year(self.active_watts)

    @property
    def cost_a_year(self) -> tuple[float, float] | None:
        """Price of that energy."""
        energy = self.kwh_a_year
        if energy is None or self.energy_price is None:
            return None
        return self.energy_price * energy[0], self.energy_price * energy[1]

    def document(self) -> dict[str, Any]:
        """All of it as plain data: pairs are of idle and of busy drives."""
        energy, cost = self.kwh_a_year, self.cost_a_year
        return {
            "idle_watts": self.idle_watts,
            "active_watts": self.active_watts,
            "class_spread": self.class_spread,
            "kwh_a_year": None if energy is None else list(energy),
            "cost_a_year": None if cost is None else list(cost),
        }


def capacity_plan(
    level: str,
    drives: int,
    drive_bytes: int,
    *,
    spares: int = 0,
    groups: int | None = None,
    chunk: int = CHUNK,
    file_system: FileSystemName | None = None,
    fill: float = 0.85,
    price: float | None = None,
) -> CapacityPlan:
    """Count what an array of equal drives holds, or a pool of ZFS.

    Parameters
    ----------
    level
        Any spelling of a level; of a pool its vdevs: "raidz2", "2 x raidz1", "mirrors", "draid2:4d:8c:1s".
    drives
        All drives, spares among them.
    drive_bytes
        Bytes of each.
    spares
        Drives that stand by.
    groups
        Inner arrays of RAID 50, 60 and 01.
    chunk
        Bytes; what is left behind the last whole chunk of a drive is lost.
    file_system
        What is made on the array; ext4 unless given. A pool has its own.
    fill
        How full it may get, as a share (default 85 %: assumed; file systems slow down and fragment above).
    price
        Of one drive.

    Examples
    --------
    >>> plan = capacity_plan("raid6", 12, 18 * 10**12, spares=1, file_system="none", fill=1.0)
    >>> round(plan.usable_bytes / 1e12), plan.survives_any
    (162, 2)
    """
    if not 0 <= spares < drives:
        raise InputError("spares", f"{spares} of {drives} drives", f"expected 0 to {drives - 1}")
    if are_alike(level):
        if groups is not None or file_system not in (None, "none"):
            option = "groups" if groups is not None else "file_system"
            raise InputError(option, f"found it with {level}, a pool of ZFS", "expected: with levels of md")
        return _pool_plan(level, drives, drive_bytes, spares, fill, price)
    known = LEVELS[level_name(level)]
    if spares and not known.spares:
        raise InputError("spares", f"{spares} of {known.label}", "expected 0: the level takes none")
    if drive_bytes <= DATA_OFFSET:
        most = format_size(DATA_OFFSET)
        expected = f"expected: a size with its unit, such as 18TB, above the {most} that md keeps"
        raise InputError("size", f"found {format_size(drive_bytes)}", expected)
    layout = layout_for(level, drives - spares, chunk, drive_bytes - DATA_OFFSET, groups=groups)
    kept = file_system_bytes(file_system or "ext4", layout.capacity)
    usable = max(0, layout.capacity - kept)
    return CapacityPlan(
        drives=drives,
        spares=spares,
        raw_bytes=drives * drive_bytes,
        array_bytes=layout.capacity,
        metadata_bytes=(drives - spares) * DATA_OFFSET,
        file_system_bytes=kept,
        usable_bytes=usable,
        planned_bytes=int(usable * fill),
        survives_any=layout.survives,
        cost=None if price is None else price * drives,
    )


def _pool_plan(
    vdevs: str, drives: int, drive_bytes: int, spares: int, fill: float, price: float | None
) -> CapacityPlan:
    members = drives - spares
    words = shared_out(vdevs, [str(number) for number in range(members)])
    assert words is not None
    made = [
        vdev for each in vdev_words(words.split()) for vdev in vdevs_for(each.kind, len(each.members), USUAL_ASHIFT)
    ]
    part = drive_bytes - ZFS_PARTITION
    found = pool_capacity(PoolMap(made), [max(part, 0)] * members)
    if not found.usable:
        expected = "expected: a size with its unit, such as 18TB, with room for the labels and metaslabs of ZFS"
        raise InputError("size", f"found {format_size(drive_bytes)}", expected)
    # Parity's share is that of a block of 128 KiB, and what is neither data nor parity is metadata.
    data = found.usable + found.slop
    with_parity = sum(vdev.size(part) * USUAL_BLOCK // vdev.asize(USUAL_BLOCK) for vdev in made)
    return CapacityPlan(
        drives=drives,
        spares=spares,
        raw_bytes=drives * drive_bytes,
        array_bytes=data,
        metadata_bytes=with_parity - data,
        file_system_bytes=found.slop,
        usable_bytes=found.usable,
        planned_bytes=int(found.usable * fill),
        survives_any=min(vdev.parity for vdev in made),
        cost=None if price is None else price * drives,
        pool_size=found.size,
    )


def file_system_bytes(file_system: FileSystemName, size: int) -> int:
    """Bytes that a file system of this size uses for its own metadata."""
    if file_system == "ext4":
        ratio = next(ratio for least, ratio in _INODE_RATIOS if size >= least)
        return int(size * (_INODE_BYTES / ratio + _EXT4_RESERVED)) + min(_EXT4_JOURNAL, size // 64)
    if file_system == "xfs":
        return int(size * _XFS_TREES) + min(_XFS_LOG, size // 2048)
    return 0
