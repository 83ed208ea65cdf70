"""The 2.4 elevator: address order, limited by how often a request may be passed."""

from __future__ import annotations

from raidsim.model.core.request import READ, WRITE, Call, Request
from raidsim.model.schedulers import BufferElevator, LinusElevator, OneWayElevator

SECTOR = 512
FAR = 1 << 20


def elevator(read_passes: int = 100, write_passes: int = 100) -> LinusElevator:
    """An elevator of commands up to 128 KiB."""
    scheduler = LinusElevator(128 * 1024, read_passes, write_passes)
    scheduler.done = Call(lambda _: None)
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


def one_way(kind: type[OneWayElevator] = OneWayElevator, write_passes: int = 1000) -> OneWayElevator:
    """An elevator of commands up to 128 KiB that sweeps in one direction."""
    scheduler = kind(128 * 1024, write_passes, write_passes)
    scheduler.done = Call(lambda _: None)
    return scheduler


def test_what_is_below_waits_for_the_next_sweep() -> None:
    """Protects the place of a request (bh_rq_in_between): 2 and 1 come after all that were queued, in order. The
    counter-test: both ways, they go before them.
    """
    scheduler, nearest = one_way(), elevator()
    for each in (scheduler, nearest):
        add(each, *((WRITE, position) for position in (5, 9, 7, 2, 1, 8)))
    assert [position for _, position in order(scheduler)] == [5, 7, 8, 9, 1, 2]
    assert [position for _, position in order(nearest)] == [1, 2, 5, 7, 8, 9]


def test_the_next_sweep_is_sorted_too() -> None:
    """Protects the fall of addresses: what is above the end of the sweep joins it, what is below begins the next."""
    scheduler = one_way()
    add(scheduler, *((WRITE, position) for position in (5, 9, 2, 12, 1, 3)))
    assert [position for _, position in order(scheduler)] == [5, 9, 12, 1, 2, 3]


def test_a_sweep_ends_where_passes_have_run_out() -> None:
    """Protects the latency of the one-way elevator: a request that two may pass is passed by two, the third goes to the
    end.
    """
    scheduler = one_way(write_passes=2)
    add(scheduler, *((WRITE, position) for position in (1, 9, 2, 3, 4)))
    assert [position for _, position in order(scheduler)] == [1, 2, 3, 9, 4]


def test_latencies_in_buffers_are_used_up_by_large_requests() -> None:
    """Protects 2.4's unit before 2.4.20: 128 KiB that go before others take 280 of their 400, 4 KiB take one. The
    counter-test: counted in requests, both are one.
    """
    found = []
    for kind in (BufferElevator, OneWayElevator):
        scheduler = one_way(kind, write_passes=400)
        add(scheduler, (WRITE, 1), (WRITE, 9))
        for position in (2, 3, 4):
            scheduler.add(Request(WRITE, position * FAR, 128 * 1024, lambda request: None), 0.0)
        found.append([position for _, position in order(scheduler)])
    assert found == [[1, 2, 3, 9, 4], [1, 2, 3, 4, 9]]
    scheduler = one_way(BufferElevator, write_passes=400)
    add(scheduler, (WRITE, 1), (WRITE, 900), *((WRITE, position) for position in range(2, 302)))
    assert order(scheduler)[-1] == (WRITE, 900), "300 small ones"


def test_merging_takes_buffers_and_sectors_from_those_behind() -> None:
    """Protects elevator_linus_merge_cleanup: 64 KiB that merge in front of a request take 144 of its latency."""
    scheduler = one_way(BufferElevator, write_passes=145)
    add(scheduler, (WRITE, 1), (WRITE, 9))
    scheduler.add(Request(WRITE, FAR + SECTOR, 64 * 1024, lambda request: None), 0.0)
    add(scheduler, (WRITE, 2), (WRITE, 3))
    assert [position for _, position in order(scheduler)] == [1, 2, 9, 3]
