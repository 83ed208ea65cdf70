"""Closed and open loads against arithmetic."""

from __future__ import annotations

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.device import Wrapper
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import DIRECT, WAITED, Request
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.solid_state.drive_bench import small

MIB = 1 << 20


def device(engine: Engine, servers: int = 1) -> FixedServiceDevice:
    """A device of 1 ms."""
    return FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3), servers)


def test_little_s_law_holds() -> None:
    """Eight outstanding on four servers of 1 ms: 4,000 a second, 2 ms each."""
    engine = Engine()
    load = ClosedLoad(engine, device(engine, 4), size=4096, depth=8)
    engine.run(until=0.0105)
    load.start_statistics(engine.now)
    engine.run(until=1.0105)
    assert load.reads == 4000
    assert load.read_latency.mean == pytest.approx(2e-3)
    assert load.bytes == 4000 * 4096


def test_reads_and_writes_are_mixed_as_told_and_writes_are_direct() -> None:
    """70 % reads; offsets are multiples of the size within the span; the same seed gives the same I/Os."""

    def ios(seed: int) -> list[tuple[int, int, int]]:
        engine = Engine(seed)
        served = device(engine, 16)
        seen: list[tuple[int, int, int]] = []

        class Spy(Wrapper):
            def submit(self, request: Request) -> None:
                seen.append((request.op, request.offset, request.sync))
                served.submit(request)

        ClosedLoad(engine, Spy(served), size=8192, depth=16, read_share=0.7, start=MIB, span=2 * MIB)
        engine.run(until=0.5)
        return seen

    seen = ios(3)
    assert sum(op == 0 for op, _, _ in seen) / len(seen) == pytest.approx(0.7, abs=0.03)
    assert all(offset % 8192 == 0 and MIB <= offset < 3 * MIB for _, offset, _ in seen)
    assert {(op, sync) for op, _, sync in seen} == {(0, WAITED), (1, DIRECT)}
    assert seen == ios(3)
    assert seen != ios(4)


def test_sequential_offsets_wrap_around() -> None:
    """Three blocks and from the start again."""
    engine = Engine()
    served = device(engine)
    offsets: list[int] = []

    class Spy(Wrapper):
        def submit(self, request: Request) -> None:
            offsets.append(request.offset)
            served.submit(request)

    ClosedLoad(engine, Spy(served), size=4096, sequential=True, span=3 * 4096)
    engine.run(until=0.0045)
    assert offsets == [0, 4096, 8192, 0, 4096]


def test_the_cpu_limits_and_is_shared() -> None:
    """An I/O of 100 us CPU on a fast device: 10,000 a second, however many threads there are."""
    for threads in (1, 4):
        engine = Engine()
        cpu = Cpu(engine)
        fast = FixedServiceDevice(engine, "d0", MIB, linear_service(1e-5), 64)
        loads = [
            ClosedLoad(engine, fast, size=4096, depth=8, submit_s=6e-5, complete_s=4e-5, cpu=cpu, name=f"{i}", issuer=i)
            for i in range(threads)
        ]
        engine.run(until=1.0)
        assert sum(load.reads for load in loads) == pytest.approx(10_000, rel=0.01)


def test_a_thread_pays_for_md_before_its_next_io() -> None:
    """Protects single I/Os on arrays: md's 0.5 ms come before the drive's 1 ms, so a loop takes both. Of 8 outstanding
    on 8 drives the thread is the limit. Counter-test: a load that does not pay for it is not slower.
    """

    class Passing(Wrapper):
        """Takes CPU time for each I/O before the device has it, as md does."""

        def submit(self, request: Request) -> None:
            host.pass_on(5e-4, request.issuer)
            super().submit(request)

    for depth, pays, loop_s in ((1, True, 1.6e-3), (8, True, 6e-4), (1, False, 1.1e-3)):
        engine = Engine()
        cpu = Cpu(engine, 8)
        host = Host(cpu)
        below = Passing(device(engine, 8))
        load = ClosedLoad(engine, below, size=4096, depth=depth, submit_s=1e-4, cpu=cpu, host=host if pays else None)
        engine.run(until=1.0)
        assert load.reads == pytest.approx(1 / loop_s, rel=0.02)


def test_a_batch_is_plugged_and_one_at_a_time_is_not() -> None:
    """io_submit of eight sequential I/Os makes one request; one I/O at a time makes eight."""

    def requests(batch: int) -> int:
        engine = Engine()
        below = device(engine, 8)
        queue = BlkMqQueue(engine, Host(Cpu(engine)), below, depth=8)
        ClosedLoad(engine, queue, size=4096, depth=8, sequential=True, batch=batch)
        engine.run(until=0.0005)
        return below.outstanding

    assert requests(8) == 1
    assert requests(1) == 8


def test_a_stopped_load_sends_no_more() -> None:
    """What is under way completes."""
    engine = Engine()
    load = ClosedLoad(engine, device(engine), size=4096, depth=3)
    engine.run(until=0.0025)
    load.stop()
    engine.run()
    assert load.reads == 5


