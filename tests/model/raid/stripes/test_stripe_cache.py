"""The stripe cache: heads are a limited resource, and recent contents are kept."""

from __future__ import annotations

from collections import deque
from functools import partial

import pytest

from raidsim.model.raid.stripes.arrival import Arrival
from raidsim.model.raid.stripes.stripe_cache import StripeCache

KIB = 1024
HEAD = 4 * KIB
CHUNK = 64 * KIB


def cache(heads: int = 16) -> StripeCache:
    """16 heads of 4 KiB: one chunk of 64 KiB."""
    return StripeCache(heads, HEAD, CHUNK)


def test_heads_are_counted_in_whole_rows() -> None:
    """Protects the count: 4 KiB are a head, 512 bytes too, 8 KiB across three rows of blocks are three."""
    for low, high, heads in ((0, 4 * KIB, 1), (512, 1024, 1), (2 * KIB, 10 * KIB, 3), (0, CHUNK, 16)):
        store = cache()
        assert store.acquire(0, low, high)
        assert store.in_use == heads
        assert store.free_heads == 16 - heads
        store.release(0)
        assert store.in_use == 0


def test_members_share_the_heads_of_a_row() -> None:
    """Protects full stripes: a head holds the blocks of all members, so a second chunk of the row costs nothing."""
    store = cache()
    assert store.acquire(0, 0, CHUNK)
    assert store.acquire(0, 0, CHUNK)
    assert store.in_use == 16
    store.release(0)
    assert store.in_use == 16, "until the last one is done"
    store.release(0)
    assert store.in_use == 0


def test_a_row_grows_by_what_is_new() -> None:
    """Protects growing rows: 8 KiB and the 8 KiB after them are four heads, not six."""
    store = cache()
    assert store.acquire(5, 0, 8 * KIB)
    assert store.acquire(5, 4 * KIB, 16 * KIB)
    assert store.in_use == 4


def test_too_few_heads_make_wait() -> None:
    """Protects the limit: beyond 16 heads nothing is given, and whoever comes later queues behind the first waiter."""
    store = cache()
    assert store.acquire(0, 0, 60 * KIB)
    assert not store.acquire(1, 0, 8 * KIB)
    store.wait(1, 0, 8 * KIB, lambda: None)
    assert store.full
    assert store.free_heads == 0
    assert not store.acquire(2, 0, 4 * KIB), "though one head is free"


def test_waiters_are_let_in_when_a_quarter_is_free() -> None:
    """Protects md's hysteresis: with 16 heads in use the first three given back start nobody, the fourth does."""
    store = cache()
    for row in range(16):
        assert store.acquire(row, 0, HEAD)
    started: list[int] = []
    for row in (20, 21, 22):
        store.wait(row, 0, HEAD, lambda row=row: started.append(row))  # type: ignore[misc]
    for row in range(3):
        store.release(row)
        assert started == []
    store.release(3)
    assert started == [20, 21, 22], "in order"
    assert store.in_use == 15
    assert not store.full
    assert store.waits == 3


def test_without_waiters_heads_are_given_at_once() -> None:
    """The counter-test: as long as nobody had to wait one free head is enough."""
    store = cache()
    for row in range(16):
        assert store.acquire(row, 0, HEAD)
    store.release(0)
    assert store.acquire(20, 0, HEAD)


def test_whoever_still_does_not_fit_waits_on() -> None:
    """Protects large requests: the first waiter needs 16 heads, and the small one behind it does not overtake."""
    store = cache()
    for row in range(16):
        assert store.acquire(row, 0, HEAD)
    started: list[str] = []
    store.wait(20, 0, CHUNK, lambda: started.append("large"))
    store.wait(21, 0, HEAD, lambda: started.append("small"))
    for row in range(15):
        store.release(row)
        assert started == []
    store.release(15)
    assert started == ["large"]
    store.release(20)
    assert started == ["large", "small"]


def test_more_than_there_are_can_be_had_alone() -> None:
    """Protects from waiting for ever: a request larger than the cache gets all of it."""
    store = cache(4)
    assert store.acquire(0, 0, CHUNK)
    assert store.in_use == 4


def test_when_free_calls_once_after_the_last_waiter() -> None:
    """Protects throttling: writers are told when no work waits for heads any more."""
    store = cache(1)
    assert store.acquire(0, 0, HEAD)
    store.wait(1, 0, HEAD, lambda: None)
    told: list[int] = []
    store.when_free(lambda: told.append(store.in_use))
    store.release(0)
    assert told == [1]
    store.release(1)
    assert told == [1]


def test_no_heads_means_no_limit() -> None:
    """Protects the growing cache of today: nobody waits, whatever is in use."""
    store = cache(0)
    assert all(store.acquire(row, 0, CHUNK) for row in range(1000))
    store.release(0)
    assert store.in_use == 0
    assert store.free_heads > 1000


