"""What a scan does, and its module parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ScanAction = Literal["scrub", "resilver", "rebuild", "trim"]
"""Reads all blocks; reads blocks and writes what a new member lacks; the same by ranges of space (zpool replace -s);
tells the members what is free."""


@dataclass(frozen=True, slots=True)
class TrimSettings:
    """Module parameters of trims.

    Attributes
    ----------
    extent_min, extent_max
        Bytes of a range that is trimmed; smaller ones are left out, larger ones are divided (zfs_trim_extent_bytes_min,
        zfs_trim_extent_bytes_max).
    queue_limit
        Ranges that a member has under way (zfs_trim_queue_limit).
    txg_batch
        Transaction groups from one autotrim of a metaslab to the next at least (zfs_trim_txg_batch).
    """

    extent_min: int = 32 << 10
    extent_max: int = 128 << 20
    queue_limit: int = 10
    txg_batch: int = 32


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """Module parameters; the defaults are those of OpenZFS 2.3.

    Attributes
    ----------
    vdev_limit
        Bytes that a scan has under way for each data member of a vdev (zfs_scan_vdev_limit).
    scrub_min_time_s, resilver_min_time_s
        Least time (s) of a scan in a transaction group that somebody waits for (zfs_scrub_min_time_ms,
        zfs_resilver_min_time_ms).
    memory_part
        Blocks that are found and not yet read take up to this part of memory (zfs_scan_mem_lim_fact).
    rebuild_segment
        Bytes of a member that a sequential rebuild reads at a time (zfs_rebuild_max_segment).
    rebuild_vdev_limit
        Bytes that it has under way for each member of a vdev (zfs_rebuild_vdev_limit).
    trim
        Of trims.
    """

    vdev_limit: int = 16 << 20
    scrub_min_time_s: float = 1.0
    resilver_min_time_s: float = 3.0
    memory_part: int = 20
    rebuild_segment: int = 1 << 20
    rebuild_vdev_limit: int = 64 << 20
    trim: TrimSettings = TrimSettings()
