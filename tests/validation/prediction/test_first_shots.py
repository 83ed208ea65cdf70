"""First shots: kept once, never replaced, and shown next to today's errors."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from raidsim.api.answer.html import page
from raidsim.api.tables.validate import validation_answer
from raidsim.calibration.study.study import load_study, study_names
from raidsim.cli.support.terminal import show
from raidsim.model.core.errors import InputError
from raidsim.tests.validation.report.test_report import comparison
from raidsim.validation.prediction.first_shots import FirstShots, load_first_shots
from raidsim.validation.report.report import report

BEFORE_FIRST_SHOTS = 36
"""Studies that are older than the rule; each study added since has its first shot."""


def test_an_entry_is_never_replaced() -> None:
    """The error of a second, better prediction is refused; a note is added and leaves the errors as they are."""
    first = FirstShots().with_shot(comparison())
    with pytest.raises(InputError, match=r"its first shot of .* is kept"):
        first.with_shot(comparison(wrong={"stripe": 1.0}))
    noted = first.with_note("runs", "the chunk was misread")
    with pytest.raises(InputError, match="is kept"):
        noted.with_shot(comparison())
    assert noted.shots["runs"].notes[0].text == "the chunk was misread"
    assert noted.shots["runs"].model_copy(update={"notes": ()}) == first.shots["runs"]


def test_an_entry_holds_the_errors_of_predicted_cells_alone(tmp_path: Path) -> None:
    """Calibrated cells are told apart; the file gives back what was written."""
    made = comparison()
    shots = FirstShots().with_shot(made)
    shot = shots.shots["runs"]
    wrong = sorted(round(each.error_pct, 1) for each in made.cells if each.cell.use == "predict")
    assert list(shot.errors_pct) == wrong
    assert shot.calibrate_median_error_pct is not None
    shots.save(tmp_path / "shots.yaml")
    assert load_first_shots(tmp_path / "shots.yaml") == shots


def test_totals_that_were_made_better_by_hand_are_refused(tmp_path: Path) -> None:
    """Protects the kept errors: median and percentile are those of the listed errors."""
    path = tmp_path / "shots.yaml"
    FirstShots().with_shot(comparison()).save(path)
    text = path.read_text(encoding="utf-8")
    median = FirstShots().with_shot(comparison()).shots["runs"].median_error_pct
    path.write_text(text.replace(f"median_error_pct: {median}", "median_error_pct: 0.1", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"expected: those of errors_pct"):
        load_first_shots(path)


def test_every_study_of_the_catalogue_since_then_has_one() -> None:
    """Protects against a study that is added, tuned and only then predicted."""
    kept = load_first_shots()
    assert len([name for name in study_names() if name not in kept.shots]) <= BEFORE_FIRST_SHOTS
    assert set(kept.shots) <= set(study_names())
    for name, shot in kept.shots.items():
        assert shot.n == sum(cell.use == "predict" for cell in load_study(name).all_cells) or shot.notes


def test_validate_shows_the_first_shot_next_to_today() -> None:
    """On the terminal, on the page and in JSON; a study without one is in no such table."""
    shots = FirstShots().with_shot(comparison())
    now = comparison(wrong={"stripe": 1.2})
    made = report([now], first_shots=shots)
    console = Console(width=100, file=io.StringIO())
    show(validation_answer(made), console)
    assert isinstance(console.file, io.StringIO)
    assert "first shot" in console.file.getvalue()
    document = made.document()["first_shots"]["studies"]["runs"]
    assert document["first"]["p90_error_pct"] > document["now"]["p90_error_pct"]
    assert "changed since" in page(validation_answer(made, whole=True))
    without = report([now], first_shots=FirstShots())
    assert without.document()["first_shots"]["studies"] == {}
    assert "changed since" not in page(validation_answer(without, whole=True))
