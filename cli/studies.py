"""`raidsim studies`: the published benchmark reports that come with raidsim."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ..calibration.study import load_study, study_names


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
                "author": study.source.author,
                "date": study.source.date,
                "where": study.source.where,
                "calibrate": len(study.calibrate_cases),
                "predict": len(study.cases) - len(study.calibrate_cases),
                "missing": len(study.open_cases),
            }
            for study in studies
        ]
        typer.echo(json.dumps({"studies": rows}))
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in ("study", "title", "author", "date"):
        table.add_column(heading)
    for heading in ("calibrate", "predict", "missing"):
        table.add_column(heading, justify="right")
    for study in studies:
        calibrated = len(study.calibrate_cases)
        counts = (calibrated, len(study.cases) - calibrated, len(study.open_cases))
        table.add_row(study.id, study.title, study.source.author, study.source.date, *map(str, counts))
    console = Console()
    (console if console.is_terminal else Console(width=128)).print(table)
