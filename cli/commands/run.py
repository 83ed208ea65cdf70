"""`raidsim run`: one scenario, simulated: how fast, how late, how busy, what limits, and what if it did not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...calibration.uncertainty.model_interval import run_intervals
from ...model.core.errors import InputError
from ...model.files.description_errors import located
from ...scenarios.description.idle import IdleSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.documents.document import read_document
from ...scenarios.machine.observer import UNOBSERVED
from ...scenarios.pictures.style import FORMS
from ...scenarios.questions.rebuild_comparison import RebuildComparison, compare_rebuild
from ...scenarios.questions.without_bottleneck import WithoutBottleneck, run_without_bottleneck
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample, most_scale
from ...scenarios.running.simulate import simulate
from ...scenarios.timeline.chrome_trace import chrome_trace
from ...scenarios.timeline.timeline import DEFAULT_IOS, Recorder, Timeline
from ..plots.run import run_figure
from ..plots.timeline import IOS, MOST_IOS, timeline_figure
from ..support.files import check_output, check_picture, whole_file, write_picture
from ..support.options import ScenarioArgument, SetOption
from ..support.progress import progress_share
from ..tables.run import offered_only, print_prediction, print_right, print_without_bottleneck, run_console
from ..tables.run_document import document

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
            "--relief/--no-relief", help="Run it again without the bottleneck; default: if it is no long run."
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
            "--timeline-ios", min=1, metavar="N", help=f"Logical I/Os in it; {DEFAULT_IOS:,}, or {IOS} in a picture."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT.svg", help="Draw how busy and how late (svg, png or pdf).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Simulate a scenario: how fast, how late, how busy each part is, and what limits."""
    if timeline_ios is not None and timeline is None:
        raise InputError("--timeline-ios", "found it without --timeline", "allowed: with --timeline")
    described = read_document(scenario, sets or [])
    spec = described.spec()
    drawn = timeline is not None and timeline.suffix.lower() in FORMS
    if timeline is not None:
        _check_timeline(timeline, timeline_ios, drawn, described.name)
    if plot is not None:
        check_picture(plot, described.name)
    sample = _sample(spec, scale)
    recorder = Recorder(timeline_ios or (IOS if drawn else DEFAULT_IOS)) if timeline is not None else None
    try:
        prediction, found = _simulated(spec, sample, recorder)
    except InputError as error:
        raise located(error, described.positions) from None
    intervals, offered = run_intervals(spec), offered_only(spec, prediction)
    if offered:
        intervals = replace(intervals, rate=None)
    console = run_console()
    if not as_json:
        print_prediction(console, spec, prediction, found)
        console.file.flush()
    if timeline is not None and recorder is not None:
        recorded = Timeline.of(spec.name, recorder)
        if drawn:
            write_picture(timeline, lambda: timeline_figure(recorded), "--timeline")
        else:
            _write_timeline(timeline, recorded)
    if plot is not None:
        write_picture(plot, lambda: run_figure(spec, prediction))
    wanted = runs_again if runs_again is not None else prediction.events <= _MOST_EVENTS
    without = _without_bottleneck(spec, prediction, sample) if wanted else None
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


def _simulated(
    spec: ScenarioSpec, sample: Sample | None, recorder: Recorder | None
) -> tuple[Prediction, RebuildComparison | None]:
    """The run, and what a rebuild in it costs."""
    observer = UNOBSERVED if recorder is None else recorder
    with progress_share("simulating") as follow:
        if any(array.rebuilding for array in spec.arrays.values()) and not isinstance(spec.workload, IdleSpec):
            found = compare_rebuild(spec, sample, lambda run: follow(lambda: run.share), observer)
            return found.rebuilding, found
        return simulate(spec, sample, lambda run: follow(lambda: run.share), observer), None


def _without_bottleneck(spec: ScenarioSpec, prediction: Prediction, sample: Sample | None) -> WithoutBottleneck | None:
    with progress_share("simulating it without the bottleneck") as follow:
        return run_without_bottleneck(spec, prediction, sample, lambda run: follow(lambda: run.share))


def _check_timeline(path: Path, ios: int | None, drawn: bool, source: str) -> None:
    if not drawn:
        check_output(path, "--timeline", source)
        return
    check_picture(path, source, "--timeline")
    if ios is not None and ios > MOST_IOS:
        raise InputError("--timeline-ios", f"found {ios:,}", f"allowed in a picture: 1 to {MOST_IOS}; more in a .json")


def _write_timeline(path: Path, timeline: Timeline) -> None:
    with whole_file(path, "--timeline") as unfinished, unfinished.open("w", encoding="utf-8") as file:
        json.dump(chrome_trace(timeline), file, allow_nan=False, separators=(",", ":"))


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
