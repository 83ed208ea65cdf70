"""Read-ahead of the buffer cache of FreeBSD 6 (sys/kern/vfs_cluster.c, cluster_read).

A file is read in blocks of 16 KiB and in clusters of at most 128 KiB (MAXPHYS). The last block of each cluster is
marked (B_RAM); when the program comes to a mark, clusters are added until as many blocks are on their way as
``vfs.read_max`` says, or as have been read in order (f_seqcount, at most 127). With the 8 blocks of the default the
next cluster goes out when the program is at the last block of this one, so disk and program hardly overlap; with 128
there are 16 clusters.
"""

from __future__ import annotations

from typing import ClassVar, Final

from .base import ReadAhead

BLOCK: Final = 16 << 10
"""File system block that newfs makes (bytes)."""
CLUSTER: Final = 128 << 10
"""MAXPHYS (bytes)."""
MOST_BLOCKS: Final = 127
"""IO_SEQMAX."""


class ReadAheadFreeBsd6(ReadAhead):
    """FreeBSD 6; `max_bytes` is ``vfs.read_max`` blocks of 16 KiB."""

    __slots__ = ("_began", "_issued")
    name: ClassVar[str] = "freebsd-6"

    def __init__(self, max_bytes: int, end: int) -> None:
        super().__init__(max_bytes, end)
        self._began = -1
        self._issued = -1

    def touch(self, position: int, call_end: int = 0) -> tuple[int, int] | None:
        """See :meth:`ReadAhead.touch`."""
        block = position - position % BLOCK
        if not self._began <= position <= self._issued:
            self._began = self._issued = block
        start = end = self._issued
        if position >= start:
            end = min(-(-max(call_end, position + 1) // BLOCK) * BLOCK, block + CLUSTER)
        elif (start - 1 - position) // BLOCK % (CLUSTER // BLOCK):
            return None
        in_order = (block - self._began) // BLOCK + 1
        wanted = block + min(self.max_bytes // BLOCK, MOST_BLOCKS, in_order) * BLOCK
        while end < wanted:
            end += CLUSTER
        self._issued = min(end, self._end)
        return (start, self._issued) if start < self._issued else None

    def next_trigger(self, position: int) -> int:
        """See :meth:`ReadAhead.next_trigger`."""
        last = self._issued - BLOCK
        if position >= last:
            return max(self._issued, position + 1)
        return last - (last - position - 1) // CLUSTER * CLUSTER
