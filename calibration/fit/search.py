"""One search for the best parameters, with few simulations.

At some parameters every cell is simulated, and so are its slopes. From there the slopes predict the cells at other
parameters. The best parameters by that prediction, within a box around the best so far, are found without any
simulation. A run whose prediction is in doubt is simulated there; the others keep their predicted cells. The slopes
learn from each step. A box in which the cost falls too little gets smaller (a trust region; Conn, Gould and Toint,
Trust-Region Methods, 2000).

Where programs on files make slopes expensive, a search of its own has fitted the runs on raw devices before. These runs
are then only predicted, by slopes taken at the beginning, until an end is simulated: any step shifts the rhythm of
their writes, which would hide what programs gain by the step.

Otherwise there are two rounds, the first one with shorter runs. The second begins with a simulation of all runs at the
first one's end; after that only the doubtful runs are simulated again. Its runs are as long as those of predictions:
the fit uses the same figures as the comparison. Where slopes are expensive, only the ends of rounds are simulated at
that length. A step is simulated by shorter runs, plus the difference that the length made at the last end (models of
different fidelity are combined so; Alexandrov and others, Structural Optimization 15, 1998). If the end of a round does
not confirm its steps, another round begins there.

Slopes that were taken far away, and have learnt from steps since, can report a false end: they spread the error of a
step over parameters by guess. Where gradients cost little (:data:`FEW_SIMULATIONS`, :data:`CHEAP_EVENTS`), a search
ends only if slopes taken at its end confirm it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.core.errors import InputError
from ...scenarios.running.base.sample import Sample
from ..simulation.responses import Responses, Vector
from ..study.cell import Cell
from .best_step import best_step
from .problem import CELL_SD, Problem, cost
from .slopes import STEP, Slopes

MOST_STEPS = 12
"""Most steps of both rounds together, where slopes are expensive."""
MOST_JACOBIANS = 2
"""How often slopes of runs on raw devices are taken, where slopes are expensive; those of programs are taken once."""
FEW_SIMULATIONS = 100
"""Slopes are cheap if those of all runs take at most this many simulations."""
RAW_SHARE = 0.25
"""What one of a run on raw devices counts as, which takes a tenth of a second; programs on files take seconds."""
CHEAP_EVENTS = 2_500_000
"""Slopes are cheap if their simulations take at most this number of events, too: some 20 s of one core."""
MOST_STEPS_CHEAP, MOST_JACOBIANS_CHEAP = 30, 3
"""The same for all runs, where slopes are cheap."""
PREDICTED = 0.25
"""A run's slopes are taken again when they have missed more of a step than this share of it, and than `CELL_SD`."""
CERTAIN = 0.25
"""A run is not simulated if its cells are predicted to within this many of their expected standard deviations."""
TOLERANCE = 0.02
"""A round ends where the next step should make the cost smaller by no more than this share."""
TOLERANCE_CHEAP = 0.003
"""The same where slopes are cheap, of the second round."""
LEAST_GAINS = (0.5, 0.02)
"""The same as a number for each parameter, in the first round and in the second: what it costs if each is off by one
standard error, and by a fifth of one."""
_BOXES = (0.5, 0.125)
"""How far the first step of each round may go, in prior standard deviations of each parameter."""
_LEAST_BOX = 0.05
CHANCE_GAIN = 0.25
"""Where not even a step this short has gained what it promised, chance is all that changes, if that was no more than so
much for each parameter (0.7 standard errors of each); the slopes are wrong, if it was more."""
_MOST_ANCHORS = 3
"""Most simulations of all runs at the length of predictions, where slopes are expensive."""
_POOR, _GOOD = 0.25, 0.75
"""Share of the predicted gain below which a box gets smaller, and above which it may grow."""

_SETTLED = "the next step would gain nothing that is more than chance"
_UNSETTLED = "no step gains what the slopes promise"

