"""Utilization of each part, as `raidsim run` prints it: identical parts on one line."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from ...model.files.quantities import format_duration
from ...model.statistics.usage import DRIVES, SATURATED, Usage
from ...scenarios.running.base.prediction import Prediction
from ..support.table import Table

_MANY = 9
"""Parts of a kind from which they share a line."""


def print_usages(console: Console, prediction: Prediction, all_parts: bool) -> None:
    """A table of all parts; with `all_parts` each has its line, however many are alike."""
    console.print(_usages(prediction, all_parts))
    if not all_parts and any(len(usages) >= _MANY for usages in _alike(prediction.usages)):
        console.print(Text("least/median/most of the parts of a kind; --all-parts lists each.\n"))


def _usages(prediction: Prediction, all_parts: bool) -> Table:
    """What each part did, many alike on one line; a drive's queue is the mean number of commands inside it."""
    seconds = prediction.measured_s
    title = f"Utilization over {format_duration(seconds)}"
    table = Table(title=title, title_justify="left", title_style="")
    table.add_column("part", min_width=4)  # breaks where the numbers need the room
    for column in ("busy", "queue", "reads/s", "writes/s", "MB/s"):
        table.add_column(column, justify="right", no_wrap=True)
    for usages in _alike(prediction.usages):
        if all_parts or len(usages) < _MANY:
            for usage in usages:
                _usage_rows(table, usage, seconds)
        else:
            _usage_row_of_many(table, usages, seconds)
    return table


def _alike(usages: Iterable[Usage]) -> list[list[Usage]]:
    """Parts that differ by the number in their names, together; in the order of the first of each."""
    found: dict[tuple[str, str, str], list[Usage]] = {}
    for usage in usages:
        found.setdefault((usage.kind, usage.name.rstrip("0123456789"), usage.what), []).append(usage)
    return list(found.values())


def _usage_rows(table: Table, usage: Usage, seconds: float) -> None:
    moved = f"{usage.bytes / 1e6 / seconds:,.2f}"
    if usage.kind in DRIVES:
        reads, writes = (f"{count / seconds:,.0f}" for count in (usage.reads, usage.writes))
        cells = (f"{usage.mean_queue:.2f}", reads, writes, moved)
    else:
        cells = ("", "", "", moved if usage.bytes else "")
    name = f"{usage.name} ({usage.what})" if usage.what else usage.name
    table.add_row(Text(name), f"{100 * usage.utilization:.0f} %", *cells)
    for way in usage.ways if len(usage.ways) > 1 else ():
        moved = f"{way.bytes / 1e6 / seconds:,.2f}" if way.bytes else ""
        table.add_row(Text(f"  {way.name}"), f"{100 * way.utilization:.0f} %", "", "", "", moved)


def _usage_row_of_many(table: Table, usages: Sequence[Usage], seconds: float) -> None:
    """Parts of a kind on one line: the least, the median and the most of each column, and how many are saturated."""
    busy = _spread_of([100 * usage.utilization for usage in usages], 0)
    full = sum(usage.utilization >= SATURATED for usage in usages)
    name = f"{len(usages)} x {usages[0].name.rstrip('0123456789')} ({usages[0].name} to {usages[-1].name})"
    cells = ["", "", "", ""]
    if usages[0].kind in DRIVES:
        cells[0] = _spread_of([usage.mean_queue for usage in usages], 1)
        cells[1] = _spread_of([usage.reads / seconds for usage in usages], 0)
        cells[2] = _spread_of([usage.writes / seconds for usage in usages], 0)
    if any(usage.bytes for usage in usages):
        cells[3] = _spread_of([usage.bytes / 1e6 / seconds for usage in usages], 1)
    table.add_row(Text(name), f"{busy} %", *cells)
    if full:
        table.add_row(Text(f"  {full} of them above {100 * SATURATED:.0f} %"), "", "", "", "", "")


def _spread_of(values: Sequence[float], digits: int) -> str:
    """The least, the median and the most: "79/85/91"; one number if they print alike."""
    shown = [f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values))]
    return shown[0] if len(set(shown)) == 1 else "/".join(shown)
