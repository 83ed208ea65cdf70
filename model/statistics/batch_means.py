"""Means of a simulated series with honest confidence intervals: batch means.

Neighboring observations of a simulation depend on each other, so their scatter understates the error of their
mean. Means of long enough batches are nearly independent (Law, Simulation Modeling and Analysis, section 9.5).
Three steps, all automatic:

* memory stays flat: when there are too many batches, neighbors are joined and the batch doubles;
* warm-up is cut where the standard error of what remains is smallest (MSER: White 1997; its five-observation
  groups are the batches here), at most the first half;
* the remaining batches are joined until neighbors are no longer correlated, then Student's t gives the interval.

What is a ratio of two sums, such as the latencies of a batch and their number, has an interval of its own
(:func:`ratio_estimate`), and so has a percentile (:mod:`raidsim.model.statistics.percentile_interval`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..core.exact_sums import sum_of_products

_MOST = 512  # batches kept before neighbors are joined
_FEWEST = 16  # joined batches below which correlation is reported rather than joined away
_JOINED = 64  # batches the interval is first tried with
_MINIMUM = 5  # batches below which there is no interval
_RATIOS = 24  # batches the interval of a ratio is first tried with


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and how well it is known.

    Attributes
    ----------
    mean
        The mean after warm-up.
    half_width
        Half the width of the confidence interval; infinite when there is too little to tell.
    confidence
        Probability that the interval covers the true mean, such as 0.9.
    batches
        Batches the interval was made of.
    warmup
        Share of the series that was cut, 0 to 0.5.
    lag1
        Correlation of neighboring batches.
    correlated
        Whether that is too much to trust the interval: the run is too short.
    """

    mean: float
    half_width: float
    confidence: float
    batches: int
    warmup: float
    lag1: float
    correlated: bool

    @property
    def relative(self) -> float:
        """Half-width over mean: the precision reached; infinite for a mean of 0 that is not certain."""
        if self.half_width == 0:
            return 0.0
        return self.half_width / abs(self.mean) if self.mean else float("inf")

    def document(self) -> dict[str, float | int | bool | None]:
        """As a JSON object; None for what is not known, because JSON has no infinity."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value if math.isfinite(value) else None for name, value in values.items()}

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + self.half_width


class BatchMeans:
    """Mean of a series of observations, such as latencies, in batches of equal count."""

    __slots__ = ("_count", "_left", "_sum", "_sums")

    def __init__(self) -> None:
        self._sums: list[float] = []
        self._count = 1
        self._left = 1
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Take the next observation."""
        self._sum += value
        self._left -= 1
        if not self._left:
            self._sums.append(self._sum)
            self._sum = 0.0
            if len(self._sums) >= _MOST:
                self._sums = _in_pairs(self._sums)
                self._count *= 2
            self._left = self._count

    def estimate(self, confidence: float = 0.9) -> Estimate:
        """The mean of what was added so far; the batch under way is left out."""
        return _estimate(np.array(self._sums) / self._count, confidence)


class BatchRates:
    """Amount per second, such as bytes or I/Os completed, in batches of equal time.

    Parameters
    ----------
    start
        Time (s) from which it counts.
    batch_s
        Length (s) of the first batches; it doubles as the run gets longer.
    """

    __slots__ = ("_amounts", "_batch_s", "_end", "_start", "_sum")

    def __init__(self, start: float = 0.0, batch_s: float = 1e-3) -> None:
        if not batch_s > 0:
            raise ValueError(f"a batch of {batch_s} s is not longer than 0")
        self._amounts: list[float] = []
        self._batch_s = batch_s
        self._start = start
        self._end = start + batch_s
        self._sum = 0.0

    def add(self, time: float, amount: float) -> None:
        """Count `amount` at `time` (s); times do not go back."""
        if time >= self._end:
            self._advance(time)
        self._sum += amount

    def estimate(self, now: float, confidence: float = 0.9) -> Estimate:
        """The rate per second up to `now` (s); the batch under way is left out."""
        if now >= self._end:
            self._advance(now)
        return _estimate(np.array(self._amounts) / self._batch_s, confidence)

    def _advance(self, time: float) -> None:
        """Close batches until the one under way holds `time`."""
        while time - self._start >= _MOST * self._batch_s:
            if len(self._amounts) % 2:
                self._amounts.append(self._sum)
                self._sum = 0.0
            self._amounts = _in_pairs(self._amounts)
            self._batch_s *= 2
        under_way = max(int((time - self._start) / self._batch_s), len(self._amounts))
        while len(self._amounts) < under_way:
            self._amounts.append(self._sum)
            self._sum = 0.0
        self._end = self._start + (under_way + 1) * self._batch_s


