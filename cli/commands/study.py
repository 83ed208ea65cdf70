"""`raidsim study` and `raidsim studies`: begin a study of one's own and find out what it lacks; the catalogue's."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...api.answer.numbers import PERCENT
from ...api.answer.tree import Answer, Column, Part, Table, Words, lines
from ...api.answer.units import format_duration
from ...api.studies import (
    FIRST_SHOTS,
    FirstShot,
    StudyCheck,
    StudySpec,
    check_study,
    load_first_shots,
    load_study,
    resolve_study,
    skeleton,
    study_names,
    sum_in_order,
)
from ...api.support.predicting import predict_studies
from ...api.support.progress import progress_bar
from ...api.support.unfinished import evaluating
from ..support.files import write_file
from ..support.terminal import console_of, show

_ACTIONS = ("new", "check", "first-shot")
_MOST_SHOWN = 12


def study_command(
    action: Annotated[
        str,
        typer.Argument(
            metavar="new|check|first-shot",
            help="Begin a study, look at one, or keep the error of its first prediction.",
        ),
    ],
    study: Annotated[str, typer.Argument(metavar="STUDY", help="new: the study's name; otherwise its file or name.")],
    on_drive: Annotated[
        list[Path] | None,
        typer.Option("--on-drive", metavar="FILE", help="fio's JSON of jobs on one drive; repeatable. Calibrated on."),
    ] = None,
    on_array: Annotated[
        list[Path] | None,
        typer.Option("--on-array", metavar="FILE", help="fio's JSON of jobs on the array; repeatable. Predicted."),
    ] = None,
    drive: Annotated[str | None, typer.Option("--drive", metavar="MODEL", help="The drives, of the catalogue.")] = None,
    count: Annotated[int, typer.Option("--count", min=1, max=1000, help="How many drives there are.")] = 2,
    level: Annotated[str, typer.Option("--level", help="The array's level.")] = "raid1",
    kernel: Annotated[str, typer.Option("--kernel", help="The kernel, of the catalogue.")] = "linux-6.1",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="new: write it to this file; first-shot: the file of first shots."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
    note: Annotated[
        str | None,
        typer.Option(
            "--note",
            metavar="TEXT",
            help="first-shot: what was changed in the description since; nothing is predicted.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=0, help="first-shot: processes (one per core); 0: in this process."),
    ] = None,
    resolve: Annotated[
        bool, typer.Option("--resolve", help="check: build the machine of every run, and simulate nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="check and first-shot: one JSON object on stdout.")] = False,
) -> None:
    """Write the skeleton of a study from fio's reports, say what it lacks, or keep its first prediction's error."""
    if action not in _ACTIONS:
        raise InputError("study", f"found {action!r}", f"expected: {', '.join(_ACTIONS[:-1])} or {_ACTIONS[-1]}")
    if action != "new":
        _only_with("new", {"--on-drive": on_drive, "--on-array": on_array, "--drive": drive})
    if action != "first-shot":
        _only_with("first-shot", {"--note": note, "--workers": workers})
    if action != "check":
        _only_with("check", {"--resolve": resolve or None})
    if action == "check":
        _only_with("new or first-shot", {"--output": output})
        if resolve:
            _resolve(load_study(study), as_json)
        else:
            _check(load_study(study), as_json)
        return
    if action == "first-shot":
        _first_shot(load_study(study), output or FIRST_SHOTS, note, workers, as_json)
        return
    if drive is None:
        raise InputError("--drive", "it is missing", "expected: a drive of the catalogue (raidsim drives)")
    text = skeleton(study, on_drive or [], on_array or [], drive, count, level, kernel)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_file(output, text, force)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _only_with(action: str, options: dict[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(name, "found with another action", f"expected: with {action}")


def _first_shot(study: StudySpec, path: Path, note: str | None, workers: int | None, as_json: bool) -> None:
    """Predict a study that has no first shot yet, and keep its total errors; or add a note to the kept ones."""
    kept = load_first_shots(path)
    if note is not None:
        kept = kept.with_note(study.id, note)
    else:
        kept.refuse_second(study.id)
        with evaluating(workers, "first-shot", study.id) as evaluator:
            comparisons, failed = predict_studies([study], evaluator, recalibrate=False)
        if failed:
            raise typer.Exit(1)
        kept = kept.with_shot(comparisons[0])
    kept.save(path)
    shot = kept.shots[study.id]
    typer.echo(json.dumps({"study": study.id, **shot.model_dump()}) if as_json else _shot_words(study.id, shot))


def _shot_words(study: str, shot: FirstShot) -> str:
    """A first shot in a line, without its single figures."""
    return (
        f"{study}: first shot of {shot.date}, {shot.model}: {_count(shot.n, 'predicted cell')}, "
        f"median error {shot.median_error_pct:.1f} %, 90th percentile {shot.p90_error_pct:.1f} %, "
        f"{shot.inside_pct:.0f} % inside their 90 % interval; "
        f"{shot.claims_held} of {_count(shot.claims, 'claim')} held."
    )


def _resolve(study: StudySpec, as_json: bool) -> None:
    """Say what a study has and lacks, without a simulation."""
    problems = resolve_study(study)
    if as_json:
        counts = {"runs": len(study.wanted_runs), "cells": len(study.all_cells) + len(study.zero_cells)}
        typer.echo(json.dumps({"study": study.id, **counts, "problems": problems}))
        return
    show(_head(study, problems))
    show(Words("The machine of every run can be built, and every cell has its run and figure. Nothing was simulated."))


def _head(study: StudySpec, problems: Sequence[str]) -> Answer:
    """How many parts a study has, and what is missing."""
    calibrated = len(study.calibrate_cells)
    cells = len(study.all_cells)
    counts = [
        _count(len(study.wanted_runs), "run"),
        f"{_count(cells, 'cell')} ({calibrated} calibrate, {cells - calibrated} predict)",
        _count(len(study.parameters), "parameter"),
        _count(len(study.claims), "claim"),
    ]
    told = [f"- {problem}" for problem in problems] or ["Nothing is missing."]
    head = f"{', '.join(counts)}, {len(study.missing)} missing."
    return Answer(f"{study.title} ({study.id})", lines([head, *told]))


def _check(study: StudySpec, as_json: bool) -> None:
    with progress_bar("simulating every run") as progress:
        found = check_study(study, progress)
    if as_json:
        typer.echo(json.dumps(_document(study, found), allow_nan=False))
        return
    total_s = sum_in_order(found.run_s.values())
    told = [f"Simulating every run once takes {format_duration(total_s)} of CPU time."]
    if study.parameters and study.calibrate_cells:
        told.append(f"A fit takes about {format_duration(found.fit_s)} of CPU time.")
    slowest = max(found.run_s, key=lambda run: found.run_s[run], default=None)
    if slowest is not None and found.run_s[slowest] > 0.3 * total_s and len(found.run_s) > 3:
        told.append(f"The slowest run is {slowest} ({format_duration(found.run_s[slowest])}).")
    show(Answer("", [_head(study, found.problems), *_moved(found), *lines(told)]))


def _moved(found: StudyCheck) -> Iterator[Part]:
    columns = [Column("number"), *(Column(name, show=PERCENT, scale=100.0) for name in ("prior", "moves"))]
    rows = [
        (each.path, each.sd, math.expm1(each.change), each.cell, "fitted" if each.fitted else "not fitted")
        for each in found.moved[:_MOST_SHOWN]
    ]
    title = "Numbers that move a cell most, by one standard deviation of a usual prior"
    yield Table(f"{title} (runs {', '.join(found.looked_at)})", [*columns, Column("cell"), Column("")], rows)
    if len(found.moved) > _MOST_SHOWN:
        yield Words(f"... and {len(found.moved) - _MOST_SHOWN} more; all of them: --json")


def _document(study: StudySpec, found: StudyCheck) -> dict[str, object]:
    return {"study": study.id, **asdict(found)}


def studies_command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the published benchmark reports in the catalogue."""
    studies = [load_study(name) for name in study_names()]
    if as_json:
        found = [
            {
                "id": study.id,
                "title": study.title,
                "report": study.report,
                "author": study.source.author,
                "date": study.source.date,
                "where": study.source.where,
                **_counts(study),
            }
            for study in studies
        ]
        typer.echo(json.dumps({"studies": found}))
        return
    columns = [Column(name) for name in ("study", "title", "author", "date")]
    columns += [Column(name, show=str) for name in ("calibrate", "predict", "claims", "missing")]
    rows = [
        (study.id, study.title, study.source.author, study.source.date, *map(str, _counts(study).values()))
        for study in studies
    ]
    show(Table("", columns, rows), console_of(128))


def _counts(study: StudySpec) -> dict[str, int]:
    calibrated = len(study.calibrate_cells)
    return {
        "calibrate": calibrated,
        "predict": len(study.all_cells) - calibrated,
        "claims": len(study.claims),
        "missing": len(study.missing),
    }
