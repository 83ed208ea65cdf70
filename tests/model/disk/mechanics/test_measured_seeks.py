"""Measured seek times, and what the curve through a data sheet's three points makes of drives that were measured."""

import numpy as np
import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.disk.mechanics.seek import MeasuredSeeks, SeekCurve
from raidsim.model.disk.spec import mechanics
from raidsim.model.drives.catalogue import hard_disk
from raidsim.validation.drives.check import disksim_results

POINTS = ((1, 0.001), (3, 0.003), (10, 0.002), (99, 0.010))


def test_it_passes_through_the_points_on_straight_lines() -> None:
    """Also where a longer seek took less time: what was measured is not smoothed."""
    seeks = MeasuredSeeks(100, POINTS, write_settle_s=0.0005)
    assert [seeks.read[distance] for distance, _ in POINTS] == pytest.approx([time for _, time in POINTS])
    assert seeks.time_s(2) == pytest.approx(0.002)
    assert seeks.read[-3] == seeks.read[3]
    assert seeks.write[3] == pytest.approx(0.0035)
    assert seeks.read[0] == seeks.write[0] == 0.0


def test_writes_may_have_points_of_their_own() -> None:
    """A drive whose write seeks were measured shorter has them, whatever the settle time."""
    seeks = MeasuredSeeks(100, POINTS, ((1, 0.0004), (99, 0.009)))
    assert seeks.write[1] == pytest.approx(0.0004)
    assert seeks.read[1] == pytest.approx(0.001)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (((2, 0.001), (3, 0.002)), "ascending, from 1 cylinder"),
        (((1, 0.001), (5, 0.002), (5, 0.003)), "ascending, from 1 cylinder"),
        (((1, 0.001), (100, 0.002)), "at most 99, the longest seek"),
    ],
)
def test_points_that_cannot_be_are_refused(points: tuple[tuple[int, float], ...], words: str) -> None:
    """Distances ascend from one cylinder to the longest seek there is."""
    with pytest.raises(ModelError, match=words):
        MeasuredSeeks(100, points)


@pytest.mark.parametrize("name", disksim_results())
def test_the_curve_of_three_points_has_the_form_of_measured_seeks(name: str) -> None:
    """Through track-to-track, mean and full stroke of a drive, the curve is within 5 % of the measured half stroke.

    So the form is not what makes the half stroke of the catalogue's other drives shorter (0.57 to 0.64 of the full one,
    against 0.64 to 0.70 measured): their data sheets' averages are.
    """
    _, measured = mechanics(hard_disk(name))
    cylinders = measured.cylinders
    times = measured.table(writes=False)
    chances = 2.0 * (cylinders - np.arange(cylinders))
    chances[0] = 0.0
    mean = float((times * chances).sum() / chances.sum())
    full = float(times[-1])
    curve = SeekCurve(cylinders, float(times[1]), mean, full).table(writes=False)
    half = (cylinders - 1) // 2
    assert curve[half] == pytest.approx(times[half], rel=0.05)
    assert float((curve * chances).sum() / chances.sum()) == pytest.approx(mean, rel=0.001)
