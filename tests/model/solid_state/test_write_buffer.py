"""The write buffer: what waits for flash, what is written to it."""

from __future__ import annotations

import pytest

from raidsim.model.core.request import READ, WRITE
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
