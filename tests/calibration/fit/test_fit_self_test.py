"""The fit of machines that are arithmetic: it finds what is known, and its errors are as large as it says."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, chisquare

from raidsim.calibration.fit import search
from raidsim.calibration.fit.problem import CELL_SD, chance_of_cost, cost
from raidsim.calibration.fit.profile import BOUND_SD
from raidsim.calibration.fit.profile_likelihood import Limits, profile_limits
from raidsim.calibration.fit.quantile import AS_GOOD
from raidsim.calibration.fit.report import Calibrated
from raidsim.calibration.fit.starts import search_from, searches_of
from raidsim.calibration.simulation.responses import Vector
from raidsim.tests.calibration.simulation.stand_in import stand_in_fit, stand_in_study, with_measured

PRIOR_SD = 0.2
SLOPES = np.array([[1.0, 0.0], [0.6, 0.5], [0.2, 1.0], [0.9, 0.3], [0.4, -0.7], [1.0, 1.0], [0.0, 0.8], [0.5, 0.5]])
BASE = np.full(len(SLOPES), math.log(60.0))
DRAWS = 19
"""Of every posterior: the true value's rank among them is one of twenty."""


def linear(theta: Vector) -> Vector:
    """Figures that are powers of the factors."""
    return BASE + SLOPES @ theta


def curved(theta: Vector) -> Vector:
    """The same behind a soft ceiling at one and a half times the base."""
    return BASE + 0.4 - np.logaddexp(0.0, 0.4 * 4 - 4 * (SLOPES @ theta)) / 4


def _ranks(replications: int, noise: float) -> np.ndarray:
    """Ranks of true parameters, drawn from the prior, among draws of the posteriors of what they measure."""
    random = np.random.default_rng(7)
    blank = stand_in_study(BASE, len(BASE))
    ranks = []
    for _ in range(replications):
        true = random.standard_normal(2) * PRIOR_SD
        study = with_measured(blank, linear(true) + noise * random.standard_normal(len(BASE)))
        fit, _ = stand_in_fit(study, linear)
        optimum = fit.optimum()
        draws = random.multivariate_normal(optimum.theta, fit.covariance(optimum), size=DRAWS)
        ranks.append((draws < true).sum(axis=0))
    return np.array(ranks)


