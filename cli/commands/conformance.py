"""`raidsim conformance`: the model compared with recorded behavior of real programs, case by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ...api.support.progress import progress_text
from ...validation.conformance.base import KindResult, Miss, NotChecked
from ...validation.conformance.kinds import KINDS
from ...validation.conformance.run import check_kind, document, files_not_checked, kinds_to_run
from ...validation.conformance.truth_files import DEFAULT_TRUTH, load_truth
from ..support.table import Table

_WIDTH = 100
_MOST_SHOWN = 20
"""Misses of a kind that are printed; the JSON has all of them."""


def conformance_command(
    kinds: Annotated[
        list[str] | None, typer.Option("--kind", help=f"{', '.join(KINDS)}; repeat for several. Default: all.")
    ] = None,
    truth: Annotated[
        Path, typer.Option("--truth", help="Folder of recorded truth.", show_default="what comes with raidsim")
    ] = DEFAULT_TRUTH,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Compare the model with recorded behavior of real programs, case by case."""
    recorded = load_truth(truth)
    results = []
    for kind in kinds_to_run(kinds or [], recorded, truth):
        with progress_text(kind.name) as progress:
            results.append(check_kind(kind, recorded.by_kind[kind.name], progress))
    files = files_not_checked(recorded)
    if as_json:
        typer.echo(json.dumps(document(results, files)))
    else:
        _print(results, files)
    compared = any(result.cases for result in results)
    if not compared or not all(KINDS[result.kind].reached(result.cases, result.matched) for result in results):
        raise typer.Exit(1)


def _print(results: list[KindResult], files: list[NotChecked]) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(_totals(results) if results else Text("Nothing was compared."))
    for result in results:
        for note in result.notes:
            console.print(Text(f"{result.kind}: {note}"))
        heading = f"{result.kind}: {_cases(result.cases_not_checked)} not checked"
        _print_not_checked(console, heading, result.not_checked)
        if result.misses:
            console.print()
            console.print(Text(f"{result.kind}: {_counted(len(result.misses))}", style="bold"))
        for miss in result.misses[:_MOST_SHOWN]:
            _print_miss(console, miss)
        if len(result.misses) > _MOST_SHOWN:
            console.print(f"... and {len(result.misses) - _MOST_SHOWN} more; all of them: --json")
    _print_not_checked(console, f"{len(files)} {'file' if len(files) == 1 else 'files'} not checked", files)


def _print_not_checked(console: Console, heading: str, found: list[NotChecked]) -> None:
    """Print what was not compared: the file, the case, and why."""
    if not found:
        return
    console.print()
    console.print(Text(heading, style="bold"))
    for each in found[:_MOST_SHOWN]:
        several = f" ({_cases(each.cases)})" if each.cases > 1 else ""
        place = f"{each.file}: {each.case}" if each.case else each.file
        console.print(Text(f"{place}{several}", style="yellow"))
        console.print(Padding(Text(each.reason), (0, 0, 0, 2)))
    if len(found) > _MOST_SHOWN:
        console.print(f"... and {len(found) - _MOST_SHOWN} more; all of them: --json")


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def _totals(results: list[KindResult]) -> Table:
    table = Table()
    table.add_column("kind", no_wrap=True)
    for heading in ("cases", "matched", "share", "aim"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what has to be the same")
    for result in results:
        kind = KINDS[result.kind]
        share = f"{100 * result.matched / result.cases:.1f} %" if result.cases else "-"
        style = "" if kind.reached(result.cases, result.matched) else "red"
        aim = "-" if kind.aim is None else f"{100 * kind.aim:.0f} %"
        table.add_row(kind.name, str(result.cases), str(result.matched), Text(share, style=style), aim, kind.asks)
    return table


def _print_miss(console: Console, miss: Miss) -> None:
    console.print(Text(f"{miss.file}: {miss.case}", style="yellow"))
    console.print(Padding(Text(miss.difference), (0, 0, 0, 2)))
    console.print(Padding(Text(f"why: {miss.why or 'not known'}"), (0, 0, 0, 2)))


def _counted(misses: int) -> str:
    return "1 case differs" if misses == 1 else f"{misses} cases differ"
