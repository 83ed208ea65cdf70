"""`raidsim parse`: the figures that benchmark programs have printed, in one kind of units."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...api.answer.tree import Answer, Column, Part, Row, Table, Words, lines
from ...api.answer.units import format_duration, format_rate
from ...api.reports import Figure, Report, read_report
from ..support.terminal import WIDE, console_of, show

_NOT_SHOWN = "_bin"
_MOST_ROWS = 500
"""Rows of a table that somebody reads, and that are drawn within a second."""
_REPORT, _TIME = "report", "time"


def parse_command(
    files: Annotated[list[Path], typer.Argument(help="What a program printed.", metavar="FILE...")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Read what benchmark programs print: fio, bonnie, bonnie++, PostMark, tiobench, iozone, dd, iostat, hdparm ..."""
    reports = [(path, read_report(path)) for path in files]
    if as_json:
        typer.echo(json.dumps({"reports": [{"file": str(path), **report.document()} for path, report in reports]}))
        return
    console = console_of(WIDE)
    for path, report in reports:
        show(_answer(path, report), console)


def _answer(path: Path, report: Report) -> Answer:
    common = _common(report.figures)
    version = f" {report.version}" if report.version else ""
    of = "".join(f", {name} {value}" for name, value in common.items())
    shown = [figure for figure in report.figures if not figure.name.endswith(_NOT_SHOWN)]
    parts = (_many if len(shown) > _MOST_ROWS else _all)(report, shown, common)
    notes = lines(f"note: {warning}" for warning in report.warnings)
    return Answer("", [Words(f"{path}: {report.format}{version}{of}"), *parts, *notes])


def _all(report: Report, shown: list[Figure], common: dict[str, str]) -> Iterator[Part]:
    """A row for each figure."""
    contexts = [", ".join(f"{name} {value}" for name, value in each.context if name not in common) for each in shown]
    columns = [Column("figure"), Column("value", show=str), Column("line", show=str)]
    columns += [Column("of")] if any(contexts) else []
    rows: list[Row] = []
    before = ""
    for figure, context in zip(shown, contexts, strict=True):
        of = [context if context != before else ""] if any(contexts) else []
        rows.append((figure.name, _value(figure), str(figure.line), *of))
        before = context
    yield Table("", columns, rows)
    if len(shown) < len(report.figures):
        yield Words(f"{len(report.figures) - len(shown)} bins of latency are in --json")


def _many(_: Report, shown: list[Figure], common: dict[str, str]) -> Iterator[Part]:
    """A row for each figure over all reports: mean, least and most."""
    values: dict[tuple[str, str], list[Figure]] = {}
    for figure in shown:
        of = [f"{name} {value}" for name, value in figure.context if name not in (*common, _REPORT, _TIME)]
        values.setdefault((figure.name, ", ".join(of)), []).append(figure)
    rows: list[Row] = []
    for (name, whole), figures in list(values.items())[:_MOST_ROWS]:
        numbers = [figure.value for figure in figures]
        mean = math.fsum(numbers) / len(numbers)
        summary = [_value(replace(figures[0], value=each)) for each in (mean, min(numbers), max(numbers))]
        rows.append((name, *summary, str(len(numbers)), whole))
    numbered = [Column(name, show=str) for name in ("mean", "least", "most", "number")]
    yield Table("", [Column("figure"), *numbered, Column("of")], rows)
    left = len(values) - _MOST_ROWS
    more = f" {left:,} more rows and" if left > 0 else ""
    yield Words(f"mean, least and most of {len(shown):,} figures; --json has{more} each of them")


def _common(figures: tuple[Figure, ...]) -> dict[str, str]:
    """What every figure is of; it stands above the table."""
    if not figures:
        return {}
    shared = set(figures[0].context).intersection(*(figure.context for figure in figures[1:]))
    return {name: value for name, value in figures[0].context if (name, value) in shared}


def _value(figure: Figure) -> str:
    if figure.unit == "bytes/s":
        return format_rate(figure.value)
    if figure.unit == "s":
        return format_duration(figure.value)
    if figure.unit == "share":
        return f"{100 * figure.value:.4g} %"
    if figure.unit == "1/s":
        return f"{figure.value:,.6g} /s"
    if figure.unit == "bytes":
        return f"{figure.value:,.0f} bytes"
    return f"{figure.value:,.0f}" if figure.value == int(figure.value) else f"{figure.value:,.6g}"
