"""The description of a kernel."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, model_validator

from ..files.description import Duration, PositiveSize, Rate, Size, Spec, refusal, refuse_set
from ..files.plugins import NameIn
from ..raid.metadata.bitmap_waits import MirrorWaits
from ..raid.read_balance import READ_BALANCE
from ..raid.stripes.settings import ParitySettings
from .cache_sections import CacheSection, ReadAheadSection
from .lock_section import LockSection
from .queue_section import QueueSection


class Raid5Section(ParitySettings):
    """The stripe cache of RAID 4, 5 and 6, and what an array's options may be.

    Attributes
    ----------
    head_is_file_system_block
        Whether the height of a head is that of the blocks in which a file system on the array does its I/O.
    grows
        Whether more heads are made when they run out (stripe_cache_size is a floor), up to `most_heads`.
    worker_groups
        Whether several threads may handle stripes (group_thread_cnt).
    journals
        If true, an array may have a journal (since 4.4).
    raid6_reconstructs
        If true, RAID 6 always reconstruct-writes (before 4.1), and `rmw_level` is RAID 5's.
    resync_pause
        A resync that has taken the last head waits until a quarter of them is free, and then so long; 0: it does not.
    """

    heads: int
    head: PositiveSize
    hold: Duration | None
    copies_reads: bool
    rmw_level: Literal[0, 1, 2] = 1
    head_is_file_system_block: bool = False
    grows: bool = False
    worker_groups: bool = False
    journals: bool = False
    raid6_reconstructs: bool = False
    resync_pause: Duration = 0.0
    source: str

    @model_validator(mode="after")
    def _only_a_kernels(self) -> Self:
        refuse_set(self, ("workers", "discards"), "it is an option of an array")
        return self


def _on_raid10(name: str) -> str:
    if READ_BALANCE[name].only_raid1:
        allowed = ", ".join(name for name, policy in READ_BALANCE.items() if not policy.only_raid1)
        raise refusal(f"{name} on RAID 10", f"expected: {allowed}")
    return name


BalanceName = Annotated[str, NameIn(READ_BALANCE)]
"""Name of a read-balance policy."""


class Raid1Section(Spec):
    """Read balance, resync granularity, and how resync and normal I/O keep apart.

    Attributes
    ----------
    balance
        A name of :data:`raidsim.model.raid.read_balance.READ_BALANCE`.
    barrier
        A name of :data:`raidsim.model.raid.mirrors.barrier.RESYNC_BARRIER`. Of 2.4: a window that slides along the
        array; of 2.6: resync and normal I/O alternate on the whole array; of 6.1: so in every 64 MiB.
    clones_pages
        Whether a write is copied for each mirror page by page, or as a whole.
    submitter_pays
        If true, the CPU time of these copies is charged to the process that submits write-back.
    """

    balance: BalanceName
    barrier: Literal["md-2.4", "md-2.6", "md-6.1"] = "md-2.6"
    clones_pages: bool = True
    submitter_pays: bool = False
    resync_request: PositiveSize
    """Bytes of one resync request."""
    resync_depth: int
    """Resync requests under way at most."""
    source: str


class Raid10Section(Spec):
    """Read balance and resync granularity of md's RAID 10."""

    balance: Annotated[BalanceName, AfterValidator(_on_raid10)]
    """Which copy serves a read."""
    barrier: Literal["md-2.6", "md-6.1-raid10"] = "md-2.6"
    """How resync and normal I/O are kept apart."""
    resync_request: PositiveSize
    """Bytes of one resync request."""
    resync_depth: int
    """Resync requests under way at most."""
    holds_writes: bool = True
    """If true, the pieces of a write are held back and merge. If false, only those of an array with a bitmap are; the
    others are sent at once."""
    chunk_limit: bool = False
    """If true, the chunk is a limit of the array's queue (chunk_sectors), and the block layer cuts every I/O there."""
    source: str


class ResyncSection(Spec):
    """Speed limits (defaults), and what the thread sees of other I/O and does about it.

    Attributes
    ----------
    window
        Bytes between two looks at the speed.
    unseen_majors_from
        Block devices with this major number or a higher one have no statistics, so their load is not seen.
    nap
        How long it sleeps.
    when_busy
        Above speed_min with other I/O: "nap" sleeps and looks again, "drain" waits until no resync I/O is under way.
    busy_by
        Whose I/O it sees: that of the "members" (their statistics), or the "array"'s own (since 6.16).
    io_depth
        Resync I/Os under way below which it does not look (sync_io_depth): 4 KiB on RAID 4, 5 and 6, else 64 KiB.
    """

    speed_min: Rate
    speed_max: Rate
    window: PositiveSize
    unseen_majors_from: int | None
    nap: Duration = 0.25
    when_busy: Literal["nap", "drain"] = "nap"
    busy_by: Literal["members", "array"] = "members"
    io_depth: int = 0
    source: str


