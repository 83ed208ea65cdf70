"""`raidsim studies`: the published benchmark reports that come with raidsim."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ...calibration.study.study import StudySpec, load_study, study_names


def studies_command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the published benchmark reports in the catalogue."""
    studies = [load_study(name) for name in study_names()]
    if as_json:
        rows = [
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
        typer.echo(json.dumps({"studies": rows}))
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in ("study", "title", "author", "date"):
        table.add_column(heading)
    for heading in ("calibrate", "predict", "claims", "missing"):
        table.add_column(heading, justify="right")
    for study in studies:
        table.add_row(study.id, study.title, study.source.author, study.source.date, *map(str, _counts(study).values()))
    console = Console()
    (console if console.is_terminal else Console(width=128)).print(table)


def _counts(study: StudySpec) -> dict[str, int]:
    calibrated = len(study.calibrate_cells)
    return {
        "calibrate": calibrated,
        "predict": len(study.all_cells) - calibrated,
        "claims": len(study.claims),
        "missing": len(study.missing),
    }
