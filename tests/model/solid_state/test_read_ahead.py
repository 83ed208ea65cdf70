"""Reading ahead of streams: what it serves, and what it leaves alone."""

from __future__ import annotations

from itertools import pairwise

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE
from raidsim.model.drives.catalogue import drive, solid_state_names
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, Bench, Loaded, small

READING_AHEAD = [name for name in solid_state_names() if getattr(drive(name), "read_ahead", 0)]


def solid_state(name: str) -> SolidStateSpec:
    """A solid-state drive of the catalogue."""
    spec = drive(name)
    assert isinstance(spec, SolidStateSpec)
    return spec


def streamed(spec: SolidStateSpec, readers: int, depth: int, size: int, state: str, each: int = 6) -> float:
    """Bytes/s of sequential readers with a part of the drive each, after a warm-up; `each` reads of each or more."""
    engine = Engine(1)
    device = SolidState(engine, spec, "ssd", state=state)
    span = spec.capacity // readers // MIB * MIB
    for i in range(readers):
        ClosedLoad(
            engine, device, size=size, depth=depth, sequential=True, start=i * span, span=span, name=f"reader{i}"
        )
    most = max(400, each * readers * depth)
    while device.reads < most // 3:
        engine.step()
    began, before = engine.now, device.read_bytes
    while device.reads < most // 3 + most:
        engine.step()
    return (device.read_bytes - before) / (engine.now - began)


@pytest.mark.slow
@pytest.mark.parametrize("name", READING_AHEAD)
def test_reading_ahead_never_costs_throughput(name: str) -> None:
    """Every drive of the catalogue, 1 to 16 readers, 1 to 64 commands each: no slower than without, within 3 %."""
    ahead = solid_state(name)
    without = ahead.with_values(read_ahead=0)
    for readers in (1, 4, 16):
        for depth in (1, 4, 64):
            for size, state in ((64 * KIB, "steady"), (4 * KIB, "steady"), (128 * KIB, "sequential")):
                rates = [streamed(spec, readers, depth, size, state) for spec in (ahead, without)]
                assert rates[0] >= 0.97 * rates[1], (readers, depth, size, state)


def test_reading_ahead_of_several_streams() -> None:
    """Four readers with one command each are all served from the buffer, twice as fast as without."""
    ahead, without = small(read_ahead="256KiB"), small()
    assert streamed(ahead, 4, 1, 4 * KIB, "sequential") > 2 * streamed(without, 4, 1, 4 * KIB, "sequential")


@pytest.mark.parametrize("state", ["steady", "sequential"])
@pytest.mark.parametrize("size", [4 * KIB, 16 * KIB, 128 * KIB])
def test_more_readers_never_get_less(size: int, state: str) -> None:
    """No cliff: up to 16 streams no more cost throughput; further ones have no place, and take dies from the others."""
    spec = solid_state("Samsung-980-PRO-1TB")
    rates = [streamed(spec, readers, 1, size, state, 100) for readers in (1, 2, 3, 4, 8, 16)]
    for fewer, more in pairwise(rates):
        assert more >= 0.9 * fewer, rates
    without = spec.with_values(read_ahead=0)
    for readers in (24, 48):
        beyond = streamed(spec, readers, 1, size, state, 100)
        assert beyond >= 0.6 * rates[-1]
        assert beyond >= 0.97 * streamed(without, readers, 1, size, state, 100)
    assert rates[3] >= 2.5 * rates[0] or rates[3] > 3e9  # four streams, while nothing else limits


def test_a_random_reader_is_not_read_ahead() -> None:
    """The counter-test: what is read at random costs the dies as much with read-ahead as without."""
    busy = []
    for ahead in ("256KiB", "0B"):
        bench = Bench("sequential", read_ahead=ahead)
        for i in range(40):
            bench.timed(READ, (i * 37 % 41) * MIB, 4 * KIB)
        busy.append(bench.drive.die_busy_s)
    assert busy[0] == busy[1]


def test_a_place_of_a_stream_that_ended_is_taken() -> None:
    """Protects new streams: 16 that have ended keep their places for a while only."""
    bench = Bench("sequential", read_ahead="256KiB")
    for stream in range(16):
        for i in range(2):
            bench.timed(READ, (10 * stream + 10) * MIB + i * 4 * KIB, 4 * KIB)
    waits = [bench.timed(READ, i * 4 * KIB, 4 * KIB) for i in range(400)]
    assert waits[100] > 50
    assert max(waits[-50:]) < 20


def test_nothing_is_fetched_from_busy_dies() -> None:
    """While every die has a program, a stream costs the dies what it reads; idle dies fetch for it."""
    bench = Bench("sequential", read_ahead="256KiB", suspend_time="20us")
    for i in range(32):
        bench.request(WRITE, 100 * MIB + i * 96 * KIB, 96 * KIB)  # two programs for each of 16 dies
    bench.engine.run(until=bench.engine.now + 200e-6)
    flash = bench.drive._flash
    read_s = flash.reads_s
    for i in range(4):
        bench.request(READ, i * 16 * KIB, 16 * KIB)
    assert flash.reads_s - read_s == pytest.approx(4 * 50e-6)
    bench.engine.run(until=bench.engine.now + 10e-3)
    read_s = flash.reads_s
    bench.request(READ, 64 * KIB, 16 * KIB)
    assert flash.reads_s - read_s > 2 * 50e-6


def test_reading_ahead_serves_a_stream() -> None:
    """A stream that goes on finds all its data in the buffer, the more the longer it is; a random reader never does."""
    bench = Bench("sequential", read_ahead="256KiB")
    times = [bench.timed(READ, i * 32 * KIB, 32 * KIB) for i in range(30)]
    assert times[0] > 70
    assert times[0] > max(times[2:10]) > max(times[20:])
    assert max(times[15:]) == pytest.approx(1 + 10 + 8, abs=1.1)
    plain = Bench("sequential")
    assert min(plain.timed(READ, i * 32 * KIB, 32 * KIB) for i in range(20)) > 70
    scattered = [bench.timed(READ, i * MIB, 32 * KIB) for i in (7, 3, 9, 1)]
    assert min(scattered) > 70


def test_a_short_stream_is_not_read_far_ahead() -> None:
    """Protects readers of which each drive sees pieces: two reads in order cost the dies no more than twice as much."""
    busy = []
    for ahead in ("256KiB", "0B"):
        bench = Bench("sequential", read_ahead=ahead)
        for start in (0, 10 * MIB, 20 * MIB):
            for at in (start, start + 4 * KIB):
                bench.timed(READ, at, 4 * KIB)
        busy.append(bench.drive.die_busy_s)
    assert busy[0] <= 2 * busy[1]


def test_reading_ahead_adds_no_throughput_that_is_not_there() -> None:
    """A deep sequential reader gets the interface's rate with and without."""
    rates = [
        Loaded(
            size=128 * KIB, depth=16, sequential=True, state="sequential", read_ahead=ahead, seconds=0.03, warm_up=0.01
        ).bytes_per_s
        for ahead in (0, 512 * KIB)
    ]
    assert rates[0] == pytest.approx(rates[1], rel=0.05)
    assert max(rates) <= 4.096e9 * 1.01
