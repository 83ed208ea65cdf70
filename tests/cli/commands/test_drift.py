"""`raidsim drift`: what moved is told and refused, and kept only when asked, with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.api import validation as command
from raidsim.cli.main import main
from raidsim.validation.drift.quick import QuickSet, load_quick
from raidsim.validation.drift.table import load_study_table


def status(arguments: list[str]) -> object:
    """How a command ended."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A quick set of one cheap study, instead of the one that comes with raidsim."""
    path = tmp_path / "quick.yaml"
    QuickSet(figures={"sartor-2024": load_quick().figures["sartor-2024"]}).save(path)
    monkeypatch.setattr(command, "QUICK", path)
    monkeypatch.setattr(command, "load_quick", lambda: load_quick(path))
    monkeypatch.setattr(command, "written", list)
    return path


def test_what_is_kept_passes(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The counter-test: nothing moved, nothing is told, the status is 0."""
    assert status(["drift", "--quick"]) in (0, None)
    assert "to the last digit" in capsys.readouterr().out


def test_what_moved_fails_until_it_is_recorded_with_a_reason(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A figure that moved by a tenth is named; recorded with its reason, it is listed, and the same command passes."""
    kept = load_quick(one)
    (name, *_) = kept.figures["sartor-2024"]
    old = kept.figures["sartor-2024"][name]
    other = old.model_copy(update={"kept": old.kept / 1.1, "now": old.now / 1.1})
    kept.model_copy(update={"figures": {"sartor-2024": {name: other}}}).save(one)
    assert status(["drift", "--quick"]) == 1
    assert f"sartor-2024: {name}:" in capsys.readouterr().out
    assert status(["drift", "--quick", "--record", "--reason", "the cable carries a tenth more"]) in (0, None)
    (change,) = load_quick(one).changes
    (moved,) = change.moved
    assert moved.cell == name
    assert moved.new == pytest.approx(old.kept)
    assert status(["drift", "--quick"]) in (0, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--quick", "--record"], "--record: found no --reason"),
        (["--reason", "a better platter"], "--reason: found no --quick --record"),
        (["--learn"], "--learn: found no --record"),
        (["--quick", "--record", "--reason", "a better platter", "--learn"], "--learn: found no --record, or --quick"),
    ],
)
def test_bad_input_gets_one_message(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the kept figures from half a command."""
    assert status(["drift", *arguments]) == 2
    assert told.split(": found ")[1] in capsys.readouterr().err


def test_the_kept_table_is_readable() -> None:
    """Protects `make drift` from a file that it cannot compare with."""
    assert load_study_table().groups["all"].n > 0
