"""The deadline scheduler of Linux 2.6.20 by hand, beside mq-deadline, which came from it."""

from __future__ import annotations

import pytest

from raidsim.model.core.request import READ, WRITE, Call, Request
from raidsim.model.schedulers import Deadline, DeadlineSettings, MqDeadline

KIB = 1024


def queue(kind: type[MqDeadline], settings: DeadlineSettings | None = None, **arrivals: list[int]) -> MqDeadline:
    """A scheduler that merges nothing, with reads and writes of 4 KiB at these KiB, all arrived at 0."""
    scheduler = kind(4 * KIB, settings)
    scheduler.done = Call(lambda _: None)
    for op, name in ((READ, "reads"), (WRITE, "writes")):
        for kib in arrivals.get(name, []):
            scheduler.add(Request(op, kib * KIB, 4 * KIB, lambda _: None), 0.0)
    return scheduler


def order(scheduler: MqDeadline, now: float = 0.0, count: int = 1000) -> list[str]:
    """What it dispatches at `now`: "r" or "w" and the address in KiB."""
    dispatched = []
    while count and (queued := scheduler.next(now)) is not None:
        dispatched.append(f"{'w' if queued.op else 'r'}{queued.offset // KIB}")
        count -= 1
    return dispatched


def test_the_elevator_begins_at_the_lowest_address() -> None:
    """Protects from the order of arrival, by which mq-deadline begins (the counter-test)."""
    assert order(queue(Deadline, reads=[40, 80, 8, 60])) == ["r8", "r40", "r60", "r80"]
    assert order(queue(MqDeadline, reads=[40, 80, 8, 60])) == ["r40", "r60", "r80", "r8"]


@pytest.mark.parametrize(("step", "following"), [(4, "r116"), (8, "r1000")])
def test_a_batch_ends_at_a_gap(step: int, following: str) -> None:
    """Adjacent requests go on being a batch, whatever has expired; at a gap the expired one goes first."""
    scheduler = queue(Deadline, reads=[100, 1000, *(100 + step * i for i in range(1, 12))])
    assert order(scheduler, 0.0, 4)[-1] == f"r{100 + 3 * step}"
    assert order(scheduler, 0.6, 1) == [following]


def test_gaps_do_not_end_a_batch_of_its_successor() -> None:
    """The counter-test: mq-deadline goes on to the sixteenth request."""
    scheduler = queue(MqDeadline, reads=[100, 1000, *(100 + 8 * i for i in range(1, 12))])
    assert order(scheduler, 0.0, 4)[-1] == "r124"
    assert order(scheduler, 0.6, 1) == ["r132"]


def test_writes_go_after_two_batches_of_reads() -> None:
    """fifo_batch 1: reads at gaps are batches of their own, and after two of them a write goes."""
    scheduler = queue(Deadline, DeadlineSettings(fifo_batch=1), reads=[0, 100, 200, 300], writes=[1000, 1100])
    assert order(scheduler) == ["r0", "r100", "w1000", "r200", "r300", "w1100"]
