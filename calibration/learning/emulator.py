"""A figure of simulations as a smooth function of what is varied, with its own error: a Gaussian process.

Inputs are in units over which each varies by about one. Lengths over which the figure changes are fitted, one for each
input, so those that do not matter drop out; what is rough, such as chance in the simulations, is taken for noise.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import qmc

from ...model.core.errors import InputError
from ...model.files.extras import how_to_install
from .loads import Array

_PARTS = 4
"""Of the simulations, each predicted from the others for the error, with lengths of their own."""
_SMOOTH = 2.5
"""The process can be differentiated twice (Matern)."""
_SAME = 1e-9
"""Figures that differ by less are one."""


class Emulator:
    """One figure.

    Parameters
    ----------
    rows
        Inputs of the simulations: (n, inputs).
    values
        What they gave, as logarithms for an error in shares: n.

    Attributes
    ----------
    error
        Root mean square error at simulations that are left out of the fit.

    Raises
    ------
    InputError
        If scikit-learn is not installed.
    """

    def __init__(self, rows: Array, values: Array) -> None:
        self._fitted = _Process(rows, values)
        part = np.arange(len(rows)) % _PARTS
        missed, spreads = [], []
        for k in range(_PARTS):
            others = _Process(rows[part != k], values[part != k])
            missed.append(others(rows[part == k]) - values[part == k])
            spreads.append(others.spread(rows[part == k]))
        off = np.concatenate(missed)
        self.error = float(np.sqrt(np.mean(off**2)))
        self._over = float(np.sqrt(np.mean((off / np.maximum(np.concatenate(spreads), _SAME)) ** 2)))

    def __call__(self, rows: Array) -> Array:
        """The figure at other inputs (..., inputs)."""
        return self._fitted(rows)

    def spread(self, rows: Array) -> Array:
        """Standard deviation of the error at other inputs (n, inputs): little near simulations, more in between.

        That of the process, times the ratio by which it was off at simulations that were left out of the fit.
        """
        return self._over * self._fitted.spread(rows)


class _Process:
    """The fitted process."""

    def __init__(self, rows: Array, values: Array) -> None:
        self._middle, self._spread = float(np.mean(values)), float(np.std(values))
        if self._spread < _SAME:
            return
        try:
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.gaussian_process import GaussianProcessRegressor
            from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
        except ImportError:
            raise InputError("an emulator", "scikit-learn is not installed", how_to_install("learn")) from None
        lengths = Matern(np.full(rows.shape[1], 10.0), (1.0, 1e3), nu=_SMOOTH)
        kernel = ConstantKernel(1.0, (1e-3, 1e4)) * lengths + WhiteKernel(1e-3, (1e-6, 1.0))
        with warnings.catch_warnings():
            # Lengths of inputs without a say end at their bound.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._process = GaussianProcessRegressor(kernel).fit(rows, (values - self._middle) / self._spread)

    def __call__(self, rows: Array) -> Array:
        shape = rows.shape[:-1]
        if self._spread < _SAME:
            return np.full(shape, self._middle)
        found = self._process.predict(rows.reshape(-1, rows.shape[-1]))
        return np.asarray(self._middle + self._spread * found).reshape(shape)

    def spread(self, rows: Array) -> Array:
        """Standard deviation of the figure at inputs (n, inputs)."""
        if self._spread < _SAME:
            return np.zeros(len(rows))
        return np.asarray(self._spread * self._process.predict(rows, return_std=True)[1])


def design(inputs: int, points: int, seed: int) -> Array:
    """Points that fill the unit cube evenly (Sobol, scrambled): (points, inputs); `points` is a power of two."""
    return np.asarray(qmc.Sobol(inputs, rng=seed).random(points))
