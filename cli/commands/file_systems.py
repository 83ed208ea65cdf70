"""`raidsim file-systems`: what the catalogue of file systems holds, and where each number comes from."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.text import Text

from ...model.file_system import file_system_names, file_system_settings, file_system_sources
from ...model.files.quantities import format_size
from ..support.table import Table
from ..tables.catalogue import entry_document, entry_table, wide_console

_JOURNALS = {"none": "none", "blocks": "of blocks", "records": "of records"}


def file_systems_command(
    name: Annotated[str | None, typer.Argument(help="One file system: every field with its source.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the file systems in the catalogue, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(file_system_document(name) if name is not None else catalogue_document()))
        return
    wide_console().print(entry_table(file_system_sources(name)) if name is not None else _all())


def catalogue_document() -> dict[str, Any]:
    """Return ``{"file_systems": {name: fields}}``, fields in SI units (bytes, seconds) and CPU cycles."""
    return {"file_systems": {name: file_system_settings(name).model_dump(mode="json") for name in file_system_names()}}


def file_system_document(name: str) -> dict[str, Any]:
    """Return one file system, see :func:`~raidsim.cli.tables.catalogue.entry_document`; `InputError` if the catalogue
    lacks it.
    """
    values = file_system_settings(name).model_dump(mode="json")
    known = next(known for known in file_system_names() if known.casefold() == name.casefold())
    return entry_document(known, values, file_system_sources(name))


def _all() -> Table:
    table = Table()
    table.add_column("file system")
    for heading in ("block", "group"):
        table.add_column(heading, justify="right")
    for heading in ("inodes", "directories", "bytes are found by", "place given", "journal"):
        table.add_column(heading)
    for name in file_system_names():
        kind = file_system_settings(name)
        journal = _JOURNALS[kind.journal] + (f", {format_size(kind.journal_size)}" if kind.journal != "none" else "")
        table.add_row(
            Text(name),
            format_size(kind.block),
            format_size(kind.group),
            Text(kind.inode_place),
            Text(kind.directories),
            Text(kind.mapping),
            "at write-back" if kind.delayed else "at once",
            journal,
        )
    return table
