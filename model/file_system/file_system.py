"""A file system on a device: what its operations read, change and cost.

Every operation that takes time is a generator for ``yield from``. An operation is charged its CPU time, reads the
metadata blocks that it needs and that are not in memory, and changes some of them. Which ones these are, and where
inodes, directories and data lie, follows from the settings; no operation knows a file system by its name.
"""

from __future__ import annotations

from collections.abc import Generator
from math import inf
from typing import Any

import numpy as np

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
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
from .names import Names
from .nodes import Directory, File
from .placement import Placement
from .record_journal import RecordJournal
from .settings import FileSystemSettings

_SWITCHES = 2
"""Who asks for a commit sleeps until the journal's thread, or a worker, has done it: each is woken once."""


class FileSystem:
    """A file system.

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
        root = Directory("", None, self._placement.root)
        self._nodes: dict[str, Node] = {"": root}
        self._placed: dict[File, None] | None = None  # files that get a place during a sync
        self._inodes.allocate(root)
        self._inodes.reserve(root.group, settings.first_inodes)
        self._groups[root.group].directories += 1
        self._begin_directory(root)
        root.in_memory = False

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

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of this path."""
        return path.strip("/") in self._nodes

    def file(self, path: str) -> File:
        """The file of a path, without opening it; raises `ModelError` if there is none."""
        node = self._node(path)
        if not isinstance(node, File):
            raise ModelError(f"{path}: is a directory")
        return node

    @property
    def files(self) -> list[File]:
        """All files there are."""
        return [node for node in self._nodes.values() if isinstance(node, File)]

    def _node(self, path: str) -> Node:
        node = self._nodes.get(path.strip("/"))
        if node is None:
            raise ModelError(f"{path}: no such file or directory")
        return node

    def _directory(self, path: str) -> Directory:
        node = self._node(path)
        if not isinstance(node, Directory):
            raise ModelError(f"{path}: is not a directory")
        return node

    def _parent(self, path: str) -> Directory:
        return self._directory(path.strip("/").rpartition("/")[0])

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

    # Names

    def create(self, path: str, by: Account) -> Generator[Any, Any, File]:
        """A new empty file, open."""
        path = path.strip("/")
        parent = self._parent(path)
        waits = self._kept.look_up_new(path, parent, by)
        if waits is not NOTHING:
            yield from waits
        waits = self._kept.spend(by, self._create_cycles)
        if waits is not NOTHING:
            yield from waits
        file, changed, fresh = self._new_file(path, parent)
        waits = self.metadata.change(changed, fresh, by)
        if waits is not NOTHING:
            yield from waits
        self._kept.remember(file)
        file.opened = 1
        file.atime_due_s = file.mtime_due_s = self._kept.next_tick()
        self._kept.note_write(file)
        return file

    def _new_file(self, path: str, parent: Directory) -> tuple[File, list[int], list[int]]:
        if path in self._nodes:
            raise ModelError(f"{path}: exists already")
        file = File(path, parent, self._placement.for_files(parent), self)
        changed, fresh = self._add_node(file)
        return file, changed, fresh

    def _add_node(self, node: Node) -> tuple[list[int], list[int]]:
        """Give a new node an inode and a name; returns what changes and what of it is fresh."""
        self._nodes[node.name] = node
        changed, fresh = self._inodes.allocate(node)
        if self._items is not None:
            self._items.add_chunk(fresh)
            self._items.add(node)
            for address in fresh:  # a new chunk of inodes is made in memory
                self._cache.pages.add(self._cache.device_file, address, address + self.settings.block)
            changed, fresh = [*changed, *fresh], []
        parent, names = node.parent, self._names
        block = names.find_room(parent, node.name)
        if block and parent.inline:  # what was in the inode goes to the first block
            changed = [*changed, *self._move_out(parent)]
            fresh = [*fresh, parent.blocks[0]]
            block = names.find_room(parent, node.name)
        if block == len(parent.blocks):
            more = self._add_directory_block(parent)
            fresh = [*fresh, parent.blocks[-1]]
            changed = [*changed, *more]
            if self.settings.index_fill:
                if parent.index < 0:
                    parent.index = index = self._groups.take_run(parent.blocks[-1], self.settings.block)
                    fresh = [*fresh, index]
                    changed = [*changed, *self._groups.space_maps(index, self.settings.block)]
                changed = [*changed, parent.index, parent.blocks[-2]]
        names.add(parent, node.name, block)
        node.entry = block
        return [*changed, parent.blocks[block], parent.item], fresh

    def _begin_directory(self, directory: Directory) -> list[int]:
        """Room for the first names of a directory; returns what else changes."""
        room = self.settings.inline_directory
        if not room:
            return self._add_directory_block(directory)
        self._names.add_block(directory, directory.item, room)
        return []

    def _move_out(self, directory: Directory) -> list[int]:
        """The names of a directory do not fit into its inode any more; returns what else changes."""
        count = directory.counts[0]
        directory.blocks, directory.rooms, directory.counts, directory.hint = [], [], [], 0
        changed = self._add_directory_block(directory)
        directory.counts[0] = count
        directory.rooms[0] -= directory.outside
        return changed

    def _add_directory_block(self, directory: Directory) -> list[int]:
        """A further block for names; returns what else changes."""
        groups = self._groups
        goal = directory.blocks[-1] if directory.blocks else groups[directory.group].data
        address = groups.take_run(goal, self.settings.block)
        self._names.add_block(directory, address, self.settings.block)
        if self._items is not None:
            self._items.add_names(directory, address, len(directory.blocks) - 1)
        return groups.space_maps(address, self.settings.block)

    def open(self, path: str, by: Account) -> Generator[Any, Any, File]:
        """A file that exists."""
        file = self.file(path)
        waits = self._kept.look_up(file, by)
        if waits is not NOTHING:
            yield from waits
        waits = self._kept.spend(by, self._open_cycles)
        if waits is not NOTHING:
            yield from waits
        file.opened += 1
        return file

    def stat(self, path: str, by: Account) -> Waits:
        """The attributes of a file or directory."""
        waits = self._kept.look_up(self._node(path), by)
        return self._kept.spend(by, self._stat_cycles) if waits is NOTHING else self._stat(waits, by)

    def _stat(self, waits: Waits, by: Account) -> Generator[Any, Any, None]:
        yield from waits
        yield from self._kept.spend(by, self._stat_cycles)

    def mkdir(self, path: str, by: Account) -> Generator[Any, Any, None]:
        """A new directory."""
        path = path.strip("/")
        parent = self._parent(path)
        yield from self._kept.look_up_new(path, parent, by)
        yield from self._kept.spend(by, self.settings.mkdir_cycles)
        directory, changed, fresh = self._new_directory(path, parent)
        yield from self.metadata.change(changed, fresh, by)
        self._kept.remember(directory)

    def _new_directory(self, path: str, parent: Directory) -> tuple[Directory, list[int], list[int]]:
        if path in self._nodes:
            raise ModelError(f"{path}: exists already")
        directory = Directory(path, parent, self._placement.group(parent))
        changed, fresh = self._add_node(directory)
        more = self._begin_directory(directory)
        return directory, [*changed, *more], [*fresh, *([] if directory.inline else directory.blocks)]

    def unlink(self, path: str, by: Account) -> Generator[Any, Any, None]:
        """Remove a file: its mapping blocks are read to free what they map, its pages are forgotten."""
        file = self.file(path)
        yield from self._kept.look_up(file, by)
        yield from self._kept.search(file.parent, file.entry, by)
        settings = self.settings
        blocks = file.extents.size // settings.block
        yield from self._kept.spend(by, settings.unlink_cycles + blocks * settings.free_cycles)
        yield from self.metadata.read(maps_of(file, 0, 1 << 62), by)
        self._cache.forget(file)
        self.journal.drop(file)
        changed = self._remove_node(file)
        for address, size in self._allocator.free(file):
            changed += self._space_changed(address, size)
        superblock = (0,) if settings.orphan_list else ()  # the mount holds it, so it is not read
        yield from self.metadata.change(changed, superblock, by)

    def rmdir(self, path: str, by: Account) -> Generator[Any, Any, None]:
        """Remove an empty directory."""
        directory = self._directory(path)
        if directory.entries:
            raise ModelError(f"{path}: is not empty")
        yield from self._kept.look_up(directory, by)
        yield from self._kept.search(directory.parent, directory.entry, by)
        yield from self._kept.spend(by, self.settings.unlink_cycles)
        changed = self._remove_node(directory)
        self._groups[directory.group].directories -= 1
        index = [directory.index] if directory.index >= 0 else []
        for address in () if directory.inline else (*directory.blocks, *index):
            self._groups.give_back(address, self.settings.block)
            changed += self._space_changed(address, self.settings.block)
        yield from self.metadata.change(changed, (), by)

    def _remove_node(self, node: Node) -> list[int]:
        """A name and its inode are gone; returns what changes."""
        parent = node.parent
        del self._nodes[node.name]
        self._kept.forget(node)
        self._names.remove(parent, node.name, node.entry)
        if self._items is not None:
            self._items.remove(node)
        return [parent.blocks[node.entry], parent.item, *self._inodes.free(node)]

    def list_directory(self, path: str, by: Account) -> Generator[Any, Any, None]:
        """All names of a directory."""
        directory = self._directory(path)
        yield from self._kept.look_up(directory, by)
        ahead = range(directory.inode, directory.inode + self.settings.list_ahead, self.settings.block)
        yield from self.metadata.read_run(ahead, by)
        yield from self.metadata.read(directory.blocks, by)
        yield from self._kept.spend(by, self.settings.open_cycles + directory.entries * self.settings.scan_cycles)
        yield from self._kept.touch_atime(directory, by)

    def set_attributes(self, path: str, by: Account) -> Waits:
        """Change owner, mode or times."""
        node = self._node(path)
        waits = self._kept.look_up(node, by)
        if waits is NOTHING:
            waits = self._kept.spend(by, self._stat_cycles)
            if waits is NOTHING:
                return self.metadata.change_one(node.item, by)
            return self._set_attributes(waits, node, by)
        return self._set_attributes(self._stat(waits, by), node, by)

    def _set_attributes(self, waits: Waits, node: Node, by: Account) -> Generator[Any, Any, None]:
        yield from waits
        yield from self.metadata.change_one(node.item, by)

    # Contents

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
        barrier = self.settings.barrier
        yield from self._cache.write_back(file, by.issuer, by)
        committed = yield from self.journal.commit(data_only)
        if barrier:
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

    # Before the run

    def place(self, path: str, size: int) -> File:
        """A file that exists before the run, with the directories it is in; takes no time."""
        path = path.strip("/")
        parent = self.place_directory(path.rpartition("/")[0])
        file, _, _ = self._new_file(path, parent)
        file.size = size
        file.in_memory = False
        if self.settings.atime == "relative":
            file.atime_due_s = inf  # it has been read since
        if 0 < size <= self.settings.tail_file:
            self._inodes.pack_tail(file)
        elif size:
            self._allocate(file, size, 0)
            self._allocator.release(file)
        return file

    def place_directory(self, path: str) -> Directory:
        """A directory that exists before the run, with the ones it is in; one that is there already is kept."""
        path = path.strip("/")
        node = self._nodes.get(path)
        if isinstance(node, Directory):
            return node
        if node is not None:
            raise ModelError(f"{path}: is not a directory")
        directory, _, _ = self._new_directory(path, self.place_directory(path.rpartition("/")[0]))
        directory.in_memory = False
        return directory
