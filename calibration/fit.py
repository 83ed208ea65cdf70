"""The fit: bounded least squares on log ratios of the calibrate cells, with priors.

A residual is ln(predicted / measured) over what a model of this kind can be expected to reach, or ln(factor) over its
prior's standard deviation. All simulations share their random streams, so finite differences see the parameter and
not the noise. The covariance is that of the linearised problem at the optimum (Gauss-Newton), with cells that are off
by as much as they are after the fit.

Simulations are what a fit costs, so each run is simulated once for all its cells, and slopes are taken from shorter
runs. There are few Jacobians, of programs on files only one, and a later one only of runs whose slopes did not foretell
the step since. All others are corrected along that step by what it has changed, those of a run among the parameters
that the run depends on (Broyden's method with the rows kept sparse: Schubert, Mathematics of Computation 24, 1970). The
rows are the sensitivities of the fitted runs. Of runs that nothing was fitted to, programs and all those of a study
with many parameters, a few steps of all parameters together give the spread only. A step to a machine that the model
refuses counts as one that made things worse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.errors import InputError
from ..scenarios.sample import Sample
from .evaluate import Evaluator, Progress
from .profile import BOUND_SD, FittedParameter, Profile, data_fingerprint, fingerprint
from .responses import Matrix, Responses, Vector
from .study import Cell, StudySpec

CELL_SD = 0.02
"""What a cell is expected to be off by (ln): repeatability of the measurement and of the model together."""
PROGRAM_CELL_SD = 0.05
"""The same for programs on files: allocation and caches differ from one run of them to the next."""
UNCALIBRATED_SD = 0.2
"""What cells are taken to be off by (ln) besides their parameters, where none was measured to say how much."""
_PRIORS_STAND = "no cell to calibrate on: the priors stand"
STEP = 0.1
"""Finite difference in ln(factor): large against the noise of a short run, small against curvature."""
_MOVES = 0.02
"""Slope (d ln / d ln) above which a raw device's cell says something about a parameter."""
_ONE_SD_PERCENT = 68.3
OUTLIER_SD = 3.0
"""A cell that is off by more standard deviations pulls less than in proportion: it shows a mechanism that is missing,
which no parameter should stand in for."""
MOST_EVALUATIONS = 8
MOST_JACOBIANS = 2
PROGRAM_JACOBIANS = 1
"""The same for the rows of programs on files."""
FORETOLD = 0.25
"""A run's slopes are taken again when they have missed more of a step than this share of it, and than `CELL_SD`."""
LEAST_STEP = 0.1
"""A step that moves a run's parameters by less, in prior standard deviations, says more about noise than slopes."""
TOLERANCE = 0.05
"""Relative change of cost or parameters at which the fit stops: with thirty cells that are off as they are after the
fit, about as much as a parameter changes the cost that moves by its standard error."""
MOST_DIRECTIONS = 2
"""Simulations that tell how far the parameters leave a run of programs open that nothing was fitted to."""
RAW_DIRECTIONS = 4
"""The same of a raw device, in a study with more than twice as many parameters; with fewer each one is moved."""

