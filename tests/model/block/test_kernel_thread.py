"""A thread that submits to devices with few tags."""

from __future__ import annotations

import pytest

from raidsim.model.block.kernel_thread import KernelThread
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, RESYNC_ISSUER, Request
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, recorders


class Bench:
    """Two members of 1 ms a request and a thread over them."""

    def __init__(self, tags: int) -> None:
        self.engine = Engine()
        self.disks = recorders(self.engine, 2)
        self.host = host = Host(Cpu(self.engine))
        queues = [BlkMqQueue(self.engine, host, disk, depth=tags, max_request_bytes=64 * KIB) for disk in self.disks]
        self.queues = queues
        self.thread = KernelThread(self.engine, queues, host)
        self.done: list[tuple[float, int]] = []

    def send(self, slot: int, offset: int, size: int = 64 * KIB) -> None:
        """Have the thread read."""
        self.thread.submit(slot, Request(READ, offset, size, self._done, RESYNC_ISSUER, False))

    def _done(self, request: Request) -> None:
        self.done.append((round(self.engine.now, 6), request.offset))


def test_a_busy_member_holds_up_the_others() -> None:
    """Protects head-of-line blocking: asleep over a member without a tag, the thread leaves an idle one idle."""
    bench = Bench(tags=1)
    bench.queues[0].submit(Request(READ, 1 << 20, 4 * KIB, bench._done))
    bench.send(0, 0)
    bench.send(1, 0)
    bench.thread.end_range()
    assert not bench.thread.awake
    bench.thread.when_awake(bench.thread.rest)
    bench.engine.run()
    assert bench.done == [(0.001, 1 << 20), (0.002, 0), (0.002, 0)]


def test_with_tags_it_does_not_sleep() -> None:
    """Counter-test: with two tags both members are at work at once."""
    bench = Bench(tags=2)
    bench.queues[0].submit(Request(READ, 1 << 20, 4 * KIB, bench._done))
    bench.send(0, 0)
    bench.send(1, 0)
    bench.thread.end_range()
    assert bench.thread.awake
    bench.thread.rest()
    bench.engine.run()
    assert bench.done == [(0.001, 1 << 20), (0.001, 0), (0.002, 0)]


def test_what_it_submits_in_one_go_merges() -> None:
    """Protects the plug: blocks side by side become one request, sent when the thread rests."""
    bench = Bench(tags=8)
    for number in range(16):
        bench.send(0, number * 4 * KIB, 4 * KIB)
        bench.thread.end_range()
    bench.engine.run()
    assert not bench.disks[0].log
    bench.thread.rest()
    bench.engine.run()
    assert bench.disks[0].sent(READ) == [(0, 64 * KIB)]
    assert len(bench.done) == 16


def test_it_tells_when_a_range_is_submitted() -> None:
    """Protects the wake-up: called at the end of the range, or when the thread has woken up and submitted it."""
    bench = Bench(tags=1)
    told: list[float] = []
    bench.thread.when_awake(lambda: told.append(bench.engine.now))
    bench.send(0, 0)
    assert not told
    bench.thread.end_range()
    assert told == [0.0]
    bench.thread.rest()
    bench.send(0, 64 * KIB)
    bench.send(1, 64 * KIB)
    bench.thread.end_range()
    bench.thread.when_awake(lambda: told.append(bench.engine.now))
    bench.engine.run()
    assert told == [0.0, 0.001]
    assert bench.thread.ranges == 2


@pytest.mark.parametrize(("seconds", "sent_at"), [(0.0003, 0.0003), (0.0, 0.0)])
def test_what_it_has_plugged_waits_while_it_computes(seconds: float, sent_at: float) -> None:
    """Protects the idle member: a request keeps its tag, unsent, until the thread has computed, if it has to."""
    bench = Bench(tags=1)
    bench.send(0, 0)
    bench.thread.end_range()

    def next_range() -> None:
        bench.send(1, 0)
        bench.thread.end_range()
        bench.thread.rest()

    bench.thread.compute(seconds, next_range)
    assert bench.thread.awake is (not seconds)
    bench.thread.rest()
    bench.engine.run()
    assert bench.done == [(sent_at + 0.001, 0)] * 2


def test_it_computes_when_it_gets_the_cpu() -> None:
    """Protects the one CPU: what runs already comes first."""
    bench = Bench(tags=1)
    told: list[float] = []
    bench.host.cpu.run(0.002)
    bench.thread.compute(0.001, lambda: told.append(bench.engine.now))
    bench.engine.run()
    assert told == [pytest.approx(0.003)]


def test_at_a_barrier_it_lets_go() -> None:
    """Protects against a deadlock: computed, and with nothing to submit yet, it sends what it had plugged before."""
    bench = Bench(tags=1)
    bench.send(0, 0)
    bench.thread.end_range()
    bench.thread.compute(0.0003, lambda: None)
    bench.engine.run()
    assert bench.done == [(0.0013, 0)]
