"""WRITE_THROUGH at a drive: FLUSH CACHE and FUA with a write cache, an ordinary write without one."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import ASYNC, READ, WRITE, WRITE_THROUGH, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import hard_disk

MIB = 1 << 20


def a_drive(queue_depth: int, write_cache: bool) -> DriveSpec:
    """A modern drive of the catalogue with the given queue and cache."""
    spec = hard_disk("Exos-10E2400-2400GB")
    return spec.model_copy(update={"queue_depth": queue_depth, "write_cache": write_cache})


class Bench:
    """A drive and when its requests were complete."""

    def __init__(self, queue_depth: int, write_cache: bool) -> None:
        self.engine = Engine()
        self.disk = HardDisk(self.engine, a_drive(queue_depth, write_cache), "sda")
        self.at: dict[int, float] = {}

    def send(self, op: int, offset: int, sync: int = ASYNC) -> None:
        """Send 4 KiB."""
        self.disk.submit(Request(op, offset, 4096, self._done, sync=sync))

    def _done(self, request: Request) -> None:
        self.at[request.offset] = self.engine.now

    def run(self) -> None:
        """Until nothing is under way."""
        self.engine.run()


@pytest.mark.parametrize("queue_depth", [1, 32])
def test_it_is_done_when_it_is_on_the_platters(queue_depth: int) -> None:
    """Protects the meaning: a cached write is done at once, a write-through one takes seek and rotation."""
    bench = Bench(queue_depth, write_cache=True)
    bench.send(WRITE, 100 * MIB)
    bench.run()
    cached = bench.at[100 * MIB]
    began = bench.engine.now
    bench.send(WRITE, 500 * MIB, WRITE_THROUGH)
    bench.run()
    assert bench.at[500 * MIB] - began > 5 * cached
    assert bench.disk.dirty_bytes == 0
    assert bench.disk.writes == 2


@pytest.mark.parametrize("queue_depth", [1, 32])
def test_what_was_acknowledged_before_is_flushed(queue_depth: int) -> None:
    """Protects the flush: with 50 scattered writes in the cache it takes many times as long."""
    times = []
    for before in (0, 50):
        bench = Bench(queue_depth, write_cache=True)
        for number in range(before):
            bench.send(WRITE, (number * 37 % 50 + 1) * 20 * MIB)
            bench.engine.run(until=bench.engine.now + 0.0005)
        began = bench.engine.now
        bench.send(WRITE, 10 * MIB, WRITE_THROUGH)
        bench.run()
        times.append(bench.at[10 * MIB] - began)
        assert bench.disk.media.destaged_bytes == before * 4096
        assert len(bench.at) == before + 1
    assert times[1] > 5 * times[0]


@pytest.mark.parametrize("queue_depth", [1, 32])
def test_without_a_cache_it_is_a_write(queue_depth: int) -> None:
    """Counter-test: with the write cache off write-through changes nothing."""
    times = []
    for sync in (ASYNC, WRITE_THROUGH):
        bench = Bench(queue_depth, write_cache=False)
        for number in range(8):
            bench.send(WRITE, number * 31 * MIB, sync)
        bench.run()
        times.append(bench.at)
    assert times[0] == times[1]


def test_reads_wait_their_turn() -> None:
    """Protects the queue: a read behind a write-through write is served after it."""
    bench = Bench(1, write_cache=True)
    bench.send(WRITE, 10 * MIB)
    bench.send(WRITE, 300 * MIB, WRITE_THROUGH)
    bench.send(READ, 20 * MIB)
    bench.run()
    assert bench.at[10 * MIB] < bench.at[300 * MIB] < bench.at[20 * MIB]
