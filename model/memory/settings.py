"""What a page cache is told: the kernel's ways, and the file system that knows where files are."""

from __future__ import annotations

from typing import Any, Protocol

from ..core.signal import Waits
from ..files.description import Duration, PositiveSize, Size, Spec
from ..tasks.cpu import QUANTUM_S, Account

EXPIRE_S = 30.0
"""What has been dirty for so long is written back (dirty_expire_centisecs; age_buffer of Linux 2.4)."""
LOOK_S = 5.0
"""How often that is looked for (dirty_writeback_centisecs; kupdate's interval)."""


class Mapper(Protocol):
    """A file system that must read where a file's bytes are before they can be read."""

    def needs_map(self, file: Any, start: int, end: int) -> bool:
        """Whether something must be read to find [start, end)."""

    def mapped_until(self, file: Any, start: int, end: int) -> int:
        """How far from `start` towards `end` the file can be found without reading anything."""

    def load_map(self, file: Any, start: int, end: int, by: Account) -> Waits:
        """Read it."""

    def accessed(self, file: Any, by: Account) -> Waits:
        """The file has been read: its access time changes."""


class PageCacheSettings(Spec):
    """How a kernel reads and writes back files (bytes, s).

    It is the kernel's section `cache`, with what the device, the file system and the user change.
    """

    block: PositiveSize = 4096
    """Block of the file system, for which the kernel keeps a buffer head or makes a bio."""
    read_run: Size = 128 * 1024
    """Contiguous bytes read at a time; 0: all that is to be read."""
    read_run_aligned: bool = True
    """Whether that is cut at multiples of `read_run` in the file, or from where it begins."""
    flush_run: PositiveSize = 128 * 1024
    """Contiguous bytes written back at a time."""
    write_behind: Size = 0
    """Contiguous bytes, from a multiple of this offset in the file, that a program writes back as soon as it has filled
    them in order (FreeBSD, vfs.write_behind); 0: all is left to the flusher."""
    expire: Duration = EXPIRE_S
    look: Duration = LOOK_S
    """Pages that have been dirty for so long are written back whatever the limits say, and how often these are looked
    for."""
    by_age: bool = False
    """Whether pages are written back in the order in which they became dirty (Linux 2.4: one list of dirty buffers): a
    page that is dirtied again at once has its turn after all that are dirty now, and not after a pass."""
    block_lists: bool = False
    """Whether dirty blocks are in lists by when they became dirty (:mod:`raidsim.model.memory.dirty_lists`): write-back
    takes the oldest of all files, and a file that is synced is written from its newest on."""
    turn: Duration = QUANTUM_S
    """For so long a program that writes keeps the CPU, unless it has to wait."""
    interleaves: bool = False
    """Whether programs that write at the same time on several processors take blocks by turns
    (:mod:`raidsim.model.tasks.writer_turns`)."""
    bio: Size = 0
    """Contiguous bytes for which the kernel makes one bio; 0: a block."""
    metadata_bio: Size = 0
    """Contiguous bytes of metadata that are written back with one bio; 0: as much as is dirty."""
    read_bio: Size = 0
    """The same of what it reads, where that differs (mpage_readpages of 2.6 reads many pages with one bio, while what
    is written has a buffer head and a bio for every block); 0: as `bio`."""
    flusher_yields: bool = False
    """Whether the flusher keeps out of the device's queue while someone submits writes and waits for room in it."""
    drop_behind: bool = False
    """Whether pages that are read ahead in order are the first to be reclaimed once they have been used
    (:mod:`raidsim.model.memory.page_memory`)."""
    task_plug: bool = False
    """See :class:`~raidsim.model.memory.raw_cache.RawCacheSettings`."""
