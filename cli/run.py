"""`raidsim run`: one scenario, simulated: how fast, how late, how busy, and what limits."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ..model.spec_errors import load_spec
from ..scenarios.prediction import Prediction, RebuildProgress
from ..scenarios.recovery import Recovery, recovery
from ..scenarios.run import simulate
from ..scenarios.scenario import ScenarioSpec

_WIDTH = 100
_WORDS = {"recover": ("rebuilt", "rebuild"), "check": ("checked", "check"), "repair": ("repaired", "repair")}


def run_command(
    scenario: Annotated[Path, typer.Argument(help="A scenario file (YAML).")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Simulate a scenario."""
    spec = load_spec(ScenarioSpec, scenario)
    if any(array.rebuilding for array in spec.arrays.values()):
        found = recovery(spec)
        _show(spec, found.rebuilding, found, as_json)
    else:
        _show(spec, simulate(spec), None, as_json)


def _show(spec: ScenarioSpec, prediction: Prediction, found: Recovery | None, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(document(spec, prediction, found)))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(f"[bold]{spec.name}[/bold] ({spec.kernel})")
    iops = " and ".join(f"{rate:,.0f} {op}s/s" for op, rate in prediction.iops.items())
    console.print(f"{prediction.rate / 1e6:,.2f} MB/s, {iops}")
    console.print(f"bottleneck: {prediction.bottleneck}")
    if prediction.latencies:
        console.print(_latencies(prediction))
    console.print(_usages(prediction))
    for rebuild in prediction.rebuilds:
        console.print(_rebuild_line(rebuild))
    if found is not None:
        console.print(
            f"Beside the rebuild the load gets {prediction.rate / 1e6:,.2f} MB/s; degraded without it "
            f"{found.degraded.rate / 1e6:,.2f} MB/s ({100 * found.loss:.0f} % lost to the rebuild); whole "
            f"{found.whole.rate / 1e6:,.2f} MB/s ({100 * found.loss_to_failure:.0f} % lost to the failure)."
        )


def _latencies(prediction: Prediction) -> Table:
    table = Table(title="Latency (ms)", title_justify="left", box=SIMPLE_HEAD)
    columns = ("mean", "p50", "p90", "p99", "p99.9", "max")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for op, figures in prediction.latencies.items():
        table.add_row(op, *(f"{1e3 * figures[f'{column}_s']:.3f}" for column in columns))
    return table


def _usages(prediction: Prediction) -> Table:
    table = Table(title="How busy", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("part", no_wrap=True)
    for column in ("busy", "mean queue", "reads", "writes", "MB"):
        table.add_column(column, justify="right")
    for usage in prediction.usages:
        if usage.kind == "disk":
            queue, counts = f"{usage.mean_queue:.2f}", (f"{usage.reads:,}", f"{usage.writes:,}")
        else:
            queue, counts = "", ("", "")
        moved = f"{usage.bytes / 1e6:,.1f}" if usage.bytes else ""
        table.add_row(usage.name, f"{100 * usage.utilisation:.0f} %", queue, *counts, moved)
    return table


def _rebuild_line(rebuild: RebuildProgress) -> str:
    verb, noun = _WORDS[rebuild.action]
    if not rebuild.rate:
        return f"{rebuild.array}: the {noun} stands still beside this load."
    return (
        f"{rebuild.array}: {verb} at {rebuild.rate / 1e6:,.2f} MB/s per member; all "
        f"{rebuild.total_bytes / 1e9:,.1f} GB take {_duration(rebuild.duration_s)}."
    )


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def document(spec: ScenarioSpec, prediction: Prediction, found: Recovery | None = None) -> dict[str, Any]:
    """The result as a JSON document: SI units, names as in :class:`~raidsim.scenarios.prediction.Prediction`."""
    result: dict[str, Any] = {"name": spec.name, "kernel": spec.kernel, **dataclasses.asdict(prediction)}
    result["rebuilds"] = [
        {
            **dataclasses.asdict(rebuild),
            "duration_s": rebuild.duration_s if rebuild.rate else None,
            "left_s": rebuild.left_s if rebuild.rate else None,
        }
        for rebuild in prediction.rebuilds
    ]
    if found is not None:
        result["recovery"] = {
            "duration_s": found.duration_s if prediction.rebuilds[0].rate else None,
            "degraded_rate": found.degraded.rate,
            "whole_rate": found.whole.rate,
            "loss": found.loss,
            "loss_to_failure": found.loss_to_failure,
        }
    return result
