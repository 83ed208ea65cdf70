"""Percentiles against numpy, intervals against known truths, and the wording of the bottleneck."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as scipy_t

from raidsim.model.statistics import BatchMeans, BatchRates, LatencyHistogram, Usage, bottleneck
from raidsim.model.statistics.batch_means import student_t
from raidsim.model.statistics.latency_histogram import BINS_PER_GROUP, GROUPS, bin_middle_ns, bin_of_ns
from raidsim.model.statistics.usage import WayUsage


@given(st.integers(min_value=0, max_value=2**62))
def test_a_bin_stands_for_what_it_counts(nanoseconds: int) -> None:
    """Protects fio's bins: exact below 128 ns, within 1/128 above, and never out of the table."""
    index = bin_of_ns(nanoseconds)
    assert 0 <= index < GROUPS * BINS_PER_GROUP
    error = abs(bin_middle_ns(index) - nanoseconds)
    assert error == 0 if nanoseconds < 128 else error <= nanoseconds / 128


@pytest.mark.parametrize(
    ("nanoseconds", "index"), [(63, 63), (127, 127), (128, 128), (130, 129), (255, 191), (256, 192)]
)
def test_bins_are_those_of_fio(nanoseconds: int, index: int) -> None:
    """Protects comparing bin by bin with fio: indices worked out by hand from plat_val_to_idx."""
    assert bin_of_ns(nanoseconds) == index


@given(st.lists(st.integers(min_value=0, max_value=2**40), min_size=1, max_size=40))
def test_the_vectorised_count_is_the_bin_of_each(values: list[int]) -> None:
    """Protects the fast path against the definition, one value at a time."""
    histogram = LatencyHistogram()
    for value in values:
        histogram.add(value * 1e-9)
    expected = np.bincount([bin_of_ns(value) for value in values], minlength=GROUPS * BINS_PER_GROUP)
    assert histogram.counts.tolist() == expected.tolist()
    assert sum(count for _, count in histogram.bins()) == len(values)


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0])
def test_percentiles_agree_with_numpy(spread: float) -> None:
    """Protects percentiles over nine orders of magnitude. With 19,997 latencies no rank falls between two of them."""
    data = np.random.default_rng(7).lognormal(math.log(5e-3), spread, 19_997)
    histogram = LatencyHistogram()
    for value in data.tolist():
        histogram.add(value)
    for percent in (0, 1, 25, 50, 90, 99, 99.9, 99.99, 100):
        exact = float(np.percentile(data, percent, method="inverted_cdf"))
        assert histogram.percentile(percent) == pytest.approx(exact, rel=1 / 64)
    assert histogram.count == data.size
    assert histogram.mean == pytest.approx(data.mean(), rel=1e-6)
    assert (histogram.min, histogram.max) == (data.min(), data.max())


def test_merging_is_counting_together() -> None:
    """Protects sums over devices and workers: order and division do not matter, to the last bit."""
    data = np.random.default_rng(3).exponential(0.01, 9_000).tolist()
    whole, first, second = LatencyHistogram(), LatencyHistogram(), LatencyHistogram()
    for i, value in enumerate(data):
        whole.add(value)
        (first if i % 3 else second).add(value)
    first.merge(second)
    assert (first.counts == whole.counts).all()
    assert (first.mean, first.min, first.max) == (whole.mean, whole.min, whole.max)


def test_an_empty_histogram_and_a_bad_latency() -> None:
    """Protects against an invented 0 s where nothing ran, and against negative or undefined latencies."""
    empty = LatencyHistogram()
    assert all(math.isnan(value) for value in (empty.mean, empty.min, empty.max, empty.percentile(50)))
    for bad in (-1e-9, math.nan):
        histogram = LatencyHistogram()
        histogram.add(bad)
        with pytest.raises(ValueError, match="latency"):
            histogram.percentile(50)
    with pytest.raises(ValueError, match="0 to 100"):
        empty.percentile(101)


def autoregressive(rng: np.random.Generator, count: int, correlation: float, start: float) -> list[float]:
    """An AR(1) series of mean 10."""
    values, value = [], start
    for noise in rng.standard_normal(count).tolist():
        value = correlation * value + noise
        values.append(value + 10)
    return values


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_intervals_cover_as_often_as_they_say(correlation: float) -> None:
    """Protects the confidence interval: 90 % of them hold the true mean although neighbors depend on each other."""
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(150):
        batches = BatchMeans()
        for value in autoregressive(rng, 8_000, correlation, 0.0):
            batches.add(value)
        estimate = batches.estimate(0.9)
        covered += estimate.low <= 10 <= estimate.high
        assert estimate.batches >= 16
    assert 0.80 <= covered / 150 <= 0.97


def test_independent_observations_would_claim_too_much() -> None:
    """Protects the point of batching: the naive interval of the same series is several times too narrow."""
    values = autoregressive(np.random.default_rng(5), 20_000, 0.9, 0.0)
    batches = BatchMeans()
    for value in values:
        batches.add(value)
    naive = 1.645 * float(np.std(values)) / math.sqrt(len(values))
    assert batches.estimate(0.9).half_width > 2.5 * naive


def test_warmup_is_cut() -> None:
    """Protects the mean from a start far away from the steady state."""
    values = autoregressive(np.random.default_rng(2), 20_000, 0.99, 500.0)
    batches = BatchMeans()
    for value in values:
        batches.add(value)
    estimate = batches.estimate()
    assert 0 < estimate.warmup < 0.3
    assert abs(estimate.mean - 10) < abs(float(np.mean(values)) - 10)


