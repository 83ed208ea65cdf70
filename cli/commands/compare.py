"""`raidsim compare`: designs side by side under the same requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import InputError
from ...api.answer.units import parse_fraction, parse_time
from ...api.comparison import (
    FEWEST_POINTS,
    MOST_REPLICATIONS,
    POINTS,
    REPLICATIONS,
    Settings,
    compare_varied,
    parse_alternatives,
)
from ...api.scenario import Scenario
from ..support.files import check_picture, write_picture
from ..support.options import ScenarioArgument, SetOption, WorkersOption
from ..support.terminal import show

_MOST_POINTS = 40


def compare_command(
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="PATH=A,B,...",
            help="What differs: layout=raid5,raid6,raid10; repeated: all combinations.",
        ),
    ] = None,
    sets: SetOption = None,
    baseline: Annotated[
        int | None, typer.Option("--baseline", metavar="N", help="Compare with design N; default: the first.")
    ] = None,
    replications: Annotated[
        int, typer.Option("--replications", min=1, max=MOST_REPLICATIONS, help="Runs of each design.")
    ] = REPLICATIONS,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision", metavar="SHARE", help="Add runs until the 90 % interval of each mean is within SHARE (2%)."
        ),
    ] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild/--no-rebuild", help="Simulate how long a rebuild takes.")] = True,
    replacement: Annotated[
        str | None,
        typer.Option(
            "--replacement",
            metavar="TIME",
            help="Until a failed drive is replaced without a spare (service.replacement); default 24h.",
        ),
    ] = None,
    service_life: Annotated[
        str | None,
        typer.Option(
            "--service-life", metavar="TIME", help="What the risk of losing data is over (service.life); default 5y."
        ),
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Response time against offered load, for each design.")
    ] = False,
    points: Annotated[
        int | None,
        typer.Option("--points", min=FEWEST_POINTS, max=_MOST_POINTS, help=f"Of each curve; default {POINTS}."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the designs, or with --curve their curves (svg, png or pdf).")
    ] = None,
    workers: WorkersOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Compare designs side by side under the same requests."""
    if not vary and not curve:
        raise InputError("--vary", "found nothing that differs", "expected: --vary PATH=A,B,... or --curve")
    if points is not None and not curve:
        raise InputError("--points", "found it without --curve", "expected: with --curve")
    if replacement is not None and not rebuild:
        raise InputError("--replacement", "found it with --no-rebuild", "expected: with --rebuild")
    if service_life is not None and not rebuild:
        raise InputError("--service-life", "found it with --no-rebuild", "expected: with --rebuild")
    sets = [*(sets or [])]
    for option, value in (("replacement", replacement), ("service-life", service_life)):
        if value is not None:
            parse_time(value, f"--{option}")
            sets.append(f"service.{option.removeprefix('service-')}={value}")
    base = Scenario.load(scenario, sets)
    if plot is not None:
        check_picture(plot, base.document.name)
    settings = Settings(
        replications=replications,
        precision=None if precision is None else _precision(precision),
        baseline=baseline,
        rebuild=rebuild,
        curve_points=(points or POINTS) if curve else 0,
    )
    varied: list[tuple[str, list[Any]]] = [parse_alternatives(text) for text in vary or []]
    found = compare_varied(base, varied, settings, workers)
    if plot is not None:
        write_picture(plot, found.figure)
    if as_json:
        typer.echo(json.dumps(found.document(), allow_nan=False))
    else:
        show(found.answer())


def _precision(text: str) -> float:
    value = parse_fraction(text, "--precision")
    if not 0.0005 <= value < 1:
        raise InputError("--precision", f"found {text}", "expected: 0.05% to 99%")
    return value
