"""Allocation groups: which blocks of the device are free, and which inodes.

A group has its maps and, depending on the file system, a table of inodes at its front; the rest is for data. Blocks
are taken at the first free place at or behind a goal, first in the goal's group, then in the ones behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from ..core.errors import FileSystemFull
from ..core.extents import FlatExtentSet
from .geometry import front_blocks, group_count, group_size, has_backup, journal_group
from .settings import FileSystemSettings

SECTOR = 512


class Group:
    """One allocation group.

    Attributes
    ----------
    start, data, end
        Addresses of its first byte, of the first byte for data, and behind its last.
    free
        Free bytes of the data area.
    directories
        How many there are in it.
    chunks
        Addresses of its chunks of inodes.
    """

    __slots__ = ("_free_slots", "_slots", "chunks", "data", "directories", "end", "free", "start")

    def __init__(self, start: int, data: int, end: int) -> None:
        self.start = start
        self.data = data
        self.end = end
        self.free = FlatExtentSet()
        self.directories = 0
        self.chunks: list[int] = []
        self._slots = 0
        self._free_slots: list[int] = []

    @property
    def used_slots(self) -> int:
        """Inodes in use."""
        return self._slots - len(self._free_slots)

    def take_slot(self) -> tuple[int, bool]:
        """The number of the first free inode, and whether it was never in use."""
        if self._free_slots:
            return heappop(self._free_slots), False
        self._slots += 1
        return self._slots - 1, True

    def free_slot(self, slot: int) -> None:
        """The inode is free again."""
        heappush(self._free_slots, slot)

    def find(self, goal: int, least: int) -> int | None:
        """Address of the first free byte from `goal` on with `least` free bytes behind it; `goal` if it is free."""
        starts, ends = self.free.starts, self.free.ends
        i = bisect_right(ends, goal)
        if i < len(starts) and starts[i] <= goal:
            return goal
        while i < len(starts):
            start = starts[i] if starts[i] > goal else goal
            if ends[i] - start >= least:
                return start
            i += 1
        return None


class Groups:
    """All groups of a device; what is inside one is set up when it is first needed.

    Parameters
    ----------
    settings
        Of the file system.
    capacity
        Bytes of the device.
    random
        For the free runs of an aged file system.
    age
        0: all free space of a group is one run; 1: free runs have the mean length of `settings.aged_run`, and as much
        is in use. In between runs are longer by 1 / age, and less is in use.
    scale
        Of the run. A file system that has the same number of groups however small it is would have more maps for its
        memory than in the whole run, so as many groups share theirs.
    """

    __slots__ = (
        "_age",
        "_block",
        "_capacity",
        "_descriptor",
        "_front",
        "_groups",
        "_header",
        "_inode_maps",
        "_map_span",
        "_maps",
        "_random",
        "_settings",
        "_sharing",
        "clusters",
        "count",
        "free_bytes",
        "inodes",
        "size",
    )

    def __init__(
        self, settings: FileSystemSettings, capacity: int, random: np.random.Generator, age: float, scale: int = 1
    ) -> None:
        block = settings.block
        self._sharing = scale if settings.groups else 1
        self._settings = settings
        self._capacity = capacity // block * block
        self._random = random
        self._age = age
        self.clusters: set[int] = set()
        self._front = front_blocks(settings, self._capacity) * block
        self.size = max(settings.group, group_size(settings, self._capacity))
        self.count = group_count(settings, self._capacity)
        self.inodes = settings.inode_table // settings.inode
        self._groups: dict[int, Group] = {}
        self._block = settings.block
        self._header = settings.header
        self._maps = settings.maps
        self._inode_maps = settings.inode_maps
        self._map_span = settings.map_bytes or self.size
        self._descriptor = settings.descriptor
        self.free_bytes = self._capacity - self.count * (settings.header + settings.inode_table) - self._front
        self.free_bytes += (self.count - 1) * settings.header_free

    def __getitem__(self, number: int) -> Group:
        group = self._groups.get(number)
        return self._made(number) if group is None else group

    def set_aside(self, number: int, size: int, unit: int = 0) -> int:
        """Address of `size` bytes at the front of a group of which nothing was needed yet; not free any more.

        It is a multiple of `unit`, if that is given; what lies before it is lost.
        """
        data = self._first_data(number)
        address = -(-data // unit) * unit if unit else data
        self._made(number, address + size - data)
        self.free_bytes -= address + size - data
        return address

    def _first_data(self, number: int) -> int:
        return self._behind_header(number) + self._settings.inode_table

    def _behind_header(self, number: int) -> int:
        return number * self.size + (0 if number else self._front) + self._header

    def set_aside_journal(self, size: int) -> int:
        """Address of a journal of `size` bytes in the block group that mke2fs chooses; not free any more."""
        settings = self._settings
        part = journal_group(settings, self._capacity)
        number, inside = divmod(part * settings.map_bytes, self.size)
        taken = self._front if has_backup(part) else 0
        address = self._first_data(number) if not inside else part * settings.map_bytes + taken
        group = self[number]
        size = min(size, (group.end - address) // 2 // settings.block * settings.block)
        self.free_bytes -= group.free.remove(address, address + size)
        return address

    def data_goal(self, number: int) -> int:
        """Where the first bytes of files go: with flexible groups, in the second block group.

        The first has room for directories (fs/ext4/balloc.c, ext4_inode_to_goal_block).
        """
        settings, group = self._settings, self[number]
        if not settings.flexible:
            return group.data + settings.front
        second = group.start + settings.map_bytes
        if has_backup(second // settings.map_bytes):
            second += self._front
        return second if second < group.end else group.data

    def inodes_in(self, number: int) -> int:
        """Inodes of a group, of which the last one may be smaller than the others."""
        span = min(self.size, self._capacity - number * self.size)
        return self.inodes * span // self.size if self._settings.flexible else self.inodes

    def room_in(self, number: int) -> int:
        """Bytes for data of a group of which nothing was needed yet."""
        return min(self.size, self._capacity - number * self.size) - self._first_data(number) + number * self.size

    def _made(self, number: int, set_aside: int = 0) -> Group:
        settings = self._settings
        start = number * self.size
        end = min(start + self.size, self._capacity)
        group = self._groups[number] = Group(start, self._first_data(number), end)
        free = group.free
        in_header = settings.header_free if number else 0
        if in_header:
            free.add(start, start + in_header)
        position = group.data + set_aside
        if not self._age:
            free.add(position, end)
            return group
        block = settings.block
        mean = settings.aged_run / self._age / block
        while position < end:
            run, used = self._random.exponential((mean, mean * self._age)).astype(int) if mean else (1, 1)
            free.add(position, min(end, position + max(1, int(run)) * block))
            position += (max(1, int(run)) + max(1, int(used))) * block
        self.free_bytes -= end - group.data - set_aside - (free.total - in_header)
        return group

    @property
    def touched(self) -> dict[int, Group]:
        """The groups of which something was needed."""
        return self._groups

    def number(self, address: int) -> int:
        """Of the group in which the address is."""
        return min(address // self.size, self.count - 1)

    def take(self, goal: int, size: int) -> Iterator[tuple[int, int]]:
        """Allocate `size` bytes (whole blocks) from `goal` on; yields (address, bytes) in the order found."""
        least = min(size, self._settings.shortest_run)
        number = self.number(goal)
        tried = 0
        while size:
            group = self[number]
            address = group.find(goal, min(least, size))
            if address is None:
                tried += 1
                if tried > self.count:
                    if least == self._settings.block:
                        raise FileSystemFull(f"the file system is full: {size} bytes more are asked for")
                    least = self._settings.block
                    tried = 0
                number = (number + 1) % self.count
                goal = number * self.size
                continue
            taken = min(size, group.free.run_from(address) - address)
            group.free.remove(address, address + taken)
            self.free_bytes -= taken
            size -= taken
            goal = address + taken
            yield address, taken

    def has_free(self, address: int, size: int) -> bool:
        """Whether `size` bytes from an address on are free, in its group."""
        return self[self.number(address)].free.run_from(address) >= address + size

    def aligned(self, goal: int, unit: int, size: int) -> int:
        """The first address from `goal` on that is a multiple of `unit`, with `size` bytes free; `goal` if none is."""
        if not unit:
            return goal
        group = self[self.number(goal)]
        address = group.find(goal, size)
        while address is not None:
            at = -(-address // unit) * unit
            if group.free.run_from(at) - at >= size:
                return at
            address = group.find(max(at, group.free.run_from(address)) + 1, size)
        return goal

    def take_run(self, goal: int, size: int, unit: int = 0) -> int:
        """Allocate `size` contiguous bytes at the first place at or behind `goal` that has as many.

        With `unit` (bytes) the address is a multiple of it where the goal's group has such a place.
        """
        goal = self.aligned(goal, unit, size)
        number = self.number(goal)
        for _ in range(self.count + 1):
            group = self[number]
            address = group.find(goal, size)
            if address is not None and group.free.run_from(address) - address < size:
                address = group.find(group.free.run_from(address), size)
            if address is not None:
                group.free.remove(address, address + size)
                self.free_bytes -= size
                return address
            number = (number + 1) % self.count
            goal = number * self.size
        raise FileSystemFull(f"the file system is full: no {size} bytes in one place")

    def give_back(self, address: int, size: int) -> None:
        """Free what was allocated."""
        while size:
            group = self[self.number(address)]
            here = min(size, group.end - address)
            group.free.add(address, address + here)
            self.free_bytes += here
            address += here
            size -= here

    def pieces_at(self, address: int) -> list[tuple[int, int]]:
        """What is read (address, bytes) of a group's header for the map at an address; empty for any other address."""
        settings = self._settings
        if not settings.space_header:
            return []
        inside = address % self.size
        behind = settings.header - inside
        if behind == settings.block:
            return self._pieces(address - inside, settings.inode_header)
        return self._pieces(address - inside, settings.space_header) if behind == settings.maps * settings.block else []

    def mounted_pieces(self) -> Iterator[tuple[int, int]]:
        """What a mount reads of the groups' headers (address, bytes)."""
        for number in range(0, self.count, self._sharing):
            yield from self._pieces(number * self.size, self._settings.mounted_header)

    def _pieces(self, start: int, offsets: tuple[int, ...]) -> list[tuple[int, int]]:
        block = self._settings.block
        return [(start + offset, SECTOR if offset < block else block) for offset in offsets]

    def cluster_at(self, address: int) -> int | None:
        """Where the cluster of inodes begins that an address is in; None if it is in none."""
        cluster = self._settings.inode_cluster
        if not self.clusters:
            return None
        start = address - address % cluster
        return start if start in self.clusters else None

    def space_map(self, number: int) -> int:
        """Address of the block that says which blocks of a group are free."""
        number -= number % self._sharing
        return self._behind_header(number) - self._maps * self._block

    def space_maps(self, address: int, size: int) -> list[int]:
        """Addresses of the blocks that say whether [address, address + size) is free."""
        span = self._map_span
        found = []
        for number in range(self.number(address), self.number(address + size - 1) + 1):
            start, first = number * self.size, self.space_map(number)
            low, high = max(address, start) - start, min(address + size, start + self.size) - start
            found += [first + part * self._block for part in range(low // span, -(-high // span))]
        return found

    def inode_map(self, number: int, slot: int = 0) -> int:
        """Address of the block that says whether an inode of a group is free."""
        number -= number % self._sharing
        part = slot * self._inode_maps // self.inodes if self._inode_maps > 1 else 0
        return self._behind_header(number) - (self._inode_maps - part) * self._block

    def descriptors(self, number: int) -> list[int]:
        """Address of the block with a group's entry in the table at the front of the device, if there is one."""
        if not self._descriptor:
            return []
        block = self._block
        return [block + number * self._descriptor // block * block]