def test_contents_are_remembered_by_range() -> None:
    """Protects rewriting: what was read or written is there, parts of it too, neighbors grow together, others not."""
    store = cache()
    here = Arrival()
    store.remember(3, 1, 4 * KIB, 8 * KIB, here)
    assert store.knows(3)
    assert store.holds(3, 1, 4 * KIB, 8 * KIB) is here
    assert store.holds(3, 1, 5 * KIB, 6 * KIB) is here
    assert store.holds(3, 1, 4 * KIB, 12 * KIB) is None
    assert store.holds(3, 2, 4 * KIB, 8 * KIB) is None
    assert store.holds(4, 1, 4 * KIB, 8 * KIB) is None
    store.remember(3, 1, 8 * KIB, 12 * KIB, here)
    assert store.holds(3, 1, 4 * KIB, 12 * KIB) is here


def test_the_oldest_row_is_forgotten() -> None:
    """Protects the size: 32 heads are two rows of 64 KiB; of three the one used least recently is gone."""
    store = cache(32)
    for row in (0, 1, 0, 2):
        store.remember(row, 0, 0, HEAD, Arrival())
    assert [store.knows(row) for row in range(3)] == [True, False, True]


def test_a_growing_cache_counts_heads() -> None:
    """The counter-test: where heads are counted one by one, four heads remember four rows of one head, not of five."""
    store = StripeCache(4, HEAD)
    for row in range(5):
        store.remember_all(row, (0, 1), 0, HEAD)
    assert [store.knows(row) for row in range(5)] == [False, True, True, True, True]
    store.remember_all(4, (2,), HEAD, 2 * HEAD)
    assert [store.knows(row) for row in range(5)] == [False, False, True, True, True]


def test_the_cache_grows_when_its_last_head_is_taken() -> None:
    """Protects today's cache: one head more when work finds none, and no second one before a head was given back."""
    store = StripeCache(4, HEAD, most_heads=6)
    for row in range(4):
        assert store.acquire(row, 0, HEAD)
    store.grow()
    assert store.heads == 4, "nobody waited"
    started: list[int] = []
    for row in (8, 9):
        store.wait(row, 0, HEAD, partial(started.append, row))
    for _ in range(5):
        store.grow()
    assert (store.heads, started) == (5, [])
    store.release(0)
    store.release(1)
    assert started == [8, 9]
    assert store.acquire(10, 0, HEAD)
    for row in (11, 12):
        assert not store.acquire(row, 0, HEAD)
        store.wait(row, 0, HEAD, lambda: None)
    store.grow()
    assert store.heads == 6
    fixed = cache(1)
    assert fixed.acquire(0, 0, HEAD)
    fixed.wait(1, 0, HEAD, lambda: None)
    fixed.grow()
    assert fixed.heads == 1


def test_a_cache_that_always_runs_out_grows_with_the_root_of_what_it_served() -> None:
    """Protects the pace of growth: a head for each quarter of the cache, so the root of 8 n heads after n of them.

    md's thread passes after every head. A head for each of its passes would be thousands.
    """
    store = StripeCache(16, HEAD, most_heads=32768)
    in_use: deque[int] = deque()
    served = 0
    while served < 5000:
        row = served + len(in_use)
        if store.acquire(row, 0, HEAD):
            in_use.append(row)
            continue
        store.wait(row, 0, HEAD, partial(in_use.append, row))
        while store.full:
            store.release(in_use.popleft())
            served += 1
            store.grow()
    assert store.heads == pytest.approx((8 * served + 16**2) ** 0.5, rel=0.1)


def test_scattered_heads_of_a_row_are_counted_one_by_one() -> None:
    """Protects large chunks: two blocks far apart in one row are two heads, not all between them."""
    store = cache()
    assert store.acquire(0, 0, HEAD)
    assert store.acquire(0, 15 * HEAD, CHUNK)
    assert (store.in_use, store.most_in_use) == (2, 2)


def test_arrivals_call_everybody_once() -> None:
    """Protects readers that wait for the same block: all are called when it arrives, later ones at once."""
    arrival = Arrival()
    called: list[int] = []
    for number in range(3):
        arrival.then(lambda number=number: called.append(number))  # type: ignore[misc]
    assert called == []
    arrival.arrived()
    assert called == [0, 1, 2]
    arrival.then(lambda: called.append(3))
    assert called == [0, 1, 2, 3]


def test_contents_that_overlap_are_one_span_today() -> None:
    """Protects small writes in order: a block written again must not make md forget the rest of its chunk; the caches
    of old kernels, which count whole rows, keep the newest span.
    """
    for store, whole in ((StripeCache(16, HEAD), True), (cache(), False)):
        store.remember_all(0, [0, 1], 0, CHUNK)
        store.remember_all(0, [0, 1], 0, HEAD)
        assert (store.holds(0, 0, 0, CHUNK) is not None) == whole


def test_dropping_caches_takes_what_the_cache_has_grown_by() -> None:
    """Protects the shrinker: a cache that has grown keeps as many rows as it began with, the newest. Counter-test: one
    that has not grown keeps all of them.
    """
    for grown, left in ((8, 8), (0, 8)):
        store = StripeCache(8, HEAD, most_heads=100)
        for _ in range(grown):
            assert store.acquire(0, 0, HEAD)
            store.sleep()
            store.grow()
            store.release(0)
        for row in range(8 + grown):
            store.remember_all(row, (0, 1), 0, HEAD)
        assert sum(store.knows(row) for row in range(8 + grown)) == 8 + grown
        store.shrink()
        assert store.heads == 8
        assert [row for row in range(8 + grown) if store.knows(row)] == list(range(grown, grown + left))
