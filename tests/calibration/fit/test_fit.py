"""The fit: known parameters are found again, the intervals mean something, and a profile survives its file."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from raidsim.calibration.fit import fit as fit_module
from raidsim.calibration.fit import search as search_module
from raidsim.calibration.fit.fit import UNCALIBRATED_SD, Fit, calibrate
from raidsim.calibration.fit.profile import Profile, fingerprint, load_profile, profile_path
from raidsim.calibration.fit.starts import search_from
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.study import small_study as small


@pytest.fixture(scope="module")
def study() -> StudySpec:
    """The small study."""
    return small.small_study()


@pytest.fixture(scope="module")
def profile(study: StudySpec) -> Profile:
    """Its fit."""
    with Evaluator(1) as evaluator:
        return calibrate(study, evaluator)


def test_progress_goes_on_through_all_searches() -> None:
    """Protects who waits for several starts: each is a share of the whole, which only its end completes."""
    seen: list[tuple[int, int]] = []
    with Evaluator(1) as evaluator:
        fit = Fit(load_study("larsen-2003"), evaluator, lambda done, total: seen.append((done, total)))
        fit.profile(search_from(fit, 3).best)
    (whole,) = {total for _, total in seen}
    done = [done for done, _ in seen]
    assert done == sorted(done)
    assert {3 * each // whole for each in done} == {0, 1, 2, 3}
    assert done.count(whole) == 1


def test_known_parameters_are_recovered(profile: Profile) -> None:
    """Measurements made by the model with known factors give these factors back, within two standard errors."""
    assert profile.converged
    for name, true in small.TRUE_FACTORS.items():
        fitted = next(p for p in profile.parameters if p.name == name)
        assert abs(math.log(fitted.factor / true)) < 2 * fitted.standard_error
        assert fitted.standard_error < 0.3 * fitted.prior_sd


def test_a_parameter_without_data_keeps_its_prior(study: StudySpec) -> None:
    """What no calibrate cell depends on is neither moved nor called known: the profile says so in words."""
    document = small.small_document({case.id: case.rate for case in study.cases})
    extra = {"name": "parity", "paths": ["machine.cpu.prices.xor_rate"], "sd": "30%", "reason": "no array here"}
    document["parameters"].append(extra)
    with Evaluator(1) as evaluator:
        profile = calibrate(validate(StudySpec, document), evaluator)
    assert profile.undetermined() == ["parity"]
    assert profile.parameters[-1].factor == pytest.approx(1.0)
    assert profile.parameters[-1].standard_error == pytest.approx(0.3, rel=1e-6)
    assert profile.sensitivities["both"][-1] == 0.0


def test_parameters_that_only_act_together_are_named(study: StudySpec) -> None:
    """Two factors on the same value cannot be told apart, and the profile names the pair."""
    document = small.small_document({case.id: case.rate for case in study.cases})
    twin = {"name": "bus again", "paths": ["machine.links.pci.rate"], "sd": "20%", "reason": "the same bus"}
    document["parameters"].append(twin)
    with Evaluator(1) as evaluator:
        profile = calibrate(validate(StudySpec, document), evaluator)
    assert {"bus", "bus again"} in [set(pair[:2]) for pair in profile.inseparable(0.7)]


def test_predict_cells_do_not_move_the_fit(study: StudySpec, profile: Profile) -> None:
    """A wrong measured value in a predict cell leaves every parameter as it is, bit for bit."""
    rates = {case.id: case.rate * (3.0 if case.use == "predict" else 1.0) for case in study.cases}
    with Evaluator(1) as evaluator:
        other = calibrate(validate(StudySpec, small.small_document(rates)), evaluator)
    assert other.parameters == profile.parameters


def test_the_fit_is_reproducible_in_other_processes(study: StudySpec, profile: Profile) -> None:
    """Two worker processes give the bits that one gives."""
    with Evaluator(2) as evaluator:
        other = calibrate(study, evaluator)
    assert other.parameters == profile.parameters


def test_without_calibrate_cells_the_priors_stand(study: StudySpec) -> None:
    """Nothing is fitted then: factors of 1, errors as large as the priors, and intervals that carry them."""
    document = small.small_document({case.id: case.rate for case in study.cases})
    for case in document["cases"]:
        case["use"] = "predict"
    with Evaluator(1) as evaluator:
        profile = calibrate(validate(StudySpec, document), evaluator)
    assert profile.factors == {"media rate": 1.0, "bus": 1.0}
    assert [p.standard_error for p in profile.parameters] == pytest.approx([0.2, 0.2])
    assert profile.discrepancy == UNCALIBRATED_SD
    assert profile.spread("one") == pytest.approx(0.2, rel=0.1)


def test_nothing_to_fit_is_refused(study: StudySpec) -> None:
    """Without parameters there is no fit, and a message says so."""
    with Evaluator(1) as evaluator, pytest.raises(InputError, match="no parameters"):
        calibrate(study.model_copy(update={"parameters": ()}), evaluator)


def test_runs_give_their_parameters_back() -> None:
    """Two runs in different units (seconds, KB/s) are fitted as well as rates of cases, each simulated once for all
    of its cells, and the prediction of another layout then comes out right.
    """
    study = small.runs_study()
    with Evaluator(1) as evaluator:
        profile = calibrate(study, evaluator)
    for name, true in small.TRUE_FACTORS.items():
        fitted = next(p for p in profile.parameters if p.name == name)
        assert abs(math.log(fitted.factor / true)) < 2 * fitted.standard_error
    assert profile.sensitivities["one"][0] < -0.5  # a faster drive takes less time
    assert profile.sensitivities["both/seconds"] == pytest.approx([-x for x in profile.sensitivities["both"]], abs=1e-6)


def test_draws_give_the_spread(study: StudySpec, profile: Profile) -> None:
    """As many draws as there are parameters have the gradient's whole length: the spread that slopes give."""
    with Evaluator(1) as evaluator:
        fit = fit_module.Fit(study, evaluator)
        fit._problem.programs = {"other"}
        theta = np.log([parameter.factor for parameter in profile.parameters])
        spreads = fit._far_spreads(theta, profile.covariance, {})
    assert list(spreads) == ["other"]
    assert spreads["other"] == pytest.approx(profile.spread("other"), rel=0.2)
    assert profile.model_copy(update={"spreads": {"other": 0.5}}).spread("other") == 0.5


