"""`raidsim run`: one scenario, simulated: throughput, latency, utilization, the bottleneck, and what if it did not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...api.answer.tree import Answer, Words
from ...api.result import DEFAULT_IOS, DRAWN_IOS, MOST_DRAWN_IOS
from ...api.run import UNOBSERVED, run_scenario, watching
from ...api.scenario import Scenario
from ...api.tables.rebuild import remedies_table
from ...api.tables.run import without_line, without_wait_line
from ..support.files import check_output, check_picture, is_picture, whole_file, write_picture
from ..support.options import ScenarioArgument, SetOption
from ..support.terminal import console_of, show

_MOST_EVENTS = 1_000_000
"""A run of more (about 5 s) is not made a second time without being asked for."""
_MOST_WITH_SETTINGS = 200_000
"""A rebuild of more is not simulated with each of half a dozen settings without being asked for."""


def run_command(
    scenario: ScenarioArgument,
    sets: SetOption = None,
    scale: Annotated[
        int | None, typer.Option(help="Run programs at one N-th of their size; 1 is the whole program.", metavar="N")
    ] = None,
    runs_again: Annotated[
        bool | None,
        typer.Option(
            "--relief/--no-relief",
            help="Run again without bottleneck and longest waits, a rebuild with other settings (default: under 5 s).",
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
    described = Scenario.load(scenario, sets or [])
    spec = described.spec
    drawn = timeline is not None and is_picture(timeline)
    if timeline is not None:
        _check_timeline(timeline, timeline_ios, drawn, described.document.name)
    if plot is not None:
        check_picture(plot, described.document.name)
    ios = timeline_ios or (DRAWN_IOS if drawn else DEFAULT_IOS)
    result = run_scenario(described, scale, UNOBSERVED if timeline is None else watching(ios))
    prediction, console = result.prediction, console_of()
    if not as_json:
        show(result.measured(all_parts), console)
        console.file.flush()
    if timeline is not None and drawn:
        write_picture(timeline, lambda: result.timeline_figure(ios), "--timeline")
    elif timeline is not None:
        recorded = result.timeline_document(ios)
        with whole_file(timeline, "--timeline") as unfinished, unfinished.open("w", encoding="utf-8") as file:
            json.dump(recorded, file, allow_nan=False, separators=(",", ":"))
    if plot is not None:
        write_picture(plot, result.figure)
    wanted = runs_again if runs_again is not None else prediction.events <= _MOST_EVENTS
    without = result.without_bottleneck() if wanted else None
    waits = result.without_waits(without) if wanted else []
    if runs_again or (wanted and prediction.events <= _MOST_WITH_SETTINGS):
        result.rebuild_remedies()
    if as_json:
        typer.echo(json.dumps(result.document(without, waits), allow_nan=False))
        return
    for table in remedies_table(result.rebuild):
        show(table, console)
    if without is not None:
        show(without_line(spec, prediction, without), console)
    elif runs_again is None and not wanted:
        show(
            Words("Skipped the rerun without the bottleneck, as it would take as long again; use --relief to force it.")
        )
    for each in waits:
        if without is None or each.without.what != without.what:
            show(without_wait_line(spec, prediction, each), console)
    show(Answer("", result.sure()), console)


def _check_timeline(path: Path, ios: int | None, drawn: bool, source: str) -> None:
    if not drawn:
        check_output(path, "--timeline", source)
        return
    check_picture(path, source, "--timeline")
    if ios is not None and ios > MOST_DRAWN_IOS:
        raise InputError(
            "--timeline-ios", f"found {ios:,}", f"allowed in a picture: 1 to {MOST_DRAWN_IOS}; more in a .json"
        )
