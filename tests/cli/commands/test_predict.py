"""`raidsim predict` as a person runs it: JSON, table, stored profile, interruption, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from raidsim.api.support import predicting
from raidsim.calibration.simulation import kept_predictions
from raidsim.calibration.study import study as study_module
from raidsim.cli import main as cli
from raidsim.tests.manual_pages import ROOT, raidsim_command

INTERRUPTIBLE = ("env", "--default-signal=INT")
"""Whoever runs the tests in the background ignores interrupts, and so would what they start."""
STUDY = "larsen-2003"
"""A quick one, with a profile that comes with raidsim."""
SOURCE = Path(study_module.__file__).parents[1] / "studies" / "gentoo-2004.yaml"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where profiles go."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def study_file(home: Path) -> Path:
    """The single-drive reads and one pair of one kernel, with one array to predict: quick to fit."""
    document = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    document["id"] = "reads"
    kept = ("2.6.8/hde/read", "2.6.8/hdg/read", "2.6.8/hde+hdg/read", "2.6.8/raid1/read")
    document["cases"] = [case for case in document["cases"] if case["id"] in kept]
    fitted = ("media rate hde", "media rate hdg", "PCI rate", "read call")
    document["parameters"] = [each for each in document["parameters"] if each["name"] in fitted]
    used = {case["array"] for case in document["cases"] if "array" in case}
    document["arrays"] = {name: array for name, array in document["arrays"].items() if name in used}
    for section in ("encrypted", "workloads", "runs"):
        document[section] = {}
    document["cells"] = document["suspects"] = []
    faster = {"left": "2.6.8/hde+hdg/read:rate", "right": "2.6.8/raid1/read:rate"}
    document["claims"] = [
        {"id": "pair", "gist": "two drives beat a mirror", "where": "-", **faster, "ratio": [1.5, None]},
        {"id": "ten", "gist": "by a factor of ten", "where": "-", **faster, "ratio": [10.0, None]},
    ]
    document["missing"] = [
        {"id": f"tar/{name}", "measured": 1.0, "unit": "s", "needs": "another file system"} for name in ("a", "b")
    ]
    path = home / "reads.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def raidsim(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run the command; its simulations are in processes of their own where a test does not say how many workers."""
    with mock.patch.dict(os.environ, {"RAIDSIM_HOME": str(home)}):
        return raidsim_command(ROOT, *arguments)


@pytest.fixture(scope="module")
def document(home: Path, study_file: Path) -> dict[str, Any]:
    """What --json prints."""
    run = raidsim("predict", str(study_file), "--json", "--workers", "1", home=home)
    assert run.returncode == 0, run.stderr
    printed: dict[str, Any] = json.loads(run.stdout)
    return printed


def test_json_has_the_documented_shape(document: dict[str, Any]) -> None:
    """One object: studies with cases and missing cells, and a summary per use."""
    (study,) = document["studies"]
    assert study["id"] == "reads"
    assert len(study["cases"]) == 4
    for case in study["cases"]:
        assert {"id", "use", "unit", "measured", "predicted", "error_pct", "interval", "bottleneck"} <= set(case)
        low, high = case["interval"]
        assert low < case["predicted"] < high
        assert case["run"] == case["id"]
        assert case["figure"] == "rate"
    assert [case["id"] for case in study["missing"]] == ["tar/a", "tar/b"]
    assert all(case["needs"] for case in study["missing"])
    for use, count in (("calibrate", 3), ("predict", 1)):
        figures = document["summary"][use]
        assert figures["n"] == count
        assert figures["median_error_pct"] <= figures["p90_error_pct"] <= figures["worst_error_pct"]
    assert document["summary"]["missing"] == 2
    assert document["seed"] == study["summary"] == document["summary"]
    assert document["failed"] == []


def test_claims_have_their_number(document: dict[str, Any]) -> None:
    """Of two claims about one ratio the right one holds, and what was measured says the same of both."""
    pair, ten = document["studies"][0]["claims"]
    assert pair["holds"] is pair["supported"] is True
    assert ten["holds"] is ten["supported"] is False
    assert pair["value"] == ten["value"] == pytest.approx(pair["measured"], rel=0.1)
    assert document["summary"]["claims"] == {"n": 2, "held": 1}


def test_a_mirror_is_predicted_from_its_drives(document: dict[str, Any]) -> None:
    """Fitted on two drives and their pair, one reader on the mirror comes out within 10 % of the 60.4 measured."""
    case = next(case for case in document["studies"][0]["cases"] if case["use"] == "predict")
    assert case["error_pct"] < 10


