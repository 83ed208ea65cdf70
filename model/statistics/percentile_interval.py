"""How well a percentile of latencies is known that depend on each other.

The percentile of one batch alone is biased, because few of its latencies lie beyond it. What is asked of the batches
here is a mean, and means of batches behave: which share of the latencies lies up to the percentile of all of them.
Its interval is made from the batches as that of any ratio is
(:func:`~raidsim.model.statistics.batch_means.ratio_estimate`), and the percentiles at its two ends are the interval of
the percentile. This is the interval for a quantile by the central limit theorem of the empirical distribution
(Asmussen and Glynn, Stochastic Simulation, sections III.4 and III.5; for batches of a steady-state simulation:
Iglehart, "Simulating stable stochastic systems VI: quantile estimation", Journal of the ACM 23, 1976) without its
density, which the inverse makes superfluous.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .batch_means import Estimate, ratio_estimate
from .latency_histogram import LatencyHistogram, bin_edges_ns

Counts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Latencies of one batch: numbers of the bins that hold any, in rising order or not, and how many each holds."""


def percentile_estimate(
    batches: Sequence[Counts], whole: LatencyHistogram, percent: float, confidence: float = 0.9
) -> Estimate:
    """The percentile of all batches and its interval.

    Parameters
    ----------
    batches
        Latencies of batches that follow each other.
    whole
        All of them together.
    percent
        Which, such as 99.
    confidence
        Of the interval.

    Returns
    -------
    Estimate
        `mean` is what :meth:`LatencyHistogram.percentile` says, in seconds. The interval is as wide as the farther of
        its two ends asks for, and no narrower than the bin. It is infinite while the upper end may lie beyond all that
        was seen: at least 280 latencies are needed for the 99th percentile, if they do not depend on each other.
    """
    counts = whole.counts
    total = int(counts.sum())
    if not total:
        return Estimate(float("nan"), float("inf"), confidence, 0, 0.0, 0.0, False)
    cumulative = np.cumsum(counts)
    share = percent / 100
    bin_number = int(np.searchsorted(cumulative, share * total))
    before = int(cumulative[bin_number] - counts[bin_number])
    part = (share * total - before) / int(counts[bin_number])
    below, numbers = np.zeros(len(batches)), np.zeros(len(batches))
    for i, (bins, held) in enumerate(batches):
        below[i] = held[bins < bin_number].sum() + part * held[bins == bin_number].sum()
        numbers[i] = held.sum()
    known = ratio_estimate(below, numbers, confidence)
    value = whole.percentile(percent)
    half_width = math.inf
    if share + known.half_width <= 1 - 1 / total:
        low_ns, high_ns = bin_edges_ns(bin_number)
        ends = (_at(counts, cumulative, max(0.0, share - known.half_width)), _at(counts, cumulative, known.high))
        half_width = max(value - ends[0], ends[1] - value, (high_ns - low_ns) / 2 * 1e-9)
    return Estimate(value, half_width, confidence, known.batches, 0.0, known.lag1, known.correlated)


def _at(counts: NDArray[np.int64], cumulative: NDArray[np.int64], share: float) -> float:
    """The latency (s) that a share of all does not exceed, in a straight line through its bin."""
    rank = min(share, 1.0) * int(cumulative[-1])
    number = int(np.searchsorted(cumulative, rank))
    while not counts[number]:
        number += 1  # rank 0 lies in front of the first bin that holds anything
    low_ns, high_ns = bin_edges_ns(number)
    part = (rank - float(cumulative[number] - counts[number])) / int(counts[number])
    return (low_ns + part * (high_ns - low_ns)) * 1e-9
