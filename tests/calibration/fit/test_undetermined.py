"""Where a search has ended, what the cells do not tell goes back to its prior, where that costs nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from raidsim.calibration.fit import undetermined as module
from raidsim.calibration.fit.search import Optimum
from raidsim.calibration.simulation.responses import Vector
from raidsim.tests.calibration.simulation.stand_in import Model, stand_in_fit, stand_in_study

BASE = np.full(4, 4.0)
TRUE = np.array([0.15, 0.0])
OFF = 0.05
"""By how much the second parameter is off its prior where the search has left it."""


def first_only(theta: Vector) -> Vector:
    """Figures that know nothing of the second parameter."""
    return np.asarray(BASE + theta[0] * np.array([1.0, 2.0, -1.0, 0.5]), dtype=np.float64)


def cliff(theta: Vector) -> Vector:
    """The same, but a tenth off where the second parameter is at its prior, which no slope from afar shows."""
    return first_only(theta) + (0.1 if theta[1] == 0.0 else 0.0)


def _end(model: Model = first_only, refuses_rest: bool = False) -> tuple[Optimum, Optimum]:
    """An end that is off in the second parameter, and what the fit makes of it."""
    study = stand_in_study(first_only(TRUE), len(BASE))
    left, _ = stand_in_fit(study, first_only)
    found = left._search(left._problem).run(np.zeros(2))
    found = replace(found, theta=np.array([found.theta[0], OFF]))
    fit, _ = stand_in_fit(study, model, lambda theta: refuses_rest and theta[1] == 0.0)
    return found, fit._settle_undetermined(found)


def test_what_no_cell_tells_goes_back_to_its_prior() -> None:
    """Protects predictions that rest on a parameter which only the noise of slopes has moved; the other one stays."""
    found, rested = _end()
    assert rested.theta[1] == 0.0
    assert rested.theta[0] == found.theta[0] == pytest.approx(TRUE[0], abs=0.02)
    assert rested.cost <= found.cost
    assert rested.evaluations == found.evaluations + 1


def test_without_the_step_it_stays_where_the_search_left_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test."""
    monkeypatch.setattr(module, "UNDETERMINED", np.inf)
    found, rested = _end()
    assert rested is found


def test_what_fits_worse_at_its_prior_stays() -> None:
    """Slopes say that no cell tells it, a simulation says otherwise: the fit believes the simulation."""
    found, rested = _end(cliff)
    assert rested.theta[1] == OFF
    assert rested.cost == found.cost


def test_a_machine_that_is_impossible_at_the_prior_is_left() -> None:
    """Protects the end of a search from a refusal that only its check met."""
    found, rested = _end(refuses_rest=True)
    assert rested is found


def test_a_parameter_that_is_told_is_left_alone() -> None:
    """Where nothing is off that the cells do not tell, nothing is simulated."""
    fit, responses = stand_in_fit(stand_in_study(first_only(TRUE), len(BASE)), first_only)
    found = replace(fit._search(fit._problem).run(np.zeros(2)), theta=TRUE)
    asked = responses.asked
    assert fit._settle_undetermined(found) is found
    assert responses.asked == asked


def test_several_are_put_back_by_one_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the time of fits of many parameters: all that no cell tells go back together, and only where that fits
    worse is a half of them tried alone.
    """
    fit, responses = stand_in_fit(stand_in_study(first_only(TRUE), len(BASE)), cliff)
    found = replace(fit._search(fit._problem).run(np.zeros(2)), theta=np.array([TRUE[0], OFF]), cost=0.5)
    monkeypatch.setattr(module, "UNDETERMINED", -1.0)
    asked = responses.asked
    rested = fit._settle_undetermined(found)
    assert responses.asked == asked + 3
    assert rested.theta[1] == OFF