@pytest.mark.slow
def test_the_stored_profile_is_used_again(home: Path, study_file: Path, document: dict[str, Any]) -> None:
    """A second run gives the same numbers without fitting; --recalibrate fits again, to the same bits."""
    profile = home / "profiles" / "reads.yaml"
    before = profile.stat().st_mtime_ns
    again = raidsim("predict", str(study_file), "--json", home=home)
    assert json.loads(again.stdout) == document
    assert profile.stat().st_mtime_ns == before
    fresh = raidsim("predict", str(study_file), "--json", "--recalibrate", home=home)
    assert json.loads(fresh.stdout)["studies"][0]["cases"] == document["studies"][0]["cases"]
    assert profile.stat().st_mtime_ns > before


def test_the_table_says_what_a_reader_needs(home: Path, study_file: Path, document: dict[str, Any]) -> None:
    """Cases, errors, intervals, the summaries, and what is missing; nothing wider than the page."""
    run = raidsim("predict", str(study_file), "--workers", "1", home=home)
    assert run.returncode == 0
    for words in (
        "2.6.8/raid1/read",
        "60.40",
        "90 % interval",
        "1 cell: median error",
        "2 more cells",
        "tar/a, tar/b: another file system",
        "1 of 2 claims hold",
        "ten does not hold: no mechanism",
    ):
        assert words in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 100
    assert document["studies"]


def test_one_failing_study_does_not_lose_the_others(home: Path, study_file: Path, document: dict[str, Any]) -> None:
    """A run that cannot be simulated costs its own study: status 1, the reason on stderr, the others as ever."""
    text = study_file.read_text(encoding="utf-8")
    broken = yaml.safe_load(text)
    broken["id"] = "broken"
    broken["parameters"] = broken["cases"] = broken["missing"] = []
    load = {"kind": "load", "targets": ["hde"], "block_size": "1GiB", "warm_up": "0s", "duration": "1ns"}
    broken["runs"] = {"r": {"kernel": "linux-2.6.8", "workload": load}}
    broken["cells"] = [{"id": "r", "use": "predict", "run": "r", "figure": "iops", "measured": 1.0, "unit": "1/s"}]
    broken["claims"] = []
    path = home / "broken.yaml"
    path.write_text(yaml.safe_dump(broken), encoding="utf-8")
    run = raidsim("predict", str(path), str(study_file), "--json", home=home)
    assert run.returncode == 1
    printed = json.loads(run.stdout)
    assert [each["id"] for each in printed["studies"]] == [each["id"] for each in document["studies"]]
    assert [each["id"] for each in printed["failed"]] == ["broken"]
    assert "broken could not be predicted" in run.stderr
    assert "Traceback" not in run.stderr
    tables = raidsim("predict", str(path), str(study_file), "--workers", "1", home=home)
    assert tables.returncode == 1
    for words in ("Predicted cells of all studies", "1 of the five reports", "1/2", "failed"):
        assert words in tables.stdout
    assert max(map(len, tables.stdout.splitlines())) <= 100


def test_a_broken_profile_is_fitted_again_and_said_so(home: Path, study_file: Path, document: dict[str, Any]) -> None:
    """A damaged stored profile costs a new fit and one line on stderr, not the run."""
    profile = home / "profiles" / "reads.yaml"
    profile.write_text("study: 3\n", encoding="utf-8")
    run = raidsim("predict", str(study_file), "--json", "--workers", "1", home=home)
    assert run.returncode == 0
    assert "a stored profile cannot be used" in run.stderr
    assert json.loads(run.stdout)["studies"][0]["cases"] == document["studies"][0]["cases"]


