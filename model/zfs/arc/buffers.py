"""Cached blocks, and the lists that the ARC keeps them in: each a chain from the block used last to the next victim."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

MRU: Final = 0
MFU: Final = 2
GHOST: Final = 4
"""Lists by number: one of `MRU` and `MFU`, plus `GHOST` for blocks whose data are gone, plus 1 for metadata."""
LISTS: Final = 8

KEY_SHIFT: Final = 40
INDIRECT: Final = 1 << 39
"""Keys of blocks: number of the dataset, whether the block is indirect, number of the block."""


class Buffer:
    """A block that the ARC knows.

    Attributes
    ----------
    key
        Which block.
    size
        Bytes that its data take, or took.
    place
        Number of its list.
    used
        Time (s) of the last access that counted.
    prefetched
        Whether prefetch brought it, and no reader has used it since.
    """

    __slots__ = ("key", "newer", "older", "place", "prefetched", "size", "used")

    newer: Buffer
    older: Buffer

    def __init__(self, key: i64, size: i64, place: i64, used: float, prefetched: bool) -> None:
        self.key = key
        self.size = size
        self.place = place
        self.used = used
        self.prefetched = prefetched
        self.newer = self
        self.older = self


class BufferList:
    """One of the ARC's lists.

    Attributes
    ----------
    size
        Bytes of its blocks.
    hits
        Bytes of its blocks that were asked for since :meth:`take_hits`.
    ends
        A link whose `older` is the newest block and whose `newer` the oldest one; itself if the list is empty.
    """

    __slots__ = ("ends", "hits", "size")

    def __init__(self) -> None:
        self.ends = Buffer(-1, 0, -1, 0.0, False)
        self.size: i64 = 0
        self.hits: i64 = 0

    def push(self, buffer: Buffer) -> None:
        """Put a block at the front."""
        ends = self.ends
        first = ends.older
        buffer.newer = ends
        buffer.older = first
        first.newer = buffer
        ends.older = buffer
        self.size += buffer.size

    def drop(self, buffer: Buffer) -> None:
        """Take a block out."""
        newer, older = buffer.newer, buffer.older
        newer.older = older
        older.newer = newer
        self.size -= buffer.size

    def take_hits(self) -> i64:
        """Bytes asked for since the last call."""
        hits = self.hits
        self.hits = 0
        return hits
