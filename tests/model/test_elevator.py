"""The 2.4 elevator: address order, limited by how often a request may be passed."""

from __future__ import annotations

from raidsim.model.request import READ, WRITE, Request
from raidsim.model.schedulers import LinusElevator

SECTOR = 512
FAR = 1 << 20


def elevator(read_passes: int = 100, write_passes: int = 100) -> LinusElevator:
    """An elevator of commands up to 128 KiB."""
    scheduler = LinusElevator(128 * 1024, read_passes, write_passes)
    scheduler.done = lambda request: None
    return scheduler


def add(scheduler: LinusElevator, *requests: tuple[int, int]) -> None:
    """Queue (op, position) requests of one sector."""
    for op, position in requests:
        scheduler.add(Request(op, position * FAR, SECTOR, lambda request: None), 0.0)


def order(scheduler: LinusElevator) -> list[tuple[int, int]]:
    """What comes out, as (op, position)."""
    out = []
    while (queued := scheduler.next(0.0)) is not None:
        out.append((queued.op, queued.offset // FAR))
    return out


def test_requests_are_sorted_by_address() -> None:
    """Protects the elevator's purpose: one sweep instead of seeks back and forth."""
    scheduler = elevator()
    add(scheduler, *((WRITE, position) for position in (5, 1, 4, 2, 3)))
    assert order(scheduler) == [(WRITE, position) for position in (1, 2, 3, 4, 5)]


def test_without_passes_it_is_first_come_first_served() -> None:
    """The counter-test: with no request allowed to be passed there is no sorting."""
    scheduler = elevator(0, 0)
    add(scheduler, *((WRITE, position) for position in (5, 1, 4, 2, 3)))
    assert order(scheduler) == [(WRITE, position) for position in (5, 1, 4, 2, 3)]


def test_a_read_overtakes_writes_by_its_address_only() -> None:
    """Protects why 2.4 reads crawl beside a big write: a read has no right of way, only its place in the order."""
    scheduler = elevator()
    add(scheduler, (WRITE, 2), (WRITE, 4), (WRITE, 6), (READ, 5))
    assert order(scheduler) == [(WRITE, 2), (WRITE, 4), (READ, 5), (WRITE, 6)]
    add(scheduler, (WRITE, 2), (WRITE, 4), (WRITE, 6), (READ, 9))
    assert order(scheduler)[-1] == (READ, 9)


def test_passes_run_out() -> None:
    """Protects from starvation: a write that two may pass is passed by two, the third queues behind it."""
    scheduler = elevator(write_passes=2)
    add(scheduler, (WRITE, 9), (WRITE, 1), (WRITE, 2), (WRITE, 3))
    assert order(scheduler) == [(WRITE, 1), (WRITE, 2), (WRITE, 9), (WRITE, 3)]


def test_reads_and_writes_have_their_own_patience() -> None:
    """Protects the two latencies: with 1 for reads and 5 for writes only the read is passed no more than once."""
    for op, expected in ((READ, [1, 9, 2, 3]), (WRITE, [1, 2, 3, 9])):
        scheduler = elevator(read_passes=1, write_passes=5)
        add(scheduler, (op, 9), (WRITE, 1), (WRITE, 2), (WRITE, 3))
        assert [position for _, position in order(scheduler)] == expected


def test_merging_passes_too() -> None:
    """Protects from starvation by one endless stream: what merges into an earlier request passes the later ones."""
    scheduler = elevator(write_passes=3)
    add(scheduler, (WRITE, 1), (WRITE, 9))
    for sector in (1, 2, 3):
        scheduler.add(Request(WRITE, FAR + sector * SECTOR, SECTOR, lambda request: None), 0.0)
    add(scheduler, (WRITE, 5))
    assert order(scheduler) == [(WRITE, 1), (WRITE, 9), (WRITE, 5)]
    scheduler = elevator(write_passes=3)
    add(scheduler, (WRITE, 1), (WRITE, 9), (WRITE, 5))
    assert order(scheduler) == [(WRITE, 1), (WRITE, 5), (WRITE, 9)], "without the merges there are passes left"
