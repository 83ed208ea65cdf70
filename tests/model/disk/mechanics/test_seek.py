"""The seek curve passes through the three numbers of a data sheet."""

import numpy as np
import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.disk.mechanics.seek import Curve, SeekCurve

CURVE = SeekCurve(90_000, 0.002, 0.0089, 0.021, write_settle_s=0.002)


def test_the_three_given_times_are_met() -> None:
    """Track-to-track, full stroke, and the average over all pairs of cylinders, summed exactly."""
    distances = np.arange(90_000)
    chances = 2.0 * (90_000 - distances)
    chances[0] = 0
    table = CURVE.table(writes=False)
    assert CURVE.read[1] == pytest.approx(0.002)
    assert CURVE.read[89_999] == pytest.approx(0.021)
    assert float(table @ chances / chances.sum()) == pytest.approx(0.0089, rel=1e-3)


def test_short_seeks_follow_the_root_and_long_ones_a_line() -> None:
    """Below the joint the time above the start is as the square root of the distance; beyond it, steps are equal."""
    joint = int(CURVE.coast_from)
    short = [CURVE.read[d] - CURVE.start_s for d in (joint // 4, joint)]
    assert short[1] / short[0] == pytest.approx(2.0, rel=1e-2)
    steps = np.diff(CURVE.table(writes=False)[joint + 1 :])
    assert np.ptp(steps) < 1e-12
    assert CURVE.read[joint + 1] - CURVE.read[joint] == pytest.approx(CURVE.slope, rel=1e-2)


def test_the_curve_rises_and_no_move_costs_nothing() -> None:
    """A longer seek is never shorter; distance 0 is free for reads and writes."""
    assert CURVE.read[0] == CURVE.write[0] == 0.0
    assert np.all(np.diff(CURVE.table(writes=False)) > 0)


def test_both_directions_cost_the_same() -> None:
    """The table is indexed by a signed difference of cylinders."""
    assert [CURVE.read[-d] for d in (1, 7, 89_999)] == [CURVE.read[d] for d in (1, 7, 89_999)]
    assert CURVE.time_s(-50) == CURVE.time_s(50)


def test_writes_settle_longer() -> None:
    """Every write seek takes the settle time on top; without settle time the two tables agree."""
    assert CURVE.write[500] - CURVE.read[500] == pytest.approx(0.002)
    without = SeekCurve(90_000, 0.002, 0.0089, 0.021)
    assert all(without.write[i] == without.read[i] for i in (0, 1, 500, 89_999))


def test_a_constant_seek_is_possible() -> None:
    """Three equal times make a drive whose every seek takes the same."""
    flat = SeekCurve(100, 0.005, 0.005, 0.005)
    assert flat.read[1] == flat.read[99] == 0.005


@pytest.mark.parametrize(
    ("times", "says"),
    [((0.009, 0.002, 0.021), "ascending"), ((0.002, 0.0201, 0.021), "expected"), ((0.002, 0.0021, 0.021), "expected")],
)
def test_times_that_fit_no_curve_are_refused(times: tuple[float, float, float], says: str) -> None:
    """An average too near either end is a mistake in the data, and the message says what would be possible."""
    with pytest.raises(ModelError, match=says):
        SeekCurve(90_000, *times)


@pytest.mark.parametrize("times", [(0.002, 0.0089, 0.021), (0.005, 0.005, 0.005), (0.0006, 0.0035, 0.0075)])
def test_times_worked_out_are_those_of_the_table(times: tuple[float, float, float]) -> None:
    """Protects the same bits compiled: a seek that is worked out when it is asked for is the table's to the last."""
    curve = SeekCurve(20_000, *times, write_settle_s=0.0007)
    for settle_s, table in ((0.0, curve.read), (curve.write_settle_s, curve.write)):
        worked_out = Curve(curve.coast_from, curve.start_s, curve.square_root, curve.slope, settle_s)
        distances = range(-19_999, 20_000, 7)
        assert [worked_out[distance] for distance in distances] == [table[distance] for distance in distances]
        assert worked_out[0] == 0.0
