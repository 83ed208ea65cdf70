"""The known-service device against queueing theory."""

from collections.abc import Callable

import numpy as np
import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import READ, WRITE, Request

SERVICE = 0.01
COUNT = 200_000


def _run(
    service_s: Callable[[int, int], float], gaps: np.ndarray, servers: int = 1
) -> tuple[Engine, FixedServiceDevice, list[float]]:
    engine = Engine(1)
    device = FixedServiceDevice(engine, "oracle", 1 << 30, service_s, servers)
    latencies: list[float] = []
    arrivals = iter(np.cumsum(gaps).tolist())

    def done(request: Request) -> None:
        latencies.append(engine.now - request.submitted)

    def arrive(_: object) -> None:
        device.submit(Request(READ, 0, 4096, done))
        following = next(arrivals, None)
        if following is not None:
            engine.call_at(following, arrive)

    engine.call_at(next(arrivals), arrive)
    engine.run()
    return engine, device, latencies


def test_d_d_1_never_waits() -> None:
    """Arrivals every 12 ms at a server of 10 ms: nobody waits, and the server is busy 10/12 of the time."""
    engine, device, latencies = _run(linear_service(SERVICE), np.full(1000, 0.012))
    assert latencies == pytest.approx([SERVICE] * 1000)
    assert device.service_sum_s / engine.now == pytest.approx(10 / 12, rel=1e-2)
    assert device.busy_s == pytest.approx(device.service_sum_s)


def test_m_d_1_mean_wait() -> None:
    """Pollaczek-Khinchine: the mean wait is rho S / (2 (1 - rho)); 20 ms at 80 % load of a 10 ms server."""
    gaps = np.random.default_rng(1).exponential(SERVICE / 0.8, COUNT)
    _, _, latencies = _run(linear_service(SERVICE), gaps)
    assert np.mean(latencies) == pytest.approx(SERVICE + 0.8 * SERVICE / (2 * 0.2), rel=0.03)


def test_m_m_1_mean_time_in_system() -> None:
    """S / (1 - rho): 33.3 ms at 70 % load; more than M/D/1 has, since random service adds to the wait."""
    rng = np.random.default_rng(2)
    gaps = rng.exponential(SERVICE / 0.7, COUNT)
    services = iter(rng.exponential(SERVICE, COUNT).tolist())
    _, _, latencies = _run(lambda size, op: next(services), gaps)
    assert np.mean(latencies) == pytest.approx(SERVICE / 0.3, rel=0.03)


def test_littles_law() -> None:
    """The sum of latencies over time equals the mean number of requests inside, here by M/M/1 rho / (1 - rho)."""
    rng = np.random.default_rng(3)
    services = iter(rng.exponential(SERVICE, COUNT).tolist())
    engine, device, _ = _run(lambda size, op: next(services), rng.exponential(SERVICE / 0.5, COUNT))
    assert device.latency_s / engine.now == pytest.approx(1.0, rel=0.03)


def test_servers_work_side_by_side() -> None:
    """Four requests at once take one service time on four servers and four on one."""
    for servers, last in ((4, SERVICE), (1, 4 * SERVICE)):
        _, _, latencies = _run(linear_service(SERVICE), np.array([0.0] * 4), servers)
        assert max(latencies) == pytest.approx(last)


def test_size_costs_and_is_counted() -> None:
    """1 ms and 1 us a byte: 4,096 bytes take 5.096 ms; reads and writes are counted apart."""
    engine = Engine()
    device = FixedServiceDevice(engine, "d", 8192, linear_service(0.001, 1e-6))
    device.submit(Request(WRITE, 4096, 4096, lambda request: None))
    engine.run()
    assert engine.now == pytest.approx(0.005096)
    assert (device.reads, device.writes, device.write_bytes) == (0, 1, 4096)


def test_requests_outside_are_refused() -> None:
    """An I/O past the end is an error."""
    device = FixedServiceDevice(Engine(), "d", 8192, linear_service(0.001))
    with pytest.raises(ModelError, match="capacity"):
        device.submit(Request(READ, 8192, 1, lambda request: None))


def test_one_event_per_request() -> None:
    """The budget of the hot path: a completion and nothing else."""
    engine = Engine()
    device = FixedServiceDevice(engine, "d", 8192, linear_service(0.001))
    for _ in range(10):
        device.submit(Request(READ, 0, 512, lambda request: None))
    engine.run()
    assert engine.scheduled_events == 10