class SuperblockSection(Spec):
    """How a redundant array is marked clean and dirty in its superblocks.

    Attributes
    ----------
    format
        Version 0.90 of md, or what GEOM's classes have in the last sector.
    clean_after
        Time after its last write until it is marked clean. The next write waits until it is marked dirty again.
    in_turn
        Whether one member is written after the other (sync_page_io), or all at once (md_super_write).
    barrier
        Whether the write is one (BIO_RW_BARRIER): what the drive has acknowledged goes to the platters first, and it is
        over when it is there too.
    """

    format: Literal["0.90", "geom"] = "0.90"
    clean_after: Duration
    in_turn: bool
    barrier: bool
    source: str


class CryptSection(Spec):
    """dm-crypt, which encrypts on all cores.

    Attributes
    ----------
    queues
        Whether a read is handed to a worker, and a write to a worker and to the thread that sorts and submits.
    skips_queues
        Whether it can be told not to (no_read_workqueue, no_write_workqueue).
    large_sectors
        Whether it encrypts in sectors larger than 512 bytes.
    vector_aes
        Whether its ciphers use vector AES instructions.
    largest, splits_reads
        Largest I/O that is encrypted as one; larger writes are split, and reads or not. 0: none is.
    """

    queues: bool = False
    skips_queues: bool = False
    large_sectors: bool = False
    vector_aes: bool = False
    largest: Size = 0
    splits_reads: bool = False
    source: str


class PipeSection(Spec):
    """Bytes that a pipe holds."""

    size: PositiveSize
    """Bytes that it holds."""
    source: str


class KernelSpec(Spec):
    """One kernel.

    Attributes
    ----------
    raid10
        None where md has no such level (before 2.6.9).
    goal_shift_by_process
        If true, a file's first block near its inode is shifted by the process (2.6: fs/ext2/inode.c, ext2_find_near).
    unaligned_alone
        See :class:`.FileSystemSettings`; false since 6.5 ("ext4: allow concurrent unaligned dio overwrites").
    time_slice
        For so long a program that writes files keeps its processor unless it has to wait. Where none is given, programs
        take turns of a millisecond.
    parity
        Whether it runs RAID 4, 5 and 6.
    checks
        Whether its arrays can be checked as a whole.
    write_intent
        Whether md keeps write-intent bitmaps (since 2.6.14).
    bitmap_waits
        The process or thread that waits for a new bit of a mirror's write-intent bitmap: "thread", md's thread, for all
        writes that have come; "task", the task that submits (since 3.6); "plugged-task", the task if it submits several
        writes at a time, and md's thread otherwise (since 6.5). See :mod:`raidsim.model.raid.metadata.bitmap_waits`.
    discards
        Whether md and dm-crypt pass discards on (:mod:`raidsim.model.core.discard`): block layer since 2.6.28, dm-crypt
        since 3.1 (allow_discards), md since 3.7.
    """

    version: str
    """As the kernel calls itself."""
    cache: CacheSection
    """The page cache and its limits."""
    read_ahead: ReadAheadSection
    """The policy and its largest window."""
    queue: QueueSection
    """Schedulers, plugs, tags and throttling."""
    raid5: Raid5Section
    """md's parity arrays."""
    raid1: Raid1Section
    """md's mirrors."""
    raid10: Raid10Section | None = None
    resync: ResyncSection
    """The thread that rebuilds and checks."""
    superblock: SuperblockSection | None = None
    """None: clean and dirty are marked only with a write-intent bitmap."""
    pipe: PipeSection
    """Between two programs."""
    crypt: CryptSection = CryptSection(source="drivers/md/dm-crypt.c. Neutral: its switches are not charged")
    """dm-crypt."""
    locks: LockSection = LockSection(source="Neutral: no lock of md is held long enough to wait for")
    """What each I/O of an array takes, and others wait for."""
    goal_shift_by_process: bool = True
    unaligned_alone: bool = True
    time_slice: Duration | None = None
    parity: bool = True
    checks: bool = True
    write_intent: bool = False
    bitmap_waits: MirrorWaits = "thread"
    discards: bool = False