Rows = Callable[[Vector, Sequence[Cell]], tuple[dict[str, Vector], dict[str, NDArray[np.bool_]]]]
"""Slopes of some cells by simulations, and which of them were simulated."""


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
        Whether and why it was over.
    evaluations
        How many sets of parameters it has tried in all of its runs, slopes apart.
    slopes
        d ln(figure) / d ln(factor) there, by id of the cells of fitted runs.
    logs
        ln(figure) there, the same way.
    moved
        Points with one parameter moved far, and how much more each costs (:mod:`.other_minima`).
    """

    start: Vector
    theta: Vector
    cost: float
    converged: bool
    message: str
    evaluations: int
    slopes: dict[str, Vector]
    logs: dict[str, float]
    moved: tuple[tuple[Vector, float], ...] = ()


@dataclass(slots=True)
class _Point:
    """Parameters, and what the cells are there: simulated or predicted."""

    theta: Vector
    logs: dict[str, float]
    levels: Vector
    cost: float


class Search:
    """A search.

    Parameters
    ----------
    problem
        What is minimized.
    responses
        Runs the simulations.
    rows
        Takes slopes.
    samples
        Of the first round, and of predictions.

    Attributes
    ----------
    is_cheap
        Whether slopes are (:data:`FEW_SIMULATIONS`, :data:`CHEAP_EVENTS`).
    is_of_one_kind
        Whether all runs are programs, or none is.
    """

    def __init__(self, problem: Problem, responses: Responses, rows: Rows, samples: tuple[Sample, Sample]) -> None:
        self._problem = problem
        self._responses = responses
        self._rows = rows
        self._runs = list(dict.fromkeys(cell.run for cell in problem.near))
        uses = responses.users(self._runs, STEP, samples[0])
        self._slopes = Slopes(uses, problem.noise)
        weights = [1.0 if run in problem.programs else RAW_SHARE for run in uses]
        counts = [np.count_nonzero(each) for each in uses.values()]
        events = responses.events(self._runs, samples[0])
        effort = sum(int(count) * events[run] for run, count in zip(uses, counts, strict=True))
        self.is_cheap = float(np.dot(weights, counts)) <= FEW_SIMULATIONS and effort <= CHEAP_EVENTS
        self._samples = samples
        self._length: dict[str, float] = {}
        self._most_steps = MOST_STEPS_CHEAP if self.is_cheap else MOST_STEPS
        self._most_jacobians = MOST_JACOBIANS_CHEAP if self.is_cheap else MOST_JACOBIANS
        raw = set(self._runs) - problem.programs
        self.is_of_one_kind = not raw or len(raw) == len(self._runs)
        self._settled: set[str] = set() if self.is_cheap or self.is_of_one_kind else raw
        self._taken_at: Vector | None = None
        self._known: dict[str, list[tuple[Vector, dict[str, float]]]] = {}
        self._jacobians = 0
        self._steps = 0
        self._refusals: list[InputError] = []

    def run(self, start: Vector, slopes: Mapping[str, Vector] | None = None) -> Optimum:
        """Search from some parameters, with slopes by id of the cells if they are known about there.

        Raises
        ------
        InputError
            If the model refuses the machine there.
        """
        point = self._simulated(start, self._samples[0])
        self._steps += 1
        if slopes is None:
            self._take_slopes(start, set(self._runs))
        else:
            self._slopes.take(slopes, {})
        if not self._settled:
            point, _ = self._round(point, 0)
        if self.is_cheap:
            self._steps += 1
            point, settled = self._round(self._simulated(point.theta, self._samples[1]), 1)
        else:
            point, settled = self._anchored_rounds(point.theta)
        few = f"{self._most_steps} steps were too few"
        message = _SETTLED if settled else _UNSETTLED if self._steps < self._most_steps else few
        if self._refusals:
            message += f"; steps to impossible machines: {len(self._refusals)}, the first one: {self._refusals[0]}"
        rows = dict(self._slopes.rows)
        return Optimum(start, point.theta, point.cost, settled, message, self._steps, rows, point.logs)

    def _anchored_rounds(self, theta: Vector) -> tuple[_Point, bool]:
        """Second rounds by short runs, each from and to a simulation of all runs at the length of predictions."""
        best, settled = self._anchored(theta), False
        for _ in range(_MOST_ANCHORS - 1):
            end, settled = self._round(best, 1)
            if np.array_equal(end.theta, best.theta):
                break
            found = self._anchored(end.theta)
            chance = CHANCE_GAIN * len(theta)
            if found.cost >= best.cost:
                return best, settled and found.cost <= best.cost + chance
            best, as_shown = found, found.cost <= end.cost + chance
            if as_shown:
                break
        return best, settled

    def _anchored(self, theta: Vector) -> _Point:
        """All runs, simulated at both lengths; what their length makes is added to short ones from now on."""
        self._length = {}
        self._steps += 1
        short = self._simulated(theta, self._samples[0])
        point = self._simulated(theta, self._samples[1])
        self._length = {name: log - short.logs[name] for name, log in point.logs.items()}
        return point

    def _round(self, best: _Point, number: int) -> tuple[_Point, bool]:
        """Steps until the next one would gain nothing; the best point, and whether it came to that."""
        sample = self._samples[number if self.is_cheap else 0]
        least, first_box = LEAST_GAINS[number] * len(best.theta), _BOXES[0 if self._settled else number]
        box = first_box
        share = TOLERANCE_CHEAP if number and self.is_cheap else TOLERANCE
        while True:
            step, promised = best_step(self._problem, self._slopes.rows, best.logs, best.theta, box)
            if promised <= max(share * best.cost, least):
                if number and self.is_cheap and self._taken_again(best.theta):
                    box = first_box
                    continue
                return best, True
            if box < _LEAST_BOX:
                by_chance = promised <= CHANCE_GAIN * len(best.theta)
                if (by_chance and not self.is_cheap) or not self._taken_again(best.theta):
                    return best, by_chance
                box = first_box
                continue
            if self._steps >= self._most_steps:
                return best, False
            self._steps += 1
            trial = self._at(best.theta + step, sample)
            gain = -np.inf if trial is None else best.cost - trial.cost
            length = float(np.max(np.abs(step) / self._problem.prior_sd))
            if gain < _POOR * promised:
                box = length / 4
            elif gain > _GOOD * promised and length > 0.9 * box:
                box *= 2
            if trial is None:
                continue
            unsure = self._learn(best, trial)
            if gain > 0:
                best = trial
                unsure -= self._problem.programs
                if unsure and not self.is_cheap and self._jacobians < self._most_jacobians:
                    self._take_slopes(best.theta, unsure)

    def _at(self, theta: Vector, sample: Sample) -> _Point | None:
        """What the cells are at some parameters; None if the machine is impossible."""
        logs, doubtful = self._predicted(theta)
        if doubtful:
            try:
                logs |= self._simulate(theta, doubtful, sample)
            except InputError as refusal:
                self._refusals.append(refusal)
                return None
        return self._point(theta, logs)

    def _predicted(self, theta: Vector) -> tuple[dict[str, float], list[str]]:
        """ln(figure) by id where slopes predict it, from the known point with the least doubt; and the doubtful
        runs.
        """
        logs: dict[str, float] = {}
        doubtful = []
        for run in self._runs:
            cells = [cell for cell in self._problem.near if cell.run == run]
            doubts = [self._doubt(cells, theta - there) for there, _ in self._known[run]]
            nearest = int(np.argmin(doubts))
            if doubts[nearest] > CERTAIN and run not in self._settled:
                doubtful.append(run)
                continue
            there, known = self._known[run][nearest]
            logs |= {cell.id: known[cell.id] + self._slopes.predicted(cell, theta - there) for cell in cells}
        return logs, doubtful

    def _doubt(self, cells: Sequence[Cell], step: Vector) -> float:
        """Largest doubt of a run's fitted cells, in their expected standard deviations."""
        fitted = [cell for cell in cells if cell.id in self._problem.fitted]
        return max(self._slopes.doubt(cell, step) / self._problem.cell_sd(cell) for cell in fitted)

    def _simulated(self, theta: Vector, sample: Sample) -> _Point:
        """The same, with every run simulated; forgets what was known before."""
        self._known = {run: [] for run in self._runs}
        return self._point(theta, self._simulate(theta, self._runs, sample))

    def _simulate(self, theta: Vector, runs: Sequence[str], sample: Sample) -> dict[str, float]:
        """ln(figure) by id of the cells of some runs, by simulation."""
        wanted = set(runs)
        cells = [cell for cell in self._problem.near if cell.run in wanted]
        found = self._responses.at([theta], cells, sample)[0]
        if isinstance(found, InputError):
            raise found
        logs = {cell.id: float(log) + self._length.get(cell.id, 0.0) for cell, log in zip(cells, found, strict=True)}
        for run in runs:
            self._known[run].append((theta, {cell.id: logs[cell.id] for cell in cells if cell.run == run}))
        return logs

    def _point(self, theta: Vector, logs: dict[str, float]) -> _Point:
        levels = self._problem.levels(logs, theta)
        return _Point(theta, logs, levels, cost(self._problem.residuals(levels)))

    def _learn(self, best: _Point, trial: _Point) -> set[str]:
        """Correct the slopes of what was simulated by a step; returns runs whose slopes had predicted it badly."""
        step = trial.theta - best.theta
        unsure = set()
        for cell in self._problem.near:
            if not np.array_equal(self._known[cell.run][-1][0], trial.theta):
                continue
            change = trial.logs[cell.id] - best.logs[cell.id]
            if abs(self._slopes.correct(cell, step, change)) > max(CELL_SD, PREDICTED * abs(change)):
                unsure.add(cell.run)
        return unsure

    def _taken_again(self, theta: Vector) -> bool:
        """Take slopes again, if any are left: of all runs if they cost little, else of those on raw devices."""
        wanted = set(self._runs) if self.is_cheap else set(self._runs) - self._problem.programs
        known = self.is_cheap and self._taken_at is not None and np.array_equal(self._taken_at, theta)
        if not wanted or known or self._jacobians >= self._most_jacobians:
            return False
        self._take_slopes(theta, wanted)
        return True

    def _take_slopes(self, theta: Vector, runs: set[str]) -> None:
        self._slopes.take(*self._rows(theta, [cell for cell in self._problem.near if cell.run in runs]))
        self._jacobians += 1
        self._taken_at = theta
