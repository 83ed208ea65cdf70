"""How cells change with the parameters: slopes from simulations, corrected by what later steps have done.

A row is d ln(figure) / d ln(factor) of one cell. Taking it anew costs a simulation per parameter, so there are few;
each step tells one number more, how far the row has missed it. The miss is shared out as far as each slope may be
wrong, and no more of it than noise leaves: the gain of a Kalman filter whose state is the row (Broyden's method is the
case of slopes that are all as doubtful, without noise; C. G. Broyden, Mathematics of Computation 19, 1965). So what a
run hardly depends on stays as it was simulated, and is not taken for known because a curved problem has missed a step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..simulation.responses import Vector
from ..study.cell import Cell

STEP = 0.1
"""Finite difference in ln(factor): large against the noise of a short run, small against curvature."""
LONG_STEP = 0.3
"""The same for programs, and loads that are drawn at random: their noise is larger, as requests part ways."""
SIMULATION_SD = 0.005
"""What two simulations with the same random streams differ by (ln) besides their parameters."""
_CHANGE, _LEAST_DOUBT = 0.5, 0.02
"""Standard deviation of a slope at other parameters: a share of the slope, and at least this."""
_UNKNOWN = 0.3
"""The same of a slope that was not simulated, of a parameter that the run depends on."""


class Slopes:
    """Rows of some cells.

    Parameters
    ----------
    uses
        Which parameters each run depends on.
    noise
        Standard deviation of ln(figure) that is chance, by id of the cells that have any.

    Attributes
    ----------
    rows
        By id of the cells.
    """

    def __init__(self, uses: Mapping[str, NDArray[np.bool_]], noise: Mapping[str, float]) -> None:
        self._uses = uses
        self._noise = noise
        self._simulated: dict[str, NDArray[np.bool_]] = {}
        self.rows: dict[str, Vector] = {}

    def take(self, rows: Mapping[str, Vector], simulated: Mapping[str, NDArray[np.bool_]]) -> None:
        """Rows from simulations, and for which parameters there were any."""
        self.rows |= rows
        self._simulated |= simulated

    def predicted(self, cell: Cell, step: Vector) -> float:
        """By how much ln(figure) should change along a step."""
        return float(self.rows[cell.id] @ step)

    def doubt(self, cell: Cell, step: Vector) -> float:
        """Standard deviation of the predicted change."""
        return math.sqrt(float(np.sum((self._doubts(cell) * step) ** 2)))

    def correct(self, cell: Cell, step: Vector, change: float) -> float:
        """Learn from what ln(figure) has changed by along a step; returns by how much the row had missed it."""
        missed = change - self.predicted(cell, step)
        along = self._doubts(cell) ** 2 * step
        noise = SIMULATION_SD**2 + self._noise.get(cell.id, 0.0) ** 2
        self.rows[cell.id] = self.rows[cell.id] + missed / (float(along @ step) + noise) * along
        return missed

    def _doubts(self, cell: Cell) -> Vector:
        """Standard deviations of a row's slopes."""
        row = self.rows[cell.id]
        doubts = _CHANGE * np.abs(row) + _LEAST_DOUBT
        simulated = self._simulated.get(cell.id)
        if simulated is not None:
            doubts = np.where(simulated, doubts, np.maximum(doubts, _UNKNOWN))
        return np.where(self._uses[cell.run], doubts, 0.0)


def beyond_noise(row: Vector, noise: float) -> Vector:
    """A row of finite differences without what chance would make of 0, which would pass for knowledge.

    The square of such a slope is too large by its variance on the mean; that is taken off.
    """
    if not noise:
        return row
    variance = (noise / LONG_STEP) ** 2
    return row * np.maximum(0.0, 1 - variance / np.maximum(row**2, 1e-300))
