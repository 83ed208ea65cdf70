"""The table of all studies: what the last run of all of them came to, kept with the hash of the model that made it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from ...model.files.atomic_file import write_whole
from ...model.files.description import Spec
from ...model.files.description_errors import load_spec
from ...scenarios.sweeps.model_version import model_fingerprint
from ..prediction.baseline_comparison import matches
from ..prediction.comparison import StudyComparison, summary
from ..report.report import Report, StudyReport
from .quick import Change, QuickSet

TABLE = Path(__file__).parent / "table.yaml"
LIMIT_PCT = 3.0
"""A median or percentile (in percent) of a study that moved by more, or a claim, makes a table another one."""
_HEAD = (
    "# What the last run of all studies came to: made by `raidsim drift --record`, which `make drift` compares with.\n"
)


class Line(Spec):
    """A row of the table: a study, or several together."""

    n: int = Field(ge=0)
    median_error_pct: float | None = None
    p90_error_pct: float | None = None
    worst_error_pct: float | None = None
    inside_pct: float | None = None
    """Of the predicted cells."""
    claims_held: int = 0
    claims: int = 0
    """Claims that are predicted."""
    calibrate_median_error_pct: float | None = None
    """Of the cells that were fitted to."""
    width: float | None = None
    """Median factor between a prediction and the end of its 90 % interval."""


class Guesses(Spec):
    """raidsim and a guess on the same predicted cells; errors in percent."""

    title: str
    """Of the guess."""
    n: int
    """Cells."""
    median_error_pct: float
    p90_error_pct: float
    """Errors of the guess."""
    raidsim_median_error_pct: float
    raidsim_p90_error_pct: float
    """Errors of raidsim on the same cells."""
    raidsim_nearer_pct: float
    """Share of the cells that raidsim is nearer to."""


class StudyTable(Spec):
    """The table as kept."""

    date: str
    model: str
    """When, and the hash of the model."""
    changes: int
    """How many changes of results the quick set listed by then."""
    studies: dict[str, Line]
    modern: dict[str, Line]
    """By id: those of 1999 to 2019, and the modern ones."""
    groups: dict[str, Line]
    """Several together: "five", "all" but the modern ones, and "modern"."""
    guesses: tuple[Guesses, ...] = ()
    """The baselines, on all but the modern studies."""
    failed: tuple[str, ...] = ()
    """Studies that could not be predicted."""

    def save(self, path: Path) -> None:
        """Write the file."""
        body = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, width=120, default_flow_style=None)
        write_whole(path, _HEAD + body)

    def differs(self, other: StudyTable) -> list[str]:
        """What another run says otherwise, in words."""
        told = []
        for old, new in ((self.studies, other.studies), (self.modern, other.modern)):
            told += [f"{study}: new" for study in new if study not in old]
            told += [f"{study}: no longer there" for study in old if study not in new]
            for study in old.keys() & new.keys():
                told += [f"{study}: {words}" for words in _moved(old[study], new[study])]
        return sorted(told)

    def since(self, quick: QuickSet) -> tuple[Change, ...]:
        """The changes of results that are younger than the table."""
        return quick.changes[self.changes :]

    def current(self, quick: QuickSet) -> bool:
        """Whether it is what this model gives: it has the same hash, or nothing changed since but the code."""
        return self.model == model_fingerprint() or not self.since(quick)


def _moved(old: Line, new: Line) -> list[str]:
    told = []
    if old.n != new.n:
        told.append(f"{new.n} cells instead of {old.n}")
    for field, words in (
        ("median_error_pct", "median"),
        ("p90_error_pct", "90th percentile"),
        ("inside_pct", "share inside"),
    ):
        before, now = getattr(old, field), getattr(new, field)
        if (before is None) != (now is None) or (before is not None and abs(now - before) > LIMIT_PCT):
            told.append(f"{words} {_pct(before)} -> {_pct(now)}")
    if (old.claims_held, old.claims) != (new.claims_held, new.claims):
        told.append(f"claims {old.claims_held}/{old.claims} -> {new.claims_held}/{new.claims}")
    return told


def _pct(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def load_study_table(path: Path = TABLE) -> StudyTable:
    """Read the kept table."""
    return load_spec(StudyTable, path)


def study_table(report: Report, quick: QuickSet) -> StudyTable:
    """The table of a report on all studies."""
    older = [each for each in report.studies if not each.modern]
    modern = [each for each in report.studies if each.report == "modern"]
    return StudyTable(
        date=date.today().isoformat(),
        model=model_fingerprint(),
        changes=len(quick.changes),
        studies={each.id: _line([each]) for each in older},
        modern={each.id: _line([each]) for each in modern},
        groups={
            "five": _line([each for each in older if each.report == "seed"]),
            "all": _line(older),
            "modern": _line(modern),
        },
        guesses=tuple(_guesses(match.document(), match.baseline.title) for match in _matches(older)),
        failed=tuple(report.failed),
    )


def _matches(studies: Sequence[StudyReport]) -> list[Any]:
    return [match for match in matches([each for study in studies for each in study.cells]) if match.n]


def _guesses(document: dict[str, Any], title: str) -> Guesses:
    fields = {name: document[name] for name in Guesses.model_fields if name not in ("title", "n")}
    return Guesses(title=title, n=document["n"], **{name: round(value, 1) for name, value in fields.items()})


def _line(studies: Sequence[StudyReport]) -> Line:
    return line_of([each.comparison for each in studies])


def line_of(comparisons: Sequence[StudyComparison]) -> Line:
    """The row of some studies."""
    total = summary(comparisons)
    predicted, fitted = total["predict"], total["calibrate"]

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 1)

    return Line(
        n=predicted["n"],
        median_error_pct=rounded(predicted["median_error_pct"]),
        p90_error_pct=rounded(predicted["p90_error_pct"]),
        worst_error_pct=rounded(predicted["worst_error_pct"]),
        inside_pct=rounded(predicted["coverage_pct"]),
        claims_held=total["claims"]["held"],
        claims=total["claims"]["n"],
        calibrate_median_error_pct=rounded(fitted["median_error_pct"]),
        width=None if predicted["width"] is None else round(predicted["width"], 2),
    )
