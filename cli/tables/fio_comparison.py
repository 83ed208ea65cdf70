"""Predicted and measured figures: what `raidsim fio --compare` shows."""

from __future__ import annotations

import json
from collections.abc import Sequence

import typer
from rich.text import Text

from ...calibration.fio_study.comparison import Compared, missing
from ...model.files.quantities import format_duration
from ...scenarios.fio.output.json_document import json_document
from ...scenarios.fio.result import FioRun
from ..support.table import Table
from .run import run_console

_NAMES = {"rate": "MB/s", "iops": "IOPS", "clat_mean": "clat mean", "clat_p99": "clat p99"}


def show_comparison(run: FioRun, rows: Sequence[Compared], measured: str, form: str) -> None:
    """Every job and direction with both figures and their ratio, and what limits on the model.

    Parameters
    ----------
    run
        What the model gives.
    rows
        Both sides.
    measured
        What the measurement is called.
    form
        "normal" for a table, "json" or "json+" for one object that has fio's own document in it.
    """
    notes = [*run.notes, *missing(rows)]
    if form != "normal":
        found = {
            "measured": measured,
            "comparison": [row.document() for row in rows],
            "bottleneck": run.limits,
            "notes": notes,
            "fio": json_document(run, form == "json+"),
        }
        typer.echo(json.dumps(found, allow_nan=False))
        return
    table = Table(title=f"Predicted and {measured}", title_justify="left", title_style="")
    for column in ("job", "direction", "figure"):
        table.add_column(column)
    for column in ("measured", "predicted", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    before = None
    for row in rows:
        place = (row.job, row.number, row.direction)
        names = (row.job, row.direction) if place != before else ("", "")
        before = place
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(
            Text(names[0]),
            names[1],
            _NAMES[row.figure],
            _shown(row.figure, row.measured),
            _shown(row.figure, row.predicted),
            ratio,
        )
    console = run_console()
    console.print(table)
    console.print(Text(f"bottleneck on the model: {run.limits}"))
    for note in notes:
        console.print(Text(f"note: {note}"))


def _shown(figure: str, value: float | None) -> str:
    if value is None:
        return ""
    if figure == "rate":
        return f"{value / 1e6:,.2f}"
    if figure == "iops":
        return f"{value:,.0f}"
    return format_duration(value)
