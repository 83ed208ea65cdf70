"""When a kept profile is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.calibration.fit import profile
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