def student_t(probability: float, freedom: int) -> float:
    """Quantile of Student's t by the Cornish-Fisher series (Abramowitz and Stegun 26.7.5).

    Within 0.5 % from 4 degrees of freedom on for the usual confidences, at a thousandth of scipy's import time; with
    fewer degrees of freedom by the distribution itself.
    """
    if freedom < 4:
        return _few_degrees(probability, freedom)
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, start=1))


def _few_degrees(probability: float, freedom: int) -> float:
    """Quantile of Student's t with 1, 2 or 3 degrees of freedom."""
    if freedom == 1:
        return math.tan(math.pi * (probability - 0.5))
    if freedom == 2:
        return (2 * probability - 1) * math.sqrt(2 / (4 * probability * (1 - probability)))
    low, high = -1e6, 1e6
    while high - low > 1e-12 * max(1.0, abs(low)):
        middle = (low + high) / 2
        scaled = middle / math.sqrt(3)
        below = 0.5 + (scaled / (1 + scaled**2) + math.atan(scaled)) / math.pi
        low, high = (middle, high) if below < probability else (low, middle)
    return (low + high) / 2


def ratio_estimate(amounts: NDArray[np.float64], weights: NDArray[np.float64], confidence: float = 0.9) -> Estimate:
    """The sum of `amounts` over the sum of `weights`, from batches that follow each other.

    The ratio estimator (Asmussen and Glynn, Stochastic Simulation, section III.3; Law, Simulation Modeling and
    Analysis, section 9.5.3): with r the ratio of the sums, the deviations a - r w of the batches have mean 0, and
    their scatter over the mean weight is that of r. Batches are joined until no correlation of neighboring deviations
    can be proved. What there seems to be of it makes the interval as much wider as for a first-order autoregressive
    series, sqrt((1 + c) / (1 - c)) times: correlation that few batches cannot prove still costs coverage.
    And the interval of skewed batches is wider by as much as Johnson ("Modified t tests and confidence intervals for
    asymmetrical populations", Journal of the American Statistical Association 73, 1978) would shift it: a run that has
    met few bursts thinks that they are rare and small, and would be sure too early.

    Parameters
    ----------
    amounts, weights
        Of every batch: bytes and seconds, or sum and number of latencies. Nothing is cut off them.
    confidence
        Of the interval.
    """
    whole = float(weights.sum())
    if not whole > 0:
        return Estimate(float("nan"), float("inf"), confidence, 0, 0.0, 0.0, False)
    ratio = float(amounts.sum()) / whole
    deviations = amounts - ratio * weights
    joined = _uncorrelated(deviations, _RATIOS)
    count = len(joined)
    if count < _MINIMUM:
        return Estimate(ratio, float("inf"), confidence, count, 0.0, 0.0, False)
    scatter = float(joined.std(ddof=1))
    # Rounding of sums leaves deviations in the last digits where nothing varies.
    if scatter <= 1e-12 * float(np.abs(amounts).mean()):
        return Estimate(ratio, 0.0, confidence, count, 0.0, 0.0, False)
    lag1 = lag1_of(joined)
    rest = max(0.0, lag1)
    scatter *= math.sqrt((1 + rest) / (1 - rest))
    quantile = student_t((1 + confidence) / 2, count - 1)
    scatter *= 1 + abs(_skewness(joined)) * (2 * quantile**2 + 1) / (6 * math.sqrt(count) * quantile)
    half_width = quantile * scatter / math.sqrt(count) * len(amounts) / whole
    return Estimate(ratio, half_width, confidence, count, 0.0, lag1, _is_correlated(joined))


