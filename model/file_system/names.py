"""The blocks of a directory: where a new name goes, and how many are looked at to find one."""

from __future__ import annotations

from .nodes import Directory


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
