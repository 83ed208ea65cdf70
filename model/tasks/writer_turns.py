"""Programs that write files side by side on several processors of Linux 2.4.

On one processor a program that writes keeps it for its time slice, so files that grow together lie in pieces of
megabytes. On several, as many of them run at the same time as there are processors, and in every call one takes the
block behind the one that another has just taken (fs/ext3/inode.c, ext3_get_block, under the kernel lock): their files
lie between each other block by block, or by what the file system sets aside for one (ext2: 8 blocks). The others wait
for their turn.

What they do in the kernel is under one of a few locks that there are once for the whole machine (the kernel lock around
ext3_get_block and journal_start, lru_list_lock around the lists of dirty buffers, io_request_lock around the queues of
all drives, with the search for a place in them). Who finds one taken spins: it waits, and the waiting is CPU time.
"""

from __future__ import annotations

from collections import deque

from ..core.signal import Signal


class WriterTurns:
    """The processors as programs that write take turns on them.

    Parameters
    ----------
    cores
        How many there are.

    Attributes
    ----------
    writers
        Programs that are writing a file now, running or not.
    """

    __slots__ = ("_cores", "_free", "_unlocked_at", "_waiting", "writers")

    def __init__(self, cores: int) -> None:
        self._cores = self._free = cores
        self._waiting: deque[Signal] = deque()
        self._unlocked_at = 0.0
        self.writers = 0

    def locked(self, now: float, seconds: float) -> float:
        """CPU time (s) that this work under the kernel's locks takes from `now` on, with spinning for them."""
        if self._cores == 1:
            return seconds
        begun = max(now, self._unlocked_at)
        self._unlocked_at = begun + seconds
        return begun + seconds - now

    @property
    def side_by_side(self) -> bool:
        """Whether several write, and on several processors."""
        return self._cores > 1 and self.writers > 1

    def take(self) -> Signal | None:
        """Begin a turn; or a signal that fires when it may begin."""
        if self._free:
            self._free -= 1
            return None
        signal = Signal()
        self._waiting.append(signal)
        return signal

    def give(self) -> None:
        """End a turn: the one that has waited longest begins its own."""
        if self._waiting:
            self._waiting.popleft().fire()
        else:
            self._free += 1
