"""`raidsim links`: the catalogue of buses, cables, networks and host bus adapters, and where each number comes from."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any

import typer
from rich.text import Text

from ...model.core.errors import InputError
from ...model.files.catalogue_file import SourcedValue
from ...model.links.catalogue import LinkModel, link_model, link_names, link_sources
from ...model.network.protocols import protocol, protocol_names, protocol_sources
from ..support.table import Table
from ..tables.catalogue import entry_document, entry_table, makers_rate, wide_console


def links_command(
    name: Annotated[
        str | None, typer.Argument(help="One link or network protocol: every number with its source.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """List the links in the catalogue with the rates that data get, or everything about one of them."""
    if name is None:
        if as_json:
            typer.echo(json.dumps(catalogue_document()))
        else:
            wide_console().print(_all())
            wide_console().print(_protocols())
        return
    shown, values, sources = _entry(name)
    if as_json:
        typer.echo(json.dumps(entry_document(shown, values, sources)))
        return
    if shown not in protocol_names():
        wide_console().print(Text(_words(link_model(shown))))
    wide_console().print(entry_table(sources))


def catalogue_document() -> dict[str, Any]:
    """Return ``{"links": {name: fields}, "protocols": {name: fields}}``, fields in SI units."""
    links = {name: dataclasses.asdict(link_model(name)) for name in link_names()}
    return {
        "links": links,
        "protocols": {name: protocol(name).model_dump(mode="json") for name in protocol_names()},
    }


def _entry(name: str) -> tuple[str, dict[str, Any], dict[str, SourcedValue]]:
    """A link or a protocol: its name, its values, and where what the catalogue has of them comes from."""
    if name.casefold() in protocol_names():
        known = name.casefold()
        return known, protocol(known).model_dump(mode="json"), protocol_sources(known)
    try:
        found = link_model(name)
    except InputError as error:
        protocols = ", ".join(protocol_names())
        raise InputError(f"link {name!r}", error.found, f"{error.expected}, and {protocols}") from None
    sources = link_sources(name)
    values = {**dataclasses.asdict(found), **{key: origin.value for key, origin in sources.items()}}
    return found.name, values, sources


def _words(found: LinkModel) -> str:
    way = "each way at once" if found.duplex else "one way at a time"
    rates = makers_rate(found.rate)
    if found.write_rate != found.rate:
        rates = f"{rates} to the host, {makers_rate(found.write_rate)} to the drives"
    return f"{found.name}: {rates}, {way} ({found.line})"


def _all() -> Table:
    table = Table()
    table.add_column("link", no_wrap=True)
    for heading in ("to the host", "to the drives"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("both at once")
    table.add_column("commands/s", justify="right")
    table.add_column("line", no_wrap=True)
    for name in link_names():
        found = link_model(name)
        commands = "" if found.command_rate is None else f"{found.command_rate:,.0f}"
        table.add_row(
            Text(name),
            makers_rate(found.rate),
            makers_rate(found.write_rate),
            "yes" if found.duplex else "no",
            commands,
            Text(found.line),
        )
    return table


def _protocols() -> Table:
    """What a network in front of a machine may speak."""
    table = Table()
    table.add_column("protocol", no_wrap=True)
    for heading in ("CPU a request", "sends", "receives", "client adds", "outstanding", "threads"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in protocol_names():
        spec = protocol(name)
        table.add_row(
            Text(name),
            f"{spec.request_cpu * 1e6:.0f} us",
            makers_rate(spec.send_rate),
            makers_rate(spec.receive_rate),
            f"{spec.client * 1e6:.0f} us",
            f"{spec.depth:,}" + (f" ({spec.device_depth:,} a device)" if spec.device_depth else ""),
            f"{spec.threads}" if spec.threads else "",
        )
    return table
