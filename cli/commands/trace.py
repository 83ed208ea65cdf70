"""`raidsim trace info`: what is in a recorded trace, and a load that is like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
import yaml

from ... import InputError
from ...api.support.progress import progress_bar
from ...api.tables.trace import trace_answer, trace_document
from ...api.traces import FORMATS, fitted_load, open_trace, summarised
from ..support.options import OnErrorOption, skips_malformed
from ..support.terminal import show


def trace_command(
    action: Annotated[str, typer.Argument(metavar="info", help="What to do: info.")],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The trace; may be packed with gzip, xz or zstd.")],
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help=f"Its format: {', '.join(FORMATS)}.")
    ] = None,
    on_error: OnErrorOption = "stop",
    target: Annotated[str, typer.Option("--target", help="Where the fitted load goes.")] = "md0",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Say what is in a recorded trace, and print a load that is like it."""
    if action != "info":
        raise InputError("trace", f"found {action!r}", "expected: info")
    trace = open_trace(path, format, skips_malformed(on_error))
    with progress_bar(f"reading {path.name} (bytes)") as progress:
        summary = summarised(trace.records(progress), str(path))
    load = fitted_load(summary, target, trace.tick_s)
    if as_json:
        typer.echo(json.dumps(trace_document(trace, summary, load), allow_nan=False))
        return
    show(trace_answer(trace, summary))
    if load is None:
        typer.echo("no load is fitted: the times say nothing about the rate")
    else:
        typer.echo(yaml.safe_dump({"workload": load}, sort_keys=False, default_flow_style=None, width=100), nl=False)
