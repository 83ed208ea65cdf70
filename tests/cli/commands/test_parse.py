"""`raidsim parse` as a person runs it: the table, several files, JSON, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.tests.calibration.formats import samples


def run(*arguments: str) -> object:
    """Exit status of the command line; 0 if it simply ends."""
    try:
        cli.main(["parse", *arguments])
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every sample; the names say nothing of the formats."""
    for index, text in enumerate(samples.ALL.values()):
        (tmp_path / f"{index}").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_table_of_figures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Protects the table: format, version, what all figures are of, and each figure with its line."""
    path = tmp_path / "out"
    path.write_text(samples.BONNIE_1_4)
    assert run(str(path)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: bonnie 1.4, machine islay"
    rows = [line.split() for line in lines]
    assert ["figure", "value", "line"] in rows
    assert ["write_rate", "109", "MiB/s", "11"] in rows
    assert ["seeks_cpu", "2.2", "%", "11"] in rows


def test_contexts_bins_and_notes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Protects what stands beside the figures: their context once, bins counted, warnings as notes."""
    (tmp_path / "fio").write_text(samples.FIO + "\nDisk stats:\n")
    (tmp_path / "md").write_text(samples.MDSTAT)
    assert run(str(tmp_path / "fio"), str(tmp_path / "md")) == 0
    shown = capsys.readouterr().out
    assert "2 bins of latency are in --json" in shown
    assert "note: line 103: skipped, no part of the report ('Disk stats:')" in shown
    assert "note: md0 (line 9): resync is pending" in shown
    assert shown.count("array md2, state active, level raid10") == 1


def test_json_of_several_files(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Protects programs: one object with all files in their order, numbers in SI units."""
    files = [str(folder / str(index)) for index in range(len(samples.ALL))]
    assert run("--json", *files) == 0
    reports = json.loads(capsys.readouterr().out)["reports"]
    assert [report["file"] for report in reports] == files
    bonnie = next(report for report in reports if report["format"] == "bonnie")
    assert list(bonnie) == ["file", "format", "version", "figures", "warnings"]
    assert bonnie["figures"][1] == {
        "name": "putc_rate",
        "value": 39426 * 1024,
        "unit": "bytes/s",
        "line": 11,
        "context": {"machine": "islay"},
    }


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_bad_input_is_one_message(option: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Protects from half an answer: one bad file of two ends it with status 2 and one line, nothing on stdout."""
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(samples.BONNIE_1_4)
    bad.write_text(samples.IOSTAT_OLD.replace("39.82", "39,82"))
    assert run(*option, str(good), str(bad)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {bad}:8:27: found '39,82'; expected: a number of at least 0 with a decimal point")
    assert len(err.splitlines()) == 1


def test_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects from silence without arguments."""
    assert run() == 2
    assert "FILE" in capsys.readouterr().err


def test_a_long_report_is_summed_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Protects iostat left running: a table that is drawn at once, with mean, least and most of each figure."""
    heading = "Device            r/s     rkB/s   r_await   aqu-sz  %util\n"
    rows = [f"sda            {number}.00    100.00      5.00     0.50  10.00\n" for number in range(1, 300)]
    (tmp_path / "out").write_text("\n".join(heading + row for row in rows))
    assert run(str(tmp_path / "out")) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["read_iops", "150", "/s", "1", "/s", "299", "/s", "299"] in lines
    assert len(lines) < 20
    assert any("mean, least and most of 1,495 figures" in " ".join(line) for line in lines)
