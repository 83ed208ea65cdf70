"""`raidsim advise`: which layouts meet a requirement, why the others do not, and what would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...api.advice import advise_on, read_requirement
from ...api.support import progress
from ..support.files import check_picture, write_picture
from ..support.options import WorkersOption
from ..support.standings import live_standings
from ..support.terminal import show


def advise_command(
    requirement: Annotated[Path, typer.Argument(help="A requirement file (YAML).")],
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Change the requirement; repeatable.")
    ] = None,
    workers: WorkersOption = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw what meets it: cost or drives against p99.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Find the layouts that meet a requirement, ranked; say why the others do not, and what would do.

    Exit status: 0 if something meets it, 1 if nothing does.
    """
    if plot is not None:
        check_picture(plot, str(requirement))
    wanted = read_requirement(requirement, sets or ())
    console = Console(stderr=True)
    if console.is_terminal and progress.wanted(shown=True):
        with live_standings(console) as seen:
            advice = advise_on(wanted, workers, progress=False, seen=seen)
    else:
        advice = advise_on(wanted, workers)
    if plot is not None:
        write_picture(plot, advice.figure)
    if as_json:
        typer.echo(json.dumps(advice.document(), allow_nan=False))
    else:
        show(advice.answer())
    if not advice.meets:
        raise typer.Exit(1)
