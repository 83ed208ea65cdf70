"""`raidsim calibrate --from-fio` as a person runs it: from a folder of reports to a machine that can be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidsim.calibration.fio_study import study as fio_study
from raidsim.calibration.fit.profile import load_profile
from raidsim.calibration.study.study import load_study
from raidsim.cli import main as cli
from raidsim.tests.calibration.fio_study.fio_reports import MACHINE, direction, job, randread, report


def run(*arguments: str) -> object:
    """Exit status of the command line; 0 if it simply ends."""
    try:
        cli.main(list(arguments))
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of a disk that turns, simulated for a moment each."""
    monkeypatch.setattr(fio_study, "_IOS", 200)
    monkeypatch.setitem(fio_study._FIRST_SECONDS, True, "1s")
    path = tmp_path / "fio"
    path.mkdir()
    (path / "machine.yaml").write_text(MACHINE, encoding="utf-8")
    large = job("read", {"rw": "read", "bs": "1m"}, read=direction(2000, 80.0, 1 << 20, 0.0125, 0.014))
    (path / "large.json").write_text(report(large), encoding="utf-8")
    (path / "random.json").write_text(report(randread(), shared={"direct": "1"}), encoding="utf-8")
    (path / "buffered.json").write_text(report(randread(direct=0)), encoding="utf-8")
    return path


def test_from_reports_to_a_machine(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the whole way on the command line: profile, study and machine are files that the other commands take."""
    output, study = tmp_path / "disk.yaml", tmp_path / "study.yaml"
    files = ["--output", str(output), "--study", str(study)]
    assert run("calibrate", "--from-fio", str(folder), *files, "--workers", "1", "--json") in (0, 1)
    out, err = capsys.readouterr()
    assert json.loads(out)["study"] == "fio"
    assert "fitted as a 7200 rpm drive, " in err
    assert "note: buffered iops: needs direct=1" in err
    assert [parameter.name for parameter in load_profile(output).parameters][:2] == ["media rate", "seeks"]
    assert list(load_study(str(study)).runs) == ["large", "random"]
    assert run("run", str(tmp_path / "disk.scenario.yaml")) == 0
    assert "reads/s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--drive", "WD5000AAKS"], "--drive: found without --from-fio"),
        (["gentoo-2004", "--from-fio", "FOLDER"], "gentoo-2004 and --from-fio; expected: one of the two"),
        (["--from-fio", "nowhere"], "nowhere: no folder"),
        (["--from-fio", "EMPTY"], "no report of fio"),
        (["--from-fio", "FOLDER", "--drive", "none such"], "none such"),
        (["--from-fio", "FOLDER", "--drive", "WD800JB"], "large enough"),
        (["--from-fio", "FOLDER", "--study", "nowhere/x.yaml"], "--study: nowhere/x.yaml"),
        (["--from-fio", "FOLDER", "--machine", "x.yaml", "--drive", "WD800JB"], "--drive: found beside --machine"),
    ],
)
def test_refusals(
    folder: Path, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Protects from fits of something else than was meant: one message, status 2."""
    (tmp_path / "empty").mkdir()
    (folder / "far.json").write_text(report(randread(size="90g")), encoding="utf-8")
    named = {"FOLDER": str(folder), "EMPTY": str(tmp_path / "empty")}
    assert run("calibrate", *(named.get(each, each) for each in arguments)) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_an_array_needs_its_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects from one drive in the place of an array."""
    array = MACHINE.replace("members: []", "members: [sda, sdb]").replace("name: sda", "name: md0")
    (folder / "machine.yaml").write_text(array, encoding="utf-8")
    assert run("calibrate", "--from-fio", str(folder)) == 2
    assert "md0, which is made of sda, sdb; required: --machine" in capsys.readouterr().err
