"""Little's law of the program: I/Os that it wants = rate x mean response time, whatever makes them wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.loads.arrivals import constant_think
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.direct_load import DirectLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.loads.thinking_load import ThinkingLoad
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE

PRICES = replace(FREE, command_s=0.5e-6)
SPAN_S = 0.2


def host_of(engine: Engine) -> Host:
    """Two cores."""
    return Host(Cpu(engine, 2), PRICES)


def drive(engine: Engine, at_once: int = 256, service_s: float = 20e-6) -> FixedServiceDevice:
    """A drive that takes so many commands at once."""
    return FixedServiceDevice(engine, "d", 1 << 30, linear_service(service_s), at_once)


def response_s(load: DirectLoad) -> float:
    """The mean over reads and writes."""
    total = sum(each.mean * each.count for each in (load.read_latency, load.write_latency) if each.count)
    return total / (load.reads + load.writes)


def measure(engine: Engine, *loads: DirectLoad) -> None:
    """After a warm-up."""
    engine.run_to(0.05)
    for load in loads:
        load.start_statistics(engine.now)
    engine.run_to(0.05 + SPAN_S)


@pytest.mark.parametrize("depth", [1, 4, 64])
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize(("submit_s", "complete_s", "wake_s"), [(0, 0, 0), (3e-6, 0, 4e-6), (3e-6, 2e-6, 0)])
def test_closed(depth: int, batch: int, submit_s: float, complete_s: float, wake_s: float) -> None:
    """Depth = rate x response, also where the thread has no time left for what is complete."""
    engine = Engine(1)
    host = host_of(engine)
    load = ClosedLoad(
        engine,
        drive(engine),
        size=4096,
        depth=depth,
        read_share=0.7,
        batch=batch,
        submit_s=submit_s,
        complete_s=complete_s,
        wake_s=wake_s,
        cpu=host.cpu,
        host=host,
    )
    measure(engine, load)
    rate = (load.reads + load.writes) / SPAN_S
    assert rate * response_s(load) == pytest.approx(depth, rel=0.01)


@pytest.mark.parametrize("jobs", [1, 8])
def test_jobs_that_share_a_core(jobs: int) -> None:
    """What a job waits for the core belongs to the response time."""
    engine = Engine(1)
    host = Host(Cpu(engine, 1), PRICES)
    loads = [
        ClosedLoad(engine, drive(engine), size=4096, depth=4, submit_s=5e-6, cpu=host.cpu, name=f"{job}", issuer=job)
        for job in range(jobs)
    ]
    measure(engine, *loads)
    rate = sum(load.reads for load in loads) / SPAN_S
    mean_s = sum(load.read_latency.mean * load.reads for load in loads) / sum(load.reads for load in loads)
    assert rate * mean_s == pytest.approx(4 * jobs, rel=0.01)


@pytest.mark.parametrize("depth", [2, 8, 32])
def test_a_thread_that_finds_no_tag(depth: int) -> None:
    """I/Os behind the one that sleeps in its submission wait, too; the rate is that of the drive at every depth."""
    engine = Engine(1)
    host = host_of(engine)
    queue = BlkMqQueue(engine, host, drive(engine, 1, 1e-3), depth=1)
    load = ClosedLoad(engine, queue, size=4096, depth=depth, issuer=1)
    measure(engine, load)
    assert load.reads / SPAN_S == pytest.approx(1000, rel=0.02)
    assert load.reads / SPAN_S * response_s(load) == pytest.approx(depth, rel=0.03)


def test_submission_is_a_part_of_the_response() -> None:
    """A thread that is the bottleneck: nearly all of the response time passes before the drive has the I/O."""
    engine = Engine(1)
    host = host_of(engine)
    slow = ClosedLoad(engine, drive(engine), size=4096, depth=64, submit_s=50e-6, cpu=host.cpu, host=host)
    measure(engine, slow)
    assert slow.submission_s / slow.submissions == pytest.approx(response_s(slow) - 20e-6, rel=0.1)
    engine = Engine(1)
    fast = ClosedLoad(engine, drive(engine), size=4096, depth=64)
    measure(engine, fast)
    assert fast.submission_s == 0.0


def test_thinking_users() -> None:
    """Users = rate x (response + think time)."""
    engine = Engine(1)
    host = host_of(engine)
    think = constant_think(100e-6)
    load = ThinkingLoad(
        engine, drive(engine), think=think, size=4096, depth=16, submit_s=6e-6, wake_s=4e-6, cpu=host.cpu, host=host
    )
    measure(engine, load)
    assert load.reads / SPAN_S * (response_s(load) + 100e-6) == pytest.approx(16, rel=0.01)


@pytest.mark.parametrize(("independent", "cores", "rho"), [(False, 1, 0.8), (True, 1, 0.8), (True, 8, 0.1)])
def test_open(independent: bool, cores: int, rho: float) -> None:
    """An I/O that is due waits for the thread or a core: M/D/1 before a drive of a fixed time."""
    engine = Engine(1)
    cpu = Cpu(engine, cores)
    load = OpenLoad(engine, drive(engine), size=4096, iops=16000, submit_s=50e-6, cpu=cpu, independent=independent)
    engine.run_to(2.0)
    waits_s = 0.0 if cores > 1 else rho * 50e-6 / (2 * (1 - rho))
    assert response_s(load) == pytest.approx(50e-6 + 20e-6 + waits_s, rel=0.06)
