"""Dirty memory of a host: how much there may be before it is written back, and before writers have to wait.

Source: fs/buffer.c (bdflush) of Linux 2.4, mm/page-writeback.c since 2.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..core.signal import Signal, fire_all


class Recent:
    """A count of bytes whose past counts half after every period."""

    __slots__ = ("_bytes", "_period")

    def __init__(self) -> None:
        self._bytes = 0.0
        self._period = 0

    def add(self, size: int, period: int) -> None:
        """`size` more bytes, in this period."""
        self._bytes = self.at(period) + size
        self._period = period

    def at(self, period: int) -> float:
        """The count in this period."""
        passed = period - self._period
        return self._bytes * 0.5**passed if passed else self._bytes


@dataclass(frozen=True, slots=True)
class DirtyLimits:
    """When a kernel writes dirty memory back (bytes).

    Attributes
    ----------
    flush_above, flush_below
        Write-back starts when more than the first is dirty and goes on until no more than the second is.
    limit
        While dirty and under write-back together exceed this, who dirties memory has to write some back first.
    duty
        How much that is; 0 for a kernel whose writers only wait until no more than the limit is dirty.
    pass_bytes
        The thresholds are looked at after as much has been dirtied, and after as much has been written back.
    counts_writeback
        Whether memory under write-back counts towards the limit (2.4.18: only what is still dirty).
    running_above, running_below
        A program that writes behind itself (:attr:`.PageCacheSettings.write_behind_bytes`) waits while more than the
        first is under write-back, until it is no more than the second.
    balance
        Whether writers are slowed from :attr:`freerun` on, so that they settle before the limit
        (:mod:`raidsim.model.memory.dirty_balance`).
    pace
        In a run of a fraction of the size the kernel's times are as much shorter.
    """

    flush_above: int
    flush_below: int
    limit: int
    duty: int = 6 << 20
    pass_bytes: int = 4 << 20
    counts_writeback: bool = True
    balance: bool = False
    pace: float = 1.0
    running_above: int = 0
    running_below: int = 0

    @property
    def freerun(self) -> int:
        """From where on writers are slowed, if they are: the middle of the background threshold and the limit."""
        return (self.flush_above + self.limit) // 2 if self.balance else self.limit

    @property
    def settled(self) -> int:
        """How much is dirty while writers dirty more than the devices write."""
        return (self.freerun + self.limit) // 2 if self.balance else self.limit


class DirtyMemory:
    """The dirty memory of a host, over all its devices.

    Parameters
    ----------
    limits
        The kernel's.

    Attributes
    ----------
    dirty_bytes, writeback_bytes
        Dirty and under write-back.
    recent
        What was written lately, for kernels that share dirty memory among devices by it.
    """

    __slots__ = (
        "_flushers",
        "_running",
        "_since_look",
        "_throttled",
        "dirty_bytes",
        "limits",
        "recent",
        "writeback_bytes",
    )

    def __init__(self, limits: DirtyLimits) -> None:
        self.limits = limits
        self.dirty_bytes = 0
        self.writeback_bytes = 0
        self.recent = Recent()
        self._since_look = 0
        self._flushers: list[Signal] = []
        self._throttled: list[Signal] = []
        self._running: list[Signal] = []

    def dirtied(self, size: int) -> None:
        """`size` more bytes are dirty."""
        self.dirty_bytes += size
        self._since_look += size
        if self._since_look >= self.limits.pass_bytes:
            self._since_look = 0
            self.start_write_back()

    def start_write_back(self) -> None:
        """Wake the flushers, if there is something for them to do."""
        if self._flushers and self.dirty_bytes > self.limits.flush_above:
            fire_all(self._flushers)

    def written(self, size: int) -> None:
        """`size` bytes have reached their device."""
        self.writeback_bytes -= size
        if self._running and self.writeback_bytes <= self.limits.running_below:
            fire_all(self._running)
        if self._throttled and not self.over_limit:
            fire_all(self._throttled)

    @property
    def counted(self) -> int:
        """What counts towards the limit."""
        return self.dirty_bytes + (self.writeback_bytes if self.limits.counts_writeback else 0)

    @property
    def over_limit(self) -> bool:
        """Whether writers have to wait, or are slowed."""
        limits = self.limits
        counted = self.dirty_bytes + (self.writeback_bytes if limits.counts_writeback else 0)
        return counted > (limits.freerun if limits.balance else limits.limit)

    def below_limit(self) -> Signal:
        """A signal that fires when writers may go on."""
        signal = Signal()
        self._throttled.append(signal)
        return signal

    def ran_down(self) -> Signal:
        """A signal that fires when few enough bytes are under write-back."""
        signal = Signal()
        self._running.append(signal)
        return signal

    def above_background(self) -> Signal:
        """A signal that fires when write-back is due."""
        signal = Signal()
        self._flushers.append(signal)
        return signal
