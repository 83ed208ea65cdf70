"""`raidsim study`: from fio's reports to a study, and what it lacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from raidsim.cli.main import main
from raidsim.model.files.description_errors import validate
from raidsim.validation.prediction.first_shots import FirstShots, load_first_shots

JOB = "[reads]\nfilename=/dev/disk0\nrw=randread\nbs=4k\ndirect=1\nioengine=libaio\niodepth=4\nruntime=1\ntime_based\n"
MACHINE = "machine: {drives: {model: WD5000AAKS, count: 1}}\nworkload: {}\n"


def report(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A report in JSON, made by `raidsim fio`."""
    (folder / "job.fio").write_text(JOB, encoding="utf-8")
    (folder / "machine.yaml").write_text(MACHINE, encoding="utf-8")
    main_ok(["fio", str(folder / "job.fio"), "--machine", str(folder / "machine.yaml"), "--json"])
    path = folder / "one.json"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


def main_ok(arguments: list[str]) -> None:
    """Run a command that is to end well."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code in (0, None)


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message of a command that ends with status 2."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_report_becomes_a_study_that_can_be_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the way from files to a table, as a user goes it."""
    path, study = report(tmp_path, capsys), tmp_path / "own.yaml"
    main_ok(["study", "new", "own", "--on-drive", str(path), "--drive", "WD5000AAKS", "--count", "2", "-o", str(study)])
    capsys.readouterr()
    main_ok(["study", "check", str(study), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["study"] == "own"
    assert set(found["run_s"]) == {"drive/one"}
    assert any("source.author" in problem for problem in found["problems"])
    main_ok(["study", "check", str(study)])
    assert "of CPU time" in capsys.readouterr().out


def test_a_file_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects a study that somebody has filled in."""
    path, study = report(tmp_path, capsys), tmp_path / "own.yaml"
    study.write_text("mine", encoding="utf-8")
    told = refused(["study", "new", "own", "--on-drive", str(path), "--drive", "WD5000AAKS", "-o", str(study)], capsys)
    assert "own.yaml" in told
    assert study.read_text(encoding="utf-8") == "mine"


def test_a_first_shot_is_made_once_and_shows_no_single_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second call is refused and changes nothing; a note is added to what is kept."""
    kept = tmp_path / "shots.yaml"
    arguments = ["study", "first-shot", "sartor-2024", "--output", str(kept), "--workers", "0"]
    main_ok(arguments)
    told = capsys.readouterr().out
    assert "sartor-2024: first shot of" in told
    assert "4 predicted cells" in told
    assert "nvme/raid10" not in told
    before = kept.read_text(encoding="utf-8")
    assert "is kept" in refused(arguments, capsys)
    assert kept.read_text(encoding="utf-8") == before
    main_ok([*arguments, "--note", "the chunk was wrong"])
    after = load_first_shots(kept).shots["sartor-2024"]
    assert [each.text for each in after.notes] == ["the chunk was wrong"]
    assert after.errors_pct == validate(FirstShots, yaml.safe_load(before)).shots["sartor-2024"].errors_pct


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["study", "make", "own"], "expected: new, check or first-shot"),
        (["study", "new", "own"], "--drive"),
        (["study", "check", "gentoo-2004", "--drive", "WD5000AAKS"], "expected: with new"),
        (["study", "check", "no-such-study"], "no-such-study"),
        (["study", "check", "gentoo-2004", "--note", "x"], "expected: with first-shot"),
        (["study", "first-shot", "hickey-2023"], "its first shot of 2026-11-28 is kept"),
        (["study", "first-shot", "gentoo-2004", "--note", "x"], "no first shot of gentoo-2004"),
        (["study", "new", "own", "--drive", "WD5000AAKS", "--on-drive", "absent.json"], "absent.json"),
    ],
)
def test_bad_input_gets_one_message(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects against a traceback."""
    assert told in refused(arguments, capsys)
