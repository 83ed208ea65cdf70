"""The page cache of a raw block device. Prices are zero unless a test is about them; the disk takes 1 ms a request."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block.single_queue import BlockQueue, PlugSettings
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory
from raidsim.model.memory.raw_cache import RawCache, RawCacheSettings
from raidsim.model.readahead import PAGE, READ_AHEAD, ReadAhead61
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Recorder

LIMITS = DirtyLimits(flush_above=2 * MIB, flush_below=1 * MIB, limit=4 * MIB, duty=256 * KIB, pass_bytes=64 * KIB)
NEVER_BY_ITSELF = PlugSettings(requests=0, delay_s=0.0)


class Bench:
    """A cache over a disk behind a queue."""

    def __init__(
        self,
        memory_bytes: int = 32 * MIB,
        limits: DirtyLimits = LIMITS,
        plug: PlugSettings | None = None,
        generation: str = "2.6",
        limit_bytes: int = 1 * MIB,
        disk_s: float = 0.001,
        bio_s: float = 0.0,
        **settings: Any,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        host = Host(self.cpu, replace(FREE, bio_s=bio_s))
        self.disk = Recorder(self.engine, service_s=disk_s)
        queue = BlockQueue(self.engine, host, self.disk, Noop(128 * KIB), 1, limit_bytes, 1 << 30, plug)
        self.memory = DirtyMemory(limits)
        self.cache = RawCache(
            self.engine,
            host,
            queue,
            RawCacheSettings(4 * KIB, memory_bytes, **settings),
            self.memory,
            lambda end: READ_AHEAD[generation](128 * KIB, end),
        )

    def read(self, start: int, end: int, seconds_per_byte: float = 0.0) -> float:
        """Read [start, end) as one program; returns how long it took (s)."""
        begun = self.engine.now
        positions: list[int] = []
        program = self.cache.stream_read(start, end, 1, seconds_per_byte, positions.append)
        self.engine.run(self.engine.spawn(program))
        assert positions[-1] == end
        assert positions == sorted(set(positions)), "progress goes forward"
        return self.engine.now - begun

    def writer(self, size: int, bytes_per_second: float, step: int = 4 * KIB) -> Generator[Any, Any, None]:
        """A program that dirties `size` bytes in order, and is throttled."""
        for at in range(0, size, step):
            yield self.engine.timeout(step / bytes_per_second)
            self.cache.mark_dirty(at, at + step)
            if self.memory.over_limit:
                yield from self.cache.throttle()

    def bytes_read(self) -> int:
        """What the disk has read or will."""
        return sum(size for _, size in self.disk.sent(READ))


@pytest.mark.parametrize("generation", ["2.4", "2.6"])
def test_no_page_is_read_twice(generation: str) -> None:
    """Protects sequential reads: 4 MiB are read once, and no more than two windows beyond."""
    bench = Bench(generation=generation)
    bench.read(0, 4 * MIB)
    bench.engine.run(until=bench.engine.now + 1.0)
    ((start, size),) = bench.disk.covered(READ)
    assert start == 0
    assert 4 * MIB <= size <= 4 * MIB + 256 * KIB
    assert bench.bytes_read() == size


def test_two_readers_read_for_each_other() -> None:
    """Protects shared caches: two programs on the same 4 MiB cause one set of reads, also of pages on their way."""
    bench = Bench()
    programs = [
        bench.engine.spawn(bench.cache.stream_read(0, 4 * MIB, issuer, 0.0, lambda position: None)) for issuer in (1, 2)
    ]
    bench.engine.run(bench.engine.all_of(programs))
    assert bench.bytes_read() == sum(size for _, size in bench.disk.covered(READ))


def test_cached_pages_cost_no_disk() -> None:
    """Protects the second pass: it takes the CPU's time, 1 us a KiB, and not a read."""
    bench = Bench()
    bench.read(0, 4 * MIB)
    bench.engine.run(until=bench.engine.now + 1.0)
    before = len(bench.disk.log)
    assert bench.read(0, 4 * MIB, seconds_per_byte=1e-6 / KIB) == pytest.approx(4096e-6)
    assert len(bench.disk.log) == before


def test_what_does_not_fit_is_forgotten() -> None:
    """The counter-test: with 2 MiB of memory the second pass over 8 MiB reads everything again."""
    bench = Bench(memory_bytes=2 * MIB)
    bench.read(0, 8 * MIB)
    assert bench.cache.cached.total <= 2 * MIB + 1 * MIB, "memory, and at most one run that is still growing"
    first = bench.bytes_read()
    bench.read(0, 8 * MIB)
    assert bench.bytes_read() - first >= 8 * MIB


