"""Module parameters of a pool, and its volumes and files as they are described."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..arc.settings import FeedSettings, PrefetchSettings
from ..intent_log.records import LogRules

LARGEST_DEFAULT: Final = 4 << 30
ARC_LEFT_BYTES: Final = 1 << 30
"""Memory that the ARC leaves to others, if that is less than three eighths (arc_default_max on Linux)."""


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Module parameters of the queues (zfs_vdev_*); the defaults are those of OpenZFS 2.3."""

    sync_read_min_active: int = 10
    sync_read_max_active: int = 10
    sync_write_min_active: int = 10
    sync_write_max_active: int = 10
    async_read_min_active: int = 1
    async_read_max_active: int = 3
    async_write_min_active: int = 2
    async_write_max_active: int = 10
    async_write_active_min_dirty_percent: int = 30
    async_write_active_max_dirty_percent: int = 60
    scrub_min_active: int = 1
    scrub_max_active: int = 3
    trim_min_active: int = 1
    trim_max_active: int = 2
    rebuild_min_active: int = 1
    rebuild_max_active: int = 3
    nia_credit: int = 5
    nia_delay: int = 5
    max_active: int = 1000
    aggregation_limit: int = 1 << 20
    aggregation_limit_non_rotating: int = 128 << 10
    read_gap_limit: int = 32 << 10
    write_gap_limit: int = 4 << 10


@dataclass(frozen=True, slots=True)
class DirtySettings:
    """Module parameters of dirty data; the defaults are those of OpenZFS 2.3."""

    zfs_dirty_data_max: int = 0
    """Bytes of dirty data at most; 0: a tenth of memory, up to 4 GiB."""
    zfs_dirty_data_sync_percent: int = 20
    zfs_delay_min_dirty_percent: int = 60
    zfs_delay_scale: int = 500_000
    zfs_txg_timeout: float = 5.0

    def limit(self, memory: int) -> int:
        """Bytes of dirty data at most, with `memory` bytes in the machine."""
        return self.zfs_dirty_data_max or min(memory // 10, LARGEST_DEFAULT)


@dataclass(frozen=True, slots=True)
class DatasetSettings:
    """A volume or file as it is described.

    Attributes
    ----------
    name
        Shown in results.
    size
        Bytes.
    block_bytes
        volblocksize or recordsize (bytes).
    psize
        Bytes of a block after compression; 0: as large as the block.
    sync, primarycache, secondarycache
        ZFS's properties of these names.
    special_small_blocks
        Blocks up to this size (bytes) go to special vdevs.
    rules
        How synchronous writes are logged; None: by the defaults.
    checksum, compressor
        What its blocks are summed by, and what they are compressed by; None: not compressed.
    """

    name: str
    size: int
    block_bytes: int
    psize: int = 0
    sync: str = "standard"
    primarycache: str = "all"
    special_small_blocks: int = 0
    rules: LogRules | None = None
    checksum: str = "fletcher4"
    compressor: str | None = None
    secondarycache: str = "all"


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """What a pool is made with, besides its members.

    Attributes
    ----------
    arc_max
        Bytes of the ARC (zfs_arc_max); 0: by the memory.
    memory
        Bytes of the machine's memory.
    fragmentation
        zpool's FRAG, 0 to 1.
    used
        Share of each normal vdev that other data take, 0 to 1.
    warm
        If true, pointers to blocks are in the ARC when a run begins, as far as its share for metadata goes.
    vectors
        Vector instructions of the cores.
    autotrim
        If true, freed space is trimmed (see :class:`..scan.autotrim.AutoTrim`).
    queue, dirty, prefetch, feed
        Module parameters.
    """

    arc_max: int = 0
    memory: int = 8 << 30
    fragmentation: float = 0.0
    used: float = 0.0
    warm: bool = False
    vectors: str = "avx2"
    autotrim: bool = False
    queue: QueueSettings = field(default_factory=QueueSettings)
    dirty: DirtySettings = field(default_factory=DirtySettings)
    prefetch: PrefetchSettings = field(default_factory=PrefetchSettings)
    feed: FeedSettings = field(default_factory=FeedSettings)

    @property
    def arc_bytes(self) -> int:
        """Size of the ARC."""
        return self.arc_max or max(self.memory * 5 // 8, self.memory - ARC_LEFT_BYTES)