def test_a_fitted_figure_tells_how_open_others_are(study: StudySpec, profile: Profile) -> None:
    """A program's cell whose figure was fitted elsewhere takes the mean of those spreads, and is not simulated."""
    with Evaluator(1) as evaluator:
        fit = fit_module.Fit(study, evaluator)
        fit._problem.programs = {cell.run for cell in study.all_cells}
        near = {cell.id: np.array(profile.sensitivities[cell.id]) for cell in fit._problem.near}
        spreads = fit._far_spreads(np.zeros(len(profile.parameters)), profile.covariance, near)
        assert evaluator.simulated == 0
    assert spreads["other"] == pytest.approx(np.mean([profile.spread(cell.id) for cell in fit._problem.near]))


def test_programs_leave_out_what_raw_devices_determine(study: StudySpec) -> None:
    """Slopes of program runs cost most, so parameters that a raw device's calibrated cell knows are not moved there."""
    with Evaluator(1) as evaluator:
        fit = fit_module.Fit(study, evaluator)
        fit._problem.programs = {"both"}
        rows, simulated = fit._rows(np.zeros(len(study.parameters)), fit._problem.near)
        assert np.any(rows["one"] != 0.0)
        left_out = np.abs(rows["one"]) > 0.02
        assert np.all(rows["both"][left_out] == 0.0)
        assert list(simulated["both"]) == list(~left_out)
        assert np.all(simulated["one"])
        fit._problem.programs = set()
        assert np.any(fit._rows(np.zeros(len(study.parameters)), fit._problem.near)[0]["both"] != 0.0)


