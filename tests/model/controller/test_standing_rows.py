"""Dirty data that a run begins with: where it lies, and that the cache treats it as its own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raidsim.model.controller.cache import WriteCache
from raidsim.model.controller.read_ahead import ReadCache, look_up
from raidsim.model.controller.standing_rows import StandingRows, cut_at_rows, long_held, merged, within

ROW = 1000
CAPACITY = 100_000 * ROW


def draws(sizes: int = 100, seed: int = 0) -> object:
    """Writes of one size anywhere on the array."""
    random = np.random.default_rng(seed)

    def draw(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        starts = random.integers(0, CAPACITY // sizes, count) * sizes
        return starts, starts + sizes

    return draw


def cache_with(*extents: tuple[int, int], position: int = 0, capacity: int = 10**9) -> WriteCache:
    """A cache in which these extents stand."""
    cache = WriteCache(capacity, ROW, CAPACITY)
    cache.stand(StandingRows([start for start, _ in extents], [end for _, end in extents], ROW), position)
    return cache


def taken(cache: WriteCache) -> list[int]:
    """Numbers of all rows in the order in which they are written."""
    rows = []
    while (row := cache.take(True)) is not None:
        rows.append(row.number)
        cache.land(row)
    return rows


@pytest.mark.parametrize("first_row", [0, 30_000])
def test_what_waits_grows_with_the_time_since_the_sweep(first_row: int) -> None:
    """Protects the ramp: twice the average just ahead of the sweep, nothing just behind it, a straight line between."""
    starts, ends = long_held(draws(), ROW, first_row, 1_000_000)  # type: ignore[arg-type]
    assert 1_000_000 <= (ends - starts).sum() < 1_100_000
    ahead = (starts // ROW - first_row) % (CAPACITY // ROW)
    counts, _ = np.histogram(ahead, bins=10, range=(0, CAPACITY // ROW), weights=ends - starts)
    assert counts / counts.mean() == pytest.approx(np.arange(1.9, 0.0, -0.2), abs=0.1)


def test_rows_that_are_written_again_and_again_hold_no_more_than_themselves() -> None:
    """Counter-test: where the load writes over what waits, the ramp is no straight line any more."""
    random = np.random.default_rng(1)

    def draw(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        starts = random.integers(0, 1000, count) * ROW
        return starts, starts + ROW

    starts, ends = long_held(draw, ROW, 0, 700 * ROW)
    assert (ends - starts).sum() >= 700 * ROW
    assert len(np.unique(starts[:100] // ROW)) > 90


def test_extents_are_joined_cut_and_trimmed() -> None:
    """Protects the arithmetic on extents, by hand."""
    starts, ends = merged(np.array([50, 10, 20, 90]), np.array([60, 20, 30, 95]))
    assert (starts.tolist(), ends.tolist()) == ([10, 50, 90], [30, 60, 95])
    starts, ends = cut_at_rows((np.array([900, 5000]), np.array([3100, 5100])), ROW)
    assert (starts.tolist(), ends.tolist()) == ([900, 1000, 2000, 3000, 5000], [1000, 2000, 3000, 3100, 5100])
    many = np.arange(0, 100_000, 100)
    starts, ends = within((many, many + 10), 5000)
    assert 4_990 <= (ends - starts).sum() <= 5000
    assert starts.max() > 99_000
    assert within((many, many + 10), 10**6)[0] is many


def test_the_sweep_takes_them_in_order_and_round_again() -> None:
    """Protects the elevator over both kinds of rows."""
    cache = cache_with((1000, 1100), (4000, 4100), (7000, 7100), position=3)
    for row in (2, 5):
        cache.expect(row * ROW, row * ROW + 10)
        cache.commit(row * ROW, row * ROW + 10, now=0.0)
    cache.age(10.0, 1.0)
    assert taken(cache) == [4, 5, 7, 1, 2]
    assert cache.unwritten_bytes == 0
    assert (cache.landed_rows, cache.landed_bytes) == (5, 320)


def test_a_write_joins_what_stands_in_its_row() -> None:
    """Protects gathering: one row with both, written once; bytes that are written over count once."""
    cache = cache_with((1000, 1100), (2000, 2100))
    cache.expect(1050, 1200)
    assert not cache.commit(1050, 1200, now=1.0)
    assert cache.dirty_bytes == 200 + 100
    row = cache.take(True)
    assert row is not None
    assert list(row.extents) == [(1000, 1200)]


def test_a_row_that_a_write_completes_goes_first() -> None:
    """Protects full stripes: they go before the sweep, as any other."""
    cache = cache_with((1000, 1100), (5000, 5900))
    cache.expect(5900, 6000)
    cache.commit(5900, 6000, now=1.0)
    assert taken(cache) == [5, 1]


def test_a_read_finds_it_in_memory() -> None:
    """Protects reads of dirty data: what stands is no less there than what was just written."""
    cache, reads = cache_with((1000, 1100)), ReadCache(0, ROW)
    assert look_up(reads, cache, ROW, 1000, 1100) == (None, [])
    assert look_up(reads, cache, ROW, 1000, 1200)[0] == (1100, 1200)


def test_it_can_be_given_up() -> None:
    """Counter-test: without it the cache holds what the host has written and nothing else."""
    cache = cache_with((1000, 1100), (2000, 2100))
    cache.expect(1000, 1010)
    cache.commit(1000, 1010, now=0.0)
    cache.give_up_standing()
    assert cache.dirty_bytes == 100
    assert taken(cache) == [1]
