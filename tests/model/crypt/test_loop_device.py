"""A loop device that encrypts through the page cache of what is below (Linux since 2.6.4)."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.crypt.loop_device import LoopDevice
from raidsim.model.memory.dirty_memory import DirtyLimits
from raidsim.tests.model.memory.page_cache_bench import NO_LIMITS, Bench
from raidsim.tests.model.recording import KIB, MIB

AES_RATE = 20e6
SIZE = 64 * KIB
CIPHER_S = SIZE / AES_RATE
DISK_S = 1e-3


class LoopBench:
    """AES at 20 MB/s over the cache of a disk that takes 1 ms a request."""

    def __init__(self, rate: float = AES_RATE, limits: DirtyLimits = NO_LIMITS) -> None:
        self.below = Bench(limits=limits)
        self.engine = self.below.engine
        self.loop = LoopDevice(self.engine, self.below.host, self.below.cache, 1.0 / rate, "loop0")
        self.done: list[float] = []

    def send(self, op: int, offset: int, size: int = SIZE) -> None:
        """Submit a request."""
        self.loop.submit(Request(op, offset, size, lambda _: self.done.append(self.engine.now)))

    @property
    def sent(self) -> list[tuple[int, int, int]]:
        """What the disk was sent."""
        return self.below.disk.log


def test_a_write_is_done_when_it_is_encrypted() -> None:
    """Protects the order: the data are in the cache below, dirty, and the disk has seen nothing of them."""
    bench = LoopBench()
    bench.send(WRITE, 0)
    bench.engine.run(until=1.0)
    assert bench.done == pytest.approx([CIPHER_S])
    assert bench.sent == []
    assert bench.below.memory.dirty_bytes == SIZE


def test_dirty_memory_below_is_written_back_by_the_flusher() -> None:
    """Counter-test: beyond the kernel's limit the same write reaches the disk."""
    bench = LoopBench(limits=DirtyLimits(0, 0, 1 << 40, pass_bytes=4 * KIB))
    bench.send(WRITE, 0)
    bench.engine.run(until=1.0)
    assert sum(size for op, _, size in bench.sent if op == WRITE) == SIZE
    assert bench.below.memory.dirty_bytes == 0


def test_direct_writes_fill_no_more_memory_than_the_limit_and_a_quarter() -> None:
    """Protects memory from what no page cache above throttles; below the limit, the counter-test, nobody sleeps."""
    took = {}
    for limit in (SIZE * 4, 1 << 40):
        bench = LoopBench(2e9, DirtyLimits(0, 0, limit, pass_bytes=4 * KIB))
        for number in range(40):
            bench.send(WRITE, 7 * number * SIZE)
        most = 0
        while len(bench.done) < 40:
            bench.engine.run_to(bench.engine.now + 1e-3)
            most = max(most, bench.below.memory.counted)
        took[limit] = bench.done[-1]
        assert most <= 1.25 * limit + SIZE
    assert took[SIZE * 4] > 2 * took[1 << 40]


def test_a_read_is_read_ahead_and_decrypted() -> None:
    """Protects the loop's own read-ahead: the disk is asked for more than the request, and the cipher comes after."""
    bench = LoopBench()
    bench.send(READ, 0, 4 * KIB)
    bench.engine.run(until=1.0)
    assert bench.done == pytest.approx([DISK_S + 4 * KIB / AES_RATE])
    assert sum(size for _, _, size in bench.sent) > 4 * KIB


def test_what_was_read_once_is_read_from_memory() -> None:
    """Protects the second copy in memory: a repeated read costs the cipher only."""
    bench = LoopBench()
    bench.send(READ, 0)
    bench.engine.run(until=1.0)
    sent = len(bench.sent)
    bench.send(READ, 0)
    bench.engine.run(until=2.0)
    assert bench.done[1] == pytest.approx(1.0 + CIPHER_S)
    assert len(bench.sent) == sent


def test_part_of_a_page_is_read_before_it_is_written() -> None:
    """Protects prepare_write; counter-test: a whole page is not read."""
    bench = LoopBench()
    bench.send(WRITE, 4 * KIB, 4 * KIB)
    bench.engine.run(until=1.0)
    assert bench.sent == []
    bench.send(WRITE, 1 * MIB + 512, 512)
    bench.engine.run(until=2.0)
    assert bench.sent == [(READ, 1 * MIB, 4 * KIB)]


def test_one_thread_takes_one_request_after_the_other() -> None:
    """Protects the ceiling: ten writes take ten times the cipher's time, in order."""
    bench = LoopBench()
    for number in range(10):
        bench.send(WRITE, number * SIZE)
    bench.engine.run(until=1.0)
    assert bench.done == pytest.approx([(number + 1) * CIPHER_S for number in range(10)])
    assert bench.below.memory.dirty_bytes == 10 * SIZE


def test_a_cipher_cannot_give_time_back() -> None:
    """Protects against a negative price."""
    with pytest.raises(ModelError, match="not negative"):
        LoopBench(rate=-1.0)
