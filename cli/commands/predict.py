"""`raidsim predict`: the main job. Calibrate on the studies' calibrate cells, predict the others, compare."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import InputError
from ...api.pictures.predict import comparison_figure
from ...api.studies import Evaluator, StudySpec, WrongRun, chosen_studies, summary
from ...api.support.keeping import keep_predictions
from ...api.support.predicting import StudiesPredicted, kept_only, predict_all
from ...api.support.unfinished import evaluating
from ...api.tables.predict import all_studies, study_answer, verdict
from ..support.files import check_picture, write_picture
from ..support.options import EveryStudyOption, RecalibrateOption, StudiesArgument, WorkersOption
from ..support.terminal import show


def predict_command(
    studies: StudiesArgument = None,
    every: EveryStudyOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Simulate everything; use no result that comes with raidsim.")
    ] = False,
    kept: Annotated[
        bool, typer.Option("--kept", help="Show the results that come with raidsim; simulate nothing.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="For maintainers: write the results that come with raidsim, and print none.")
    ] = False,
    recalibrate: RecalibrateOption = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw predicted against measured.")] = None,
    workers: WorkersOption = None,
) -> None:
    """Take the studies' profiles (or calibrate), predict every other cell, and compare.

    Results that come with raidsim for this model are shown at once. All of them are then simulated and must come out
    the same; the exit status is 1 if one does not.
    """
    if plot is not None:
        check_picture(plot)
    loaded = chosen_studies(studies or (), every)
    work = ("predict", [study.id for study in loaded], recalibrate)
    _check_options(keep, kept, {"--fresh": fresh, "--json": as_json, "--recalibrate": recalibrate, "--plot": plot})
    if keep:
        with evaluating(workers, *work) as evaluator:
            done = keep_predictions(loaded, evaluator, fresh, typer.echo)
        if not done:
            raise typer.Exit(1)
        return
    wrong: list[WrongRun] = []
    if kept:
        found = kept_only(loaded)
        _show(found, as_json, plot)
    else:
        with evaluating(workers, *work) as evaluator:
            found, wrong = _predicted(loaded, evaluator, recalibrate, fresh, as_json, plot)
    if as_json:
        typer.echo(json.dumps(_document(found, wrong)))
    if found.failed or wrong:
        raise typer.Exit(1)


def _check_options(keep: bool, kept: bool, others: Mapping[str, object]) -> None:
    """Refuse options that contradict each other."""
    if keep and kept:
        raise InputError("--keep", "--kept too", "expected: one of the two")
    wrong_with_keep = [option for option, given in others.items() if given and option != "--fresh"]
    if keep and wrong_with_keep:
        raise InputError("--keep", f"{wrong_with_keep[0]} too", "expected: one of the two")
    wrong_with_kept = [option for option in ("--fresh", "--recalibrate") if others[option]]
    if kept and wrong_with_kept:
        raise InputError("--kept", f"{wrong_with_kept[0]} too", "expected: one of the two")


def _show(found: StudiesPredicted, as_json: bool, plot: Path | None, each_study: bool = True) -> None:
    """Print tables, and draw what is to be drawn; of each study too unless that was done as it was complete."""
    if not as_json:
        for comparison in found.in_order if each_study else ():
            show(study_answer(comparison))
        show(all_studies(found.in_order, found.failed))
    if plot is not None and found.comparisons:
        write_picture(plot, lambda: comparison_figure(found.in_order))


def _predicted(
    studies: Sequence[StudySpec], evaluator: Evaluator, recalibrate: bool, fresh: bool, as_json: bool, plot: Path | None
) -> tuple[StudiesPredicted, list[WrongRun]]:
    """Predict, show what there is, and verify what was kept."""
    found = predict_all(
        studies, evaluator, recalibrate, fresh, lambda each: None if as_json else show(study_answer(each))
    )
    _show(found, as_json, plot, each_study=False)
    if not found.kept_runs:
        return found, []
    wrong = found.verify(evaluator)
    if not as_json:
        show(verdict(found.kept_runs, wrong))
    for each in found.queued:
        if each.study.id in {run.study for run in wrong} and not each.failed:
            found.comparisons[each.study.id] = each.comparison(kept=False)
            if not as_json:
                show(study_answer(found.comparisons[each.study.id]))
    return found, wrong


def _document(found: StudiesPredicted, wrong: Sequence[WrongRun]) -> dict[str, Any]:
    comparisons = found.in_order
    of = {name: [each for each in comparisons if each.study.report == name] for name in ("seed", "modern")}
    return {
        "studies": [each.document() for each in comparisons],
        "summary": summary(comparisons),
        **{name: summary(each) for name, each in of.items()},
        "kept": {"runs": found.kept_runs, "wrong": [each.document() for each in wrong]},
        "failed": [{"id": study, "error": error} for study, error in found.failed.items()],
    }
