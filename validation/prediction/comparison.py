"""Predictions compared with measurements: errors, intervals, claims and summaries of studies.

The error of a cell is |ln(predicted / measured)|, shown as a percentage. Calibrated and predicted cells are never
mixed: the first show how well the model can be fitted, only the second what a prediction is worth.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...calibration.fit.profile import Profile
from ...calibration.fit.report import misfits
from ...calibration.simulation.evaluator import Evaluator, Progress, results_of
from ...calibration.simulation.study_runs import StudyRuns
from ...calibration.study.cell import Cell
from ...calibration.study.document import ClaimSpec
from ...calibration.study.figures import figure_value
from ...calibration.study.study import StudySpec
from ...calibration.uncertainty.discrepancy import COVERED, DiscrepancyTable, load_table
from ...calibration.uncertainty.intervals import HalfWidth, Intervals, interval_score
from ...scenarios.running.base.prediction import Prediction

INTERVAL = COVERED
_BINARY = {("MB/s", 1 << 20): "MiB/s", ("KB/s", 1 << 10): "KiB/s"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One cell after its prediction.

    Attributes
    ----------
    predicted, measured
        In the report's unit.
    predicted_seconds
        Duration (s) of the whole run.
    low, high
        90 % interval of the prediction, in the report's unit.
    busiest
        The busiest part and its utilization, in short.
    latencies
        Of the run's I/Os (s); see :class:`~raidsim.scenarios.running.base.prediction.Prediction`.
    half_width
        Of the interval (ln), by where it comes from.
    kept
        If true, the run's result was kept and not simulated now.
    """

    cell: Cell
    predicted: float
    predicted_seconds: float
    low: float
    high: float
    bottleneck: str
    busiest: str
    suspected: str | None
    latencies: dict[str, dict[str, float]] = field(default_factory=dict)
    half_width: HalfWidth | None = None
    kept: bool = False

    @property
    def measured(self) -> float:
        """The report's number."""
        return self.cell.measured

    @property
    def log_ratio(self) -> float:
        """ln(predicted / measured)."""
        return math.log(self.predicted / self.measured)

    @property
    def error_pct(self) -> float:
        """|ln(predicted / measured)| in percent."""
        return 100.0 * abs(self.log_ratio)

    @property
    def covered(self) -> bool:
        """Whether the measured value lies in the interval."""
        return self.low <= self.measured <= self.high

    @property
    def width(self) -> float:
        """The factor between the prediction and an end of its interval (both are at the same distance in ln)."""
        return math.sqrt(self.high / self.low)

    @property
    def score(self) -> float:
        """The interval score of ln(figure): the interval's length, and 2 / 0.1 times how far the measured value is out.

        A proper score (Gneiting and Raftery, JASA 102, 2007, section 6.2): its mean is least for the true quantiles.
        """
        return interval_score(math.log(self.low), math.log(self.high), math.log(self.measured))

    @property
    def unit(self) -> str:
        """The report's unit, as we write it."""
        return _BINARY.get((self.cell.unit, round(self.cell.scale)), self.cell.unit)

    def document(self) -> dict[str, Any]:
        """The cell's part of ``raidsim predict --json``."""
        return {
            "id": self.cell.id,
            "use": self.cell.use,
            "run": self.cell.run,
            "figure": self.cell.figure,
            "unit": self.unit,
            "measured": self.measured,
            "predicted": self.predicted,
            "error_pct": self.error_pct,
            "interval": [self.low, self.high],
            "half_width": None if self.half_width is None else self.half_width.document(),
            "bottleneck": self.bottleneck,
            "seconds": {"measured": self.cell.seconds, "predicted": self.predicted_seconds},
            "latencies": self.latencies,
            "suspected": self.suspected,
            "kept": self.kept,
        }


