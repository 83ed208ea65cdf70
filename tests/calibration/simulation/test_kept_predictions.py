"""Results that come with raidsim."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from raidsim.calibration.fit.profile import kept_profile
from raidsim.calibration.simulation import kept_predictions
from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.simulation.kept_predictions import FOLDER, KeptPredictions, shown_part
from raidsim.calibration.simulation.study_runs import StudyRuns
from raidsim.calibration.study.study import load_study, study_names
from raidsim.model.core.errors import InputError
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.validation.prediction.comparison import compared
from raidsim.validation.prediction.study_queue import QueuedStudy, simulate_missing

STUDY = "larsen-2003"


@pytest.fixture(scope="module")
def simulated() -> QueuedStudy:
    """A study with all its results."""
    study = load_study(STUDY)
    queued = QueuedStudy.of(study, kept_profile(study), fresh=True)
    done: list[QueuedStudy] = []
    with Evaluator(1) as evaluator:
        simulate_missing([queued], evaluator, done.append)
    assert done == [queued]
    return queued


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where results are kept."""
    monkeypatch.setattr(kept_predictions, "FOLDER", tmp_path)
    return tmp_path


def written(queued: QueuedStudy) -> Path:
    """The file with a study's results."""
    return KeptPredictions(STUDY).write(queued.runs, {key: (each, 1.234) for key, each in queued.results.items()})


def test_results_come_back_to_the_last_bit(simulated: QueuedStudy, folder: Path) -> None:
    """Protects the verification, which compares bits; and the time each took is there for any model."""
    written(simulated)
    found = KeptPredictions(STUDY)
    assert found.results(simulated.runs) == simulated.results
    assert set(found.cpu_s) == set(simulated.runs.asked)
    assert set(found.cpu_s.values()) == {1.2}


def test_a_moved_parameter_has_no_kept_result(simulated: QueuedStudy, folder: Path) -> None:
    """Protects from results of another profile. Counter-test: runs that the parameter does not change stay kept."""
    written(simulated)
    study = simulated.study
    factors = {parameter.name: 1.1 for parameter in study.parameters}
    assert not KeptPredictions(STUDY).results(StudyRuns(study, factors))
    assert simulated.profile is not None
    assert KeptPredictions(STUDY).results(StudyRuns(study, simulated.profile.factors))


def test_another_model_has_no_part_in_it(simulated: QueuedStudy, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it gave is not shown; how long it took still says what to expect."""
    written(simulated)
    monkeypatch.setattr(kept_predictions, "model_fingerprint", lambda: "another")
    found = KeptPredictions(STUDY)
    assert not found.current
    assert found.results(simulated.runs) == {}
    assert found.cpu_s


def test_a_new_figure_is_simulated(simulated: QueuedStudy, folder: Path) -> None:
    """Protects a study that gets a cell: a result without its figure is none."""
    written(simulated)
    asked = simulated.runs.every[0]
    found = KeptPredictions(STUDY)
    figures = simulated.figures[asked.key]
    assert found.get(asked, figures) is not None
    assert found.get(asked, {*figures, "another"}) is None


def test_a_damaged_file_is_refused(simulated: QueuedStudy, folder: Path) -> None:
    """With one message that names the file."""
    (folder / f"{STUDY}.json").write_text('{"model": "x", "runs": [{"run": 1}]}')
    with pytest.raises(InputError, match=rf"{STUDY}\.json: no kept predictions"):
        KeptPredictions(STUDY)


def test_what_is_shown_of_a_run_is_all_that_is_compared(simulated: QueuedStudy) -> None:
    """Protects the tables: with only that part of each result they are the same."""
    with Evaluator(1) as evaluator:
        whole = dict(
            zip((each.key for each in simulated.runs.every), evaluator.answers(simulated.runs.every), strict=True)
        )

    def result(key: str) -> Prediction:
        found = whole[key]
        assert isinstance(found, Prediction)
        return found

    expected = compared(simulated.study, simulated.profile, simulated.runs.predictions(lambda asked: result(asked.key)))
    assert simulated.comparison().document() == expected.document()
    for key, part in simulated.results.items():
        assert part == shown_part(result(key), simulated.figures[key])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_kept_files_are_of_studies_that_there_are(path: Path) -> None:
    """Protects `predict` from files that do not fit, of whatever model they are; `predict` says if that is another."""
    assert path.stem in study_names()
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["study"] == path.stem
    assert len(document["model"]) == 16
    keys = [row["key"] for row in document["runs"]]
    assert len(keys) == len(set(keys))
    kept = KeptPredictions(path.stem)
    assert all(math.isfinite(seconds) and seconds >= 0 for seconds in kept.cpu_s.values())
    assert len(path.read_bytes()) < 2000 * len(keys) + 200
