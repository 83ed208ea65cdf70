"""Compare a run of fio's jobs on the model with the same jobs measured with fio."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...model.core.errors import InputError
from ...scenarios.fio.result import DirectionResult, FioRun
from ..formats.benchmarks import fio_json, fio_text
from ..text.report import Report

_FIGURES = {"rate": "bytes/s", "iops": "1/s", "clat_mean": "s", "clat_p99": "s"}
_P99 = 99.0


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of a job in one direction.

    Attributes
    ----------
    job, number
        The job, and its number among those of the same name, from 1.
    direction
        "read", "write" or "trim".
    figure, unit
        "rate", "iops", "clat_mean" or "clat_p99", in SI units.
    measured, predicted
        None where that side has none.
    """

    job: str
    number: int
    direction: str
    figure: str
    unit: str
    measured: float | None
    predicted: float | None

    @property
    def ratio(self) -> float | None:
        """Predicted over measured."""
        return self.predicted / self.measured if self.measured and self.predicted else None

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "ratio": self.ratio}


def compared(run: FioRun, report: Report, name: str) -> list[Compared]:
    """Job by job and direction by direction: bandwidth, IOPS, mean and 99th percentile of the completion latency.

    Parameters
    ----------
    run
        What the model gives.
    report
        What fio has measured; jobs belong together by name, and by their order where several have the same.
    name
        What errors call the report.

    Raises
    ------
    InputError
        If the report is not fio's, or has none of the jobs.
    """
    if report.format not in (fio_json.NAME, fio_text.NAME):
        raise InputError(
            name, f"found a report of {report.format}", "expected: fio's JSON (--output-format=json) or text"
        )
    measured, known = _measured(report)
    rows: list[Compared] = []
    seen: Counter[str] = Counter()
    for job in run.jobs:
        seen[job.jobname] += 1
        key = (job.jobname, seen[job.jobname])
        for direction, result in job.directions.items():
            found = measured.get((*key, direction), {})
            if found or result.total_ios:
                predicted = _predicted(result)
                rows += [
                    Compared(*key, direction, figure, unit, found.get(figure), predicted.get(figure))
                    for figure, unit in _FIGURES.items()
                ]
    ours = {job.jobname for job in run.jobs}
    if not ours & known:
        raise InputError(name, f"found the jobs {', '.join(sorted(known))}", f"expected: {', '.join(sorted(ours))}")
    return rows


def _measured(report: Report) -> tuple[dict[tuple[str, int, str], dict[str, float]], set[str]]:
    """Figures by job, its number and direction; and the names of all jobs."""
    found: dict[tuple[str, int, str], dict[str, float]] = {}
    numbers: dict[tuple[str, str], int] = {}
    seen: Counter[str] = Counter()
    for figure in report.figures:
        context = dict(figure.context)
        job = context.get("job")
        if job is None or context.get("report", "1") != "1":
            continue
        place = (job, context["number"])
        if place not in numbers:
            seen[job] += 1
            numbers[place] = seen[job]
        direction, _, what = figure.name.partition("_")
        if what in _FIGURES:
            found.setdefault((job, numbers[place], direction), {})[what] = figure.value
    return found, set(seen)


def _predicted(result: DirectionResult) -> dict[str, float]:
    if not result.total_ios:
        return {}
    figures = {"rate": result.bytes_per_second, "iops": result.ios_per_second}
    if result.clat.n:
        figures |= {"clat_mean": result.clat.mean, "clat_p99": 1e-9 * result.clat.percentile_ns(_P99)}
    return figures


def missing(rows: Sequence[Compared]) -> list[str]:
    """Jobs and directions that only one side has."""
    notes = []
    for row in rows:
        if row.figure == "rate" and (row.measured is None or row.predicted is None):
            side = "measured" if row.measured is None else "predicted"
            notes.append(f"{row.job}, {row.direction}: not {side}")
    return notes
