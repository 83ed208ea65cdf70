"""The elevator of Linux 2.4 (drivers/block/elevator.c, "elevator_linus").

One queue in order of address. A new request is put in front of queued ones with a higher address,
but each request may be passed only a number of times (its latency), so the order is a compromise
between seeking and waiting: a read behind a long row of writes waits for them, which is why 2.4
reads crawl while a big file is being written.
"""

from __future__ import annotations

from typing import ClassVar, Final

from ..core.request import WRITE, Request
from .base import QueuedRequest, Scheduler
from .passing_order import PassingOrder, Place
from .settings import QueueFacts


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
    name: ClassVar[str] = "linus"
    listed: ClassVar[bool] = True

    def __init__(self, max_bytes: int, read_latency: int, write_latency: int) -> None:
        super().__init__(max_bytes)
        self._latency = (read_latency, write_latency)
        self._queue = PassingOrder()

    @classmethod
    def made(cls, queue: QueueFacts) -> LinusElevator:
        """The elevator of the kernel's version."""
        section = queue.section
        kind = {"both-ways": LinusElevator, "one-way": OneWayElevator, "one-way-buffers": BufferElevator}
        return kind[section.elevator](queue.max_bytes, section.read_passes, section.write_passes)

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        queued.passes = self._latency[1 if queued.op == WRITE else 0]
        place = self._place(queued)
        self._age(place, queued.size)
        self._queue.insert(place, queued)

    def _place(self, queued: QueuedRequest) -> Place:
        """Where a new request goes."""
        return self._queue.place_below(queued.position)

    def _age(self, place: Place, size: int) -> None:
        """A request of `size` bytes is to be put at `place`: it passes those behind (2.4.20)."""
        self._queue.age(place, 0, 1)

    def _merged(self, queued: QueuedRequest, request: Request, now: float) -> None:
        self._queue.age_behind(queued, 1)

    def next(self, now: float) -> QueuedRequest | None:
        """The head of the queue."""
        head = self._queue.take()
        return None if head is None else self._take(head)


class OneWayElevator(LinusElevator):
    """The same with the place of a request as the kernel finds it (bh_rq_in_between).

    The queue is a sweep and what is for the next one: a new request goes between two neighbors in order of address, or
    to where the addresses fall back, and to the end if there is no such place. So a request below all that are queued
    waits for the next sweep, instead of going before them.
    """

    __slots__ = ()

    def _place(self, queued: QueuedRequest) -> Place:
        """See :meth:`LinusElevator._place`."""
        return self._queue.place_between(queued.offset)


class BufferElevator(OneWayElevator):
    """The one-way elevator before 2.4.20, whose latencies count buffers.

    Each that comes takes one from all that are queued, and the sectors of one that merges from those behind it
    (elevator_linus_merge, elevator_linus_merge_cleanup).
    """

    __slots__ = ()

    def _age(self, place: Place, size: int) -> None:
        """See :meth:`LinusElevator._age`: the first buffer makes the request, and the others merge with it."""
        self._queue.age(place, 1, 1 + _merging(size - _BUFFER_BYTES))

    def _merged(self, queued: QueuedRequest, request: Request, now: float) -> None:
        self._queue.age_behind(queued, _merging(request.size))


_BUFFER_BYTES: Final = 4096
"""What comes at once: the buffer head of a file system's block, or of a page of an array."""
_SECTOR_BYTES: Final = 512


def _merging(size: int) -> int:
    """What `size` bytes that merge take from those behind: a buffer each time, and its sectors."""
    return max(0, size // _BUFFER_BYTES + size // _SECTOR_BYTES)
