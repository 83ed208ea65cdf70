"""`raidsim validate` and `raidsim drift`: how right raidsim is, and whether a change has moved that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError, __version__
from ...api.answer.html import page
from ...api.answer.tree import lines
from ...api.tables.parts.without import without_answer
from ...api.tables.validate import validation_answer
from ...api.validation import (
    chosen_studies,
    conformance_totals,
    drift_of_all,
    drift_of_drives,
    drift_of_quick,
    outdated_manual,
    pages_written,
    standings,
    totals_from_file,
    validated,
    without_mechanisms,
)
from ..support.files import require_matplotlib, whole_file
from ..support.options import EveryStudyOption, RecalibrateOption, StudiesArgument, WorkersOption
from ..support.terminal import show


def validate_command(
    studies: StudiesArgument = None,
    every: EveryStudyOption = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    recalibrate: RecalibrateOption = False,
    leave_out_levels: Annotated[
        bool, typer.Option("--leave-out", help="Cross-validate too: a fit for every level of a study; takes long.")
    ] = False,
    conformance: Annotated[
        bool, typer.Option("--conformance", help="Run the conformance checks too; takes minutes.")
    ] = False,
    conformance_json: Annotated[
        Path | None, typer.Option("--conformance-json", help="What `raidsim conformance --json` has printed.")
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without",
            metavar="FIELD[,FIELD]",
            help="Instead: what changes without these mechanisms; `all`: without each in turn, which takes hours.",
        ),
    ] = None,
    workers: WorkersOption = None,
) -> None:
    """Predict the studies as `raidsim predict` does, and judge the predictions."""
    if without is not None:
        others = {"--html": html, "--recalibrate": recalibrate, "--leave-out": leave_out_levels}
        others["--conformance-json"] = conformance_json
        for option, given in others.items():
            if given:
                raise InputError("--without", f"{option} too", "expected: one of the two")
        _without(without, studies or (), every, conformance, as_json, workers)
        return
    if html is not None:
        _check_file(html)
    if conformance and conformance_json is not None:
        raise InputError("--conformance-json", "--conformance too", "expected: one of the two")
    totals = None if conformance_json is None else totals_from_file(conformance_json)
    made = validated(
        chosen_studies(studies or (), every),
        recalibrate,
        leave_out_levels,
        workers,
        conformance_totals if conformance else lambda: totals,
    )
    if html is not None:
        with whole_file(html, "--html") as unfinished:
            lead = " ".join([*standings(made), f"Made with raidsim {__version__}."])
            unfinished.write_text(page(validation_answer(made, whole=True), lead), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(made.document()))
    else:
        show(validation_answer(made))
        for part in lines(standings(made), "title"):
            show(part)
        if told := outdated_manual():
            typer.echo(told)
    if made.failed or (made.conformance is not None and not made.conformance.reached):
        raise typer.Exit(1)


def _without(
    text: str, studies: Sequence[str], every: bool, conformance: bool, as_json: bool, workers: int | None
) -> None:
    """Predict the studies with mechanisms and without them, and print what changes."""
    loaded = chosen_studies(studies, every)
    chosen, failed = without_mechanisms(text, loaded, conformance, workers, lambda line: typer.echo(line, err=as_json))
    if as_json:
        failures = [{"id": study, "error": error} for study, error in failed.items()]
        typer.echo(json.dumps({"mechanisms": [each.document() for each in chosen], "failed": failures}))
    else:
        show(without_answer(chosen))
    if failed:
        raise typer.Exit(1)


def _check_file(path: Path) -> None:
    """Refuse a page that could not be written, before anything long is computed."""
    require_matplotlib("--html")
    if not path.absolute().parent.is_dir():
        raise InputError(
            "--html", f"{path}: there is no folder {path.parent}", "expected: a file in an existing folder"
        )
    if path.exists() and not path.is_file():
        raise InputError("--html", f"{path} is no file", "expected: a new file, or one to be replaced")


def drift_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the quick set: two or three figures of each study.")
    ] = False,
    drives: Annotated[bool, typer.Option("--drives", help="Only the studies of single drives.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Keep what is found; with --quick it needs --reason.")
    ] = False,
    learn: Annotated[
        bool, typer.Option("--learn", help="With --record: learn the 90 % intervals anew from all studies first.")
    ] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why results of the quick set changed.")
    ] = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="Only write the manual's figures from what is kept; nothing is predicted.")
    ] = False,
    workers: WorkersOption = None,
) -> None:
    """Compare predictions of the published reports with those that are kept, and say what moved."""
    if reason is not None and not (quick and record):
        raise InputError("--reason", "no --quick --record", "expected: together with both")
    if quick and record and reason is None:
        raise InputError("--record", "no --reason", "expected: --reason with why results changed")
    if learn and (quick or drives or not record):
        raise InputError("--learn", "no --record, or --quick or --drives", "expected: with --record, and all studies")
    if quick and drives:
        raise InputError("--drives", "--quick too", "expected: one of the two")
    if not pages:
        if quick:
            moved = drift_of_quick(reason, typer.echo)
        elif drives:
            moved = drift_of_drives(record, workers, typer.echo)
        else:
            moved = drift_of_all(record, learn, workers, typer.echo)
        if moved and not record:
            raise typer.Exit(1)
    if pages or record:
        pages_written(typer.echo)
