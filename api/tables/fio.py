"""What fio's jobs on a machine tell, alone and next to what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...calibration.fio_study.comparison import Compared, missing
from ...model.files.quantities import format_duration
from ...scenarios.fio.result import FioRun
from ..answer.numbers import fixed
from ..answer.tree import Answer, Column, Row, Table, Words, lines

_NAMES = {"rate": "MB/s", "iops": "IOPS", "clat_mean": "clat mean", "clat_p99": "clat p99"}


def limits(run: FioRun) -> list[Words]:
    """What limits on the machine, and what was assumed or left out."""
    return lines([f"bottleneck: {run.limits}", *(f"note: {note}" for note in run.notes)])


def fio_comparison(run: FioRun, rows: Sequence[Compared], measured: str) -> Answer:
    """Every job and direction as predicted and as measured, and what limits on the model."""
    told = [f"bottleneck on the model: {run.limits}", *(f"note: {note}" for note in (*run.notes, *missing(rows)))]
    return Answer("", [compared(rows, f"Predicted and {measured}"), *lines(told)])


def compared(rows: Sequence[Compared], title: str) -> Table:
    """Both figures of every job and direction, and their ratio."""
    columns = [*map(Column, ("job", "direction", "figure"))]
    columns += [*(Column(name, show=str) for name in ("measured", "predicted")), Column("ratio", show=fixed(2))]
    return Table(title, columns, list(_rows(rows)), keys=3)


def _rows(rows: Sequence[Compared]) -> Iterator[Row]:
    before = None
    for row in rows:
        place = (row.job, row.number, row.direction)
        names = (row.job, row.direction) if place != before else ("", "")
        before = place
        both = (_shown(row.figure, row.measured), _shown(row.figure, row.predicted))
        yield *names, _NAMES[row.figure], *both, row.ratio


def _shown(figure: str, value: float | None) -> str:
    if value is None:
        return ""
    if figure == "rate":
        return f"{value / 1e6:,.2f}"
    return f"{value:,.0f}" if figure == "iops" else format_duration(value)
