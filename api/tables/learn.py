"""What was learnt of a box: predictions, the jobs to measure next, and whether new measurements fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...calibration.learning.next_job import NextJobs
from ...calibration.learning.posterior import Prediction
from ...calibration.learning.table import words
from ...calibration.learning.verify import Verified
from ..answer.numbers import COUNT, PERCENT, counted, fixed, listed, number
from ..answer.tree import Answer, Column, Marked, Part, Row, Table, Words, lines

_US, _GB = 1e6, 1e-9
_MOST_NAMED = 3
_UNKNOWN = 3.0
"""A parameter whose range spans such a factor each way is not told by the measurements."""


def learned_answer(
    count: int,
    own_error: float | None,
    parameters: Sequence[Mapping[str, Any]],
    predicted: Sequence[tuple[str, Prediction]],
    jobs: NextJobs | None,
    verified: Verified | None,
    notes: Sequence[str],
) -> Answer:
    """All of it, in the order in which users ask."""
    parts: list[Part] = []
    if predicted:
        parts.append(_predictions(predicted))
    if verified is not None:
        parts += _verified(verified)
    if jobs is not None:
        parts += _next(jobs)
    parts += _parameters(parameters)
    if own_error is not None:
        text = "Factors are on the scenario's numbers. Between simulations rates are known to"
        parts.append(Words(f"{text} {100 * math.expm1(own_error):.1f} % (one standard deviation)."))
    parts += lines(notes)
    return Answer(f"A {'box' if own_error is None else 'machine'}, learnt from {counted(count, 'measurement')}", parts)


def _predictions(predicted: Sequence[tuple[str, Prediction]]) -> Table:
    columns = [Column("load"), Column("IOPS", show=COUNT), Column("90 % range", whole=True)]
    columns += [Column("read", "us", fixed(0), _US), Column("write", "us", fixed(0), _US)]
    rows: list[Row] = [
        [name, each.rate, _range(each.rate_range), each.read_mean, each.write_mean] for name, each in predicted
    ]
    return Table("Predictions", columns, rows)


def _range(ends: tuple[float, float]) -> str:
    return f"{COUNT(ends[0])} - {COUNT(ends[1])}"


def _verified(verified: Verified) -> list[Part]:
    inside = sum(check.inside for check in verified.checks)
    head = Words(f"{inside} of {counted(len(verified.checks), 'measurement')} are inside the 90 % range.")
    columns = [Column("load"), Column("measured", show=COUNT), Column("predicted", show=COUNT)]
    columns += [Column("90 % range", whole=True), Column("error", show=PERCENT, scale=100.0), Column("")]
    rows: list[Row] = [
        [
            words(check.measured.load),
            check.measured.rate,
            check.predicted.rate,
            _range(check.predicted.rate_range),
            math.expm1(-check.error),
            "inside" if check.inside else Marked("outside", "bad"),
        ]
        for check in verified.checks
    ]
    table = Table("New measurements", columns, rows)
    if not verified.moved:
        return [head, table]
    moved = [f"{each.name} ({number(each.factor)} times)" for each in verified.moved[:_MOST_NAMED]]
    return [head, table, *lines([f"The new measurements alone give another {listed(moved)}."])]


def _next(jobs: NextJobs) -> list[Part]:
    columns = [Column("measure next"), Column("rates then known to", show=PERCENT, scale=100.0)]
    rows: list[Row] = [[words(gain.load), math.expm1(gain.spread)] for gain in jobs.gains]
    now = f"Rates are known to {100 * math.expm1(jobs.spread):.0f} % now (one standard deviation)."
    return [Words(now), Table("Jobs that tell most", columns, rows)]


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Those that the measurements tell, and the number of the others."""
    told = [each for each in parameters if each["factor"] < _UNKNOWN]
    columns = [Column("parameter"), Column("learnt", show=str), Column("known to", show=str)]
    rows: list[Row] = [
        [each["name"], _value(each["median"], each["unit"]), f"a factor of {each['factor']:.2g}"] for each in told
    ]
    found: list[Part] = [Table("Parameters", columns, rows)] if rows else []
    if left := len(parameters) - len(told):
        found.append(
            Words(f"{counted(left, 'parameter')} may be more than {_UNKNOWN:g} times as high or low (--json has all).")
        )
    return found


def _value(value: float, unit: str) -> str:
    if unit == "s":
        return f"{number(_US * value)} us"
    if unit == "s/B":
        return f"{number(_GB / value)} GB/s"
    return number(value)
