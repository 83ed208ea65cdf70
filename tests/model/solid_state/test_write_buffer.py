"""The write buffer: what waits for flash, what is written to it."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.statistics.latency_histogram import LatencyHistogram
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, Bench, Loaded

PROGRAM = 96 * KIB  # both planes, three bits


def test_a_burst_that_fits_is_taken_at_interface_speed() -> None:
    """3 MiB into 4 MiB: 4.096 GB/s, whatever the flash does."""
    bench = Bench("fresh")
    for i in range(24):
        bench.request(WRITE, i * 128 * KIB, 128 * KIB)
    bench.engine.run()
    assert bench.ends[-1] == pytest.approx(3 * MIB / 4.096e9, rel=0.02)


def test_a_full_buffer_takes_what_the_dies_program() -> None:
    """16 dies program 96 KiB in 600 us each: 2.62 GB/s; with half of them at once, half of it."""
    load = Loaded(size=128 * KIB, depth=32, read_share=0, sequential=True, state="fresh", warm_up=0.01)
    assert load.bytes_per_s == pytest.approx(16 * PROGRAM / 600e-6, rel=0.05)
    assert load.usage["dies"] > 0.95
    assert load.drive.write_amplification == pytest.approx(1, rel=0.02)
    half = Loaded(
        size=128 * KIB, depth=32, read_share=0, sequential=True, state="fresh", warm_up=0.01, programs_at_once=8
    )
    assert half.bytes_per_s == pytest.approx(8 * PROGRAM / 600e-6, rel=0.05)
    assert half.usage["program power"] > 0.95


def test_channels_can_limit_programs() -> None:
    """With fast programs the four channels' 1.024 GB/s each are what is left, less than the interface's."""
    load = Loaded(
        size=128 * KIB,
        depth=32,
        read_share=0,
        sequential=True,
        state="fresh",
        warm_up=0.01,
        program_time="50us",
        channel_rate="500MB/s",
    )
    assert load.bytes_per_s == pytest.approx(4 * 500e6, rel=0.08)
    assert load.usage["channels"] > 0.92


def test_a_unit_written_again_in_the_buffer_is_programmed_once() -> None:
    """100 writes of one unit are no program at all; 100 units are four times 24 (of 4 KiB)."""
    bench = Bench("fresh")
    for _ in range(100):
        bench.request(WRITE, 0, 4 * KIB)
    bench.engine.run()
    assert bench.drive.flash_bytes == 0
    assert bench.drive.dirty_bytes == 4 * KIB
    for i in range(1, 100):
        bench.request(WRITE, i * 4 * KIB, 4 * KIB)
    bench.engine.run()
    assert bench.drive.flash_bytes == 4 * PROGRAM
    bench.engine.run(until=bench.engine.now + 0.01)
    assert bench.drive.dirty_bytes == 4 * 4 * KIB


@pytest.mark.parametrize(("step", "programs", "reads"), [(512, 1, 0), (4 * KIB, 7, 7 * 24)])
def test_writes_of_parts_of_units_read_the_rest(step: int, programs: int, reads: int) -> None:
    """192 sectors in order fill 24 units, and nothing is read; 192 that are apart have a unit read for each.

    The last of 24 units is not programmed before another comes, for its rest may still come.
    """
    bench = Bench("sequential")
    for i in range(192):
        bench.request(WRITE, i * step, 512)
    bench.engine.run()
    assert bench.drive.flash_bytes == programs * PROGRAM
    assert bench.drive.die_busy_s == pytest.approx(programs * 600e-6 + reads * 50e-6)


def test_nothing_is_read_for_parts_of_units_that_hold_nothing() -> None:
    """On a fresh drive the same writes cost programs only."""
    bench = Bench("fresh")
    for i in range(192):
        bench.request(WRITE, i * 4 * KIB, 512)
    bench.engine.run()
    assert bench.drive.die_busy_s == pytest.approx(8 * 600e-6)


def test_reads_find_what_is_still_in_the_buffer() -> None:
    """Of 32 units 24 are programmed after a while and read from flash; the last 8 wait in the buffer."""
    bench = Bench()
    for i in range(32):
        bench.request(WRITE, i * 4 * KIB, 4 * KIB)
    bench.engine.run(until=0.05)
    times = [bench.timed(READ, i * 4 * KIB, 4 * KIB) for i in range(32)]
    assert [round(time) for time in times] == [66] * 24 + [12] * 8


@pytest.mark.parametrize("reads", [False, True])
def test_a_program_that_reads_delay_keeps_its_room(reads: bool) -> None:
    """A program of 600 us that reads suspend every 100 us is not over after 1,150 us; without reads it is."""
    bench = Bench(suspend_time="20us")
    for unit in range(24):  # what a die programs at once
        bench.request(WRITE, unit * MIB, 4 * KIB)
    bench.engine.run(until=100e-6)
    dies = bench.drive._flash.dies
    (die,) = [number for number, each in enumerate(dies) if any(work is not None for *_, work in each.background)]
    placement = bench.drive._flash.placement
    there = [unit for unit in range(1000, 3000) if placement.scattered(unit) == die]
    for number in range(10):
        bench.engine.run(until=100e-6 * (number + 2))
        if reads:
            bench.request(READ, there[number] * 4 * KIB, 4 * KIB)
    bench.engine.run(until=1150e-6)
    assert (bench.drive.dirty_bytes > 0) == reads
    bench.engine.run(until=3e-3)
    assert bench.drive.dirty_bytes == 0


def test_erases_are_spread_over_the_superblock() -> None:
    """Random writes on a full drive erase as many superblocks as they open, never two dies' at about the same time."""
    load = Loaded(depth=64, read_share=0.0, seconds=0.2, warm_up=0.05)
    flash = load.bench.drive._flash
    programs = flash.programmed_bytes / (2 * 16 * KIB * 3)
    assert flash.erases == pytest.approx(programs / (100 // 3), rel=0.05)


def test_reads_beside_writes_have_a_tail() -> None:
    """One read in a thousand waits for an erase of 3 ms, or is let in after 20 us where the die can suspend.

    Counter-test: without erases it waits for a program of 600 us at most.
    """
    erases, programs, suspended = (
        1e6 * _mixed(**changes).percentile(99.9) for changes in ({}, {"erase_time": "0us"}, {"suspend_time": "20us"})
    )
    assert 2000 < erases < 66 + 3000 + 1000
    assert 500 < programs < 66 + 600 + 200
    assert suspended < programs


def _mixed(**changes: Any) -> LatencyHistogram:
    """Latencies of reads, one at a time, beside writes at a rate that keeps the dies busy for half of the time."""
    bench = Bench(**changes)
    engine, ssd = bench.engine, bench.drive
    OpenLoad(engine, ssd, size=4 * KIB, iops=100_000, read_share=0.0, name="writer")
    reader = ClosedLoad(engine, ssd, size=4 * KIB, name="reader")
    engine.run(until=0.4)
    return reader.read_latency
