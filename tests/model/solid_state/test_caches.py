"""One-bit cells, and the map in memory."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.model.solid_state.map_cache import MapCache
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, Bench, Loaded

SLC: dict[str, Any] = {"slc_cache": "64MiB", "slc_program_time": "150us", "slc_read_time": "25us"}


def test_one_bit_cells_are_read_faster() -> None:
    """25 us instead of 50 for what lies there."""
    bench = Bench("fresh", power_loss_protection=False, **SLC)
    bench.timed(WRITE, 0, 64 * KIB)
    bench.flushed()
    assert bench.timed(READ, 0, 4 * KIB) == pytest.approx(41)


def test_idle_time_folds() -> None:
    """16 MiB written to one-bit cells are in the others after a while, as the next write finds: written twice."""
    bench = Bench("fresh", **SLC)
    for i in range(128):
        bench.request(WRITE, i * 128 * KIB, 128 * KIB)
    bench.engine.run()
    assert bench.drive.write_amplification == pytest.approx(1, rel=0.02)
    bench.engine.run(until=bench.engine.now + 1)
    bench.timed(WRITE, 32 * MIB, 4 * KIB)
    assert bench.drive.write_amplification == pytest.approx(2, rel=0.02)
    assert bench.timed(READ, 0, 4 * KIB) == pytest.approx(66)


def test_without_idle_time_nothing_is_folded() -> None:
    """While the dies are busy with writes the cells fill at what is written."""
    load = Loaded(
        size=128 * KIB, depth=32, read_share=0, sequential=True, state="fresh", warm_up=0.005, seconds=0.01, **SLC
    )
    assert load.drive.write_amplification == pytest.approx(1, rel=0.05)


def test_full_cells() -> None:
    """Writes go to the other cells directly (2.62 GB/s), and nothing is written twice."""
    load = Loaded(
        size=128 * KIB,
        depth=32,
        read_share=0,
        sequential=True,
        state="fresh",
        warm_up=0.05,
        seconds=0.1,
        **SLC,
    )
    assert load.drive.write_amplification == pytest.approx(1, rel=0.06)
    assert load.bytes_per_s == pytest.approx(16 * 96 * KIB / 600e-6, rel=0.12)


def test_cells_that_were_full_before_are_folded_too() -> None:
    """Protects stages of a long write: cells that begin full take nothing, and have room after some idle time."""
    bench = Bench("sequential", **SLC)
    valid = bench.drive._translation.valid
    bench.drive.fill_bit_cache()
    bench.drive.fill_bit_cache()
    assert bench.drive.cached_bytes == 64 * MIB
    assert bench.drive._translation.valid == valid
    bench.timed(WRITE, 0, 4 * KIB)
    bench.engine.run(until=bench.engine.now + 10)
    bench.timed(WRITE, 4 * KIB, 4 * KIB)
    assert bench.drive.cached_bytes < MIB
    assert bench.drive._translation.valid == valid


def test_folding_takes_of_the_power_of_programs() -> None:
    """Where four dies program at once, the twelve others fold nothing while these do: full cells stay full."""
    rates = []
    for at_once in (4, None):
        load = Loaded(
            size=128 * KIB,
            depth=32,
            read_share=0,
            sequential=True,
            state="fresh",
            warm_up=0.2,
            seconds=0.2,
            programs_at_once=at_once,
            **SLC,
        )
        rates.append(load.bytes_per_s)
        assert load.drive.write_amplification == pytest.approx(1, rel=0.06)
    assert rates[0] == pytest.approx(4 * 96 * KIB / 600e-6, rel=0.12)
    assert rates[1] == pytest.approx(16 * 96 * KIB / 600e-6, rel=0.12)


def test_the_least_recently_used_map_page_goes() -> None:
    """Two pages fit: A B A C leaves A and C."""
    cache = MapCache(2 * 4 * MIB, 4 * KIB)
    a, b, c = 0, 4 * MIB, 8 * MIB
    assert [len(cache.missing(offset, 4 * KIB)) for offset in (a, b, a, c, a, b)] == [1, 1, 0, 1, 0, 1]
    assert cache.misses == 4


def test_a_read_across_two_map_pages_needs_both() -> None:
    """8 KiB over the border of 4 MiB."""
    assert MapCache(64 * MIB, 4 * KIB).missing(4 * MIB - 4 * KIB, 8 * KIB) == [0, 1]


def test_a_read_without_its_map_takes_two() -> None:
    """First the map page (50 + 4 us), then the data; the second time only the data."""
    bench = Bench(mapping_reach="100MB")
    assert [round(bench.timed(READ, 0, 4 * KIB)) for _ in range(2)] == [120, 66]
