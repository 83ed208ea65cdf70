"""Alternatives of a study: the one it was measured with is found, and what cannot be or be told is said."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.calibration.fit.choices import read_choices, try_all, with_choice
from raidsim.calibration.fit.fit import Fit
from raidsim.calibration.fit.report import Calibrated
from raidsim.calibration.fit.search import Optimum
from raidsim.calibration.fit.starts import searches_of
from raidsim.calibration.study.figures import figure_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.calibration.simulation.stand_in import stand_in_fit, stand_in_study
from raidsim.tests.calibration.study import small_study as small

BASE = np.array([4.0, 4.1, 4.2])


def _optimum(cost: float) -> Optimum:
    return Optimum(np.zeros(2), np.zeros(2), cost, True, "", 1, {}, {})


def test_the_policy_that_was_measured_is_chosen() -> None:
    """Random reads of a mirror measured with one balance: of two, that one is fitted better, on the real simulator."""
    document = small.runs_document()
    load = {**document["workloads"]["random"], "targets": ["mirror"], "depth": 4}
    document["runs"] = {"mirror": {"kernel": "linux-2.6.8", "workload": load}}
    cell = {"id": "iops", "use": "calibrate", "run": "mirror", "figure": "iops", "measured": 100.0, "unit": "1/s"}
    document["cells"], document["claims"], document["suspects"] = [cell], [], []
    blank = validate(StudySpec, document)
    true = with_choice(blank, {"arrays.mirror.balance": "gmirror-round-robin"})
    made = simulate(RunBuilder(true, {}).scenario("mirror"), Sample())
    document["cells"][0]["measured"] = figure_value(made, "mirror", "iops")

    def search(study: StudySpec) -> Optimum:
        (cell,), sizes = study.calibrate_cells, np.zeros(len(study.parameters))
        found = simulate(RunBuilder(study, {}).scenario("mirror"), Sample())
        off = np.log(figure_value(found, "mirror", "iops") / cell.value)
        return Optimum(sizes, sizes, float(off**2), True, "", 1, {}, {})

    tried = try_all(
        validate(StudySpec, document), {"arrays.mirror.balance": ["primary", "gmirror-round-robin"]}, search
    )
    assert [each.chosen["arrays.mirror.balance"] for each in tried] == ["gmirror-round-robin", "primary"]
    assert tried[0].cost == pytest.approx(0.0, abs=1e-12)
    assert tried[1].cost > 0.01


def test_every_combination_is_fitted() -> None:
    """Two kernels by two policies are four fits of studies that differ in nothing else."""
    study = small.runs_study()
    seen = []

    def search(each: StudySpec) -> Optimum:
        seen.append((each.runs["one"].kernel, each.arrays["mirror"].balance))
        return _optimum(float(len(seen)))

    choices = read_choices(["kernel=linux-2.6.7,linux-2.6.8", "arrays.mirror.balance=primary,md-2.6"])
    tried = try_all(study, choices, search)
    assert len(set(seen)) == len(tried) == 4
    assert study.runs["one"].kernel == "linux-2.4.26"


def test_what_cannot_be_is_said() -> None:
    """An impossible alternative comes last with the model's words; only impossible ones are an error."""
    study = stand_in_study(BASE, 3)

    def search(each: StudySpec) -> Optimum:
        if each.cases[0].kernel == "linux-2.6.7":
            raise InputError("kernel", "one that never was", "expected: others")
        return _optimum(1.0)

    tried = try_all(study, {"kernel": ["linux-2.6.7", "linux-2.6.8"]}, search)
    fit, _ = stand_in_fit(study, lambda theta: BASE + theta.sum())
    optimum = fit.optimum()
    report = Calibrated(study, fit.profile(optimum), searches_of(fit, [optimum]), {}, tuple(tried))
    assert report.choices[0] == "kernel linux-2.6.8: cost 1"
    assert "kernel linux-2.6.7: cannot be" in report.choices[1]
    assert report.document()["choices"][1]["cost"] is None
    with pytest.raises(InputError, match="one that never was"):
        try_all(study, {"kernel": ["linux-2.6.7"]}, search)


def test_alternatives_that_data_do_not_tell_apart_are_called_so() -> None:
    """Nearly the same cost is no verdict."""
    study = stand_in_study(BASE, 3)
    costs = {"linux-2.6.7": 1.0, "linux-2.6.8": 1.5}
    tried = try_all(study, {"kernel": list(costs)}, lambda each: _optimum(costs[each.cases[0].kernel]))
    fit, _ = stand_in_fit(study, lambda theta: BASE + theta.sum())
    optimum = fit.optimum()
    report = Calibrated(study, fit.profile(optimum), searches_of(fit, [optimum]), {}, tuple(tried))
    assert report.choices[-1] == "The measured numbers do not tell the first two apart."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel", "expected: kernel="),
        ("kernel=", "expected: kernel="),
        ("chunk=4,8", "expected: kernel="),
        ("arrays.mirror.chunk=4,8", "expected: kernel="),
        ("kernel=" + ",".join(map(str, range(30))), "30 combinations"),
    ],
)
def test_bad_choices_are_refused(text: str, message: str) -> None:
    """A place that cannot be chosen, no alternative, and more of them than anyone waits for."""
    with pytest.raises(InputError, match=message):
        read_choices([text])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"kernel": "linux-9"}, "unknown kernel"),
        ({"arrays.heap.balance": "primary"}, "unknown array"),
        ({"arrays.mirror.balance": "fair"}, "unknown balance"),
    ],
)
def test_unknown_alternatives_are_named(chosen: dict[str, str], message: str) -> None:
    """What is not in the catalogue is refused with what is; nothing to calibrate on chooses nothing."""
    with pytest.raises(InputError, match=message):
        with_choice(small.runs_study(), chosen)
    with pytest.raises(InputError, match="no cell to calibrate on"):
        try_all(stand_in_study(BASE, 0), {"kernel": ["linux-2.6.8"]}, lambda each: _optimum(0.0))


def test_choosing_is_done_with_real_fits() -> None:
    """A search is a fit of the study with the alternative, as the command makes it."""
    study = stand_in_study(BASE, 3)

    def search(each: StudySpec) -> Optimum:
        shift = 0.0 if each.cases[0].kernel == "linux-2.6.8" else 0.3
        fit, _ = stand_in_fit(each, lambda theta: BASE + np.array([shift, 0.0, -shift]) + theta.sum())
        assert isinstance(fit, Fit)
        return fit.optimum()

    tried = try_all(study, {"kernel": ["linux-2.6.7", "linux-2.6.8"]}, search)
    assert tried[0].chosen == {"kernel": "linux-2.6.8"}