def test_a_rate_is_the_mean_of_what_each_second_had() -> None:
    """Protects the interval of a rate: the batches are those of equal time, to the last amount."""
    rng, rates, means = np.random.default_rng(4), BatchRates(batch_s=1.0), BatchMeans()
    for second in range(40):
        amounts = rng.exponential(10.0, 4).tolist()
        for place, amount in enumerate(amounts):
            rates.add(second + 0.25 * place, amount)
        means.add(sum(amounts))
    assert rates.estimate(40.0) == means.estimate()


def test_rates_in_equal_time() -> None:
    """Protects bytes per second: a steady stream, silences, any run length, and flat memory."""
    steady = BatchRates(start=5.0)
    for i in range(100_000):
        steady.add(5.0 + i * 1e-3, 4096)
    estimate = steady.estimate(105.0)
    assert estimate.mean == pytest.approx(4096e3, rel=0.01)
    assert estimate.relative < 0.01
    assert len(steady._amounts) <= 512
    sparse = BatchRates()
    for i in range(1000):
        sparse.add(i * 100.0 + 50, 7.0)
    assert sparse.estimate(100_000.0).mean == pytest.approx(0.07, rel=0.05)


@given(st.lists(st.floats(min_value=0, max_value=50), min_size=1, max_size=60))
def test_no_amount_is_lost_when_batches_are_joined(gaps: list[float]) -> None:
    """Protects the joining of batches: closed batches and the one under way hold all that was added."""
    rates, now = BatchRates(), 0.0
    for gap in gaps:
        now += gap
        rates.add(now, 3.0)
    assert sum(rates._amounts) + rates._sum == 3.0 * len(gaps)
    assert len(rates._amounts) <= 512
    assert rates._start + len(rates._amounts) * rates._batch_s <= now < rates._end


def test_too_little_to_tell_and_nothing_that_varies() -> None:
    """Protects against a confident interval from three batches, and against an infinite one without any scatter."""
    few, constant = BatchMeans(), BatchMeans()
    for value in (1.0, 2.0, 3.0):
        few.add(value)
    assert few.estimate().mean == 2.0
    assert few.estimate().half_width == math.inf
    assert math.isnan(BatchMeans().estimate().mean)
    for _ in range(5_000):
        constant.add(0.1)
    assert constant.estimate().mean == pytest.approx(0.1)
    assert constant.estimate().relative == 0
    assert not constant.estimate().correlated


def test_a_run_that_is_too_short_says_so() -> None:
    """Protects against trusting the interval of a series that only drifts."""
    drift = BatchMeans()
    for i in range(2_000):
        drift.add(float(i))
    assert drift.estimate().correlated


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.99])
def test_students_t_agrees_with_scipy(confidence: float) -> None:
    """Protects the quantile that saves importing scipy at every start."""
    for freedom in (4, 5, 8, 15, 63):
        exact = float(scipy_t.ppf((1 + confidence) / 2, freedom))
        assert student_t((1 + confidence) / 2, freedom) == pytest.approx(exact, rel=0.005)


def test_the_bottleneck_is_named() -> None:
    """Protects the wording for one busy part, several that share the load, none, and a CPU that is called cpu."""
    bus = Usage("pci", "link", 0.97)
    disks = [Usage(f"sd{letter}", "disk", busy) for letter, busy in zip("abc", (0.93, 0.94, 0.6), strict=True)]
    assert bottleneck([*disks, bus]) == "link pci (97 % busy)"
    assert bottleneck(disks) == "2 disks (sda, sdb: 93 to 94 % busy)"
    assert bottleneck([Usage(f"disk{n}", "disk", 0.9) for n in (10, 2)]) == "2 disks (disk2, disk10: 90 % busy)"
    assert bottleneck([Usage("cpu", "cpu", 1.0)]) == "cpu (100 % busy)"
    dies = (WayUsage("flash dies", 0.9, 0.0), WayUsage("controller", 0.4, 0.0))
    flash = [Usage(f"nvme{n}", "SSD", 0.9, ways=dies) for n in (0, 1)]
    assert bottleneck(flash) == "2 SSDs (nvme0, nvme1: flash dies 90 % busy)"
    idle = bottleneck([Usage("sda", "disk", 0.5), Usage("cpu", "cpu", 0.2)])
    assert idle == "latency of one I/O after the other; busiest is disk sda (50 % busy)"
    known = bottleneck([Usage("sda", "disk", 0.5)], "seek: 61 % of a read's time")
    assert known == "seek: 61 % of a read's time; busiest is disk sda (50 % busy)"
    assert bottleneck([Usage("sda", "disk", 0.95)], "seek: 61 % of a read's time") == "disk sda (95 % busy)"
    assert bottleneck([]) == bottleneck([Usage("sda", "disk", 0.0)]) == "nothing was busy"


def test_a_saturated_link_comes_before_the_disks_that_wait_for_it() -> None:
    """Protects the cause from its victims: disks on a full bus are busy waiting for it, and must not be blamed."""
    disks = [Usage("sda", "disk", 1.0), Usage("sdb", "disk", 0.99)]
    assert bottleneck([*disks, Usage("pci", "link", 0.98)]) == "link pci (98 % busy)"
    assert bottleneck([*disks, Usage("pci", "link", 0.96)]) == "2 disks (sda, sdb: 99 to 100 % busy)"
    idle = bottleneck([Usage("sda", "disk", 0.5), Usage("pci", "link", 0.49)])
    assert idle.endswith("busiest is disk sda (50 % busy)"), "where nothing is full nobody waits"
