"""One load whose steady state is looked for: what must be known of it, and whether it drifts or is too much."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...model.statistics.batch_means import Estimate, ratio_estimate, trend
from .load_windows import LoadWindows

LEAST_IOS = 1000
"""I/Os of a measurement at least."""
LEAST_BATCHES = 16
SATURATED_PRECISION = 0.05
"""A throughput that nobody asked for, because more was to be had, is not measured closer than this."""
WINDOW_IOS = 8
FIRST_S = 1e-3
TREND_ERRORS = 3.5
_BACKLOG_ERRORS = 5.0
_BACKLOG_IOS = 1000
_BACKLOG_SHARE = 0.003
"""Share of the I/Os that come and stay, below which a backlog is not said to grow for ever."""
_AS_FAST = 0.7
_MEMORIES = 5


class WatchedLoad:
    """One load among those that run: its windows, and what must be known of it to a precision.

    Attributes
    ----------
    saturated, growing
        Whether its backlog grows for ever, and whether it grew when the run was last looked at.
    """

    def __init__(self, windows: LoadWindows, precision: float) -> None:
        self.windows = windows
        self._precision = precision
        self.saturated = self.growing = False

    @property
    def criterion(self) -> Estimate:
        """What must be known: throughput, or the mean latency of an open load that is not saturated."""
        if self.windows.is_open and not self.saturated:
            return self.windows.mean_latency()
        return self.windows.throughput()

    @property
    def goal(self) -> float:
        """How well :attr:`criterion` must be known, as a share of it."""
        return max(self._precision, SATURATED_PRECISION) if self.saturated else self._precision

    @property
    def is_precise(self) -> bool:
        """Whether the interval is narrow enough, and of enough batches to be believed."""
        known = self.criterion
        return (
            self.windows.ios >= LEAST_IOS
            and known.batches >= LEAST_BATCHES
            and not known.correlated
            and known.relative <= self.goal
        )

    def window(self, now: float) -> float:
        """Seconds in which a few I/Os are complete."""
        elapsed = now - self.windows.began
        return WINDOW_IOS * elapsed / self.windows.ios if self.windows.ios else max(elapsed, FIRST_S)

    def memory_s(self, servers: int) -> float:
        """How long an open load is measured at least (s), so that the queues have forgotten several times.

        A queue of one server forgets within 4 W (L + 1), with L requests in it that take W seconds each (its relaxation
        time, 1 / (1 - sqrt(utilization))^2 service times, for Poisson arrivals and exponential service); while it grows
        that slowly, neither correlation nor trend of a short run shows it. And an open load is measured for no less
        than half of what came before, so that a slow rise of a long backlog is seen.
        """
        windows = self.windows
        if not windows.is_open or self.saturated or not windows.ios:
            return 0.0
        backlog = float(windows.stores[:, 0].mean())
        queues_s = _MEMORIES * 4 * windows.mean_latency().mean * (backlog / servers + 1)
        return max(queues_s, windows.began / 2)

    def written(self, first: int) -> float:
        """Bytes written in the windows from `first` on, about."""
        moved, reads, writes = self.windows.flows[first:, :3].sum(axis=0)
        return float(moved * writes / max(1.0, reads + writes))

    def drifts(self, first: int) -> bool:
        """Whether what the load sees rises or falls from the window `first` on."""
        return any(_drifts(seen[first:], self.goal) for seen in self.seen())

    def seen(self) -> list[NDArray[np.float64]]:
        """What the load sees in every window; of a saturated one how many reads and writes are completed."""
        return self.windows.served() if self.saturated else [self.windows.seen()]

    def backlog_grows(self) -> bool:
        """Whether the backlog of open loads grows in the second half of the windows as it did in the first."""
        return self.windows.is_open and backlog_grows(self.windows)


def backlog_grows(windows: LoadWindows) -> bool:
    """Whether more I/Os come than are completed, for ever as far as one can see.

    In the second half of the windows significantly more must come than go, and nearly as many as in the first half:
    the backlog of a device that takes what comes rises ever more slowly to where it stays.
    """
    flows = windows.flows
    half = windows.count // 2
    if half < LEAST_BATCHES or flows[:, 5].sum() < _BACKLOG_IOS:
        return False
    more = flows[:, 5] - flows[:, 1] - flows[:, 2]
    first, second = float(more[-2 * half : -half].sum()), float(more[-half:].sum())
    known = ratio_estimate(more[-half:], np.ones(half), 0.9)
    # Half a 90 % interval is 1.645 standard errors, and a little more with few batches.
    surely = known.mean * 1.645 > _BACKLOG_ERRORS * known.half_width
    return surely and second >= _AS_FAST * first and second > _BACKLOG_SHARE * float(flows[-half:, 5].sum())


def _drifts(seen: NDArray[np.float64], goal: float) -> bool:
    """Whether a series rises or falls by more than a share `goal` of its mean; one of zeros has yet to begin."""
    change, errors = trend(seen)
    return not seen.any() or bool(abs(errors) > TREND_ERRORS and abs(change) > goal * abs(float(seen.mean())))
