"""mq-deadline of Linux: batches in order of address, with a deadline for every request.

Reads go before writes, but a write waits for no more than `writes_starved` batches of reads. Until 6.4 a batch goes on
with the request that waited above the last one when that was dispatched. Since 6.5 it goes on with what waits above it
now, so a stream whose next request has come meanwhile keeps its batch, and starts the next one. Source:
block/mq-deadline.c (__dd_dispatch_request, deadline_move_request; since 6.5 deadline_from_pos and latest_pos).
"""

from __future__ import annotations

from typing import ClassVar

from ..core.request import READ, WRITE
from .address_order import AddressOrder, ArrivalOrder
from .base import QueuedRequest, Scheduler
from .settings import DeadlineSettings, QueueFacts


class MqDeadline(Scheduler):
    """Batches by address, bounded by deadlines.

    Parameters
    ----------
    max_bytes
        Largest merged request (bytes).
    settings
        Tunables.
    """

    __slots__ = (
        "_batched",
        "_by_position",
        "_direction",
        "_expire_s",
        "_fifo",
        "_fifo_batch",
        "_following",
        "_latest",
        "_number",
        "_sorted",
        "_starved",
        "_writes_starved",
    )
    name: ClassVar[str] = "mq-deadline"
    listed: ClassVar[bool] = True
    limits_all_writes: ClassVar[bool] = True

    def __init__(self, max_bytes: int, settings: DeadlineSettings | None = None) -> None:
        super().__init__(max_bytes)
        settings = settings or DeadlineSettings()
        self._expire_s = (settings.read_expire, settings.write_expire)
        self._fifo_batch = settings.fifo_batch
        self._writes_starved = settings.writes_starved
        self._by_position = settings.batch_follows == "position"
        self._sorted = (AddressOrder(), AddressOrder())
        self._fifo = (ArrivalOrder(), ArrivalOrder())
        # What followed the last dispatched request in address order when that was dispatched.
        self._following: list[QueuedRequest | None] = [None, None]
        self._latest = [0, 0]  # where the last dispatched request of each direction begins (bytes)
        self._direction = WRITE
        self._batched = 0
        self._starved = 0
        self._number = 0

    @classmethod
    def made(cls, queue: QueueFacts) -> MqDeadline:
        """See :meth:`Scheduler.made`."""
        section = queue.section
        return cls(queue.max_bytes, section if queue.usual else DeadlineSettings(batch_follows=section.batch_follows))

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        queued.arrived = now
        self._number += 1
        queued.number = self._number
        direction = queued.op & WRITE
        self._sorted[direction].add(queued)
        self._fifo[direction].add(queued)

    def next(self, now: float) -> QueuedRequest | None:
        """The next request of the batch, or the first of a new one."""
        following = self._next_above(self._direction)
        if following is not None and self._batched < self._fifo_batch:
            return self._move(following)
        turn = self._turn(now)
        if turn is None:
            return None
        oldest, expired = turn
        following = self._next_above(self._direction)
        self._batched = 0
        return self._move(oldest if following is None or expired else following)

    def passes(self, queued: QueuedRequest) -> bool:
        """See :meth:`Scheduler.passes`: alone, it is the oldest of its direction, and may continue a batch."""
        direction = queued.op & WRITE
        above = self._by_position and direction == self._direction and queued.offset >= self._latest[direction]
        self._latest[direction] = queued.offset
        if above and self._batched < self._fifo_batch:
            self._batched += 1
            return True
        self._direction = direction
        if direction == WRITE:
            self._starved = 0
        self._batched = 1
        return True

    def _next_above(self, direction: int) -> QueuedRequest | None:
        """The request of a direction that follows its last dispatched one by address."""
        if not self._by_position:
            return self._following[direction]
        return self._sorted[direction].from_position(self._latest[direction])

    def _turn(self, now: float) -> tuple[QueuedRequest, bool] | None:
        """Choose the direction of the next batch; its oldest request, and whether that has expired."""
        if self.reads and not (self.writes and self._starving()):
            self._direction = READ
        elif self.writes:
            self._starved = 0
            self._direction = WRITE
        oldest = self._fifo[self._direction].oldest
        if oldest is None:
            return None
        expire_s = self._expire_s[1] if self._direction == WRITE else self._expire_s[0]
        return oldest, now - oldest.arrived >= expire_s

    def _starving(self) -> bool:
        """Whether waiting writes have let enough batches of reads go first; counts this one."""
        self._starved += 1
        return self._starved > self._writes_starved

    def _move(self, queued: QueuedRequest) -> QueuedRequest:
        self._batched += 1
        direction = queued.op & WRITE
        self._latest[direction] = queued.position
        self._following[direction] = self._sorted[direction].remove(queued)
        self._fifo[direction].remove(queued)
        return self._take(queued)
