"""Files and directories as their file system knows them: light, because there may be hundreds of thousands.

:class:`Names` says where in the blocks of a directory a new name goes, and how many are looked at to find one.
"""

from __future__ import annotations

from typing import Protocol

from ..core.extents import ExtentSet
from ..memory.paged_file import PagedFile


class Allocates(Protocol):
    """Gives a file its place at write-back."""

    def allocate_delayed(self, file: File) -> None:
        """Give all bytes of the file a place."""


class Leaf:
    """A leaf of a tree that still takes items.

    Attributes
    ----------
    address
        Of its block.
    room
        Bytes free in it.
    """

    __slots__ = ("address", "room")

    def __init__(self, address: int, room: int) -> None:
        self.address = address
        self.room = room


class Directory:
    """A directory.

    Attributes
    ----------
    name
        Its path; "" for the root.
    parent
        The directory it is in; the root's is itself.
    group
        Number of the allocation group that its files go to.
    slot
        Number of its inode in its group, where inodes are numbered.
    inode
        Address of the block with its inode.
    item
        What the journal calls its inode: the address of that block, or of the inode itself where each is logged alone.
    entry
        Which block of the parent has its entry.
    blocks
        Addresses of the blocks with its entries; that of its inode alone while they are in it.
    rooms, counts
        Bytes free and entries in each of them.
    hint
        No block before this one has room.
    in_memory
        Whether name and inode are.
    index
        Address of the block that says where a name is; -1 for none.
    outside
        Bytes that its names would take in a block while they are in its inode.
    moved
        Whether it has got a group of its own after the one of its parent.
    """

    __slots__ = (
        "blocks",
        "counts",
        "entry",
        "group",
        "hint",
        "in_memory",
        "index",
        "inode",
        "item",
        "moved",
        "name",
        "outside",
        "parent",
        "rooms",
        "slot",
    )

    def __init__(self, name: str, parent: Directory | None, group: int) -> None:
        self.name = name
        self.parent = self if parent is None else parent
        self.group = group
        self.slot = -1
        self.inode = self.item = -1
        self.entry = -1
        self.blocks: list[int] = []
        self.rooms: list[int] = []
        self.counts: list[int] = []
        self.hint = 0
        self.in_memory = True
        self.moved = False
        self.outside = 0
        self.index = -1

    @property
    def inline(self) -> bool:
        """Whether its names are in its inode."""
        return self.blocks[:1] == [self.item]

    @property
    def entries(self) -> int:
        """Names in it."""
        return sum(self.counts)


class File(PagedFile):
    """A file with its inode.

    Attributes
    ----------
    parent
        The directory it is in.
    group, slot, inode, item, entry, in_memory
        As of a :class:`Directory`.
    maps
        Mapping blocks beyond the inode, as (first file position they map, address), in order; None for none.
    in_leaf
        Whether its bytes are in the leaf with its inode.
    mtime_due_s
        From when on writing over its bytes changes its time.
    opened
        How often it is open.
    written
        Of a file whose bytes have their places but were never written: those that were by now. None: all of them.
    converts
        Whether bytes were written for the first time, and its inode has not gone to the journal since.
    """

    __slots__ = (
        "_system",
        "converts",
        "entry",
        "group",
        "in_leaf",
        "in_memory",
        "inode",
        "item",
        "maps",
        "mtime_due_s",
        "opened",
        "parent",
        "slot",
        "written",
    )

    def __init__(self, name: str, parent: Directory, group: int, system: Allocates) -> None:
        super().__init__(name)
        self._system = system
        self.parent = parent
        self.group = group
        self.slot = -1
        self.inode = self.item = -1
        self.entry = -1
        self.in_memory = True
        self.maps: list[tuple[int, int]] | None = None
        self.in_leaf = False
        self.opened = 0
        self.atime_due_s = self.mtime_due_s = 0.0
        self.written: ExtentSet | None = None
        self.converts = False

    def holds(self, position: int) -> bool:
        """Whether the block at `position` was ever written."""
        return self.written is None or self.written.run_from(position) > position

    def write_first(self, start: int, end: int) -> None:
        """Note that [start, end), whole blocks, is written, of which some may have a place that is marked unwritten.

        Its mark is taken away when the bytes are there, and the inode goes to the journal (Linux fs/ext4/extents.c,
        ext4_convert_unwritten_extents; fs/xfs/xfs_iomap.c, xfs_iomap_write_unwritten).
        """
        assert self.written is not None
        if self.written.run_from(start) < end:
            self.written.add(start, end)
            self.converts = True

    def take_converted(self) -> bool:
        """Whether bytes were written for the first time since this was last asked."""
        converts, self.converts = self.converts, False
        return converts

    def place(self, end: int) -> None:
        """Give all bytes a place, `end` among them."""
        self._system.allocate_delayed(self)
        if self.extents.size < end:
            super().place(end)


