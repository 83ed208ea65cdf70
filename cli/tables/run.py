"""The result of a run as a person reads it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import typer
from rich.console import Console
from rich.text import Text

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
from ...scenarios.questions.latency_shape import latency_shape
from ...scenarios.questions.rebuild_comparison import RebuildComparison
from ...scenarios.questions.without_bottleneck import WithoutBottleneck, is_open
from ...scenarios.running.base.power import drive_power
from ...scenarios.running.base.prediction import Prediction, RebuildProgress
from ...scenarios.running.base.wear import WARRANTY_YEARS, DriveWear
from ...scenarios.running.steady_state import SATURATED_PRECISION
from ..support.table import Table
from .power import power_line
from .usages import print_usages

_WIDTH = 100
_WORDS = {"recover": ("rebuilt", "rebuild"), "check": ("checked", "check"), "repair": ("repaired", "repair")}
_COLUMNS = ("mean", "p50", "p90", "p99", "p99.9", "max")


def run_console() -> Console:
    """A console as wide as a page where nobody looks at it right now."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=_WIDTH, highlight=False)


def print_prediction(
    console: Console,
    spec: ScenarioSpec,
    prediction: Prediction,
    found: RebuildComparison | None,
    all_parts: bool = False,
) -> None:
    """What the run itself gave; with `all_parts` every part has its line, however many there are."""
    console.print(Text(f"{spec.name} ({spec.kernel})", style="bold"))
    for line in (*array_words(spec), *file_system_words(spec)):
        console.print(Text(line))
    for line in (*_totals(spec, prediction), *prediction.notes):
        console.print(Text(line))
    for title, report in prediction.reports.items():
        console.print(Text(f"\n{title}:", style="bold"))
        typer.echo(report or "(no report)\n", nl=False)
    if prediction.reports:
        typer.echo()
    if prediction.latencies and not prediction.saturated and not isinstance(spec.workload, FioSpec):
        console.print(_latencies(spec, prediction))
    if prediction.loads:
        console.print(_loads(prediction))
    if prediction.phases:
        console.print(_phases(prediction))
    print_usages(console, prediction, all_parts)
    for rebuild in prediction.rebuilds:
        console.print(Text(rebuild_line(rebuild)))
    if found is not None:
        console.print(Text(_rebuild_cost_line(found)))
    if prediction.rebuilds:
        console.print()
    if prediction.wear:
        console.print(Text(_wear_line(prediction.wear[0], len(prediction.wear))))
    power = power_line(drive_power(spec, prediction.usages))
    if power is not None:
        console.print(Text(power))
    console.print(Text(f"bottleneck: {prediction.bottleneck}"))
    if len(prediction.bottlenecks) > 1:
        for phase, words in prediction.bottlenecks.items():
            console.print(Text(f"  {phase}: {words}"))
    shape = latency_shape(prediction)
    if shape is not None:
        console.print(Text(shape))


def print_without_bottleneck(
    console: Console, spec: ScenarioSpec, prediction: Prediction, without: WithoutBottleneck
) -> None:
    """What would happen without the bottleneck."""
    console.print(Text(f"{_without_words(without)}: {_gained(spec, prediction, without)}; {without.then}."))


def print_right(console: Console, prediction: Prediction, intervals: RunIntervals, offered: bool) -> None:
    """How sure all that is; `offered`: the rate is what was asked for, and no prediction."""
    if prediction.estimates:
        console.print(Text("± is the 90 % interval of this simulation alone."))
    for line in interval_lines(prediction, intervals, offered):
        console.print(Text(line))


def interval_lines(prediction: Prediction, intervals: RunIntervals, offered: bool) -> Iterator[str]:
    """How far real machines were off, for each kind of figure that a run shows."""
    known = False
    if not offered:
        if intervals.rate is None:
            yield "How far such rates are off on real machines is not known: too few reports have any."
        else:
            low, high = (_number(bound / 1e6) for bound in intervals.rate.around(prediction.rate))
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
    if known:
        yield "This does not include uncertainty in the scenario's own parameters."


def offered_only(spec: ScenarioSpec, prediction: Prediction) -> bool:
    """Whether the rate is what was asked for, and no prediction."""
    return is_open(spec) and not prediction.saturated


def _without_words(without: WithoutBottleneck) -> str:
    if without.kind == "limit" and without.what.endswith("without limit"):
        return f"Without it ({without.what})"
    return f"With {without.what}"


