"""`raidsim validate` as a person runs it: page, JSON, tables, cross-validation, bad input."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import yaml

from raidsim.api.tables import validate as tables
from raidsim.cli.main import main
from raidsim.tests.calibration.study import small_study as small
from raidsim.tests.manual_pages import ROOT, raidsim_command
from raidsim.validation.report.report import NO_SUSPECT


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where profiles go."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def study_file(home: Path) -> Path:
    """The small study of runs, with one parameter to fit and one level besides single drives."""
    document = small.runs_document(
        {"one": 18.0, "both": 110_000.0, "both/seconds": 19.0, "stripe": 108.0, "load": 90.0}
    )
    document["parameters"] = document["parameters"][:1]
    path = home / "runs.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def raidsim(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    with mock.patch.dict(os.environ, {"RAIDSIM_HOME": str(home)}):
        return raidsim_command(ROOT, *arguments)


@pytest.fixture(scope="module")
def printed(home: Path, study_file: Path) -> dict[str, Any]:
    """What --json prints, with all that can be asked for beside it."""
    conformance = home / "conformance.json"
    conformance.write_text('{"layout": {"cases": 4, "matched": 4, "misses": []}}', encoding="utf-8")
    more = ("--html", str(home / "a.html"), "--conformance-json", str(conformance), "--leave-out", "--workers", "1")
    run = raidsim("validate", str(study_file), "--json", *more, home=home)
    assert run.returncode == 0, run.stderr
    document: dict[str, Any] = json.loads(run.stdout)
    return document


def test_the_summary_is_that_of_predict_and_more(home: Path, study_file: Path, printed: dict[str, Any]) -> None:
    """`predict` says the same of the same cells: there is one way of predicting."""
    run = raidsim("predict", str(study_file), "--json", "--workers", "1", home=home)
    predicted = json.loads(run.stdout)
    summary = printed["summary"]
    assert {name: summary[name] for name in predicted["summary"]} == predicted["summary"]
    assert {"coverage_pct", "claims", "baselines"} <= set(summary)
    assert set(summary["baselines"]) == {"rule_of_thumb", "nearest"}
    (ours,), (theirs,) = printed["studies"], predicted["studies"]
    assert [case["predicted"] for case in ours["cases"]] == [case["predicted"] for case in theirs["cases"]]
    assert printed["conformance"]["kinds"]["layout"]["matched"] == 4


@pytest.mark.parametrize(
    ("errors", "unknown", "told"),
    [
        ((10.0, 41.0), 1, "1 predicted cell off by more than 40 %, {} No cause is suspected yet for 1 of these."),
        ((50.0, 41.0), 0, "2 predicted cells off by more than 40 %, {} The suspected causes are in the page (--html)."),
        ((1.0,), 0, "0 predicted cells off by more than 40 %, {}"),
    ],
)
def test_what_is_far_off_is_counted_in_plain_words(
    errors: tuple[float, ...], unknown: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects from "Of 0 of these no cause is suspected yet"."""
    predicted = [SimpleNamespace(compared=SimpleNamespace(error_pct=error)) for error in errors]
    report: Any = SimpleNamespace(predicted=predicted, comparisons=(), studies=(None,))
    monkeypatch.setattr(tables, "suspects", lambda study: {NO_SUSPECT: range(unknown)})
    assert tables.far_off(report) == told.format("0 claims broken.")


def test_levels_are_left_out_in_turn(printed: dict[str, Any]) -> None:
    """Each of the three levels was predicted from the other two."""
    left = {each["level"]: (each["fitted"], each["n"]) for each in printed["leave_out"]}
    assert left == {"RAID 0": (4, 1), "drives side by side": (3, 2), "single drive": (3, 2)}


def test_the_page_is_there_and_nothing_beside_it(home: Path, printed: dict[str, Any]) -> None:
    """One HTML file, whole."""
    assert printed["studies"]
    text = (home / "a.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.endswith("</html>\n")
    assert sorted(path.name for path in home.iterdir()) == ["a.html", "conformance.json", "profiles", "runs.yaml"]


def test_tables_fit_the_page(home: Path, study_file: Path, printed: dict[str, Any]) -> None:
    """Coverage, guesses and groups; what was not run is said."""
    run = raidsim("validate", str(study_file), "--workers", "1", home=home)
    assert run.returncode == 0, run.stderr
    for words in ("Inside their 90 % interval", "nearest measured layout", "drives side by side", "Not run for this"):
        assert words in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 100
    assert printed["failed"] == []


def test_what_changes_without_a_mechanism_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table for people, with a line for each study before; with --json the object alone, and the lines on stderr."""
    document = small.runs_document()
    document |= {"parameters": [], "claims": [], "suspects": []}
    document["runs"] = {"load": document["runs"]["load"]}
    document["cells"] = [cell for cell in document["cells"] if cell["run"] == "load"]
    path = tmp_path / "load.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path))
    arguments = ["validate", str(path), "--workers", "0", "--without", "hard_disk.read_overhead,raid5.hold"]
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    shown = capsys.readouterr()
    assert "1 of 1 predicted cells change by 1 % or more, most of all load +" in shown.out
    assert "Without a mechanism" in shown.out
    with pytest.raises(SystemExit, match="0"):
        main([*arguments, "--json"])
    printed = capsys.readouterr()
    (found,) = json.loads(printed.out)["mechanisms"]
    assert found["without"] == ["hard_disk.read_overhead", "kernel.raid5.hold"]
    assert found["moved"] == 1
    assert found["studies"][0]["cells"][0]["change_pct"] > 1
    assert "runs without hard_disk.read_overhead, kernel.raid5.hold: 1 of 1" in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no-such-study",), "neither a study nor a file"),
        (("--html", "missing/a.html"), "there is no folder"),
        (("--html", "."), "is no file"),
        (("--conformance-json", "missing.json"), "missing.json"),
        (("--conformance", "--conformance-json", "x.json"), "one of the two"),
        (("--workers", "-1"), "--workers"),
        (("--without", "barrier"), "expected: all, or of kernel.raid1.barrier, kernel.raid10.barrier"),
        (("--without", "all", "--leave-out"), "--leave-out too"),
        (("--without", "all", "--recalibrate"), "--recalibrate too"),
    ],
)
def test_bad_arguments_give_one_message_and_status_2(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is computed and nothing written for what cannot be used."""
    monkeypatch.setenv("RAIDSIM_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["validate", *arguments])
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_a_page_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the extra that has it; nothing is simulated first."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as end:
        main(["validate", "--html", str(tmp_path / "a.html")])
    assert end.value.code == 2
    assert "matplotlib is not installed; expected, in the checkout: " in capsys.readouterr().err
