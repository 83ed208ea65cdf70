"""`raidsim controllers`, `links` and `file-systems`: what the catalogues hold, and where each number comes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ...api.tables.catalogue import CONTROLLERS, FILE_SYSTEMS, links_answer, links_document
from ..support.terminal import WIDE, console_of, show

_JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


def controllers_command(
    name: Annotated[str | None, typer.Argument(help="One controller: every field with its source.")] = None,
    as_json: _JsonOption = False,
) -> None:
    """List the hardware RAID controllers in the catalogue, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(CONTROLLERS.document(name)))
    else:
        show(CONTROLLERS.answer(name), console_of(WIDE))


def links_command(
    name: Annotated[
        str | None, typer.Argument(help="One link or network protocol: every number with its source.")
    ] = None,
    as_json: _JsonOption = False,
) -> None:
    """List the links in the catalogue with the rates that data get, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(links_document(name)))
    else:
        show(links_answer(name), console_of(WIDE))


def file_systems_command(
    name: Annotated[str | None, typer.Argument(help="One file system: every field with its source.")] = None,
    as_json: _JsonOption = False,
) -> None:
    """List the file systems in the catalogue, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(FILE_SYSTEMS.document(name)))
    else:
        show(FILE_SYSTEMS.answer(name), console_of(WIDE))