@dataclass(frozen=True, slots=True)
class ZeroCompared:
    """A cell after its prediction that has no ratio, because the measured or the predicted value is 0.

    Attributes
    ----------
    predicted
        In the report's unit.
    """

    cell: Cell
    predicted: float
    bottleneck: str
    suspected: str | None

    @property
    def missed(self) -> bool:
        """Whether the prediction is wrong: a 0 where something was measured, or too far from a measured 0."""
        return self.cell.within is None or self.predicted > self.cell.within

    def document(self) -> dict[str, Any]:
        """The cell's part of ``raidsim predict --json``."""
        return {
            "id": self.cell.id,
            "use": self.cell.use,
            "run": self.cell.run,
            "figure": self.cell.figure,
            "unit": self.cell.unit,
            "measured": self.cell.measured,
            "within": self.cell.within,
            "predicted": self.predicted,
            "missed": self.missed,
            "bottleneck": self.bottleneck,
            "suspected": self.suspected,
        }


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim of the report after the predictions.

    Attributes
    ----------
    value
        Left over right as predicted (the mean of the ratios).
    measured
        The same as measured, where the report has cells for all of it.
    """

    claim: ClaimSpec
    value: float
    measured: float | None
    suspected: str | None

    @property
    def holds(self) -> bool:
        """Whether the prediction says what the report says."""
        return self.claim.allows(self.value)

    @property
    def shown(self) -> str:
        """The value with two decimals, or as many more as it takes to see on which side of its bounds it is."""
        texts = (f"{self.value:.{decimals}f}" for decimals in range(2, 6))
        return next((text for text in texts if self.claim.allows(float(text)) == self.holds), repr(self.value))

    @property
    def supported(self) -> bool | None:
        """Whether the report's own cells say so; None without them."""
        return None if self.measured is None else self.claim.allows(self.measured)

    def document(self) -> dict[str, Any]:
        """The claim's part of ``raidsim predict --json``."""
        return {
            **self.claim.model_dump(mode="json"),
            "value": self.value if math.isfinite(self.value) else None,
            "holds": self.holds,
            "measured": self.measured,
            "supported": self.supported,
            "suspected": self.suspected,
        }


@dataclass(frozen=True, slots=True)
class StudyComparison:
    """A study after its predictions.

    Attributes
    ----------
    profile
        None where nothing was fitted.
    zeros
        Cells without a ratio.
    kept_runs
        How many runs have a kept result that was not simulated.
    """

    study: StudySpec
    profile: Profile | None
    cells: tuple[Compared, ...]
    claims: tuple[Claimed, ...] = ()
    zeros: tuple[ZeroCompared, ...] = ()
    kept_runs: int = 0

    @property
    def failures(self) -> list[str]:
        """Why the fit should not be used unseen, each with what to do; none if it is sound, or nothing was fitted."""
        return [] if self.profile is None else self.profile.failures()

    @property
    def misfits(self) -> list[str]:
        """Which calibrated cells are further off than noise explains, in words with what to do; none if none is."""
        if self.profile is None:
            return []
        return misfits(
            self.study, {each.cell.id: each.log_ratio for each in self.cells if each.cell.use == "calibrate"}
        )

    def document(self) -> dict[str, Any]:
        """The study's part of ``raidsim predict --json``."""
        return {
            "id": self.study.id,
            "title": self.study.title,
            "report": self.study.report,
            "failures": self.failures,
            "misfits": self.misfits,
            "profile": None if self.profile is None else _profile_document(self.profile),
            "cases": [compared.document() for compared in self.cells],
            "zeros": [each.document() for each in self.zeros],
            "claims": [claimed.document() for claimed in self.claims],
            "missing": [cell.model_dump(mode="json") for cell in self.study.missing],
            "summary": summary([self]),
        }


def _profile_document(profile: Profile) -> dict[str, Any]:
    document = profile.model_dump(mode="json", exclude={"sensitivities", "spreads", "correlation", "study"})
    document["inseparable"] = [[first, second, value] for first, second, value in profile.inseparable()]
    document["undetermined"] = profile.undetermined()
    return document


def compare(
    study: StudySpec,
    profile: Profile | None,
    evaluator: Evaluator,
    progress: Progress | None = None,
    table: DiscrepancyTable | None = None,
) -> StudyComparison:
    """Predict every cell and claim of a study with a profile (or with the study's own values) and compare.

    Intervals take from `table` what predictions of other studies came to; the one that comes with raidsim by default.
    """
    runs = StudyRuns(study, factors_of(profile))
    every = runs.every
    results = dict(zip((asked.key for asked in every), results_of(evaluator.answers(every, progress)), strict=True))
    return compared(study, profile, runs.predictions(lambda asked: results[asked.key]), table)


def factors_of(profile: Profile | None) -> dict[str, float]:
    """The factors of a profile; none where nothing was fitted."""
    return {} if profile is None else profile.factors


