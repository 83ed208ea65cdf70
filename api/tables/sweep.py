"""What a sweep tells: how it stands, its points, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.statistics import Estimate
from ...scenarios.questions.replications import mean_of_replications
from ...scenarios.sweeps.axes import Cell
from ...scenarios.sweeps.result_store import ResultStore, RunRow, SweepRecord
from ..answer.numbers import Sure, number, with_half
from ..answer.tree import Answer, Column, Part, Row, Table, Words
from ..support.figures import heading, scaled, usual, value_words

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


def sweep_answer(store: ResultStore, record: SweepRecord, figures: Sequence[str], whole: bool = True) -> Answer:
    """All of a sweep that fits on a page; if not `whole`, only how it stands."""
    what = f"{record.points:,} points"
    if record.replications > 1:
        what += f" x {record.replications:,} replications"
    counts = [f"{record.counts['done']:,} done"]
    counts += [f"{record.counts[name]:,} {name}" for name in ("refused", "failed") if record.counts[name]]
    counts += [f"{record.left:,} left"] if record.left else []
    more = _points(store, record, figures) if whole else ()
    return Answer(f"{record.name}: {what}", [Words(", ".join(counts)), *more])


def _points(store: ResultStore, record: SweepRecord, figures: Sequence[str]) -> Iterator[Part]:
    shown = list(figures) or usual(store.names(record.number, "figures"))
    shown = shown[: max(2, _MOST_COLUMNS - len(record.paths))]
    points = _shown_points(store, record, shown[0] if shown else "rate")
    yield _table(record, points, shown)
    if record.points > len(points) and points:
        order = f", the highest {heading(shown[0])} first" if shown else ""
        yield Words(f"{len(points)} of {record.points:,} points{order}; all of them: --csv FILE")
    yield from _problems(store, record)


def _shown_points(store: ResultStore, record: SweepRecord, figure: str) -> list[PointSummary]:
    """All points in their order if they are few, otherwise those with the highest figure."""
    numbers: Iterable[int] = range(record.points)
    if record.points > _MOST_POINTS:
        numbers = store.best_points(record.number, figure, _MOST_POINTS)
    runs = [store.point(record.number, number) for number in numbers]
    return [_summary(rows) for rows in runs if rows]


def _table(record: SweepRecord, points: Sequence[PointSummary], figures: Sequence[str]) -> Table:
    columns = [Column(name, show=str) for name in ("point", *record.paths)]
    columns += [Column(heading(name), show=with_half(number), scale=scaled(name)[0]) for name in figures]
    rows: list[Row] = []
    for point in points:
        cells = [Sure.of(point.figures.get(name)) for name in figures]
        first = [point.problem.partition(":")[0]] if not point.figures and cells else cells[:1]
        values = [value_words(path, point.values.get(path, "")) for path in record.paths]
        rows.append([f"{point.point}", *values, *first, *cells[1:]])
    return Table("", columns, rows, keys=1 + len(record.paths))


def _problems(store: ResultStore, record: SweepRecord) -> Iterator[Words]:
    """What went wrong, the same only once."""
    without = record.counts["refused"] + record.counts["failed"]
    if not without:
        return
    problems: dict[tuple[str, str], list[RunRow]] = {}
    for row in store.failures(record.number, MOST_FAILURES):
        problems.setdefault((row.status, row.error), []).append(row)
    yield Words(f"{without:,} without a result:", "title")
    for (status, error), rows in list(problems.items())[:_MOST_ERRORS]:
        times = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        yield Words(f"point {rows[0].point}{times} {status}: {error}")
    if len(problems) > _MOST_ERRORS:
        yield Words(f"... and {len(problems) - _MOST_ERRORS:,} other reasons")
    if record.counts["failed"]:
        yield Words("--retry-failed runs what failed again.")


def document(store: ResultStore, record: SweepRecord) -> dict[str, Any]:
    """How a sweep stands, as plain data."""
    failed = ("point", "replication", "values", "status", "error")
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
            {name: getattr(row, name) for name in failed} for row in store.failures(record.number, MOST_FAILURES)
        ],
        "model": record.model,
        "made_by": record.made_by,
        "simulated_seconds": store.seconds(record.number),
    }
