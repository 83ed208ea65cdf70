"""Latencies and intervals as values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from ..model.statistics.batch_means import Estimate
from ..scenarios.running.base.prediction import LatencyBins
from .answer.numbers import milliseconds, number

_PERCENTS = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p999": 99.9}
_KEYS = {"mean": "mean_s", "p50": "p50_s", "p90": "p90_s", "p99": "p99_s", "p999": "p99.9_s", "max": "max_s"}


@dataclass(frozen=True, slots=True)
class Latency:
    """Latencies of some I/Os, in seconds; NaN if there was no I/O, infinite if the load saturates the machine.

    Attributes
    ----------
    mean
        Mean latency.
    p50, p90, p99, p999
        The latency that 50, 90, 99 and 99.9 % of the I/Os do not exceed.
    max
        The longest.
    """

    mean: float
    p50: float
    p90: float
    p99: float
    p999: float
    max: float

    def __repr__(self) -> str:
        return f"Latency(mean {milliseconds(self.mean)}, p50 {milliseconds(self.p50)}, p99 {milliseconds(self.p99)})"


@dataclass(frozen=True, slots=True)
class Direction:
    """The reads or the writes of a run.

    Attributes
    ----------
    iops
        I/Os per second.
    latency
        Their latencies (s).
    """

    iops: float
    latency: Latency


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and how well it is known.

    Attributes
    ----------
    value
        The value, in SI units.
    low, high
        Ends of the interval; infinite if nothing is known of it.
    confidence
        Probability that the interval covers the true value, such as 0.9.
    """

    value: float
    low: float
    high: float
    confidence: float = 0.9

    def __repr__(self) -> str:
        known = f"{number(self.low)} to {number(self.high)}" if math.isfinite(self.low) else "interval not known"
        return f"Interval({number(self.value)}, {known}, {100 * self.confidence:.0f} %)"

    def to_dict(self) -> dict[str, float]:
        """The same as plain data."""
        return asdict(self)


NOTHING = Latency(*[math.nan] * 6)
ENDLESS = Latency(*[math.inf] * 6)


def latency_of(figures: Mapping[str, float]) -> Latency:
    """The latencies of one direction."""
    return Latency(**{name: figures[key] for name, key in _KEYS.items()})


def latency_of_all(latencies: Mapping[str, Mapping[str, float]], bins: Mapping[str, LatencyBins]) -> Latency:
    """The latencies of all directions together; percentiles by nearest rank in the bins of all of them."""
    there = [each for each in latencies.values() if each["n"]]
    if len(there) < 2:
        return latency_of(there[0]) if there else NOTHING
    count = math.fsum(each["n"] for each in there)
    mean = math.fsum(each["n"] * each["mean_s"] for each in there) / count
    most = max(each["max_s"] for each in there)
    merged = sorted(pair for of_op in bins.values() for pair in of_op)
    percentiles = {name: min(_percentile(merged, percent), most) for name, percent in _PERCENTS.items()}
    return Latency(mean=mean, max=most, **percentiles)


def _percentile(bins: Iterable[tuple[float, float]], percent: float) -> float:
    """The latency (s) of the nearest rank."""
    bins = list(bins)
    wanted = percent / 100 * math.fsum(count for _, count in bins) * (1 - 1e-9)
    reached = 0.0
    for seconds, count in bins:
        reached += count
        if reached >= wanted:
            return seconds
    return math.nan


def interval_of(value: float, estimate: Estimate | None) -> Interval:
    """The interval of an estimate, or none around the value."""
    if estimate is None or not math.isfinite(estimate.half_width):
        return Interval(value, -math.inf, math.inf)
    return Interval(estimate.mean, estimate.low, estimate.mean + estimate.half_width, estimate.confidence)