def test_a_reader_gets_on_with_hardly_any_memory() -> None:
    """Protects from waiting for ever for a page that was read ahead and forgotten before its turn."""
    bench = Bench(memory_bytes=8 * KIB, run_bytes=4 * KIB)
    programs = [
        bench.engine.spawn(bench.cache.stream_read(start, start + 512 * KIB, issuer, 1e-6, lambda position: None))
        for issuer, start in enumerate((0, 8 * MIB))
    ]
    bench.engine.run(bench.engine.all_of(programs))
    assert bench.engine.now >= 2 * 512 * KIB * 1e-6
    assert bench.bytes_read() > 2 * 512 * KIB, "pages were read again"


def test_a_reader_lets_a_plugged_queue_go() -> None:
    """Protects readers on kernels where only a waiter unplugs: 1 MiB arrives, in commands of up to 128 KiB."""
    bench = Bench(plug=NEVER_BY_ITSELF)
    bench.read(0, 1 * MIB)
    assert max(size for _, size in bench.disk.sent(READ)) == 128 * KIB


def test_nothing_is_written_back_below_the_threshold() -> None:
    """Protects the free regime: 2 MiB dirty are allowed, and nothing is written."""
    bench = Bench()
    bench.engine.spawn(bench.writer(2 * MIB, 100 * MIB))
    bench.engine.run(until=10.0)
    assert bench.disk.log == []
    assert bench.memory.dirty_bytes == 2 * MIB


def test_write_back_starts_above_one_threshold_and_ends_below_the_other() -> None:
    """Protects the swing: 3 MiB dirtied cross 2 MiB; write-back leaves 1 MiB, or a pass less."""
    bench = Bench()
    bench.engine.spawn(bench.writer(3 * MIB, 10_000 * MIB))
    bench.engine.run(until=10.0)
    assert 1 * MIB - LIMITS.pass_bytes <= bench.memory.dirty_bytes <= 1 * MIB
    assert bench.memory.writeback_bytes == 0
    assert sum(size for _, size in bench.disk.sent(WRITE)) == 3 * MIB - bench.memory.dirty_bytes


def test_write_back_is_merged() -> None:
    """Protects the difference between reads and writes of dd bs=512: dirtied in 4 KiB, written in up to 128 KiB."""
    bench = Bench()
    bench.engine.spawn(bench.writer(3 * MIB, 100 * MIB))
    bench.engine.run(until=10.0)
    sizes = [size for _, size in bench.disk.sent(WRITE)]
    assert max(sizes) == 128 * KIB
    assert sum(sizes) / len(sizes) > 64 * KIB
    assert bench.disk.covered(WRITE) == [(0, sum(sizes))], "every byte once, in order"


def test_write_back_may_go_page_by_page() -> None:
    """The counter-test: with runs of a page and a queue that does not merge there are only 4 KiB writes."""
    bench = Bench(flush_run_bytes=4 * KIB)
    bench.cache.device.scheduler.max_bytes = 4 * KIB  # type: ignore[attr-defined]
    bench.engine.spawn(bench.writer(3 * MIB, 100 * MIB))
    bench.engine.run(until=10.0)
    assert {size for _, size in bench.disk.sent(WRITE)} == {4 * KIB}


def test_write_back_is_paid_by_the_block() -> None:
    """Protects the CPU price of write-back: 1 us for each 4 KiB block that is written, by the flusher or the writer."""
    bench = Bench(bio_s=1e-6, limit_bytes=512 * KIB)
    bench.engine.spawn(bench.writer(8 * MIB, 2000 * MIB))
    bench.engine.run(until=10.0)
    written = sum(size for _, size in bench.disk.sent(WRITE))
    assert written >= 7 * MIB
    assert bench.cpu.busy_s == pytest.approx(1e-6 * written / (4 * KIB))


def test_writers_are_throttled_at_the_limit() -> None:
    """Protects memory: a program that dirties ten times what the disk takes is held at the limit and a bit, and runs at
    the disk's speed from there: 16 MiB in commands of 128 KiB a millisecond are about 128 ms, of which 4 MiB are free.
    """
    bench = Bench(limit_bytes=512 * KIB)
    writer = bench.engine.spawn(bench.writer(16 * MIB, 2000 * MIB))
    most = 0

    def watch() -> Generator[Any, Any, None]:
        nonlocal most
        while writer.is_alive:
            most = max(most, bench.memory.dirty_bytes + bench.memory.writeback_bytes)
            yield bench.engine.timeout(0.0001)

    bench.engine.spawn(watch())
    bench.engine.run(writer)
    assert LIMITS.limit <= most <= LIMITS.limit + 128 * KIB
    assert bench.engine.now == pytest.approx(0.096, rel=0.1)


