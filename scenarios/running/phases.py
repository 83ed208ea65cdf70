"""Loads that change over the day: every phase simulated separately, and the day made of them.

A phase lasts hours, and what a cache or a queue holds of the phase before is gone after minutes. So nothing is carried
over: each phase has a machine of its own as it is at the beginning of the scenario, its own warm-up and its own
measurement, and the same random numbers. The day weighs each phase by how long it lasts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...model.core.exact_sums import sum_in_order
from ...model.loads.direct_load import DirectLoad
from ...model.statistics import Estimate, LatencyHistogram, Usage
from ...model.statistics.usage import WayUsage
from ..description.any_workload import LoadsSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec
from ..machine.mapper_plan import after_a_day
from .base.prediction import LatencyBins, Prediction, RebuildProgress
from .base.run import PERCENTILES, Run
from .base.waits import WaitTimes
from .base.wear import wear_of_day
from .summary import latency_figures

_MEANS = ("rate", "iops", "mean_seconds", "read_mean_seconds", "write_mean_seconds")
"""Estimates that those of the phases add up to; a percentile of the day is none of them."""


def simulate_phases(
    scenario: ScenarioSpec,
    simulate_part: Callable[[ScenarioSpec, Callable[[Run], None]], Prediction],
    watch: Callable[[Run], None],
) -> Prediction:
    """Simulate a load with phases, or several.

    Parameters
    ----------
    scenario
        Whose workload is a load with phases, or several loads with phases.
    simulate_part
        Simulates a scenario whose workload has none, and tells `watch` of the run that is measured before it begins.
    watch
        Called with every run before it begins.

    Returns
    -------
    Prediction
        Of the day: rates and usages weighted by time, latencies by I/Os; figures also as "PHASE.FIGURE". Of several
        loads the rates of each are those of the time in which it runs.
    """
    assert isinstance(scenario.workload, LoadSpec | LoadsSpec)
    parts: list[_Part] = []
    caches = after_a_day(scenario)
    for name, lasts_s, workload in scenario.workload.parts():
        runs: list[Run] = []

        def follow(run: Run, runs: list[Run] = runs) -> None:
            runs.append(run)
            watch(run)

        prediction = simulate_part(scenario.model_copy(update={"workload": workload, "caches": caches}), follow)
        parts.append(_Part.of(name, lasts_s, prediction, runs[-1]))
    day = _day(parts)
    if isinstance(scenario.workload, LoadSpec):
        return day
    return _with_loads(day, parts, [load.name for load in scenario.workload.loads])


class _Part:
    """A phase that has been simulated, or one of several loads during it.

    Attributes
    ----------
    times
        How often the measurement has room in the phase.
    histograms
        Latencies by "read" and "write".
    loads
        Each of several loads by its name.
    """

    __slots__ = ("histograms", "loads", "name", "prediction", "times")

    def __init__(self, name: str, times: float, prediction: Prediction, jobs: Sequence[DirectLoad]) -> None:
        self.name = name
        self.times = times
        self.prediction = prediction
        self.histograms = {"read": LatencyHistogram(), "write": LatencyHistogram()}
        for job in jobs:
            self.histograms["read"].merge(job.read_latency)
            self.histograms["write"].merge(job.write_latency)
        self.loads: dict[str, _Part] = {}

    @classmethod
    def of(cls, name: str, lasts_s: float, prediction: Prediction, run: Run) -> _Part:
        """The phase with its loads."""
        times = lasts_s / prediction.measured_s
        part = cls(name, times, prediction, run.machine.loads)
        for load, jobs in run.machine.loads_by_name.items():
            part.loads[load] = cls(name, times, prediction.loads[load], jobs)
        return part

    @property
    def lasts_s(self) -> float:
        """How much of the day (s) it takes; of a load, how long that runs."""
        return self.times * self.prediction.measured_s


def _day(parts: Sequence[_Part]) -> Prediction:
    predictions = [part.prediction for part in parts]
    day_s, shares = _shares(parts)
    rate, iops = _rates(parts, shares)
    latencies = {op: _latencies(parts, op) for op in iops}
    measured_s = math.fsum(each.measured_s for each in predictions)
    figures = {"rate": rate, "seconds": day_s, "iops": sum_in_order(iops.values())}
    figures |= latency_figures(latencies)
    figures["cpu"] = _mean([each.figures["cpu"] for each in predictions], shares)
    busiest = max(parts, key=lambda part: max((usage.utilization for usage in part.prediction.usages), default=0.0))
    return Prediction(
        seconds=day_s,
        measured_s=measured_s,
        rate=rate,
        iops=iops,
        usages=_usages(parts, shares, measured_s),
        bottleneck=f"{busiest.prediction.bottleneck}, during {busiest.name}",
        latencies=latencies,
        waits=_waits(parts, latencies),
        member_ios=sum(each.member_ios for each in predictions),
        rebuilds=_rebuilds(parts, shares),
        events=sum(each.events for each in predictions),
        figures=figures
        | {f"{part.name}.{name}": value for part in parts for name, value in part.prediction.figures.items()},
        wear=wear_of_day([each.wear for each in predictions], shares),
        phases={part.name: part.prediction for part in parts},
        latency_bins={op: _bins(parts, op) for op in iops},
        estimates=_estimates(parts, shares)
        | {f"{part.name}.{name}": value for part in parts for name, value in part.prediction.estimates.items()},
        ssd_caches=tuple(
            replace(each, name=f"{part.name}: {each.name}") for part in parts for each in part.prediction.ssd_caches
        ),
        saturated=any(each.saturated for each in predictions),
        offered_iops=_offered(parts, shares),
        precision_reached=max(
            (each.precision_reached for each in predictions if each.precision_reached is not None), default=None
        ),
    )


def _with_loads(day: Prediction, parts: Sequence[_Part], names: Sequence[str]) -> Prediction:
    """The day with what each of several loads gets."""
    loads = {name: _load_of_day(day, [part.loads[name] for part in parts if name in part.loads]) for name in names}
    figures = {f"{name}.{figure}": value for name, load in loads.items() for figure, value in load.figures.items()}
    estimates = {f"{name}.{figure}": value for name, load in loads.items() for figure, value in load.estimates.items()}
    return replace(day, loads=loads, figures=day.figures | figures, estimates=day.estimates | estimates)


def _load_of_day(day: Prediction, parts: Sequence[_Part]) -> Prediction:
    """What a load gets in the phases that it is part of; utilization is that of the whole day."""
    seconds, shares = _shares(parts)
    rate, iops = _rates(parts, shares)
    latencies = {op: _latencies(parts, op) for op in iops}
    return replace(
        day,
        ssd_caches=(),
        seconds=seconds,
        measured_s=math.fsum(part.prediction.measured_s for part in parts),
        rate=rate,
        iops=iops,
        latencies=latencies,
        figures={"rate": rate, "iops": sum_in_order(iops.values())} | latency_figures(latencies),
        estimates=_estimates(parts, shares),
        saturated=any(part.prediction.saturated for part in parts),
        offered_iops=_offered(parts, shares),
        latency_bins={},
        waits=_waits(parts, latencies),
        rebuilds=(),
        wear=(),
        phases={},
    )


def _shares(parts: Sequence[_Part]) -> tuple[float, list[float]]:
    """How long the parts last together (s), and the share of that which each has."""
    seconds = math.fsum(part.lasts_s for part in parts)
    return seconds, [part.lasts_s / seconds for part in parts]


def _mean(values: Sequence[float], shares: Sequence[float]) -> float:
    return math.fsum(share * value for share, value in zip(shares, values, strict=True))


def _rates(parts: Sequence[_Part], shares: Sequence[float]) -> tuple[float, dict[str, float]]:
    """Bytes per second, and I/Os per second of reads and writes."""
    predictions = [part.prediction for part in parts]
    ops = [op for op in ("read", "write") if any(op in each.iops for each in predictions)]
    iops = {op: _mean([each.iops.get(op, 0.0) for each in predictions], shares) for op in ops}
    return _mean([each.rate for each in predictions], shares), iops


def _offered(parts: Sequence[_Part], shares: Sequence[float]) -> float | None:
    """I/Os per second that are sent; None if not all parts are of an open load."""
    known = [part.prediction.offered_iops for part in parts]
    offered = [each for each in known if each is not None]
    return _mean(offered, shares) if len(offered) == len(known) else None


def _latencies(parts: Sequence[_Part], op: str) -> dict[str, float]:
    """Of all I/Os of the day: each that was measured counts for as many as the phase has in its place."""
    there = [part for part in parts if op in part.prediction.latencies]
    found = [part.prediction.latencies[op] for part in there]
    weights = [part.times * values["n"] for part, values in zip(there, found, strict=True)]
    least, most = min(values["min_s"] for values in found), max(values["max_s"] for values in found)
    bins = [part.histograms[op].bins() for part in there]
    places = np.array([ns * 1e-9 for each in bins for ns, _ in each])
    counts = np.array([part.times * count for part, each in zip(there, bins, strict=True) for _, count in each])
    order = np.argsort(places, kind="stable")
    reached = np.cumsum(counts[order])
    return {
        "n": math.fsum(values["n"] for values in found),
        "mean_s": _weighted([values["mean_s"] for values in found], weights),
        "min_s": least,
        "max_s": most,
        **{
            f"p{percent:g}_s": min(max(_percentile(places[order], reached, percent), least), most)
            for percent in PERCENTILES
        },
    }


def _waits(parts: Sequence[_Part], latencies: Mapping[str, Mapping[str, float]]) -> dict[str, WaitTimes]:
    """What the mean latencies of the day are made of."""
    found = {}
    for op, values in latencies.items():
        sums: dict[str, float] = {}
        for part in parts:
            times = part.times * part.prediction.latencies.get(op, {}).get("n", 0.0)
            for cause, seconds in part.prediction.waits.get(op, {}).items():
                sums[cause] = sums.get(cause, 0.0) + times * seconds
        total = math.fsum(sums.values())
        if total:
            ranked = sorted(sums.items(), key=lambda each: -each[1])
            found[op] = {cause: values["mean_s"] * seconds / total for cause, seconds in ranked}
    return found


def _bins(parts: Sequence[_Part], op: str) -> LatencyBins:
    """Counts of the day, as `_latencies` weighs them."""
    found: dict[float, float] = {}
    for part in parts:
        for seconds, count in part.prediction.latency_bins.get(op, ()):
            found[seconds] = found.get(seconds, 0.0) + part.times * count
    return tuple(sorted(found.items()))


def _percentile(places: NDArray[np.float64], reached: NDArray[np.float64], percent: float) -> float:
    """The first of `places` where the counts so far have `reached` this share of the whole."""
    aim = percent / 100 * reached[-1]
    return float(places[min(int(np.searchsorted(reached, aim * (1 - 1e-9))), len(places) - 1)])


def _weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    return math.fsum(weight * value for weight, value in zip(weights, values, strict=True)) / math.fsum(weights)


def _usages(parts: Sequence[_Part], shares: Sequence[float], measured_s: float) -> tuple[Usage, ...]:
    """Means over the day; counts are those of as much of the day as was measured."""
    seen: dict[tuple[str, str], list[tuple[float, float, Usage]]] = {}
    for part, share in zip(parts, shares, strict=True):
        times = share * measured_s / part.prediction.measured_s
        for usage in part.prediction.usages:
            seen.setdefault((usage.name, usage.kind), []).append((share, times, usage))
    return tuple(
        Usage(
            name,
            kind,
            utilization=math.fsum(share * usage.utilization for share, _, usage in found),
            mean_queue=math.fsum(share * usage.mean_queue for share, _, usage in found),
            reads=round(math.fsum(times * usage.reads for _, times, usage in found)),
            writes=round(math.fsum(times * usage.writes for _, times, usage in found)),
            bytes=round(math.fsum(times * usage.bytes for _, times, usage in found)),
            what=found[0][2].what,
            ways=_ways(found),
        )
        for (name, kind), found in seen.items()
    )


def _ways(found: Sequence[tuple[float, float, Usage]]) -> tuple[WayUsage, ...]:
    """The directions of a link, each as busy as it was on average."""
    seen: dict[str, list[tuple[float, float, WayUsage]]] = {}
    for share, times, usage in found:
        for way in usage.ways:
            seen.setdefault(way.name, []).append((share, times, way))
    return tuple(
        WayUsage(
            name,
            math.fsum(share * way.utilization for share, _, way in ways),
            ways[0][2].rate,
            round(math.fsum(times * way.bytes for _, times, way in ways)),
        )
        for name, ways in seen.items()
    )


def _rebuilds(parts: Sequence[_Part], shares: Sequence[float]) -> tuple[RebuildProgress, ...]:
    """Each resync thread at its mean pace over the day."""
    found: dict[tuple[str, str], RebuildProgress] = {}
    for part, share in zip(parts, shares, strict=True):
        for rebuild in part.prediction.rebuilds:
            key = (rebuild.array, rebuild.action)
            before = found.get(key)
            rate = share * rebuild.rate + (before.rate if before else 0.0)
            position = max(rebuild.position, before.position if before else 0)
            found[key] = replace(rebuild, rate=rate, position=position)
    return tuple(found.values())


def _estimates(parts: Sequence[_Part], shares: Sequence[float]) -> dict[str, Estimate]:
    """Of the day's means. The phases see the same random numbers and may err alike, so the half-widths add up."""
    found = {}
    for name in _MEANS:
        weights = [
            part.times * _ios(part.prediction, name) if name.endswith("_seconds") else share
            for part, share in zip(parts, shares, strict=True)
        ]
        there = [(part.prediction.estimates.get(name), weight) for part, weight in zip(parts, weights, strict=True)]
        known = [(estimate, weight) for estimate, weight in there if estimate is not None and weight]
        if known and len(known) == sum(1 for weight in weights if weight):
            found[name] = _together([estimate for estimate, _ in known], [weight for _, weight in known])
    return found


def _ios(prediction: Prediction, name: str) -> float:
    """Measured I/Os that a mean latency is of; all of them if it is not that of reads or writes alone."""
    op = name.partition("_")[0]
    return math.fsum(values["n"] for kind, values in prediction.latencies.items() if op in (kind, "mean"))


def _together(estimates: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    return Estimate(
        mean=_weighted([each.mean for each in estimates], weights),
        half_width=_weighted([each.half_width for each in estimates], weights),
        confidence=estimates[0].confidence,
        batches=min(each.batches for each in estimates),
        warmup=max(each.warmup for each in estimates),
        lag1=max(each.lag1 for each in estimates),
        correlated=any(each.correlated for each in estimates),
    )
