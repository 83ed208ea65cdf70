"""Whether a measurement of a given length has seen the steady state of a load, or the way there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....model.files.quantities import format_duration
from ....model.statistics.batch_means import Estimate, lag1_of, trend, warmup_cut

_ERRORS = 3.5
"""Standard errors of a trend, or of a beginning that differs, from which it is none by chance."""
_LEAST = 0.1
"""Share that a figure must rise or fall by over the measurement, or that the beginning must make the mean wrong by."""
_LEAST_IOS = 500
_LEAST_FIRST_IOS = 16
"""I/Os of a measurement, and of the beginning that differs, below which this may be chance."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A figure that was not the same at the beginning and at the end of a measurement.

    Attributes
    ----------
    figure
        "latency" (mean, s) or "iops".
    first, last
        In the first part of the measurement and in the last.
    first_s, last_s
        How long these parts are (s).
    """

    figure: Literal["latency", "iops"]
    first: float
    last: float
    first_s: float
    last_s: float

    def words(self) -> str:
        """What drifts, and what to do."""
        what = "mean latency" if self.figure == "latency" else "IOPS"
        show = format_duration if self.figure == "latency" else _whole
        return (
            f"not settled: {what} {show(self.first)} in the first {format_duration(self.first_s)} of the measurement, "
            f"{show(self.last)} in the last {format_duration(self.last_s)}, so the figures are those of a start; "
            "without warm_up and duration the run finds out itself when to measure"
        )


def drift_of(seen: NDArray[np.float64], flows: NDArray[np.float64], is_open: bool, length: float) -> Drift | None:
    """How what a load saw has drifted, if it has: by a straight line, or by a beginning that the MSER rule would cut.

    Parameters
    ----------
    seen
        What it saw in every window: :meth:`raidsim.scenarios.running.load_windows.LoadWindows.seen`.
    flows
        Of every window: bytes, reads, writes, latencies of reads and of writes (ns), arrivals.
    is_open
        Whether it sends at its own times, so that its latency is what can drift.
    length
        Seconds of a window.
    """
    ios = flows[:, 1] + flows[:, 2]
    if ios.sum() < _LEAST_IOS:
        return None
    change, errors = trend(seen)
    first, rest = _begins_otherwise(seen), slice(0)
    if first and ios[:first].sum() >= _LEAST_FIRST_IOS:
        rest = slice(first, None)
    elif abs(errors) > _ERRORS and abs(change) > _LEAST * abs(float(seen.mean())):
        first = len(seen) // 4
        rest = slice(-first, None)
    else:
        return None
    head, tail = flows[:first].sum(axis=0), flows[rest].sum(axis=0)
    first_s, last_s = first * length, len(flows[rest]) * length
    if is_open:
        return Drift("latency", _mean_s(head), _mean_s(tail), first_s, last_s)
    return Drift("iops", float(head[1] + head[2]) / first_s, float(tail[1] + tail[2]) / last_s, first_s, last_s)


def _begins_otherwise(seen: NDArray[np.float64]) -> int:
    """Windows at the beginning that make the mean wrong; 0: none."""
    cut = warmup_cut(seen)
    head, rest = seen[:cut], seen[cut:]
    if not cut or not rest.mean():
        return 0
    lag1 = max(0.0, lag1_of(rest))
    error = float(rest.std(ddof=1)) * math.sqrt((1 + lag1) / (1 - lag1) / cut)
    surely = abs(float(head.mean() - rest.mean())) > _ERRORS * error
    return cut if surely and abs(float(seen.mean() / rest.mean()) - 1) > _LEAST else 0


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _mean_s(flow: NDArray[np.float64]) -> float:
    count = float(flow[1] + flow[2])
    return 1e-9 * float(flow[3] + flow[4]) / count if count else 0.0


def unknown(estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The same means, of which nobody can say how sure they are."""
    return {name: replace(each, half_width=float("inf")) for name, each in estimates.items()}