def _flat(ranks: np.ndarray) -> float:
    """Probability of ranks that far from even."""
    counts = np.bincount(ranks.ravel() // 2, minlength=(DRAWS + 1) // 2)
    return float(chisquare(counts).pvalue)


@pytest.mark.slow
def test_ranks_of_the_truth_are_even() -> None:
    """Simulation-based calibration: were errors too small, too large or off, the truth's ranks would not be flat."""
    assert _flat(_ranks(200, CELL_SD)) > 0.01


@pytest.mark.slow
def test_ranks_tell_errors_that_are_too_small() -> None:
    """The counter-test: data of which nine in ten are much noisier than expected, were the noise not learnt from them.

    Noise of four times what is expected is seen in the residuals, and the errors grow with it: the ranks of a fit that
    did not look would pile up at both ends.
    """
    random = np.random.default_rng(8)
    blank = stand_in_study(BASE, len(BASE))
    ranks = []
    for _ in range(120):
        true = random.standard_normal(2) * PRIOR_SD
        fit, _ = stand_in_fit(
            with_measured(blank, linear(true) + 4 * CELL_SD * random.standard_normal(len(BASE))), linear
        )
        optimum = fit.optimum()
        jacobian = fit.jacobian(optimum)  # with errors as expected, not as found
        draws = random.multivariate_normal(optimum.theta, np.linalg.inv(jacobian.T @ jacobian), size=DRAWS)
        ranks.append((draws < true).sum(axis=0))
    assert _flat(np.array(ranks)) < 1e-6


def test_the_truth_is_recovered_where_figures_saturate() -> None:
    """Without noise the fit finds the parameters although slopes change on the way."""
    true = np.array([0.15, -0.2])
    fit, responses = stand_in_fit(stand_in_study(curved(true), len(BASE)), curved)
    found = fit.optimum()
    errors = np.sqrt(np.diag(fit.covariance(found)))
    assert found.converged
    assert np.all(np.abs(found.theta - true) < errors)
    assert responses.asked < 30


def test_all_starts_end_at_the_same_optimum() -> None:
    """Five searches of a problem with one optimum agree within its intervals, and the draws are the same every time."""
    fit, _ = stand_in_fit(stand_in_study(linear(np.array([0.1, -0.1])), len(BASE)), linear)
    searches = search_from(fit, 5)
    profile = fit.profile(searches.best)
    assert [start.differs_in for start in searches.of(profile)] == [()] * 5
    assert len({tuple(optimum.start) for optimum in searches.optima}) == 5
    again = search_from(stand_in_fit(fit.study, linear)[0], 5)
    assert [list(o.theta) for o in again.optima] == [list(o.theta) for o in searches.optima]


def test_a_search_that_stops_on_its_way_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few steps for a search, one alone comes to no end, and says so; one of several starts gets there."""
    monkeypatch.setattr(search, "MOST_STEPS_CHEAP", 4)
    study = stand_in_study(curved(np.array([0.6, 0.5])), len(BASE))
    alone = stand_in_fit(study, curved)[0].optimum()
    assert not alone.converged
    assert alone.message == "4 steps were too few"
    (found,) = search_from(stand_in_fit(study, curved)[0], 1).optima
    assert found.converged
    assert found.cost < alone.cost
    assert found.evaluations > alone.evaluations
    assert np.array_equal(found.start, alone.start)


def test_a_second_optimum_is_reported() -> None:
    """Two optima: the better one is taken, the others are named, and the report calls the fit failed."""

    def folded(theta: Vector) -> Vector:
        logs: Vector = BASE + 2.0 * (theta[0] ** 2 - 0.04) + SLOPES @ (theta * [0.2, 0.5])
        return logs

    fit, _ = stand_in_fit(stand_in_study(folded(np.array([0.3, 0.0])), len(BASE)), folded)
    searches = search_from(fit, 8)
    profile = fit.profile(searches.best)
    assert profile.cost == min(optimum.cost for optimum in searches.optima)
    assert any("media rate" in start.differs_in for start in searches.of(profile))
    failures = Calibrated(fit.study, profile, searches, {}).failures
    assert any("ended in another minimum, fits worse: media rate" in line for line in failures)


def test_errors_hold_places_that_fit_as_well() -> None:
    """Two optima of about the same cost: the curvature at one knows nothing of the other, and the errors are widened
    until it is just inside; parameters that are the same in both keep theirs.
    """

    def folded(theta: Vector) -> Vector:
        logs: Vector = BASE + 2.0 * (theta[0] ** 2 - 0.04) + 0.5 * SLOPES[:, 1] * theta[1]
        return logs

    fit, _ = stand_in_fit(stand_in_study(folded(np.array([0.2, 0.1])), len(BASE)), folded)
    searches = search_from(fit, 8)
    narrow, wide = fit.covariance(searches.best), searches.widened(fit.covariance(searches.best))
    assert any(start.differs_in for start in searches.of(fit.profile(searches.best, narrow)))
    assert not any(start.differs_in for start in searches.of(fit.profile(searches.best, wide)))
    assert max(searches.worse) < AS_GOOD
    assert 1.645 * math.sqrt(wide[0, 0]) == pytest.approx(0.4, rel=0.1)
    assert wide[1, 1] < 1.3 * narrow[1, 1]
    assert np.all(np.linalg.eigvalsh(wide) > 0)


def test_costs_are_told_apart_as_well_as_the_cells_are() -> None:
    """Cells that are off by much more than expected make a difference in cost say less, by as much."""
    random = np.random.default_rng(3)
    noisy = linear(np.array([0.1, 0.1])) + 6 * CELL_SD * random.standard_normal(len(BASE))
    close, far = (stand_in_fit(stand_in_study(logs, len(BASE)), linear)[0] for logs in (linear(np.zeros(2)), noisy))
    assert close.inflation(close.optimum()) == 1.0
    best = far.optimum()
    inflation = far.inflation(best)
    assert inflation > 4
    assert searches_of(far, [best, replace(best, cost=best.cost + 1)]).worse[1] == pytest.approx(1 / inflation)


def test_places_that_fit_worse_widen_nothing() -> None:
    """The counter-test: another optimum that the numbers speak against leaves the errors as they are."""
    fit, _ = stand_in_fit(stand_in_study(linear(np.array([0.1, 0.1])), len(BASE)), linear)
    best = fit.optimum()
    other = replace(best, theta=best.theta + 1.0, logs={name: log + 1.0 for name, log in best.logs.items()}, cost=99.0)
    searches = searches_of(fit, [best, other])
    assert searches.worse[1] > AS_GOOD
    assert np.array_equal(searches.widened(fit.covariance(best)), fit.covariance(best))
    assert [start.verdict for start in searches.of(fit.profile(best))] == ["the same", "in another minimum, fits worse"]


def test_chance_tells_how_far_costs_can_be_told_apart() -> None:
    """What chance in the cells makes of a cost, beside what draws of it show; without chance nothing."""
    residuals, noise = np.array([0.3, -2.0, 6.0, 0.0]), np.array([0.5, 0.8, 0.4, 0.9])
    draws = residuals + noise * np.random.default_rng(5).standard_normal((20_000, 4))
    assert chance_of_cost(residuals, noise) == pytest.approx(np.std([cost(draw) for draw in draws]), rel=0.1)
    assert chance_of_cost(residuals, np.zeros(4)) == 0.0


def test_places_that_fit_worse_by_chance_widen() -> None:
    """Another end whose cost is higher by no more than chance makes of it fits as well, and the errors hold it; the
    counter-test is the same one of a simulation without chance.
    """
    fit, _ = stand_in_fit(stand_in_study(linear(np.array([0.1, 0.1])), len(BASE)), linear)
    best = fit.optimum()
    logs = {name: log + 0.9 * CELL_SD for name, log in best.logs.items()}
    best = replace(best, logs=logs)
    other = replace(best, theta=best.theta + 0.3, cost=best.cost + 2 * AS_GOOD)
    assert np.array_equal(searches_of(fit, [best, other]).widened(fit.covariance(best)), fit.covariance(best))
    fit._problem.noise.update({cell.id: 2 * CELL_SD for cell in fit.study.all_cells})
    searches = searches_of(fit, [best, other])
    wide = searches.widened(fit.covariance(best))
    assert [start.differs_in for start in searches.of(fit.profile(best, wide))] == [(), ()]
    assert [start.verdict for start in searches.of(fit.profile(best))] == [
        "the same",
        "in another minimum, fits as well",
    ]


def test_starts_at_impossible_machines_move_closer() -> None:
    """A draw that the model refuses is halved until it does not; the search then ends where the others do."""
    true = np.array([0.05, 0.05])
    fit, _ = stand_in_fit(
        stand_in_study(linear(true), len(BASE)), linear, lambda theta: bool(np.max(np.abs(theta)) > 0.12)
    )
    searches = search_from(fit, 4)
    assert searches.refused == ()
    assert all(np.max(np.abs(optimum.start)) <= 0.12 for optimum in searches.optima)
    assert [start.differs_in for start in searches.of(fit.profile(searches.best))] == [()] * 4


def test_likelihood_and_standard_error_agree_where_figures_are_powers() -> None:
    """Of a linear problem both intervals are the same."""
    fit, _ = stand_in_fit(stand_in_study(linear(np.array([0.1, 0.1])), len(BASE)), linear)
    optimum = fit.optimum()
    error = math.sqrt(fit.covariance(optimum)[0, 0])
    limits = profile_limits(fit, optimum, 0)
    assert limits.low is not None
    assert limits.high is not None
    for limit, direction in ((limits.low, -1), (limits.high, 1)):
        assert math.log(limit) - optimum.theta[0] == pytest.approx(direction * 1.645 * error, rel=0.1)
    assert math.sqrt(chi2.ppf(0.9, 1)) == pytest.approx(1.6448536)


def test_likelihood_sees_a_ceiling() -> None:
    """A part that no longer is the slowest may be much faster: the interval reaches further up than down."""

    def ceiling(theta: Vector) -> Vector:
        logs: Vector = BASE - np.logaddexp(0.0, -12 * theta[0]) / 12 + 0.5 * theta[1] * SLOPES[:, 1]
        return logs

    fit, _ = stand_in_fit(stand_in_study(ceiling(np.array([0.2, 0.0])), len(BASE)), ceiling)
    optimum = fit.optimum()
    limits = profile_limits(fit, optimum, 0)
    assert limits.low is not None
    assert limits.high is not None
    up, down = math.log(limits.high) - optimum.theta[0], optimum.theta[0] - math.log(limits.low)
    assert up > 2 * down > 0


def test_a_parameter_at_its_bound_fails_the_fit() -> None:
    """Measurements that only a machine outside the bounds gives: the report says which parameter stopped there."""
    fit, _ = stand_in_fit(stand_in_study(BASE + 3.0 * SLOPES[:, 0], len(BASE)), linear)
    searches = search_from(fit, 1)
    profile = fit.profile(searches.best)
    assert profile.at_bounds() == ["media rate"]
    assert abs(math.log(profile.factors["media rate"])) <= BOUND_SD * PRIOR_SD
    report = Calibrated(fit.study, profile, searches, {})
    assert any("media rate stopped at a bound" in line for line in report.failures)
    (bounded,) = (each for each in report.parameters() if each["at_bound"])
    assert bounded["name"] == "media rate"


def test_a_cell_that_noise_does_not_explain_is_named() -> None:
    """One measurement of eight is off by 40 %: its line says which, by how much, and what to do; with none off, no line
    is there. The fit has not failed.
    """
    off = BASE.copy()
    off[2] -= 0.4
    fit, _ = stand_in_fit(stand_in_study(off, len(BASE)), linear)
    searches = search_from(fit, 1)
    report = Calibrated(fit.study, fit.profile(searches.best), searches, {})
    (line,) = report.misfits
    assert "calibrated cells" in line
    assert f": {fit.study.calibrate_cells[2].id} by +" in line
    assert "check the machine's description" in line
    assert report.failures == []
    assert report.document()["misfits"] == [line]
    fit, _ = stand_in_fit(stand_in_study(BASE, len(BASE)), linear)
    searches = search_from(fit, 1)
    assert Calibrated(fit.study, fit.profile(searches.best), searches, {}).misfits == []


def test_one_number_gives_a_wide_profile() -> None:
    """A single measured number with two unknowns behind it: usable, with errors that say how little is known."""
    fit, _ = stand_in_fit(stand_in_study(BASE[:2] + 0.1, 1), lambda theta: BASE[:2] + theta.sum())
    profile = fit.profile(fit.optimum())
    assert profile.converged
    ((first, second, correlation),) = profile.inseparable()
    assert (first, second) == ("bus", "media rate")
    assert correlation < -0.98
    assert all(p.standard_error > 0.5 * p.prior_sd for p in profile.parameters)
    assert sum(math.log(p.factor) for p in profile.parameters) == pytest.approx(0.1, abs=0.02)


def test_no_number_leaves_the_priors() -> None:
    """Nothing measured: the priors stand, any number of starts finds the same, and the report says so in words."""
    fit, _ = stand_in_fit(stand_in_study(BASE, 0), linear)
    searches = search_from(fit, 3)
    profile = fit.profile(searches.best)
    assert set(profile.factors.values()) == {1.0}
    report = Calibrated(fit.study, profile, searches, {})
    assert report.failures == []
    assert "the priors stand" in report.doubts[0]


def test_the_report_has_units_and_what_cannot_be_told_apart() -> None:
    """Values stand beside their priors with units, and a pair that only acts together is named in words."""
    fit, _ = stand_in_fit(stand_in_study(BASE, len(BASE)), lambda theta: BASE + theta.sum())
    searches = search_from(fit, 1)
    report = Calibrated(fit.study, fit.profile(searches.best), searches, {"bus": Limits(0.9, None)})
    media, bus = report.document()["parameters"]
    assert [value["unit"] for value in (*media["values"], *bus["values"])] == ["bytes/s"] * 3
    assert media["values"][0]["value"] == pytest.approx(media["values"][0]["prior"] * media["factor"])
    assert "interval" not in media
    assert bus["interval"] == [0.9, None]
    assert any("bus and media rate cannot be told apart" in line for line in report.doubts)


def test_a_search_that_did_not_converge_fails_the_fit() -> None:
    """The optimizer's message stands in the report, whatever the parameters are."""
    fit, _ = stand_in_fit(stand_in_study(BASE, len(BASE)), linear)
    found = fit.optimum()
    stopped = replace(found, converged=False, message="12 steps were too few")
    searches = searches_of(fit, [stopped])
    (failure,) = Calibrated(fit.study, fit.profile(stopped), searches, {}).failures
    assert failure.startswith("it stopped before it converged: 12 steps were too few; run raidsim calibrate")
