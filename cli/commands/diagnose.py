"""`raidsim diagnose`: is an array as fast as it should be, and if not, why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...api.diagnosis import diagnose
from ..support.options import WorkersOption
from ..support.terminal import show


def diagnose_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="What mdadm, lsblk, smartctl ... printed, and reports of fio, dd, iostat; pasted as they are.",
        ),
    ] = None,
    measured: Annotated[
        list[Path] | None,
        typer.Option("--measured", metavar="FILE", help="A report of fio, dd or iostat; repeatable."),
    ] = None,
    machine: Annotated[
        str | None, typer.Option("--machine", metavar="SCENARIO", help="The machine, instead of outputs.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="DEVICE", help="What was measured; default: as the reports say.")
    ] = None,
    workers: WorkersOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Compare what an array reached with what it should reach, and find what most likely is wrong."""
    found = diagnose(*files or [], measured=measured or [], machine=machine, target=target, workers=workers)
    if as_json:
        typer.echo(json.dumps(found.document(), allow_nan=False))
    else:
        show(found.answer())
