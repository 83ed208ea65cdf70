"""What a run tells: rates, latencies, utilization, the bottleneck, rebuilds, and how sure all that is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...calibration.fit.quantile import NORMAL_QUANTILE
from ...calibration.uncertainty.model_interval import RunIntervals
from ...model.files.quantities import format_duration
from ...model.statistics.usage import SATURATED
from ...scenarios.description.any_workload import IdleSpec, LoadsSpec
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.designs.array_words import array_words
from ...scenarios.designs.file_system_words import file_system_words
from ...scenarios.designs.pool_words import pool_words
from ...scenarios.questions.latency_shape import latency_shape
from ...scenarios.questions.rebuild_comparison import RebuildComparison
from ...scenarios.questions.without_bottleneck import WithoutBottleneck, is_open
from ...scenarios.questions.without_waits import WithoutWait
from ...scenarios.running.base.power import drive_power
from ...scenarios.running.base.prediction import LatencyBins, Prediction
from ...scenarios.running.base.wear import WARRANTY_YEARS, DriveWear
from ...scenarios.running.watched_load import SATURATED_PRECISION
from ..answer.numbers import (
    PERCENT,
    Sure,
    decimal_size,
    fixed,
    megabytes,
    milliseconds,
    number,
    percent,
    spread,
    with_spread,
)
from ..answer.power import power_line
from ..answer.svg import bars
from ..answer.svg import lines as curves
from ..answer.tree import Answer, Cell, Column, Part, Picture, Row, Table, Verbatim, Words, lines
from .parts.ssd_caches import cache_line
from .parts.usages import usages
from .parts.waits import wait_lines
from .rebuild import rebuild_cost, rebuild_line, rebuild_waits

_OPS = ("read", "write")
_BARS, _IDLE, _CDF_POINTS = 16, 0.005, 120
"""Parts that the picture shows, the utilization below which it leaves them out, and points of a latency's line."""
_TIMES = ("mean", "p50", "p90", "p99", "p99.9", "max")
_RATE = Column("MB/s", show=with_spread(number), scale=1e-6)
_SERVED = Column("I/Os per s", show=number)
_FLOWS = [Column(f"{name}\n", "1/s", number) for name in ("offered", "served", "lost")]
"""Of open loads: I/Os per second that come, are complete, and never are."""
_SPREAD_MS = with_spread(fixed(3))


def run_answer(
    spec: ScenarioSpec, prediction: Prediction, rebuild: RebuildComparison | None, all_parts: bool = False
) -> Answer:
    """What the run itself gave; with `all_parts` every part has its line, however many there are."""
    return Answer(f"{spec.name} ({spec.kernel})", list(_parts(spec, prediction, rebuild, all_parts)))


def _parts(
    spec: ScenarioSpec, prediction: Prediction, rebuild: RebuildComparison | None, all_parts: bool
) -> Iterator[Part]:
    yield from lines((*array_words(spec), *pool_words(spec), *file_system_words(spec), *unsettled(prediction)))
    yield from lines((*_totals(spec, prediction), *prediction.notes))
    for title, report in prediction.reports.items():
        yield Words(f"{title}:", "title", apart=True)
        yield Verbatim(report or "(no report)\n")
    if prediction.latencies and not prediction.saturated and not isinstance(spec.workload, FioSpec):
        of_cache = " of the page cache's I/Os" if spec.workload.kind not in ("load", "several") else ""
        yield latencies(prediction, f"Latency{of_cache} (ms)")
    if prediction.loads:
        yield loads(prediction)
    if prediction.phases:
        yield phases(prediction)
    yield from usages(prediction, all_parts)
    yield from lines(map(rebuild_line, prediction.rebuilds))
    if rebuild is not None:
        yield Words(rebuild_cost(rebuild))
        yield from lines(rebuild_waits(rebuild))
    apart = bool(prediction.rebuilds)
    power = power_line(drive_power(spec, prediction.usages))
    told = [_wear(prediction.wear[0], len(prediction.wear))] if prediction.wear else []
    told += [] if power is None else [power]
    told += map(cache_line, prediction.ssd_caches)
    told += wait_lines(prediction)
    told.append(f"bottleneck: {prediction.bottleneck}")
    if len(prediction.bottlenecks) > 1:
        told += [f"  {phase}: {words}" for phase, words in prediction.bottlenecks.items()]
    shape = latency_shape(prediction)
    told += [] if shape is None else [shape]
    for place, line in enumerate(told):
        yield Words(line, apart=apart and not place)


