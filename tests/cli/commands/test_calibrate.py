"""`raidsim calibrate` as a person runs it: a tiny study on the real simulator, failures, and the learnt table."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from raidsim.calibration.fit import profile as profile_module
from raidsim.calibration.fit.profile import data_fingerprint, load_profile
from raidsim.calibration.study.study import load_study
from raidsim.calibration.uncertainty.discrepancy import DiscrepancyTable
from raidsim.cli import main as cli
from raidsim.cli.commands import calibrate as command
from raidsim.model.files.description_errors import load_spec
from raidsim.tests.calibration.study import small_study as small

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; returns its exit status, and what it printed."""

    def call(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["calibrate", *arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out or err

    return call


@pytest.fixture(scope="module")
def rates() -> dict[str, float]:
    """What the model measures on the small study's machine with the true factors."""
    return {case.id: case.rate for case in small.small_study().cases}


@pytest.fixture
def study_file(rates: dict[str, float], tmp_path: Path) -> Callable[..., str]:
    """Writes the small study, with some measured rates changed."""

    def write(**changed: float) -> str:
        path = tmp_path / "small.yaml"
        path.write_text(yaml.safe_dump(small.small_document({**rates, **changed})), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.slow
def test_known_parameters_come_back(run: Run, study_file: Callable[..., str], tmp_path: Path) -> None:
    """Real simulations of a tiny study, two starts: both find the factors it was measured with, and the errors and
    the likelihood's interval hold them; the profile is kept.
    """
    kept = tmp_path / "profile.yaml"
    options = ("--starts", "2", "--profile", "bus", "--workers", "1", "--output", str(kept), "--json")
    status, out = run(study_file(), *options)
    document = json.loads(out)
    assert status == 0
    assert document["failures"] == []
    assert [start["differs_in"] for start in document["starts"]] == [[], []]
    for each in document["parameters"]:
        true = small.TRUE_FACTORS[each["name"]]
        assert abs(math.log(each["factor"] / true)) < 2 * each["standard_error"]
        assert each["bounds"][0] < each["factor"] < each["bounds"][1]
    low, high = document["parameters"][1]["interval"]
    assert low < small.TRUE_FACTORS["bus"] < high
    profile = load_profile(kept)
    assert profile.factors == {each["name"]: each["factor"] for each in document["parameters"]}
    assert profile.evaluations == document["evaluations"] > 1
    assert document["starts"][0]["start"] == [1.0, 1.0]
    status, out = run(study_file(), "--from", str(kept), "--workers", "1", "--json")
    document = json.loads(out)
    assert status == 0
    assert document["starts"][0]["start"] == pytest.approx(list(profile.factors.values()))


def test_a_search_begins_at_no_other_studys_profile(run: Run, study_file: Callable[..., str], tmp_path: Path) -> None:
    """Protects from factors of other things, and from some that are missing."""
    other = tmp_path / "other.yaml"
    other.write_text((profile_module._KEPT / "larsen-2003.yaml").read_text())
    status, err = run(study_file(), "--from", str(other))
    assert status == 2
    assert "--from: a profile of larsen-2003 without bus, and with none; expected: the study's parameters" in err


@pytest.mark.slow
def test_starts_are_a_table(run: Run, study_file: Callable[..., str]) -> None:
    """Each start has its cost, how far its parameters are from the best one's, and what that means; JSON has it all."""
    status, out = run(study_file(), "--starts", "2", "--profile", "all", "--workers", "1", "--json")
    document = json.loads(out)
    assert status == 0
    assert all(each["interval"][0] < each["factor"] < each["interval"][1] for each in document["parameters"])
    assert all(each["reason"] for each in document["parameters"])
    assert min(start["worse"] for start in document["starts"]) == 0
    for start in document["starts"]:
        assert len(start["distances"]) == 2
        assert max(start["distances"]) < 1.645
        assert start["verdict"] == "the same"
    status, out = run(study_file(), "--starts", "2", "--workers", "1")
    words = " ".join(out.split())
    assert status == 0
    assert "furthest from the best, in standard errors" in words
    assert words.count("the best") == 3  # in the heading, of its row, and in the sentence below
    assert "the same" in words
    assert "2 of 2 starts ended at the best one" in words


def test_a_fit_at_its_bound_is_a_failure(run: Run, study_file: Callable[..., str]) -> None:
    """A bus that would have to be four times as slow: status 1, and the words say what stopped where."""
    status, out = run(study_file(both=25.0), "--workers", "1")
    assert status == 1
    words = " ".join(out.split())
    failed = "The fit failed: bus stopped at a bound, 3 prior standard deviations away; check the prior of bus"
    assert 0 < words.index(failed) < words.index("prior fitted factor")
    assert words.index("Not explained: ") < words.index("prior fitted factor")
    assert "media rate (and 1 more value)" in words
    assert "MiB/s ± 20 %" in words


def test_bad_input_is_refused(run: Run, study_file: Callable[..., str]) -> None:
    """No study, a study and a table at once, an unknown parameter: status 2 and what is expected."""
    assert run() == (
        2,
        "error: calibrate: no study; expected: a name that raidsim studies lists, a file, or --from-fio\n",
    )
    assert run("small", "--learn-discrepancy", "a.json")[0] == 2
    status, err = run(study_file(), "--profile", "heads")
    assert status == 2
    assert "unknown parameter 'heads'; expected: media rate, bus, all" in err


def test_a_profile_of_a_choice_is_not_written(run: Run, study_file: Callable[..., str], tmp_path: Path) -> None:
    """Protects profiles from values that the study does not have: --output beside --choose is refused at once."""
    path = tmp_path / "profile.yaml"
    status, err = run(study_file(), "--choose", "kernel=linux-2.4.26,linux-2.6.11", "--output", str(path))
    assert (status, path.exists()) == (2, False)
    assert err == ("error: --output: a profile of a choice; expected: once the study's file says what was chosen\n")


@pytest.fixture
def predictions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What `predict --json` prints of a study that comes with raidsim, with a profile kept where it looks."""
    study = load_study("larsen-2003")
    document: dict[str, Any] = {
        "study": study.id,
        "fingerprint": "",
        "data": data_fingerprint(study),
        "parameters": [
            {"name": p.name, "factor": 1.0, "standard_error": 0.1, "prior_sd": p.sd} for p in study.parameters
        ],
        "correlation": [[1.0]],
        "discrepancy": 0.0,
        "sensitivities": {cell.id: [1.0] for cell in study.all_cells},
        "simulations": 1,
        "converged": True,
        "message": "",
    }
    monkeypatch.setattr(profile_module, "_KEPT", tmp_path)
    (tmp_path / f"{study.id}.yaml").write_text(yaml.safe_dump(document))
    cases = [{"id": cell.id, "predicted": 1.5 * cell.measured} for cell in study.all_cells]
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"studies": [{"id": study.id, "profile": document, "cases": cases}]}))
    return str(path)


def test_the_table_of_discrepancies_is_written(
    run: Run, predictions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Predictions become a row; studies that are still missing are named with status 1, and none is status 0."""
    table = tmp_path / "table.yaml"
    monkeypatch.setattr(command, "load_table", lambda: DiscrepancyTable(date="", source="", studies={}))
    monkeypatch.setattr(command, "lacking", lambda table: ["prinkey-2002"] if len(table.studies) < 2 else [])
    status, out = run("--learn-discrepancy", predictions, "--output", str(table))
    assert status == 1
    assert "prinkey-2002 has predicted cells and is not in the table" in out
    learnt = load_spec(DiscrepancyTable, table)
    assert learnt.studies["larsen-2003"]["disk"]["raw"].errors[0] == pytest.approx(math.log(1.5), abs=1e-4)
    row = learnt.studies["larsen-2003"]
    before = DiscrepancyTable(date="", source="", studies={"prinkey-2002": row})
    monkeypatch.setattr(command, "load_table", lambda: before)
    status, out = run("--learn-discrepancy", predictions, "--output", str(table), "--json")
    assert status == 0
    assert json.loads(out)["lacking"] == []


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["larsen-2003", "--all"], "the study larsen-2003"),
        (["--all", "--choose", "kernel=linux-2.6.7"], "--choose"),
        (["--recalibrate", "larsen-2003"], "without --all"),
    ],
)
def test_all_is_refused_beside_one(run: Run, arguments: list[str], found: str) -> None:
    """Protects a long command from being started for one study, and options that it would ignore."""
    status, told = run(*arguments)
    assert status == 2
    assert found in told
