"""`raidsim predict`: the main job. Calibrate on the studies' calibrate cells, predict the others, compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...api.pictures.predict import comparison_figure
from ...api.studies import predict_studies
from ...api.support.unfinished import evaluating
from ...calibration.study.study import chosen_studies
from ...validation.prediction.comparison import summary
from ..support.files import check_picture, write_picture
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
