"""dd on a raw device, against arithmetic: the disk takes 1 ms a request, and only what is named costs CPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE
from raidsim.model.loads.dd import Dd
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory
from raidsim.model.memory.raw_cache import RawCache, RawCacheSettings
from raidsim.model.readahead import READ_AHEAD
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Recorder

NO_LIMITS = DirtyLimits(1 << 40, 1 << 40, 1 << 40)


class Bench:
    """A machine with one disk."""

    def __init__(
        self,
        block: int = 4 * KIB,
        limits: DirtyLimits = NO_LIMITS,
        disk_s: float = 0.001,
        per_byte_s: float = 0.0,
        **prices: float,
    ) -> None:
        self.engine = Engine()
        self.host = Host(Cpu(self.engine), replace(FREE, **prices))
        self.disk = Recorder(self.engine, service_s=disk_s, per_byte_s=per_byte_s)
        queue = BlockQueue(self.engine, self.host, self.disk, Noop(128 * KIB), 1, MIB, 1 << 30, None)
        self.memory = DirtyMemory(limits)
        self.cache = RawCache(
            self.engine,
            self.host,
            queue,
            RawCacheSettings(block, 32 * MIB),
            self.memory,
            lambda end: READ_AHEAD["2.6"](128 * KIB, end),
        )

    def dd(self, direction: str, bs: int, size: int, start: int = 0) -> Dd:
        """Run one dd to its end."""
        dd = Dd(self.host, self.cache, bs, start, size, issuer=1)
        program: Any = dd.read() if direction == "read" else dd.write()
        self.engine.run(self.engine.spawn(program))
        assert dd.bytes_done == size
        return dd


@pytest.mark.parametrize("block", [1 * KIB, 4 * KIB])
def test_small_writes_read_each_block_once(block: int) -> None:
    """Protects the secret of dd bs=512: 256 KiB of sectors read 256 KiB, one block at a time, in order."""
    bench = Bench(block)
    bench.dd("write", 512, 256 * KIB)
    assert bench.disk.sent(READ) == [(at, block) for at in range(0, 256 * KIB, block)]
    assert bench.memory.dirty_bytes == 256 * KIB


def test_whole_blocks_are_not_read() -> None:
    """The counter-test: with bs=4096 on 4 KiB blocks nothing is read; with bs=512 on blocks of 512 bytes neither."""
    for block, bs in ((4 * KIB, 4 * KIB), (4 * KIB, 64 * KIB), (512, 512)):
        bench = Bench(block)
        bench.dd("write", bs, 256 * KIB)
        assert bench.disk.log == []
        assert bench.memory.dirty_bytes == 256 * KIB


def test_only_blocks_that_no_write_covers_are_read() -> None:
    """Protects odd sizes: bs=1536 on 1 KiB blocks writes 0-1.5 and 1.5-3 KiB: of three blocks the second is read."""
    bench = Bench(1 * KIB)
    bench.dd("write", 1536, 30 * KIB)
    assert bench.disk.sent(READ) == [(at * KIB, KIB) for at in range(30) if at % 3 == 1]


def test_a_cached_block_is_not_read_again() -> None:
    """Protects rewriting: the second dd over the same blocks finds them in memory."""
    bench = Bench()
    bench.dd("write", 512, 64 * KIB)
    reads = len(bench.disk.log)
    bench.dd("write", 512, 64 * KIB)
    assert len(bench.disk.log) == reads == 16


def test_a_small_write_costs_disk_and_cpu_one_after_the_other() -> None:
    """Protects the price of a block: eight calls of 10 us, a page of 20 us, a bio of 5 us, two switches' worth of 7 us
    and the command's 3 us of interrupt, and 1 ms of disk: nothing overlaps.
    """
    bench = Bench(write_call_s=10e-6, page_s=20e-6, bio_s=5e-6, switch_s=7e-6, command_s=3e-6)
    bench.dd("write", 512, 100 * 4 * KIB)
    cpu = 8 * 10e-6 + 20e-6 + 5e-6 + 7e-6
    # the interrupt of a read delays the CPU run after it, so the last one is not seen
    assert bench.engine.now == pytest.approx(100 * (cpu + 0.001) + 99 * 3e-6)


def test_small_reads_cost_calls_only() -> None:
    """Protects reads: 4 MiB in 512-byte calls of 10 us are 81.92 ms of CPU; a disk of 128 MiB/s hides behind it."""
    bench = Bench(read_call_s=10e-6, disk_s=0.0, per_byte_s=1 / (128 * MIB))
    bench.dd("read", 512, 4 * MIB)
    assert bench.host.cpu.busy_s == pytest.approx(8192 * 10e-6)
    assert bench.engine.now == pytest.approx(8192 * 10e-6, rel=0.02)
    larger = Bench(read_call_s=10e-6, disk_s=0.0, per_byte_s=1 / (128 * MIB))
    larger.dd("read", 4096, 4 * MIB)
    assert larger.host.cpu.busy_s == pytest.approx(1024 * 10e-6), "an eighth of the calls with bs=4096"


def test_a_read_waits_for_the_disk_if_that_is_slower() -> None:
    """The counter-test: calls of 10 ns are nothing beside 4 MiB at 128 MiB/s, which take 31.25 ms."""
    bench = Bench(read_call_s=10e-9, disk_s=0.0, per_byte_s=1 / (128 * MIB))
    bench.dd("read", 512, 4 * MIB)
    assert bench.engine.now == pytest.approx(4 / 128, rel=0.04)


def test_dirty_limits_reach_dd() -> None:
    """Protects throttling of both ways of writing: 8 MiB with 2 MiB of room make dd wait for write-back."""
    for bs in (512, 4096):
        limits = DirtyLimits(MIB, MIB, 2 * MIB, duty=256 * KIB, pass_bytes=256 * KIB)
        bench = Bench(limits=limits)
        bench.dd("write", bs, 8 * MIB)
        assert bench.memory.dirty_bytes + bench.memory.writeback_bytes <= 2 * MIB + 64 * KIB
        assert sum(size for _, size in bench.disk.sent(WRITE)) >= 6 * MIB - 64 * KIB


def test_the_end_need_not_be_a_block() -> None:
    """Protects the count of bytes: 5 KiB in sectors touch two blocks, and 5 KiB are done."""
    bench = Bench()
    dd = bench.dd("write", 512, 5 * KIB)
    assert bench.disk.sent(READ) == [(0, 4 * KIB), (4 * KIB, 4 * KIB)]
    assert dd.bytes_done == 5 * KIB


def test_a_seek_into_a_block_reads_it() -> None:
    """Protects `seek=`: 4 KiB writes that start in the middle of a block cover none of the blocks whole."""
    bench = Bench()
    bench.dd("write", 4 * KIB, 16 * KIB, start=2 * KIB)
    assert bench.disk.sent(READ) == [(at * 4 * KIB, 4 * KIB) for at in range(5)]


def test_a_close_writes_everything_back_and_waits() -> None:
    """Protects what dd pays for at its end: 1 MiB is dirty after its last write and on the disk after its close, at the
    disk's pace; a second close finds nothing to do.
    """
    bench = Bench(disk_s=0.0, per_byte_s=1e-8)
    dd = bench.dd("write", 64 * KIB, MIB)
    assert bench.disk.sent(WRITE) == []
    written = bench.engine.now
    bench.engine.run(bench.engine.spawn(dd.close()))
    assert sum(size for _, size in bench.disk.sent(WRITE)) == MIB
    assert bench.memory.dirty_bytes == bench.memory.writeback_bytes == 0
    assert bench.engine.now - written == pytest.approx(MIB * 1e-8, rel=0.01)
    closed = bench.engine.now
    bench.engine.run(bench.engine.spawn(dd.close()))
    assert bench.engine.now == closed
