"""How right raidsim is: all that `raidsim validate` reports, from comparisons that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...calibration.uncertainty.discrepancy import FigureClass, figure_classes
from ...calibration.uncertainty.model_interval import class_words
from ..conformance.totals import ConformanceTotals
from ..prediction.baseline_comparison import GROUPINGS, Judged, grouped, judged_cells, matches, weaknesses
from ..prediction.baselines import BASELINES
from ..prediction.cell_classes import cell_classes
from ..prediction.comparison import INTERVAL, Compared, StudyComparison, summarise, summary
from ..prediction.first_shots import FirstShots, load_first_shots
from ..prediction.leave_out import LeftOut
from ..prediction.proportion import Proportion

NOTEWORTHY_PCT = 40.0
"""Errors above this need a suspect."""
NO_SUSPECT = "no mechanism suspected yet"


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A study after its predictions, with what its cells are judged by.

    Attributes
    ----------
    classes
        The class of figures of each cell, which its interval was learnt from, by the cell's id.
    """

    comparison: StudyComparison
    cells: tuple[Judged, ...]
    classes: Mapping[str, FigureClass]

    @property
    def id(self) -> str:
        """The study's."""
        return self.comparison.study.id

    @property
    def report(self) -> str:
        """Which group of studies it belongs to."""
        return self.comparison.study.report

    @property
    def modern(self) -> bool:
        """Whether it stands in the tables of modern studies, or is on a single drive of our time."""
        return self.report in ("modern", "drive")

    def document(self) -> dict[str, Any]:
        """The study's part of ``raidsim validate --json``."""
        return {
            "id": self.id,
            "title": self.comparison.study.title,
            "report": self.report,
            "failures": self.comparison.failures,
            "misfits": self.comparison.misfits,
            "cases": [_cell_document(each) for each in self.cells],
            "claims": [claimed.document() for claimed in self.comparison.claims],
            "summary": _summary([self]),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What is known about how right raidsim is.

    Attributes
    ----------
    conformance
        None where it was not run.
    left_out
        Cross-validation, if it was asked for.
    failed
        Why studies could not be predicted, by id.
    first_shots
        The kept errors of the first prediction of each study that has one.
    """

    studies: tuple[StudyReport, ...]
    conformance: ConformanceTotals | None = None
    left_out: tuple[LeftOut, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    first_shots: FirstShots = field(default_factory=FirstShots)

    @property
    def cells(self) -> list[Judged]:
        """Of all studies."""
        return [each for study in self.studies for each in study.cells]

    @property
    def predicted(self) -> list[Judged]:
        """The cells of all studies that nothing was fitted to."""
        return [each for each in self.cells if each.compared.cell.use == "predict"]

    def parts(self) -> list[Report]:
        """The report on all studies but the modern ones, and on these alone; a part without studies is left out."""
        of = {modern: tuple(each for each in self.studies if each.modern == modern) for modern in (False, True)}
        return [replace(self, studies=studies) for studies in of.values() if studies]

    @property
    def with_first_shot(self) -> list[StudyReport]:
        """Studies of which the error of the first prediction is kept."""
        return [study for study in self.studies if study.id in self.first_shots.shots]

    @property
    def comparisons(self) -> list[StudyComparison]:
        """Of all studies."""
        return [study.comparison for study in self.studies]

    def document(self) -> dict[str, Any]:
        """What ``raidsim validate --json`` prints."""
        of = {name: [each for each in self.studies if each.report == name] for name in ("seed", "modern")}
        return {
            "studies": [study.document() for study in self.studies],
            "summary": _summary(self.studies),
            **{name: _summary(studies) for name, studies in of.items()},
            "by": {name: self._by(name) for name in GROUPINGS if name != "study"},
            "coverage_by_class": {
                name: {
                    **each.inside.document(),
                    "studies": each.studies,
                    "verdict": each.inside.against(INTERVAL),
                    "width": each.width,
                    "score": each.score,
                }
                for name, each in coverage_by_class(self.studies).items()
            },
            "not_better": [weakness.document() for weakness in weaknesses(self.cells)],
            "conformance": None if self.conformance is None else self.conformance.document(),
            "leave_out": [each.document() for each in self.left_out],
            "first_shots": {
                "total": self.first_shots.total(),
                "before": [each.model_dump() for each in self.first_shots.before],
                "studies": {
                    study.id: {
                        "first": self.first_shots.shots[study.id].model_dump(mode="json"),
                        "now": summarise(each.compared for each in study.cells if each.compared.cell.use == "predict"),
                    }
                    for study in self.with_first_shot
                },
            },
            "failed": [{"id": study, "error": error} for study, error in self.failed.items()],
        }

    def _by(self, name: str) -> dict[str, Any]:
        groups = grouped(self.predicted, name)
        return {group: summarise(each.compared for each in cells) for group, cells in groups.items()}


def report(
    comparisons: Sequence[StudyComparison],
    conformance: ConformanceTotals | None = None,
    left_out: Sequence[LeftOut] = (),
    failed: Mapping[str, str] | None = None,
    first_shots: FirstShots | None = None,
) -> Report:
    """Judge comparisons: classes of cells, baselines, coverage. Nothing is simulated."""
    studies = tuple(
        StudyReport(each, judged_cells(each, cell_classes(each.study)), figure_classes(each.study))
        for each in comparisons
    )
    shots = load_first_shots() if first_shots is None else first_shots
    return Report(studies, conformance, tuple(left_out), failed or {}, shots)


@dataclass(frozen=True, slots=True)
class ClassCoverage:
    """How well the intervals of a class of figures hold.

    Attributes
    ----------
    inside
        Predicted cells in their interval.
    studies
        How many studies they are of.
    width
        Median factor between a prediction and an end of its interval.
    score
        Mean interval score of ln(figure).
    """

    inside: Proportion
    studies: int
    width: float
    score: float


def coverage(cells: Sequence[Judged]) -> Proportion:
    """How many predicted cells lie in their interval."""
    chosen = [each.compared for each in cells if each.compared.cell.use == "predict"]
    return Proportion(sum(compared.covered for compared in chosen), len(chosen))


def coverage_by_class(studies: Sequence[StudyReport]) -> dict[str, ClassCoverage]:
    """How well the intervals of each class of figures hold, by the class in words.

    An interval is learnt from the predicted cells of all other studies, so each study is one that is left out.
    """
    found: dict[FigureClass, list[tuple[str, Compared]]] = {}
    for study in studies:
        for each in study.cells:
            cell = each.compared.cell
            if cell.use == "predict":
                found.setdefault(study.classes[cell.id], []).append((study.id, each.compared))
    return {class_words(known): _class_coverage(found[known]) for known in sorted(found)}


def _class_coverage(cells: Sequence[tuple[str, Compared]]) -> ClassCoverage:
    total = summarise(compared for _, compared in cells)
    return ClassCoverage(
        Proportion(sum(compared.covered for _, compared in cells), len(cells)),
        len({study for study, _ in cells}),
        total["width"],
        total["score"],
    )


def suspects(study: StudyReport) -> dict[str, list[str]]:
    """Predicted cells that are far off, and broken claims, in words, by the mechanism that is suspected."""
    found: dict[str, list[str]] = {}
    for each in study.cells:
        compared = each.compared
        if compared.cell.use == "predict" and compared.error_pct > NOTEWORTHY_PCT:
            what = f"{compared.cell.id} ({100 * compared.log_ratio:+.0f} %)"
            found.setdefault(compared.suspected or NO_SUSPECT, []).append(what)
    for zero in study.comparison.zeros:
        if zero.missed and zero.cell.use == "predict":
            what = f"{zero.cell.id} ({zero.predicted:.3g} instead of {zero.cell.measured:.3g} {zero.cell.unit})"
            found.setdefault(zero.suspected or NO_SUSPECT, []).append(what)
    for claimed in study.comparison.claims:
        if not claimed.holds:
            what = f"claim {claimed.claim.id}"
            found.setdefault(claimed.suspected or NO_SUSPECT, []).append(what)
    return found


def unanswered(cells: Sequence[Judged]) -> dict[str, dict[str, list[str]]]:
    """Predicted cells that a baseline says nothing of: ids by the reason, by the baseline's name."""
    found: dict[str, dict[str, list[str]]] = {baseline.name: {} for baseline in BASELINES}
    for each in cells:
        for name, guess in each.guesses.items():
            if isinstance(guess, str):
                found[name].setdefault(guess, []).append(f"{each.study}: {each.compared.cell.id}")
    return found


def _summary(studies: Sequence[StudyReport]) -> dict[str, Any]:
    cells = [each for study in studies for each in study.cells]
    covered = coverage(cells)
    left = {name: sum(map(len, reasons.values())) for name, reasons in unanswered(cells).items()}
    return {
        **summary([study.comparison for study in studies]),
        "coverage_pct": None if covered.share is None else 100.0 * covered.share,
        "coverage": {**covered.document(), "verdict": covered.against(INTERVAL) if covered.n else None},
        "baselines": {m.baseline.name: {**m.document(), "unanswered": left[m.baseline.name]} for m in matches(cells)},
    }


def _cell_document(each: Judged) -> dict[str, Any]:
    known = each.cell_class
    document = each.compared.document()
    del document["latencies"]
    return {
        **document,
        "inside": each.compared.covered,
        "class": {
            "level": known.level,
            "load": known.load,
            "kind": known.kind.name,
            "kernel": known.kernel,
            "processes": known.processes,
        },
        "baselines": {baseline.name: each.guessed(baseline.name) for baseline in BASELINES},
    }
