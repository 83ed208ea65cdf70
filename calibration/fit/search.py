"""One search for the best parameters, at the price of few simulations.

Where every cell is known at some parameters and its slopes are, it is foretold elsewhere; the best parameters by what
is foretold, within a box around the best so far, are found without any simulation. Of the runs there those are
simulated of which the slopes leave in doubt what will come out, and the others are taken as foretold. The slopes learn
from each step. A box in which too little was gained gets smaller (a trust region; Conn, Gould and Toint, Trust-Region
Methods, 2000).

Where programs on files make slopes dear, what runs on raw devices say was found before, by searches of their own. It is
kept as it is there: they are only foretold, by slopes taken at the beginning, until an end is simulated. Their writes
fall into one rhythm or another with any step, which would hide what programs gain by it.

There are two rounds otherwise, the first one with shorter runs. The second begins with a simulation of all runs where
the first has ended, and of what moves from there only the doubtful runs are simulated again. Its runs are as long as
those of predictions: what is fitted is what is compared. Where slopes are dear only the ends of rounds are simulated
so, and a step is taken by shorter runs, with the difference that the length made there (as models of different
fidelity are combined; Alexandrov and others, Structural Optimization 15, 1998). Where the end of a round is not what
its steps have shown, there is another one from there.

Slopes that were taken far away, and have learnt from steps since, call a place an end that is none: what a step misses
they share out among parameters by guess. Where slopes cost little (:data:`FEW_SIMULATIONS`) a search is only over where
slopes taken there say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...model.core.errors import InputError
from ...scenarios.running.sample import Sample
from ..simulation.responses import Responses, Vector
from ..study.study import Cell
from .best_step import best_step
from .problem import CELL_SD, Problem, cost
from .slopes import STEP, Slopes

MOST_STEPS = 12
"""Of both rounds together, where slopes are dear."""
MOST_JACOBIANS = 2
"""Of runs on raw devices; programs on files have one, where slopes are dear."""
FEW_SIMULATIONS = 100
"""Slopes of all runs that take no more than so many are cheap."""
RAW_SHARE = 0.25
"""What one of a run on raw devices counts as, which takes a tenth of a second; programs on files take seconds."""
MOST_STEPS_CHEAP, MOST_JACOBIANS_CHEAP = 30, 3
"""The same where they are, of all runs."""
PREDICTED = 0.25
"""A run's slopes are taken again when they have missed more of a step than this share of it, and than `CELL_SD`."""
CERTAIN = 0.25
"""A run is not simulated where its cells are foretold better than to so many of the standard deviations that they are
expected to be off by."""
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
"""Simulations of all runs at the length of predictions, where slopes are dear."""
_POOR, _GOOD = 0.25, 0.75
"""Share of the foretold gain below which a box gets smaller, and above which it may grow."""

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
    """

    start: Vector
    theta: Vector
    cost: float
    converged: bool
    message: str
    evaluations: int
    slopes: dict[str, Vector]
    logs: dict[str, float]


@dataclass(slots=True)
class _Point:
    """Parameters, and what the cells are there: simulated or foretold."""

    theta: Vector
    logs: dict[str, float]
    levels: Vector
    cost: float


class Search:
    """A search.

    Parameters
    ----------
    problem
        What is minimised.
    responses
        Runs the simulations.
    rows
        Takes slopes.
    samples
        Of the first round, and of predictions.

    Attributes
    ----------
    is_cheap
        Whether slopes are (:data:`FEW_SIMULATIONS`).
    """

    def __init__(self, problem: Problem, responses: Responses, rows: Rows, samples: tuple[Sample, Sample]) -> None:
        self._problem = problem
        self._responses = responses
        self._rows = rows
        self._runs = list(dict.fromkeys(cell.run for cell in problem.near))
        uses = responses.users(self._runs, STEP)
        self._slopes = Slopes(uses, problem.noise)
        weights = [1.0 if run in problem.programs else RAW_SHARE for run in uses]
        counts = [np.count_nonzero(each) for each in uses.values()]
        self.is_cheap = float(np.dot(weights, counts)) <= FEW_SIMULATIONS
        self._samples = samples
        self._length: dict[str, float] = {}
        self._most_steps = MOST_STEPS_CHEAP if self.is_cheap else MOST_STEPS
        self._most_jacobians = MOST_JACOBIANS_CHEAP if self.is_cheap else MOST_JACOBIANS
        raw = set(self._runs) - problem.programs
        self._settled: set[str] = raw if not self.is_cheap and len(raw) < len(self._runs) else set()
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
        logs, doubtful = self._foretold(theta)
        if doubtful:
            try:
                logs |= self._simulate(theta, doubtful, sample)
            except InputError as refusal:
                self._refusals.append(refusal)
                return None
        return self._point(theta, logs)

    def _foretold(self, theta: Vector) -> tuple[dict[str, float], list[str]]:
        """ln(figure) by id of what can be foretold, from the known place that leaves least in doubt, and other runs."""
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
        """How badly what is fitted of a run is foretold, in standard deviations that they are expected to be off by."""
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
        """Correct the slopes of what was simulated by a step; returns runs whose slopes had not foretold it."""
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
        """Simulate the slopes of all runs, where they are dear only of those on raw devices, if that is to be had."""
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
