"""`raidsim controllers`: what the catalogue of RAID controllers holds, and where each number comes from."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.text import Text

from ...model.controller.catalogue import ControllerSpec, controller, controller_names, controller_sources
from ...model.files.quantities import format_size
from ..support.table import Table
from ..tables.catalogue import entry_document, entry_table, makers_rate, wide_console


def controllers_command(
    name: Annotated[str | None, typer.Argument(help="One controller: every field with its source.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the hardware RAID controllers in the catalogue, or everything about one of them."""
    if as_json:
        typer.echo(json.dumps(controller_document(name) if name is not None else catalogue_document()))
        return
    wide_console().print(entry_table(controller_sources(name)) if name is not None else _all())


def catalogue_document() -> dict[str, Any]:
    """Return ``{"controllers": {name: fields}}``, fields in SI units."""
    return {"controllers": {name: controller(name).model_dump(mode="json") for name in controller_names()}}


def controller_document(name: str) -> dict[str, Any]:
    """Return one controller, see :func:`~raidsim.cli.tables.catalogue.entry_document`; `InputError` if the catalogue
    has none of it.
    """
    values = controller(name).model_dump(mode="json")
    known = next(known for known in controller_names() if known.casefold() == name.casefold())
    return entry_document(known, values, controller_sources(name))


def _all() -> Table:
    table = Table()
    table.add_column("controller", no_wrap=True)
    for heading in ("host link", "ports", "cache", "XOR", "command"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("writes")
    table.add_column("RAID levels")
    for name in controller_names():
        spec = controller(name)
        table.add_row(
            Text(name),
            makers_rate(spec.host_rate),
            str(spec.ports),
            format_size(spec.cache),
            makers_rate(spec.xor_rate),
            f"{spec.command * 1e6:.0f} us",
            Text(_writes(spec)),
            Text(", ".join(level.removeprefix("raid") for level in spec.levels)),
        )
    return table


def _writes(spec: ControllerSpec) -> str:
    """What becomes of a write as the controller is shipped: its policy, unless the battery forbids it."""
    if spec.write_policy != "write-back":
        return spec.write_policy
    if not spec.writes_back:
        return "write-through"
    return "write-back" if spec.battery == "good" else "write-back, forced"
