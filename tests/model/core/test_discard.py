"""Discards: what devices say they take, how they are cut, and how the queues and schedulers of blk-mq treat them."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.block.hardware_queues import HardwareQueues
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.throttle import WriteBackThrottle
from raidsim.model.core.discard import issue, split, stacked
from raidsim.model.core.discard_limits import DiscardLimits, refused
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import ASYNC, DIRECT, READ, TRIM, WRITE, Request
from raidsim.model.crypt.cryptoloop import CryptDevice
from raidsim.model.schedulers import Bfq, Kyber, KyberSettings, MqDeadline, QueuedRequest, Scheduler
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.raid.discard_bench import Taker, discarded
from raidsim.tests.model.recording import KIB, MIB, Recorder


def rig(kind: Any = BlkMqQueue, most_bytes: int = 1 << 31, **options: Any) -> tuple[Engine, Taker, Any]:
    """A queue of one kind over a device that takes discards."""
    engine = Engine()
    device = Taker(engine, "d0", most_bytes=most_bytes)
    return engine, device, kind(engine, Host(Cpu(engine)), device, depth=4, **options)


def test_what_stands_on_others_takes_what_they_take() -> None:
    """blk_stack_limits: the coarsest granularity, the smallest maximum, members that take none left out; and who takes
    none says why.
    """
    engine = Engine()
    small, large, none = Taker(engine, "a", most_bytes=MIB), Taker(engine, "b"), Recorder(engine, "c")
    assert stacked("md0", [large, small, none]) == DiscardLimits(512, MIB)
    assert stacked("md0", [large], 4096) == DiscardLimits(4096, 1 << 31)
    assert none.discard_limits == stacked("md0", [none]) == refused("c takes no discards")


def test_pieces_end_at_the_granularity() -> None:
    """bio_split_discard: no piece is larger than the maximum, all but the last end at a multiple of the granularity."""
    assert list(split(0, MIB, DiscardLimits(512, 1 << 31))) == [(0, MIB)]
    assert list(split(512, 5000 * 512, DiscardLimits(4096, 10_000))) == [
        (512, 7680),
        *[(at, 8192) for at in range(8192, 8192 * 312, 8192)],
        (8192 * 312, 512 + 5000 * 512 - 8192 * 312),
    ]


def test_blkdiscard_cuts_at_the_first_multiple_and_at_32_bits() -> None:
    """bio_discard_limit: what comes before the granularity goes by itself, and a bio has less than 4 GiB."""
    engine = Engine()
    device = Taker(engine, capacity=1 << 40, granularity=64 * KIB)
    ends: list[float] = []
    issue(device, 512, 1 << 32, lambda: ends.append(engine.now), 1)
    engine.run()
    assert len(ends) == 1
    most = (1 << 32) - 64 * KIB
    assert device.sent(TRIM) == [(512, 64 * KIB - 512), (64 * KIB, most), (1 << 32, 512)]


@pytest.mark.parametrize("kind", [BlkMqQueue, HardwareQueues])
def test_a_queue_splits_at_what_the_device_takes(kind: Any) -> None:
    """discard_max_bytes and not max_sectors_kb: 10 MiB at most 4 MiB at once, done together and once."""
    engine, device, queue = rig(kind, 4 * MIB, max_request_bytes=128 * KIB)
    assert discarded(engine, queue, 0, 10 * MIB) == pytest.approx(0.001)
    assert device.sent(TRIM) == [(0, 4 * MIB), (4 * MIB, 4 * MIB), (8 * MIB, 2 * MIB)]
    assert queue.queued_write_bytes == 0


@pytest.mark.parametrize("kind", [BlkMqQueue, HardwareQueues])
def test_a_discard_merges_with_discards_only(kind: Any) -> None:
    """In the plug: neighboring discards become one, a write beside them stays by itself, and all are completed."""
    engine, device, queue = rig(kind)
    done: list[int] = []
    queue.plug()
    for op, offset in ((TRIM, 0), (TRIM, MIB), (WRITE, 2 * MIB), (TRIM, 3 * MIB)):
        size = 4 * KIB if op == WRITE else MIB
        queue.submit(Request(op, offset, size, lambda request: done.append(request.offset), 1, ASYNC))
    queue.unplug()
    engine.run()
    assert device.sent(TRIM) == [(0, 2 * MIB), (3 * MIB, MIB)]
    assert device.sent(WRITE) == [(2 * MIB, 4 * KIB)]
    assert sorted(done) == [0, MIB, 2 * MIB, 3 * MIB]


@pytest.mark.parametrize("scheduler", [MqDeadline, Kyber, Bfq])
def test_every_scheduler_passes_discards_on(scheduler: type[Scheduler]) -> None:
    """Among reads and writes that wait for a busy device: all are served once, nothing is left, tags are free again."""
    engine, device, queue = rig(scheduler=scheduler(128 * KIB), requests=8, write_requests=4)
    done: list[int] = []
    for number in range(40):
        op = (READ, WRITE, TRIM)[number % 3]
        queue.submit(Request(op, number * MIB, 4 * KIB, lambda request: done.append(request.op), number, DIRECT))
    engine.run()
    assert [done.count(op) for op in (READ, WRITE, TRIM)] == [14, 13, 13]
    assert len(device.sent(TRIM)) == 13
    assert not any(queue.scheduler.queued)
    assert queue.has_room
    assert queue.queued_write_bytes == 0


def test_deadline_takes_a_discard_for_a_write() -> None:
    """rq_data_dir: reads first, then the oldest of discards and writes; discards merge with each other."""
    scheduler = MqDeadline(512 * KIB)
    scheduler.discard_bytes = MIB
    for op, offset in ((TRIM, 9 * MIB), (WRITE, MIB), (TRIM, 0), (READ, 5 * MIB)):
        scheduler.add(Request(op, offset, 512 * KIB, lambda _: None), 0.0)
    assert scheduler.queued == [1, 3]
    assert scheduler.merge(Request(TRIM, 512 * KIB, 512 * KIB, lambda _: None), 0.0)
    assert not scheduler.merge(Request(TRIM, 3 * MIB // 2, 64 * KIB, lambda _: None), 0.0), "it borders on a write"
    order = [scheduler.next(0.0) for _ in range(4)]
    assert [(each.op, each.offset) for each in order if each] == [
        (READ, 5 * MIB),
        (TRIM, 9 * MIB),
        (WRITE, MIB),
        (TRIM, 0),
    ]


def test_kyber_has_tokens_for_discards() -> None:
    """One at a time in a row, no more in the device than it has tokens; writes do not wait for them."""
    scheduler = Kyber(128 * KIB, KyberSettings(discard_depth=2))
    for op in (TRIM, TRIM, TRIM, WRITE, WRITE):
        scheduler.insert(QueuedRequest(Request(op, 0, 4 * KIB, lambda _: None), 0.0, lambda _: None), 0.0)
    sent = [scheduler.next(0.0) for _ in range(5)]
    assert [None if each is None else each.op for each in sent] == [WRITE, WRITE, TRIM, TRIM, None]
    assert sent[2] is not None
    scheduler.completed(sent[2], 1.0)
    assert scheduler.next(1.0) is not None


def test_throttling_counts_discards_by_themselves() -> None:
    """wbt: four discards at once where reads are about, as writes in the background; a direct write passes them."""
    engine = Engine()
    device = Taker(engine, "d0")
    throttle = WriteBackThrottle(engine, 0.002, 16)
    queue = HardwareQueues(engine, Host(Cpu(engine)), device, depth=64, throttle=throttle)
    sent: list[Request] = []
    for number in range(10):
        queue.submit(Request(TRIM, number * MIB, MIB, sent.append, number, ASYNC))
    queue.submit(Request(WRITE, 60 * MIB, 4 * KIB, sent.append, 99, DIRECT))
    assert len(device.sent(TRIM)) == 4
    assert device.sent(WRITE) == [(60 * MIB, 4 * KIB)]
    engine.run()
    assert len(sent) == 11


def test_a_thread_that_sleeps_goes_on_with_its_discards() -> None:
    """Four tags: of ten pieces the rest follows when tags are free, in order, before what the thread submits later."""
    engine, device, queue = rig(most_bytes=MIB)
    ends: list[int] = []
    queue.submit(Request(TRIM, 0, 10 * MIB, lambda _: ends.append(1), 1, ASYNC))
    assert queue.sleeps(1)
    queue.submit(Request(TRIM, 20 * MIB, 2 * MIB, lambda _: ends.append(2), 1, ASYNC))
    engine.run()
    assert [offset // MIB for offset, _ in device.sent(TRIM)] == [*range(10), 20, 21]
    assert ends == [1, 2]


def test_a_queue_refuses_what_its_device_does_not_take() -> None:
    """Whoever discards has to look first: over a device that takes none it is a mistake, not a write."""
    engine = Engine()
    queue = BlkMqQueue(engine, Host(Cpu(engine)), Recorder(engine, "d0"), depth=4)
    with pytest.raises(ModelError, match="d0 takes no discards"):
        queue.submit(Request(TRIM, 0, MIB, lambda _: None))


def test_encryption_passes_discards_on_if_it_is_told_to() -> None:
    """allow_discards: as they are, without a cipher's time; without it the device takes none."""
    engine = Engine()
    device, host = Taker(engine), Host(Cpu(engine))
    open_ = CryptDevice(engine, device, host, 1e-6, allow_discards=True)
    closed = CryptDevice(engine, device, host, 1e-6)
    assert "allow_discards, which is off" in closed.discard_limits.refusal
    assert open_.discard_limits == device.discard_limits
    assert discarded(engine, open_, 0, MIB) == pytest.approx(0.001)
    assert host.cpu.busy_s == 0
