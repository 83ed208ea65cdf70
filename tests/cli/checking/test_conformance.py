"""`raidsim conformance`: what it prints where, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raidsim.api.tables import conformance as tables
from raidsim.cli.checking import conformance
from raidsim.cli.main import main
from raidsim.validation.conformance.truth_files import DEFAULT_TRUTH


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of the command."""
    with pytest.raises(SystemExit) as end:
        main(["conformance", *arguments])
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one small recording of each of two kinds."""
    for kind in ("io", "layout"):
        content = json.loads((DEFAULT_TRUTH / kind / "raid4.json").read_text())
        for array in content["arrays"] if kind == "io" else ():
            array["cases"] = array["cases"][:5]  # so few that one of them is more than the aim allows
        (tmp_path / f"{kind}.json").write_text(json.dumps(content))
    return tmp_path


def perturb(folder: Path) -> None:
    """Record one sector of one read otherwise."""
    content: dict[str, Any] = json.loads((folder / "io.json").read_text())
    content["arrays"][0]["cases"][1]["reads"][0][1] = 77
    (folder / "io.json").write_text(json.dumps(content))


def test_all_matches(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """A table of the kinds in their order, and status 0."""
    status, out, err = run(capsys, "--truth", str(folder))
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.split()[:1] in (["layout"], ["io"])]
    assert [row[:8] for row in rows] == [
        ["layout", "8", "8", "0", "100.0", "%", "100", "%"],
        ["io", "5", "5", "0", "100.0", "%", "95", "%"],
    ]


def test_a_miss_is_shown_side_by_side(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """A miss shows both sides and its explanation; falling below the aim is status 1."""
    perturb(folder)
    status, out, _ = run(capsys, "--truth", str(folder), "--kind", "io")
    assert status == 1
    lines = [line.split() for line in out.splitlines()]
    assert ["io.json:", "raid4_n4", "w4k@0k"] in lines
    assert ["member", "1", "77", "+", "8", "2048", "+", "8", "<"] in lines
    assert ["why:", "not", "known"] in lines
    assert "layout" not in out


def test_many_misses_are_cut(capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of a thousand misses would bury the table; the JSON has them all."""
    perturb(folder)
    monkeypatch.setattr(tables, "_MOST_SHOWN", 0)
    assert "... and 1 more; all of them: --json" in run(capsys, "--truth", str(folder))[1]


def test_json_is_one_object(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """stdout holds the object and nothing else, also when something differs."""
    perturb(folder)
    status, out, err = run(capsys, "--truth", str(folder), "--json", "--kind", "io", "--kind", "layout")
    assert (status, err) == (1, "")
    plain = json.loads(out)
    assert list(plain) == ["layout", "io", "not_checked"]
    assert plain["layout"] == {"cases": 8, "matched": 8, "cases_not_checked": 0, "misses": [], "not_checked": []}
    (miss,) = plain["io"]["misses"]
    assert (miss["file"], miss["case"], miss["why"]) == ("io.json", "raid4_n4 w4k@0k", "")


def test_known_misses_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """What is known about a miss of our own recordings is in the report."""
    misses = json.loads(run(capsys, "--kind", "io", "--json")[1])["io"]["misses"]
    whys = {miss["case"]: miss["why"] for miss in misses}
    assert "still in the stripe cache" in whys["raid5_n4_notclean w4k@0k"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kind", "raid"), "unknown kind 'raid'"),
        (("--truth", "/nowhere/at/all"), "there is no such folder"),
        (("--truth", "{folder}", "--kind", "readchoice"), "no recorded truth of kind readchoice"),
    ],
)
def test_bad_input_is_one_message(
    capsys: pytest.CaptureFixture[str], folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    """Bad input ends with status 2, one line on stderr and nothing on stdout."""
    status, out, err = run(capsys, *(argument.format(folder=folder) for argument in arguments))
    assert (status, out) == (2, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_files_of_no_kind_are_listed(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """They stop nothing: the others are compared, and each is named with the reason, also with --json."""
    (folder / "notes.json").write_text("{}")
    (folder / "program.c").write_text("int main;")
    status, out, err = run(capsys, "--truth", str(folder))
    assert (status, err) == (0, "")
    assert "2 files not checked" in out
    assert "notes.json\n  it has the fields of no kind of recording" in " ".join(out.split(" "))
    assert "program.c\n  its name does not end in .json" in out
    found = json.loads(run(capsys, "--truth", str(folder), "--json")[1])
    assert [each["file"] for each in found["not_checked"]] == ["notes.json", "program.c"]


def test_nothing_compared_is_no_success(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A folder of another kind of recording is said to be so, with status 1 and without an error."""
    (tmp_path / "files.json").write_text('{"kernel": "Linux version 6.1.0", "runs": []}')
    status, out, err = run(capsys, "--truth", str(tmp_path))
    assert (status, err) == (1, "")
    assert out.startswith("Nothing was compared.")
    assert "1 file not checked" in out


def test_cases_that_are_not_checked_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """An array that the model cannot build is named with the number of its cases."""
    content = json.loads((DEFAULT_TRUTH / "io" / "raid4.json").read_text())
    content["kernel"] = "Linux version 5.7.0"
    (tmp_path / "a.json").write_text(json.dumps(content))
    status, out, err = run(capsys, "--truth", str(tmp_path))
    assert (status, err) == (1, "")
    assert "io: 34 cases not checked" in out
    assert "a.json: raid4_n4 (34 cases)\n  raidsim has no kernel linux-5.7; expected: linux-3.10, linux-4.18," in out


def test_garbage_is_one_message(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """A file called .json that is no JSON stops the command before anything is printed, also with --json."""
    (folder / "notes.json").write_text("{")
    for arguments in ((), ("--json",)):
        status, out, err = run(capsys, "--truth", str(folder), *arguments)
        assert (status, out) == (2, "")
        assert "notes.json: this is not recorded truth" in err


def test_an_interrupt_ends_it(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends the command with the shell's status for it, without a traceback."""

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(conformance, "check_kind", interrupted)
    status, out, err = run(capsys, "--truth", str(folder))
    assert (status, out, err) == (130, "", "interrupted\n")
