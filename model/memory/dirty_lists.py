"""Lists of dirty blocks by when they became dirty, as Linux 2.4 has them.

One list holds the dirty buffers of all files, the oldest first: write-back takes them from there. Every inode has one
of its own, the newest first, and fsync submits its buffers in that order, one by one; only the queue of the drive sorts
what it holds at a time. A block that is written again while it is dirty keeps its place. Source: Linux 2.4 fs/buffer.c:
lru_list[BUF_DIRTY] with write_some_buffers and sync_old_buffers; buffer_insert_inode_data_queue and
fsync_inode_data_buffers.
"""

from __future__ import annotations

from collections import deque

from ..core.extents import ExtentSet
from .paged_file import PagedFile

_TOGETHER_S = 1.0
"""Contiguous blocks that became dirty within so long are one entry."""


class _Entry:
    """A run of blocks that became dirty together."""

    __slots__ = ("end", "file", "since", "start")

    def __init__(self, file: PagedFile, start: int, end: int, since: float) -> None:
        self.file = file
        self.start = start
        self.end = end
        self.since = since


class DirtyLists:
    """The lists of one device. What has been written meanwhile stays in them until its turn comes."""

    __slots__ = ("_of_all", "_of_file")

    def __init__(self) -> None:
        self._of_all: deque[_Entry] = deque()
        self._of_file: dict[PagedFile, list[tuple[int, int]]] = {}

    def add(self, file: PagedFile, start: int, end: int, now: float) -> None:
        """[start, end) of `file` has become dirty."""
        ages = self._of_all
        last = ages[-1] if ages else None
        if last is not None and last.file is file and last.end == start and now - last.since < _TOGETHER_S:
            last.end = end
        else:
            ages.append(_Entry(file, start, end, now))
        runs = self._of_file.setdefault(file, [])
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))

    def clean(self, file: PagedFile) -> None:
        """Nothing of `file` is dirty any more."""
        self._of_file.pop(file, None)
        if not self._of_file:
            self._of_all.clear()

    def oldest(self, most: int) -> tuple[PagedFile, int, int]:
        """What became dirty first of all files, cut where the address is a multiple of `most`, off the list."""
        ages = self._of_all
        while True:
            entry = ages[0]
            found = _dirty_parts(entry.file.dirty, entry.start, entry.end)
            if not found:
                ages.popleft()
                continue
            start, end = found[0]
            end = min(end, start - start % most + most)
            entry.start = end
            return entry.file, start, end

    def due(self, before: float) -> bool:
        """Whether something has been dirty since `before` (s)."""
        ages = self._of_all
        while ages and not _dirty_parts(ages[0].file.dirty, ages[0].start, ages[0].end):
            ages.popleft()
        return bool(ages) and ages[0].since <= before

    def newest(self, file: PagedFile, most: int) -> tuple[int, int]:
        """What became dirty last of `file`, cut where the address is a multiple of `most`, off its list."""
        runs = self._of_file[file]
        while True:
            start, end = runs.pop()
            found = _dirty_parts(file.dirty, start, end)
            if not found:
                continue
            at, end = found[-1]
            at = max(at, (end - 1) // most * most)
            if at > start:
                runs.append((start, at))
            return at, end


def _dirty_parts(dirty: ExtentSet, start: int, end: int) -> list[tuple[int, int]]:
    return [(at, stop) for at, stop, is_dirty in dirty.parts(start, end) if is_dirty]
