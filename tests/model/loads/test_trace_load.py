"""Loads that replay records: when they come, how many are outstanding, and how few are held."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.loads.trace_ios import TraceIo, in_parts
from raidsim.model.loads.trace_load import ClosedTrace, TimedTrace
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

MIB = 1 << 20


class Watched(Device):
    """A device of 1 ms per I/O that notes what comes and when, and how much it holds at most."""

    def __init__(self, engine: Engine, servers: int = 1) -> None:
        self.name, self.capacity = "d0", 64 * MIB
        self._engine = engine
        self._device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3), servers)
        self.seen: list[tuple[float, int, int, int]] = []
        self.most = 0

    def submit(self, request: Request) -> None:
        """Take a request."""
        self.seen.append((self._engine.now, request.op, request.offset, request.size))
        self._device.submit(request)
        self.most = max(self.most, self._device.outstanding)


def ios(count: int, gap_s: float) -> list[TraceIo]:
    """Reads and writes in turn at equal distances, from 0 s on."""
    return [(number * gap_s, WRITE if number % 2 else READ, number % 100 * 4096, 4096) for number in range(count)]


@pytest.mark.parametrize("speedup", [1.0, 2.0])
def test_every_record_comes_at_its_time(speedup: float) -> None:
    """Times are kept to the bit whatever the device does, and a speedup of 2 halves them; nothing else changes."""
    engine = Engine()
    device = Watched(engine)
    records = ios(50, 0.7e-3)
    load = TimedTrace(engine, device, in_parts(records), speedup=speedup)
    engine.run(load.finished)
    assert device.seen == [(at / speedup, op, offset, size) for at, op, offset, size in records]
    assert (load.arrived, load.completed, load.reads, load.writes, load.bytes) == (50, 50, 25, 25, 50 * 4096)
    assert load.last_arrival_s == records[-1][0] / speedup
    assert not load.stood_still


def test_a_record_that_is_too_early_comes_with_the_one_before() -> None:
    """Nothing is sent into the past, and nothing is left out."""
    engine = Engine()
    device = Watched(engine)
    load = TimedTrace(engine, device, in_parts([(0.0, READ, 0, 512), (0.5, READ, 512, 512), (0.4, READ, 1024, 512)]))
    arrived = [load.all_arrived]
    engine.run(load.finished)
    assert [*arrived, load.all_arrived] == [False, True]
    assert [at for at, *_ in device.seen] == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("depth", [1, 4])
def test_a_closed_replay_keeps_its_depth(depth: int) -> None:
    """Four outstanding on four servers take a quarter of the time of one, in the trace's order, whatever its times."""
    engine = Engine()
    device = Watched(engine, servers=4)
    records = ios(40, 10.0)
    load = ClosedTrace(engine, device, in_parts(records), depth=depth)
    engine.run(load.finished)
    assert [io[1:] for io in device.seen] == [io[1:] for io in records]
    assert device.most == depth
    assert load.completed == 40
    assert engine.now == pytest.approx(40e-3 / depth)


def test_a_replay_of_an_open_load_is_that_load() -> None:
    """The I/Os of an open load as a trace give the same latencies, to the bit."""
    engine = Engine(3)
    device = Watched(engine)
    original = OpenLoad(engine, device, size=4096, iops=800, read_share=0.5)
    engine.run(until=2.0)
    original.stop()
    engine.run(until=5.0)
    again = Engine(8)
    load = TimedTrace(again, Watched(again), in_parts(device.seen))
    again.run(load.finished)
    for one, other in ((load.read_latency, original.read_latency), (load.write_latency, original.write_latency)):
        assert one.count > 500
        assert (one.count, one.total_ns, one.min, one.max) == (other.count, other.total_ns, other.min, other.max)
        assert (one.counts == other.counts).all()


@pytest.mark.parametrize("closed", [False, True])
def test_records_are_taken_as_they_come(closed: bool) -> None:
    """Of 200,000 records no more are read than have come, and the part with the next one."""
    engine = Engine()
    device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-6), 4)
    taken = 0

    def records() -> Iterator[TraceIo]:
        nonlocal taken
        for number in range(200_000):
            taken += 1
            yield number * 1e-3, READ, 0, 512

    parts = in_parts(records(), 10)
    load = ClosedTrace(engine, device, parts, depth=4) if closed else TimedTrace(engine, device, parts)
    while load.completed < 1000:
        engine.step()
    assert taken <= load.completed + (4 if closed else 1) + 10
    load.stop()
    engine.run(load.finished)
    assert taken <= 1020


def test_a_trace_far_ahead_of_the_device_stands_still() -> None:
    """No more I/Os than allowed are held, which is told; all are done in the end. A fast device needs none of it."""
    for service_s, behind in ((1e-2, True), (1e-6, False)):
        engine = Engine()
        device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(service_s))
        load = TimedTrace(engine, device, in_parts(ios(300, 1e-3)), most_behind=10)
        most = 0
        while not load.finished.triggered:
            engine.step()
            most = max(most, load.arrived - load.completed)
        assert load.completed == 300
        assert load.stood_still is behind
        assert most == (10 if behind else 1)


def test_the_ios_of_a_trace_do_not_wait_for_each_other_s_threads() -> None:
    """With one tag each I/O is submitted when it comes, by a thread of its own, so that latencies tell of the wait."""
    for tags, wait_s in ((1, 8e-3), (64, 1e-3)):
        engine = Engine()
        below = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3), 64)
        queue = BlkMqQueue(engine, Host(Cpu(engine)), below, depth=tags)
        load = TimedTrace(engine, queue, in_parts([(1e-9 * number, READ, MIB * number, 512) for number in range(8)]))
        engine.run(until=1e-4)
        assert load.arrived == 8
        engine.run(load.finished)
        assert load.completed == 8
        assert load.read_latency.max == pytest.approx(wait_s, rel=0.05)


@pytest.mark.parametrize("kind", [TimedTrace, ClosedTrace])
def test_the_warm_up_ends_after_so_many(kind: type[TimedTrace] | type[ClosedTrace]) -> None:
    """What ends it is called once, when that many are complete."""
    engine = Engine()
    ended: list[float] = []
    load = kind(
        engine, Watched(engine), in_parts(ios(9, 0.0)), counted=3, when_warm=lambda: ended.append(round(engine.now, 6))
    )
    engine.run(load.finished)
    assert ended == [3e-3]
    assert load.completed == 9


def test_no_records_are_over_at_once() -> None:
    """An empty trace is finished when it begins, open and closed."""
    engine = Engine()
    for load in (TimedTrace(engine, Watched(engine), in_parts(())), ClosedTrace(engine, Watched(engine), in_parts(()))):
        engine.run(load.finished)
    assert engine.now == 0.0


def test_nonsense_is_refused() -> None:
    """A speedup of nothing has no meaning."""
    engine = Engine()
    with pytest.raises(ModelError, match="speedup 0"):
        TimedTrace(engine, Watched(engine), in_parts(()), speedup=0.0)
