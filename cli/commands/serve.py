"""`raidsim serve`: the array of a scenario as a network block device, for real programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ...model.core.errors import InputError
from ...model.files.description_errors import located
from ...model.files.quantities import format_duration, format_size, parse_size
from ...scenarios.documents.document import read_document
from ...serve.counts import MOST_LATE
from ...serve.server import DEFAULT_MEMORY, DEFAULT_PORT, ServeOptions, Server, serve
from ..support.options import ScenarioArgument, SetOption
from ..tables.run import run_console


def serve_command(
    scenario: ScenarioArgument,
    sets: SetOption = None,
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="Drive or array; default: the scenario's.")
    ] = None,
    unix: Annotated[
        Path | None, typer.Option("--unix", metavar="PATH", help="Listen on this Unix socket instead of a TCP port.")
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="TCP port to listen on; 0 takes a free one.")
    ] = DEFAULT_PORT,
    exposed: Annotated[
        bool,
        typer.Option(
            "--yes-expose",
            help="If true, --host may be an address that other machines reach; they can read and write all data.",
        ),
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Keep the data in this sparse file; default: in memory."),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option("--base", metavar="FILE", help="Read this image; changes stay in memory (copy-on-write)."),
    ] = None,
    memory: Annotated[
        str, typer.Option("--memory", metavar="SIZE", help="Most memory for data; a write beyond it gets ENOSPC.")
    ] = format_size(DEFAULT_MEMORY),
    read_only: Annotated[bool, typer.Option("--read-only", help="If true, refuse writes and trims.")] = False,
    speed: Annotated[
        float | None,
        typer.Option(
            "--speed", metavar="X", help="Simulated seconds per second; 0.1 for arrays too fast for this machine [1]."
        ),
    ] = None,
    as_fast: Annotated[
        bool,
        typer.Option("--as-fast-as-possible", help="If true, time is simulated only: it stands while a client reacts."),
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="If true, end when no client has been connected for 1 s after the last.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as one JSON object on stdout.")] = False,
) -> None:
    """Serve the array of a scenario as a network block device (NBD) until Ctrl-C: real programs try it out."""
    if as_fast and speed is not None:
        raise InputError("--speed", "found it with --as-fast-as-possible", "expected: one of the two")
    options = ServeOptions(
        target=target,
        host=host,
        port=port,
        unix=unix,
        exposed=exposed,
        data=data,
        base=base,
        memory=parse_size(memory, "--memory"),
        read_only=read_only,
        speed=None if as_fast else 1.0 if speed is None else speed,
        once=once,
    )
    described = read_document(scenario, sets or [])

    def listening(server: Server) -> None:
        size = format_size(server.capacity)
        typer.echo(f"serving {server.name} of {described.name} ({size}) at {server.address}; Ctrl-C ends it", err=True)

    try:
        server = serve(described.spec(), options, listening)
    except InputError as error:
        raise located(error, described.positions) from None
    if as_json:
        found = {"target": server.name, "capacity": server.capacity, "refused_connections": server.refused}
        busiest = {"busiest": server.array.busiest}
        typer.echo(json.dumps({**found, **server.counts.document(), **busiest}, allow_nan=False))
        return
    _print(server)


def _print(server: Server) -> None:
    """What was served, how fast the array was, and how late the answers were."""
    found = server.counts.document()
    console = run_console()
    if not found["requests"]:
        console.print("No request was served.")
        return
    moved = f"{format_size(found['read_bytes'])} read, {format_size(found['write_bytes'])} written"
    console.print(Text(f"Served {moved} in {format_duration(found['simulated_s'])} of simulated time"))
    table = Table(box=None, pad_edge=False)
    for column in ("Latency (ms)", "requests", "per second", "mean", "p50", "p99", "max"):
        table.add_column(column, justify="left" if column.startswith("Latency") else "right")
    for name, each in found["requests"].items():
        rate = "" if each["per_second"] is None else f"{each['per_second']:,.1f}"
        table.add_row(name, f"{each['count']:,}", rate, *_milliseconds(each))
    late = found.get("lateness")
    if late is not None:
        table.add_row("late by", "", "", *_milliseconds(late))
    console.print(table)
    if server.array.busiest is not None:
        console.print(Text(f"busiest: {server.array.busiest}"))
    if late is not None and late["too_late"]:
        share = late["share_of_latency"]
        words = "the answers were late" if share is None else f"the answers were late by {100 * share:.0f} %"
        console.print(
            Text(
                f"note: {words} of the latency, more than {100 * MOST_LATE:.0f} %: this machine was too slow, and the "
                "client saw a slower array than the simulated one; use a lower --speed or --as-fast-as-possible"
            )
        )
    if server.refused:
        console.print(Text(f"note: connections refused because there were too many: {server.refused:,}"))


def _milliseconds(latencies: dict[str, float]) -> list[str]:
    return [f"{1e3 * latencies[f'{which}_s']:,.3f}" for which in ("mean", "p50", "p99", "max")]
