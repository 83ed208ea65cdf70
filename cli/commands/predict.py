"""`raidsim predict`: the main job. Calibrate on the studies' calibrate cells, predict the others, compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from ...calibration.fit.fit import calibrate
from ...calibration.fit.profile import Profile, fingerprint, kept_profile, load_profile, profile_path
from ...calibration.simulation.evaluator import Evaluator
from ...calibration.study.study import StudySpec, chosen_studies
from ...model.core.errors import InputError
from ...validation.prediction.comparison import StudyComparison, compare, summary
from ..plots.predict import comparison_figure
from ..support.files import check_picture, write_picture
from ..support.progress import progress_bar
from ..support.unfinished import evaluating
from ..tables.predict import print_all, print_study, tables_console


def predict_command(
    studies: Annotated[
        list[str] | None, typer.Argument(help="Studies by name or file; default: all but the modern ones.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All studies, the modern ones too; takes long.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    recalibrate: Annotated[bool, typer.Option("--recalibrate", help="Fit again, whatever is stored.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw predicted against measured.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=0, help="Processes (one per core); 0: in this process.")
    ] = None,
) -> None:
    """Take the studies' profiles (or calibrate), predict every other cell, and compare."""
    if plot is not None:
        check_picture(plot)
    loaded = chosen_studies(studies or (), every)
    console = tables_console()
    with evaluating(workers, "predict", [study.id for study in loaded], recalibrate) as evaluator:
        comparisons, failed = predict_studies(
            loaded, evaluator, recalibrate, lambda each: None if as_json else print_study(console, each)
        )
    if plot is not None and comparisons:
        write_picture(plot, lambda: comparison_figure(comparisons))
    if as_json:
        of = {name: [each for each in comparisons if each.study.report == name] for name in ("seed", "modern")}
        document = {
            "studies": [each.document() for each in comparisons],
            "summary": summary(comparisons),
            **{name: summary(each) for name, each in of.items()},
            "failed": [{"id": study, "error": error} for study, error in failed.items()],
        }
        typer.echo(json.dumps(document))
    else:
        print_all(console, comparisons, failed)
    if failed:
        raise typer.Exit(1)


def predict_studies(
    studies: Iterable[StudySpec],
    evaluator: Evaluator,
    recalibrate: bool,
    done: Callable[[StudyComparison], None],
) -> tuple[list[StudyComparison], dict[str, str]]:
    """Predict studies one after the other, and call `done` with each; the second result says why some could not be."""
    comparisons: list[StudyComparison] = []
    failed: dict[str, str] = {}
    for study in studies:
        try:
            comparison = _predicted(study, evaluator, recalibrate)
        except Exception as error:  # whatever ends one study must not take the others' results along
            failed[study.id] = " ".join(f"{type(error).__name__}: {error}".split())
            typer.echo(f"{study.id} could not be predicted: {failed[study.id]}", err=True)
            continue
        finally:
            evaluator.forget()
        comparisons.append(comparison)
        done(comparison)
    return comparisons, failed


def _predicted(study: StudySpec, evaluator: Evaluator, recalibrate: bool) -> StudyComparison:
    profile = _profile(study, evaluator, recalibrate)
    with progress_bar(f"predicting {study.id}") as progress:
        return compare(study, profile, evaluator, progress)


def _profile(study: StudySpec, evaluator: Evaluator, recalibrate: bool) -> Profile | None:
    """The stored profile if it belongs to this study and this version, or the one that raidsim comes with.

    Where there is neither, or a new fit is asked for, a new one, stored when it is complete.
    """
    if not study.parameters or not study.all_cells:
        return None
    path = profile_path(study)
    if path.exists() and not recalibrate:
        try:
            stored = load_profile(path)
        except InputError as error:
            typer.echo(f"the stored profile cannot be used and is fitted again: {error}", err=True)
        else:
            if stored.fingerprint == fingerprint(study):
                return stored
    kept = None if recalibrate else kept_profile(study)
    if kept is not None:
        typer.echo(f"{study.id}: with the profile that comes with raidsim; --recalibrate fits it anew", err=True)
        return kept
    with progress_bar(f"calibrating {study.id}") as progress:
        profile = calibrate(study, evaluator, progress)
    profile.save(path)
    return profile
