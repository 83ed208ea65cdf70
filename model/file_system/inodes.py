"""Where on the device an inode is: in a table, in chunks allocated on demand, or in the leaves of a tree."""

from __future__ import annotations

from typing import NamedTuple

from .groups import Groups
from .nodes import Directory, File, Leaf
from .settings import FileSystemSettings

_POINTER_ITEM = 52
"""Bytes that the leaf of a file without further ones needs for its pointers: an item head and some of them."""


class NewInode(NamedTuple):
    """What allocating an inode changes.

    Attributes
    ----------
    changed
        Addresses of blocks that are changed.
    fresh
        Of those, what has nothing on the device that is worth reading.
    """

    changed: list[int]
    fresh: list[int]


class Inodes:
    """Allocates inodes.

    Parameters
    ----------
    settings
        Of the file system.
    groups
        Of the device.
    """

    __slots__ = (
        "_block",
        "_checkpoints",
        "_groups",
        "_in_table",
        "_in_tree",
        "_last_leaves",
        "_per_block",
        "_settings",
        "_table_bytes",
    )

    def __init__(self, settings: FileSystemSettings, groups: Groups) -> None:
        self._settings = settings
        self._groups = groups
        self._per_block = max(1, settings.block // settings.inode)
        self._last_leaves: dict[int, Leaf] = {}
        self._block = settings.block
        self._in_table = settings.inode_place == "table"
        self._in_tree = settings.inode_place == "tree"
        self._table_bytes = settings.inode_table
        self._checkpoints = settings.checkpoints

    def allocate(self, node: File | Directory) -> NewInode:
        """Give a node an inode in its group, or the next one that has a free one."""
        if self._in_tree:
            return self._in_leaf(node)
        groups, settings = self._groups, self._settings
        in_table = self._in_table
        while in_table and groups[node.group].used_slots >= groups.inodes_in(node.group):
            node.group = (node.group + 1) % groups.count
        group = groups[node.group]
        node.slot, unused = group.take_slot()
        changed: list[int] = []
        fresh: list[int] = []
        if not in_table:
            chunk = node.slot * settings.inode // settings.inode_chunk
            if chunk == len(group.chunks):
                unit = settings.inode_cluster if settings.checkpoints else 0
                address = groups.take_run(group.data, settings.inode_chunk, unit)
                group.chunks.append(address)
                if unit:
                    groups.clusters.update(range(address, address + settings.inode_chunk, unit))
                changed += groups.space_maps(address, settings.block)
                fresh += range(address, address + settings.inode_chunk, settings.block)
        node.inode = node.item = self._address(node)
        if self._checkpoints:
            node.item += node.slot % self._per_block * settings.inode
        if in_table and unused and node.slot % self._per_block == 0:
            fresh.append(node.inode)
        changed += (node.item, groups.inode_map(node.group, node.slot), *groups.descriptors(node.group))
        return NewInode(changed, fresh)

    def reserve(self, number: int, count: int) -> None:
        """Inodes of a group that are in use and never looked at."""
        for _ in range(count):
            self._groups[number].take_slot()

    def _address(self, node: File | Directory) -> int:
        group = self._groups[node.group]
        if self._in_table:
            return group.data - self._table_bytes + node.slot // self._per_block * self._block
        settings = self._settings
        at = node.slot * settings.inode
        return group.chunks[at // settings.inode_chunk] + at % settings.inode_chunk // settings.block * settings.block

    def cluster(self, node: File | Directory) -> range:
        """Addresses of the blocks that are read together with the inode of a node."""
        settings = self._settings
        if settings.inode_cluster <= settings.block or node.slot < 0:
            return range(node.inode, node.inode + settings.block, settings.block)
        place = node.slot * settings.inode % settings.inode_chunk
        before = place % settings.inode_cluster // settings.block * settings.block
        start = node.inode - before
        return range(start, start + settings.inode_cluster, settings.block)

    def _in_leaf(self, node: File | Directory) -> NewInode:
        """Put the items behind the last ones of the group: a tree's keys grow with the number of an object."""
        size = self._settings.inode + (_POINTER_ITEM if isinstance(node, File) else 0)
        leaf, changed, fresh = self._room(node.group, size)
        node.inode = node.item = leaf.address
        return NewInode([*changed, leaf.address], fresh)

    def _room(self, group: int, size: int) -> tuple[Leaf, list[int], list[int]]:
        """The leaf of a group's newest items, or the next one if it has no `size` bytes left; changed, fresh."""
        leaf = self._last_leaves.get(group)
        changed: list[int] = []
        fresh: list[int] = []
        if leaf is None or leaf.room < size:
            goal = self._groups[group].data if leaf is None else leaf.address
            address = self._groups.take_run(goal, self._settings.block)
            leaf = self._last_leaves[group] = Leaf(address, self._settings.block)
            changed += self._groups.space_maps(address, self._settings.block)
            fresh.append(address)
        leaf.room -= size
        return leaf, changed, fresh

    def pack_tail(self, file: File) -> NewInode:
        """Put the bytes of a small file next to its inode, which may move both to a new leaf."""
        leaf, changed, fresh = self._room(file.group, file.size)
        file.inode = file.item = leaf.address
        file.in_leaf = True
        return NewInode([*changed, leaf.address], fresh)

    def free(self, node: File | Directory) -> list[int]:
        """Free a node's inode; returns what changes."""
        if node.slot < 0:
            return [node.inode]
        self._groups[node.group].free_slot(node.slot)
        return [node.item, self._groups.inode_map(node.group, node.slot), *self._groups.descriptors(node.group)]