def latencies(prediction: Prediction, title: str = "Latency (ms)") -> Table:
    """Latencies of reads and writes, with their rates where there is room."""
    columns = [Column(""), Column("I/Os per s", show=number, detail=True)]
    columns += [Column(name, show=_SPREAD_MS, scale=1e3) for name in _TIMES]
    rows: list[Row] = []
    for op in prediction.iops if prediction.saturated else prediction.latencies:
        known = {} if prediction.saturated else prediction.latencies[op]
        rows.append(
            [
                op,
                prediction.iops.get(op),
                *(_sure(prediction, known.get(f"{name}_s"), f"{op}_{name}_seconds") for name in _TIMES),
            ]
        )
    return Table(title, columns, rows)


def unsettled(prediction: Prediction) -> Iterator[str]:
    """Which figures are those of a start: of the load, of a phase, of one of several loads."""
    if prediction.drift is not None:
        yield prediction.drift.words()
    for name, part in (*prediction.phases.items(), *prediction.loads.items()):
        for words in unsettled(part):
            yield f"{name}: {words}"


def _sure(prediction: Prediction, value: float | None, name: str) -> Cell:
    """A figure with its interval, where it is known."""
    estimate = prediction.estimates.get(name)
    if value is None:
        return None
    return Sure(value, math.inf if estimate is None else _half_of(value, estimate.half_width, estimate.mean))


def _half_of(value: float, half: float, mean: float) -> float:
    """Half of an interval around a value, as large a share of it as of the estimate's mean."""
    return half * value / abs(mean) if mean and math.isfinite(half) else math.inf


def loads(prediction: Prediction) -> Table:
    """What each of several loads gets."""
    together = "all together, over the day; below: each load while it runs" if prediction.phases else "all together"
    times = [(op, name) for op in _OPS for name in ("mean", "p99")]
    is_open = any(load.offered_iops is not None for load in prediction.loads.values())
    columns = [Column("load"), _RATE, *(_FLOWS if is_open else [_SERVED])]
    columns += [Column(f"{op} {name}", "ms", number, 1e3) for op, name in times]
    rows = [
        [
            f"{name}: saturated" if load.saturated else name,
            _sure(load, load.rate, "rate"),
            *(_flows(load) if is_open else [load.served_iops]),
            *(None if load.saturated else load.latencies.get(op, {}).get(f"{figure}_s") for op, figure in times),
        ]
        for name, load in prediction.loads.items()
    ]
    return Table(f"Loads (above: {together})", columns, rows)


def _flows(load: Prediction) -> list[Cell]:
    return [load.offered_iops, load.served_iops, load.lost_iops]


def phases(prediction: Prediction) -> Table:
    """A row for each phase of a day and each load in it; the figures above are the mean of the day."""
    columns = [Column("phase"), _RATE, *(Column(f"{op}s/s", show=number) for op in _OPS)]
    columns += [*(Column(f"{op} mean", "ms", fixed(3), 1e3) for op in _OPS), Column("bottleneck")]
    rows: list[Row] = []
    for name, phase in prediction.phases.items():
        rows.append([name, *_phase_cells(phase), _phase_limit(phase)])
        for load, part in phase.loads.items():
            rows.append([f"  {load}", *_phase_cells(part), "saturated" if part.saturated else ""])
    return Table("Phases (above: the day)", columns, rows)


def _phase_cells(phase: Prediction) -> list[Cell]:
    """Rates and mean latencies of a phase, or of a load during it."""
    known = {} if phase.saturated else phase.latencies
    means = [known[op]["mean_s"] if op in known else None for op in _OPS]
    return [_sure(phase, phase.rate, "rate"), *(phase.iops.get(op, 0.0) for op in _OPS), *means]


def _phase_limit(phase: Prediction) -> str:
    """What limits in a phase, in a word if nothing does."""
    most = max((usage.utilization for usage in phase.usages), default=0.0)
    limit = phase.bottleneck if most >= SATURATED else f"none ({100 * most:.0f} % busy)"
    return f"saturated: {limit}" if phase.saturated else limit


def run_pictures(prediction: Prediction) -> Iterator[Picture]:
    """Utilization of the parts, and the share of the I/Os that are complete within a latency."""
    ranked = sorted(prediction.usages, key=lambda each: -each.utilization)
    busiest = [each for each in ranked if each.utilization >= _IDLE][:_BARS] or ranked[:1]
    shares = [(each.name, each.utilization, PERCENT(100 * each.utilization)) for each in busiest]
    yield Picture("Utilization of the parts, highest first", lambda: bars(shares, "Utilization of the parts"))
    if not prediction.saturated and prediction.latency_bins:
        series = [(f"{op}s", list(latency_shares(bins))) for op, bins in prediction.latency_bins.items()]
        caption = "Share of the I/Os that are complete within a latency"
        yield Picture(caption, lambda: curves(series, "latency (ms)", "% of I/Os", caption, log_x=True))


