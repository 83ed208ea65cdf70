"""mq-deadline by hand: address order, batches, deadlines, and reads before writes."""

from __future__ import annotations

from typing import Literal

import pytest

from raidsim.model.core.request import READ, WRITE, Call, Request
from raidsim.model.schedulers import DeadlineSettings, MqDeadline
from raidsim.model.schedulers.base import QueuedRequest

KIB = 1024


def queue(settings: DeadlineSettings | None = None, **arrivals: list[int]) -> MqDeadline:
    """A scheduler with reads and writes of 4 KiB at these KiB, all arrived at 0."""
    scheduler = MqDeadline(1 << 20, settings)
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


def test_the_oldest_starts_and_the_address_goes_on() -> None:
    """The first batch starts with the oldest request and follows the addresses upwards; then the oldest left."""
    assert order(queue(reads=[40, 80, 8, 60])) == ["r40", "r60", "r80", "r8"]


def test_reads_go_first_and_writes_starve_for_two_batches() -> None:
    """fifo_batch 1: two batches of reads, then one of writes."""
    scheduler = queue(DeadlineSettings(fifo_batch=1), reads=[0, 100, 200, 300], writes=[1000, 1100])
    assert order(scheduler) == ["r0", "r100", "w1000", "r200", "r300", "w1100"]


def test_a_batch_has_sixteen_requests() -> None:
    """With writes waiting, 32 reads in order go before the first write."""
    scheduler = queue(reads=list(range(0, 8 * 40, 8)), writes=[1000])
    assert order(scheduler).index("w1000") == 32


def test_an_expired_request_goes_before_its_address() -> None:
    """After a batch a read older than 500 ms is next; a younger one is not."""

    def after_a_batch(now: float) -> str:
        scheduler = queue(reads=[8 * i for i in range(100, 120)])
        scheduler.add(Request(READ, 0, 4 * KIB, lambda _: None), 0.0)
        assert order(scheduler, 0.0, 16)[-1] == "r920"
        return order(scheduler, now, 1)[0]

    assert after_a_batch(0.4) == "r928"
    # The oldest left is the one that is next by address; make the stray one the oldest.
    scheduler = queue(reads=[800, 0, *(8 * i for i in range(101, 120))])
    assert order(scheduler, 0.0, 16)[-1] == "r920"
    assert order(scheduler, 0.6, 1) == ["r0"]


def _beside_a_stream(batch_follows: Literal["queued", "position"], far_kib: int) -> float:
    """When a read elsewhere is dispatched (s), if the next read of a stream comes every 10 ms, after the last went."""
    scheduler = queue(DeadlineSettings(batch_follows=batch_follows), reads=[1000])
    assert order(scheduler, 0.0, 1) == ["r1000"]
    scheduler.add(Request(READ, far_kib * KIB, 4 * KIB, lambda _: None), 0.0)
    for turn in range(1, 100):
        now = turn / 100
        scheduler.add(Request(READ, (1000 + 8 * turn) * KIB, 4 * KIB, lambda _: None), now)
        if order(scheduler, now, 1) == [f"r{far_kib}"]:
            return now
    return float("inf")


@pytest.mark.parametrize("far_kib", [8, 900_000])
def test_a_stream_keeps_its_turn_since_6_5(far_kib: int) -> None:
    """A read below or above a stream waits for its deadline, and for the batch's end.

    Counter-test: until 6.4 the batch goes on with what waited at the last dispatch, not with the next read.
    """
    assert 0.5 <= _beside_a_stream("position", far_kib) <= 0.5 + 0.16
    assert _beside_a_stream("queued", far_kib) < 0.03


def test_a_lone_request_continues_a_batch_of_position() -> None:
    """Each dispatched as it comes: the seventeenth of a stream starts a batch, as it would from the queue."""
    reads = [8 * number for number in range(1, 40)]
    found = []
    for alone in (True, False):
        scheduler = MqDeadline(1 << 20, DeadlineSettings(batch_follows="position"))
        scheduler.done = Call(lambda _: None)
        for kib in reads:
            request = QueuedRequest(Request(READ, kib * KIB, 4 * KIB, lambda _: None), 0.0, lambda _: None)
            if alone:
                scheduler.passes(request)
            else:
                scheduler.insert(request, 0.0)
                assert scheduler.next(0.0) is request
        # The batch has 7 of 16 requests; then the oldest read is due, as it has expired.
        for kib in (0, *range(1000, 1200, 8)):
            scheduler.add(Request(READ, kib * KIB, 4 * KIB, lambda _: None), 1.0)
        found.append(order(scheduler, 2.0).index("r0"))
    assert found == [9, 9]


def test_neighbours_merge_at_both_ends_up_to_the_limit() -> None:
    """Back and front merges; the limit ends them."""
    scheduler = queue(reads=[8, 12, 4])
    merged = scheduler.next(0.0)
    assert merged is not None
    assert (merged.offset, merged.size) == (4 * KIB, 12 * KIB)
    small = MqDeadline(8 * KIB)
    small.done = Call(lambda _: None)
    for kib in (0, 4, 8):
        small.add(Request(READ, kib * KIB, 4 * KIB, lambda _: None), 0.0)
    assert order(small) == ["r0", "r8"]
