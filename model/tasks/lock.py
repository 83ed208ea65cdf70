"""Memory that cores share and take turns at: spinlocks, and counters that every I/O changes.

A cache line moves to the core that writes it, which takes 50 to 250 ns. Whoever holds a lock, or changes a counter,
keeps all others waiting while lines move. So what a lock costs is a number of lines, a property of the kernel's code,
times the time that a line takes from core to core, a property of the machine; instructions add little.

A lock is a server that knows when it is free, as a core is, and serves in order of arrival. Somebody who finds it free
goes on at once: what an uncontended lock costs is part of the price of the work around it. Only somebody who finds it
held waits, and spins meanwhile.
"""

from __future__ import annotations

from collections import deque

WAITER_LINES = 3
"""Lines that move if one core waits: the holder takes the lock's word back to release it, the waiter reads it, and
writes it (kernel/locking/qspinlock.c, queued_spin_lock_slowpath with the pending bit; Linux 4.2)."""
QUEUE_LINES = 6
"""Lines that move if several wait, each on a word of its own: these three, the word once more to the core that enters
the queue (xchg_tail), and the next one's own word, written by the new holder and read by its owner."""


def line_transfer_s(nodes: int, near_s: float, far_s: float) -> float:
    """How long (s) a cache line takes between two cores, on average.

    Parameters
    ----------
    nodes
        Memory nodes. The kernel spreads threads over them, so the next core is on the same one with a chance of 1 in
        `nodes`.
    near_s, far_s
        Seconds between cores of one node, and of two.
    """
    return near_s / nodes + far_s * (nodes - 1) / nodes


class Lock:
    """What only one core at a time may hold.

    Parameters
    ----------
    name, kernel
        How results call it, and the kernel whose lock it is.
    line_s
        Time (s) that a cache line takes from one core to another.

    Attributes
    ----------
    busy_s
        Time (s) it has been held.
    """

    __slots__ = ("_core", "_free", "_line_s", "_releases", "_unawaited", "busy_s", "kernel", "name")

    def __init__(self, name: str, kernel: str, line_s: float) -> None:
        self.name = name
        self.kernel = kernel
        self._line_s = line_s
        self._core = -1
        self._free = 0.0
        # When the last one that had not to wait was through with it, and when those that had to will be.
        self._unawaited = 0.0
        self._releases: deque[float] = deque()
        self.start_statistics()

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        self.busy_s = 0.0

    def take(self, core: int, at: float, hold_s: float, lines: int) -> float:
        """Hold it from `at` (s) on, or from when it is free.

        Parameters
        ----------
        core, at
            The core that asks for it, and when (s).
        hold_s, lines
            What the holder computes (s), and the cache lines of data that move to it. Of a counter: how often it is
            changed.

        Returns
        -------
        float
            When (s) the core goes on: `at` if it need not wait, else when it is through.
        """
        begin = self._free
        if begin <= at:
            if self._releases:
                self._releases.clear()
            if core != self._core:
                if self._core >= 0:
                    hold_s += self._lines(0, lines) * self._line_s
                self._core = core
            self._free = self._unawaited = at + hold_s
            self.busy_s += hold_s
            return at
        releases = self._releases
        while releases and releases[0] <= at:
            releases.popleft()
        if core != self._core:
            # Who holds it is not one that waits, but whoever asks is.
            waiting = len(releases) + (self._unawaited > at)
            hold_s += self._lines(waiting, lines) * self._line_s
            self._core = core
        self._free = finish = begin + hold_s
        releases.append(finish)
        self.busy_s += hold_s
        return finish

    @property
    def free_from(self) -> float:
        """When (s) the last one that asked for it so far is through with it."""
        return self._free

    def _lines(self, waiting: int, lines: int) -> float:
        """How many cache lines move to the next holder if this number of cores wait, the next holder included."""
        raise NotImplementedError(f"{self.name}: this kind of lock moves no lines")


class Counter(Lock):
    """A word that every I/O changes with atomic instructions; the core that does so has its line alone."""

    __slots__ = ()

    def _lines(self, waiting: int, lines: int) -> float:
        return lines if waiting else 1


class QueuedLock(Lock):
    """A spinlock whose waiters queue up (since Linux 4.2): from two on it costs the same however many they are.

    Those of before, whose waiters all read the same word, are taken for such.
    """

    __slots__ = ()

    def _lines(self, waiting: int, lines: int) -> float:
        if waiting > 1:
            return QUEUE_LINES + lines
        return (WAITER_LINES if waiting else 1) + lines
