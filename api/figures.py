"""Latencies and intervals as values, and the figures of a run and of a design by the names that people try first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from ..model.statistics.batch_means import Estimate
from ..model.statistics.usage import Usage, limit
from ..scenarios.comparison.array_facts import array_facts
from ..scenarios.description.scenario import ScenarioSpec
from ..scenarios.questions.without_waits import longest_waits
from ..scenarios.running.base.power import drive_power
from ..scenarios.running.base.prediction import LatencyBins, Prediction
from .answer.numbers import PERCENT, milliseconds, number
from .base import Proposing

_PERCENTS = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p999": 99.9}
_KEYS = {"mean": "mean_s", "p50": "p50_s", "p90": "p90_s", "p99": "p99_s", "p999": "p99.9_s", "max": "max_s"}


@dataclass(frozen=True, slots=True)
class Latency(Proposing):
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
class Direction(Proposing):
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
class Interval(Proposing):
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


class NamedLatencies(Proposing):
    """Latencies of reads and writes by name; NaN if there was no such I/O."""

    def _latency(self, op: str, name: str) -> float:
        raise NotImplementedError

    @property
    def read_mean(self) -> float:
        """Mean latency (s) of the reads."""
        return self._latency("read", "mean")

    @property
    def read_p99(self) -> float:
        """The latency (s) that 99 % of the reads do not exceed."""
        return self._latency("read", "p99")

    @property
    def write_mean(self) -> float:
        """Mean latency (s) of the writes."""
        return self._latency("write", "mean")

    @property
    def write_p99(self) -> float:
        """The latency (s) that 99 % of the writes do not exceed."""
        return self._latency("write", "p99")


class RunFigures(NamedLatencies):
    """What a run gave, figure by figure."""

    prediction: Prediction
    spec: ScenarioSpec

    @property
    def iops(self) -> float:
        """I/Os per second, reads and writes together."""
        return math.fsum(self.prediction.iops.values())

    @property
    def throughput(self) -> float:
        """Bytes per second, reads and writes together."""
        return self.prediction.rate

    @property
    def reads(self) -> Direction:
        """The reads."""
        return self.direction("read")

    @property
    def writes(self) -> Direction:
        """The writes."""
        return self.direction("write")

    def direction(self, op: str) -> Direction:
        """The I/Os of one kind: "read", "write" or "discard"."""
        figures = self.prediction.latencies.get(op)
        latency = NOTHING if figures is None or not figures["n"] else latency_of(figures)
        return Direction(self.prediction.iops.get(op, 0.0), ENDLESS if self.saturated else latency)

    @property
    def latency(self) -> Latency:
        """Latencies (s) of all I/Os; infinite if the load saturates the machine."""
        found = self.prediction
        return ENDLESS if self.saturated else latency_of_all(found.latencies, found.latency_bins)

    @property
    def saturated(self) -> bool:
        """Whether more I/Os are sent than the machine serves, so that the queue grows without end."""
        return self.prediction.saturated

    @property
    def offered_iops(self) -> float | None:
        """I/Os per second that an open load sends; None if the load keeps a number outstanding instead."""
        return self.prediction.offered_iops

    @property
    def lost_iops(self) -> float | None:
        """I/Os per second that an open load sends and the machine never serves; None of other loads."""
        return self.prediction.lost_iops

    @property
    def bottleneck(self) -> str:
        """The part that limits, in words."""
        return self.prediction.bottleneck

    @property
    def waits(self) -> dict[str, dict[str, float]]:
        """What the mean latency of "read" and "write" is made of: seconds by cause, the largest first."""
        return self.prediction.waits

    @property
    def utilization(self) -> dict[str, float]:
        """Share of the time (0 to 1) that each part was busy, by its name."""
        return {usage.name: usage.utilization for usage in self.prediction.usages}

    @property
    def parts(self) -> tuple[Usage, ...]:
        """What each part of the machine did."""
        return self.prediction.usages

    def _latency(self, op: str, name: str) -> float:
        return float(getattr(self.direction(op).latency, name))

    @property
    def read_p50(self) -> float:
        """The latency (s) that 50 % of the reads do not exceed."""
        return self._latency("read", "p50")

    @property
    def write_p50(self) -> float:
        """The latency (s) that 50 % of the writes do not exceed."""
        return self._latency("write", "p50")

    @property
    def power(self) -> float | None:
        """Power (W) of the drives at this load; None if it is not known for one of them."""
        return drive_power(self.spec, self.prediction.usages).watts

    @property
    def cost(self) -> float | None:
        """Price of the drives, the controllers and the machine, in the unit of the prices; None if one is missing."""
        return array_facts(self.spec).cost

    @property
    def busiest(self) -> str:
        """Name of the busiest part, as in `utilization`; "" if nothing was busy."""
        found = limit(self.prediction.usages)
        return "" if found is None else found.parts[0].name

    @property
    def cause(self) -> str:
        """What the I/Os spend most of their time on, in words; what limits if that is not known."""
        waits = [] if self.saturated else longest_waits(self.prediction)
        return (
            f"{waits[0].cause}, {PERCENT(100 * waits[0].share)} of the time of the I/Os" if waits else self.bottleneck
        )
