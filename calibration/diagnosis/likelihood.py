"""How well a cause explains figures that were measured: a likelihood, and odds of causes against each other.

The logarithm of measured over predicted is taken to be normal. One part of its error is common to all figures of a
machine, whose drives are all a little faster or slower than the model's; it follows from how far predictions of
published reports were off (:mod:`raidsim.calibration.uncertainty`). The other part is each figure's own (assumed).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

OWN_ERROR = 0.1
"""Standard deviation of the logarithm of a rate or a mean latency around the error that all figures share."""
TAIL_ERROR = 0.35
"""The same of a percentile."""
AWAIT_ERROR = 0.4
"""The same of the time that requests of a member take, over that of the members' median."""
AWAIT = "await "
_LEAST_COMMON = 0.05
QUANTILE = 1.645
"""Of the normal distribution: 90 % lie within so many standard deviations."""
MISSING = -50.0
"""Log-likelihood of a cause with which a job cannot run at all."""


def common_error(factor: float) -> float:
    """Standard deviation of the error that figures share, for predictions within a factor in 90 % of the cases."""
    whole = math.log(factor) / QUANTILE
    return math.sqrt(max(_LEAST_COMMON**2, whole**2 - OWN_ERROR**2))


def log_likelihood(misses: Mapping[str, float], common: float, noise: Mapping[str, float] | None = None) -> float:
    """Logarithm of the likelihood, but for a constant.

    Parameters
    ----------
    misses
        ln(measured / predicted) by figure; figures that end in "p99_seconds" are less sure. A latency misses to the
        other side than a rate, so the common error has its sign changed there. It is not in those that begin with
        "await ", which compare members with each other.
    common
        Standard deviation of the common error.
    noise
        Of the figures whose runs were too short to know them well: the standard deviation that this adds.
    """
    weights, signed, squares, widened = 0.0, 0.0, 0.0, 0.0
    for name, miss in misses.items():
        if name.startswith(AWAIT):
            squares += (miss / AWAIT_ERROR) ** 2
            continue
        error = TAIL_ERROR if name.endswith("p99_seconds") else OWN_ERROR
        more = 0.0 if noise is None else noise.get(name, 0.0)
        widened += 0.5 * math.log1p((more / error) ** 2)
        error = math.hypot(error, more)
        sign = -1.0 if name.endswith("seconds") else 1.0
        weights += 1 / error**2
        signed += sign * miss / error**2
        squares += (miss / error) ** 2
    return -0.5 * (squares - signed**2 / (weights + 1 / common**2)) - widened


def posterior(priors: Sequence[float], logs: Sequence[float]) -> list[float]:
    """Probabilities of hypotheses that exclude each other."""
    most = max(logs)
    weights = [prior * math.exp(log - most) for prior, log in zip(priors, logs, strict=True)]
    whole = math.fsum(weights)
    return [weight / whole for weight in weights]


def mean_ratio(misses: Mapping[str, float]) -> float:
    """Measured speed over the predicted one, the geometric mean over all rates, or over latencies without any."""
    rates = [miss for name, miss in misses.items() if name.endswith("iops")]
    late = [-miss for name, miss in misses.items() if name.endswith("mean_seconds")]
    used = rates or late
    return math.exp(math.fsum(used) / len(used)) if used else 1.0
