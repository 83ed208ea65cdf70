"""Cross-validation: what is predicted is not fitted, whatever the marks say."""

from __future__ import annotations

import pytest

from raidsim.calibration.simulation.evaluator import Evaluator
from raidsim.calibration.study.study import StudySpec
from raidsim.model.files.description_errors import validate
from raidsim.tests.calibration.study import small_study as small
from raidsim.validation.prediction.leave_out import can_leave_out, leave_out, levels_of, with_marks


def test_levels_hold_all_cells_once() -> None:
    """One drive, two side by side, and a stripe; each cell is in one of them."""
    study = validate(StudySpec, small.runs_document())
    assert levels_of(study) == {
        "RAID 0": frozenset({"stripe"}),
        "drives side by side": frozenset({"both", "both/seconds"}),
        "single drive": frozenset({"one", "load"}),
    }
    assert can_leave_out(study)
    assert not can_leave_out(study.model_copy(update={"parameters": ()}))


def test_marks_change_in_a_copy() -> None:
    """The level's cells are predicted and all others fitted; the study itself keeps its marks."""
    study = validate(StudySpec, small.runs_document())
    marked = with_marks(study, frozenset({"one", "load"}))
    assert {cell.id for cell in marked.calibrate_cells} == {"both", "both/seconds", "stripe"}
    assert {cell.id for cell in study.calibrate_cells} == {"one", "both"}
    assert marked.claims == ()


@pytest.fixture(scope="module")
def study() -> StudySpec:
    """The small study of dd: single drives and both at once, as the model measured them."""
    return small.small_study()


def test_each_level_is_predicted_from_the_others(study: StudySpec) -> None:
    """Two fits, each without the cells that it predicts, and progress that reaches its end."""
    seen: list[tuple[int, int]] = []
    with Evaluator(1) as evaluator:
        found = list(leave_out(study, evaluator, lambda done, total: seen.append((done, total))))
    assert [(each.level, each.fitted) for each in found] == [("drives side by side", 2), ("single drive", 1)]
    assert [[c.cell.id for c in each.cells] for each in found] == [["both"], ["one", "other"]]
    assert found[0].cells[0].error_pct < 10  # the bus keeps its prior, which is 6 % off
    assert all(c.cell.use == "predict" for each in found for c in each.cells)
    assert all(each.document()["n"] == len(each.cells) for each in found)
    assert seen[-1][0] == seen[-1][1] == 2000
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
