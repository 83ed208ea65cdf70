"""The description of a kernel."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

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
    """The stripe cache of RAID 4, 5 and 6, and what an array's options may be."""

    heads: int
    head: PositiveSize
    hold: Duration | None
    copies_reads: bool
    rmw_level: Literal[0, 1, 2] = 1

    head_is_file_system_block: bool = False
    """Whether the height of a head is that of the blocks in which a file system on the array does its I/O."""
    grows: bool = False
    """Whether more heads are made when they run out (stripe_cache_size is a floor), up to `most_heads`."""
    worker_groups: bool = False
    """Whether several threads may handle stripes (group_thread_cnt)."""
    journals: bool = False
    """If true, an array may have a journal (since 4.4)."""
    raid6_reconstructs: bool = False
    """If true, RAID 6 always reconstruct-writes (before 4.1), and `rmw_level` is RAID 5's."""
    resync_pause: Duration = 0.0
    """A resync that has taken the last head waits until a quarter of them is free, and then so long; 0: it does not."""
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
    """Read balance, resync granularity, and how resync and normal I/O keep apart."""

    balance: BalanceName
    """A name of :data:`raidsim.model.raid.read_balance.READ_BALANCE`."""
    barrier: Literal["md-2.6", "md-6.1"] = "md-2.6"
    """A name of :data:`raidsim.model.raid.mirrors.barrier.RESYNC_BARRIER`. Of 2.6: resync and normal I/O
    alternate on the whole array; of 6.1: so in every 64 MiB."""
    clones_pages: bool = True
    """Whether a write is copied for each mirror page by page, or as a whole."""
    submitter_pays: bool = False
    """If true, the CPU time of these copies is charged to the process that submits write-back."""
    resync_request: PositiveSize
    """Bytes of one resync request."""
    resync_depth: int
    """Resync requests under way at most: of md one less than RESYNC_DEPTH, since raise_barrier counts the new one."""
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
    """Resync requests under way at most: of md one less than RESYNC_DEPTH, since raise_barrier counts the new one."""
    holds_writes: bool = True
    """If true, the pieces of a write are held back and merge. If false, only those of an array with a bitmap are; the
    others are sent at once."""
    chunk_limit: bool = False
    """If true, the chunk is a limit of the array's queue (chunk_sectors), and the block layer cuts every I/O there."""
    source: str


class ResyncSection(Spec):
    """Speed limits (defaults), and what the thread sees of other I/O and does about it."""

    means_as: ClassVar[str] = "raidsim.model.raid.resync.settings:ResyncSettings"

    speed_min: Rate
    speed_max: Rate
    window: PositiveSize
    """Bytes between two looks at the speed."""
    unseen_majors_from: int | None
    """Block devices with this major number or a higher one have no statistics, so their load is not seen."""
    nap: Duration = 0.25
    """How long it sleeps."""
    when_busy: Literal["nap", "drain"] = "nap"
    """Above speed_min with other I/O: "nap" sleeps and looks again, "drain" waits until no resync I/O is under way."""
    busy_by: Literal["members", "array"] = "members"
    """Whose I/O it sees: that of the "members" (their statistics), or the "array"'s own (since 6.16)."""
    io_depth: int = 0
    """Resync I/Os under way below which it does not look (sync_io_depth): 4 KiB on RAID 4, 5 and 6, else 64 KiB."""
    source: str


class SuperblockSection(Spec):
    """How a redundant array is marked clean and dirty in its superblocks."""

    format: Literal["0.90", "geom"] = "0.90"
    """Version 0.90 of md, or what GEOM's classes have in the last sector."""
    clean_after: Duration
    """Time after its last write until it is marked clean. The next write waits until it is marked dirty again."""
    in_turn: bool
    """Whether one member is written after the other (sync_page_io), or all at once (md_super_write)."""
    barrier: bool
    """Whether the write is one (BIO_RW_BARRIER): what the drive has acknowledged goes to the platters first, and it is
    over when it is there too."""
    source: str


class CryptSection(Spec):
    """dm-crypt, which encrypts on all cores."""

    queues: bool = False
    """Whether a read is handed to a worker, and a write to a worker and to the thread that sorts and submits."""
    skips_queues: bool = False
    """Whether it can be told not to (no_read_workqueue, no_write_workqueue)."""
    large_sectors: bool = False
    """Whether it encrypts in sectors larger than 512 bytes."""
    vector_aes: bool = False
    """Whether its ciphers use vector AES instructions."""
    largest: Size = 0
    splits_reads: bool = False
    """Largest I/O that is encrypted as one; larger writes are split, and reads or not. 0: none is."""
    source: str


class PipeSection(Spec):
    """Bytes that a pipe holds."""

    size: PositiveSize
    """Bytes that it holds."""
    source: str


class KernelSpec(Spec):
    """One kernel."""

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
    """None where md has no such level (before 2.6.9)."""
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
    """If true, a file's first block near its inode is shifted by the process (2.6: fs/ext2/inode.c, ext2_find_near)."""
    unaligned_alone: bool = True
    """See :class:`.FileSystemSettings`; false since 6.5 ("ext4: allow concurrent unaligned dio overwrites")."""
    time_slice: Duration | None = None
    """For so long a program that writes files keeps its processor unless it has to wait. Where none is given, programs
    take turns of a millisecond."""
    parity: bool = True
    """Whether it runs RAID 4, 5 and 6."""
    checks: bool = True
    """Whether its arrays can be checked as a whole."""
    write_intent: bool = False
    """Whether md keeps write-intent bitmaps (since 2.6.14)."""
    bitmap_waits: MirrorWaits = "thread"
    """The process or thread that waits for a new bit of a mirror's write-intent bitmap: "thread", md's thread, for all
    writes that have come; "task", the task that submits (since 3.6); "plugged-task", the task if it submits several
    writes at a time, and md's thread otherwise (since 6.5). See :mod:`raidsim.model.raid.metadata.bitmap_waits`."""
    discards: bool = False
    """Whether md and dm-crypt pass discards on (:mod:`raidsim.model.core.discard`): block layer since 2.6.28, dm-crypt
    since 3.1 (allow_discards), md since 3.7."""
    zfs: bool = False
    """Whether the OpenZFS 2.3 that is modelled runs on it (META: Linux 4.18 or later; FreeBSD 13.3 or later)."""
