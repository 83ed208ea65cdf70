"""The fit: bounded least squares on log ratios of the calibrate cells, with priors.

A residual is ln(predicted / measured) over what a model of this kind can be expected to reach, or ln(factor) over its
prior's standard deviation. All simulations share their random streams, so finite differences see the parameter and
not the noise. The covariance is that of the linearised problem at the optimum (Gauss-Newton), with cells that are off
by as much as they are after the fit; what the noise of a load that is drawn at random looks like in a slope is not
counted as knowledge.

Simulations are what a fit costs, so each run is simulated once for all its cells, slopes are taken from shorter runs,
and a run is only simulated again where its slopes leave in doubt what will come out (:mod:`.search`). The rows are the
sensitivities of the fitted runs. Of runs that nothing was fitted to, programs and all those of a study with many
parameters, a few draws of the parameters give the spread only (:mod:`.unfitted_spread`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...model.core.errors import InputError
from ...scenarios.running.base.sample import Sample
from ..simulation.evaluator import Evaluator, Progress
from ..simulation.responses import Matrix, Responses, Vector
from ..study.cell import Cell
from ..study.study import StudySpec
from .noise import chance
from .other_minima import CHANCE, look_around, widened
from .problem import Problem, chance_of_cost
from .profile import UNDETERMINED, FittedParameter, Profile, data_fingerprint, fingerprint
from .quantile import AS_GOOD
from .search import MOST_STEPS, Optimum, Search
from .slopes import LONG_STEP, STEP
from .undetermined import settle_undetermined
from .unfitted_spread import DRAWS, draws, spread

UNCALIBRATED_SD = 0.2
"""What cells are taken to be off by (ln) besides their parameters, where none was measured to say how much."""
_PRIORS_STAND = "no cell to calibrate on: the priors stand"
_MOVES = 0.02
"""Slope (d ln / d ln) above which a raw device's cell says something about a parameter."""
_ONE_SD_PERCENT = 68.3
FEW = 8
"""Parameters that are moved one by one for the runs on raw devices that nothing was fitted to; with more they are
drawn, as for programs."""

MANY_STARTS = 3
SECOND_SEED = 1965
"""Of the draw that a study's second search begins at, unless it is given."""
_MOST_MINIMA, _MOST_MINIMA_EXPENSIVE = 2, 1
"""How often other minima are looked for, where slopes are cheap and where they are expensive; once if it gains
little."""
_SETS_A_PARAMETER = 12
"""How many sets of parameters a call of :meth:`Fit.optimum` simulates for each of them, about: the slopes of three
searches, and a look at other minima."""
_INSIDE = 0.9
"""How much of the way to a bound a draw may go: a search that begins at one seldom leaves it."""

