"""`raidsim links`: the catalogue of buses, cables, networks and host bus adapters, and where each number comes from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ...api.tables.catalogue import links_answer, links_document
from ..support.terminal import WIDE, console_of, show


def links_command(
    name: Annotated[
        str | None, typer.Argument(help="One link or network protocol: every number with its source.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the links in the catalogue with the rates that data get, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(links_document(name)))
    else:
        show(links_answer(name), console_of(WIDE))
