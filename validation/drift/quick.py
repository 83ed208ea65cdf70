"""The quick set: a few kept predictions of each study, so that a change of the model or of a profile shows at once.

A figure that moves by more than 3 % needs a reason. So does any other change of results: `now` is what the model gives
to the last digit, `kept` what a change is measured against, which small changes do not replace, so that they add up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from ...calibration.fit.profile import kept_profile
from ...calibration.study.figures import figure_value
from ...calibration.study.reported import repeated
from ...calibration.study.runs import RunBuilder
from ...calibration.study.study import StudySpec
from ...model.core.errors import InputError
from ...model.files.atomic_file import write_whole
from ...model.files.description import Spec
from ...model.files.description_errors import load_spec
from ...scenarios.running.base.sample import Sample
from ...scenarios.running.simulate import simulate
from ...scenarios.sweeps.model_version import model_fingerprint

QUICK = Path(__file__).parent / "quick.yaml"
LIMIT = 0.03
"""A figure that moved by more than this share is listed with the reason."""
_SAME = 1e-9
_HEAD = """\
# Predicted figures (SI units) that `make check` compares with the model: made by `raidsim drift --quick`.
# `kept`: what a change is measured against. `now`: what the model gives. `changes` say why results changed.
"""


class Figure(Spec):
    """A predicted figure of a study."""

    shows: str
    """What it exercises, in words."""
    kept: float
    now: float
    """In SI units."""


class Moved(Spec):
    """A figure that a change moved by more than :data:`LIMIT`."""

    study: str
    cell: str
    """Which figure it is."""
    old: float
    new: float
    """Before and after, in SI units."""


class Change(Spec):
    """A change of results."""

    date: str
    model: str
    reason: str = Field(min_length=10)
    """When, the hash of the new model, and why results changed."""
    moved: tuple[Moved, ...] = ()
    """The figures that it moved by more than :data:`LIMIT`; other figures changed less."""


class QuickSet(Spec):
    """The quick set as kept."""

    figures: dict[str, dict[str, Figure]]
    """By study and cell."""
    changes: tuple[Change, ...] = ()
    """In the order they came."""

    def save(self, path: Path) -> None:
        """Write the file."""
        body = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, width=120, default_flow_style=None)
        write_whole(path, _HEAD + body)

    def moved(self, found: Mapping[str, Mapping[str, float]]) -> tuple[Moved, ...]:
        """The figures that are further than :data:`LIMIT` from what is kept."""
        return tuple(
            Moved(study=study, cell=cell, old=self.figures[study][cell].kept, new=value)
            for study, cells in found.items()
            for cell, value in cells.items()
            if not math.isclose(value, self.figures[study][cell].kept, rel_tol=LIMIT)
        )

    def differs(self, found: Mapping[str, Mapping[str, float]]) -> list[str]:
        """The figures (``STUDY: CELL``) that the model does not give any more."""
        return [
            f"{study}: {cell}"
            for study, cells in found.items()
            for cell, value in cells.items()
            if not math.isclose(value, self.figures[study][cell].now, rel_tol=_SAME)
        ]

    def changed(self, found: Mapping[str, Mapping[str, float]], reason: str) -> QuickSet:
        """The set after a change, with its reason.

        Raises
        ------
        InputError
            If nothing changed, or there is no reason.
        """
        if not self.differs(found):
            raise InputError("--record", "no figure of the quick set changed", "expected: a change of results")
        if len(reason.strip()) < 10:
            raise InputError("--record", f"the reason {reason!r}", "expected: a sentence that says why results changed")
        moved = self.moved(found)
        beyond = {(each.study, each.cell) for each in moved}
        figures = {
            study: {
                cell: each.model_copy(
                    update={
                        "now": found.get(study, {}).get(cell, each.now),
                        **({"kept": found[study][cell]} if (study, cell) in beyond else {}),
                    }
                )
                for cell, each in cells.items()
            }
            for study, cells in self.figures.items()
        }
        change = Change(date=date.today().isoformat(), model=model_fingerprint(), reason=reason.strip(), moved=moved)
        return QuickSet(figures=figures, changes=(*self.changes, change))


def load_quick(path: Path = QUICK) -> QuickSet:
    """Read the kept set."""
    return load_spec(QuickSet, path)


def quick_figures(study: StudySpec, cells: Mapping[str, Any]) -> dict[str, float]:
    """Predict these cells of a study, in SI units: with the profile that comes with raidsim, and one run each.

    A study of claims alone has no cells; ``RUN:FIGURE`` names a figure there.
    """
    profile = kept_profile(study)
    builder = RunBuilder(study, {} if profile is None else profile.factors)
    known = {cell.id: (cell.run, cell.figure) for cell in study.all_cells}
    asked = {}
    for name in cells:
        run, _, figure = name.rpartition(":")
        asked[name] = known.get(name, (run, figure))
        if asked[name][0] not in study.runs and name not in known:
            raise InputError(f"{QUICK.name}: {study.id}", f"the cell {name}", "expected: a cell or RUN:FIGURE of it")
    runs = sorted({run for run, _ in asked.values()})
    made = {run: simulate(repeated(study, run, builder.scenario(run))[0], Sample()) for run in runs}
    return {name: figure_value(made[run], run, figure) for name, (run, figure) in asked.items()}