def _gained(spec: ScenarioSpec, prediction: Prediction, without: WithoutBottleneck) -> str:
    """The new and the old rate, time or latencies."""
    then = without.prediction
    if offered_only(spec, prediction):
        if then.saturated:
            return "more is still sent than the devices take"
        told = [
            f"{op}s take {_milliseconds(then.latencies[op]['mean_s'])} instead of {_milliseconds(values['mean_s'])} "
            f"(p99 {_milliseconds(then.latencies[op]['p99_s'])} instead of {_milliseconds(values['p99_s'])})"
            for op, values in prediction.latencies.items()
            if op in then.latencies
        ]
        return " and ".join(told)
    if isinstance(spec.workload, IdleSpec):
        return ", ".join(f"{each.array} at {_number(each.rate / 1e6)} MB/s per member" for each in then.rebuilds)
    if isinstance(spec.workload, FioSpec):
        return f"{_number(then.rate / 1e6)} MB/s, {_times(then.rate / prediction.rate)}"
    if isinstance(spec.workload, LoadsSpec):
        return f"{_number(then.rate / 1e6)} MB/s, {_times(then.rate / prediction.rate)}"
    if isinstance(spec.workload, LoadSpec):
        gained = f"{_number(then.rate / 1e6)} MB/s, {_times(then.rate / prediction.rate)}"
        if is_open(spec) and not then.saturated:
            served = [f"{op}s take {_milliseconds(values['mean_s'])}" for op, values in then.latencies.items()]
            return ", ".join([gained, "which is all that is sent", *served])
        if without.kind == "outstanding":
            slower = [
                f"{op}s take {_milliseconds(then.latencies[op]['mean_s'])} instead of {_milliseconds(values['mean_s'])}"
                for op, values in prediction.latencies.items()
                if op in then.latencies
            ]
            return ", ".join([gained, *slower])
        return gained
    old, new = format_duration(prediction.seconds), format_duration(then.seconds)
    return f"{new} instead of {old} ({_number(then.rate / 1e6)} MB/s, {_times(then.rate / prediction.rate)})"


def _milliseconds(seconds: float) -> str:
    return f"{_number(1e3 * seconds)} ms"


def _times(factor: float) -> str:
    if abs(factor - 1) < 0.005:
        return "no faster"
    return f"{factor:,.3g} times as fast" if factor > 1 else f"{_number(100 * factor)} % of the speed"


def _totals(spec: ScenarioSpec, prediction: Prediction) -> list[str]:
    """The rate of the programs, their I/Os, and how long a dd takes."""
    workload = spec.workload
    if isinstance(workload, ProgramsSpec):
        return _scale_lines(prediction.scale)
    if isinstance(workload, IdleSpec):
        return []
    rate = f"{_number(prediction.rate / 1e6)} MB/s{_spread(prediction, 'rate')}"
    iops = " and ".join(f"{_number(rate)} {op}s/s" for op, rate in prediction.iops.items())
    if isinstance(workload, LoadsSpec):
        lines = [f"all loads: {rate}, {iops}"]
        if workload.precision is not None:
            lines.append(_precision_line(workload.precision, prediction))
        return lines
    if isinstance(workload, LoadSpec):
        lines = [f"{rate}, {iops}"]
        if prediction.saturated:
            lines.append("saturated: more is sent than the devices take, so latencies grow for ever")
        if workload.precision is not None:
            asked = max(workload.precision, SATURATED_PRECISION) if prediction.saturated else workload.precision
            lines.append(_precision_line(asked, prediction))
        return lines
    if isinstance(workload, FioSpec):
        return [f"{rate}, {iops}"] if iops else [rate]
    moved = workload.size * len(workload.targets)
    lines = [f"{rate}: {_bytes(moved)} in {format_duration(prediction.seconds)}"]
    return [*lines, f"page cache: {iops}"] if iops else lines


def _precision_line(asked: float, prediction: Prediction) -> str:
    measured = f"measured for {format_duration(prediction.measured_s)} of simulated time"
    reached = prediction.precision_reached
    if reached is None or not math.isfinite(reached):
        return f"{measured}; the machine had not settled by then, so how sure this is is not known"
    if reached <= asked:
        return f"{measured}, until it was known to {_percent(asked)}"
    return f"{measured}, the longest allowed; known to {_percent(reached)}, {_percent(asked)} was asked for"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


def _spread(prediction: Prediction, name: str) -> str:
    """The half-width of an interval, where it is known."""
    estimate = prediction.estimates.get(name)
    if estimate is None or not math.isfinite(estimate.half_width) or not estimate.mean:
        return ""
    return f" ± {_percent(estimate.half_width / abs(estimate.mean))}"


def _scale_lines(scale: int) -> list[str]:
    """At which scale programs were run."""
    if scale == 1:
        return []
    return [f"at scale {scale}: sizes, counts and memory are divided by {scale}, times multiplied (--scale 1: whole)"]


def _latencies(spec: ScenarioSpec, prediction: Prediction) -> Table:
    of_cache = " of the page cache's I/Os" if spec.workload.kind not in ("load", "several") else ""
    table = Table(title=f"Latency{of_cache} (ms)", title_justify="left", title_style="")
    table.add_column("")
    for column in _COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for op, figures in prediction.latencies.items():
        cells = [
            f"{1e3 * figures[f'{column}_s']:,.3f}{_spread(prediction, f'{op}_{column}_seconds')}" for column in _COLUMNS
        ]
        table.add_row(op, *cells)
    return table