def latency_shares(bins: LatencyBins) -> Iterator[tuple[float, float]]:
    """Latencies (ms), and the percentage of the I/Os that are complete within each."""
    total, done = sum(count for _, count in bins), 0.0
    step = max(1, len(bins) // _CDF_POINTS)
    for place, (seconds, count) in enumerate(bins):
        done += count
        if seconds > 0 and (place % step == 0 or place == len(bins) - 1):
            yield 1e3 * seconds, 100 * done / total


def without_line(spec: ScenarioSpec, prediction: Prediction, without: WithoutBottleneck) -> Words:
    """What would happen without the bottleneck."""
    what = f"With {without.what}"
    if without.kind == "limit" and without.what.endswith("without limit"):
        what = f"Without it ({without.what})"
    return Words(f"{what}: {_gained(spec, prediction, without)}; {without.then}.")


def without_wait_line(spec: ScenarioSpec, prediction: Prediction, each: WithoutWait) -> Words:
    """What would happen without a cause of waits."""
    causes = " and ".join(f"{wait.cause} ({PERCENT(100 * wait.share)} of the time)" for wait in each.waits)
    gained = _gained(spec, prediction, each.without)
    return Words(f"Without the {causes}, with {each.without.what}: {gained}; {each.without.then}.")


def sure_lines(prediction: Prediction, intervals: RunIntervals, offered: bool) -> Iterator[Words]:
    """How sure all that is; `offered`: the rate is what was asked for, and no prediction."""
    if prediction.estimates:
        yield Words("± is the 90 % interval of this simulation alone.")
    yield from lines(_intervals(prediction, intervals, offered))


def _intervals(prediction: Prediction, intervals: RunIntervals, offered: bool) -> Iterator[str]:
    """How far real machines were off, for each kind of figure that a run shows."""
    known = False
    if not offered:
        if intervals.rate is None:
            yield "How far such rates are off on real machines is not known: too few reports have any."
        else:
            low, high = (number(bound / 1e6) for bound in intervals.rate.around(prediction.rate))
            yield (
                f"On real machines, 90 % of measured rates were within a factor of {intervals.rate.factor:.2g} of the "
                f"prediction ({low} to {high} MB/s here). Evidence: {intervals.rate.evidence}."
            )
            known = True
    if prediction.latencies and not prediction.saturated:
        for words, interval in (("mean latencies", intervals.latency), ("latency percentiles", intervals.tail)):
            if interval is None:
                yield f"How far {words} are off on real machines is not known: too few reports have any."
            else:
                found = f"within a factor of {interval.factor:.2g} of the prediction"
                yield f"For {words}: {found}. Evidence: {interval.evidence}."
                known = True
    if known and intervals.controllers is None:
        yield "This does not include uncertainty in the scenario's own parameters."
    elif known and intervals.controllers is not None:
        models = " and ".join(intervals.controllers.models)
        factor = math.exp(NORMAL_QUANTILE * intervals.controllers.times_sd)
        yield (
            f"This includes the firmware times of {models}, which no data sheet gives (taken to be known to a factor "
            f"of {factor:.2g}), and no other uncertainty in the scenario's own parameters."
        )


def offered_only(spec: ScenarioSpec, prediction: Prediction) -> bool:
    """Whether the rate is what was asked for, and no prediction."""
    return is_open(spec) and not prediction.saturated


def _gained(spec: ScenarioSpec, prediction: Prediction, without: WithoutBottleneck) -> str:
    """The new and the old rate, time or latencies."""
    then = without.prediction
    rate, times = megabytes(then.rate), _times(then.rate / prediction.rate) if prediction.rate else ""
    slower = [
        f"{op}s take {milliseconds(then.latencies[op]['mean_s'])} instead of {milliseconds(values['mean_s'])}"
        + (
            f" (p99 {milliseconds(then.latencies[op]['p99_s'])} instead of {milliseconds(values['p99_s'])})"
            if offered_only(spec, prediction)
            else ""
        )
        for op, values in prediction.latencies.items()
        if op in then.latencies
    ]
    if offered_only(spec, prediction):
        return "more is still sent than the devices take" if then.saturated else " and ".join(slower)
    if isinstance(spec.workload, IdleSpec):
        return ", ".join(f"{each.array} at {megabytes(each.rate)} per member" for each in then.rebuilds)
    if isinstance(spec.workload, FioSpec | LoadsSpec):
        return f"{rate}, {times}"
    if isinstance(spec.workload, LoadSpec):
        if is_open(spec) and not then.saturated:
            served = [f"{op}s take {milliseconds(values['mean_s'])}" for op, values in then.latencies.items()]
            return ", ".join([rate, times, "which is all that is sent", *served])
        return ", ".join([rate, times, *(slower if without.kind == "outstanding" else [])])
    old, new = format_duration(prediction.seconds), format_duration(then.seconds)
    return f"{new} instead of {old} ({rate}, {times})"


def _times(factor: float) -> str:
    if abs(factor - 1) < 0.005:
        return "no faster"
    return f"{factor:,.3g} times as fast" if factor > 1 else f"{number(100 * factor)} % of the speed"


def _totals(spec: ScenarioSpec, prediction: Prediction) -> list[str]:
    """The rate of the programs, their I/Os, and how long a dd takes."""
    workload, scale = spec.workload, prediction.scale
    if isinstance(workload, ProgramsSpec):
        divided = f"sizes, counts and memory are divided by {scale}, times multiplied"
        return [] if scale == 1 else [f"at scale {scale}: {divided} (--scale 1: whole)"]
    if isinstance(workload, IdleSpec):
        return []
    estimate = prediction.estimates.get("rate")
    sure = "" if estimate is None else spread(estimate.mean, estimate.half_width)
    rate = f"{megabytes(prediction.rate)}{sure}"
    iops = " and ".join(f"{number(rate)} {op}s/s" for op, rate in prediction.iops.items())
    if isinstance(workload, LoadsSpec | LoadSpec):
        several = isinstance(workload, LoadsSpec)
        told = [f"all loads: {rate}, {iops}" if several else f"{rate}, {iops}"]
        told += _offered(prediction)
        if workload.precision is not None and prediction.precision_reached is not None:
            least = SATURATED_PRECISION if prediction.saturated and not several else 0.0
            known = "each load" if several else "the mean latency" if offered_only(spec, prediction) else "the IOPS"
            told.append(
                _precision_line(known, max(workload.precision, least), prediction.precision_reached, prediction)
            )
        return told
    if isinstance(workload, FioSpec):
        return [f"{rate}, {iops}"] if iops else [rate]
    moved = workload.size * len(workload.targets)
    told = [f"{rate}: {decimal_size(moved)} in {format_duration(prediction.seconds)}"]
    return [*told, f"page cache: {iops}"] if iops else told


def _offered(prediction: Prediction) -> Iterator[str]:
    """What an open load sends, and what becomes of it."""
    offered, lost = prediction.offered_iops, prediction.lost_iops
    if offered is None or lost is None:
        return
    told = f"{number(offered)} IOPS offered, {number(prediction.served_iops)} served, {number(lost)} lost"
    yield f"{told}: saturated, so what is lost waits for ever" if prediction.saturated else told


def _precision_line(known: str, asked: float, reached: float, prediction: Prediction) -> str:
    measured = f"measured for {format_duration(prediction.measured_s)} of simulated time"
    verb = "were" if known.endswith("IOPS") else "was"
    if not math.isfinite(reached):
        return f"{measured}; the machine had not settled by then, so how sure this is is not known"
    if reached <= asked:
        return f"{measured}, until {known} {verb} known to {percent(asked)}"
    return (
        f"{measured}, the longest allowed; {known} {verb} known to {percent(reached)}, {percent(asked)} was asked for"
    )


def _wear(worst: DriveWear, drives: int) -> str:
    """How long the drive lasts that is worn the most, and what the data sheet allows."""
    of = "" if drives == 1 else f" (of {drives} drives the first to wear out)"
    years = worst.years
    lasts = "more than 100 years" if years > 100 else f"{number(years)} years"
    if years < 1:
        lasts = f"{number(365.25 * years)} days"
    return (
        f"endurance: {worst.drive}{of} lasts {lasts} at this load around the clock: "
        f"{megabytes(worst.write_rate)} with a write amplification of {number(worst.amplification)}. Data "
        f"sheet: {decimal_size(worst.endurance)}, which is {worst.drive_writes_per_day:.2g} drive writes a day over "
        f"{WARRANTY_YEARS:g} years, taken at a write amplification of {number(worst.sheet_amplification)}."
    )
