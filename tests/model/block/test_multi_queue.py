"""blk-mq by hand: splitting, the plug, tags, and a thread that sleeps for want of one."""

from __future__ import annotations

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.device import Wrapper
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import DIRECT, READ, WRITE, WRITE_THROUGH, Request
from raidsim.model.layouts import StripedLayout
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.schedulers import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

MIB = 1 << 20
KIB = 1024


class Rig:
    """A queue over a device that serves `depth` requests at once, 1 ms each, and what it was sent."""

    def __init__(
        self,
        depth: int = 32,
        scheduler: bool = False,
        max_bytes: int = MIB,
        requests: int = 64,
        volatile_cache: bool = True,
    ) -> None:
        self.engine = Engine()
        self.device = FixedServiceDevice(self.engine, "d0", 1 << 30, linear_service(1e-3), depth)
        self.sent: list[tuple[int, int]] = []
        self.done: list[tuple[float, int]] = []
        submit = self.device.submit

        bench = self

        class Spy(Wrapper):
            def submit(self, request: Request) -> None:
                bench.sent.append((request.offset // KIB, request.size // KIB))
                submit(request)

        self.queue = BlkMqQueue(
            self.engine,
            Host(Cpu(self.engine)),
            Spy(self.device),
            depth=depth,
            scheduler=MqDeadline(max_bytes) if scheduler else None,
            max_request_bytes=max_bytes,
            requests=requests,
            volatile_cache=volatile_cache,
        )

    def submit(self, op: int, kib: int, size_kib: int = 4, issuer: int = 0, sync: int = DIRECT) -> None:
        def done(request: Request) -> None:
            self.done.append((round(self.engine.now, 9), request.offset // KIB))

        self.queue.submit(Request(op, kib * KIB, size_kib * KIB, done, issuer, sync))


def test_a_large_io_is_split_from_its_start() -> None:
    """max_sectors_kb: 300 KiB at a limit of 127 KiB are 127, 127 and 46, and complete together."""
    rig = Rig(max_bytes=127 * KIB)
    rig.submit(READ, 1, 300)
    rig.engine.run()
    assert rig.sent == [(1, 127), (128, 127), (255, 46)]
    assert rig.done == [(0.001, 1)]


def test_a_plug_merges_neighbours_and_without_one_nothing_merges() -> None:
    """Back and front merges in the plug; a free device without a plug gets each I/O by itself."""
    rig = Rig()
    rig.queue.plug()
    for kib in (8, 12, 4):
        rig.submit(WRITE, kib)
    assert rig.sent == []
    rig.queue.unplug()
    assert rig.sent == [(4, 12)]
    assert rig.queue.merges == 2
    bare = Rig()
    for kib in (8, 12, 4):
        bare.submit(WRITE, kib)
    assert bare.sent == [(8, 4), (12, 4), (4, 4)]


def test_only_the_newest_request_of_the_plug_is_looked_at() -> None:
    """blk_attempt_plug_merge: the neighbor of an older request in the plug becomes a request of its own."""
    rig = Rig()
    rig.queue.plug()
    for kib in (0, 100, 4):
        rig.submit(WRITE, kib)
    rig.queue.unplug()
    assert rig.sent == [(0, 4), (100, 4), (4, 4)]


def test_a_plug_flushes_itself_when_it_is_full() -> None:
    """The 33rd request flushes 32; a newest request of 128 KiB is flushed by the next."""
    rig = Rig(depth=64)
    rig.queue.plug()
    for i in range(33):
        rig.submit(WRITE, 100 * i)
    assert len(rig.sent) == 32
    large = Rig()
    large.queue.plug()
    large.submit(WRITE, 0, 128)
    assert large.sent == []
    large.submit(WRITE, 1000)
    assert large.sent == [(0, 128)]


def test_a_write_through_is_neither_plugged_nor_merged() -> None:
    """A flush goes past the plug."""
    rig = Rig()
    rig.queue.plug()
    rig.submit(WRITE, 0)
    rig.submit(WRITE, 4, sync=WRITE_THROUGH)
    assert rig.sent == [(4, 4)]


@pytest.mark.parametrize(("volatile", "order"), [(True, [100, 500, 8, 200]), (False, [100, 500, 200, 8])])
def test_without_a_volatile_cache_a_write_through_is_queued_as_any_write(volatile: bool, order: list[int]) -> None:
    """Protects flush and FUA: past the scheduler where a cache has to be flushed; in its turn where there is none."""
    rig = Rig(depth=1, scheduler=True, volatile_cache=volatile)
    for kib in (100, 500, 200):
        rig.submit(WRITE, kib)
    rig.submit(WRITE, 8, sync=WRITE_THROUGH)
    rig.engine.run()
    assert [kib for kib, _ in rig.sent] == order


def test_behind_a_scheduler_what_waits_merges_but_the_next_request_does_not() -> None:
    """With one tag: one request is served, the next is taken out already, and the others merge."""
    rig = Rig(depth=1, scheduler=True)
    for kib in range(0, 24, 4):
        rig.submit(READ, kib)
    rig.engine.run()
    assert rig.sent == [(0, 4), (4, 4), (8, 16)]
    assert [at for at, _ in rig.done] == [0.001, 0.002, 0.003, 0.003, 0.003, 0.003]


def test_a_thread_without_a_tag_sleeps_and_another_does_not() -> None:
    """What the sleeping thread submits next waits for its tag, even where there is room; who sleeps is called back."""
    rig = Rig(depth=1)
    awake: list[float] = []
    rig.submit(READ, 0, issuer=1)
    had_room = rig.queue.has_room
    rig.submit(READ, 100, issuer=1)
    assert (had_room, rig.queue.has_room) == (True, False)
    assert rig.queue.sleeps(1)
    assert not rig.queue.sleeps(2)
    rig.queue.when_awake(1, lambda: awake.append(rig.engine.now))
    rig.queue.when_room(lambda: awake.append(rig.engine.now))
    rig.engine.run()
    assert awake == [0.001, 0.001]
    assert rig.done == [(0.001, 0), (0.002, 100)]
    assert not rig.queue.sleeps(1)


def test_sleepers_wake_when_a_batch_of_tags_is_free() -> None:
    """32 tags wake sleepers four at a time (sbitmap): three completions wake nobody."""
    rig = Rig(depth=32)
    for i in range(32):
        rig.engine.run(until=(i + 1) * 1e-5)
        rig.submit(READ, 100 * i)
    rig.submit(READ, 9000)
    rig.engine.run(until=1e-3 + 3.5e-5)
    assert (9000, 4) not in rig.sent
    rig.engine.run(until=1e-3 + 4.5e-5)
    assert (9000, 4) in rig.sent


def test_writes_may_have_fewer_tags() -> None:
    """A write over the limit of writes sleeps, a read does not."""
    engine = Engine()
    device = FixedServiceDevice(engine, "d0", 1 << 30, linear_service(1e-3), 1)
    queue = BlkMqQueue(
        engine, Host(Cpu(engine)), device, depth=1, scheduler=MqDeadline(MIB), requests=8, write_requests=1
    )
    for offset in (0, 8 * KIB):
        queue.submit(Request(WRITE, offset, 4 * KIB, lambda _: None, issuer=1))
    assert queue.sleeps(1)
    queue.submit(Request(READ, 64 * KIB, 4 * KIB, lambda _: None, issuer=2))
    assert not queue.sleeps(2)


def striped_rate(depth: int, iodepth: int = 16) -> float:
    """Random 4 KiB reads a second of one thread on RAID 0 of two members of 1 ms."""
    engine = Engine(1)
    host = Host(Cpu(engine))
    members = [
        BlkMqQueue(
            engine,
            host,
            FixedServiceDevice(engine, f"d{i}", 1 << 30, linear_service(1e-3), depth),
            depth=depth,
        )
        for i in range(2)
    ]
    array = StripeArray(engine, "md0", members, StripedLayout([1 << 30] * 2, 64 * KIB), host)
    load = ClosedLoad(engine, array, size=4 * KIB, depth=iodepth)
    engine.run(until=0.1)
    load.start_statistics(engine.now)
    engine.run(until=2.1)
    return load.reads / 2


def test_a_sleeping_thread_keeps_two_members_only_three_quarters_busy() -> None:
    """With one tag each the chance that the next read finds the other member is a half: 1.5 times one member."""
    assert striped_rate(1) == pytest.approx(1500, rel=0.03)
    assert striped_rate(1, 64) == pytest.approx(1500, rel=0.03)


def test_with_enough_tags_nobody_sleeps() -> None:
    """The counter-test: 16 outstanding are 16 times one at a time."""
    assert striped_rate(32) == pytest.approx(16_000, rel=0.01)


@pytest.mark.parametrize(("volatile", "flushed_s"), [(True, 1e-3), (False, 0.0)])
def test_a_flush_waits_for_a_tag(volatile: bool, flushed_s: float) -> None:
    """Protects flushes from passing a device whose only tag is taken. Counter-test: where there is no volatile cache a
    flush is none, and waits for nothing.
    """
    rig = Rig(depth=1, volatile_cache=volatile)
    flushed: list[float] = []
    rig.submit(READ, 0)
    rig.queue.flush(lambda: flushed.append(rig.engine.now))
    rig.engine.run(until=1.0)
    assert flushed == [pytest.approx(flushed_s)]


def test_nonsense_is_refused() -> None:
    """A queue without tags."""
    with pytest.raises(ModelError, match="depth 0"):
        Rig(depth=32).queue.__class__(
            (engine := Engine()),
            Host(Cpu(engine)),
            FixedServiceDevice(engine, "d0", MIB, linear_service(1e-3)),
            depth=0,
        )
