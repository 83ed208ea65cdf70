"""Better minima than that of an end are found by moving parameters far; where there is none, none is."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.calibration.fit import fit as fit_module
from raidsim.calibration.fit.fit import SLOPE_SAMPLE
from raidsim.calibration.fit.other_minima import Place, _values, look_around
from raidsim.calibration.fit.problem import Problem
from raidsim.calibration.fit.search import Optimum, Search
from raidsim.calibration.simulation.responses import Vector
from raidsim.calibration.study.study import load_study
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.simulation.stand_in import stand_in_fit, stand_in_study

BASE = np.full(4, 4.0)
LIMIT = -0.1
"""ln(factor) of the first parameter from which on a drive misses revolutions."""
TRUE = np.array([-0.2, 0.1])


def missing_revolutions(theta: Vector) -> Vector:
    """Figures of a drive whose rate goes down where its media are faster than its cable, and far beyond up again."""
    media, cable = theta
    beyond = max(0.0, media - LIMIT)
    drive = media if media < LIMIT else LIMIT - 2 * min(beyond, 0.1) + 0.1 * max(0.0, beyond - 0.1)
    return np.asarray(BASE + np.array([drive, drive + 0.3 * cable, cable, 0.5 * cable]), dtype=np.float64)


def _ended(start: Vector, slopes: dict[str, Vector] | None = None) -> tuple[Problem, Optimum, Place | None]:
    """What a search alone ends at, and where another one should begin."""
    fit, responses = stand_in_fit(stand_in_study(missing_revolutions(TRUE), len(BASE)), missing_revolutions)
    problem = Problem(fit.study)
    found = Search(problem, responses, fit._rows, (SLOPE_SAMPLE, Sample())).run(start, slopes)
    return problem, found, look_around(problem, responses, found, SLOPE_SAMPLE).better


def test_a_better_valley_is_seen() -> None:
    """Protects fits that begin where the media are too fast: no short step leads back below the limit."""
    problem, found, place = _ended(np.array([0.35, 0.0]))
    assert found.theta[0] > LIMIT
    assert place is not None
    assert place.theta[0] < LIMIT
    assert np.all(np.abs(place.theta) <= problem.bound)
    for slopes in (place.rows, None):
        _, again, _ = _ended(place.theta, slopes)
        assert again.cost < found.cost - 1
        assert again.theta == pytest.approx(TRUE, abs=0.05)


def test_where_the_search_is_right_nothing_is_better() -> None:
    """The counter-test: from below the limit the search ends at the truth, and no place is better."""
    _, found, place = _ended(np.zeros(2) - 0.15)
    assert found.theta == pytest.approx(TRUE, abs=0.05)
    assert place is None


def test_places_lie_beyond_where_a_parameter_is_already() -> None:
    """One that has gone as far as a place is tried further out, up to its bound, and is not tried where it is."""
    assert _values(0.1, 0.5, 1.5) == pytest.approx([-0.6, 0.6])
    assert _values(0.7, 0.5, 1.5) == pytest.approx([-0.6, 0.0, 1.2])
    assert _values(-0.5, 0.5, 1.0) == pytest.approx([-1.0, 0.0, 0.6])


def _ended_beyond() -> Optimum:
    """What a whole fit ends at whose two searches both begin where the media are too fast."""
    fit, _ = stand_in_fit(stand_in_study(missing_revolutions(TRUE), len(BASE)), missing_revolutions)
    seed = next(seed for seed in range(50) if fit.draw(np.random.default_rng(seed))[0] > 2 * abs(LIMIT))
    return fit.optimum(np.array([0.35, 0.0]), np.random.default_rng(seed))


def test_cheap_fits_leave_a_wrong_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects fits of which both searches end in one minimum. Counter-test: without a look at others they stay."""
    assert _ended_beyond().theta == pytest.approx(TRUE, abs=0.05)
    monkeypatch.setattr(fit_module, "_MOST_MINIMA", 0)
    assert _ended_beyond().theta[0] > LIMIT


def test_only_runs_on_raw_devices_are_asked() -> None:
    """Of a study with programs their cells stay out, and with them what only programs show."""
    study = load_study("gentoo-2004")
    whole, raw = Problem(study), Problem(study, programs=False)
    assert {cell.run for cell in whole.cells} & whole.programs
    assert not {cell.run for cell in raw.near} & raw.programs
    assert set(raw.cells) == {cell for cell in whole.cells if cell.run not in whole.programs}


def _fitted_like_gentoo() -> tuple[Optimum, list[Sample]]:
    """A fit to a straight machine with one minimum that makes what was measured of a study with programs."""
    study = load_study("gentoo-2004")
    slopes = np.random.default_rng(3).uniform(-1, 1, (len(study.all_cells), len(study.parameters)))
    slopes[:, 0] = 0.0
    measured = np.log([cell.value for cell in study.all_cells]) - np.log(1e6)
    drive = [cell.id for cell in study.all_cells].index("2.6.7/hda/read")

    def made(theta: Vector) -> Vector:
        logs = np.asarray(measured + slopes @ theta, dtype=np.float64)
        missed = 0.3 * min(1.0, max(0.0, theta[0] - 0.1) / 0.1)
        logs[drive] = measured[drive] + theta[0] * (1.0 if theta[0] < 0.2 else 0.1) - missed
        return logs

    fit, responses = stand_in_fit(study, made)
    begin = np.zeros(len(study.parameters))
    begin[0] = 0.5
    return fit.optimum(begin), responses.samples


def test_a_fit_of_programs_begins_where_raw_devices_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects fits whose slopes are expensive: they leave a wrong minimum by runs on raw devices, and few runs are
    long. Counter-test: without a look at others they stay in it.
    """
    found, samples = _fitted_like_gentoo()
    assert found.converged
    assert found.cost < 0.5
    assert np.max(np.abs(found.theta)) < 0.1
    assert samples.count(Sample()) < len(samples)
    monkeypatch.setattr(fit_module, "_MOST_MINIMA_EXPENSIVE", 0)
    alone, _ = _fitted_like_gentoo()
    assert alone.cost > found.cost + 1


def test_what_raw_devices_do_not_tell_stays_as_it_was() -> None:
    """Protects what an earlier fit has learnt from programs: a search in runs on raw devices moves what these tell, and
    leaves a parameter that no figure of theirs depends on, though they use it, where it began.
    """
    study = load_study("gentoo-2004")
    slopes = np.random.default_rng(3).uniform(-1, 1, (len(study.all_cells), len(study.parameters)))
    measured = np.log([cell.value for cell in study.all_cells]) - np.log(1e6)
    raw = [cell.run not in Problem(study).programs for cell in study.all_cells]
    untold = len(study.parameters) - 1
    slopes[raw, untold] = 0.0
    fit, _ = stand_in_fit(study, lambda theta: np.asarray(measured + slopes @ theta, dtype=np.float64))
    begin = np.full(len(study.parameters), 0.3) * fit.prior_sd
    there = fit._from_raw_devices(begin)
    assert there[untold] == begin[untold]
    assert abs(there[0]) < 0.2 * begin[0]