def _loads(prediction: Prediction) -> Table:
    """What each of several loads gets."""
    together = "all together, over the day; below: each load while it runs" if prediction.phases else "all together"
    table = Table(title=f"Loads (above: {together})", title_justify="left", title_style="")
    table.add_column("load")
    times = [f"{op} {name} (ms)" for op in ("read", "write") for name in ("mean", "p99")]
    for column in ("MB/s", "I/Os per s", *times):
        table.add_column(column, justify="right")
    for name, load in prediction.loads.items():
        told = [load.latencies.get(op, {}).get(f"{figure}_s") for op in ("read", "write") for figure in ("mean", "p99")]
        cells = ["" if seconds is None or load.saturated else _number(1e3 * seconds) for seconds in told]
        rate = _number(load.rate / 1e6) + _spread(load, "rate")
        words = f"{name}: saturated" if load.saturated else name
        table.add_row(Text(words), rate, _number(sum(load.iops.values())), *cells)
    return table


def _phases(prediction: Prediction) -> Table:
    """A row for each phase of a day and each load in it; the figures above are the mean of the day."""
    table = Table(title="Phases (above: the day)", title_justify="left", title_style="")
    table.add_column("phase")
    for column in ("MB/s", "reads/s", "writes/s", "read mean (ms)", "write mean (ms)", "bottleneck"):
        table.add_column(column, justify="left" if column == "bottleneck" else "right")
    for name, phase in prediction.phases.items():
        table.add_row(Text(name), *_phase_cells(phase), Text(_phase_limit(phase)))
        for load, part in phase.loads.items():
            table.add_row(Text(f"  {load}"), *_phase_cells(part), "saturated" if part.saturated else "")
    return table


def _phase_cells(phase: Prediction) -> list[str]:
    """Rates and mean latencies of a phase, or of a load during it."""
    means = [
        f"{1e3 * phase.latencies[op]['mean_s']:,.3f}" if op in phase.latencies and not phase.saturated else ""
        for op in ("read", "write")
    ]
    rates = [_number(phase.iops.get(op, 0.0)) for op in ("read", "write")]
    return [_number(phase.rate / 1e6) + _spread(phase, "rate"), *rates, *means]


def _phase_limit(phase: Prediction) -> str:
    """What limits in a phase, in a word if nothing does."""
    most = max((usage.utilization for usage in phase.usages), default=0.0)
    limit = phase.bottleneck if most >= SATURATED else f"none ({100 * most:.0f} % busy)"
    return f"saturated: {limit}" if phase.saturated else limit


def rebuild_line(rebuild: RebuildProgress) -> str:
    """How far a rebuild or a check is, in a sentence."""
    verb, noun = _WORDS[rebuild.action]
    if rebuild.position >= rebuild.total_bytes:
        pace = f" at {_number(rebuild.rate / 1e6)} MB/s per member" if rebuild.rate else ""
        return f"{rebuild.array}: {verb} to the end{pace}."
    if not rebuild.rate:
        return f"{rebuild.array}: the {noun} makes no progress under this load."
    return (
        f"{rebuild.array}: {verb} at {_number(rebuild.rate / 1e6)} MB/s per member; all "
        f"{_bytes(rebuild.total_bytes)} take {format_duration(rebuild.duration_s)}, "
        f"what is left {format_duration(rebuild.left_s)}."
    )


def _rebuild_cost_line(found: RebuildComparison) -> str:
    beside, degraded, whole = (
        f"{_number(each.rate / 1e6)} MB/s" for each in (found.rebuilding, found.degraded, found.whole)
    )
    return (
        f"During the rebuild the load gets {beside}; degraded without it {degraded} ({_lost(found.loss)} to the "
        f"rebuild); whole {whole} ({_lost(found.loss_to_failure)} to the failure)."
    )


def _wear_line(worst: DriveWear, drives: int) -> str:
    """How long the drive lasts that is worn the most, and what the data sheet allows."""
    of = "" if drives == 1 else f" (of {drives} drives the first to wear out)"
    return (
        f"endurance: {worst.drive}{of} lasts {_lifetime(worst.years)} at this load around the clock: "
        f"{_number(worst.write_rate / 1e6)} MB/s with a write amplification of {_number(worst.amplification)}. Data "
        f"sheet: {_bytes(worst.endurance)}, which is {worst.drive_writes_per_day:.2g} drive writes a day over "
        f"{WARRANTY_YEARS:g} years, taken at a write amplification of {_number(worst.sheet_amplification)}."
    )


def _lifetime(years: float) -> str:
    if years > 100:
        return "more than 100 years"
    return f"{_number(years)} years" if years >= 1 else f"{_number(365.25 * years)} days"


def _lost(share: float) -> str:
    percent = round(100 * share)
    return f"{percent} % lost" if percent > 0 else "nothing lost"


def _number(value: float) -> str:
    """A number with three digits that count, and no fewer before the point."""
    if not value:
        return "0"
    return f"{value:,.{min(9, max(0, 2 - math.floor(math.log10(abs(value)))))}f}"


def _bytes(size: int) -> str:
    """A size in the makers' decimal units."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{_number(size / factor)} {unit}"
    return f"{size} bytes"
