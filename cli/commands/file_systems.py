"""`raidsim file-systems`: what the catalogue of file systems holds, and where each number comes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ...api.tables.catalogue import FILE_SYSTEMS
from ..support.terminal import WIDE, console_of, show


def file_systems_command(
    name: Annotated[str | None, typer.Argument(help="One file system: every field with its source.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the file systems in the catalogue, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(FILE_SYSTEMS.document(name)))
    else:
        show(FILE_SYSTEMS.answer(name), console_of(WIDE))
