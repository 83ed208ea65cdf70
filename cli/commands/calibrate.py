"""`raidsim calibrate`: fit a study's parameters, and say what the data tell about them and what they do not."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ... import InputError
from ...api.studies import (
    ALLOWED,
    SEED,
    TABLE,
    Calibrated,
    FioStudy,
    StudySpec,
    Vector,
    chosen_studies,
    lacking,
    learn,
    load_profile,
    load_study,
    load_table,
    read_choices,
    scenario_path,
)
from ...api.support.fitting import FittedStudy, calibrate_all, calibrated, fitted_studies
from ...api.tables.calibrate import calibration_answer, learnt_answer
from ..support.options import WorkersOption
from ..support.terminal import show


def calibrate_command(
    study: Annotated[str | None, typer.Argument(help="A study by name or file.")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Fit all studies and store their profiles; the same command goes on.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="PROFILE.yaml", help="Keep the profile. With --all: a folder for all."),
    ] = None,
    recalibrate: Annotated[
        bool, typer.Option("--recalibrate", help="With --all: fit again what this version has fitted already.")
    ] = False,
    starts: Annotated[
        int | None,
        typer.Option("--starts", min=1, help="Searches (1; with --all up to 3), all but one from draws of the priors."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draws.")] = SEED,
    begin: Annotated[
        Path | None, typer.Option("--from", metavar="PROFILE.yaml", help="Where the first search begins.")
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", metavar="NAME", help="90 % interval by profile likelihood, or `all`; repeatable."),
    ] = None,
    choose: Annotated[
        list[str] | None,
        typer.Option("--choose", metavar="PLACE=A,B", help=f"Which fits best: {ALLOWED}. Repeatable."),
    ] = None,
    workers: WorkersOption = None,
    learn_discrepancy: Annotated[
        list[Path] | None,
        typer.Option("--learn-discrepancy", metavar="FILE.json", help="Of predict --json; repeatable. Fits nothing."),
    ] = None,
    from_fio: Annotated[
        Path | None, typer.Option("--from-fio", metavar="DIR", help="Fit a disk of your own to fio's JSON in a folder.")
    ] = None,
    machine: Annotated[
        Path | None, typer.Option("--machine", metavar="SCENARIO.yaml", help="Of --from-fio; default: one drive.")
    ] = None,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="MODEL", help="Of --from-fio, from the catalogue.")
    ] = None,
    study_file: Annotated[
        Path | None, typer.Option("--study", metavar="FILE.yaml", help="Keep the study made by --from-fio.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Fit a study's parameters to its calibrate cells."""
    if learn_discrepancy:
        if study is not None:
            raise InputError("calibrate", f"{study} and --learn-discrepancy", "expected: one of the two")
        _learn(learn_discrepancy, output or TABLE, as_json)
        return
    if every:
        others = {"--from": begin, "--profile": profile, "--choose": choose, "--from-fio": from_fio}
        given = [f"the study {study}"] if study is not None else [name for name, value in others.items() if value]
        if given:
            raise InputError("--all", f"found {given[0]} too", "expected: one of the two")
        _fit_all(output, starts, seed, recalibrate, workers, as_json)
        return
    if recalibrate:
        raise InputError("--recalibrate", "found without --all", "expected: with it; a single study is always fitted")
    for option, value in (("--machine", machine), ("--drive", drive), ("--study", study_file)):
        if value is not None and from_fio is None:
            raise InputError(option, "found without --from-fio", "expected: with it")
    for option, path in (("--output", output), ("--study", study_file)):
        if path is not None:
            _check_written(option, path)
    own = None if from_fio is None else _own(from_fio, study, machine, drive, study_file)
    if own is not None:
        spec = own.study
    elif study is not None:
        spec = load_study(study)
    else:
        raise InputError("calibrate", "no study", "expected: a name that raidsim studies lists, a file, or --from-fio")
    choices = read_choices(choose or [])
    if output is not None and not choices.keys() <= ({"state"} if own is not None else set()):
        raise InputError("--output", "a profile of a choice", "expected: once the study's file says what was chosen")
    place = None if begin is None else _place(begin, spec)
    found = _calibrated(spec, 1 if starts is None else starts, seed, place, profile or [], choices, workers)
    if own is not None and found.tried:
        own.choose(found.study)
        if study_file is not None:
            own.save_study(study_file)
    if output is not None:
        found.profile.save(output)
        if own is not None:
            own.save_scenario(scenario_path(output), found.profile.factors)
            doubt = "; the fit failed, so do not trust it" if found.failures else ""
            typer.echo(f"the fitted machine, for raidsim run, is in {scenario_path(output)}{doubt}", err=True)
    if as_json:
        typer.echo(json.dumps(found.document()))
    else:
        show(calibration_answer(found))
    if found.failures:
        raise typer.Exit(1)


