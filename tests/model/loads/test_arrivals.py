"""Moments of open loads against the theory of point processes; every seed is fixed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.loads.arrivals import bursty, constant, exponential_think, histogram, listed
from raidsim.model.loads.open_load import OpenLoad

MIB = 1 << 20


def first(gaps: Iterator[float], count: int) -> NDArray[np.float64]:
    """The first `count` distances."""
    return np.fromiter(islice(gaps, count), dtype=float, count=count)


def random(seed: int = 1) -> np.random.Generator:
    """Random numbers."""
    return np.random.default_rng(seed)


def counts(gaps: NDArray[np.float64], window_s: float) -> NDArray[np.int64]:
    """Arrivals in windows of equal length."""
    times = np.cumsum(gaps)
    return np.bincount((times / window_s).astype(int))[:-1]


def test_constant_arrivals_are_equally_far_apart_and_jobs_take_turns() -> None:
    """100 a second: every 10 ms; the second of four jobs begins at half of the distance."""
    assert first(constant(100.0), 3) == pytest.approx([0.01] * 3)
    assert first(constant(100.0, 0.5), 3) == pytest.approx([0.005, 0.01, 0.01])


def test_bursts_keep_the_mean_rate_and_have_the_dispersion_of_the_cookbook() -> None:
    """Variance over mean of the numbers in long windows: 1 + 2 d^2 (AB)^2 / (A + B)^3 / r of the two-state MMPP."""
    rate, factor, share, length_s = 200.0, 4.0, 0.2, 0.05
    gaps = first(bursty(random(), rate, factor, share, length_s), 400_000)
    assert 1 / gaps.mean() == pytest.approx(rate, rel=0.02)
    calm_s = length_s * (1 - share) / share
    difference = rate * (factor - 1) / (1 - share)
    both_s = length_s + calm_s
    theory = 1 + 2 * difference**2 * (length_s * calm_s) ** 2 / both_s**3 / rate
    seen = counts(gaps, 10 * both_s)
    assert theory > 9
    assert seen.var() / seen.mean() == pytest.approx(theory, rel=0.1)


def test_bursts_of_factor_one_are_a_poisson_process() -> None:
    """Counter-test: without a difference of rates the distances are exponential and the dispersion is 1."""
    gaps = first(bursty(random(2), 200.0, 1.0, 0.2, 0.05), 100_000)
    assert stats.kstest(gaps, "expon", args=(0, 1 / 200)).pvalue > 0.01
    seen = counts(gaps, 1.0)
    assert seen.var() / seen.mean() == pytest.approx(1.0, abs=0.15)


def test_nothing_comes_between_bursts_that_hold_everything() -> None:
    """Factor 5 in 20 % of the time: distances are those within bursts, or as long as a calm time."""
    gaps = first(bursty(random(), 1000.0, 5.0, 0.2, 0.1), 200_000)
    long = gaps[gaps > 0.005]
    assert 1 / gaps.mean() == pytest.approx(1000.0, rel=0.1)
    assert long.mean() == pytest.approx(0.4, rel=0.15)  # calm times of 0.4 s on average
    assert np.median(gaps) == pytest.approx(np.log(2) / 5000, rel=0.02)


def test_a_histogram_is_met_class_by_class() -> None:
    """Shares of the classes by chi-square, and even within a class; a scale stretches everything."""
    gaps = first(histogram(random(), {0.001: 0.5, 0.004: 0.3, 0.01: 0.2}), 50_000)
    seen = np.histogram(gaps, [0, 0.001, 0.004, 0.01])[0]
    assert stats.chisquare(seen, np.array([0.5, 0.3, 0.2]) * 50_000).pvalue > 0.01
    inside = gaps[(gaps > 0.001) & (gaps <= 0.004)]
    assert stats.kstest(inside, "uniform", args=(0.001, 0.003)).pvalue > 0.01
    assert first(histogram(random(), {0.001: 1.0}, 3.0), 100).max() == pytest.approx(0.003, rel=0.05)


def test_listed_times_are_all_as_likely() -> None:
    """Three distances, a third each."""
    seen = first(listed(random(), [0.001, 0.002, 0.005], 2.0), 30_000)
    values, times = np.unique(seen, return_counts=True)
    assert values == pytest.approx([0.002, 0.004, 0.01])
    assert stats.chisquare(times).pvalue > 0.01


def test_times_of_thinking_are_exponential() -> None:
    """Kolmogorov and Smirnov agree."""
    assert stats.kstest(first(exponential_think(random(), 0.02), 20_000), "expon", args=(0, 0.02)).pvalue > 0.01


def mean_wait(gaps: Iterator[float] | None) -> float:
    """Mean time in an M/M/1 queue of 1 ms under 500 a second (s)."""
    engine = Engine(5)
    served = np.random.default_rng(7)
    services = iter(served.exponential(1e-3, 200_000).tolist())
    device = FixedServiceDevice(engine, "d0", 64 * MIB, lambda size, op: next(services))
    load = OpenLoad(engine, device, size=4096, iops=500.0, gaps=gaps)
    engine.run(until=10.0)
    load.start_statistics(engine.now)
    engine.run(until=130.0)
    return load.read_latency.mean


def test_bursts_wait_longer_than_poisson_arrivals_and_equal_ones_less() -> None:
    """M/M/1 at half load takes 2 ms; bursts that double the rate fill the queue; D/M/1 takes 1.255 ms."""
    poisson = mean_wait(None)
    assert poisson == pytest.approx(2e-3, rel=0.05)
    assert mean_wait(bursty(random(), 500.0, 2.0, 0.3, 0.1)) > 2 * poisson
    # D/M/1: the time is s / (1 - q) with q = exp(-(1 - q) / load); q = 0.2032 at half load.
    assert mean_wait(constant(500.0)) == pytest.approx(1e-3 / (1 - 0.2032), rel=0.03)


def test_bursts_of_factor_one_wait_as_poisson_arrivals_do() -> None:
    """Counter-test: 2 ms again."""
    assert mean_wait(bursty(random(), 500.0, 1.0, 0.3, 0.1)) == pytest.approx(2e-3, rel=0.05)
