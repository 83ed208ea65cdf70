"""Tests of the queue in front of a member."""

from __future__ import annotations

from raidsim.model.core.engine import Engine
from raidsim.model.core.join import Join
from raidsim.model.core.request import READ, WRITE
from raidsim.model.zfs.pool.dirty_data import DirtyData
from raidsim.model.zfs.pool.leaf_queue import LeafQueue
from raidsim.model.zfs.pool.member_io import ASYNC_READ, ASYNC_WRITE, SCRUB, SYNC_READ, SYNC_WRITE, MemberIo
from raidsim.model.zfs.pool.settings import DirtySettings, QueueSettings
from raidsim.tests.model.recording import Recorder

KIB, MIB = 1 << 10, 1 << 20


class Bench:
    """A queue over a member with 64 places that takes 10 ms."""

    def __init__(self, *, rotating: bool = False, dirty: int = 0) -> None:
        self.engine = Engine()
        self.device = Recorder(self.engine, capacity=1 << 40, service_s=0.01, servers=64)
        data = DirtyData(DirtySettings(), 1000)
        data.add(dirty)
        self.queue = LeafQueue(self.engine, self.device, QueueSettings(), data, rotating)
        self.done: list[int] = []

    def send(self, op: int, offset: int, size: int, priority: int, optional: bool = False) -> MemberIo:
        """Queue an I/O."""
        done = Join(1, lambda: self.done.append(offset))
        io = MemberIo(op, offset, size, done, priority, 1, 0, optional)
        self.queue.submit(io)
        return io


def test_classes_have_the_recorded_numbers_at_the_member() -> None:
    """10 reads and 10 writes that somebody waits for, 2 asynchronous writes, 3 prefetches."""
    for op, priority, most in ((READ, SYNC_READ, 10), (WRITE, SYNC_WRITE, 10), (WRITE, ASYNC_WRITE, 2)):
        bench = Bench()
        for number in range(32):
            bench.send(op, number * MIB, 4 * KIB, priority)
        assert bench.device.outstanding == most
        bench.engine.run()
        assert len(bench.done) == 32
    bench = Bench()
    for number in range(32):
        bench.send(READ, number * MIB, 4 * KIB, ASYNC_READ)
    assert bench.device.outstanding == 3


def test_dirty_data_raise_the_number_of_asynchronous_writes() -> None:
    """2 asynchronous writes below 30 % of the dirty limit, 10 above 60 %, and between in proportion."""
    for dirty, most in ((0, 2), (450, 6), (900, 10)):
        bench = Bench(dirty=dirty)
        for number in range(32):
            bench.send(WRITE, number * MIB, 4 * KIB, ASYNC_WRITE)
        assert bench.device.outstanding == most


def test_scrub_gives_way_to_a_load() -> None:
    """A scrub has three requests at the member when it is alone for a while, and one while a load goes on."""
    bench = Bench()
    for number in range(64):
        bench.send(READ, number * MIB, 4 * KIB, SCRUB)
    assert bench.device.outstanding == 1
    bench.engine.run(until=0.065)
    assert bench.device.outstanding == 3
    for number in range(4):
        bench.send(READ, (100 + number) * MIB, 4 * KIB, SYNC_READ)
    bench.engine.run(until=0.075)
    assert bench.device.outstanding == 4 + 1


def test_neighbors_are_joined_up_to_the_limit() -> None:
    """Queued neighbors become one request of up to 128 KiB, or 1 MiB on hard disks; reads bridge gaps of 32 KiB."""
    for rotating, largest in ((False, 128 * KIB), (True, 1 * MIB)):
        bench = Bench(rotating=rotating)
        for number in range(100):
            bench.send(WRITE, number * 16 * KIB, 16 * KIB, ASYNC_WRITE)
        bench.engine.run()
        assert max(size for _, size in bench.device.sent(WRITE)) == largest
        assert len(bench.done) == 100
    bench = Bench()
    for number in range(12):
        bench.send(READ, number * MIB, 4 * KIB, SYNC_READ)
    bench.send(READ, 11 * MIB + 36 * KIB, 4 * KIB, SYNC_READ)
    bench.send(READ, 10 * MIB + 40 * KIB, 4 * KIB, SYNC_READ)
    bench.engine.run()
    assert (11 * MIB, 40 * KIB) in bench.device.sent(READ)
    assert (10 * MIB, 4 * KIB) in bench.device.sent(READ)


def test_padding_is_written_only_between_writes() -> None:
    """Padding joins the writes on both sides of it; alone it is complete without a request."""
    bench = Bench()
    bench.send(WRITE, 90 * MIB, 4 * KIB, ASYNC_WRITE)
    bench.send(WRITE, 91 * MIB, 4 * KIB, ASYNC_WRITE)
    bench.send(WRITE, 0, 4 * KIB, ASYNC_WRITE)
    bench.send(WRITE, 4 * KIB, 4 * KIB, ASYNC_WRITE, optional=True)
    bench.send(WRITE, 8 * KIB, 4 * KIB, ASYNC_WRITE)
    bench.send(WRITE, 92 * MIB, 4 * KIB, ASYNC_WRITE, optional=True)
    bench.engine.run()
    assert sorted(bench.device.sent(WRITE)) == [(0, 12 * KIB), (90 * MIB, 4 * KIB), (91 * MIB, 4 * KIB)]
    assert len(bench.done) == 6


def test_a_reader_hurries_the_prefetch_it_waits_for() -> None:
    """A prefetch that a reader waits for goes to the member with the reads that somebody waits for."""
    bench = Bench()
    ios = [bench.send(READ, number * MIB, 4 * KIB, ASYNC_READ) for number in range(10)]
    assert bench.device.outstanding == 3
    bench.queue.hurry(ios[9])
    assert bench.device.outstanding == 4
    assert bench.device.sent(READ)[-1] == (9 * MIB, 4 * KIB)
    bench.queue.hurry(ios[0])
    bench.engine.run()
    assert sorted(bench.done) == [number * MIB for number in range(10)]
