"""Which job, measured next, would tell most about loads that are asked for.

Of each candidate it is asked how much smaller the variance of the asked rates' logarithms would be if it were known,
too. Rates are drawn from the posterior, and taken as jointly normal (Chaloner and Verdinelli 1995, section 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .loads import Array, BoxLoad, Columns
from .posterior import Posterior

_KIB = 1024
CANDIDATES = tuple(
    BoxLoad(block * _KIB, jobs, depth, share / 100)
    for block in (4, 16, 64, 256)
    for jobs, depth in ((1, 1), (1, 16), (4, 8), (16, 2), (16, 16), (64, 8))
    for share in (0, 30, 70, 100)
)

FEW_CANDIDATES = tuple(
    BoxLoad(block * _KIB, jobs, depth, share / 100)
    for block in (4, 64)
    for jobs, depth in ((1, 1), (4, 8), (16, 8))
    for share in (0, 70, 100)
)
"""For a model whose answers take long."""


class Gain(NamedTuple):
    """A job, and what it would tell.

    Attributes
    ----------
    load
        The job.
    spread
        Typical standard deviation of the logarithm of the asked rates, once it is measured.
    """

    load: BoxLoad
    spread: float


class NextJobs(NamedTuple):
    """Jobs in the order in which to measure them.

    Attributes
    ----------
    spread
        Typical standard deviation of the logarithm of the asked rates now.
    gains
        Each with what is left once it and those before it are measured.
    """

    spread: float
    gains: tuple[Gain, ...]


def next_jobs(
    posterior: Posterior,
    asked: Sequence[BoxLoad] = CANDIDATES,
    candidates: Sequence[BoxLoad] = CANDIDATES,
    count: int = 3,
) -> NextJobs:
    """The jobs that tell most, one after the other.

    Parameters
    ----------
    posterior
        What is known.
    asked
        Loads whose rates are wanted.
    candidates
        Jobs that may be measured.
    count
        How many.
    """
    # Rates of both, as the parameters and the model's error leave them open, without noise of a measurement.
    loads = [*asked, *candidates]
    covariance, noise = _covariance(posterior, loads)
    count_asked, found = len(asked), []
    now = _spread(covariance, count_asked)
    left = list(range(len(asked), len(loads)))
    for _ in range(min(count, len(left))):
        variances = np.diag(covariance)[left] + noise
        gains = np.sum(covariance[:count_asked, left] ** 2, 0) / variances
        best = left[int(np.argmax(gains))]
        told = covariance[:, best]
        covariance = covariance - np.outer(told, told) / (covariance[best, best] + noise)
        left.remove(best)
        found.append(Gain(loads[best], _spread(covariance, count_asked)))
    return NextJobs(now, tuple(found))


def _covariance(posterior: Posterior, loads: Sequence[BoxLoad]) -> tuple[Array, float]:
    """Of the logarithms of rates, and the variance of noise."""
    columns = Columns.of(loads)
    rates = posterior.modeled_rates(columns)
    spreads = posterior.observed.spreads(np.mean(posterior.samples, 0))
    errors = posterior.observed.rates.errors.covariance(columns, spreads)
    return np.cov(rates, rowvar=False) + errors, float(spreads[1] ** 2)


def _spread(covariance: Array, count: int) -> float:
    return float(np.sqrt(np.mean(np.maximum(np.diag(covariance)[:count], 0))))
