"""The blocks of the 2.4 elevator's queue: the order is that of walking along all of it, as the kernel does."""

from __future__ import annotations

import random

import pytest

from raidsim.model.core.request import READ, Call, Request
from raidsim.model.schedulers import SCHEDULERS, QueuedRequest, QueueFacts, Scheduler, SchedulerSettings
from raidsim.model.schedulers.elevator import BufferElevator, LinusElevator, OneWayElevator

BLOCK = 4096
FINISHED = Call(lambda _: None)


class Walked:
    """The elevator by hand: a list, of which each new request looks at one after the other.

    Parameters
    ----------
    kind
        As a kernel's `elevator`.
    passes
        How often a request may be passed.
    """

    def __init__(self, kind: str, passes: int) -> None:
        self.kind = kind
        self.passes = passes
        self.queue: list[list[int]] = []  # offset and passes left

    def insert(self, offset: int) -> None:
        """One more request of a block."""
        place = self.place_below(offset) if self.kind == "both-ways" else self.place_between(offset)
        for number, each in enumerate(self.queue):
            each[1] -= number >= place or self.kind == "one-way-buffers"
        self.queue.insert(place, [offset, self.passes])

    def place_below(self, offset: int) -> int:
        """In front of all from the end on that lie above it and may be passed."""
        place = len(self.queue)
        while place and self.queue[place - 1][1] > 0 and self.queue[place - 1][0] > offset:
            place -= 1
        return place

    def place_between(self, offset: int) -> int:
        """Between neighbors, or where the addresses fall back."""
        for number in range(len(self.queue) - 1, -1, -1):
            low, left = self.queue[number]
            if left <= 0:
                break
            if number + 1 < len(self.queue):
                high = self.queue[number + 1][0]
                if low < offset < high or (high <= low and (offset > low or offset < high)):
                    return number + 1
        return len(self.queue)


@pytest.mark.parametrize("kind", ["both-ways", "one-way", "one-way-buffers"])
@pytest.mark.parametrize("passes", [0, 3, 60, 100_000])
def test_it_is_the_order_of_a_walk(kind: str, passes: int) -> None:
    """Protects the elevator's rules from its blocks: 3,000 requests, some at the same place, queues of up to 1,000."""
    draw = random.Random(passes)
    walked = Walked(kind, passes)
    section = SchedulerSettings(elevator=kind, read_passes=passes, write_passes=passes)
    facts = QueueFacts(BLOCK, section, usual=True, rotational=True, depth=1, draw=lambda: 0.0)
    elevator: Scheduler = SCHEDULERS["linus"].made(facts)
    assert type(elevator) is {"both-ways": LinusElevator, "one-way": OneWayElevator}.get(kind, BufferElevator)
    elevator.done = FINISHED
    for step in range(3000):
        offset = BLOCK * draw.randrange(5000)
        elevator.insert(QueuedRequest(Request(READ, offset, BLOCK, FINISHED), 0.0, FINISHED), 0.0)
        walked.insert(offset)
        while draw.random() < (0.4 if step < 1500 else 0.6) and walked.queue:
            head = elevator.next(0.0)
            assert head is not None
            assert head.offset == walked.queue.pop(0)[0]
    while (head := elevator.next(0.0)) is not None:
        assert head.offset == walked.queue.pop(0)[0]
    assert not walked.queue
