"""`raidsim drives`: what the catalogue of drives holds, and where each number comes from."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..model.drives import DriveSpec, drive, drive_names, drive_sources
from ..model.quantities import format_rate, format_size
from .catalogue import entry_document, entry_table, wide_console


def drives_command(
    name: Annotated[str | None, typer.Argument(help="One drive: every field with its source.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the drives in the catalogue, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(drive_document(name) if name is not None else catalogue_document()))
        return
    wide_console().print(entry_table(drive_sources(name)) if name is not None else _all())


def catalogue_document() -> dict[str, Any]:
    """Return ``{"drives": {name: fields}}``, fields in SI units (bytes, seconds, bytes/s, turns per minute)."""
    return {"drives": {name: drive(name).model_dump(mode="json") for name in drive_names()}}


def drive_document(name: str) -> dict[str, Any]:
    """Return one drive, see :func:`.catalogue.entry_document`; `InputError` if the catalogue does not hold it."""
    values = drive(name).model_dump(mode="json")
    known = next(known for known in drive_names() if known.casefold() == name.casefold())
    return entry_document(known, values, drive_sources(name))


def _all() -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("drive")
    for heading in ("capacity", "rpm", "outer", "inner", "seek", "cache", "queue"):
        table.add_column(heading, justify="right")
    table.add_column("interface")
    for name in drive_names():
        spec = drive(name)
        table.add_row(
            Text(name),
            _capacity(spec),
            f"{spec.rotation:.0f}",
            format_rate(spec.outer_media_rate),
            format_rate(spec.inner_media_rate),
            f"{spec.seek_average * 1e3:.1f} ms",
            format_size(spec.cache),
            str(spec.queue_depth),
            Text(spec.interface),
        )
    return table


def _capacity(spec: DriveSpec) -> str:
    """Capacity in the makers' decimal units."""
    if spec.capacity >= 10**12:
        return f"{spec.capacity / 1e12:.1f} TB"
    return f"{spec.capacity / 1e9:.0f} GB"
