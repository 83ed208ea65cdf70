"""`raidsim replay`: a recorded trace on the machine of a scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ... import InputError
from ...api.answer.units import parse_fraction, parse_time
from ...api.replay import KINDS, Fit, Replay, ReplayOptions, open_trace, replay_opened
from ...api.scenario import Scenario
from ..support.files import check_output
from ..support.options import OnErrorOption, SetOption, skips_malformed
from ..support.terminal import show

_FITS: dict[str, Fit] = {"refuse": "refuse", "wrap": "wrap", "scale": "scale"}


def replay_command(
    trace: Annotated[Path, typer.Argument(help="A recorded trace; see `raidsim trace info`.")],
    machine: Annotated[
        str, typer.Option("--machine", help="Scenario file or library name whose machine and arrays are used.")
    ],
    sets: SetOption = None,
    trace_format: Annotated[
        str | None, typer.Option("--format", help="The trace's format; default: found by its content.")
    ] = None,
    on_error: OnErrorOption = "stop",
    target: Annotated[
        str | None, typer.Option("--target", metavar="NAME", help="Drive or array; default: the scenario's.")
    ] = None,
    speedup: Annotated[float, typer.Option("--speedup", metavar="X", help="Divide the times between I/Os.")] = 1.0,
    closed: Annotated[
        bool, typer.Option("--closed", help="Ignore the times; keep --depth I/Os outstanding instead.")
    ] = False,
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", help="I/Os outstanding, with --closed; default 1.")
    ] = None,
    think: Annotated[
        bool,
        typer.Option(
            "--think", help="Send each I/O when the one before is complete and its recorded think time is over."
        ),
    ] = False,
    drive: Annotated[
        str | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive in place of every drive of the machine."),
    ] = None,
    per_request: Annotated[
        Path | None,
        typer.Option("--per-request", metavar="FILE", help="Write a row for each I/O to FILE.csv or FILE.parquet."),
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="Only this device of the trace.")
    ] = None,
    fit: Annotated[
        str, typer.Option("--fit", metavar="HOW", help="I/Os beyond the end of the target: refuse, wrap or scale.")
    ] = "refuse",
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Only the first N records.")] = None,
    duration: Annotated[
        str | None, typer.Option("--duration", metavar="TIME", help="Stop after this simulated time.")
    ] = None,
    warm_up: Annotated[
        str, typer.Option("--warm-up", metavar="SHARE", help="Share of the I/Os before the measurement.")
    ] = "0%",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Play a recorded trace on the machine of a scenario, instead of the scenario's own workload."""
    if depth is not None and not closed:
        raise InputError("--depth", "found it without --closed", "expected: with --closed")
    if think and (closed or speedup != 1):
        other = "--closed" if closed else "--speedup"
        raise InputError("--think", f"found it with {other}", "expected: one of the two")
    if per_request is not None:
        if per_request.suffix not in KINDS:
            raise InputError("--per-request", f"found {per_request}", f"expected: a file {' or '.join(KINDS)}")
        check_output(per_request, "--per-request", str(trace))
    if fit not in _FITS:
        raise InputError("--fit", f"found {fit!r}", f"expected: {', '.join(_FITS)}")
    options = ReplayOptions(
        target=target,
        speedup=speedup,
        depth=1 if think else (1 if depth is None else depth) if closed else None,
        think=think,
        device=device,
        fit=_FITS[fit],
        limit=limit,
        duration=None if duration is None else parse_time(duration, "--duration"),
        warm_up=parse_fraction(warm_up, "--warm-up"),
    )
    options.check()
    scenario = Scenario.load(machine, sets or [])
    opened = open_trace(trace, trace_format, skips_malformed(on_error), discards=True, flushes=True)
    done = Replay(scenario, replay_opened(scenario, opened, options, drive, per_request is not None), opened, options)
    if per_request is not None:
        assert done.found.log is not None
        done.found.log.write(per_request)
    if as_json:
        typer.echo(json.dumps(done.document(), allow_nan=False))
    else:
        show(done.answer())
