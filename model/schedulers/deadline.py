"""The deadline scheduler of Linux 2.6.0 to 2.6.23: a one-way elevator, with a deadline for every request.

mq-deadline comes from it and differs in two things: here a batch ends at a request that does not continue the one
before, so that with several streams expired requests are looked for at every change between them; and when nothing
lies further on, the elevator goes back to the lowest address, not to the oldest request. Source:
block/deadline-iosched.c (deadline_dispatch_requests, deadline_move_request).
"""

from __future__ import annotations

from typing import ClassVar

from .base import QueuedRequest
from .mq_deadline import MqDeadline
from .settings import DeadlineSettings


class Deadline(MqDeadline):
    """Upwards by address and back to the lowest; batches of adjacent requests, bounded by deadlines.

    Parameters
    ----------
    max_bytes
        Largest merged request (bytes).
    settings
        Tunables.
    """

    __slots__ = ("_head",)
    name: ClassVar[str] = "deadline"
    listed: ClassVar[bool] = True
    limits_all_writes: ClassVar[bool] = False

    def __init__(self, max_bytes: int, settings: DeadlineSettings | None = None) -> None:
        super().__init__(max_bytes, settings)
        self._head = 0

    def next(self, now: float) -> QueuedRequest | None:
        """The next request of the batch, or the one where a new direction or the elevator begins."""
        following = self._following[self._direction]
        if following is not None:
            if following.offset != self._head:
                self._batched = self._fifo_batch
            if self._batched < self._fifo_batch:
                return self._dispatch(following)
        turn = self._turn(now)
        if turn is None:
            return None
        oldest, expired = turn
        following = self._following[self._direction]
        if following is not None and not expired:
            return self._dispatch(following)
        self._batched = 0
        lowest = self._sorted[self._direction].first()
        return self._dispatch(oldest if expired or lowest is None else lowest)

    def passes(self, queued: QueuedRequest) -> bool:
        """See :meth:`Scheduler.passes`: where the head is depends on what goes to the driver."""
        return False

    def _dispatch(self, queued: QueuedRequest) -> QueuedRequest:
        self._head = queued.offset + queued.size
        self._following[1 - queued.op] = None
        return self._move(queued)
