"""`raidsim run`: one scenario, simulated: how fast, how late, how busy, and what limits."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..model.errors import InputError
from ..model.quantities import format_duration
from ..model.spec_errors import located, validate
from ..model.yaml_files import read_yaml
from ..scenarios.prediction import Prediction, RebuildProgress
from ..scenarios.program_run import most_scale
from ..scenarios.programs import ProgramsSpec
from ..scenarios.recovery import Recovery, recovery
from ..scenarios.run import simulate
from ..scenarios.sample import Sample
from ..scenarios.scenario import ScenarioSpec
from .progress import progress_share

_WIDTH = 100
_WORDS = {"recover": ("rebuilt", "rebuild"), "check": ("checked", "check"), "repair": ("repaired", "repair")}


def run_command(
    scenario: Annotated[Path, typer.Argument(help="A scenario file (YAML).")],
    scale: Annotated[
        int | None, typer.Option(help="Run programs at one N-th of their size; 1 is the whole program.", metavar="N")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Simulate a scenario: how fast, how late, how busy each part is, and what limits."""
    data, positions = read_yaml(scenario)
    spec = validate(ScenarioSpec, data, positions)
    sample = _sample(spec, scale)
    found: Recovery | None = None
    try:
        with progress_share("simulating") as follow:
            if any(array.rebuilding for array in spec.arrays.values()):
                found = recovery(spec, sample, watch=lambda run: follow(lambda: run.share))
                prediction = found.rebuilding
            else:
                prediction = simulate(spec, sample, watch=lambda run: follow(lambda: run.share))
    except InputError as error:
        raise located(error, positions) from None
    if as_json:
        typer.echo(json.dumps(document(spec, prediction, found), allow_nan=False))
    else:
        _show(spec, prediction, found)


def _sample(spec: ScenarioSpec, scale: int | None) -> Sample | None:
    """What `--scale` asks for; None without it."""
    if scale is None:
        return None
    if not isinstance(spec.workload, ProgramsSpec):
        raise InputError("--scale", f"a workload of kind {spec.workload.kind}", "allowed with: kind programs")
    most = most_scale(spec)
    if not 1 <= scale <= most:
        raise InputError("--scale", f"found {scale}", f"allowed: 1 to {most}, with this memory and these file systems")
    return Sample(scale=scale)


def _show(spec: ScenarioSpec, prediction: Prediction, found: Recovery | None) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=_WIDTH, highlight=False)
    console.print(Text(f"{spec.name} ({spec.kernel})", style="bold"))
    for line in _totals(spec, prediction):
        console.print(Text(line))
    for title, report in prediction.reports.items():
        console.print(Text(f"\n{title}:", style="bold"))
        typer.echo(report or "(no report)\n", nl=False)
    if prediction.reports:
        typer.echo()
    console.print(Text(f"bottleneck: {prediction.bottleneck}"))
    if prediction.latencies:
        console.print(_latencies(spec, prediction))
    console.print(_usages(prediction))
    for rebuild in prediction.rebuilds:
        console.print(Text(_rebuild_line(rebuild)))
    if found is not None:
        console.print(Text(_recovery_line(found)))


def _totals(spec: ScenarioSpec, prediction: Prediction) -> list[str]:
    """The rate of the programs, their I/Os, and how long a dd takes."""
    workload = spec.workload
    if isinstance(workload, ProgramsSpec):
        return _scale_lines(prediction.scale)
    rate = f"{_number(prediction.rate / 1e6)} MB/s"
    iops = " and ".join(f"{_number(rate)} {op}s/s" for op, rate in prediction.iops.items())
    if workload.kind == "load":
        return [f"{rate}, {iops}"]
    moved = workload.size * len(workload.targets)
    lines = [f"{rate}: {_bytes(moved)} in {format_duration(prediction.seconds)}"]
    return [*lines, f"page cache: {iops}"] if iops else lines


