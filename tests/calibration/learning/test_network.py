"""Closed networks of queues: laws, limits and another solution."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.calibration.learning.network import Station, solve


def at(value: float) -> np.ndarray:
    """A number as the solver takes it."""
    return np.array([value])


def exact(demands: list[float], delay: float, outstanding: int) -> float:
    """Rate by exact mean value analysis (Reiser and Lavenberg 1980), stations of one server."""
    queues = [0.0] * len(demands)
    rate = 0.0
    for customers in range(1, outstanding + 1):
        responses = [demand * (1 + queue) for demand, queue in zip(demands, queues, strict=True)]
        rate = customers / (delay + sum(responses))
        queues = [rate * response for response in responses]
    return rate


@pytest.mark.parametrize("outstanding", [1, 2, 5, 16, 200])
@pytest.mark.parametrize("demands", [[1e-3], [1e-3, 1e-3, 1e-3], [2e-3, 1e-4], [1e-5, 2e-5, 3e-5]])
def test_rates_are_near_those_of_the_exact_analysis(demands: list[float], outstanding: int) -> None:
    """Protects the approximation: within 7 % of exact mean value analysis, and exact for one I/O."""
    stations = [Station(at(demand), at(demand), at(1)) for demand in demands]
    found = solve(stations, at(1e-3), at(1e-3), at(0.5), at(outstanding))
    wanted = exact(demands, 1e-3, outstanding)
    assert found.rate[0] == pytest.approx(wanted, rel=1e-9 if outstanding == 1 else 0.07)


def test_littles_law_holds_for_any_mix() -> None:
    """Protects from lost time: I/Os outstanding are rate times mean response, whatever the parameters."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        times = 10 ** rng.uniform(-6, -2, 8)
        servers = rng.uniform(1, 50, 3)
        stations = [Station(at(times[k]), at(times[k + 3]), at(servers[k])) for k in range(3)]
        share, outstanding = rng.uniform(0, 1), float(rng.integers(1, 1000))
        found = solve(stations, at(times[6]), at(times[7]), at(share), at(outstanding))
        mean = share * found.read[0] + (1 - share) * found.write[0]
        assert found.rate[0] * mean == pytest.approx(outstanding, rel=1e-6)


def test_more_outstanding_is_never_slower_and_ends_at_the_slowest_station() -> None:
    """Protects the limits: rates rise with the I/Os outstanding up to one over the largest demand."""
    stations = [Station(at(1e-4), at(3e-4), at(8)), Station(at(2e-4), at(0), at(2))]
    rates = [float(solve(stations, at(1e-3), at(1e-3), at(0.5), at(n)).rate[0]) for n in (1, 2, 4, 16, 64, 512, 1e6)]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(1 / 2e-4, rel=1e-3)
    assert rates[0] == pytest.approx(1 / (1e-3 + 8 * 2e-4 + 2 * 1e-4), rel=1e-9)


def test_a_station_that_writes_alone_visit_holds_up_no_read() -> None:
    """Protects full-duplex links: reads do not wait behind writes on a path of writes; on a shared one they do."""
    own = [Station(at(0), at(1e-3), at(1))]
    shared = [Station(at(1e-3), at(1e-3), at(1))]
    found = [solve(stations, at(1e-4), at(1e-4), at(0.1), at(64)) for stations in (own, shared)]
    assert found[0].read[0] == pytest.approx(1e-4)
    assert found[1].read[0] > 0.05


def test_servers_that_share_a_queue_wait_less_and_saturate_alike() -> None:
    """Protects the knee: below saturation a shared queue is shorter, as Sakasegawa's formula says; the end is one."""
    stations = [Station(at(1e-4), at(1e-4), at(4))]

    def rate(outstanding: int, sharing: float) -> float:
        return float(solve(stations, at(0), at(0), at(1), at(outstanding), at(sharing)).rate[0])

    for outstanding in (2, 8, 32):
        assert rate(outstanding, 1) < rate(outstanding, 4) < min(outstanding / 4e-4, 1e4)
    assert rate(1, 4) == pytest.approx(rate(1, 1))
    assert rate(10**6, 4) == pytest.approx(1e4, rel=1e-3)
    utilization = 7 / 8 * 1e-4 * rate(8, 4)
    waits = utilization ** (np.sqrt(10) - 1) / (4 * (1 - utilization))
    assert 8 / rate(8, 4) == pytest.approx(4e-4 * (1 + waits), rel=1e-5)


def test_a_buffer_makes_one_write_as_fast_as_many() -> None:
    """Protects the write buffer: spread over all servers, one write outstanding has their rate. Reads do not gain."""
    alone, buffered = (Station(at(1e-4), at(1e-4), at(8), each) for each in (None, at(1.0)))

    def rate(station: Station, share: float, outstanding: int) -> float:
        return float(solve([station], at(0), at(0), at(share), at(outstanding)).rate[0])

    assert rate(buffered, 0, 1) == pytest.approx(1e4)
    assert rate(alone, 0, 1) == pytest.approx(1e4 / 8)
    assert rate(buffered, 1, 1) == pytest.approx(rate(alone, 1, 1))
    assert rate(buffered, 0, 10**6) == pytest.approx(rate(alone, 0, 10**6), rel=1e-3)
