"""`raidsim controllers`: what the catalogue of RAID controllers holds, and where each number comes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ...api.tables.catalogue import CONTROLLERS
from ..support.terminal import WIDE, console_of, show


def controllers_command(
    name: Annotated[str | None, typer.Argument(help="One controller: every field with its source.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the hardware RAID controllers in the catalogue, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(CONTROLLERS.document(name)))
    else:
        show(CONTROLLERS.answer(name), console_of(WIDE))
