"""First shots: how wrong the very first prediction of a study was, kept for good.

A study is described before it is predicted, and mended after its figures were seen. So its errors of today are no
measure of what a new report meets. The error of the first prediction is: it is made from the description and the
calibrate cells alone, and nothing replaces it. What is changed in a description later is a note next to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any, Self

import numpy as np
import yaml
from pydantic import Field, model_validator

from ...calibration.fit.profile import data_fingerprint
from ...model.core.errors import InputError
from ...model.files.atomic_file import write_whole
from ...model.files.description import Spec, refusal
from ...model.files.description_errors import load_spec
from ...scenarios.sweeps.model_version import model_name
from .comparison import StudyComparison, summary

FIRST_SHOTS = Path(__file__).parent.parent / "first_shots.yaml"
"""The file that comes with raidsim."""
_HEAD = """\
# How wrong the very first prediction of each study was: made by `raidsim study first-shot` before anyone looked at a
# predicted figure. An entry is never replaced; `notes` say what was changed in the description afterwards.
"""


class Blind(Spec):
    """Reports that were predicted once and are no studies, so that only the total of their errors is known."""

    date: str
    what: str
    """When, and which reports."""
    median_error_pct: float = Field(ge=0)
    """Of all their figures."""


class Note(Spec):
    """What was changed in a study's description after its first shot, and when."""

    date: str
    """When."""
    text: str = Field(min_length=1)
    """What was changed."""


class FirstShot(Spec):
    """The errors of a study's first prediction."""

    date: str
    model: str
    """When, and by which release and hash of the model."""
    description: str
    """Hash of the description that was predicted."""
    n: int = Field(ge=1)
    median_error_pct: float = Field(ge=0)
    p90_error_pct: float = Field(ge=0)
    inside_pct: float = Field(ge=0, le=100)
    """Of the predicted cells: their number, errors, and the share inside their 90 % interval."""
    calibrate_median_error_pct: float | None = Field(default=None, ge=0)
    """Of the cells that the prediction was fitted to; None if there are none."""
    claims_held: int = Field(default=0, ge=0)
    claims: int = Field(default=0, ge=0)
    """Of the report's claims that are predicted, how many hold, and how many there are."""
    errors_pct: tuple[float, ...] = Field(min_length=1)
    """Of all predicted cells, in ascending order."""
    notes: tuple[Note, ...] = ()
    """What was changed in the description afterwards."""

    @model_validator(mode="after")
    def _errors_agree(self) -> Self:
        """Refuse totals that are not those of the errors."""
        found = (len(self.errors_pct), _median(self.errors_pct), _p90(self.errors_pct))
        told = (self.n, self.median_error_pct, self.p90_error_pct)
        if not all(math.isclose(a, b, rel_tol=1e-3, abs_tol=0.06) for a, b in zip(found, told, strict=True)):
            raise refusal(f"n, median and p90 of {told}", f"expected: those of errors_pct, {found}")
        return self


class FirstShots(Spec):
    """All first shots."""

    before: tuple[Blind, ...] = ()
    """What was predicted unseen before first shots were kept."""
    shots: dict[str, FirstShot] = Field(default_factory=dict)
    """By study."""

    def save(self, path: Path) -> None:
        """Write the file."""
        body = yaml.safe_dump(
            self.model_dump(mode="json"), sort_keys=False, width=120, default_flow_style=None, allow_unicode=True
        )
        write_whole(path, _HEAD + body)

    def with_shot(self, comparison: StudyComparison) -> FirstShots:
        """These and the first shot of one more study.

        Raises
        ------
        InputError
            If there is one of this study, or it has no predicted cell.
        """
        study = comparison.study
        self.refuse_second(study.id)
        total = summary([comparison])
        predicted = sorted(each.error_pct for each in comparison.cells if each.cell.use == "predict")
        if not predicted:
            raise InputError(study.id, "no predicted cell", "expected: a study with cells marked `use: predict`")
        errors = tuple(round(error, 1) for error in predicted)
        fitted = total["calibrate"]["median_error_pct"]
        shot = FirstShot(
            date=date.today().isoformat(),
            model=model_name(),
            description=data_fingerprint(study),
            n=len(errors),
            median_error_pct=round(_median(errors), 1),
            p90_error_pct=round(_p90(errors), 1),
            inside_pct=round(total["predict"]["coverage_pct"], 1),
            calibrate_median_error_pct=None if fitted is None else round(fitted, 1),
            claims_held=total["claims"]["held"],
            claims=total["claims"]["n"],
            errors_pct=errors,
        )
        return self.model_copy(update={"shots": {**self.shots, study.id: shot}})

    def with_note(self, study: str, text: str) -> FirstShots:
        """These, with a note on what was changed in a study's description since its first shot."""
        shot = self.shots.get(study)
        if shot is None:
            raise InputError("--note", f"no first shot of {study}", "expected: `raidsim study first-shot` without it")
        if not text.strip():
            raise InputError("--note", "an empty text", "expected: what was changed in the description, and why")
        told = shot.model_copy(update={"notes": (*shot.notes, Note(date=date.today().isoformat(), text=text))})
        return self.model_copy(update={"shots": {**self.shots, study: told}})

    def refuse_second(self, study: str) -> None:
        """Raise if a study has its first shot already."""
        if (shot := self.shots.get(study)) is not None:
            raise InputError(
                study,
                f"its first shot of {shot.date} is kept",
                "expected: a study without one; `--note TEXT` adds what was changed in its description since",
            )

    def total(self) -> dict[str, Any]:
        """``{"studies", "n", "median_error_pct", "p90_error_pct", "inside_pct"}`` over all first shots."""
        errors = [error for shot in self.shots.values() for error in shot.errors_pct]
        if not errors:
            return {"studies": 0, "n": 0, **dict.fromkeys(("median_error_pct", "p90_error_pct", "inside_pct"))}
        inside = math.fsum(shot.n * shot.inside_pct for shot in self.shots.values()) / len(errors)
        return {
            "studies": len(self.shots),
            "n": len(errors),
            "median_error_pct": _median(errors),
            "p90_error_pct": _p90(errors),
            "inside_pct": inside,
        }


def load_first_shots(path: Path = FIRST_SHOTS) -> FirstShots:
    """Read the file; a file that is not there has none."""
    return load_spec(FirstShots, path) if path.exists() else FirstShots()


def _median(errors: Iterable[float]) -> float:
    return float(np.median(list(errors)))


def _p90(errors: Iterable[float]) -> float:
    return float(np.percentile(list(errors), 90))
