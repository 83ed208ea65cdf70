"""What iostat shows of a drive, as the host's block layer counts it in /proc/diskstats.

A request counts from when it is made, not from when the drive gets it: it may first wait in a task's plug or in the I/O
scheduler (``await``). ``%util`` counts ticks of the kernel's clock, and is no share of the drive's capacity:

- until 4.20 a tick counts if a request was there when it ended (part_round_stats);
- from 5.0 on a tick counts if a request began or ended in it ("block: delete part_round_stats and switch to less
  precise counting");
- from 5.7 on an end counts all ticks since the last start or end ("block/diskstats: more accurate approximation of
  io_ticks for slow disks");
- from 6.10 on a start does too, if another request is there ("block: support to account io_ticks precisely").

So a fast drive that serves one request in each tick is shown as fully busy from 5.0 to 6.9. Sources: block/blk-core.c
update_io_ticks, block/blk-mq.c blk_account_io_start and blk_account_io_done, block/genhd.c part_round_stats.
"""

from __future__ import annotations

from typing import Final, Literal

from ..core.request import TRIM
from ..schedulers import QueuedRequest

TICKS_PER_S: Final = 250.0
"""The kernel's clock (CONFIG_HZ), as Debian and Ubuntu build it; Red Hat's has 1,000."""

BusyTicks = Literal["requests", "events", "ends"]
"""What counts a tick as busy: a request that is there (until 4.20, and from 6.10 on), starts and ends that fall into it
(from 5.0 on), or these and the time before an end (from 5.7 on)."""


class IoStatistics:
    """Counts of one device's queue.

    Parameters
    ----------
    busy_ticks
        What counts a tick as busy.

    Attributes
    ----------
    completed
        Reads and writes that are complete, each of them one request to the drive.
    waited_s
        Time (s) from when they were made until they were complete, all together.
    inside
        Requests that are made and not yet complete.
    tick_ends
        End (s) of the tick of the latest start or end. Queues count what starts and ends before it without a call.
    """

    __slots__ = ("_ends", "_starts", "_tick", "_ticks", "completed", "inside", "tick_ends", "waited_s")

    def __init__(self, busy_ticks: BusyTicks = "requests") -> None:
        self._starts = busy_ticks != "requests"
        self._ends = busy_ticks != "events"
        self.inside = 0
        self._tick = self._ticks = 0
        self.tick_ends = 1.0 / TICKS_PER_S
        self.completed = 0
        self.waited_s = 0.0

    def begin(self) -> None:
        """Forget what was counted so far (the warm-up)."""
        self._ticks = self.completed = 0
        self.waited_s = 0.0

    @property
    def busy_s(self) -> float:
        """Time (s) that ``%util`` takes for busy."""
        return self._ticks / TICKS_PER_S

    def made(self, now: float) -> None:
        """A request is made at `now` (s)."""
        tick = int(now * TICKS_PER_S)
        if tick != self._tick:
            if self._starts:
                self._ticks += 1
            elif self.inside:
                self._ticks += tick - self._tick
            self._begin_tick(tick)
        self.inside += 1

    def merged(self) -> None:
        """A request has become part of another one."""
        self.inside -= 1

    def done(self, now: float, queued: QueuedRequest) -> None:
        """A request is complete at `now` (s)."""
        tick = int(now * TICKS_PER_S)
        if tick != self._tick:
            self._ticks += tick - self._tick if self._ends else 1
            self._begin_tick(tick)
        self.inside -= 1
        if queued.op != TRIM:
            self.completed += 1
            self.waited_s += now - queued.made

    def _begin_tick(self, tick: int) -> None:
        self._tick = tick
        self.tick_ends = (tick + 1) / TICKS_PER_S