FIT_SAMPLE = Sample(program_bytes=1 << 30, least_memory_bytes=32 << 20)
SLOPE_SAMPLE = Sample(
    read_bytes=32 << 20, write_bytes=8 << 20, cycles=2, program_bytes=1 << 29, least_memory_bytes=32 << 20
)
"""For finite differences: shorter, because both ends share the random streams and the scale."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """Where a search ended.

    Attributes
    ----------
    start, theta
        ln(factor) of every parameter, where it began and where it ended.
    cost
        Half the sum of squares of all residuals, with outliers counting less.
    converged, message
        What the optimiser said.
    evaluations
        How many sets of parameters it has tried, slopes apart.
    slopes
        d ln(figure) / d ln(factor) there, by id of the cells of fitted runs.
    """

    start: Vector
    theta: Vector
    cost: float
    converged: bool
    message: str
    evaluations: int
    slopes: dict[str, Vector]


class Fit:
    """A calibration of one study.

    Parameters
    ----------
    study
        The study. Without calibrate cells its parameters keep their priors.
    evaluator
        Runs the simulations.
    progress
        Called with (steps done, steps expected).
    """

    def __init__(self, study: StudySpec, evaluator: Evaluator, progress: Progress | None = None) -> None:
        if not study.parameters:
            raise InputError(f"study {study.id}", "no parameters", "allowed: at least one to fit")
        self.study = study
        self._evaluator = evaluator
        self._responses = Responses(study, evaluator, self._follow)
        self._progress = progress
        self._sd = np.array([parameter.sd for parameter in study.parameters])
        self._cells = study.calibrate_cells
        fitted = {cell.run for cell in self._cells}
        self._near = [cell for cell in study.all_cells if cell.run in fitted]
        self._far = [cell for cell in study.all_cells if cell.run not in fitted]
        self._programs = {name for name, run in study.runs.items() if run.workload.kind == "programs"}
        self._uses: dict[str, NDArray[np.bool_]] = {}
        self._slopes: dict[str, Vector] = {}
        self._jacobians = 0
        self._found: dict[bytes, Vector] = {}
        self._slopes_at = np.zeros(len(self._sd))
        self._refusals: list[str] = []
        self._simulated = evaluator.simulated
        self._steps = 0

    def run(self) -> Profile:
        """Fit, and evaluate the sensitivities of all cells."""
        return self.profile(self.optimum())

    @property
    def prior_sd(self) -> Vector:
        """Standard deviations of ln(factor) before the fit."""
        return self._sd

    def optimum(self, start: Vector | None = None) -> Optimum:
        """Search for the best parameters, from those of the study unless others are given.

        Raises
        ------
        InputError
            If the model refuses the machine at `start`.
        """
        begin = np.zeros(len(self._sd)) if start is None else start
        if not self._cells:
            return Optimum(begin, np.zeros(len(self._sd)), 0.0, True, _PRIORS_STAND, 0, {})
        refused = self._logs(begin)
        if isinstance(refused, InputError):
            raise refused
        self._slopes, self._jacobians = {}, 0
        return self._search(begin)

    def profile(self, optimum: Optimum) -> Profile:
        """What a search has found, with the sensitivities of all cells."""
        theta = optimum.theta
        self._slopes = optimum.slopes
        discrepancy = self.discrepancy(theta)
        covariance = self.covariance(optimum)
        errors = np.sqrt(np.diag(covariance))
        rows = dict(self._slopes)
        if len(theta) <= 2 * RAW_DIRECTIONS:
            rows |= self._rows(theta, [cell for cell in self._far if cell.run not in self._programs])
        spreads = self._far_spreads(theta, covariance, rows)
        self._report(done=True)
        return Profile(
            study=self.study.id,
            fingerprint=fingerprint(self.study),
            data=data_fingerprint(self.study),
            parameters=tuple(
                FittedParameter(
                    name=parameter.name,
                    factor=float(np.exp(value)),
                    standard_error=float(error),
                    prior_sd=parameter.sd,
                )
                for parameter, value, error in zip(self.study.parameters, theta, errors, strict=True)
            ),
            correlation=tuple(tuple(float(x) for x in row) for row in covariance / np.outer(errors, errors)),
            discrepancy=discrepancy,
            sensitivities={name: tuple(float(x) for x in row) for name, row in rows.items()},
            spreads=spreads,
            simulations=self._evaluator.simulated - self._simulated,
            converged=optimum.converged,
            message=optimum.message,
            cost=optimum.cost,
            evaluations=optimum.evaluations,
        )

    def discrepancy(self, theta: Vector) -> float:
        """What 68.3 % of the calibrated cells are off by at most (ln)."""
        if not self._cells:
            return UNCALIBRATED_SD
        return float(np.percentile(np.abs(self._ratios(theta)), _ONE_SD_PERCENT))

    def covariance(self, optimum: Optimum) -> Matrix:
        """Of ln(factor), where a search ended."""
        jacobian = self.jacobian(optimum, self.discrepancy(optimum.theta))
        return np.asarray(np.linalg.inv(jacobian.T @ jacobian), dtype=np.float64)

    def jacobian(self, optimum: Optimum, least_sd: float = 0.0) -> Matrix:
        """Of :meth:`residuals`, where a search ended."""
        rows = np.array([optimum.slopes[cell.id] for cell in self._cells]).reshape(len(self._cells), len(self._sd))
        return self._scaled(rows, self._cell_sd(least_sd))

    def residuals(self, theta: Vector, least_sd: float = 0.0) -> Vector:
        """Of cells, over what they are expected to be off by (`least_sd` at least), and of priors.

        Infinite where the model refuses the machine.
        """
        return np.concatenate([self._ratios(theta) / self._cell_sd(least_sd), theta / self._sd])

    def _search(self, start: Vector) -> Optimum:
        from scipy.optimize import least_squares

        bound = BOUND_SD * self._sd
        refusals = len(self._refusals)
        result = least_squares(
            self.residuals,
            start,
            jac=self._jacobian,
            bounds=(-bound, bound),
            x_scale=bound,  # what the first step may be long, in all: as far as a bound
            loss="soft_l1",
            f_scale=OUTLIER_SD,
            ftol=TOLERANCE,
            xtol=TOLERANCE,
            max_nfev=MOST_EVALUATIONS,
        )
        message = str(result.message)
        if self._refusals[refusals:]:
            first = self._refusals[refusals]
            message += f" Steps to impossible machines: {len(self._refusals) - refusals}, the first one: {first}."
        converged = bool(result.success) and result.status > 0
        theta = np.asarray(result.x)
        return Optimum(start, theta, float(result.cost), converged, message, int(result.nfev), dict(self._slopes))

    def _ratios(self, theta: Vector) -> Vector:
        """ln(predicted / measured) of the calibrate cells; infinite, which rejects a step, if it was refused."""
        logs = self._logs(theta)
        if isinstance(logs, InputError):
            return np.full(len(self._cells), np.inf)
        by_id = dict(zip((cell.id for cell in self._near), logs, strict=True))
        return np.array([by_id[cell.id] - math.log(cell.value) for cell in self._cells])

    def _logs(self, theta: Vector) -> Vector | InputError:
        """ln(figure) of all cells of the fitted runs."""
        key = theta.tobytes()
        if key not in self._found:
            logs = self._responses.at([theta], self._near, FIT_SAMPLE)[0]
            if isinstance(logs, InputError):
                if not self._found:
                    raise logs
                self._refusals.append(str(logs))
                return logs
            self._found[key] = logs
        return self._found[key]

    def _jacobian(self, theta: Vector) -> Matrix:
        """Of the residuals: simulated where it is not known, or did not foretell the last step, and else corrected."""
        unsure = self._correct(theta) if self._jacobians else {cell.run for cell in self._near}
        if self._jacobians < MOST_JACOBIANS:
            if self._jacobians >= PROGRAM_JACOBIANS:
                unsure -= self._programs
            self._slopes |= self._rows(theta, [cell for cell in self._near if cell.run in unsure])
            self._jacobians += 1
        self._slopes_at = theta.copy()
        return self._scaled(self._fitted_slopes(), self._cell_sd())

    def _correct(self, theta: Vector) -> set[str]:
        """Change the slopes as little as makes them explain what the last step did; returns runs where they had not."""
        step = (theta - self._slopes_at) / self._sd
        changes = self._found[theta.tobytes()] - self._found[self._slopes_at.tobytes()]
        if not self._uses:
            self._uses = self._responses.users(list(dict.fromkeys(cell.run for cell in self._near)), STEP)
        unsure = set()
        for cell, change in zip(self._near, changes, strict=True):
            along = np.where(self._uses[cell.run], step, 0.0)
            length = float(along @ along)
            row = self._slopes[cell.id] * self._sd
            missed = float(change - row @ step)
            if abs(missed) > max(CELL_SD, FORETOLD * abs(change)):
                unsure.add(cell.run)
            if length >= LEAST_STEP**2:
                self._slopes[cell.id] = (row + missed / length * along) / self._sd
        return unsure

    def _cell_sd(self, least: float = 0.0) -> Vector:
        """What each calibrate cell is expected to be off by (ln)."""
        programs = self._programs
        expected = [PROGRAM_CELL_SD if cell.run in programs else CELL_SD for cell in self._cells]
        return np.maximum(expected, least)

    def _fitted_slopes(self) -> Matrix:
        return np.array([self._slopes[cell.id] for cell in self._cells])

    def _scaled(self, jacobian: Matrix, cell_sd: Vector) -> Matrix:
        return np.vstack([jacobian / cell_sd[:, np.newaxis], np.diag(1.0 / self._sd)])

    def _far_spreads(self, theta: Vector, covariance: Matrix, near: dict[str, Vector]) -> dict[str, float]:
        """Standard deviations of the cells without slopes, in runs that nothing was fitted to.

        A cell of programs is as open as the fitted cells of the same figure are on the mean. A figure that was fitted
        nowhere is simulated: the squared length of a gradient is its dimension times the mean square of its components
        along random orthogonal directions; these are one standard deviation long in the parameters as they are after
        the fit.
        """
        known: dict[str, list[float]] = {}
        for cell in self._near:
            if cell.run in self._programs:
                row = near[cell.id]
                known.setdefault(cell.figure, []).append(math.sqrt(max(0.0, float(row @ covariance @ row))))
        cells = [cell for cell in self._far if cell.id not in near]
        programs = [cell for cell in cells if cell.run in self._programs]
        spreads = {cell.id: float(np.mean(known[cell.figure])) for cell in programs if cell.figure in known}
        size = len(theta)
        basis = np.linalg.qr(np.random.default_rng(0).standard_normal((size, size)))[0]
        moves = (np.linalg.cholesky(covariance) @ basis).T
        raw = [cell for cell in cells if cell.run not in self._programs]
        left = [cell for cell in programs if cell.id not in spreads]
        for part, directions in ((raw, RAW_DIRECTIONS), (left, MOST_DIRECTIONS)):
            if part:
                changes = self._responses.along(theta, list(moves[:directions]), part, SLOPE_SAMPLE)
                lengths = np.sqrt(size * np.mean(changes**2, axis=0))
                spreads |= {cell.id: float(length) for cell, length in zip(part, lengths, strict=True)}
        return spreads

    def _rows(self, theta: Vector, cells: list[Cell]) -> dict[str, Vector]:
        """d ln(figure) / d ln(factor) of some cells, by id.

        Parameters that move a raw device's calibrated cell are determined there, by runs that take a second; what they
        do to programs, which take ten, is in the predictions and left out of these slopes.
        """
        raw = [cell for cell in cells if cell.run not in self._programs]
        programs = [cell for cell in cells if cell.run in self._programs]
        every = np.arange(len(theta))
        rows = self._slopes_along(theta, raw, every)
        fitted = [rows[cell.id] for cell in raw if cell.use == "calibrate"]
        determined = np.any(np.abs(fitted) > _MOVES, axis=0) if fitted else np.zeros(len(theta), dtype=bool)
        return rows | self._slopes_along(theta, programs, every[~determined])

    def _slopes_along(self, theta: Vector, cells: list[Cell], columns: NDArray[np.int_]) -> dict[str, Vector]:
        """The same, for some parameters; 0 for the others."""
        if not cells:
            return {}
        steps = np.where(theta <= 0, STEP, -STEP)
        changes = self._responses.along(theta, list(np.diag(steps)[columns]), cells, SLOPE_SAMPLE)
        slopes = np.zeros((len(theta), len(cells)))
        slopes[columns] = changes / steps[columns, None]
        return {cell.id: slopes[:, i] for i, cell in enumerate(cells)}

    def _follow(self, done: int, total: int) -> None:
        """Of a call's parameter sets so many are done."""
        if done == total:
            self._steps += total
        self._report(0 if done == total else done)

    def _report(self, begun: int = 0, done: bool = False) -> None:
        if self._progress is not None:
            expected = (MOST_JACOBIANS + 1) * (len(self._sd) + 3) + MOST_DIRECTIONS
            self._progress(expected if done else min(self._steps + begun, expected - 1), expected)


def calibrate(study: StudySpec, evaluator: Evaluator, progress: Progress | None = None) -> Profile:
    """Fit the study's parameters to its calibrate cells.

    Returns
    -------
    Profile
        Values, errors, correlations and sensitivities.
    """
    return Fit(study, evaluator, progress).run()