def test_a_throttled_writer_writes_back_itself_and_pays() -> None:
    """Protects the writer's duty: with a flusher that never starts, 4 MiB under a limit of 1 MiB leave at most that
    dirty or under way; the rest was written by the writer, at 1 us a block of its own time.
    """
    limits = DirtyLimits(1 << 40, 1 << 40, limit=MIB, duty=256 * KIB)
    bench = Bench(limits=limits, bio_s=1e-6)
    bench.engine.run(bench.engine.spawn(bench.writer(4 * MIB, 10_000 * MIB)))
    written = 4 * MIB - bench.memory.dirty_bytes
    assert written >= 3 * MIB
    assert bench.cpu.busy_s == pytest.approx(1e-6 * written / (4 * KIB))


def test_without_a_limit_nobody_waits() -> None:
    """The counter-test: with memory for everything the same program runs at its own speed."""
    bench = Bench(limits=replace(LIMITS, limit=1 << 40))
    bench.engine.run(bench.engine.spawn(bench.writer(16 * MIB, 2000 * MIB)))
    assert bench.engine.now == pytest.approx(16 / 2000)


def test_no_byte_is_lost() -> None:
    """Protects conservation: at any moment, dirtied = written back + dirty + under write-back."""
    bench = Bench(limit_bytes=256 * KIB)
    dirtied = 0
    writer = bench.engine.spawn(bench.writer(12 * MIB, 300 * MIB))
    while bench.engine.peek() < 0.2:
        bench.engine.step()
        cache, memory = bench.cache, bench.memory
        now = bench.disk.write_bytes + memory.dirty_bytes + memory.writeback_bytes
        assert now >= dirtied
        dirtied = now
        assert memory.dirty_bytes == cache.dirty.total
        assert dirtied % (4 * KIB) == 0
        assert dirtied <= 12 * MIB
    assert not writer.is_alive
    assert dirtied == 12 * MIB


def test_a_page_dirtied_twice_is_written_once() -> None:
    """Protects overwriting in memory: the same megabyte ten times is a megabyte of dirty memory."""
    bench = Bench()
    for _ in range(10):
        bench.cache.mark_dirty(0, MIB)
    assert bench.memory.dirty_bytes == MIB


def test_a_writer_without_dirty_blocks_waits_for_others() -> None:
    """Protects shared memory: who has nothing to write back goes on when another device's writes are done."""
    bench = Bench(limits=replace(LIMITS, flush_above=3 * MIB, flush_below=3 * MIB))
    bench.memory.dirty_bytes = 5 * MIB
    went_on: list[float] = []

    def idle() -> Generator[Any, Any, None]:
        yield from bench.cache.throttle()
        went_on.append(bench.engine.now)

    def others(_: Any) -> None:
        bench.memory.dirty_bytes -= 2 * MIB
        bench.memory.writeback_bytes += 2 * MIB
        bench.memory.written(2 * MIB)

    bench.engine.spawn(idle())
    bench.engine.call_at(0.5, others)
    bench.engine.run(until=2.0)
    assert went_on == [0.5]


