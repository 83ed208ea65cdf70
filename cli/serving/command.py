"""`raidsim serve`: the array of a scenario as a network block device, for real programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ... import InputError
from ...api.answer.units import format_size, parse_size
from ...api.result import DEFAULT_IOS
from ...api.run import UNOBSERVED
from ...api.scenario import Scenario
from ...api.support.explorer import Recorder, Timeline, chrome_trace
from ...api.support.run_document import document
from ...serve.server import DEFAULT_MEMORY, DEFAULT_PORT, ServeOptions, Server, serve
from ..support.files import check_output, whole_file
from ..support.options import ScenarioArgument, SetOption
from ..support.terminal import show
from .live import LiveView
from .summary import served


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
    control: Annotated[
        Path | None,
        typer.Option("--control", metavar="SOCKET", help="Take an operator's commands here (raidsim tell SOCKET ...)."),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Write what the clients ask for, as raidsim replay reads it."),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option("--timeline", metavar="OUT.json", help="Write the first I/Os in detail, for ui.perfetto.dev."),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="If true, show each second what goes on; a line outside a terminal.")
    ] = False,
    all_parts: Annotated[
        bool, typer.Option("--all-parts", help="A line for every drive, port and link; default: many alike share one.")
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
        control=control,
        trace=trace,
    )
    described = Scenario.load(scenario, sets or [])
    for path, option in ((trace, "--trace"), (timeline, "--timeline")):
        if path is not None:
            check_output(path, option, described.document.name)
    recorder = None if timeline is None else Recorder(DEFAULT_IOS)

    def listening(server: Server) -> None:
        size = format_size(server.capacity)
        typer.echo(
            f"serving {server.name} of {described.document.name} ({size}) at {server.address}; Ctrl-C ends it", err=True
        )
        if live:
            LiveView(server, Console(stderr=True)).start()

    try:
        server = serve(described.spec, options, listening, UNOBSERVED if recorder is None else recorder)
    except InputError as error:
        raise described.located(error) from None
    if timeline is not None and recorder is not None:
        with whole_file(timeline, "--timeline") as unfinished, unfinished.open("w", encoding="utf-8") as file:
            recorded = chrome_trace(Timeline.of(described.document.name, recorder))
            json.dump(recorded, file, allow_nan=False, separators=(",", ":"))
    if as_json:
        found = {"target": server.name, "capacity": server.capacity, "refused_connections": server.refused}
        busiest = {"busiest": server.array.busiest}
        prediction = server.prediction()
        run = {} if prediction is None else {"run": document(server.array.spec, prediction)}
        done = server.operator.done if server.operator is not None else []
        told = {"operator": [{"at_s": at, "done": words} for at, words in done]} if done else {}
        typer.echo(json.dumps({**found, **server.counts.document(), **busiest, **told, **run}, allow_nan=False))
        return
    show(served(server, all_parts))