def _scale_lines(scale: int) -> list[str]:
    """At which scale programs were run."""
    if scale == 1:
        return []
    return [f"at scale {scale}: sizes, counts and memory are divided by {scale}, times multiplied (--scale 1: whole)"]


def _latencies(spec: ScenarioSpec, prediction: Prediction) -> Table:
    of_cache = " of the page cache's I/Os" if spec.workload.kind != "load" else ""
    table = Table(title=f"Latency{of_cache} (ms)", title_justify="left", title_style="", box=SIMPLE_HEAD)
    columns = ("mean", "p50", "p90", "p99", "p99.9", "max")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for op, figures in prediction.latencies.items():
        table.add_row(op, *(f"{1e3 * figures[f'{column}_s']:,.3f}" for column in columns))
    return table


def _usages(prediction: Prediction) -> Table:
    """What each part did; a drive's queue is the mean number of commands inside it."""
    seconds = prediction.measured_s
    title = f"How busy, over {format_duration(seconds)}"
    table = Table(title=title, title_justify="left", title_style="", box=SIMPLE_HEAD)
    table.add_column("part", no_wrap=True)
    for column in ("busy", "queue", "reads/s", "writes/s", "MB/s"):
        table.add_column(column, justify="right", no_wrap=True)
    for usage in prediction.usages:
        moved = f"{usage.bytes / 1e6 / seconds:,.2f}"
        if usage.kind == "disk":
            reads, writes = (f"{count / seconds:,.0f}" for count in (usage.reads, usage.writes))
            cells = (f"{usage.mean_queue:.2f}", reads, writes, moved)
        else:
            cells = ("", "", "", moved if usage.bytes else "")
        table.add_row(Text(usage.name), f"{100 * usage.utilisation:.0f} %", *cells)
    return table


def _rebuild_line(rebuild: RebuildProgress) -> str:
    verb, noun = _WORDS[rebuild.action]
    if rebuild.position >= rebuild.total_bytes:
        pace = f" at {_number(rebuild.rate / 1e6)} MB/s per member" if rebuild.rate else ""
        return f"{rebuild.array}: {verb} to the end{pace}."
    if not rebuild.rate:
        return f"{rebuild.array}: the {noun} stands still beside this load."
    return (
        f"{rebuild.array}: {verb} at {_number(rebuild.rate / 1e6)} MB/s per member; all "
        f"{_bytes(rebuild.total_bytes)} take {format_duration(rebuild.duration_s)}, "
        f"what is left {format_duration(rebuild.left_s)}."
    )


def _recovery_line(found: Recovery) -> str:
    beside, degraded, whole = (
        f"{_number(each.rate / 1e6)} MB/s" for each in (found.rebuilding, found.degraded, found.whole)
    )
    return (
        f"Beside the rebuild the load gets {beside}; degraded without it {degraded} ({_lost(found.loss)} to the "
        f"rebuild); whole {whole} ({_lost(found.loss_to_failure)} to the failure)."
    )


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


def document(spec: ScenarioSpec, prediction: Prediction, found: Recovery | None = None) -> dict[str, Any]:
    """The result as a JSON document: SI units, names as in :class:`~raidsim.scenarios.prediction.Prediction`.

    A rebuild that did not move during the measurement has the duration null.
    """
    result: dict[str, Any] = {"name": spec.name, "kernel": spec.kernel, **dataclasses.asdict(prediction)}
    result["rebuilds"] = [
        {**dataclasses.asdict(each), **_finite({"duration_s": each.duration_s, "left_s": each.left_s}.items())}
        for each in prediction.rebuilds
    ]
    if found is not None:
        result["recovery"] = {
            **_finite([("duration_s", found.duration_s)]),
            "degraded_rate": found.degraded.rate,
            "whole_rate": found.whole.rate,
            "loss": found.loss,
            "loss_to_failure": found.loss_to_failure,
        }
    return result


def _finite(values: Iterable[tuple[str, float]]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in values}
