"""Cross-validation: a study is fitted without the cells of one level, and these are predicted.

The marks in the study are ignored here: a cell that is predicted in other reports may be fitted to, but never in the
fit that predicts it. So the errors say how well the model carries over from layouts to another one, and are no
predictions of a reader who had only the calibrate cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...calibration.fit.fit import Fit
from ...calibration.simulation.evaluator import Evaluator, Progress
from ...calibration.study.document import Use
from ...calibration.study.study import StudySpec
from .cell_classes import cell_classes
from .comparison import Compared, compare, summarise

_PARTS = 1000
"""Of a fit, in progress."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A study fitted without a level.

    Attributes
    ----------
    study
        Its id.
    level
        What was left out, and then predicted.
    fitted
        Cells that the fit saw.
    cells
        Those of the level, after their prediction.
    """

    study: str
    level: str
    fitted: int
    cells: tuple[Compared, ...]

    def document(self) -> dict[str, Any]:
        """Its part of ``raidsim validate --json``."""
        return {"study": self.study, "level": self.level, "fitted": self.fitted, **summarise(self.cells)}


def levels_of(study: StudySpec) -> dict[str, frozenset[str]]:
    """Ids of the cells of each level; an array without all of its members counts as its level."""
    found: dict[str, set[str]] = {}
    for name, known in cell_classes(study).items():
        found.setdefault(known.stack.level_name, set()).add(name)
    return {level: frozenset(found[level]) for level in sorted(found)}


def can_leave_out(study: StudySpec) -> bool:
    """Whether there is something to fit, and more than one level."""
    return bool(study.parameters) and len(levels_of(study)) > 1


def leave_out(study: StudySpec, evaluator: Evaluator, progress: Progress) -> Iterator[LeftOut]:
    """Fit and predict for every level of a study, one after the other.

    Parameters
    ----------
    study
        With parameters and several levels.
    evaluator
        Runs the simulations.
    progress
        Called with (done, expected), in thousandths of a fit.
    """
    levels = levels_of(study)
    for number, (level, ids) in enumerate(levels.items()):

        def follow(done: int, total: int, number: int = number) -> None:
            progress(_PARTS * number + _PARTS * done // total, _PARTS * len(levels))

        marked = with_marks(study, ids)
        profile = Fit(marked, evaluator, follow).run()
        cells = compare(marked, profile, evaluator).cells  # the fitted ones too: intervals follow from them
        yield LeftOut(study.id, level, len(marked.calibrate_cells), tuple(c for c in cells if c.cell.id in ids))


def with_marks(study: StudySpec, predicted: frozenset[str]) -> StudySpec:
    """The study with these cells marked to be predicted, and all others to be fitted; without claims."""

    def use(name: str) -> Use:
        return "predict" if name in predicted else "calibrate"

    return study.model_copy(
        update={
            "cases": tuple(case.model_copy(update={"use": use(case.id)}) for case in study.cases),
            "cells": tuple(cell.model_copy(update={"use": use(cell.id)}) for cell in study.cells),
            "claims": (),
        }
    )