def test_the_last_jacobian_serves_when_there_were_enough(study: StudySpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one Jacobian the fit still ends within two standard errors: later steps use it again."""
    monkeypatch.setattr(search_module, "FEW_SIMULATIONS", 0)
    monkeypatch.setattr(search_module, "MOST_JACOBIANS", 1)
    with Evaluator(1) as evaluator:
        profile = calibrate(study, evaluator)
    for name, true in small.TRUE_FACTORS.items():
        fitted = next(p for p in profile.parameters if p.name == name)
        assert abs(math.log(fitted.factor / true)) < 2 * fitted.standard_error


def test_many_parameters_are_moved_together(study: StudySpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many of them the spread of raw devices' predicted cells comes from few simulations, and is no slope."""
    monkeypatch.setattr(fit_module, "FEW", 2)
    document = small.small_document({case.id: case.rate for case in study.cases})
    extra = {"name": "parity", "paths": ["machine.cpu.prices.xor_rate"], "sd": "30%", "reason": "no array here"}
    document["parameters"].append(extra)
    with Evaluator(1) as evaluator:
        profile = calibrate(validate(StudySpec, document), evaluator)
    assert set(profile.sensitivities) == {"one", "both"}
    assert 0 < profile.spread("other") < 0.2


def test_profile_survives_its_file(profile: Profile, tmp_path: Path) -> None:
    """Saving and loading gives the same profile, and leaves no other file behind."""
    path = tmp_path / "deep" / "small.yaml"
    profile.save(path)
    assert load_profile(path) == profile
    assert [p.name for p in path.parent.iterdir()] == ["small.yaml"]


def test_an_interrupted_save_leaves_the_old_profile(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the file is being written: the last complete profile is still there, and nothing else."""
    path = tmp_path / "small.yaml"
    profile.save(path)
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        profile.model_copy(update={"discrepancy": 0.5}).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["small.yaml"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("factor: ", "factor: -", "factor"),
        ("discrepancy:", "discrepancies:", "unknown key 'discrepancies'"),
        ("converged: true", "converged: maybe", "converged"),
    ],
)
def test_a_broken_profile_is_named(profile: Profile, tmp_path: Path, old: str, new: str, message: str) -> None:
    """A stored profile that was edited by hand is refused with its place, never half used."""
    path = tmp_path / "small.yaml"
    profile.save(path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        load_profile(path)


def test_fingerprint_follows_what_a_fit_depends_on(study: StudySpec) -> None:
    """Another measured value makes a stored profile stale; another title does not."""
    rates = {case.id: case.rate for case in study.cases}
    document = small.small_document(rates)
    document["title"] = "Another title"
    assert fingerprint(validate(StudySpec, document)) == fingerprint(study)
    rates["one"] *= 1.001
    assert fingerprint(validate(StudySpec, small.small_document(rates))) != fingerprint(study)


def test_profiles_go_where_they_are_told(study: StudySpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``RAIDSIM_HOME`` sets the folder; a file in its place is refused."""
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path))
    assert profile_path(study) == tmp_path / "profiles" / "small.yaml"
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("RAIDSIM_HOME", str(blocked))
    with pytest.raises(InputError, match="not a folder"):
        profile_path(study)


def test_equal_scenarios_are_simulated_once(study: StudySpec) -> None:
    """The evaluator recognizes a run it has done, whatever the case is called."""
    scenario = RunBuilder(study, {}).scenario("one")
    renamed = scenario.model_copy(update={"name": "something else"})
    with Evaluator(1) as evaluator:
        first, second = evaluator.run([scenario, renamed], Sample(read_bytes=4 << 20))
        again = evaluator.run([scenario], Sample(read_bytes=4 << 20))
        assert evaluator.simulated == 1
        assert first == second == again[0]
