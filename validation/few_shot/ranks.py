"""`python -m raidsim.validation.few_shot.ranks`: whether what is learnt of a box is as sure as it says.

Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari and Gelman 2018): boxes are drawn from the prior,
measured with the model's error and noise, and learnt. The rank of a true parameter among its samples is then uniform.
If ranges are too narrow, true values lie outside of them too often, and ranks are near 0 and 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...calibration.learning.box import BLACK_BOX
from ...calibration.learning.errors_of_model import CorrelatedErrors
from ...calibration.learning.loads import BoxLoad, Columns, Measured
from ...calibration.learning.posterior import draw_from_prior, learn

Array = NDArray[np.float64]
_KIB = 1024


def learnt(seed: int, measurements: int = 10, steps: int = 600) -> tuple[Array, Array]:
    """True parameters of a box, and what is learnt of them.

    Parameters
    ----------
    seed
        Of the box, its loads, errors and samples.
    measurements
        How many loads are measured.
    steps
        Of the walkers.

    Returns
    -------
    tuple of Array
        (parameters,) and (samples, parameters).
    """
    rng = np.random.default_rng(seed)
    true = draw_from_prior(1, rng)[0]
    return true, learn(_measured(true, measurements, rng), seed=seed, steps=steps).samples


def ranks(true: Array, samples: Array) -> Array:
    """Share of the samples below the true value of each parameter."""
    return np.asarray(np.mean(samples < true, 0))


def _measured(true: Array, count: int, rng: np.random.Generator) -> list[Measured]:
    """Random loads of a box with these parameters, as the posterior takes them to be measured."""
    loads = [
        BoxLoad(
            _KIB * 2.0 ** float(rng.integers(2, 9)),
            *(int(rng.integers(1, 65)), int(rng.integers(1, 17)), float(rng.integers(0, 5)) / 4),
        )
        for _ in range(count)
    ]
    columns = Columns.of(loads)
    found, (error, noise) = BLACK_BOX.means(true[:-2], columns), np.exp(true[-2:])
    alike = CorrelatedErrors.correlation(columns)
    rates = np.log(found.rate) + _errors(error, noise, alike, rng)
    mixed = [k for k, load in enumerate(loads) if 0 < load.read_share < 1]
    ratios = np.zeros(count)
    if mixed:
        ratios[mixed] = np.log(found.read / found.write)[mixed] + _errors(
            error, noise, alike[np.ix_(mixed, mixed)], rng
        )
    return [
        Measured(str(k), load, float(np.exp(rates[k])), *((float(np.exp(ratios[k])), 1.0) if k in mixed else ()))
        for k, load in enumerate(loads)
    ]


def _errors(error: float, noise: float, alike: Array, rng: np.random.Generator) -> Array:
    covariance = error**2 * alike + noise**2 * np.eye(len(alike))
    return np.asarray(np.linalg.cholesky(covariance) @ rng.standard_normal(len(alike)))


def probability(found: Sequence[Array]) -> float:
    """How probable ranks as far from uniform are (Kolmogorov and Smirnov): the less of shift and of width.

    Parameters
    ----------
    found
        Ranks of each box. Those of a box are taken as independent, as its parameters are in the prior.
    """
    each = np.concatenate(found)
    ways = (each, np.abs(2 * each - 1))
    return min(1.0, len(ways) * min(float(stats.kstest(way, "uniform").pvalue) for way in ways))


def main() -> None:
    """Learn boxes in processes, and say how uniform the ranks are."""
    parser = argparse.ArgumentParser(prog="python -m raidsim.validation.few_shot.ranks", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="boxes")
    parser.add_argument("--measurements", type=int, default=10, help="of each box")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    given = parser.parse_args()
    found = []
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        for each in pool.map(partial(learnt, measurements=given.measurements), range(given.count)):
            found.append(ranks(*each))
            print(f"{len(found)} of {given.count}: p = {probability(found):.3f}", file=sys.stderr, flush=True)
    inside = 100 * np.mean(np.abs(2 * np.concatenate(found) - 1) < 0.9)
    print(f"{given.count} boxes: ranks uniform with p = {probability(found):.3f}; {inside:.0f} % in 90 % ranges")


if __name__ == "__main__":
    main()
