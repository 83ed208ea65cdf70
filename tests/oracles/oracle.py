"""An oracle: a figure that a textbook gives exactly, and a model of ours that must come to the same."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student_t

CONFIDENCE = 0.999
"""Of every interval: with some fifty oracles all of them hold, but for one case in twenty."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Oracle:
    """A figure that is known, and how to simulate it.

    Attributes
    ----------
    name
        What is looked at.
    source
        Where the exact figure comes from.
    low, high
        It, or the bounds that it is known to lie between.
    unit
        Of all figures: "s", "1/s", "B/s", or "" for a number.
    simulate
        A run of its own for every seed: the figure.
    seeds
        How many runs; one where nothing is random.
    slack
        Share by which the textbook says that its own approximation may be wrong; 0 if it is exact.
    """

    name: str
    source: str
    low: float
    high: float
    unit: str
    simulate: Callable[[int], float]
    seeds: int = 16
    slack: float = 0.0

    @property
    def is_bound(self) -> bool:
        """Whether only bounds are known."""
        return self.low != self.high


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the runs of an oracle gave.

    Attributes
    ----------
    mean, half_width
        Mean of independent runs, and half the width of its interval.
    holds
        Whether the interval reaches what is exact, or what is allowed.
    """

    oracle: Oracle
    mean: float
    half_width: float
    holds: bool

    @property
    def error(self) -> float:
        """Share by which the mean is off; of bounds, by which it is beyond the nearer one."""
        if self.oracle.is_bound and self.oracle.low <= self.mean <= self.oracle.high:
            return 0.0
        nearer = min((self.oracle.low, self.oracle.high), key=lambda end: abs(end - self.mean))
        return self.mean / nearer - 1 if nearer else math.copysign(math.inf, self.mean) if self.mean else 0.0


def exact(name: str, source: str, value: float, unit: str, simulate: Callable[[int], float], seeds: int = 16) -> Oracle:
    """An oracle whose figure is known exactly."""
    return Oracle(name, source, value, value, unit, simulate, seeds)


def outcome(oracle: Oracle, times: int = 1) -> Outcome:
    """Run it with its seeds, or with so many times as many; two oracles have no seed in common."""
    count = oracle.seeds * times if oracle.seeds > 1 else 1
    first = zlib.crc32(oracle.name.encode()) << 16
    runs = np.array([oracle.simulate(first + number) for number in range(count)])
    mean = float(runs.mean())
    half_width = 0.0
    if count > 1:
        quantile = float(student_t.ppf((1 + CONFIDENCE) / 2, count - 1))
        half_width = quantile * float(runs.std(ddof=1)) / math.sqrt(count)
    allowed = half_width + (oracle.slack + _ROUNDING) * max(abs(oracle.low), abs(oracle.high))
    holds = oracle.low - allowed <= mean <= oracle.high + allowed
    return Outcome(oracle, mean, half_width, holds)
