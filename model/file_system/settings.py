"""What tells one file system from another: one file of numbers a kind, every number with where it comes from."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from ..files.catalogue_file import SourcedValue, catalogue_file, load_sourced
from ..files.description import Duration, PositiveDuration, PositiveSize, Size, Spec
from ..files.switches import as_switched

CATALOGUE = Path(__file__).parent / "catalogue"


class FileSystemSettings(Spec):
    """A kind of file system; bytes, seconds and CPU cycles."""

    block: PositiveSize
    """Unit of allocation."""
    group: PositiveSize
    """Bytes of an allocation group (block group, cylinder group, what one bitmap covers)."""
    groups: int = Field(default=0, ge=0)
    """As many groups of equal size are made, but none smaller than `group`; 0: their size is `group`."""
    header: Size
    """Bytes in front of a group's inode table and data; the last blocks of it are its maps."""
    header_free: Size = 0
    """Bytes at the start of the header that are for data, in all groups but the first."""
    maps: int = Field(ge=1)
    """Blocks of free-space and inode maps at the end of a group's header: 1 if both share one."""
    array_groups: bool = False
    """If true, mkfs makes 8 to 32 groups on an array with stripes (:func:`.geometry.array_group_count`)."""
    space_header: tuple[int, ...] = ()
    """Offsets in a group's header of the pieces that describe its free space: a piece in front of the first block's end
    is a sector, any other a block. Each is read on its own when it is first needed. Empty: a group has one map."""
    inode_header: tuple[int, ...] = ()
    """The same for the pieces that describe its inodes."""
    mounted_header: tuple[int, ...] = ()
    """Those of these pieces that a mount reads."""
    map_bytes: Size = 0
    """Bytes of which one block of free-space map says what is free, where a group has several; 0: all of the group."""
    inode_maps: int = Field(default=1, ge=1)
    """Blocks of the header that say which inodes are free, the last ones of its maps."""
    flexible: bool = False
    """If true, a group is several block groups of `map_bytes` whose maps and tables lie in the first, and mke2fs puts
    the superblock, the descriptors and blocks for more of them in front of the first group, the journal by
    :func:`.geometry.journal_group`, and the first file of a directory in the second block group."""
    descriptor: Size
    """Bytes of a group's entry in a table at the front of the device that changes with it; 0 for none."""
    inode: PositiveSize
    """Bytes of an inode on disk, of its items in a tree if it has no other place."""
    inode_place: Literal["table", "chunk", "tree"]
    """In a table at the front of the group; in chunks that are allocated on demand; in the leaves of a tree."""
    inode_table: Size = 0
    """Bytes of a group's inode table."""
    inode_chunk: Size = 0
    """Bytes of a chunk of inodes."""
    inode_cluster: Size = 0
    """Bytes of a chunk that are read together when an inode is; 0: only its block."""
    first_inodes: int = Field(default=0, ge=0)
    """Inodes that mkfs uses beside that of the root directory."""
    orphan_list: bool = False
    """If true, removing a file changes the superblock, the first block, which begins the list of files without a name
    whose blocks are not free yet."""
    inline_directory: Size = 0
    """Bytes of entries that a directory keeps in its inode; one with more has blocks. 0: it always has blocks."""
    directories: Literal["emptiest", "orlov", "rotor", "inherit"]
    """In which group a new directory is placed: see :mod:`.placement`."""
    goal_shifts: int = Field(ge=1)
    """Places in a group at which the files of different processes start."""
    front: Size
    """Bytes at the front of a group's data area that are left to metadata as long as there is room behind them."""
    moves_on: bool
    """Whether a file goes on in another group at its second mapping block and every further one."""
    entry: PositiveSize
    """Bytes of a directory entry beyond its name."""
    entry_unit: int = Field(default=4, ge=1)
    """Bytes that an entry's are a multiple of."""
    index_fill: float = Field(default=0.0, ge=0.0, le=1.0)
    """Share of its blocks that a directory with an index fills, as a full block is split in two; it has one more block,
    which says by hash where a name is. 0: there is no such index."""
    inline_entry: Size = 0
    """Bytes of an entry beyond its name in the inode of its directory."""
    lookup: Literal["linear", "hashed"]
    """Whether a name is searched for in all blocks of the directory or found in one."""
    listing: Literal["as made", "by name", "by hash"]
    """In which order names are listed; for real names that of a hash is as good as none."""
    disorder: float = Field(ge=0.0, le=1.0)
    """Share of the directories of a tree there before whose files do not lie in the order in which they are listed."""
    list_ahead: Size
    """Bytes behind its inode that are read with a directory that is listed."""
    shortest_run: PositiveSize
    """Free runs shorter than this are passed over while longer ones are left."""
    reservation: Size
    """Bytes set aside behind the end of a growing file until it is closed."""
    write_run: Size = 0
    """Bytes of a file, one behind the other, in one I/O of write-back; 0: as the kernel's own, block by block."""
    delayed: bool
    """Whether bytes get their place only when they are written back."""
    mapping: Literal["indirect", "leaf", "extents"]
    """What says where a file's bytes are: blocks of pointers in front of what they map, tree leaves, extents."""
    map_first: Size
    """Bytes (extents: number of them) that the inode maps itself."""
    map_span: PositiveSize
    """Bytes (extents: number of them) that one further mapping block maps."""
    tail_file: Size
    """Largest file that is kept in a tree leaf; 0 for none."""
    mtime: Literal["logged", "late", "unlogged"] = "logged"
    """How writing over a file changes its inode, as with `atime`."""
    atime: Literal["logged", "late", "unlogged", "relative", "never"]
    """How reading a file changes its inode: as every other change, the same when the inode is written back, past the
    journal, as every other change but only the first time after the file was written (relatime), or not at all."""
    atime_delay: Duration = 0.0
    """With `late`, changes of so long are logged together."""
    time_grain: PositiveDuration = 1.0
    """Times of an inode differ after so long."""
    journal: Literal["none", "blocks", "records"]
    """No journal; whole metadata blocks; records of the changes."""
    journal_place: Literal["front", "middle", "end"] = "front"
    """Where on the device the journal is."""
    journal_size: Size = 0
    """Bytes; commits stop when it is full. The most, where it depends on the device (`flexible`)."""
    journal_part: int = Field(default=0, ge=0)
    """If above 0, the journal is the device divided by this, at least `journal_size` and at most 2 GiB."""
    journal_tail: float = Field(default=0.0, ge=0.0, le=1.0)
    """Share of a journal of blocks that must be free again, its blocks being in their places, before a commit writes
    the journal's superblock to say so. 0: only a full journal is emptied."""
    journal_head: Size = 0
    """Where in the journal the first transaction begins: behind its superblock, or behind the record of mkfs."""
    commit_interval: Duration = 0.0
    """A transaction is committed when it is this old."""
    transaction: Size = 0
    """Bytes of metadata in a transaction at most."""
    journal_copies: bool = True
    """Whether whole blocks are copied to be written to the journal; if not, who changes one meanwhile waits."""
    barrier: bool = False
    """Whether a commit flushes the volatile caches of the device first, and is written through them."""
    ordered: bool = False
    """Whether the data of files that grew is on the device before the transaction says so."""
    unwritten: bool = False
    """Whether the places of delayed bytes are marked as unwritten until the bytes are there."""
    orders_overwrites: bool = False
    """Whether that holds for files that did not grow, too."""
    record: Size = 0
    """Bytes in a journal of records for every metadata block that an operation changes; with `checkpoints` of an inode
    (see :mod:`.log_items`)."""
    log_buffer: Size = 0
    """A journal of records is written in pieces of this size."""
    log_buffers: int = Field(default=1, ge=1)
    """Operations wait while as many are not on the device."""
    checkpoints: bool = False
    """Whether a block is in a buffer of the log once however often it changes, and only what is in one is written."""
    log_in_flight: int = Field(default=1, ge=1)
    """Writes to the journal under way at once."""
    knows_stripes: bool = False
    """Whether it is made for the chunks of an array below, if there is one."""
    stripe_unit: Size = 0
    """Chunk of that array (mke2fs: stride; mkfs.xfs: sunit); 0: there is none, or it is not known."""
    stripe_width: Size = 0
    """Data bytes of a stripe of that array (mke2fs: stripe_width; mkfs.xfs: swidth)."""
    log_unit: Size = 0
    """Every write of a journal of records is filled up to a multiple of this; 0: of a sector."""
    log_write: Size = 0
    """A checkpoint is written in pieces of this size; 0: whole."""
    in_file: bool = False
    """Whether bytes set aside behind the end of a growing file are its own, so that using them changes no map."""
    packed_file: Size = 0
    """Open files up to this size are put down one behind the other, in regions of 2 MiB."""
    aligns: bool = False
    """Whether the first bytes of a file get an address that is a multiple of their number, a power of two."""
    unaligned_alone: bool = False
    """If true, a direct write of a part of a block has its file to itself: it waits for all other direct I/O of the
    file, and the other I/O waits for it."""
    aged_run: PositiveSize
    """Mean length of a free run on a file system of age 1."""
    create_cycles: float = Field(ge=0)
    """A name and an inode made, in memory."""
    unlink_cycles: float = Field(ge=0)
    """The same removed."""
    open_cycles: float = Field(ge=0)
    """Of a name and an inode that are in memory."""
    read_inode_cycles: float = Field(ge=0)
    """More for an inode that is not."""
    close_cycles: float = Field(ge=0)
    """Of a file."""
    mkdir_cycles: float = Field(ge=0)
    """A create with one more block set up."""
    stat_cycles: float = Field(ge=0)
    """Of an inode that is in memory."""
    scan_cycles: float = Field(ge=0)
    """One entry looked at in search of a name, or listed."""
    allocate_cycles: float = Field(ge=0)
    """One block given a place."""
    free_cycles: float = Field(ge=0)
    """One block freed."""

    @model_validator(mode="after")
    def _consistent(self) -> FileSystemSettings:
        if self.journal_size % self.block:
            raise ValueError(f"journal_size is {self.journal_size} bytes; a multiple of block, {self.block} bytes")
        if self.inode_place == "table" and not self.inode_table:
            raise ValueError("inode_place is table, so inode_table must be above 0")
        if self.inode_place == "chunk" and not self.inode_chunk:
            raise ValueError("inode_place is chunk, so inode_chunk must be above 0")
        if self.journal != "none" and not (self.journal_size and self.commit_interval):
            raise ValueError(f"journal is {self.journal}, so journal_size and commit_interval must be above 0")
        if self.journal == "blocks" and not self.transaction:
            raise ValueError("journal is blocks, so transaction must be above 0")
        if self.journal == "none" and self.barrier:
            raise ValueError("barrier is true, so journal must not be none")
        if "late" in (self.atime, self.mtime) and not self.atime_delay:
            raise ValueError(f"atime is {self.atime} and mtime {self.mtime}, so atime_delay must be above 0")
        if self.journal == "records" and not (self.record and self.log_buffer):
            raise ValueError("journal is records, so record and log_buffer must be above 0")
        return self


_NOT_MODELLED = ("bcachefs", "btrfs")
"""File systems that people ask for. They write what changes to new places, and have levels of their own."""


@lru_cache
def _loaded(path: Path) -> tuple[FileSystemSettings, dict[str, SourcedValue]]:
    return load_sourced(FileSystemSettings, path)


def file_system_settings(name: str) -> FileSystemSettings:
    """The file system called `name`; raises `InputError` naming the ones there are."""
    return as_switched("file_system", _loaded(catalogue_file(CATALOGUE, "file system", name))[0])


def file_system_sources(name: str) -> dict[str, SourcedValue]:
    """Where the numbers of a file system come from, by field."""
    return dict(_loaded(catalogue_file(CATALOGUE, "file system", name))[1])


def file_system_names() -> tuple[str, ...]:
    """All there are."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.yaml")))


def instead_of(name: str) -> str:
    """What to use in place of a file system that is not modeled; empty for any other name."""
    if name.casefold() == "zfs":
        return "; a pool of ZFS is no file system on a device: describe it under pools"
    if name.casefold() not in _NOT_MODELLED:
        return ""
    return f"; {name} is not modeled: use ext4 or xfs-v5 on an md array of the same level"
