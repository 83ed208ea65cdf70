"""`raidsim sensitivity`: which of a scenario's parameters moves a figure of its prediction most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...api.sensitivity import TRAJECTORIES, sensitivity
from ..support.files import check_picture, write_picture
from ..support.options import WorkersOption
from ..support.terminal import show


def sensitivity_command(
    scenario: Annotated[
        Path, typer.Argument(help="A scenario file (YAML), the name of a library scenario, or - for stdin.")
    ],
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="PATH[=SD]",
            help="What moves, and by how much (20%); repeatable. Default: all that is uncertain in the scenario.",
        ),
    ] = None,
    figure: Annotated[str, typer.Option("--figure", metavar="NAME", help="What of the prediction.")] = "rate",
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="morris|sobol", help="Default: screening, then Sobol for those that matter."),
    ] = None,
    trajectories: Annotated[
        int, typer.Option("--trajectories", metavar="N", help="Of Morris' screening.")
    ] = TRAJECTORIES,
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", help="Of Sobol's indices: a power of two.")
    ] = None,
    workers: WorkersOption = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of trajectories and samples.")] = 0,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw effects and shares.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Find out which parameters of a scenario move a figure of its prediction most."""
    if plot is not None:
        check_picture(plot, str(scenario))
    found = sensitivity(
        str(scenario),
        figure=figure,
        parameters=parameter,
        method=method,
        trajectories=trajectories,
        samples=samples,
        seed=seed,
        workers=workers,
    )
    if plot is not None:
        write_picture(plot, found.figure)
    if as_json:
        typer.echo(json.dumps(found.document(), allow_nan=False))
    else:
        show(found.answer())