def compared(
    study: StudySpec,
    profile: Profile | None,
    predictions: Mapping[str, Prediction],
    table: DiscrepancyTable | None = None,
    kept: Collection[str] = (),
) -> StudyComparison:
    """Compare a study with its predictions, by run; `kept` are runs whose results were kept and not simulated."""
    cells = study.all_cells
    measured = {cell.name: cell.value for cell in cells}
    every = (*cells, *study.zero_cells)
    values = {cell.id: figure_value(predictions[cell.run], cell.run, cell.figure) for cell in every}
    calibrated = {cell.id: math.log(values[cell.id] / cell.value) for cell in study.calibrate_cells if values[cell.id]}
    intervals = Intervals(study, profile, calibrated, table or load_table())
    return StudyComparison(
        study,
        profile,
        tuple(
            _compared(study, cell, predictions[cell.run], values[cell.id], intervals.of(cell), cell.run in kept)
            for cell in cells
            if values[cell.id]
        ),
        tuple(_claimed(study, claim, predictions, measured) for claim in study.claims),
        tuple(
            ZeroCompared(cell, values[cell.id] / cell.scale, predictions[cell.run].bottleneck, study.suspected(cell.id))
            for cell in every
            if not cell.measured or not values[cell.id]
        ),
        len(kept),
    )


def _compared(
    study: StudySpec, cell: Cell, prediction: Prediction, value: float, half_width: HalfWidth, kept: bool
) -> Compared:
    factor = math.exp(half_width.total)
    predicted = value / cell.scale
    return Compared(
        cell=cell,
        predicted=predicted,
        predicted_seconds=prediction.seconds,
        low=predicted / factor,
        high=predicted * factor,
        bottleneck=prediction.bottleneck,
        busiest=_busiest(prediction),
        suspected=study.suspected(cell.id),
        latencies=prediction.latencies,
        half_width=half_width,
        kept=kept,
    )


def _claimed(
    study: StudySpec, claim: ClaimSpec, predictions: Mapping[str, Prediction], measured: Mapping[str, float]
) -> Claimed:
    def predicted(name: str) -> float:
        run, _, figure = name.rpartition(":")
        return figure_value(predictions[run], run, figure)

    known = all(name in measured for pair in claim.pairs for name in pair)
    return Claimed(
        claim,
        claim.value(predicted),
        claim.value(measured.__getitem__) if known else None,
        study.suspected(claim.id),
    )


def _busiest(prediction: Prediction) -> str:
    top = max(prediction.usages, key=lambda usage: (usage.utilization, usage.name))
    return f"{top.name} {100 * top.utilization:.0f} %"


def summarise(cells: Iterable[Compared]) -> dict[str, Any]:
    """Errors, and how well the intervals hold; None without cells.

    Returns
    -------
    dict
        ``{"n", "median_error_pct", "p90_error_pct", "worst_error_pct", "coverage_pct", "width", "score"}``. "width" is
        the median factor between a prediction and an end of its interval. "score" is the mean interval score of
        ln(figure), smaller for intervals that are narrow and hold.
    """
    chosen = list(cells)
    if not chosen:
        fields = ("median_error_pct", "p90_error_pct", "worst_error_pct", "coverage_pct", "width", "score")
        empty = dict.fromkeys(fields)
        return {"n": 0, **empty}
    errors = np.array([compared.error_pct for compared in chosen])
    return {
        "n": len(chosen),
        "median_error_pct": float(np.median(errors)),
        "p90_error_pct": float(np.percentile(errors, 90)),
        "worst_error_pct": float(errors.max()),
        "coverage_pct": 100.0 * sum(compared.covered for compared in chosen) / len(chosen),
        "width": float(np.median([compared.width for compared in chosen])),
        "score": float(np.mean([compared.score for compared in chosen])),
    }


def summary(comparisons: Sequence[StudyComparison]) -> dict[str, Any]:
    """Summaries of calibrated and of predicted cells over some studies, the claims, and what is missing."""
    cells = [compared for comparison in comparisons for compared in comparison.cells]
    claims = [claimed for comparison in comparisons for claimed in comparison.claims if claimed.claim.use == "predict"]
    zeros = [each for comparison in comparisons for each in comparison.zeros]
    return {
        **{use: summarise(c for c in cells if c.cell.use == use) for use in ("calibrate", "predict")},
        "zeros": {"n": len(zeros), "missed": sum(each.missed for each in zeros)},
        "claims": {"n": len(claims), "held": sum(claimed.holds for claimed in claims)},
        "missing": sum(len(comparison.study.missing) for comparison in comparisons),
    }
