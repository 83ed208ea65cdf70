"""A study whose machine is arithmetic: known slopes and noise of a known size, so that fits take no time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from raidsim.calibration.fit.fit import Fit
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.responses import Responses, Vector
from raidsim.calibration.study.cell import Cell
from raidsim.calibration.study.study import StudySpec
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.study import small_study as small

Model = Callable[[Vector], Vector]
"""ln(figure) of every cell at some parameters."""


def stand_in_study(logs: Vector, calibrate: int) -> StudySpec:
    """A study with one cell per number, the first so many to calibrate on, measured as exp(number)."""
    document = small.small_document(small.GUESS)
    (case, *_), size = document["cases"], 1 << 30
    document["cases"] = [
        {
            **case,
            "id": f"c{i}",
            "use": "calibrate" if i < calibrate else "predict",
            "rate": math.exp(log),
            "seconds": size / 1e6 / math.exp(log),
        }
        for i, log in enumerate(logs)
    ]
    return validate(StudySpec, document)


def with_measured(study: StudySpec, logs: Vector) -> StudySpec:
    """The same study with other measured numbers."""
    cases = tuple(
        case.model_copy(update={"rate": math.exp(log), "seconds": (1 << 30) / 1e6 / math.exp(log)})
        for case, log in zip(study.cases, logs, strict=True)
    )
    return study.model_copy(update={"cases": cases})


class StandIn(Responses):
    """Answers from a function, off by `short` where runs are shorter than predictions; refuses machines that another
    function names.
    """

    def __init__(
        self,
        study: StudySpec,
        model: Model,
        refuses: Callable[[Vector], bool] = lambda theta: False,
        short: float = 0.0,
    ) -> None:
        super().__init__(study, Evaluator(1), lambda done, total: None)
        self._place = {name: i for i, cell in enumerate(study.all_cells) for name in (cell.id, cell.name)}
        self._megabyte = math.log(1e6)
        self._model = model
        self._refuses = refuses
        self._short = short
        self.asked = 0
        self.samples: list[Sample] = []

    def at(
        self, thetas: Sequence[Vector], cells: Sequence[Cell], sample: Sample, seeds: Sequence[int] | None = None
    ) -> list[Vector | InputError]:
        self.asked += len(thetas)
        self.samples.append(sample)
        off = 0.0 if sample == Sample() else self._short
        return [self._one(theta, cells, off) for theta in thetas]

    def _one(self, theta: Vector, cells: Sequence[Cell], off: float) -> Vector | InputError:
        if self._refuses(theta):
            return InputError("machine", "an impossible one", "expected: others")
        logs = self._model(theta)
        return np.array([logs[self._place[cell.id]] + self._megabyte + off for cell in cells])

    def users(self, runs: Sequence[str], step: float, sample: Sample) -> dict[str, NDArray[np.bool_]]:
        return {run: np.ones(len(self.study.parameters), dtype=bool) for run in runs}

    def events(self, runs: Sequence[str], sample: Sample) -> dict[str, int]:
        return dict.fromkeys(runs, 0)


def stand_in_fit(
    study: StudySpec, model: Model, refuses: Callable[[Vector], bool] = lambda theta: False, short: float = 0.0
) -> tuple[Fit, StandIn]:
    """A fit of a study to a function, and the function's stand-in."""
    fit = Fit(study, Evaluator(1))
    responses = StandIn(study, model, refuses, short)
    fit._responses = responses
    return fit, responses
