"""Ways to predict the rates of loads from those of a few others.

The two baselines see the logarithms of block size, jobs, I/Os outstanding in all and in each job, the share of reads,
and whether I/Os are in order, and predict the logarithm of the rate.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...calibration.learning.loads import BoxLoad, Measured
from ...calibration.learning.posterior import learn
from ...model.core.errors import InputError
from ...model.files.extras import how_to_install

Array = NDArray[np.float64]


class Predicted(NamedTuple):
    """Rates of loads, I/Os a second, and whether a range of 90 % is known.

    Attributes
    ----------
    rates
        One a load.
    ranges
        Ends of the ranges, two rows; None if the method gives none.
    """

    rates: Array
    ranges: Array | None


Method = Callable[[Sequence[Measured], Sequence[BoxLoad], int], Predicted]
"""Takes measurements, other loads and a seed."""


def by_raidsim(measured: Sequence[Measured], loads: Sequence[BoxLoad], seed: int) -> Predicted:
    """`raidsim learn`."""
    found = learn(measured, seed=seed).predict(loads, seed)
    return Predicted(np.array([each.rate for each in found]), np.array([each.rate_range for each in found]).T)


def by_gaussian_process(measured: Sequence[Measured], loads: Sequence[BoxLoad], seed: int) -> Predicted:
    """A Gaussian process (scikit-learn): radial basis functions, a length for each feature, and noise."""
    kernels = _scikit("gaussian_process.kernels")
    kernel = kernels.ConstantKernel(1.0) * kernels.RBF(np.ones(_WIDTH)) + kernels.WhiteKernel(0.01)
    process = _scikit("gaussian_process").GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=5, random_state=seed
    )
    middle, spread = _fitted(process, measured).predict(_features(loads), return_std=True)
    return Predicted(np.exp(middle), np.exp(np.stack([middle - _SDS_OF_90 * spread, middle + _SDS_OF_90 * spread])))


def by_trees(measured: Sequence[Measured], loads: Sequence[BoxLoad], seed: int) -> Predicted:
    """Boosted trees (scikit-learn): 300 trees of depth 3, learning rate 0.05."""
    trees = _scikit("ensemble").GradientBoostingRegressor(
        n_estimators=300, max_depth=3, learning_rate=0.05, random_state=seed
    )
    return Predicted(np.exp(_fitted(trees, measured).predict(_features(loads))), None)


METHODS: dict[str, Method] = {
    "raidsim": by_raidsim,
    "Gaussian process": by_gaussian_process,
    "boosted trees": by_trees,
}
_SDS_OF_90 = 1.645
_WIDTH = 6


def _scikit(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise InputError("few-shot benchmark", "scikit-learn is not installed", how_to_install("dev")) from None


def _fitted(model: Any, measured: Sequence[Measured]) -> Any:
    """The model, of logarithms."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lengths of features that say nothing run into their bounds
        return model.fit(_features([each.load for each in measured]), np.log([each.rate for each in measured]))


def _features(loads: Sequence[BoxLoad]) -> Array:
    sizes = np.log2([(each.block_size, each.jobs, each.outstanding, each.depth) for each in loads])
    shares = [(each.read_share, float(each.sequential)) for each in loads]
    return np.hstack([sizes / 2.0, np.array(shares) / 0.5])
