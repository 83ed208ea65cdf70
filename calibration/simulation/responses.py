"""What the cells of a study come out as where its parameters stand, and how that changes along a move of them.

Figures are logarithms, and parameters the logarithms of their factors, so that slopes are elasticities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from ...model.core.errors import InputError
from ...model.statistics import Estimate
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample, with_common_scales
from ..study.cell import Cell
from ..study.figures import figure_value
from ..study.reported import mean_of, repeated, reported, with_earlier
from ..study.runs import RunBuilder
from ..study.study import StudySpec
from .evaluator import ALL_PRICES, Evaluator, Progress, same_but_for
from .kept_results import Outcome

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

_FRACTIONS = (-1.0, 0.5, -0.5, 0.25, -0.25)
"""Parts of a move that are tried where the machine at its end is impossible."""
_NOTHING = 1e-9
"""A predicted cell of 0, which has no logarithm, counts as this share of what was measured."""


class Responses:
    """Simulates the runs behind cells, at any parameters.

    Parameters
    ----------
    study
        The study.
    evaluator
        Runs the simulations.
    progress
        Called with how many of the parameter sets of a call are done, and how many there are.
    """

    def __init__(self, study: StudySpec, evaluator: Evaluator, progress: Progress) -> None:
        self.study = study
        self._evaluator = evaluator
        self._progress = progress
        self._samples: dict[Sample, Sample] = {}

    def at(
        self, thetas: Sequence[Vector], cells: Sequence[Cell], sample: Sample, seeds: Sequence[int] | None = None
    ) -> list[Vector | InputError]:
        """ln(figure) of every cell, by parameter set; the model's refusal where it takes one for impossible.

        Another of the `seeds`, one for each set, gives the same runs with other chance; they are 0 unless given.
        """
        runs = with_earlier(self.study, (cell.run for cell in cells))
        seeds = [0] * len(thetas) if seeds is None else seeds
        sets = [self._repeated(theta, runs, seed) for theta, seed in zip(thetas, seeds, strict=True)]
        scenarios = [
            scenario
            for each in sets
            if not isinstance(each, InputError)
            for repetitions in each
            for scenario in repetitions
        ]

        def report(done: int, total: int) -> None:
            self._progress(len(thetas) * done // max(1, total), len(thetas))

        outcomes = iter(self._evaluator.outcomes(scenarios, self._scaled(sample), report))
        found: list[Vector | InputError] = []
        for each in sets:
            if isinstance(each, InputError):
                found.append(each)
                continue
            made = [[next(outcomes) for _ in repetitions] for repetitions in each]
            found.append(self._logs(cells, dict(zip(runs, made, strict=True))))
        return found

    def estimates(self, theta: Vector, cells: Sequence[Cell], sample: Sample) -> list[Estimate | None]:
        """The interval of every cell by its run's batch means; None where it has none.

        Raises
        ------
        InputError
            If the model refuses the machine.
        """
        runs = list(dict.fromkeys(cell.run for cell in cells))
        scenarios = self._scenarios(theta, runs)
        if isinstance(scenarios, InputError):
            raise scenarios
        predictions = dict(zip(runs, self._evaluator.run(scenarios, self._scaled(sample)), strict=True))
        return [predictions[cell.run].estimates.get(cell.figure) for cell in cells]

    def along(self, theta: Vector, moves: Sequence[Vector], cells: Sequence[Cell], sample: Sample) -> Matrix:
        """By how much ln(figure) of every cell changes, by move of the parameters.

        Where a move ends at an impossible machine, it is made in the other direction or in part.

        Raises
        ------
        InputError
            If there is no possible machine in either direction.
        """
        return np.array([change / fraction for fraction, change in self._ends(theta, moves, cells, sample)]).reshape(
            len(moves), len(cells)
        )

    def drawn(
        self, theta: Vector, moves: Sequence[Vector], cells: Sequence[Cell], sample: Sample, bound: Vector
    ) -> Matrix:
        """By how much ln(figure) of every cell changes, by draw of the parameters, each as far as its bound at most.

        Where the machine of a draw is impossible, the opposite one is taken, or as much of the way as is possible:
        what comes out there, not what would have come out beyond.

        Raises
        ------
        InputError
            If there is no possible machine in either direction.
        """
        changes = [change for _, change in self._ends(theta, moves, cells, sample, bound)]
        return np.array(changes).reshape(len(moves), len(cells))

    def refusal(self, theta: Vector, runs: Sequence[str]) -> InputError | None:
        """Why the model does not take the machine of some runs, if it does not; nothing is simulated."""
        found = self._scenarios(theta, with_earlier(self.study, runs))
        return found if isinstance(found, InputError) else None

    def users(self, runs: Sequence[str], step: float, sample: Sample) -> dict[str, NDArray[np.bool_]]:
        """Which parameters each run depends on at all: those that change its scenario, or one that is added to it.

        A price of work counts if the simulation of the run reads it.
        """
        size = len(self.study.parameters)
        asked, runs = runs, with_earlier(self.study, runs)
        before = [self._possible_scenario(np.zeros(size), run) for run in runs]
        read = self._prices_read(before, sample)
        own = {run: np.zeros(size, dtype=bool) for run in runs}
        for column, move in enumerate(np.eye(size) * step):
            for run, scenario in zip(runs, before, strict=True):
                moved = self._possible_scenario(move, run)
                if scenario is None or moved is None:
                    own[run][column] = moved is not scenario
                else:
                    own[run][column] = not same_but_for(scenario, moved, read[run])
        return {run: np.any([own[each] for each in (*self.study.earlier(run), run)], axis=0) for run in asked}

    def events(self, runs: Sequence[str], sample: Sample) -> dict[str, int]:
        """Events that the simulation of each run takes, at the study's own values; 0 where the model refuses it."""
        scenarios = {run: self._possible_scenario(np.zeros(len(self.study.parameters)), run) for run in runs}
        possible = {run: scenario for run, scenario in scenarios.items() if scenario is not None}
        outcomes = self._evaluator.outcomes(list(possible.values()), self._scaled(sample))
        found = dict(zip(possible, outcomes, strict=True))
        return {run: each.events if isinstance(each := found.get(run), Prediction) else 0 for run in runs}

    def _prices_read(self, scenarios: Sequence[ScenarioSpec | None], sample: Sample) -> dict[str, frozenset[str]]:
        """The prices of work that the simulation of each possible scenario reads, by its name."""
        possible = [scenario for scenario in scenarios if scenario is not None]
        outcomes = self._evaluator.outcomes(possible, self._scaled(sample))
        return {
            scenario.name: frozenset(outcome.prices_read) if isinstance(outcome, Prediction) else ALL_PRICES
            for scenario, outcome in zip(possible, outcomes, strict=True)
        }

    def _ends(
        self,
        theta: Vector,
        moves: Sequence[Vector],
        cells: Sequence[Cell],
        sample: Sample,
        bound: Vector | float = math.inf,
    ) -> list[tuple[float, Vector]]:
        """By how much ln(figure) of every cell changes along each move, and what part of it the model has taken."""
        here, *ends = self.at([theta, *(np.clip(theta + move, -bound, bound) for move in moves)], cells, sample)
        base = _possible(here)
        found = []
        for move, end in zip(moves, ends, strict=True):
            fraction, fractions = 1.0, iter(_FRACTIONS)
            while isinstance(end, InputError):
                refusal, fraction = end, next(fractions, 0.0)
                if not fraction:
                    raise refusal
                end = self.at([np.clip(theta + fraction * move, -bound, bound)], cells, sample)[0]
            found.append((fraction, end - base))
        return found

    def _scaled(self, sample: Sample) -> Sample:
        """The sample with the scales that the study's runs have in common, whatever its parameters are."""
        if sample not in self._samples:
            builder = RunBuilder(self.study, {})
            runs = [run for run in self.study.wanted_runs if not self.study.whole(run)]
            self._samples[sample] = with_common_scales(sample, [builder.scenario(run) for run in runs])
        return self._samples[sample]

    def _logs(self, cells: Sequence[Cell], outcomes: Mapping[str, Sequence[Outcome]]) -> Vector | InputError:
        """ln(figure) of every cell, or the refusal of a run among them; `outcomes` has the repetitions of each run."""
        predictions: dict[str, Prediction] = {}
        for run, repetitions in outcomes.items():
            made: list[Prediction] = []
            for outcome in repetitions:
                if isinstance(outcome, InputError):
                    return outcome
                made.append(outcome)
            predictions[run] = mean_of(made)
        logs = []
        for cell in cells:
            found = reported(self.study, cell.run, predictions)
            try:
                value = figure_value(found, cell.run, cell.figure)
            except InputError as nothing:
                return nothing
            if not value and cell.use == "calibrate":
                return InputError(f"{cell.run}:{cell.figure}", "0", "expected: above 0, so that it can be fitted to")
            logs.append(math.log(value or _NOTHING * (cell.value if cell.value > 0 else 1.0)))
        return np.array(logs)

    def _possible_scenario(self, theta: Vector, run: str) -> ScenarioSpec | None:
        """A run's scenario; None if it is impossible."""
        scenarios = self._scenarios(theta, [run])
        return None if isinstance(scenarios, InputError) else scenarios[0]

    def _repeated(self, theta: Vector, runs: Sequence[str], seed: int) -> list[list[ScenarioSpec]] | InputError:
        """The scenarios of each run, as many as the report repeats it."""
        scenarios = self._scenarios(theta, runs, seed)
        if isinstance(scenarios, InputError):
            return scenarios
        return [repeated(self.study, run, scenario) for run, scenario in zip(runs, scenarios, strict=True)]

    def _scenarios(self, theta: Vector, runs: Sequence[str], seed: int = 0) -> list[ScenarioSpec] | InputError:
        factors = {p.name: float(np.exp(x)) for p, x in zip(self.study.parameters, theta, strict=True)}
        builder = RunBuilder(self.study, factors)
        try:
            return [builder.scenario(run).model_copy(update={"seed": seed}) for run in runs]
        except InputError as refusal:
            return refusal
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            context = first.get("ctx", {})
            place = ".".join(str(part) for part in (*first["loc"], *context.get("at", ())))
            return InputError(place, str(context.get("found", first["msg"])), str(context.get("expected", "")))


def _possible(logs: Vector | InputError) -> Vector:
    if isinstance(logs, InputError):
        raise logs
    return logs
