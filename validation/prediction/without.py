"""What predictions come to without a mechanism, so that each one can be seen to earn its lines.

A study is predicted with its profile as it is, then again with a mechanism switched off and nothing fitted anew. A
difference is ln(without / with). Runs that the mechanism has nothing to do with are not simulated again
(:mod:`raidsim.calibration.simulation.touched_runs`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from ...calibration.fit.profile import Profile
from ...calibration.simulation.evaluator import Evaluator, Progress
from ...calibration.simulation.touched_runs import switches_on
from ...calibration.study.runs import RunBuilder
from ...calibration.study.study import StudySpec
from ...model.core.errors import InputError
from ...model.files.switches import switched_off
from .comparison import StudyComparison, compare

MOVED_PCT = 1.0
"""A cell that changes by less is taken as one that does not change."""


@dataclass(frozen=True, slots=True)
class CellChange:
    """A cell with a mechanism and without it.

    Attributes
    ----------
    change
        ln(without / with).
    error, error_without
        ln(predicted / measured).
    """

    id: str
    use: str
    change: float
    error: float
    error_without: float

    @property
    def change_pct(self) -> float:
        """|ln(without / with)| in percent."""
        return 100 * abs(self.change)

    @property
    def moved(self) -> bool:
        """Whether it is a predicted cell that changes."""
        return self.use == "predict" and self.change_pct >= MOVED_PCT

    def document(self) -> dict[str, Any]:
        """Its part of ``raidsim validate --without --json``."""
        return {
            "id": self.id,
            "use": self.use,
            "change_pct": _finite(100 * self.change),
            "error_pct": 100 * self.error,
            "error_without_pct": _finite(100 * self.error_without),
        }


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim that holds with a mechanism and not without it, or the other way round."""

    id: str
    value: float
    value_without: float
    held: bool

    def document(self) -> dict[str, Any]:
        """Its part of ``raidsim validate --without --json``."""
        values = {"value": _finite(self.value), "without": _finite(self.value_without)}
        return {"id": self.id, **values, "held": self.held}


@dataclass(frozen=True, slots=True)
class StudyWithout:
    """A study without some mechanisms.

    Attributes
    ----------
    cells
        Cells of the study that change at all.
    claims
        Claims that break or hold only now.
    predicted
        Predicted cells of the study.
    refused
        Why it cannot be predicted without them; "" if it can.
    """

    study: str
    cells: tuple[CellChange, ...] = ()
    claims: tuple[ClaimChange, ...] = ()
    predicted: int = 0
    refused: str = ""

    @property
    def moved(self) -> list[CellChange]:
        """Predicted cells that change, the one that changes most first."""
        return sorted((cell for cell in self.cells if cell.moved), key=lambda cell: -cell.change_pct)

    def document(self) -> dict[str, Any]:
        """Its part of ``raidsim validate --without --json``."""
        return {
            "id": self.study,
            "predicted": self.predicted,
            "moved": len(self.moved),
            "cells": [cell.document() for cell in self.cells],
            "claims": [claim.document() for claim in self.claims],
            "refused": self.refused,
        }


