"""A controller's cache, battery, read-ahead and host link: what each does, and that without it the effect is gone.

The array is RAID 5 of four members that take 1 ms a request, so the arithmetic is on paper: a small write costs each
of the four one request (the two other data blocks are read, data and parity written).
"""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.tests.model.controller.controller_bench import (
    CHUNK,
    COMMAND_S,
    LINK_RATE,
    ROW,
    ClosedLoop,
    ControllerBench,
    sequential,
)
from raidsim.tests.model.recording import KIB, MIB

PAGE = 4 * KIB
ON_THE_LINK = COMMAND_S + PAGE / LINK_RATE
MEMBERS_MS = 1e-3


def scattered(count: int, capacity: int, seed: int = 0) -> list[int]:
    """Page offsets in random order."""
    pages = np.random.default_rng(seed).integers(0, capacity // PAGE, count)
    return [int(page) * PAGE for page in pages]


def burst(bench: ControllerBench, count: int = 100) -> list[float]:
    """Latencies (s) of small random writes, one after the other."""
    loop = ClosedLoop(bench, bench.controller, WRITE, PAGE, 1, scattered(count, bench.controller.capacity))
    bench.run(until=5.0)
    return list(np.diff([0.0, *loop.completed]))


def random_write_rate(bench: ControllerBench, device: object, depth: int = 32, end: float = 10.0) -> float:
    """Small random writes per second, in the second half of the time."""
    loop = ClosedLoop(bench, device, WRITE, PAGE, depth, scattered(200_000, bench.controller.capacity))
    bench.run(until=end)
    return loop.rate(end / 2, end)


# the small-write penalty


def test_a_burst_of_small_writes_costs_command_and_link() -> None:
    """Protects what a write-back cache is for: while it has room, a RAID 5 write takes microseconds."""
    assert burst(ControllerBench()) == pytest.approx([ON_THE_LINK] * 100)


def test_write_through_pays_the_penalty_at_once() -> None:
    """Counter-test: without write-back the same writes wait for two reads and two writes of the members."""
    latencies = burst(ControllerBench(write_policy="write-through"))
    assert latencies == pytest.approx([ON_THE_LINK + 2 * MEMBERS_MS] * 100)


@pytest.mark.parametrize("battery", ["failed", "learning", "charging"])
def test_without_a_good_battery_it_writes_through(battery: str) -> None:
    """Protects the fall-back: an outage would lose what the memory holds, so the firmware does not use it."""
    bench = ControllerBench(battery=battery)
    assert burst(bench)[0] == pytest.approx(ON_THE_LINK + 2 * MEMBERS_MS)
    assert bench.controller.dirty_bytes == 0


def test_forced_write_back_does_not_ask_the_battery() -> None:
    """Counter-test: it is the battery's state and nothing else that made the difference."""
    assert burst(ControllerBench(battery="failed", forced_write_back=True))[0] == pytest.approx(ON_THE_LINK)


def test_a_full_cache_writes_at_the_arrays_rate() -> None:
    """Protects the limit of the cache: what lasts is what the array does, and the writers wait."""
    bench = ControllerBench(cache=1 * MIB, capacity=1024 * MIB)
    sustained = random_write_rate(bench, bench.controller)
    plain = ControllerBench(cache=1 * MIB, capacity=1024 * MIB)
    array = random_write_rate(plain, plain.array, depth=16)
    assert sustained == pytest.approx(array, rel=0.1)
    assert bench.controller.waits > 1000
    assert sustained < 0.1 / ON_THE_LINK


def test_a_cache_that_does_not_fill_never_makes_writers_wait() -> None:
    """Counter-test: the same load on a cache that has room for all of it runs at the firmware's speed."""
    bench = ControllerBench(cache=1024 * MIB, capacity=1024 * MIB)
    loop = ClosedLoop(bench, bench.controller, WRITE, PAGE, 32, scattered(20_000, bench.controller.capacity))
    bench.run(until=20_000 * COMMAND_S)
    assert loop.rate(0.1, 0.9) == pytest.approx(1 / COMMAND_S, rel=0.01)
    assert bench.controller.waits == 0


# gathering


def test_small_sequential_writes_become_full_stripes() -> None:
    """Protects the gathering: pages written in order reach the members as whole stripes, and nothing is read."""
    bench = ControllerBench()
    ClosedLoop(bench, bench.controller, WRITE, PAGE, 4, sequential(PAGE, 20 * ROW))
    bench.run()
    assert bench.array.row_writes == {"full": 20, "rmw": 0, "rcw": 0}
    assert bench.member_bytes(READ) == 0
    assert bench.member_bytes(WRITE) == 20 * 4 * CHUNK


def test_write_through_reads_for_every_small_write() -> None:
    """Counter-test: the same writes without the cache are each completed by reading."""
    bench = ControllerBench(write_policy="write-through")
    ClosedLoop(bench, bench.controller, WRITE, PAGE, 4, sequential(PAGE, 2 * ROW))
    bench.run()
    writes = bench.array.row_writes
    assert writes["rmw"] + writes["rcw"] + writes["full"] >= 2 * ROW // PAGE - 8
    assert bench.member_bytes(READ) + bench.member_bytes(WRITE) > 2 * 2 * 4 * CHUNK


# read-ahead


def read_rate(bench: ControllerBench, size: int = 16 * KIB, total: int = 24 * MIB) -> float:
    """Bytes per second of one sequential reader with one request at a time."""
    loop = ClosedLoop(bench, bench.controller, READ, size, 1, sequential(size, total))
    bench.run()
    return total / loop.completed[-1]


def test_read_ahead_speeds_up_one_reader_of_small_requests() -> None:
    """Protects adaptive read-ahead: whole stripes come from all members at once, so few requests wait for one."""
    bench = ControllerBench(level="raid0", read_ahead_rows=2)
    fast = read_rate(bench)
    slow = read_rate(ControllerBench(level="raid0", keeps_reads=False))
    assert slow == pytest.approx(16 * KIB / (1e-3 + COMMAND_S + 16 * KIB / LINK_RATE))
    assert fast > 5 * slow
    assert fast == pytest.approx(16 * KIB / (COMMAND_S + 16 * KIB / LINK_RATE), rel=0.05)
    assert bench.controller.read_hits > 0.99 * bench.controller.reads - 3


def test_read_ahead_does_nothing_for_random_reads() -> None:
    """Counter-test: reads that do not follow one another bring nothing in ahead of them."""
    bench = ControllerBench(level="raid0", read_ahead_rows=2)
    ClosedLoop(bench, bench.controller, READ, PAGE, 4, scattered(500, bench.controller.capacity))
    bench.run()
    assert bench.member_bytes(READ) <= 500 * PAGE


def test_a_few_readers_are_followed_at_once_and_no_more() -> None:
    """Protects the table of streams: with more readers than it has places nobody is recognized."""

    def hits(readers: int) -> float:
        bench = ControllerBench(level="raid0", cache=64 * MIB, read_ahead_rows=1, read_streams=4)
        apart = bench.controller.capacity // readers // ROW * ROW
        offsets = [reader * apart + step * PAGE for step in range(100) for reader in range(readers)]
        ClosedLoop(bench, bench.controller, READ, PAGE, 1, offsets)
        bench.run()
        return bench.controller.read_hits / bench.controller.reads

    assert hits(4) > 0.9
    assert hits(5) < 0.1


# the host link


def streamed(op: int, link_rate: float) -> tuple[float, float]:
    """Bytes per second of large requests over three members of 152 MB/s each, and how busy the link was."""
    bench = ControllerBench("raid0", service_s=1e-4, per_byte_s=1 / 200e6, rate=link_rate, cache=0, command=0.0)
    size, count = 8 * ROW, 100
    loop = ClosedLoop(bench, bench.controller, op, size, 8, sequential(size, count * size))
    bench.run()
    assert bench.link.bytes_moved == bench.member_bytes(op) == count * size
    return count * size / loop.completed[-1], bench.link.busy_s / bench.engine.now


MEMBER_RATE = CHUNK / (1e-4 + CHUNK / 200e6)


@pytest.mark.parametrize("op", [READ, WRITE])
def test_the_host_link_is_a_ceiling(op: int) -> None:
    """Protects Ultra320's ceiling: what is behind it could do 457 MB/s, and 320 is what it moves."""
    rate, busy = streamed(op, LINK_RATE)
    assert rate == pytest.approx(LINK_RATE, rel=0.03)
    assert 0.97 < busy <= 1.0


@pytest.mark.parametrize("op", [READ, WRITE])
def test_behind_a_faster_link_the_members_are_the_limit(op: int) -> None:
    """Counter-test: with 2 GB/s to the host the same members give all they have."""
    rate, busy = streamed(op, 2e9)
    assert rate == pytest.approx(3 * MEMBER_RATE, rel=0.03)
    assert busy < 0.3


# latency


LATENCY_S = 25e-6


def test_latency_adds_to_a_write_and_takes_no_throughput() -> None:
    """Protects the difference of the two: a single write waits for it, and deep queues hide it."""
    assert burst(ControllerBench(latency=LATENCY_S)) == pytest.approx([ON_THE_LINK + LATENCY_S] * 100)
    bench = ControllerBench(latency=LATENCY_S, cache=1024 * MIB, capacity=1024 * MIB)
    loop = ClosedLoop(bench, bench.controller, WRITE, PAGE, 32, scattered(20_000, bench.controller.capacity))
    bench.run(until=20_000 * COMMAND_S)
    assert loop.rate(0.1, 0.9) == pytest.approx(1 / COMMAND_S, rel=0.01)


def test_a_command_that_takes_longer_costs_both() -> None:
    """Counter-test: the same time as work of the firmware limits deep queues too."""
    bench = ControllerBench(command=COMMAND_S + LATENCY_S, cache=1024 * MIB, capacity=1024 * MIB)
    loop = ClosedLoop(bench, bench.controller, WRITE, PAGE, 32, scattered(20_000, bench.controller.capacity))
    bench.run(until=20_000 * COMMAND_S)
    assert loop.rate(0.1, 0.9) == pytest.approx(1 / (COMMAND_S + LATENCY_S), rel=0.01)
