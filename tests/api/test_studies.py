"""Studies, asked for from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import raidsim
from raidsim.calibration.fio_study import study as fio_study
from raidsim.calibration.simulation import evaluator as evaluate
from raidsim.scenarios.running import simulate as simulation
from raidsim.scenarios.running.base.sample import Sample
from raidsim.tests.calibration.fio_study.fio_reports import MACHINE, randread, report
from raidsim.tests.calibration.study import small_study

SHORT = Sample(read_bytes=1 << 20, warm_up=0.0)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations are short, and what is kept of them lies in a folder of its own."""
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(evaluate, "simulate", lambda scenario, _: simulation.simulate(scenario, SHORT))


def test_a_study_is_predicted_fitted_and_judged(tmp_path: Path) -> None:
    """Protects the three questions about a study: they agree on its figures, row by row."""
    file = tmp_path / "runs.yaml"
    measured = {"one": 18.0, "both": 110_000.0, "both/seconds": 19.0, "stripe": 108.0, "load": 90.0}
    file.write_text(yaml.safe_dump(small_study.runs_document(measured)), encoding="utf-8")
    fitted = raidsim.calibrate(str(file), workers=0, progress=False)
    assert list(fitted.to_frame()["parameter"]) == list(fitted.factors)
    fitted.save(tmp_path / "profile.yaml")
    assert (tmp_path / "profile.yaml").is_file()
    with pytest.raises(raidsim.InputError, match="measurements of fio"):
        fitted.scenario()
    predicted = raidsim.predict(str(file), workers=0, progress=False)
    judged = raidsim.validate(str(file), workers=0, progress=False)
    assert predicted.failed == {}
    frame = predicted.to_frame()
    assert frame.equals(judged.to_frame())
    assert len(frame) == len(predicted.cells)
    assert set(frame["use"]) == {"calibrate", "predict"}
    assert json.loads(judged.to_json())["schema"] == "raidsim.validation"
    assert predicted.summary == predicted.to_dict()["summary"]
    assert "figures" in repr(predicted)


def test_own_measurements_become_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects a fit to fio's own reports: the fitted machine is a scenario that can be run."""
    monkeypatch.setattr(fio_study, "_IOS", 200)
    folder = tmp_path / "fio"
    folder.mkdir()
    (folder / "machine.yaml").write_text(MACHINE, encoding="utf-8")
    (folder / "random.json").write_text(report(randread(), shared={"direct": "1"}), encoding="utf-8")
    fitted = raidsim.calibrate(folder, workers=0, progress=False)
    assert fitted.notes[0].startswith("fitted as ")
    assert fitted.scenario().name.startswith("fitted machine")
    assert fitted.scenario().spec.machine.drives
    with pytest.raises(raidsim.InputError, match="expected: a folder"):
        raidsim.calibrate("gentoo-2004", drive="WD5000AAKS")
