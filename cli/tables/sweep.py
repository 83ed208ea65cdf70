"""What `raidsim sweep` prints: how a sweep stands, its points, and what went wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from ...api.support.figures import heading, scaled, usual, value_words
from ...model.statistics import Estimate
from ...scenarios.questions.replications import mean_of_replications
from ...scenarios.sweeps.axes import Cell
from ...scenarios.sweeps.result_store import ResultStore, RunRow, SweepRecord
from ..support.table import Table

_WIDTH = 100
_MOST_POINTS = 20
_MOST_COLUMNS = 6
"""Paths and figures; two figures in any case."""
_MOST_ERRORS = 5
MOST_FAILURES = 1_000
"""Runs without a result that the JSON document names one by one."""


@dataclass(frozen=True)
class PointSummary:
    """A point over all its replications.

    Attributes
    ----------
    point, values
        Which.
    figures
        Means over the replications, by name.
    problem
        Of its first run without a result.
    """

    point: int
    values: dict[str, Cell]
    figures: dict[str, Estimate]
    problem: str


def _summary(runs: Sequence[RunRow]) -> PointSummary:
    samples: dict[str, list[float]] = {}
    for row in runs:
        for name, value in row.figures.items():
            samples.setdefault(name, []).append(value)
    figures = {name: mean_of_replications(values) for name, values in samples.items()}
    problems = [f"{row.status}: {row.error}" for row in runs if row.status != "done"]
    return PointSummary(runs[0].point, runs[0].values, figures, problems[0] if problems else "")


def sweep_console() -> Console:
    """A console as wide as a page where nobody looks at it right now."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=_WIDTH, highlight=False)


def print_sweep(console: Console, store: ResultStore, record: SweepRecord, figures: Sequence[str]) -> None:
    """All of a sweep that fits on a page."""
    print_state(console, record)
    shown = list(figures) or usual(store.names(record.number, "figures"))
    shown = shown[: max(2, _MOST_COLUMNS - len(record.paths))]
    points = _shown_points(store, record, shown[0] if shown else "rate")
    if points:
        console.print(_points_table(record, points, shown))
    if record.points > len(points) and points:
        order = f", the highest {heading(shown[0])} first" if shown else ""
        console.print(Text(f"{len(points)} of {record.points:,} points{order}; all of them: --csv FILE"))
    _print_problems(console, store, record)


def print_state(console: Console, record: SweepRecord) -> None:
    """How a sweep stands, in a line or two."""
    what = f"{record.points:,} points"
    if record.replications > 1:
        what += f" x {record.replications:,} replications"
    console.print(Text(f"{record.name}: {what}", style="bold"))
    parts = [f"{record.counts['done']:,} done"]
    parts += [f"{record.counts[name]:,} {name}" for name in ("refused", "failed") if record.counts[name]]
    if record.left:
        parts.append(f"{record.left:,} left")
    console.print(Text(", ".join(parts)))


def _shown_points(store: ResultStore, record: SweepRecord, figure: str) -> list[PointSummary]:
    """All points in their order if they are few, otherwise those with the highest figure."""
    numbers: Iterable[int] = range(record.points)
    if record.points > _MOST_POINTS:
        numbers = store.best_points(record.number, figure, _MOST_POINTS)
    runs = [store.point(record.number, number) for number in numbers]
    return [_summary(rows) for rows in runs if rows]


def _points_table(record: SweepRecord, points: Sequence[PointSummary], figures: Sequence[str]) -> Table:
    table = Table(keys=1 + len(record.paths))
    table.add_column("point", justify="right")
    for path in record.paths:
        table.add_column(Text(path), justify="right", overflow="fold")
    for name in figures:
        table.add_column(Text(heading(name)), justify="right", no_wrap=True)
    for point in points:
        values = (Text(value_words(path, point.values.get(path, ""))) for path in record.paths)
        cells = [Text(_figure(name, point.figures.get(name))) for name in figures]
        if not point.figures and cells:
            cells[0] = Text(point.problem.partition(":")[0])
        table.add_row(f"{point.point}", *values, *cells)
    return table


def _figure(name: str, figure: Estimate | None) -> str:
    if figure is None:
        return ""
    factor = scaled(name)[0]
    text = _number(factor * figure.mean)
    return f"{text} ±{_number(factor * figure.half_width)}" if math.isfinite(figure.half_width) else text


def _number(value: float) -> str:
    """A number with three digits that count, and no fewer before the point."""
    if not value:
        return "0"
    return f"{value:,.{min(9, max(0, 2 - math.floor(math.log10(abs(value)))))}f}"


def _print_problems(console: Console, store: ResultStore, record: SweepRecord) -> None:
    """What went wrong, the same only once."""
    without = record.counts["refused"] + record.counts["failed"]
    if not without:
        return
    problems: dict[tuple[str, str], list[RunRow]] = {}
    for row in store.failures(record.number, MOST_FAILURES):
        problems.setdefault((row.status, row.error), []).append(row)
    console.print(Text(f"{without:,} without a result:", style="bold"))
    for (status, error), rows in list(problems.items())[:_MOST_ERRORS]:
        times = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        console.print(Text(f"point {rows[0].point}{times} {status}: {error}"))
    if len(problems) > _MOST_ERRORS:
        console.print(Text(f"... and {len(problems) - _MOST_ERRORS:,} other reasons"))
    if record.counts["failed"]:
        console.print(Text("--retry-failed runs what failed again."))


def document(store: ResultStore, record: SweepRecord) -> dict[str, Any]:
    """How a sweep stands, as plain data."""
    failures = store.failures(record.number, MOST_FAILURES)
    return {
        "name": record.name,
        "store": store.name,
        "points": record.points,
        "replications": record.replications,
        "runs": record.runs,
        **record.counts,
        "left": record.left,
        "varied": list(record.paths),
        "figures": store.names(record.number, "figures"),
        "failures": [
            {
                "point": row.point,
                "replication": row.replication,
                "values": row.values,
                "status": row.status,
                "error": row.error,
            }
            for row in failures
        ],
        "model": record.model,
        "made_by": record.made_by,
        "simulated_seconds": store.seconds(record.number),
    }


def dumped(found: dict[str, Any]) -> str:
    """A document as one line of JSON."""
    return json.dumps(found, allow_nan=False)
