"""How many bytes of a checkpoint each changed thing takes: the log items of XFS.

A checkpoint holds an inode once, with its core and its extents, and of each buffer the pieces of 128 bytes that have
changed since the buffer was last written to its place (Linux fs/xfs/xfs_inode_item.c, xfs_buf_item.c, xfs_log_cil.c).
So a directory costs more with each name, until the log is pushed. What says which space and which inodes of a group are
free is a sector and two roots of trees. A new chunk of inodes is one short item (xfs_icreate_item.c).
"""

from __future__ import annotations

from collections.abc import Iterable

from .groups import Groups
from .nodes import Directory, File
from .settings import FileSystemSettings

_REGION = 12
"""Header of each region (fs/xfs/libxfs/xfs_log_format.h: struct xlog_op_header)."""
_BUFFER = _REGION + 28
"""Format of a buffer: struct xfs_buf_log_format with a map of one word."""
_PIECE = 128
"""Unit in which a change of a buffer is known (XFS_BLF_CHUNK)."""
_NEW_CHUNK = _REGION + 28
"""Of a new chunk of inodes: struct xfs_icreate_log."""
_ROOTS = 3
"""Buffers that change with a group's space, or with its inodes: a header and the roots of two trees."""
_UNLINKED = 2 * _PIECE
"""More of the header of a group's inodes, which lists by number those without a name (struct xfs_agi, agi_unlinked)."""
_INLINE = 6
"""Header of the names in an inode: struct xfs_dir2_sf_hdr."""
_BLOCK_HEAD = 64
"""Of a block of names: struct xfs_dir3_data_hdr."""
_HASH = 8
"""Of a name in the index of its directory, by its hash: struct xfs_dir2_leaf_entry."""


class LogItems:
    """Sizes of log items, and what is written when they go to their places.

    Parameters
    ----------
    settings, groups
        Of the file system.
    """

    __slots__ = ("_groups", "_names", "_new", "_nodes", "_settings", "_since_written", "_unlinked")

    def __init__(self, settings: FileSystemSettings, groups: Groups) -> None:
        self._settings = settings
        self._groups = groups
        self._nodes: dict[int, File | Directory] = {}
        self._names: dict[int, tuple[Directory, int]] = {}
        self._since_written: dict[int, tuple[int, int, int]] = {}
        self._new: set[int] = set()
        self._unlinked: set[int] = set()

    def add(self, node: File | Directory) -> None:
        """A node has an inode."""
        self._nodes[node.item] = node
        self._new.discard(node.item)

    def remove(self, node: File | Directory) -> None:
        """It has no name any more."""
        self._nodes.pop(node.item, None)
        self._unlinked.add(self._groups.inode_map(node.group))

    def add_chunk(self, blocks: Iterable[int]) -> None:
        """These blocks are a new chunk of inodes."""
        self._new.update(blocks)

    def add_names(self, directory: Directory, address: int, block: int) -> None:
        """A block of a directory is at an address."""
        self._names[address] = directory, block

    def size(self, item: int) -> int:
        """Bytes of an item in the log, with its headers."""
        names = self._names.get(item)
        if names is not None:
            return self._size_of_names(item, *names)
        node, record = self._nodes.get(item), self._settings.record
        if isinstance(node, Directory):
            names_bytes = _INLINE + self._settings.inline_directory - node.rooms[0] if node.inline else 0
            return record + _REGION + names_bytes
        if node is not None:
            return record + (_REGION if node.extents else 0)
        if self._groups.cluster_at(item) is not None:
            return _NEW_CHUNK * self._settings.block // self._settings.inode_chunk if item in self._new else record
        if self._groups.pieces_at(item):
            return _ROOTS * (_BUFFER + _REGION + _PIECE) + (_UNLINKED if item in self._unlinked else 0)
        return _BUFFER + _REGION + _PIECE

    def _size_of_names(self, item: int, directory: Directory, block: int) -> int:
        if not directory.counts[block]:
            return _BUFFER  # the block is free again, and its changes are canceled
        used = self._used(directory, block)
        low, high, count = self._since_written.get(item, (0, 0, 0))
        low, high, count = min(low, used), max(high, used), max(count, directory.counts[block])
        self._since_written[item] = low, high, count
        new, indexed = max(_PIECE, high - low), count * _HASH
        return _BUFFER + 2 * _REGION + new + -new % _PIECE + indexed + -indexed % _PIECE

    def _used(self, directory: Directory, block: int) -> int:
        return _BLOCK_HEAD + self._settings.block - directory.rooms[block]

    def written(self, address: int) -> list[tuple[int, int]]:
        """What is written for a changed block when it goes to its place: (address, bytes)."""
        names = self._names.get(address)
        if names is not None:
            used = self._used(*names)
            self._since_written[address] = used, used, 0
        self._unlinked.discard(address)
        cluster = self._groups.cluster_at(address)
        if cluster is not None:
            self._new.discard(address)
            return [(cluster, self._settings.inode_cluster)]
        return self._groups.pieces_at(address) or [(address, self._settings.block)]
