"""What is in a trace, and the load fitted to it: a trace made from known parameters gives them back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from raidsim.model.core.random_streams import RandomStreams
from raidsim.model.core.request import READ, WRITE
from raidsim.model.files.description_errors import validate
from raidsim.model.loads import arrivals
from raidsim.model.loads.locality import Hot, Places, Uniform
from raidsim.model.loads.pattern import LoadPattern
from raidsim.scenarios.description.load_parts import HistogramArrivals
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.traces.fitted import fitted_load
from raidsim.scenarios.traces.formats.record import TraceRecord
from raidsim.scenarios.traces.rates import Counts
from raidsim.scenarios.traces.summary import TraceSummary, summarised
from raidsim.scenarios.traces.touched import PIECE, TouchedPieces

GIB = 1 << 30
SPAN = 20 * GIB
IOPS = 400.0
SIZES = ({4096: 0.7, 65536: 0.3}, {8192: 1.0})


def made(number: int, gaps: Iterator[float], places: Places | None = None, **pattern: Any) -> TraceSummary:
    """The summary of a trace of `number` I/Os with these distances and places."""
    drawn = LoadPattern(0.7, SIZES, places or Uniform(), **pattern).ios(RandomStreams(3), "job", 0, SPAN)
    time_s = 0.0
    records = []
    for gap, (op, offset, size) in zip(gaps, islice(drawn, number), strict=False):
        time_s += gap
        records.append(TraceRecord(time_s, op, offset, size, "0"))
    first = records[0].time_s
    return summarised((record._replace(time_s=record.time_s - first) for record in records), "trace")


def fitted(summary: TraceSummary, tick_s: float = 0.0) -> tuple[dict[str, Any], LoadSpec]:
    """The load as YAML has it, and as raidsim takes it."""
    load = fitted_load(summary, "md0", tick_s)
    assert load is not None
    return load, validate(LoadSpec, load)


def poisson(seed: int = 1) -> Iterator[float]:
    """Distances of the rate of these tests."""
    return arrivals.poisson(RandomStreams(seed).generator("gaps"), IOPS)


@pytest.fixture(scope="module")
def plain() -> TraceSummary:
    """Random I/Os at random moments."""
    return made(20_000, poisson())


def test_rate_mix_and_sizes_come_back(plain: TraceSummary) -> None:
    """Protects the fit's first-order facts: rate, read share, sizes, span, and nothing that is not there."""
    load, spec = fitted(plain)
    assert spec.total_iops == pytest.approx(IOPS, rel=0.03)
    assert spec.read_share == pytest.approx(0.7, abs=0.015)
    read, write = spec.sizes
    assert read == pytest.approx(SIZES[READ], abs=0.015)
    assert write == SIZES[WRITE]
    assert load["arrivals"] == {"kind": "poisson"}
    assert load["pattern"] == "random"
    assert "locality" not in load
    assert load["align"] == "4KiB"
    assert spec.span == pytest.approx(SPAN, rel=0.001)


def test_the_summary_of_random_ios(plain: TraceSummary) -> None:
    """Protects what is printed: variation 1, nothing sequential, pieces as many as random places touch."""
    assert plain.gaps.variation == pytest.approx(1.0, abs=0.03)
    assert plain.sequential_share < 0.001
    pieces = SPAN // PIECE
    expected = pieces * (1 - (1 - 1 / pieces) ** 20_000)
    assert plain.touched.exact
    assert plain.touched.number == pytest.approx(expected, rel=0.02)
    assert IOPS < plain.peak_per_s < IOPS + 5 * IOPS**0.5


def test_runs_come_back() -> None:
    """Protects sequential_share and run_length."""
    load, spec = fitted(made(20_000, poisson(), order="mixed", sequential_share=0.6, run_length=6.0))
    assert load["pattern"] == "mixed"
    assert spec.sequential_share == pytest.approx(0.6, abs=0.04)
    assert spec.run_length == pytest.approx(6.0, rel=0.07)


def test_a_stream_in_order_is_sequential() -> None:
    """Protects the copy of one large file."""
    load, spec = fitted(made(2000, poisson(), order="sequential"))
    assert load["pattern"] == "sequential"
    assert spec.pattern == "sequential"


