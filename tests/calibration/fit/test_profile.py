"""When a kept profile is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.calibration.fit import profile
from raidsim.calibration.fit.profile import kept_profile, prediction_fingerprint
from raidsim.calibration.study.study import load_study, study_names


def test_a_profile_is_out_of_date_when_code_or_data_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Protects predictions from profiles of another model or catalogue. Counter-test: texts, studies, other profiles
    and the page change nothing.
    """
    study = load_study(study_names()[0])
    monkeypatch.setattr(profile, "ROOT", tmp_path)

    def after(name: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("changed", encoding="utf-8")
        return profile.fingerprint(study)

    changed = ("model/disk/media.py", "model/drives/a.yaml", "scenarios/a.py", "calibration/fit/fit.py")
    known = [profile.fingerprint(study), *map(after, changed)]
    assert len(set(known)) == 5
    for name in ("model/a.txt", "calibration/studies/a.yaml", "calibration/profiles/a.yaml", "web/a.py"):
        assert after(name) == known[-1], name


def test_predictions_follow_from_model_study_and_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects kept predictions and accuracies: each of the three changes their hash, what is only shown does not."""
    study = load_study("prinkey-2002")
    fitted = kept_profile(study)
    assert fitted is not None
    first, *others = fitted.parameters
    moved = fitted.model_copy(update={"parameters": (first.model_copy(update={"factor": 1.1 * first.factor}), *others)})
    before = prediction_fingerprint(study, fitted)
    renamed = study.model_copy(update={"title": "another", "suspects": ()})
    assert prediction_fingerprint(renamed, fitted.model_copy(update={"message": "another"})) == before
    celled = study.model_copy(update={"cells": study.cells[1:]})
    changed = [(study, moved), (study, None), (celled, fitted)]
    assert len({before, *(prediction_fingerprint(*each) for each in changed)}) == 4
    monkeypatch.setattr(profile, "model_fingerprint", lambda: "another")
    assert prediction_fingerprint(study, fitted) != before
