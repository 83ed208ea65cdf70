"""Fits of all studies: each is stored when it is complete, is not made twice, and does not end the others'."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.api.support import fitting
from raidsim.api.support.fitting import FittedStudy, calibrate_all, calibrated, fitted_studies
from raidsim.calibration.fit.profile import DOES_NOT_FIT, fingerprint, load_profile
from raidsim.calibration.simulation import evaluator as evaluate
from raidsim.calibration.study.study import StudySpec, load_study, study_names
from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.running import simulate as simulation
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.study import small_study as small

SHORT = Sample(read_bytes=1 << 20, warm_up=0.0)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations are short, and what is kept of them lies in a folder of its own."""
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(evaluate, "simulate", lambda scenario, _: simulation.simulate(scenario, SHORT))


def _study(name: str, rate: float = small.GUESS["one"]) -> StudySpec:
    document = small.small_document({**small.GUESS, "one": rate, "other": rate})
    return validate(StudySpec, {**document, "id": name})


def test_every_profile_is_stored_and_none_is_made_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects a long command that is interrupted: what is complete is there, and only the rest is fitted.

    Counter-test: asked to fit again, it does.
    """
    first, second = _study("first"), _study("second")
    told: list[FittedStudy] = []
    calibrate_all([first], tmp_path, starts=1, workers=0, done=told.append)
    assert load_profile(tmp_path / "first.yaml").fingerprint == fingerprint(first)
    made: list[str] = []

    def noted(study: StudySpec, *rest: object, **more: object) -> object:
        made.append(study.id)
        return calibrated(study, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(fitting, "calibrated", noted)
    found = calibrate_all([first, second], tmp_path, starts=1, workers=0, done=told.append)
    assert made == ["second"]
    assert [each.study.id for each in found] == ["first", "second"]
    assert [each.study.id for each in told] == ["first", "first", "second"]
    calibrate_all([first], tmp_path, starts=1, recalibrate=True, workers=0)
    assert made == ["second", "first"]


def test_a_study_that_cannot_be_fitted_does_not_end_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the profiles of the other studies: the one without says why, and nothing is stored for it."""

    def refused(study: StudySpec, *rest: object, **more: object) -> object:
        if study.id == "first":
            raise InputError("machine", "an impossible one", "expected: another")
        return calibrated(study, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(fitting, "calibrated", refused)
    found = calibrate_all([_study("first"), _study("second")], tmp_path, starts=1, workers=0)
    assert ["impossible" in each.error for each in found] == [True, False]
    assert [path.name for path in tmp_path.glob("*.yaml")] == ["second.yaml"]


def test_a_profile_says_what_is_wrong_with_its_fit(tmp_path: Path) -> None:
    """Protects readers of a profile: one that cannot reach its own cells does not fit, and says so in the file.

    Counter-test: one that does reach them says nothing of it.
    """
    good, bad = _study("good"), _study("bad", 400.0)
    calibrate_all([good, bad], tmp_path, starts=1, workers=0)
    lines = load_profile(tmp_path / "bad.yaml")
    assert lines.discrepancy > DOES_NOT_FIT
    assert any("does not fit" in line for line in lines.failures())
    assert any("does not fit" in line for line in lines.notes)
    assert not any("does not fit" in line for line in load_profile(tmp_path / "good.yaml").notes)


def test_studies_with_nothing_to_calibrate_on_are_left_out() -> None:
    """Protects the count that is shown: a study without parameters or without calibrate cells is none to fit."""
    every = [load_study(name) for name in study_names()]
    found = {study.id for study in fitted_studies(every)}
    assert "larsen-2003" in found
    for study in every:
        if not study.parameters or not study.calibrate_cells:
            assert study.id not in found
