"""Users who think, against the laws of interactive systems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.loads.arrivals import constant_think, exponential_think
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.thinking_load import ThinkingLoad
from raidsim.model.tasks.cpu import Cpu

MIB = 1 << 20


def run(load: ClosedLoad, engine: Engine, warm_up_s: float, seconds: float) -> float:
    """I/Os a second after the warm-up."""
    engine.run(until=warm_up_s)
    load.start_statistics(engine.now)
    engine.run(until=warm_up_s + seconds)
    return load.reads / seconds


def test_one_user_is_fio_s_thinktime() -> None:
    """1 ms of service and 3 ms of thinking: 250 a second, and the thinking is in no latency."""
    engine = Engine()
    device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3))
    load = ThinkingLoad(engine, device, think=constant_think(3e-3), size=4096)
    assert run(load, engine, 0.4, 4.0) == pytest.approx(250.0, abs=0.5)
    assert load.read_latency.mean == pytest.approx(1e-3)


@pytest.mark.parametrize("users", [1, 4, 10, 40])
def test_the_interactive_response_time_law_holds(users: int) -> None:
    """R = N / X - Z; and X is that of the machine-repairman model, M/M/1 with N users."""
    service_s, think_s = 1e-3, 10e-3
    engine = Engine(3)
    services = iter(np.random.default_rng(1).exponential(service_s, 100_000).tolist())
    device = FixedServiceDevice(engine, "d0", 64 * MIB, lambda size, op: next(services))
    thought: list[float] = []

    def think() -> Iterator[float]:
        for pause_s in exponential_think(np.random.default_rng(2), think_s):
            thought.append(pause_s)
            yield pause_s

    load = ThinkingLoad(engine, device, think=think(), size=4096, depth=users)
    rate = run(load, engine, 1.0, 30.0)
    assert load.read_latency.mean == pytest.approx(users / rate - np.mean(thought), rel=0.02)
    # Exact mean value analysis of one queue (Reiser and Lavenberg 1980).
    queue = response_s = 0.0
    for n in range(1, users + 1):
        response_s = service_s * (1 + queue)
        queue = n / (response_s + think_s) * response_s
    assert rate == pytest.approx(users / (response_s + think_s), rel=0.03)
    assert load.read_latency.mean == pytest.approx(response_s, rel=0.06)


def test_users_think_each_by_himself() -> None:
    """Four users on four servers: each 250 a second, not all waiting for the slowest."""
    engine = Engine()
    device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3), 4)
    load = ThinkingLoad(engine, device, think=constant_think(3e-3), size=4096, depth=4)
    assert run(load, engine, 0.4, 2.0) == pytest.approx(1000.0, abs=2)
    assert load.thinking <= 4


def test_without_thinking_it_is_a_closed_load() -> None:
    """Counter-test: a think time of 0 keeps the device busy, as no think time does."""
    rates = []
    for thinking in (True, False):
        engine = Engine()
        device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3))
        load = (
            ThinkingLoad(engine, device, think=constant_think(0.0), size=4096, depth=3)
            if thinking
            else ClosedLoad(engine, device, size=4096, depth=3)
        )
        rates.append(run(load, engine, 0.0105, 1.0))
    assert rates == [1000.0, 1000.0]


def test_the_cpu_time_of_every_io_is_spent() -> None:
    """10 us to submit and 20 us to complete: a cycle of 1 + 3 + 0.03 ms, and the CPU is busy for 30 us of it."""
    engine = Engine()
    cpu = Cpu(engine, 1)
    device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3))
    load = ThinkingLoad(
        engine, device, think=constant_think(3e-3), size=4096, submit_s=10e-6, complete_s=20e-6, cpu=cpu
    )
    rate = run(load, engine, 0.403, 4.03)
    assert rate == pytest.approx(1 / 4.03e-3, rel=0.002)
    assert cpu.busy_s / engine.now == pytest.approx(30e-6 * rate, rel=0.01)


def test_a_stopped_load_sends_nothing_after_thinking() -> None:
    """Users who think when it stops do not come back."""
    engine = Engine()
    device = FixedServiceDevice(engine, "d0", 64 * MIB, linear_service(1e-3))
    load = ThinkingLoad(engine, device, think=constant_think(3e-3), size=4096)
    engine.run(until=0.002)
    load.stop()
    engine.run(until=1.0)
    assert (load.reads, load.thinking, device.outstanding) == (1, 0, 0)
