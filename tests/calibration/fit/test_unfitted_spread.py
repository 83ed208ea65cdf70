"""What parameters leave open by draws of them: right where figures are powers of the factors, not absurd at a cliff."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from raidsim.calibration.fit import unfitted_spread
from raidsim.calibration.fit.quantile import NORMAL_QUANTILE
from raidsim.calibration.fit.unfitted_spread import DRAWS, STUDENT_QUANTILE, draws, spread
from raidsim.calibration.simulation.responses import Matrix, Vector
from raidsim.model.core.errors import InputError
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.simulation.stand_in import Model, StandIn, stand_in_study

PARAMETERS = 22
CLIFF = 0.5
"""Depth in ln."""
BASE = np.zeros(1)


def _covariance(size: int) -> Matrix:
    """One with correlations and errors of several sizes."""
    root = np.random.default_rng(1).standard_normal((size, size)) * np.linspace(0.02, 0.4, size)[:, np.newaxis]
    return np.asarray(root @ root.T / size, dtype=np.float64)


def _gradients(size: int, count: int) -> Matrix:
    return np.random.default_rng(2).standard_normal((count, size))


def _true(gradients: Matrix, covariance: Matrix) -> Vector:
    return np.asarray(np.sqrt(np.einsum("ij,jk,ik->i", gradients, covariance, gradients)), dtype=np.float64)


def test_variances_are_right_on_the_mean() -> None:
    """Of powers of the factors: the mean square of the changes is, over many figures, their variance."""
    covariance = _covariance(PARAMETERS)
    scaled = _gradients(PARAMETERS, 20_000) @ np.linalg.inv(np.linalg.cholesky(covariance))
    changes = np.array(draws(covariance)) @ scaled.T
    shares = np.mean(changes**2, axis=0) / _true(scaled, covariance) ** 2
    assert np.mean(shares) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("size", [4, 9, 14, PARAMETERS])
def test_intervals_hold_what_further_draws_give(size: int) -> None:
    """90 % of them, or a little more, whatever the number of parameters; a normal interval would hold fewer."""
    covariance = _covariance(size)
    gradients = _gradients(size, 20_000) @ np.linalg.inv(np.linalg.cholesky(covariance))
    changes = np.array(draws(covariance)) @ gradients.T
    true = _true(gradients, covariance)

    def held(half_widths: Vector) -> float:
        return float(np.mean(2 * norm.cdf(half_widths / true) - 1))

    assert 0.89 < held(NORMAL_QUANTILE * spread(changes, size)) < 0.97
    assert held(NORMAL_QUANTILE * np.sqrt(np.mean(changes**2, axis=0))) < 0.89


def test_few_parameters_are_known_exactly() -> None:
    """As many draws as parameters: the spread of every figure, without a factor for what three numbers do not know."""
    covariance = _covariance(DRAWS)
    gradients = _gradients(DRAWS, 5)
    changes = np.array(draws(covariance)) @ gradients.T
    assert spread(changes, DRAWS) == pytest.approx(_true(gradients, covariance))
    assert len(draws(_covariance(2))) == 2


def test_a_cliff_is_as_high_as_it_is() -> None:
    """Draws that fall off a cliff of 0.5 all have fallen by 0.5; steps of one standard deviation along directions, made
    longer by the number of these, would take it for one of 2.3.
    """
    covariance = _covariance(PARAMETERS)
    falls = np.array([[-CLIFF if move[0] > -9.0 else 0.0] for move in draws(covariance)])
    (found,) = NORMAL_QUANTILE * spread(falls, PARAMETERS)
    assert found == pytest.approx(STUDENT_QUANTILE * CLIFF)
    assert NORMAL_QUANTILE * math.sqrt(PARAMETERS * np.mean(falls**2)) > 3 * found


def test_draws_are_as_long_as_draws_are() -> None:
    """In standard deviations of the parameters: the root of how many there are, and orthogonal."""
    covariance = _covariance(PARAMETERS)
    standard = np.linalg.solve(np.linalg.cholesky(covariance), np.array(draws(covariance)).T)
    assert standard.T @ standard == pytest.approx(PARAMETERS * np.eye(DRAWS), abs=1e-8)


def test_student() -> None:
    """The constant is the quantile of as many degrees of freedom."""
    assert pytest.approx(t.ppf(0.95, DRAWS)) == STUDENT_QUANTILE
    assert unfitted_spread.DRAWS == 3


def _stand_in(model: Model, refused_above: float = math.inf) -> StandIn:
    return StandIn(stand_in_study(BASE, 0), model, lambda theta: float(theta[0]) > refused_above)


def test_draws_stay_within_the_bounds_of_parameters() -> None:
    """What a prior does not allow is no machine; without the bounds the change would be that of the whole draw."""
    study = stand_in_study(BASE, 0)
    bound, far = np.array([0.6, 0.6]), [np.array([2.0, 0.0])]
    responses = _stand_in(lambda theta: theta[:1])
    (change,) = responses.drawn(np.zeros(2), far, study.all_cells, Sample(), bound)
    assert change[0] == pytest.approx(0.6)
    (free,) = responses.along(np.zeros(2), far, study.all_cells, Sample())
    assert free[0] == pytest.approx(2.0)


def test_a_draw_of_an_impossible_machine_is_taken_as_far_as_it_goes() -> None:
    """The opposite one if that is possible; else part of the way, and no more is made of it, as a slope would."""
    study = stand_in_study(BASE, 0)
    bound, move = np.array([1.0, 1.0]), [np.array([0.4, 0.0])]
    one_sided = _stand_in(lambda theta: theta[:1], refused_above=0.3)
    assert one_sided.drawn(np.zeros(2), move, study.all_cells, Sample(), bound)[0, 0] == pytest.approx(-0.4)
    narrow = StandIn(study, lambda theta: theta[:1], lambda theta: abs(float(theta[0])) > 0.3)
    assert narrow.drawn(np.zeros(2), move, study.all_cells, Sample(), bound)[0, 0] == pytest.approx(0.2)
    assert narrow.along(np.zeros(2), move, study.all_cells, Sample())[0, 0] == pytest.approx(0.4)
    nowhere = StandIn(study, lambda theta: theta[:1], lambda theta: bool(theta[0]))
    with pytest.raises(InputError):
        nowhere.drawn(np.zeros(2), move, study.all_cells, Sample(), bound)
