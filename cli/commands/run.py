"""`raidsim run`: one scenario, simulated: throughput, latency, utilization, the bottleneck, and what if it did not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...api.run import run_scenario
from ...api.scenario import Scenario
from ...api.support.run_document import document
from ...calibration.uncertainty.model_interval import run_intervals
from ...compiled.loader import in_use
from ...model.core.errors import InputError
from ...scenarios.documents.document import read_document
from ...scenarios.machine.observer import UNOBSERVED
from ...scenarios.timeline.length import DEFAULT_IOS, DRAWN_IOS, MOST_DRAWN_IOS
from ..support.files import check_output, check_picture, is_picture, whole_file, write_picture
from ..support.options import ScenarioArgument, SetOption
from ..tables.run import offered_only, print_prediction, print_right, print_without_bottleneck, run_console

# Pictures and timelines are imported where they are asked for.
if TYPE_CHECKING:
    from ...scenarios.timeline.timeline import Timeline

_MOST_EVENTS = 1_000_000
"""A run of more (about 5 s) is not made a second time without being asked for."""


def run_command(
    scenario: ScenarioArgument,
    sets: SetOption = None,
    scale: Annotated[
        int | None, typer.Option(help="Run programs at one N-th of their size; 1 is the whole program.", metavar="N")
    ] = None,
    runs_again: Annotated[
        bool | None,
        typer.Option(
            "--relief/--no-relief", help="Run it again without the bottleneck (default: only for runs under about 5 s)."
        ),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline", metavar="OUT.json", help="Write what happened, for ui.perfetto.dev; OUT.svg or .png: draw it."
        ),
    ] = None,
    timeline_ios: Annotated[
        int | None,
        typer.Option(
            "--timeline-ios",
            min=1,
            metavar="N",
            help=f"Logical I/Os in it; {DEFAULT_IOS:,}, or {DRAWN_IOS} in a picture.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT.svg", help="Draw utilization and latency (svg, png or pdf).")
    ] = None,
    all_parts: Annotated[
        bool, typer.Option("--all-parts", help="A line for every drive, port and link; default: many alike share one.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Simulate a scenario: throughput, latency, utilization of each part, and the bottleneck."""
    if timeline_ios is not None and timeline is None:
        raise InputError("--timeline-ios", "found it without --timeline", "expected: with --timeline")
    described = Scenario.of(read_document(scenario, sets or []))
    spec = described.spec
    drawn = timeline is not None and is_picture(timeline)
    if timeline is not None:
        _check_timeline(timeline, timeline_ios, drawn, described.document.name)
    if plot is not None:
        check_picture(plot, described.document.name)
    ios = timeline_ios or (DRAWN_IOS if drawn else DEFAULT_IOS)
    # Compiled parts cannot be watched: where they are in use, the timeline is recorded in another process.
    recorder = None
    if timeline is not None and not in_use():
        from ...scenarios.timeline.recorder import Recorder

        recorder = Recorder(ios)
    result = run_scenario(described, scale, UNOBSERVED if recorder is None else recorder)
    prediction, found = result.prediction, result.rebuild
    offered = offered_only(spec, prediction)
    intervals = run_intervals(spec, offered)
    console = run_console()
    if not as_json:
        print_prediction(console, spec, prediction, found, all_parts)
        console.file.flush()
    if timeline is not None:
        from ...scenarios.timeline.timeline import Timeline, record

        recorded = record(spec, result.sample, ios) if recorder is None else Timeline.of(spec.name, recorder)
        if drawn:
            from ...api.pictures.timeline import timeline_figure

            write_picture(timeline, lambda: timeline_figure(recorded), "--timeline")
        else:
            _write_timeline(timeline, recorded)
    if plot is not None:
        from ...api.pictures.run import run_figure

        write_picture(plot, lambda: run_figure(spec, prediction))
    wanted = runs_again if runs_again is not None else prediction.events <= _MOST_EVENTS
    without = result.without_bottleneck() if wanted else None
    if as_json:
        typer.echo(json.dumps(document(spec, prediction, found, without, intervals), allow_nan=False))
        return
    if without is not None:
        print_without_bottleneck(console, spec, prediction, without)
    elif runs_again is None and not wanted:
        console.print(
            "Skipped the rerun without the bottleneck, as it would take as long again; use --relief to force it."
        )
    print_right(console, prediction, intervals, offered)


def _check_timeline(path: Path, ios: int | None, drawn: bool, source: str) -> None:
    if not drawn:
        check_output(path, "--timeline", source)
        return
    check_picture(path, source, "--timeline")
    if ios is not None and ios > MOST_DRAWN_IOS:
        raise InputError(
            "--timeline-ios", f"found {ios:,}", f"allowed in a picture: 1 to {MOST_DRAWN_IOS}; more in a .json"
        )


def _write_timeline(path: Path, timeline: Timeline) -> None:
    from ...scenarios.timeline.chrome_trace import chrome_trace

    with whole_file(path, "--timeline") as unfinished, unfinished.open("w", encoding="utf-8") as file:
        json.dump(chrome_trace(timeline), file, allow_nan=False, separators=(",", ":"))
