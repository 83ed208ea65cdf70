"""The blocks of a directory: where a new name goes, and how many are looked at to find one."""

from __future__ import annotations

from .nodes import Directory


class Names:
    """Arithmetic of directory entries.

    Parameters
    ----------
    block
        Bytes of a directory block.
    overhead
        Bytes of an entry beyond its name.
    linear
        Whether a name is searched for from the first block on.
    """

    __slots__ = ("_block", "_linear", "_overhead")

    def __init__(self, block: int, overhead: int, linear: bool) -> None:
        self._block = block
        self._overhead = overhead
        self._linear = linear

    def size(self, path: str) -> int:
        """Bytes of the entry of a path's last part, in units of 4."""
        name = len(path) - path.rfind("/") - 1
        return self._overhead + name + -(self._overhead + name) % 4

    def find_room(self, directory: Directory, path: str) -> int:
        """Number of the first block with room for the name; the number of blocks if none has."""
        size = self.size(path)
        rooms = directory.rooms
        for i in range(directory.hint, len(rooms)):
            if rooms[i] >= size:
                return i
            if i == directory.hint and rooms[i] < self._overhead + 4:
                directory.hint = i + 1
        return len(rooms)

    def add(self, directory: Directory, path: str, block: int) -> None:
        """The name is in a block of the directory."""
        directory.rooms[block] -= self.size(path)
        directory.counts[block] += 1

    def add_block(self, directory: Directory, address: int) -> None:
        """The directory has one more block."""
        directory.blocks.append(address)
        directory.rooms.append(self._block)
        directory.counts.append(0)

    def remove(self, directory: Directory, path: str, block: int) -> None:
        """The name is gone."""
        directory.rooms[block] += self.size(path)
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
        return directory.blocks[: block + 1] if self._linear else directory.blocks[block : block + 1]