FIT_SAMPLE = Sample(program_bytes=1 << 30, least_memory_bytes=32 << 20)
"""For profile likelihoods, and what is drawn."""
SLOPE_SAMPLE = Sample(
    read_bytes=32 << 20, write_bytes=8 << 20, cycles=2, program_bytes=1 << 29, least_memory_bytes=32 << 20
)
"""For finite differences, whose ends share the random streams and the scale, the first steps of a search, and all its
steps where slopes cost much."""


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

    Attributes
    ----------
    searches
        How many calls of :meth:`optimum` are expected, for `progress`.
    """

    def __init__(self, study: StudySpec, evaluator: Evaluator, progress: Progress | None = None) -> None:
        if not study.parameters:
            raise InputError(f"study {study.id}", "no parameters", "expected: at least one to fit")
        self.study = study
        self._evaluator = evaluator
        self._responses = Responses(study, evaluator, self._follow)
        self._progress = progress
        self._problem = Problem(study)
        self._sd = self._problem.prior_sd
        self._chance_known: set[str] = set()
        self._simulated, self._events = evaluator.simulated, evaluator.events
        self._steps = 0
        self._begun = 0
        self._shown = 0
        self.searches = 1

    def run(self) -> Profile:
        """Fit, and evaluate the sensitivities of all cells."""
        return self.profile(self.optimum())

    @property
    def usual_starts(self) -> int:
        """How many searches are worth their time: several where slopes cost little."""
        return MANY_STARTS if self._problem.fitted and self._search(self._problem).is_cheap else 1

    @property
    def prior_sd(self) -> Vector:
        """Standard deviations of ln(factor) before the fit."""
        return self._sd

    def optimum(
        self, start: Vector | None = None, random: np.random.Generator | None = None, before: Optimum | None = None
    ) -> Optimum:
        """Search for the best parameters, from those of the study unless others are given.

        Where gradients cost little there is a second search, from a draw of the priors by `random`, and others from
        points in other minima (:mod:`.other_minima`); the best end is kept. Where they are expensive, other minima are
        looked for once, and if there are programs and runs on raw devices, only in the latter and before the others.
        Such a search that has stopped `before` its end goes on with the slopes it has learnt. At the end, parameters
        that the cells do not determine go back to their priors (:mod:`.undetermined`).

        Raises
        ------
        InputError
            If the model refuses the machine at `start`.
        """
        begin = np.zeros(len(self._sd)) if start is None else start
        if not self._problem.fitted:
            return Optimum(begin, np.zeros(len(self._sd)), 0.0, True, _PRIORS_STAND, 0, {}, {})
        self._begun += 1
        self._steps = 0
        search = self._search(self._problem)
        if not search.is_cheap:
            if before is not None:
                return self._settle_undetermined(search.run(before.theta, before.slopes))
            begin = self._from_raw_devices(begin)
            self._know_chance(self._problem, begin)
            found = search.run(begin)
            if search.is_of_one_kind:
                found = self._best_minimum(self._problem, found, _MOST_MINIMA_EXPENSIVE)
            return self._settle_undetermined(found)
        self._know_chance(self._problem, begin)
        found = search.run(begin)
        random = np.random.default_rng(SECOND_SEED) if random is None else random
        with suppress(InputError):  # an impossible machine: there is no end to compare
            second = self._search(self._problem).run(self.draw(random))
            tried = found.evaluations + second.evaluations
            found = replace(second if second.cost < found.cost else found, evaluations=tried)
        return self._settle_undetermined(self._best_minimum(self._problem, found, _MOST_MINIMA))

    def _settle_undetermined(self, found: Optimum) -> Optimum:
        return settle_undetermined(self._problem, self._responses, found, self.covariance(found))

    def draw(self, random: np.random.Generator) -> Vector:
        """ln(factor) of every parameter, drawn from its prior, but not at a bound."""
        furthest = _INSIDE * self._problem.bound
        return np.asarray(np.clip(random.standard_normal(len(furthest)) * self._sd, -furthest, furthest))

    def _search(self, problem: Problem) -> Search:
        return Search(problem, self._responses, self._rows, (SLOPE_SAMPLE, Sample()))

    def _know_chance(self, problem: Problem, theta: Vector) -> None:
        """What of the cells of a problem is chance, if it is not known yet, by runs at `theta`."""
        runs = {cell.run for cell in problem.near} - self._chance_known
        if runs:
            self._problem.noise.update(chance(self._problem, self._responses, theta, SLOPE_SAMPLE, runs))
            self._chance_known |= runs
        problem.noise.update(self._problem.noise)

    def _best_minimum(self, problem: Problem, found: Optimum, most: int) -> Optimum:
        """The end of a search, or a better one of searches in other minima; looks for those `most` times."""
        for _ in range(most):
            look = look_around(problem, self._responses, found, SLOPE_SAMPLE)
            found, place = replace(found, moved=look.moved), look.better
            if place is None:
                break
            other = self._search(problem).run(place.theta, place.rows)
            gained = found.cost - other.cost
            tried = found.evaluations + other.evaluations
            found = replace(other if gained > 0 else found, start=found.start, evaluations=tried)
            if gained < CHANCE * math.sqrt(len(problem.cells)):
                break
        return found

    def _from_raw_devices(self, begin: Vector) -> Vector:
        """Where the search in all runs begins: what raw devices tell is the best for them, the rest as it was."""
        problem = Problem(self.study, programs=False)
        if not problem.fitted or len(problem.near) == len(self._problem.near):
            return begin
        refusal = self._responses.refusal(begin, [cell.run for cell in self._problem.near])
        if refusal is not None:
            raise refusal
        self._know_chance(problem, begin)
        found = self._best_minimum(problem, self._search(problem).run(begin), _MOST_MINIMA_EXPENSIVE)
        errors = np.sqrt(np.diag(_covariance(_jacobian(problem, found))))
        return np.where(errors <= UNDETERMINED * self._sd, found.theta, begin)

    def profile(self, optimum: Optimum, covariance: Matrix | None = None) -> Profile:
        """What a search has found, with the sensitivities of all cells; `covariance` instead of its own if given."""
        theta = optimum.theta
        covariance = self.covariance(optimum) if covariance is None else covariance
        errors = np.sqrt(np.diag(covariance))
        rows = {cell.id: optimum.slopes[cell.id] for cell in self.study.all_cells if cell.id in optimum.slopes}
        if len(theta) <= FEW:
            raw = [cell for cell in self._problem.far if cell.run not in self._problem.programs]
            rows |= self._rows(theta, raw)[0]
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
            discrepancy=self.discrepancy(optimum),
            sensitivities={name: tuple(float(x) for x in row) for name, row in rows.items()},
            spreads=spreads,
            simulations=self._evaluator.simulated - self._simulated,
            converged=optimum.converged,
            message=optimum.message,
            cost=optimum.cost,
            evaluations=optimum.evaluations,
            events=self._evaluator.events - self._events,
        )

    def discrepancy(self, optimum: Optimum) -> float:
        """What 68.3 % of the calibrated cells are off by at most (ln), where a search ended."""
        if not self._problem.cells:
            return UNCALIBRATED_SD
        return float(np.percentile(np.abs(self._problem.ratios(optimum.logs)), _ONE_SD_PERCENT))

    def inflation(self, optimum: Optimum) -> float:
        """How many times larger than expected the variance of the cells is, where a search ended; 1 at least."""
        problem = self._problem
        if not problem.cells:
            return 1.0
        expected = float(np.mean([problem.cell_sd(cell) ** 2 for cell in problem.cells]))
        return max(1.0, self.discrepancy(optimum) ** 2 / expected)

    def chance_of_cost(self, optimum: Optimum) -> float:
        """Standard deviation of the cost where a search ended, by what is chance in the simulated cells."""
        problem = self._problem
        if not problem.cells:
            return 0.0
        noise = np.array([problem.noise.get(cell.id, 0.0) / problem.cell_sd(cell) for cell in problem.cells])
        return chance_of_cost(problem.levels(optimum.logs, optimum.theta)[: len(noise)], noise)

    def covariance(self, optimum: Optimum) -> Matrix:
        """Of ln(factor), where a search ended: by its slopes, and wide enough for moves that cost next to nothing."""
        as_good = AS_GOOD * self.inflation(optimum)
        away = [theta - optimum.theta for theta, worse in optimum.moved if worse <= as_good]
        return widened(_covariance(self.jacobian(optimum, self.discrepancy(optimum))), away)

    def jacobian(self, optimum: Optimum, least_sd: float = 0.0) -> Matrix:
        """Of :meth:`residuals`, where a search ended."""
        problem = self._problem
        if not problem.fitted:
            return np.diag(1.0 / self._sd)
        return _jacobian(problem, optimum, least_sd)

    def residuals(self, theta: Vector, least_sd: float = 0.0) -> Vector:
        """Of cells and claims, over what they are expected to be off by (`least_sd` at least), and of priors.

        By simulation; infinite where the model refuses the machine.
        """
        problem = self._problem
        logs = self._responses.at([theta], problem.near, FIT_SAMPLE)[0]
        if isinstance(logs, InputError):
            return np.full(len(problem.cells) + len(theta), np.inf)
        by_id = {cell.id: float(log) for cell, log in zip(problem.near, logs, strict=True)}
        return problem.residuals(problem.levels(by_id, theta, least_sd))

    def _far_spreads(self, theta: Vector, covariance: Matrix, near: dict[str, Vector]) -> dict[str, float]:
        """Standard deviations of the cells without slopes, in runs that nothing was fitted to.

        A cell of programs is as open as the fitted cells of the same figure are on the mean. A figure that was fitted
        nowhere is simulated where the parameters may be. It takes the longer sample: what a short one makes of a rhythm
        is not what the parameters leave open.
        """
        programs_runs = self._problem.programs
        known: dict[str, list[float]] = {}
        for cell in self._problem.near:
            if cell.run in programs_runs and cell.id in near:
                row = near[cell.id]
                known.setdefault(cell.figure, []).append(math.sqrt(max(0.0, float(row @ covariance @ row))))
        cells = [cell for cell in self._problem.far if cell.id not in near]
        programs = [cell for cell in cells if cell.run in programs_runs]
        spreads = {cell.id: float(np.mean(known[cell.figure])) for cell in programs if cell.figure in known}
        drawn = [cell for cell in cells if cell.id not in spreads]
        if drawn:
            moves = draws(covariance)
            changes = self._responses.drawn(theta, moves, drawn, FIT_SAMPLE, self._problem.bound)
            widths = spread(changes, len(theta))
            spreads |= {cell.id: float(width) for cell, width in zip(drawn, widths, strict=True)}
        return spreads

    def _rows(self, theta: Vector, cells: Sequence[Cell]) -> tuple[dict[str, Vector], dict[str, NDArray[np.bool_]]]:
        """d ln(figure) / d ln(factor) of some cells, by id, and for which parameters it was simulated.

        Parameters that move a raw device's calibrated cell are determined there, by runs that take a second; what they
        do to programs, which take ten, is in the predictions and left out of these slopes.
        """
        problem, every = self._problem, np.arange(len(theta))
        raw = [cell for cell in cells if cell.run not in problem.programs]
        programs = [cell for cell in cells if cell.run in problem.programs]
        drawn = [cell for cell in raw if cell.run in problem.drawn]
        steady = [cell for cell in raw if cell.run not in problem.drawn]
        rows = self._slopes_along(theta, steady, every, STEP) | self._slopes_along(theta, drawn, every, LONG_STEP)
        fitted = [rows[cell.id] for cell in raw if cell.id in problem.fitted]
        determined = np.any(np.abs(fitted) > _MOVES, axis=0) if fitted else np.zeros(len(theta), dtype=bool)
        rows |= self._slopes_along(theta, programs, every[~determined], LONG_STEP)
        simulated = {cell.id: np.ones(len(theta), dtype=bool) for cell in raw}
        return rows, simulated | {cell.id: ~determined for cell in programs}

    def _slopes_along(
        self, theta: Vector, cells: list[Cell], columns: NDArray[np.int_], step: float
    ) -> dict[str, Vector]:
        """The same, for some parameters; 0 for the others."""
        if not cells:
            return {}
        steps = np.where(theta <= 0, step, -step)
        changes = self._responses.along(theta, list(np.diag(steps)[columns]), cells, SLOPE_SAMPLE)
        slopes = np.zeros((len(theta), len(cells)))
        slopes[columns] = changes / steps[columns, None]
        return {cell.id: slopes[:, i] for i, cell in enumerate(cells)}

    def _follow(self, done: int, total: int) -> None:
        """Number of a call's parameter sets that are done."""
        if done == total:
            self._steps += total
        self._report(0 if done == total else done)

    def _report(self, begun: int = 0, done: bool = False) -> None:
        if self._progress is not None:
            each = _SETS_A_PARAMETER * len(self._sd) + MOST_STEPS + DRAWS
            expected = each * max(self.searches, self._begun)
            here = each * max(0, self._begun - 1) + min(self._steps + begun, each - 1)
            self._shown = expected if done else max(self._shown, here)
            self._progress(self._shown, expected)


def _jacobian(problem: Problem, optimum: Optimum, least_sd: float = 0.0) -> Matrix:
    """Of a problem's residuals, where a search ended."""
    slopes = problem.slopes(optimum.slopes, optimum.logs, least_sd)
    return problem.jacobian(slopes, problem.levels(optimum.logs, optimum.theta, least_sd))


def _covariance(jacobian: Matrix) -> Matrix:
    """Of ln(factor)."""
    return np.asarray(np.linalg.inv(jacobian.T @ jacobian), dtype=np.float64)


def calibrate(study: StudySpec, evaluator: Evaluator, progress: Progress | None = None) -> Profile:
    """Fit the study's parameters to its calibrate cells.

    Returns
    -------
    Profile
        Values, errors, correlations and sensitivities.
    """
    return Fit(study, evaluator, progress).run()