def trend(values: NDArray[np.float64]) -> tuple[float, float]:
    """How much a series rises from its beginning to its end, and how many standard errors that is.

    A straight line through sixteen means of consecutive values; the standard error of its slope is made wider by the
    correlation of the residuals.

    Parameters
    ----------
    values
        At equal distances; 0 and 0 if there are fewer than sixteen.
    """
    size = len(values) // _FEWEST
    if not size:
        return 0.0, 0.0
    means = values[len(values) - size * _FEWEST :].reshape(_FEWEST, size).mean(axis=1)
    place = np.arange(_FEWEST) - (_FEWEST - 1) / 2
    spread = sum_of_products(place, place)
    slope = sum_of_products(place, means) / spread
    left = means - means.mean() - slope * place
    scatter = math.sqrt(sum_of_products(left, left) / (_FEWEST - 2))
    if scatter <= 1e-12 * float(np.abs(means).max(initial=0.0)):
        return slope * _FEWEST, math.copysign(math.inf, slope) if abs(slope) > scatter else 0.0
    lag1 = max(0.0, lag1_of(left))
    error = scatter / math.sqrt(spread) * math.sqrt((1 + lag1) / (1 - lag1))
    return slope * _FEWEST, slope / error


def _in_pairs(values: list[float]) -> list[float]:
    return [a + b for a, b in zip(values[::2], values[1::2], strict=True)]


def _estimate(means: NDArray[np.float64], confidence: float) -> Estimate:
    cut = warmup_cut(means)
    kept = means[cut:]
    warmup = cut / len(means) if len(means) else 0.0
    if not len(kept):
        return Estimate(float("nan"), float("inf"), confidence, 0, 0.0, 0.0, False)
    mean = float(kept.mean())
    if len(kept) < _MINIMUM:
        return Estimate(mean, float("inf"), confidence, len(kept), warmup, 0.0, False)
    joined = _uncorrelated(kept, _JOINED)
    deviation = float(joined.std(ddof=1))
    # Rounding of sums leaves a deviation in the last digits where nothing varies.
    if deviation <= 1e-12 * abs(mean):
        deviation = 0.0
    half_width = student_t((1 + confidence) / 2, len(joined) - 1) * deviation / math.sqrt(len(joined))
    correlated = bool(deviation) and _is_correlated(joined)
    return Estimate(mean, half_width, confidence, len(joined), warmup, lag1_of(joined), correlated)


def _uncorrelated(values: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Means of consecutive values, at first about `most` of them, then fewer until neighbors are not correlated."""
    joined = values
    for group in range(max(1, len(values) // most), len(values) + 1):
        count = len(values) // group
        if count < _FEWEST and group > 1:
            break
        joined = values[len(values) - count * group :].reshape(count, group).mean(axis=1)
        if not _is_correlated(joined):
            break
    return joined


def warmup_cut(means: NDArray[np.float64]) -> int:
    """How many leading batches to cut: the MSER rule, at most half. Half says that the series is too short."""
    n = len(means)
    if n < 2 * _MINIMUM:
        return 0
    left = n - np.arange(n // 2 + 1)
    # Centered first: squares of large means would drown the differences between batches.
    centred = means - means.mean()
    tail_sum = np.cumsum(centred[::-1])[::-1][: len(left)]
    tail_square = np.cumsum(centred[::-1] ** 2)[::-1][: len(left)]
    spread = np.maximum(tail_square - tail_sum**2 / left, 0.0) / left**2
    return int(np.argmin(spread))


def lag1_of(values: NDArray[np.float64]) -> float:
    """Correlation of neighbors; 0 if all are equal."""
    centred = values - values.mean()
    total = sum_of_products(centred, centred)
    return sum_of_products(centred[:-1], centred[1:]) / total if total > 0 else 0.0


def _skewness(values: NDArray[np.float64]) -> float:
    centred = values - values.mean()
    return float((centred**3).mean() / (centred**2).mean() ** 1.5)


def _is_correlated(values: NDArray[np.float64]) -> bool:
    """Whether neighbors are correlated beyond what 19 of 20 independent series would show (one-sided)."""
    return lag1_of(values) > 1.645 / math.sqrt(len(values))
