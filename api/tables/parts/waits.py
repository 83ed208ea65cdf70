"""What I/Os spend their time on: the first causes in a line, and all of them in a table."""

from __future__ import annotations

from ....model.core.exact_sums import sum_in_order
from ....scenarios.questions.without_waits import FIRST
from ....scenarios.running.base.prediction import Prediction
from ....scenarios.running.base.waits import WaitTimes
from ...answer.numbers import PERCENT, fixed, milliseconds
from ...answer.tree import Column, Row, Table

_SHOWN = 0.005
"""Share of a response time below which its cause is not told."""


def wait_lines(prediction: Prediction) -> list[str]:
    """What the mean time of a read and of a write is made of: the first causes with their shares."""
    if prediction.saturated:
        return []
    told = []
    for op, times in prediction.waits.items():
        mean_s = prediction.latencies[op]["mean_s"]
        told.append(f"time of a {op}, {milliseconds(mean_s)}: {', '.join(first_causes(times, mean_s))}")
    return told


def first_causes(times: WaitTimes, mean_s: float | None = None) -> list[str]:
    """The first causes of a mean latency with their shares; it is the sum of the parts unless given."""
    whole = sum_in_order(times.values()) if mean_s is None else mean_s
    shares = [(cause, seconds / whole) for cause, seconds in times.items()]
    return [f"{PERCENT(100 * share)} {cause}" for cause, share in shares[:FIRST] if share >= _SHOWN]


def waits_table(prediction: Prediction) -> Table:
    """What the mean latency of reads and of writes is made of."""
    means = {op: prediction.latencies[op]["mean_s"] for op in prediction.waits}
    shown = dict.fromkeys(
        cause for op, times in prediction.waits.items() for cause, part in times.items() if part >= _SHOWN * means[op]
    )
    rows: list[Row] = []
    for cause in shown:
        parts = [(times.get(cause, 0.0), means[op]) for op, times in prediction.waits.items()]
        rows.append([cause, *(cell for seconds, mean_s in parts for cell in (seconds, seconds / mean_s))])
    columns = [
        column
        for op in prediction.waits
        for column in (Column(f"of a {op}", "ms", fixed(3), 1e3), Column("share", show=PERCENT, scale=100.0))
    ]
    return Table("What the mean latency is made of", (Column("time for"), *columns), rows)