@dataclass(slots=True)
class Without:
    """What is known of some mechanisms that are switched off together.

    Attributes
    ----------
    names
        Full names of the mechanisms.
    studies
        Studies with runs that have one of them.
    conformance
        Recorded cases that match with and without them, by kind of check; kinds that never see them are left out.
    refused
        Why a kind of check cannot be run without them, by kind.
    """

    names: tuple[str, ...]
    studies: list[StudyWithout] = field(default_factory=list)
    conformance: dict[str, tuple[int, int]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """In tables."""
        return ", ".join(self.names)

    @property
    def moved(self) -> list[tuple[str, CellChange]]:
        """Predicted cells that change, with their studies, the one that changes most first."""
        found = [(each.study, cell) for each in self.studies for cell in each.moved]
        return sorted(found, key=lambda one: -one[1].change_pct)

    @property
    def errors_pct(self) -> tuple[float, float] | None:
        """Median error of the predicted cells that change, with the mechanisms and without; None if none changes."""
        cells = [cell for _, cell in self.moved]
        if not cells:
            return None
        before, after = (abs(cell.error) for cell in cells), (abs(cell.error_without) for cell in cells)
        return 100 * median(before), 100 * median(after)

    @property
    def broken(self) -> int:
        """Claims that hold only with them."""
        return sum(claim.held for each in self.studies for claim in each.claims)

    @property
    def mended(self) -> int:
        """Claims that hold only without them."""
        return sum(not claim.held for each in self.studies for claim in each.claims)

    @property
    def is_refused(self) -> bool:
        """Whether anything cannot be without them."""
        return bool(self.refused) or any(each.refused for each in self.studies)

    @property
    def matters(self) -> bool:
        """Whether a predicted cell, a claim or a recording changes, or nothing can be without them."""
        recordings = any(before != after for before, after in self.conformance.values())
        return bool(self.moved or self.broken or self.mended or recordings or self.is_refused)

    def document(self) -> dict[str, Any]:
        """Its part of ``raidsim validate --without --json``."""
        errors = self.errors_pct
        return {
            "without": list(self.names),
            "matters": self.matters,
            "moved": len(self.moved),
            "error_pct": None if errors is None else errors[0],
            "error_without_pct": None if errors is None else _finite(errors[1]),
            "claims": {"broken": self.broken, "mended": self.mended},
            "studies": [each.document() for each in self.studies],
            "conformance": {
                kind: {"matched": before, "without": after} for kind, (before, after) in self.conformance.items()
            },
            "refused": self.refused,
        }


def _finite(value: float) -> float | None:
    """A number for JSON, which has no infinity: a cell that is 0 without a mechanism has no ratio."""
    return value if math.isfinite(value) else None


def mechanisms_of(study: StudySpec, profile: Profile | None) -> set[str]:
    """The optional mechanisms that descriptions of a study's runs have."""
    builder = RunBuilder(study, profile.factors if profile is not None else {})
    return {name for run in study.wanted_runs for name in switches_on(builder.scenario(run))}


def study_without(
    study: StudySpec,
    profile: Profile | None,
    whole: StudyComparison,
    names: Sequence[str],
    evaluator: Evaluator,
    progress: Progress | None = None,
) -> StudyWithout:
    """Predict a study without some mechanisms, and compare it with its prediction.

    Parameters
    ----------
    study, profile
        The study and the profile that `whole` was made with.
    whole
        The study's comparison with all mechanisms.
    names
        The mechanisms' full names.
    evaluator
        Runs the simulations; what it knows of `whole` is not simulated again.
    progress
        Called with (done, expected).
    """
    predicted = sum(cell.cell.use == "predict" for cell in whole.cells)
    try:
        with switched_off(frozenset(names)):
            other = compare(study, profile, evaluator, progress)
    except InputError as refusal:
        return StudyWithout(study.id, predicted=predicted, refused=str(refusal))
    except Exception as error:  # a model without a part may fail in any way, and others are still to be tried
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return StudyWithout(study.id, predicted=predicted, refused=said)
    return StudyWithout(study.id, tuple(_cells(whole, other)), tuple(_claims(whole, other)), predicted)


def _cells(whole: StudyComparison, other: StudyComparison) -> Iterable[CellChange]:
    after = {cell.cell.id: cell for cell in other.cells}
    for cell in whole.cells:
        now = after.get(cell.cell.id)
        if now is None:  # it is 0 without the mechanism
            yield CellChange(cell.cell.id, cell.cell.use, -math.inf, cell.log_ratio, -math.inf)
        elif now.predicted != cell.predicted:
            change = math.log(now.predicted / cell.predicted)
            yield CellChange(cell.cell.id, cell.cell.use, change, cell.log_ratio, now.log_ratio)


def _claims(whole: StudyComparison, other: StudyComparison) -> Iterable[ClaimChange]:
    for before, after in zip(whole.claims, other.claims, strict=True):
        if before.holds != after.holds:
            yield ClaimChange(before.claim.id, before.value, after.value, before.holds)