def _fit_all(
    folder: Path | None, starts: int | None, seed: int, recalibrate: bool, workers: int | None, as_json: bool
) -> None:
    """Fit all studies; the exit status is 1 if a fit failed."""
    if folder is not None:
        _check_written("--output", folder / "PROFILE.yaml")
    studies = fitted_studies(chosen_studies((), True))
    shown = (lambda _: None) if as_json else _print_fitted
    found = calibrate_all(studies, folder, starts, seed, recalibrate, workers, shown)
    failed = [each for each in found if each.profile is None or each.profile.failures()]
    if as_json:
        typer.echo(json.dumps({"studies": [_fitted_document(each) for each in found]}))
    else:
        typer.echo(f"{len(found)} studies, {len(failed)} fits failed")
    if failed:
        raise typer.Exit(1)


def _print_fitted(each: FittedStudy) -> None:
    """One line a study, and what a reader must know of its fit."""
    if each.profile is None:
        typer.echo(f"{each.study.id}: could not be fitted: {each.error}")
        return
    cells, parameters = len(each.study.calibrate_cells), len(each.study.parameters)
    typer.echo(
        f"{each.study.id}: {parameters} parameter{'s' * (parameters != 1)}, {cells} cell{'s' * (cells != 1)}, two "
        f"thirds within {100 * each.profile.discrepancy:.1f} %, {each.profile.simulations} simulations"
    )
    for line in each.profile.notes:
        typer.echo(f"  - {line}")


def _fitted_document(each: FittedStudy) -> dict[str, object]:
    if each.profile is None:
        return {"id": each.study.id, "error": each.error}
    told = each.profile.model_dump(mode="json", exclude={"study", "sensitivities", "spreads", "correlation"})
    return {"id": each.study.id, "failures": each.profile.failures(), **told}


def _check_written(option: str, path: Path) -> None:
    """Refuse a file that could not be written, before anything is fitted; folders that are not there are made."""
    there = next(folder for folder in path.absolute().parents if folder.exists())
    if path.is_dir() or not there.is_dir() or not os.access(there, os.W_OK):
        what = "it is a folder" if path.is_dir() else f"{there} is no folder to write to"
        raise InputError(option, f"{path} cannot be written: {what}", "expected: a file")


def _own(folder: Path, study: str | None, machine: Path | None, drive: str | None, keep: Path | None) -> FioStudy:
    """The study of somebody's own measurements."""
    if study is not None:
        raise InputError("calibrate", f"{study} and --from-fio", "expected: one of the two")
    own = FioStudy(folder, machine, drive)
    typer.echo(f"fitted as {own.base.note}", err=True)
    for note in own.notes:
        typer.echo(f"note: {note}", err=True)
    if keep is not None:
        own.save_study(keep)
    return own


def _place(path: Path, study: StudySpec) -> Vector:
    """ln(factor) of a study's parameters in a profile, which must have these and no others."""
    profile = load_profile(path)
    names, factors = [parameter.name for parameter in study.parameters], profile.factors
    if set(names) != set(factors):
        lacking = ", ".join(name for name in names if name not in factors) or "none"
        more = ", ".join(name for name in factors if name not in names) or "none"
        found = f"a profile of {profile.study} without {lacking}, and with {more}"
        raise InputError("--from", found, f"expected: the study's parameters: {', '.join(names)}")
    return np.log([factors[name] for name in names])


def _calibrated(
    study: StudySpec,
    starts: int,
    seed: int,
    begin: Vector | None,
    asked: list[str],
    choices: dict[str, list[str]],
    workers: int | None,
) -> Calibrated:
    names = [parameter.name for parameter in study.parameters]
    asked = names if "all" in asked else asked
    for name in asked:
        if name not in names:
            raise InputError("--profile", f"unknown parameter {name!r}", f"expected: {', '.join(names)}, all")
    return calibrated(study, starts, seed, begin, asked, choices, workers)


def _learn(files: list[Path], output: Path, as_json: bool) -> None:
    table = learn(files, load_table(), date.today().isoformat())
    table.save(output)
    without = lacking(table)
    if as_json:
        typer.echo(json.dumps({**table.model_dump(mode="json"), "lacking": without}))
    else:
        show(learnt_answer(table, without))
    if without:
        raise typer.Exit(1)
