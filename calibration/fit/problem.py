"""What a fit minimizes: calibrate cells over what they are expected to be off by, and parameters over their priors.

What a cell is expected to be off by (ln) has two parts: what one run of a benchmark differs from the next by, and what
the simulation has of chance (:mod:`.noise`). A claim to calibrate on, which orders figures or bounds their ratio, adds
by how much it is broken over what its two sides are expected to be off by together, and nothing where it holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ...model.core.exact_sums import sum_in_order
from ..simulation.responses import Matrix, Vector
from ..study.cell import Cell
from ..study.document import ClaimSpec
from ..study.study import StudySpec
from .profile import BOUND_SD
from .slopes import beyond_noise

CELL_SD = 0.02
"""What a cell is expected to be off by (ln): repeatability of the measurement and of the model together."""
PROGRAM_CELL_SD = 0.05
"""The same for programs on files: allocation and caches differ from one run of them to the next."""
OUTLIER_SD = 3.0
"""A cell that is off by more standard deviations pulls less than in proportion: it shows a mechanism that is missing,
which no parameter should stand in for."""


class Problem:
    """The calibrate cells and claims of a study, and the priors of its parameters.

    Residuals are made in two steps: levels, which go with ln(figure) in proportion, and from them residuals, of which
    those of claims are 0 below 0. So slopes can predict the levels of a step.

    Parameters
    ----------
    study
        The study.
    programs
        Whether runs of programs on files count, or only those on raw devices.

    Attributes
    ----------
    cells, claims
        Those to calibrate on.
    near, far
        All cells of the runs that are fitted, and what claims compare there; all cells of the other runs.
    fitted
        Ids of what is compared: calibrate cells, and the sides of claims.
    programs, drawn
        Runs of programs on files; runs of loads that are drawn at random.
    prior_sd, bound
        Of ln(factor).
    noise
        Standard deviation of ln(figure) that is chance, by id of those near that have any; see :mod:`.noise`.
    """

    def __init__(self, study: StudySpec, programs: bool = True) -> None:
        self.study = study
        self.programs = {name for name, run in study.runs.items() if run.workload.kind == "programs"}
        without = set() if programs else self.programs
        self.cells: Sequence[Cell] = [cell for cell in study.calibrate_cells if cell.run not in without]
        self.claims: Sequence[ClaimSpec] = [
            claim
            for claim in study.claims
            if claim.use == "calibrate" and without.isdisjoint(_side(n).run for n in (*claim.left, *claim.right))
        ]
        self._sides = {name: _side(name) for claim in self.claims for name in (*claim.left, *claim.right)}
        self.fitted = {cell.id for cell in self.cells} | set(self._sides)
        runs = {cell.run for cell in (*self.cells, *self._sides.values())}
        self.near = [cell for cell in study.all_cells if cell.run in runs] + list(self._sides.values())
        self.far = [cell for cell in study.all_cells if cell.run not in runs]
        self.drawn = {name for name, run in study.runs.items() if run.workload.kind == "load"}
        self.prior_sd: Vector = np.array([parameter.sd for parameter in study.parameters])
        self.bound: Vector = BOUND_SD * self.prior_sd
        self.noise: dict[str, float] = {}

    def cell_sd(self, cell: Cell) -> float:
        """What a cell is expected to be off by (ln)."""
        usual = PROGRAM_CELL_SD if cell.run in self.programs else CELL_SD
        return math.hypot(usual, self.noise.get(cell.id, 0.0))

    def ratios(self, logs: Mapping[str, float]) -> Vector:
        """ln(predicted / measured) of the calibrate cells, from ln(figure) by id."""
        return np.array([logs[cell.id] - np.log(cell.value) for cell in self.cells])

    def levels(self, logs: Mapping[str, float], theta: Vector, least_sd: float = 0.0) -> Vector:
        """Cells, then claims, over what they are expected to be off by (`least_sd` at least), and priors.

        A claim has one for each of its bounds: how far it is beyond.
        """
        cells = self.ratios(logs) / self._sds(least_sd)
        claims = [sign * (_ratio(claim, logs)[0] - bound) / sd for claim, sign, bound, sd in self._bounds(least_sd)]
        return np.concatenate([cells, claims, theta / self.prior_sd])

    def slopes(self, rows: Mapping[str, Vector], logs: Mapping[str, float], least_sd: float = 0.0) -> Matrix:
        """Of the levels, from the slopes by id, without what is chance in those of loads that are drawn at random."""
        known = {cell.id: beyond_noise(rows[cell.id], self._drawn_noise(cell)) for cell in self.near}
        cells = [known[cell.id] / sd for cell, sd in zip(self.cells, self._sds(least_sd), strict=True)]
        claims = [
            sign
            / sd
            * np.sum([weight * (known[left] - known[right]) for left, right, weight in _ratio(claim, logs)[1]], 0)
            for claim, sign, _, sd in self._bounds(least_sd)
        ]
        return np.vstack([*cells, *claims, np.diag(1.0 / self.prior_sd)])

    def residuals(self, levels: Vector) -> Vector:
        """What is minimized the squares of: claims that hold have none."""
        found = levels.copy()
        claims = self._claims_part()
        found[claims] = np.maximum(0.0, found[claims])
        return found

    def jacobian(self, slopes: Matrix, levels: Vector) -> Matrix:
        """Of the residuals, from the slopes of the levels."""
        broken = np.ones(len(levels), dtype=bool)
        claims = self._claims_part()
        broken[claims] = levels[claims] > 0
        return slopes * broken[:, np.newaxis]

    def _claims_part(self) -> slice:
        return slice(len(self.cells), len(self.cells) + len(self._bounds(0.0)))

    def _drawn_noise(self, cell: Cell) -> float:
        return self.noise.get(cell.id, 0.0) if cell.run in self.drawn else 0.0

    def _sds(self, least: float) -> Vector:
        return np.maximum([self.cell_sd(cell) for cell in self.cells], least) if self.cells else np.zeros(0)

    def _bounds(self, least: float) -> Sequence[tuple[ClaimSpec, float, float, float]]:
        """Every bound of a claim: which side of it is wrong, where it is (ln), and what is expected to be off there."""
        found = []
        for claim in self.claims:
            variances = [max(self.cell_sd(self._sides[name]), least) ** 2 for name in (*claim.left, *claim.right)]
            sd = math.sqrt(sum_in_order(variances) / len(claim.left))
            for sign, bound in zip((-1.0, 1.0), claim.ratio, strict=True):
                if bound:
                    found.append((claim, sign, math.log(bound), sd))
        return found


def cost(residuals: Vector) -> float:
    """What is minimized: half the sum of squares, with outliers counting less (``soft_l1``)."""
    return float(np.sum(OUTLIER_SD**2 * (np.sqrt(1 + (residuals / OUTLIER_SD) ** 2) - 1)))


def chance_of_cost(residuals: Vector, noise: Vector) -> float:
    """Standard deviation of the cost of some residuals, given the noise of each: to the second order."""
    slopes = residuals / np.sqrt(1 + (residuals / OUTLIER_SD) ** 2)
    curvatures = (1 + (residuals / OUTLIER_SD) ** 2) ** -1.5
    return math.sqrt(float(np.sum((slopes * noise) ** 2 + (curvatures * noise**2) ** 2 / 2)))


def _side(name: str) -> Cell:
    """A figure that a claim compares, as a cell without a measured number."""
    run, _, figure = name.rpartition(":")
    return Cell(name, "predict", run, figure, math.nan, "s", math.nan)


def _ratio(claim: ClaimSpec, logs: Mapping[str, float]) -> tuple[float, list[tuple[str, str, float]]]:
    """ln of the mean ratio of a claim's sides, and of each pair its weight in that."""
    ratios = np.exp([logs[left] - logs[right] for left, right in claim.pairs])
    weights = ratios / np.sum(ratios)
    named = [(left, right, float(weight)) for (left, right), weight in zip(claim.pairs, weights, strict=True)]
    return float(np.log(np.mean(ratios))), named
