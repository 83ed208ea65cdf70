"""Write-back throttling: what it does to a mirror, and that it is the cause."""

from __future__ import annotations

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.block.throttle import WriteBackThrottle
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import ASYNC, DIRECT, READ, TRIM, WAITED, WRITE, Request
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.schedulers import QueuedRequest
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import Recorder

MIB = 1 << 20


class Rig:
    """A device of 32 tags behind a throttle of 2 ms."""

    def __init__(self, service_s: float, throttled: bool = True, tags: int = 32) -> None:
        self.engine = Engine(1)
        self.throttle = WriteBackThrottle(self.engine, 2e-3)
        self.disk = Recorder(self.engine, "d0", 64 * MIB, service_s, tags)
        self.queue = BlkMqQueue(
            self.engine,
            Host(Cpu(self.engine)),
            self.disk,
            depth=tags,
            throttle=self.throttle if throttled else None,
        )
        self.done = [0, 0]

    def keep(self, op: int, count: int, sync: int) -> None:
        """Keep `count` I/Os outstanding from a thread each."""

        def again(request: Request) -> None:
            self.done[op] += 1
            submit(request.issuer)

        def submit(issuer: int) -> None:
            offset = 8192 * ((self.done[op] * 7919 + issuer) % 8000)
            self.queue.submit(Request(op, offset, 4096, again, issuer, sync))

        for i in range(count):
            submit(1000 * op + i)

    def rates(self) -> tuple[float, float]:
        """Reads and writes a second after half a second."""
        self.engine.run(until=0.5)
        before = self.done.copy()
        self.engine.run(until=1.5)
        return self.done[READ] - before[READ], self.done[WRITE] - before[WRITE]


def test_slow_reads_leave_one_write_at_a_time() -> None:
    """A device of 3 ms misses its 2 ms target whatever the writes do: one write in 3 ms is left of sixteen."""
    rig = Rig(3e-3)
    rig.keep(READ, 8, WAITED)
    rig.keep(WRITE, 16, WAITED)
    reads, writes = rig.rates()
    assert rig.throttle.allowed == 1
    assert writes == pytest.approx(333, rel=0.02)
    assert reads == pytest.approx(8 / 3e-3, rel=0.02)


def test_without_the_throttle_the_writes_are_not_slowed() -> None:
    """The counter-test."""
    rig = Rig(3e-3, throttled=False)
    rig.keep(READ, 8, WAITED)
    rig.keep(WRITE, 16, WAITED)
    assert rig.rates()[1] == pytest.approx(16 / 3e-3, rel=0.02)


def test_direct_writes_pass() -> None:
    """REQ_SYNC | REQ_IDLE: what RAID 0 passes on unchanged is not throttled."""
    rig = Rig(3e-3)
    rig.keep(READ, 8, WAITED)
    rig.keep(WRITE, 16, DIRECT)
    assert rig.rates()[1] == pytest.approx(16 / 3e-3, rel=0.02)


def test_fast_reads_throttle_nothing() -> None:
    """At 1.5 ms the target is met, and the step goes down to where 24 of 32 are allowed."""
    rig = Rig(1.5e-3)
    rig.keep(READ, 8, WAITED)
    rig.keep(WRITE, 16, WAITED)
    assert rig.rates()[1] == pytest.approx(16 / 1.5e-3, rel=0.02)
    assert (rig.throttle.step, rig.throttle.allowed) == (-1, 24)


def test_only_writes_may_have_three_quarters_of_the_tags() -> None:
    """With no reads about, 24 of 32 are allowed."""
    rig = Rig(3e-3)
    rig.keep(WRITE, 32, WAITED)
    assert rig.rates()[1] == pytest.approx(24 / 3e-3, rel=0.02)


def test_what_nobody_waits_for_gets_a_quarter_after_a_read() -> None:
    """16 are allowed at first: eight in the background, four if a read was less than 100 ms ago."""
    rig = Rig(1e-3)
    rig.engine.run(until=1.0)
    for i in range(10):
        rig.queue.submit(Request(WRITE, 8192 * i, 4096, lambda _: None, i, ASYNC))
    assert len(rig.disk.sent(WRITE)) == 8
    close = Rig(1e-3)
    close.engine.run(until=1.0)
    close.queue.submit(Request(READ, 0, 4096, lambda _: None, 99))
    for i in range(10):
        close.queue.submit(Request(WRITE, 8192 * i, 4096, lambda _: None, i, ASYNC))
    assert len(close.disk.sent(WRITE)) == 4


@pytest.mark.parametrize(("tags", "allowed"), [(1, 2), (8, 8), (32, 16)])
def test_what_is_allowed_at_first(tags: int, allowed: int) -> None:
    """16, or the device's tags if fewer; a device of one tag has one write kept ready."""
    assert Rig(1e-3, tags=tags).throttle.allowed == allowed


def test_it_ends_when_nothing_is_under_way() -> None:
    """The window's timer does not run for ever, so a simulation can end."""
    rig = Rig(1e-3)
    load = ClosedLoad(rig.engine, rig.queue, size=4096, read_share=0.5)
    rig.queue.submit(Request(WRITE, 0, 4096, lambda _: None, 1, WAITED))
    rig.engine.run(until=0.3)
    load.stop()
    rig.engine.run()
    assert rig.throttle.step == 0


def test_discards_sleep_and_wake_by_themselves() -> None:
    """wbt_rqw_done: four at once, beside as many writes; who sleeps is woken when there is room for two again."""
    engine, woken = Engine(1), []
    throttle = WriteBackThrottle(engine, 2e-3)
    throttle.attach(lambda: woken.append(engine.now), 32)
    requests = [Request(TRIM, MIB * i, MIB, lambda _: None, i, ASYNC) for i in range(5)]
    assert [throttle.admit(request, first=True) for request in requests] == [True] * 4 + [False]
    assert throttle.admit(Request(WRITE, 0, 4096, lambda _: None, 9, ASYNC), first=True)
    queued = [QueuedRequest(request, 0.0, lambda _: None) for request in requests[:4]]
    for each in queued:
        throttle.track(each)
    throttle.completed(queued[0])
    assert not woken
    throttle.completed(queued[1])
    assert len(woken) == 1


def test_a_target_of_zero_is_refused() -> None:
    """0 turns it off, which is no throttle at all."""
    with pytest.raises(ModelError, match="target of 0"):
        WriteBackThrottle(Engine(), 0.0)