def test_an_open_load_keeps_its_rate() -> None:
    """50 a second at fixed distances; Poisson arrivals on average, and queueing as M/D/1 has it."""
    engine = Engine(1)
    steady = OpenLoad(engine, device(engine), size=4096, iops=50, poisson=False)
    engine.run(until=10.01)
    assert steady.reads == 500
    assert steady.read_latency.max == pytest.approx(1e-3)
    engine = Engine(1)
    bursty = OpenLoad(engine, device(engine), size=4096, iops=500)
    engine.run(until=100)
    assert bursty.reads == pytest.approx(50_000, rel=0.02)
    # Mean wait of M/D/1 at half load: rho / (2 (1 - rho)) services.
    assert bursty.read_latency.mean == pytest.approx(1.5e-3, rel=0.05)


def test_an_open_load_begins_when_it_is_told() -> None:
    """I/Os = rate x time since the load began, which is later than when it was made."""
    engine = Engine(1)
    engine.run(until=2.0)
    load = OpenLoad(engine, device(engine), size=4096, iops=50, poisson=False, begin_s=3.0)
    engine.run(until=5.015)
    assert load.arrived == 0
    engine.run(until=7.01)
    assert load.arrived == 50 * 2


def test_an_open_load_sleeps_like_a_thread() -> None:
    """With one tag and twice the rate it can have, it does what the device does, and what is due waits for that."""
    engine = Engine(1)
    queue = BlkMqQueue(engine, Host(Cpu(engine)), device(engine), depth=1)
    load = OpenLoad(engine, queue, size=4096, iops=2000)
    engine.run(until=1.0)
    assert load.reads == pytest.approx(1000, abs=5)
    assert 0.4 < load.read_latency.max < 0.6
    load.stop()


def test_users_who_know_nothing_of_each_other_wait_each_alone() -> None:
    """As above, but each I/O is submitted when it is due, by a thread that is awake: it is a latency that grows."""
    engine = Engine(1)
    queue = BlkMqQueue(engine, Host(Cpu(engine)), device(engine), depth=1)
    load = OpenLoad(engine, queue, size=4096, iops=2000, independent=True)
    engine.run(until=1.0)
    assert load.reads == pytest.approx(1000, abs=5)
    assert 0.4 < load.read_latency.max < 0.6
    load.stop()


@pytest.mark.parametrize(("cores", "loads", "done"), [(1, 1, 1000), (1, 2, 1000), (4, 1, 1000), (4, 2, 2000)])
def test_an_open_load_sends_no_more_than_its_thread_and_the_cores_can(cores: int, loads: int, done: int) -> None:
    """Protects the CPU from work that nobody waits for: an I/O takes 1 ms of a thread, which runs on one core."""
    engine = Engine(1)
    cpu = Cpu(engine, cores)
    sent = [
        OpenLoad(engine, device(engine, 64), size=4096, iops=4000, submit_s=1e-3, cpu=cpu, issuer=i, name=f"{i}")
        for i in range(loads)
    ]
    engine.run(until=1.0)
    assert sum(load.reads for load in sent) == pytest.approx(done, rel=0.02)
    assert cpu.busy_s <= 1.01 * cores


def test_an_open_load_whose_calls_cost_nothing_keeps_its_rate() -> None:
    """The counter-test: on the same core."""
    engine = Engine(1)
    load = OpenLoad(engine, device(engine, 64), size=4096, iops=4000, cpu=Cpu(engine))
    engine.run(until=1.0)
    assert load.reads == pytest.approx(4000, rel=0.05)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"size": 128 * MIB}, "at least one I/O must fit"),
        ({"size": 4096, "read_share": 1.5}, "read_share"),
        ({"size": 4096, "depth": 0}, "depth 0"),
        ({"size": 4096, "submit_s": 1e-6}, "on a cpu"),
    ],
)
def test_nonsense_is_refused(wrong: dict[str, float], said: str) -> None:
    """Each refusal names what is wrong."""
    engine = Engine()
    with pytest.raises(ModelError, match=said):
        ClosedLoad(engine, device(engine), **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("fsync", "each_s"), [(0, 10e-6), (1, 1.010e-3), (4, 0.26e-3)])
def test_a_job_waits_for_its_flushes(fsync: int, each_s: float) -> None:
    """Writes of 10 us with a flush of 1 ms after each, after every fourth, or never."""
    engine = Engine()
    spec = small(write_overhead="8us", flush_time="1ms", command_rate=1e6)
    ssd = SolidState(engine, spec, "ssd", state="fresh")
    ClosedLoad(engine, ssd, size=4096, read_share=0.0, fsync=fsync)
    engine.run(until=0.1)
    assert ssd.writes == pytest.approx(0.1 / each_s, rel=0.03)
    assert ssd.flushes == pytest.approx(ssd.writes // fsync if fsync else 0, abs=1)  # one may be under way


def test_a_load_at_a_rate_flushes_without_waiting() -> None:
    """1,000 writes a second with a flush of 5 ms after each: the flushes overlap, and no write is late."""
    engine = Engine()
    ssd = SolidState(engine, small(flush_time="5ms"), "ssd", state="fresh")
    load = OpenLoad(engine, ssd, size=4096, iops=1000, poisson=False, read_share=0.0, fsync=1)
    engine.run(until=0.1)
    assert load.writes == pytest.approx(100, abs=2)
    assert ssd.flushes == pytest.approx(95, abs=2)
