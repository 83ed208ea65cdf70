"""The kept table of all studies, and the pages that are written from it."""

from __future__ import annotations

from pathlib import Path

from raidsim.compiled.loader import ROOT
from raidsim.scenarios.sweeps.model_version import model_fingerprint
from raidsim.tests.validation.report.test_report import comparison
from raidsim.validation.drift.pages import BLOCKS, blocks, summary_block, validation_block, with_block
from raidsim.validation.drift.quick import Change, QuickSet, load_quick
from raidsim.validation.drift.table import StudyTable, load_study_table, study_table
from raidsim.validation.prediction.first_shots import FirstShots, load_first_shots
from raidsim.validation.report.report import report

NO_CHANGE = QuickSet(figures={})
CHANGED = QuickSet(figures={}, changes=(Change(date="2026-11-28", model="x", reason="md merges more requests"),))


def made(stripe: float = 1.6) -> StudyTable:
    """The table of one small study."""
    return study_table(report([comparison(wrong={"stripe": stripe})], first_shots=FirstShots()), NO_CHANGE)


def test_the_manual_has_the_kept_figures() -> None:
    """Protects README and manual from figures that no file holds; `raidsim drift --pages` writes them anew."""
    for name, block in blocks().items():
        text = (ROOT / BLOCKS[name]).read_text(encoding="utf-8")
        assert with_block(text, name, block) == text, f"{BLOCKS[name]}: run raidsim drift --pages"


def test_a_changed_model_without_a_new_table_is_visible() -> None:
    """The manual says that the table is of another model, and why; a table of this model says nothing of the kind."""
    table = made()
    assert table.model == model_fingerprint()
    assert "another model" not in validation_block(table, NO_CHANGE, FirstShots())
    old = table.model_copy(update={"model": "0123456789abcdef"})
    assert not old.current(CHANGED)
    told = validation_block(old, CHANGED, FirstShots())
    assert "another model: 0123456789abcdef," in told
    assert "md merges more requests" in told


def test_code_that_changes_no_result_leaves_the_table_as_it_is() -> None:
    """A faster model with equal results needs no new run of all studies: the quick set tells."""
    old = made().model_copy(update={"model": "0123456789abcdef"})
    assert old.current(NO_CHANGE)
    assert "another model" not in validation_block(old, NO_CHANGE, FirstShots())


def test_a_study_that_moved_is_named(tmp_path: Path) -> None:
    """A median or percentile that moved by more than three points is told, a smaller one is not."""
    kept = made()
    kept.save(tmp_path / "table.yaml")
    assert load_study_table(tmp_path / "table.yaml") == kept
    assert kept.differs(made()) == []
    assert kept.differs(made(stripe=1.605)) == []
    (told,) = kept.differs(made(stripe=2.5))
    assert told.startswith("runs: 90th percentile")


def test_the_summary_leads_with_first_shots() -> None:
    """The README's first figures are those of reports that nobody had used."""
    told = summary_block(load_study_table(), load_first_shots())
    assert told.startswith(
        "On reports whose text nobody had used for the model, raidsim was off by 57 % in the median."
    )
    assert told.index("first shots") < told.index("699" if load_study_table().groups["all"].n == 699 else "1999 to")


def test_the_table_was_made_before_or_with_the_kept_changes() -> None:
    """Protects against a table that claims changes nobody listed."""
    assert load_study_table().changes <= len(load_quick().changes)
