"""The page on locks says what the model gives: rows that are marked as tested are simulated again."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from raidsim.calibration.study.figures import figure_value
from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.test_theory import from_code

MADE = from_code()
EFFECTS: list[dict[str, Any]] = MADE.effects()


@cache
def study_of(name: str) -> StudySpec:
    """A study."""
    return load_study(name)


@cache
def ran(study: str, run: str) -> Prediction:
    """A run of it."""
    return simulate(RunBuilder(study_of(study), {}).scenario(run), Sample())


def test_every_effect_is_there() -> None:
    """Protects the page from leaving out what does not fit."""
    assert sorted({each["number"] for each in EFFECTS}) == list(range(1, 26))


@pytest.mark.parametrize("each", EFFECTS, ids=lambda each: each["effect"][:40])
def test_each_row_has_a_result_or_says_what_is_missing(each: dict[str, Any]) -> None:
    """Protects readers from a row that says neither."""
    assert study_of(each["study"]).id == each["study"]
    assert ("modeled" in each) != ("missing" in each)
    assert len(each.get("missing", "x" * 31)) > 30
    assert "modeled" not in each or MADE.measured_value(each["modeled"]) > 0


@pytest.mark.parametrize("each", [each for each in EFFECTS if each.get("tested")], ids=lambda each: each["effect"][:40])
def test_tested_rows_are_what_the_model_gives(each: dict[str, Any]) -> None:
    """Protects the page from numbers of another model, and from a measured value that the study does not have."""
    study = study_of(each["study"])
    cell = next(cell for cell in study.all_cells if cell.id == each["cell"])
    assert cell.use == "predict"
    assert MADE.measured_value(each["measured"]) == pytest.approx(cell.value, rel=0.01)
    assert cell.run is not None
    modeled = figure_value(ran(each["study"], cell.run), cell.run, cell.figure)
    assert MADE.measured_value(each["modeled"]) == pytest.approx(modeled, rel=0.03)
