"""The elevator of Linux 2.4 (drivers/block/elevator.c, "elevator_linus").

One queue in order of address. A new request is put in front of queued ones with a higher address,
but each request may be passed only a number of times (its latency), so the order is a compromise
between seeking and waiting: a read behind a long row of writes waits for them, which is why 2.4
reads crawl while a big file is being written.
"""

from __future__ import annotations

from ..request import WRITE, Request
from .base import QueuedRequest, Scheduler


class LinusElevator(Scheduler):
    """The 2.4 elevator.

    Parameters
    ----------
    max_bytes
        Largest merged request (bytes).
    read_latency, write_latency
        How often a queued read or write may be passed by later requests.
    """

    __slots__ = ("_latency", "_queue")

    def __init__(self, max_bytes: int, read_latency: int, write_latency: int) -> None:
        super().__init__(max_bytes)
        self._latency = (read_latency, write_latency)
        self._queue: list[QueuedRequest] = []

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        queued.passes = self._latency[1 if queued.op == WRITE else 0]
        queue = self._queue
        place = len(queue)
        position = queued.position
        while place > 0:
            before = queue[place - 1]
            if before.passes <= 0 or before.position <= position:
                break
            place -= 1
        for passed in queue[place:]:
            passed.passes -= 1
        queue.insert(place, queued)

    def _merged(self, queued: QueuedRequest, request: Request, now: float) -> None:
        queue = self._queue
        for passed in reversed(queue):
            if passed is queued:
                break
            passed.passes -= 1

    def next(self, now: float) -> QueuedRequest | None:
        """The head of the queue."""
        return self._take(self._queue.pop(0)) if self._queue else None
