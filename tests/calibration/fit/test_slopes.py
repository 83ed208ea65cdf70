"""Slopes: they learn from a step where they may be wrong, and noise is not taken for knowledge."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.calibration.fit.slopes import LONG_STEP, Slopes, beyond_noise
from raidsim.calibration.simulation.responses import Vector
from raidsim.tests.calibration.simulation.stand_in import stand_in_study

(CELL,) = stand_in_study(np.array([4.0]), 1).all_cells
STEP = np.array([0.3, -0.2, 0.4])


def _slopes(row: Vector, noise: float = 0.0, simulated: tuple[bool, ...] = (True, True, True)) -> Slopes:
    """Those of one cell whose run does not depend on the third parameter."""
    slopes = Slopes({CELL.run: np.array([True, True, False])}, {CELL.id: noise})
    slopes.take({CELL.id: row}, {CELL.id: np.array(simulated)})
    return slopes


def test_a_step_corrects_what_may_be_wrong() -> None:
    """After a step the row explains what the step did; most of a miss goes to the large slope, and none to a parameter
    that the run has not got.
    """
    slopes = _slopes(np.array([0.6, 0.0, 0.0]))
    missed = slopes.correct(CELL, STEP, 0.3)
    row = slopes.rows[CELL.id]
    assert missed == pytest.approx(0.3 - 0.18)
    assert row @ STEP == pytest.approx(0.3, abs=0.01)
    assert row[0] > 0.9
    assert abs(row[1]) < 0.01
    assert row[2] == 0.0
    assert slopes.correct(CELL, STEP, 0.3) == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(("slope", "doubt"), [(0.0, 0.02), (0.04, 0.04), (-0.04, 0.04), (0.6, 0.32), (-2.0, 1.02)])
def test_a_slope_is_as_doubtful_as_it_is_large(slope: float, doubt: float) -> None:
    """The standard deviation of a slope at other parameters is half of it and 0.02; 0.3 at least if nobody looked."""
    slopes, step = _slopes(np.array([0.0, slope, 1.0])), np.array([0.0, 1.0, 1.0])
    assert slopes.doubt(CELL, step) == pytest.approx(doubt)
    unknown = _slopes(np.array([0.0, slope, 1.0]), simulated=(True, False, True))
    assert unknown.doubt(CELL, 0.5 * step) == pytest.approx(0.5 * max(doubt, 0.3))


def test_slopes_that_were_not_simulated_learn_first() -> None:
    """A slope of 0 because nobody looked takes a miss that one of 0 by simulation does not."""
    known, unknown = (_slopes(np.zeros(3), simulated=(True, each, True)) for each in (True, False))
    for slopes in (known, unknown):
        slopes.correct(CELL, STEP, 0.1)
    assert unknown.rows[CELL.id][1] < -0.3
    assert abs(known.rows[CELL.id][1]) < 0.3


def test_a_miss_within_the_noise_changes_little() -> None:
    """The counter-test: what a short step, or a figure of chance, has missed would spoil the slopes."""
    short, drawn = _slopes(np.array([0.6, 0.3, 0.0])), _slopes(np.array([0.6, 0.3, 0.0]), noise=0.3)
    short.correct(CELL, 0.01 * STEP, 0.005)
    drawn.correct(CELL, STEP, 0.3)
    for slopes in (short, drawn):
        assert slopes.rows[CELL.id] == pytest.approx([0.6, 0.3, 0.0], abs=0.25)
    assert _slopes(np.array([0.6, 0.3, 0.0])).doubt(CELL, STEP) > 20 * short.doubt(CELL, 0.01 * STEP)


def test_noise_is_not_knowledge() -> None:
    """A slope that is no larger than what chance makes of a finite difference counts as none; a large one stays, and so
    does any of a figure without chance.
    """
    row = np.array([1.0, 0.02, 0.0])
    assert list(beyond_noise(row, 0.0)) == list(row)
    sure = beyond_noise(row, 0.01)
    chance = 0.01 / LONG_STEP
    assert sure == pytest.approx([1.0 - chance**2, 0.0, 0.0])
