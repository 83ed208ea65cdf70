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
from ..tasks.cpu import Account
from ..tasks.host import Host
from .contents import Contents
from .inode_cache import Node
from .mapping import maps_of
from .nodes import Directory, File
from .settings import FileSystemSettings


class FileSystem(Contents):
    """A file system; arguments and attributes as for :class:`.Contents`."""

    __slots__ = ()

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
        super().__init__(
            engine, host, cache, settings, capacity, random, cycle_s, age, inodes_in_memory, scale, journal_device
        )
        root = Directory("", None, self._placement.root)
        self._nodes[""] = root
        self._inodes.allocate(root)
        self._inodes.reserve(root.group, settings.first_inodes)
        self._groups[root.group].directories += 1
        self._begin_directory(root)
        root.in_memory = False

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
