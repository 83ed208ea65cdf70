"""The quick set: results that moved are seen, and need a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.calibration.study.study import load_study, study_names
from raidsim.model.core.errors import InputError
from raidsim.validation.drift.quick import (
    QUICK,
    Figure,
    QuickSet,
    load_quick,
    quick_figures,
)

KEPT = load_quick()
TOO_LONG = {"paszkiewicz-2020"}
"""Each of its runs has more than a million I/Os; `make drift` has it."""
SMALL = QuickSet(
    figures={"s": {"a": Figure(shows="x", kept=100.0, now=101.0), "b": Figure(shows="y", kept=5.0, now=5.0)}}
)


@pytest.mark.parametrize("study", KEPT.figures)
def test_predictions_are_what_is_kept(study: str) -> None:
    """Results that changed are recorded with the reason: raidsim drift --quick --record --reason 'why'."""
    found = {study: quick_figures(load_study(study), KEPT.figures[study])}
    moved = [f"{each.cell}: {each.old:.6g} -> {each.new:.6g}" for each in KEPT.moved(found)]
    assert moved == [], "moved by more than 3 %; if that is right, record it with its reason"
    assert KEPT.differs(found) == [], "changed by less than 3 %; if that is right, record it with its reason"


def test_every_study_with_runs_is_in_it() -> None:
    """Protects a study that is added from drifting unseen. Those of single drives are in a table of their own."""
    studies = [load_study(name) for name in study_names() if name not in KEPT.figures]
    lost = {study.id for study in studies if study.runs and study.report != "drive"}
    assert lost == TOO_LONG


def test_every_figure_moved_by_more_than_the_limit_is_listed() -> None:
    """A recorded change lists what moved beyond 3 % and only that; small changes add up against what is kept."""
    after = SMALL.changed({"s": {"a": 104.0, "b": 5.1}}, "the platter turns faster")
    (change,) = after.changes
    assert [(each.cell, each.old, each.new) for each in change.moved] == [("a", 100.0, 104.0)]
    assert after.figures["s"]["a"].kept == 104.0
    assert (after.figures["s"]["b"].kept, after.figures["s"]["b"].now) == (5.0, 5.1)
    assert [each.cell for each in after.moved({"s": {"b": 5.2}})] == ["b"]


def test_a_record_needs_a_change_and_a_reason() -> None:
    """Nothing is recorded that did not change, nor without words."""
    with pytest.raises(InputError, match="no figure of the quick set changed"):
        SMALL.changed({"s": {"a": 101.0, "b": 5.0}}, "the platter turns faster")
    with pytest.raises(InputError, match="expected: a sentence"):
        SMALL.changed({"s": {"a": 110.0}}, "so")


def test_the_file_is_what_the_tool_writes(tmp_path: Path) -> None:
    """Protects kept figures from edits by hand that lose digits."""
    KEPT.save(tmp_path / "quick.yaml")
    assert (tmp_path / "quick.yaml").read_text("utf-8") == QUICK.read_text("utf-8")


def test_an_unknown_cell_is_refused() -> None:
    """A renamed cell of a study is named, with the file."""
    with pytest.raises(InputError, match=r"quick\.yaml: sartor-2024"):
        quick_figures(load_study("sartor-2024"), {"no-such-cell": None})