class Names:
    """Arithmetic of directory entries.

    Parameters
    ----------
    overhead, unit
        Bytes of an entry beyond its name; an entry is filled up to a multiple of `unit` bytes.
    inline_overhead
        Bytes beyond its name of an entry in the inode of its directory.
    spare
        Bytes of each block that stay free on average in a directory of several blocks.
    linear
        Whether a name is searched for from the first block on.
    """

    __slots__ = ("_inline_overhead", "_linear", "_overhead", "_spare", "_unit")

    def __init__(self, overhead: int, linear: bool, unit: int = 4, inline_overhead: int = 0, spare: int = 0) -> None:
        self._overhead = overhead
        self._linear = linear
        self._unit = unit
        self._inline_overhead = inline_overhead
        self._spare = spare

    def size(self, path: str, directory: Directory) -> int:
        """Bytes of the entry of a path's last part."""
        name = len(path) - path.rfind("/") - 1
        return self._inline_overhead + name if directory.inline else self._in_block(name)

    def _in_block(self, name: int) -> int:
        return self._overhead + name + -(self._overhead + name) % self._unit

    def find_room(self, directory: Directory, path: str) -> int:
        """Number of the first block with room for the name; the number of blocks if none has."""
        size = self.size(path, directory)
        rooms = directory.rooms
        spare = self._spare if len(rooms) > 1 else 0
        for i in range(directory.hint, len(rooms)):
            if rooms[i] >= size + spare:
                return i
            if i == directory.hint and rooms[i] < self._overhead + 4 + spare:
                directory.hint = i + 1
        return len(rooms)

    def add(self, directory: Directory, path: str, block: int) -> None:
        """The name is in a block of the directory."""
        directory.rooms[block] -= self.size(path, directory)
        if directory.inline:
            directory.outside += self._in_block(len(path) - path.rfind("/") - 1)
        directory.counts[block] += 1

    def add_block(self, directory: Directory, address: int, room: int) -> None:
        """Add a block to the directory, or its inode, with this number of bytes for names."""
        directory.blocks.append(address)
        directory.rooms.append(room)
        directory.counts.append(0)

    def remove(self, directory: Directory, path: str, block: int) -> None:
        """The name is gone."""
        directory.rooms[block] += self.size(path, directory)
        if directory.inline:
            directory.outside -= self._in_block(len(path) - path.rfind("/") - 1)
        directory.counts[block] -= 1
        directory.hint = min(directory.hint, block)

    def looked_at(self, directory: Directory, block: int) -> float:
        """Entries looked at until a name in `block` is found; on average, half of that block's."""
        if not self._linear:
            return 1.0
        counts = directory.counts
        before = sum(counts[:block])
        return before + block + (counts[block] / 2 if block < len(counts) else 0.0)

    def searched(self, directory: Directory, block: int) -> list[int]:
        """Addresses of the blocks read until a name in `block` is found."""
        if self._linear:
            return directory.blocks[: block + 1]
        found = directory.blocks[block : block + 1]
        return found if directory.index < 0 else [directory.index, *found]
