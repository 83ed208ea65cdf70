"""The parts of a file system, and what it does with the bytes of files: place them, find them, write them back."""

from __future__ import annotations

from collections.abc import Generator
from math import inf
from typing import Any

import numpy as np

from ..core.device import Device
from ..core.engine import Engine
from ..core.signal import NOTHING, Waits
from ..memory.page_cache import PageCache
from ..memory.paged_file import ExtentMap
from ..tasks.cpu import Account
from ..tasks.host import Host
from .block_journal import BlockJournal
from .geometry import journal_bytes
from .groups import Groups
from .inode_cache import InodeCache, Node
from .inodes import Inodes
from .journal import Journal, NoJournal
from .log_items import LogItems
from .mapping import Allocator, map_entries, maps_of
from .metadata import Metadata
from .nodes import File, Names
from .placement import Placement
from .record_journal import RecordJournal
from .settings import FileSystemSettings

_SWITCHES = 2
"""Who asks for a commit sleeps until the journal's thread, or a worker, has done it: each is woken once."""


class Contents:
    """A file system without what it does with names.

    Parameters
    ----------
    engine, host
        Clock and payer.
    cache
        Of the device that it is on.
    settings
        What kind it is.
    capacity
        Bytes of the device that it uses.
    random
        For directories that are spread and for what age leaves.
    cycle_s
        Seconds of a CPU cycle.
    age
        0 as made, 1 after long use: see :class:`~.groups.Groups`.
    inodes_in_memory
        Inodes and names the kernel keeps; None for all.
    scale
        Of the run, in which everything is as many times smaller.
    journal_device
        What the journal is on, if that is another device.

    Attributes
    ----------
    settings
        What kind it is.
    journal
        Of the metadata.
    metadata
        Its blocks in memory.
    """

    __slots__ = (
        "_allocate_cycles",
        "_allocator",
        "_block",
        "_cache",
        "_close_cycles",
        "_closes_late",
        "_create_cycles",
        "_delayed",
        "_engine",
        "_goal_shifts",
        "_groups",
        "_host",
        "_inodes",
        "_items",
        "_kept",
        "_names",
        "_nodes",
        "_open_cycles",
        "_placed",
        "_placement",
        "_stat_cycles",
        "journal",
        "metadata",
        "settings",
    )

    def __init__(
        self,
        engine: Engine,
        host: Host,
        cache: PageCache,
        settings: FileSystemSettings,
        capacity: int,
        random: np.random.Generator,
        cycle_s: float,
        age: float = 0.0,
        inodes_in_memory: int | None = None,
        scale: int = 1,
        journal_device: Device | None = None,
    ) -> None:
        self._engine = engine
        self._host = host
        self._cache = cache
        self.settings = settings
        self._block = settings.block
        self._create_cycles = settings.create_cycles
        self._open_cycles = settings.open_cycles
        self._close_cycles = settings.close_cycles
        self._stat_cycles = settings.stat_cycles
        self._allocate_cycles = settings.allocate_cycles
        self._goal_shifts = settings.goal_shifts
        self._delayed = settings.delayed
        self._closes_late = bool(settings.in_file or settings.tail_file)
        inside = journal_device is None
        behind = settings.journal_size if inside and settings.journal_place == "end" else 0
        self._groups = Groups(settings, capacity - behind, random, age, scale)
        self._allocator = Allocator(settings, self._groups)
        self._items = LogItems(settings, self._groups) if settings.checkpoints else None
        spare = int(settings.block * (1.0 - settings.index_fill)) if settings.index_fill else 0
        linear = settings.lookup == "linear"
        self._names = Names(settings.entry, linear, settings.entry_unit, settings.inline_entry, spare)
        self._inodes = Inodes(settings, self._groups)
        self._placement = Placement(settings.directories, self._groups, random)
        self.journal = self._new_journal(capacity, journal_device)
        self.metadata = Metadata(cache, self.journal, settings, self._groups)
        self._kept = InodeCache(
            engine, cache, settings, self._names, self._inodes, self.metadata, cycle_s, inodes_in_memory
        )
        for start, size in self._groups.mounted_pieces():
            cache.pages.add(cache.device_file, start, start + size)
        self._nodes: dict[str, Node] = {}
        self._placed: dict[File, None] | None = None  # files that get a place during a sync

    def _new_journal(self, capacity: int, device: Device | None) -> Journal:
        """The journal, which was made with the file system; within a group it fills no more than half of it."""
        settings, groups = self.settings, self._groups
        if settings.journal == "none":
            return NoJournal(self._cache, settings.block)
        size = journal_bytes(settings, capacity)
        if device is not None:
            start, size = 0, min(size, device.capacity // settings.block * settings.block)
        elif settings.flexible:
            start = groups.set_aside_journal(size)
        elif settings.journal_place == "end":
            start = capacity // settings.block * settings.block - size
        else:
            size = min(size, groups.size // 2, capacity // 4) // settings.block * settings.block
            middle = groups.count // 2 if settings.journal_place == "middle" else 0
            start = groups.set_aside(middle, size, settings.stripe_unit)
        if settings.journal == "blocks":
            return BlockJournal(self._engine, self._cache, settings, start, size, device)
        return RecordJournal(self._engine, self._cache, settings, start, size, self._items, device)

    @property
    def free_bytes(self) -> int:
        """Bytes of the data area that are not in use."""
        return self._groups.free_bytes + self._allocator.set_aside

    def drop_inodes(self) -> None:
        """The kernel keeps no name and no inode any more (as after a mount), but for those that its log is ahead of.

        Such an inode cannot go until it has been written to its place (fs/xfs/xfs_icache.c, xfs_reclaim_inode).
        """
        self._kept.drop(self.journal.holds if self.settings.checkpoints else None)

    def drop_metadata(self) -> None:
        """Clean blocks of metadata go from memory, but for the descriptors, which a mount keeps, and the journal's."""
        pages, device = self._cache.pages, self._cache.device_file
        pages.forget(device)
        kept = self.journal.keeps() if isinstance(self.journal, BlockJournal) else []
        for number in range(self._groups.count):
            kept += self._groups.descriptors(number)
        for address in kept:
            pages.add(device, address, address + self.settings.block)

    def close(self, file: File, by: Account) -> Waits:
        """Nobody writes the file any more: what was set aside for it is free, and a small file goes into a leaf."""
        waits = self._kept.spend(by, self._close_cycles)
        if waits is not NOTHING or self._closes_late:
            return self._close(waits, file, by)
        file.opened -= 1
        self._allocator.release(file)
        return NOTHING

    def _close(self, waits: Waits, file: File, by: Account) -> Generator[Any, Any, None]:
        yield from waits
        file.opened -= 1
        own = self._allocator.reserved(file) if self.settings.in_file else 0
        self._allocator.release(file)
        if own and file.name in self._nodes:  # what was the file's own is free again (fs/xfs/xfs_bmap_util.c)
            freed = self._space_changed(file.extents.end_address, self.settings.block)
            yield from self.metadata.change([file.item, *freed], (), by)
        small = 0 < file.size <= self.settings.tail_file and file.name in self._nodes
        if small and (file.dirty or not file.in_leaf):
            changed, fresh = self._pack(file)
            yield from self.metadata.change(changed, fresh, by)

    def _pack(self, file: File) -> tuple[list[int], list[int]]:
        """Put a small file into a leaf and free its block; returns what changes and what of it is fresh."""
        self._cache.forget(file)
        self.journal.drop(file)
        if file.in_leaf:
            return [file.inode], []
        changed: list[int] = []
        for address, size in self._allocator.free(file):
            changed += self._space_changed(address, size)
        file.extents = ExtentMap()
        packed = self._inodes.pack_tail(file)
        return [*changed, *packed.changed], packed.fresh

    def written(self, file: File, end: int, by: Account) -> Waits:
        """Call before bytes up to `end` are written: the file grows, or is written over."""
        return self.extend(file, end, by) if end > file.size else self.written_over(file, by)

    def extend(self, file: File, end: int, by: Account) -> Waits:
        """Call before bytes up to `end` are written: the file grows, and they get a place unless that is delayed."""
        block = self._block
        grown = end - file.size
        file.size = max(file.size, end)
        self._kept.note_write(file)
        if self._delayed:
            if grown <= 0:
                return NOTHING
            return self._kept.spend(by, -(-grown // block) * self._allocate_cycles)
        if end <= file.extents.size:
            return NOTHING
        leaf = [file.inode] if file.in_leaf else []
        file.in_leaf = False
        before = file.extents.size
        maps = self._allocate(file, end, by.issuer)
        blocks = (file.extents.size - before) // block
        waits = self._kept.spend(by, blocks * self._allocate_cycles)
        if waits is NOTHING:
            waits = self.metadata.change([*leaf, *self._grown(file, before)], maps, by)
            if waits is NOTHING:
                self.journal.grew(file)
                return NOTHING
            return self._grew(waits, file)
        return self._extend(waits, file, before, leaf, maps, by)

    def _extend(
        self, waits: Waits, file: File, before: int, leaf: list[int], maps: list[int], by: Account
    ) -> Generator[Any, Any, None]:
        """Change what the growth of a file from `before` on changes."""
        yield from waits
        yield from self.metadata.change([*leaf, *self._grown(file, before)], maps, by)
        self.journal.grew(file)

    def _grew(self, waits: Waits, file: File) -> Generator[Any, Any, None]:
        yield from waits
        self.journal.grew(file)

    def _allocate(self, file: File, end: int, issuer: int) -> list[int]:
        group, shifts = self._groups[file.group], self._goal_shifts
        goal = self._groups.data_goal(file.group)
        if shifts > 1:
            goal = max(goal, group.start + issuer % shifts * (self._groups.size // shifts))
        return self._allocator.grow(file, end, goal)

    def _grown(self, file: File, start: int) -> list[int]:
        """What changes when the file has a place from `start` on."""
        changed = [file.item]
        for _, address, size in file.extents.pieces(start, file.extents.size):
            changed += self._space_changed(address, size)
        changed += maps_of(file, max(0, start - 1), file.extents.size)
        return changed

    def _space_changed(self, address: int, size: int) -> list[int]:
        """The maps that say whether [address, address + size) is free."""
        groups = self._groups
        changed = groups.space_maps(address, size)
        for number in range(groups.number(address), groups.number(address + size - 1) + 1):
            changed += groups.descriptors(number)
        return changed

    def allocate_delayed(self, file: File) -> None:
        """All bytes of a file get a place now, because some of them are to be written.

        Behind the end of a file that is closed already nothing is set aside (fs/ext4/mballoc.c, ext4_mb_group_or_file).
        """
        start = file.extents.size
        file.in_leaf = False
        own = self._allocator.reserved(file) if self.settings.in_file else 0
        maps = self._allocate(file, file.size, 0)
        if file.opened <= 0:
            self._allocator.release(file)
        if self._placed is not None:
            self._placed[file] = None
        inside = file.extents.size - start <= own
        changed = [file.item] if inside else [*self._grown(file, start), *maps]
        self.metadata.read_along(address for address in changed if address not in maps)
        self.journal.change(changed)

    def needs_map(self, file: File, start: int, end: int) -> bool:
        """Whether something must be read to find [start, end) of the file."""
        if file.in_leaf:
            return not self.metadata.in_memory(file.inode)
        if file.maps is None:
            return False
        return not all(self.metadata.in_memory(address) for address in maps_of(file, start, end))

    def mapped_until(self, file: File, start: int, end: int) -> int:
        """How far from `start` towards `end` the file can be found without reading anything."""
        if file.in_leaf:
            return end if self.metadata.in_memory(file.inode) else start
        for position, address in map_entries(file, start, end):
            if not self.metadata.in_memory(address):
                return max(start, position)
        return end

    def load_map(self, file: File, start: int, end: int, by: Account) -> Waits:
        """Read it."""
        return self.metadata.read([file.inode] if file.in_leaf else maps_of(file, start, end), by)

    def accessed(self, file: File, by: Account) -> Waits:
        """The file has been read: its inode says when, or only that it was read since it was written (relatime)."""
        file.atime_due_s = inf if self.settings.atime == "relative" else self._kept.next_tick()
        return self._kept.touch_atime(file, by)

    def written_over(self, file: File, by: Account) -> Waits:
        """Bytes that the file had have been written: its inode says when, to the second."""
        self._kept.note_write(file)
        waits = NOTHING
        if self._engine.now >= file.mtime_due_s:
            file.mtime_due_s = self._kept.next_tick()
            waits = self._kept.touch_mtime(file, by)
        if not self.settings.orders_overwrites:
            return waits
        if waits is not NOTHING:
            return self._grew(waits, file)
        self.journal.grew(file)
        return NOTHING

    def fsync(self, file: File, by: Account, data_only: bool = False) -> Generator[Any, Any, None]:
        """Wait until data and inode of a file are on the device; with `data_only` (fdatasync) not its times."""
        if by.owed_s:
            yield self._cache.pay(by)
        yield from self._cache.write_back(file, by.issuer, by)
        if file.take_converted():
            self.journal.change([file.item])
        committed = yield from self.journal.commit(data_only)
        if self.settings.barrier:
            yield from self._cache.spend(_SWITCHES * self._host.prices.switch_s, by)
            if not committed:
                yield self._cache.flush_device()
        if isinstance(self.journal, NoJournal):
            yield from self._cache.write_back(self._cache.device_file, by.issuer, by)

    def sync(self, by: Account) -> Generator[Any, Any, None]:
        """Wait until everything is on the device: data, the journal, and what it is about (sys_sync)."""
        if by.owed_s:
            yield self._cache.pay(by)
        logged_only = self.settings.checkpoints  # metadata are written when the log says so (fs/xfs/xfs_trans_ail.c)
        if self.settings.unwritten:
            yield from self._sync_unwritten(by)
        else:
            yield from self._cache.sync(by, not logged_only)
        committed = yield from self.journal.commit()
        if self.settings.barrier and not committed and self.settings.journal == "blocks":
            yield self._cache.flush_device()  # fs/ext4/super.c, ext4_sync_fs; xfs_fs_sync_fs forces the log only
        if not logged_only:
            yield from self._cache.sync(by)

    def _sync_unwritten(self, by: Account) -> Generator[Any, Any, None]:
        """Write all data; meanwhile the places that they get are committed (fs/sync.c, sync_filesystem).

        Metadata are on their way, too, but the wait for them comes last, after the flush (sync_blockdev).
        They are part of their files when they are there: for what is still on its way when the commit begins, that is
        for the next transaction (fs/ext4/page-io.c).
        """
        placed: dict[File, None] = {}
        late: dict[int, None] = {}
        self._placed = placed

        def begin_commit() -> None:
            if placed:
                late.update((file.item, None) for file in placed if file.writing_bytes)
                self._engine.spawn(self.journal.commit())

        yield from self._cache.sync(by, submitted=begin_commit, awaits_device=False)
        self._placed = None
        if late:
            self.journal.change(late)

    def settle(self, by: Account) -> Generator[Any, Any, None]:
        """Wait until everything is in its place, as before it is unmounted."""
        yield from self.sync(by)
        yield from self.journal.settle()
