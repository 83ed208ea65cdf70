"""`raidsim parse`: the figures that benchmark programs have printed, in one kind of units."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ...calibration.formats.detect import read_report
from ...calibration.formats.report import Figure, Report
from ...model.files.quantities import format_duration, format_rate
from ..support.table import Table
from ..tables.catalogue import wide_console

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
    console = wide_console()
    for path, report in reports:
        _show(console, path, report)


def _show(console: Console, path: Path, report: Report) -> None:
    common = _common(report.figures)
    version = f" {report.version}" if report.version else ""
    of = "".join(f", {name} {value}" for name, value in common.items())
    console.print(Text(f"{path}: {report.format}{version}{of}"))
    shown = [figure for figure in report.figures if not figure.name.endswith(_NOT_SHOWN)]
    if len(shown) > _MOST_ROWS:
        _show_many(console, report, shown, common)
    else:
        _show_all(console, report, shown, common)
    for warning in report.warnings:
        console.print(Text(f"note: {warning}"), soft_wrap=True)


def _show_all(console: Console, report: Report, shown: list[Figure], common: dict[str, str]) -> None:
    """A row for each figure."""
    contexts = [", ".join(f"{name} {value}" for name, value in each.context if name not in common) for each in shown]
    table = Table()
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("line", justify="right")
    if any(contexts):
        table.add_column("of")
    before = ""
    for figure, context in zip(shown, contexts, strict=True):
        cells: list[Text | str] = [Text(figure.name), _value(figure), str(figure.line)]
        if any(contexts):
            cells.append(Text(context if context != before else ""))
        table.add_row(*cells)
        before = context
    console.print(table)
    if len(shown) < len(report.figures):
        console.print(f"{len(report.figures) - len(shown)} bins of latency are in --json")


def _show_many(console: Console, report: Report, shown: list[Figure], common: dict[str, str]) -> None:
    """A row for each figure over all reports: mean, least and most."""
    values: dict[tuple[str, str], list[Figure]] = {}
    for figure in shown:
        of = [f"{name} {value}" for name, value in figure.context if name not in (*common, _REPORT, _TIME)]
        values.setdefault((figure.name, ", ".join(of)), []).append(figure)
    table = Table()
    table.add_column("figure")
    for name in ("mean", "least", "most", "number"):
        table.add_column(name, justify="right")
    table.add_column("of")
    for (name, whole), figures in list(values.items())[:_MOST_ROWS]:
        numbers = [figure.value for figure in figures]
        mean = replace(figures[0], value=math.fsum(numbers) / len(numbers))
        least, most = (replace(figures[0], value=each) for each in (min(numbers), max(numbers)))
        summary = [_value(each) for each in (mean, least, most)]
        table.add_row(Text(name), *summary, str(len(numbers)), Text(whole))
    console.print(table)
    left = len(values) - _MOST_ROWS
    more = f" {left:,} more rows and" if left > 0 else ""
    console.print(f"mean, least and most of {len(shown):,} figures; --json has{more} each of them", soft_wrap=True)


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