def test_ctrl_c_leaves_the_last_profile_intact(home: Path, study_file: Path, document: dict[str, Any]) -> None:
    """An interrupt in the middle of a fit ends with status 130 and one line; the stored profile is untouched."""
    profile = home / "profiles" / "reads.yaml"
    before = profile.read_bytes()
    command = [sys.executable, "-m", "raidsim", "predict", "gentoo-2004", str(study_file), "--recalibrate"]
    environment = {**os.environ, "RAIDSIM_HOME": str(home)}
    process = subprocess.Popen(
        [*INTERRUPTIBLE, *command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(4.0)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert profile.read_bytes() == before
    assert [p.name for p in profile.parent.iterdir()] == ["reads.yaml"]
    assert document["studies"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of kept results, and a home, of this test's own."""
    monkeypatch.setattr(kept_predictions, "FOLDER", tmp_path / "predictions")
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path / "home"))
    return tmp_path / "predictions"


def predict(*arguments: str) -> int:
    """Run the command in this process; its status."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["predict", STUDY, "--workers", "1", *arguments])
    return int(ended.value.code or 0)


def test_kept_results_are_shown_and_verified(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the answer at once: the table is there before any simulation, and the rows are said to be kept."""
    assert predict("--keep") == 0
    assert "6 runs, " in capsys.readouterr().out
    assert predict("--keep") == 0
    assert "kept for this model already" in capsys.readouterr().out
    assert predict("--kept") == 0
    without_verdict = capsys.readouterr().out
    with mock.patch.object(predicting, "verify", side_effect=KeyboardInterrupt):
        assert predict() == 130
    at_once = capsys.readouterr().out
    assert "Every row is a kept result of this model" in at_once
    assert at_once == without_verdict
    assert predict() == 0
    verified = capsys.readouterr().out
    assert verified.startswith(at_once)
    assert "All 6 kept results are verified" in verified
    assert predict("--fresh") == 0
    fresh = capsys.readouterr().out
    assert "kept" not in fresh
    lines = [line for line in at_once.splitlines() if "kept" not in line]
    assert fresh.splitlines() == lines


def test_a_wrong_kept_result_is_found(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A falsified result is named, the table with what was simulated follows, and the status is 1."""
    assert predict("--keep") == 0
    path = kept / f"{STUDY}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    row = document["runs"][0]
    figure = next(iter(row["prediction"]["figures"]))
    row["prediction"]["figures"][figure] *= 1.01
    path.write_text(json.dumps(document), encoding="utf-8")
    capsys.readouterr()
    assert predict() == 1
    shown = capsys.readouterr().out
    assert "1 of 6 kept results are wrong" in shown
    assert row["run"] in shown.partition("are wrong")[2]
    assert predict("--json") == 1
    printed = json.loads(capsys.readouterr().out)
    assert [each["run"] for each in printed["kept"]["wrong"]] == [row["run"]]
    assert not any(case["kept"] for case in printed["studies"][0]["cases"])
    assert predict("--fresh") == 0


def test_results_of_another_model_are_not_shown(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What another model gave is no result of this one: it is said, and everything is simulated."""
    assert predict("--keep") == 0
    path = kept / f"{STUDY}.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    for row in document["runs"]:
        row["prediction"]["seconds"] = 1e9
    path.write_text(json.dumps({**document, "model": "0123456789abcdef"}), encoding="utf-8")
    capsys.readouterr()
    assert predict("--json") == 0
    printed, said = capsys.readouterr()
    assert "no study is kept for this model" in said
    assert predict("--kept") == 0
    assert STUDY in capsys.readouterr().err
    assert predict("--json") == 0
    printed, said = capsys.readouterr()
    assert json.loads(printed)["kept"] == {"runs": 0, "wrong": []}
    assert "1000000000" not in printed


def test_a_home_that_cannot_be_written_is_said_so(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects from a silent loss: the simulations run all the same."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path / "file" / "home"))
    assert predict("--fresh") == 0
    shown, said = capsys.readouterr()
    assert "Predicted" in shown
    assert said.count("an interruption would lose them") == 1


@pytest.mark.parametrize("other", ["--json", "--recalibrate"])
def test_keep_prints_nothing_else(kept: Path, other: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects maintainers from waiting for what is not printed."""
    assert predict("--keep", other) == 2
    assert f"{other} too" in capsys.readouterr().err
    assert not kept.exists()


@pytest.mark.parametrize("other", ["--fresh", "--keep"])
def test_only_kept_results_are_not_simulated(kept: Path, other: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects from two wishes that contradict each other."""
    assert predict("--kept", other) == 2
    assert "expected: one of the two" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-such-study",), "neither a study nor a file"),
        (("missing.yaml",), "no such file"),
        (("--plot", "x.doc"), "--plot"),
        (("--workers", "-1"), "--workers"),
    ],
)
def test_bad_arguments_give_one_message_and_status_2(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    """Nothing is computed and nothing written for what cannot be used."""
    run = raidsim("predict", *arguments, home=tmp_path)
    assert run.returncode == 2
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_bad_study_file_gives_status_2(tmp_path: Path) -> None:
    """The message names file, line and field."""
    path = tmp_path / "bad.yaml"
    path.write_text(SOURCE.read_text(encoding="utf-8").replace("memory: 1GiB", "memory: lots", 1), encoding="utf-8")
    run = raidsim("predict", str(path), home=tmp_path / "home")
    assert run.returncode == 2
    assert "bad.yaml:" in run.stderr
    assert "machine.memory" in run.stderr
    assert not (tmp_path / "home").exists()