class Pluggable(Recorder):
    """A device that a task can plug: it writes down what each plug held, and what came without."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, servers=32)
        self.bursts: list[list[int]] = []
        self.plugged = False

    has_room = True

    def plug(self) -> None:
        """A burst begins."""
        self.plugged = True
        self.bursts.append([])

    def unplug(self) -> None:
        """And ends."""
        self.plugged = False

    def when_room(self, callback: Callable[[], None]) -> None:
        """There always is."""
        callback()

    def submit(self, request: Any) -> None:
        if self.plugged:
            self.bursts[-1].append(request.size)
        else:
            self.bursts.append([-request.size])
        super().submit(request)


class Bench61(Bench):
    """A cache of Linux 6.1: whole windows, and the task plugs."""

    def __init__(self, window: int = 128 * KIB, limits: DirtyLimits = LIMITS, **settings: Any) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        self.memory = DirtyMemory(limits)
        self.disk: Any = Pluggable(self.engine)
        self.cache = RawCache(
            self.engine,
            Host(self.cpu, replace(FREE, page_s=1e-6)),
            self.disk,
            RawCacheSettings(4 * KIB, 32 * MIB, run_bytes=0, task_plug=True, **settings),
            self.memory,
            lambda end: ReadAhead61(window, end),
        )

    def calls(self, offsets: list[int], size: int) -> list[tuple[int, int]]:
        """Read `size` bytes at each offset from one open file; what the disk is sent."""

        def program() -> Generator[Any, Any, None]:
            file = self.cache.open()
            for offset in offsets:
                yield from self.cache.stream_read(offset, offset + size, 1, 0.0, lambda _: None, size, file)

        self.engine.run(self.engine.spawn(program()))
        self.engine.run(until=self.engine.now + 1.0)
        return [(offset // PAGE, length // PAGE) for offset, length in self.disk.sent(READ)]


def test_6_1_reads_a_window_in_one_piece_under_a_plug() -> None:
    """Protects the sizes that an array sees: the ramp to 128 KiB, each window one I/O in a burst of its own."""
    bench = Bench61()
    sent = bench.calls([0], 1 * MIB)
    assert sent[:2] == [(0, 256), (256, 256)], "a call of 1 MiB is read at once, and a mark on its middle page"
    bench = Bench61()
    sent = bench.calls(list(range(0, 400 * KIB, 4 * KIB)), 4 * KIB)
    assert sent == [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32), (92, 32), (124, 32)]
    assert bench.disk.bursts == [[size * PAGE] for _, size in sent]


def test_6_1_knows_the_size_of_the_call() -> None:
    """Protects the request size that the policy is told: 16 pages asked for, 16 more are read ahead."""
    assert Bench61().calls([0, 64 * KIB], 64 * KIB) == [(0, 32), (32, 32)]


def test_an_open_file_remembers_where_it_was() -> None:
    """Protects programs of many calls: pages 700 and 701 in one file are in order, from two files they are not."""
    assert Bench61().calls([700 * PAGE, 701 * PAGE], PAGE) == [(700, 1), (701, 4)]
    bench = Bench61()
    bench.calls([700 * PAGE], PAGE)
    assert bench.calls([701 * PAGE], PAGE) == [(700, 1), (701, 1)]


def test_random_calls_are_read_as_they_are() -> None:
    """The counter-test of read-ahead: random calls of 64 KiB cause reads of 64 KiB."""
    offsets = [(300 + 331 * i % 1000) * 16 * PAGE % (60 * MIB) for i in range(20)]
    assert Bench61().calls(offsets, 64 * KIB) == [(offset // PAGE, 16) for offset in offsets]


def test_pages_of_a_window_are_paid_before_it_is_read() -> None:
    """Protects the order of 6.1: the first 4 pages are allocated (1 us each) before their I/O of 1 ms begins."""
    bench = Bench61()
    program = bench.cache.stream_read(0, PAGE, 1, 0.0, lambda _: None, PAGE)
    bench.engine.run(bench.engine.spawn(program))
    assert bench.engine.now == pytest.approx(0.001 + 4e-6)


def test_a_writer_without_a_duty_pauses_for_the_flusher() -> None:
    """Protects throttling since 3.2: the writer submits nothing itself, is held at the limit, and the flusher writes in
    plugged bursts of a pass, 64 KiB here.
    """
    limits = replace(LIMITS, duty=0)
    bench = Bench61(limits=limits, flush_run_bytes=4 * KIB)
    writer = bench.engine.spawn(bench.writer(16 * MIB, 20_000 * MIB))
    most = 0

    def watch() -> Generator[Any, Any, None]:
        nonlocal most
        while writer.is_alive:
            most = max(most, bench.memory.dirty_bytes + bench.memory.writeback_bytes)
            yield bench.engine.timeout(0.0001)

    bench.engine.spawn(watch())
    bench.engine.run(writer)
    assert LIMITS.limit <= most <= LIMITS.limit + 8 * KIB
    assert bench.disk.bursts[0] == [4 * KIB] * 16
    assert all(size > 0 for burst in bench.disk.bursts for size in burst), "nothing without a plug"


def test_a_pausing_writer_wakes_the_flusher() -> None:
    """Protects from waiting for ever when the limits are closer to each other than the kernel looks at them."""
    limits = DirtyLimits(64 * KIB, 64 * KIB, limit=128 * KIB, duty=0, pass_bytes=4 * MIB)
    bench = Bench61(limits=limits)
    bench.engine.run(bench.engine.spawn(bench.writer(1 * MIB, 2000 * MIB)))
    assert sum(size for _, size in bench.disk.sent(WRITE)) >= 1 * MIB - limits.limit


def test_a_forgotten_page_loses_its_mark() -> None:
    """Protects memory pressure: marks lie on held pages only."""
    bench = Bench61()
    bench.calls([0], PAGE)
    assert PAGE in bench.cache.marks
    bench.cache.marks.add(40 * MIB)
    bench.cache.mark_dirty(2 * MIB, 34 * MIB)
    assert bench.cache.cached.run_from(PAGE) == PAGE
    assert PAGE not in bench.cache.marks
    assert 40 * MIB in bench.cache.marks
