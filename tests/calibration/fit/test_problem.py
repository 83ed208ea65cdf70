"""What a fit minimizes: orderings count as far as they are broken, and chance as far as a second seed shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from raidsim.calibration.fit.fit import Fit
from raidsim.calibration.fit.noise import chance
from raidsim.calibration.fit.problem import CELL_SD, Problem
from raidsim.calibration.fit.profile import data_fingerprint
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.responses import Responses, Vector
from raidsim.calibration.study.cell import Cell
from raidsim.calibration.study.document import ClaimSpec
from raidsim.calibration.study.study import StudySpec
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.simulation.stand_in import StandIn, stand_in_fit, stand_in_study
from raidsim.tests.calibration.study import small_study as small

BASE = np.array([4.0, 4.0, 4.0])
SLOPES = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])


def linear(theta: Vector) -> Vector:
    """Three figures that are powers of the factors, the first one of the first alone."""
    return BASE + SLOPES @ theta


def _claiming(least: float | None, most: float | None, use: str = "calibrate", numbers: int = 0) -> StudySpec:
    """A study that says how the first figure compares with the second."""
    claim = ClaimSpec.model_validate(
        {
            "id": "a>b",
            "gist": "",
            "where": "",
            "left": "c0:rate",
            "right": "c1:rate",
            "ratio": [least, most],
            "use": use,
        }
    )
    return stand_in_study(BASE, numbers).model_copy(update={"claims": (claim,)})


@pytest.mark.parametrize(("least", "most", "sign"), [(1.2, None, 1.0), (None, 0.8, -1.0)])
def test_a_broken_claim_moves_the_fit(least: float | None, most: float | None, sign: float) -> None:
    """No number, only an ordering: both sides give way alike, as far as the bound, and the third figure stays."""
    fit, _ = stand_in_fit(_claiming(least, most), linear)
    found = fit.optimum()
    bound = math.log(least or most or math.nan)
    assert found.converged
    assert found.theta[0] - found.theta[1] == pytest.approx(bound, abs=1.5 * CELL_SD)
    assert found.theta[0] == pytest.approx(-found.theta[1], abs=0.01)
    assert sign * found.theta[0] > 0.05
    errors = np.sqrt(np.diag(fit.covariance(found)))
    assert np.all(errors > 0.1)  # an ordering says little of how fast either is


@pytest.mark.parametrize(("least", "use"), [(0.8, "calibrate"), (1.2, "predict")])
def test_a_claim_that_holds_or_is_predicted_moves_nothing(least: float, use: str) -> None:
    """The counter-test: without a broken claim the priors stand."""
    fit, _ = stand_in_fit(_claiming(least, None, use), linear)
    found = fit.optimum()
    assert np.all(found.theta == 0.0)
    assert np.sqrt(np.diag(fit.covariance(found))) == pytest.approx(fit.prior_sd)


def test_claims_add_to_numbers() -> None:
    """A claim beside a number of the first figure leaves that as it was measured, and moves the other side."""
    fit, _ = stand_in_fit(_claiming(1.2, None, numbers=1), linear)
    first, second = fit.optimum().theta
    assert abs(first) < 2 * CELL_SD
    assert second == pytest.approx(-math.log(1.2), abs=3 * CELL_SD)
    assert set(fit.profile(fit.optimum()).sensitivities) <= {cell.id for cell in fit.study.all_cells}


def test_only_fitted_claims_make_a_profile_stale() -> None:
    """A claim that is predicted has no part in a fit: words may change. One that is fitted to has."""
    predicted = _claiming(1.2, None, "predict")
    assert data_fingerprint(predicted) == data_fingerprint(predicted.model_copy(update={"claims": ()}))
    assert data_fingerprint(_claiming(1.2, None)) != data_fingerprint(predicted)
    assert data_fingerprint(_claiming(1.2, None)) != data_fingerprint(_claiming(1.3, None))


class _Chancy(StandIn):
    """Figures that another seed moves by 10 %, one up and the others down."""

    def at(
        self, thetas: Sequence[Vector], cells: Sequence[Cell], sample: Sample, seeds: Sequence[int] | None = None
    ) -> list[Vector | InputError]:
        signs = np.array([1.0 if cell.id == "c0" else -1.0 for cell in cells])
        found = super().at(thetas, cells, sample)
        chances = [0.1 * seed * signs for seed in seeds or [0] * len(thetas)]
        return [logs if isinstance(logs, InputError) else logs + by for logs, by in zip(found, chances, strict=True)]


def test_a_second_seed_tells_what_is_chance() -> None:
    """Two draws that are 10 % apart: one standard deviation of 7 % each, in what cells are expected to be off by."""
    study = stand_in_study(BASE, 2)
    problem = Problem(study)
    found = chance(problem, _Chancy(study, linear), np.zeros(2), Sample())
    assert found == {name: pytest.approx(0.1 / math.sqrt(2), rel=0.02) for name in ("c0", "c1")}
    problem.noise.update(found)
    assert problem.cell_sd(problem.cells[0]) == pytest.approx(math.hypot(CELL_SD, 0.1 / math.sqrt(2)), rel=0.02)
    assert max(chance(Problem(study), StandIn(study, linear), np.zeros(2), Sample()).values()) < 0.002


class _Rhythmic(StandIn):
    """Figures that jump by 5 % with the smallest move of the first parameter, whatever the seed."""

    def at(
        self, thetas: Sequence[Vector], cells: Sequence[Cell], sample: Sample, seeds: Sequence[int] | None = None
    ) -> list[Vector | InputError]:
        found = super().at(thetas, cells, sample)
        jumps = [0.05 * (theta[0] > 0) for theta in thetas]
        return [logs if isinstance(logs, InputError) else logs + jump for logs, jump in zip(found, jumps, strict=True)]


def test_a_rhythm_is_chance_as_well() -> None:
    """Protects fits to writes on raw devices, which fall into one rhythm or another: two seeds alone do not tell."""
    study = stand_in_study(BASE, 2)
    found = chance(Problem(study), _Rhythmic(study, linear), np.zeros(2), Sample())
    assert found == {name: pytest.approx(0.05 / math.sqrt(2), rel=0.05) for name in ("c0", "c1")}


def test_a_random_load_tells_by_its_batches() -> None:
    """Random reads for a second have chance of about a percent, counted for the measurement as well; dd hardly any."""
    document = small.runs_document()
    next(cell for cell in document["cells"] if cell["id"] == "load")["use"] = "calibrate"
    study = validate(StudySpec, document)
    with Evaluator(1) as evaluator:
        responses = Responses(study, evaluator, lambda done, total: None)
        found = chance(Problem(study), responses, np.zeros(len(study.parameters)), Sample(read_bytes=4 << 20))
    assert 0.005 < found["load"] < 0.2
    assert found.get("one", 0.0) < 0.005


def test_the_fit_uses_it() -> None:
    """With chance in its figures a fit is as sure as that leaves it, and no surer."""
    errors = {}
    for kind in (StandIn, _Chancy):
        study = stand_in_study(BASE, 3)
        fit = Fit(study, Evaluator(1))
        fit._responses = kind(study, linear)
        errors[kind] = float(np.sqrt(fit.covariance(fit.optimum())[0, 0]))
    assert errors[_Chancy] > 2 * errors[StandIn]