@pytest.mark.parametrize(("share", "of"), [(0.8, 0.2), (0.9, 0.05)])
def test_a_hot_part_comes_back(share: float, of: float) -> None:
    """Protects locality: the part that is hot, and its share of the I/Os (seen through pieces of 1 MiB)."""
    load, _ = fitted(made(40_000, poisson(), Hot(share, of, SPAN // 4096)))
    assert load["locality"]["kind"] == "hot"
    assert float(load["locality"]["share"][:-1]) / 100 == pytest.approx(share, abs=0.12)
    assert float(load["locality"]["of"][:-1]) / 100 == pytest.approx(of, rel=0.5)


def test_the_hot_part_of_four_pieces() -> None:
    """Protects both shares, by hand: 8 of 14 I/Os are in one piece of four, and as many as by chance in the others."""
    pieces = TouchedPieces()
    for piece in [0] * 8 + [1, 1, 2, 2, 3, 3]:
        pieces.add(0, piece * PIECE, 4096, counted=True)
    assert pieces.hot_part(4) == pytest.approx((4 / 7, 1 / 4))


def test_regular_distances_come_back() -> None:
    """Protects the clocked load, such as a camera's."""
    load, _ = fitted(made(2000, arrivals.constant(IOPS)))
    assert load["arrivals"] == {"kind": "constant"}


@pytest.mark.parametrize(("factor", "share", "length_s"), [(5.0, 0.1, 0.3), (3.0, 0.2, 0.5)])
def test_bursts_come_back(factor: float, share: float, length_s: float) -> None:
    """Protects the fit of bursts: how much more, in how much of the time, for how long."""
    gaps = arrivals.bursty(RandomStreams(2).generator("gaps"), IOPS, factor, share, length_s)
    load, _ = fitted(made(80_000, gaps))
    found = load["arrivals"]
    assert found["kind"] == "bursty"
    assert found["burst_factor"] == pytest.approx(factor, rel=0.25)
    assert float(found["burst_share"][:-1]) / 100 == pytest.approx(share, rel=0.35)
    assert float(found["burst_length"][:-1]) == pytest.approx(length_s, rel=0.4)


def test_independent_distances_come_back_as_a_histogram() -> None:
    """Protects distances of two kinds that know nothing of each other: these are no bursts."""
    gaps = arrivals.listed(RandomStreams(4).generator("gaps"), [0.0005] * 9 + [0.02])
    summary = made(20_000, gaps)
    load, spec = fitted(summary)
    assert load["arrivals"]["kind"] == "histogram"
    assert isinstance(spec.arrivals, HistogramArrivals)
    again = arrivals.histogram(RandomStreams(5).generator("gaps"), spec.arrivals.gaps or {})
    assert made(20_000, again).gaps.variation == pytest.approx(summary.gaps.variation, rel=0.1)


def test_a_coarse_clock_says_nothing_about_arrivals() -> None:
    """Protects traces in whole seconds, whose I/Os only seem to come in bursts."""
    load, _ = fitted(made(2000, iter([0.0, 0.0, 0.0, 1.0] * 500)), tick_s=1.0)
    assert load["arrivals"] == {"kind": "poisson"}


def test_no_load_without_times() -> None:
    """Protects against a rate out of nothing."""
    assert fitted_load(summarised([TraceRecord(0.0, READ, 0, 512, "0")] * 5, "trace"), "md0") is None


def test_many_sizes_keep_their_bytes() -> None:
    """Protects the mean size when a hundred sizes become sixteen."""
    records = [TraceRecord(i / 100, WRITE, 0, 512 * (1 + i * i % 211), "0") for i in range(3000)]
    _, spec = fitted(summarised(records, "trace"))
    assert len(spec.sizes[WRITE]) <= 16
    assert spec.mean_size == pytest.approx(sum(record.size for record in records) / 3000, rel=0.02)


def test_every_device_has_its_own_figures() -> None:
    """Protects sequentiality from devices whose I/Os alternate."""
    records = [TraceRecord(i / 10, i % 2, 4096 * (i // 2), 4096, "ab"[i % 2]) for i in range(100)]
    summary = summarised(records, "trace")
    assert summary.sequential_share == pytest.approx(0.98)
    assert list(summary.devices) == ["a", "b"]
    assert summary.devices["a"].read_share == 1.0
    assert summary.devices["b"].bytes == [0, 50 * 4096]
    assert summary.devices["b"].gaps.variation == pytest.approx(0, abs=1e-6)


def test_windows_are_counted_right() -> None:
    """Protects the moments of counts in windows against a plain count."""
    times = [0.0001, 0.0002, 0.0035, 0.0041, 0.0199, 0.02, 0.0639]
    counts = Counts()
    for time_s in times:
        counts.add(time_s)
    duration_s = 0.064
    for length_s, windows, mean, variance, third in counts.moments(duration_s):
        numbers = [sum(int(time / length_s) == i for time in times) for i in range(round(windows))]
        average = sum(numbers) / len(numbers)
        assert mean == pytest.approx(average)
        assert variance == pytest.approx(sum((n - average) ** 2 for n in numbers) / len(numbers))
        assert third == pytest.approx(sum((n - average) ** 3 for n in numbers) / len(numbers))


def test_a_large_working_set_is_estimated() -> None:
    """Protects memory: with room for a thousand pieces 50,000 are estimated to a tenth, and said to be."""
    touched = TouchedPieces(most=1000)
    for piece in range(50_000):
        touched.add(0, piece * PIECE, 2 * PIECE, counted=True)
    assert not touched.exact
    assert touched.number == pytest.approx(50_001, rel=0.1)


@pytest.mark.parametrize("offset", [0, 1, (1 << 63) - 4096])
@pytest.mark.parametrize("gap_s", [1e-9, 1e-5, 1e6])
@pytest.mark.parametrize("size", [1, 700, 4096])
def test_extreme_traces_have_a_load_that_is_one(offset: int, gap_s: float, size: int) -> None:
    """Protects the promise that `raidsim run` takes the load, or that there is none, at the ends of all ranges."""
    records = [TraceRecord(i * gap_s, i % 2, offset, size, str(i % 3)) for i in range(300)]
    load = fitted_load(summarised(records, "trace"), "md0")
    assert (load is None) == (gap_s == 1e-9)
    assert load is None or validate(LoadSpec, load).total_iops == pytest.approx(1 / gap_s, rel=1e-5)
