"""The model's error at loads that are alike is alike: a Gaussian process over loads (Kennedy and O'Hagan 2001)."""

from __future__ import annotations

import numpy as np

from .loads import Array, Columns

_LENGTHS = np.array([2.0, 2.0, 0.4, 2.0])
"""How far apart loads are whose errors are hardly alike: doublings of the block, of the I/Os outstanding, share of
reads, doublings of jobs."""
_ANOTHER_ORDER = 2.0
"""Distance of loads in order from those at random, in such lengths."""


class CorrelatedErrors:
    """Errors of the model at measured loads, and noise.

    Parameters
    ----------
    loads
        That were measured.
    """

    def __init__(self, loads: Columns) -> None:
        self._places = _places(loads)
        values, self._vectors = np.linalg.eigh(_alike(self._places, self._places))
        self._values = np.maximum(values, 0)

    @staticmethod
    def correlation(loads: Columns) -> Array:
        """Of the model's errors at loads before anything is measured: (n, n)."""
        places = _places(loads)
        return _alike(places, places)

    def log_likelihood(self, residuals: Array, spreads: Array) -> Array:
        """Logarithm of their probability density, but for a constant.

        Parameters
        ----------
        residuals
            Measured minus modeled, of logarithms: (..., n).
        spreads
            Standard deviations of the model's error and of noise: (..., 2).
        """
        variances = self._variances(spreads)
        return np.asarray(-0.5 * np.sum((residuals @ self._vectors) ** 2 / variances + np.log(variances), -1))

    def covariance(self, loads: Columns, spreads: Array) -> Array:
        """Of what the model's errors at other loads still may be: (m, m), of one pair of spreads."""
        places = _places(loads)
        across = _alike(places, self._places) @ self._vectors
        weights = spreads[0] ** 4 / self._variances(spreads)
        return np.asarray(spreads[0] ** 2 * _alike(places, places) - (across * weights) @ across.T)

    def expected(self, loads: Columns, residuals: Array, spreads: Array) -> tuple[Array, Array]:
        """Mean and variance of the model's error at other loads: (..., m) each."""
        across = _alike(_places(loads), self._places) @ self._vectors
        size, variances = spreads[..., :1] ** 2, self._variances(spreads)
        mean = size * ((residuals @ self._vectors) / variances) @ across.T
        return mean, np.maximum(size - size**2 * ((1 / variances) @ (across.T**2)), 0)

    def _variances(self, spreads: Array) -> Array:
        return np.asarray(spreads[..., :1] ** 2 * self._values + spreads[..., 1:] ** 2)


def _places(loads: Columns) -> Array:
    """Where loads are, in lengths over which errors stay alike."""
    found = (np.log2(loads.block_size), np.log2(loads.outstanding), loads.read_share, np.log2(loads.jobs))
    return np.hstack([np.stack(found, -1) / _LENGTHS, loads.sequential[:, np.newaxis] * _ANOTHER_ORDER])


def _alike(one: Array, other: Array) -> Array:
    """Correlation of the model's errors at two lists of places."""
    apart = one[:, np.newaxis, :] - other[np.newaxis, :, :]
    return np.asarray(np.exp(-0.5 * np.sum(apart**2, -1)))
