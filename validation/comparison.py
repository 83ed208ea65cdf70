"""Predicted beside measured: errors, intervals and summaries of studies.

The error of a case is |ln(predicted / measured)|, shown as a percentage. Calibrated and predicted cases are never
mixed: the first show how well the model can be fitted, only the second what a prediction is worth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..calibration.evaluate import Evaluator, Progress
from ..calibration.fit import CELL_SD
from ..calibration.profile import Profile
from ..calibration.study import CaseBuilder, CaseSpec, StudySpec
from ..scenarios.prediction import Prediction
from ..scenarios.sample import Sample

INTERVAL = 0.90
_NORMAL_QUANTILE = 1.6448536269514722
"""Half of a 90 % interval of the normal distribution, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One case after its prediction.

    Attributes
    ----------
    predicted, measured
        In the report's unit, per second.
    predicted_seconds
        Duration (s) of the whole workload.
    low, high
        90 % interval of the prediction, in the report's unit.
    busiest
        The busiest part and how busy it was, in short.
    latencies
        Of the page cache's requests (s); see :class:`~raidsim.scenarios.run.Prediction`.
    """

    case: CaseSpec
    predicted: float
    predicted_seconds: float
    low: float
    high: float
    bottleneck: str
    busiest: str
    suspected: str | None
    latencies: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def measured(self) -> float:
        """The report's number."""
        return self.case.rate

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


@dataclass(frozen=True, slots=True)
class StudyComparison:
    """A study after its predictions; `profile` is None where nothing was fitted."""

    study: StudySpec
    profile: Profile | None
    cases: tuple[Compared, ...]

    @property
    def unit(self) -> str:
        """Unit of the rates."""
        return "MiB/s" if self.study.conventions.MB == 1 << 20 else "MB/s"

    def document(self) -> dict[str, Any]:
        """The study's part of ``raidsim predict --json``."""
        return {
            "id": self.study.id,
            "title": self.study.title,
            "profile": None if self.profile is None else _profile_document(self.profile),
            "cases": [
                {
                    "id": compared.case.id,
                    "use": compared.case.use,
                    "unit": self.unit,
                    "measured": compared.measured,
                    "predicted": compared.predicted,
                    "error_pct": compared.error_pct,
                    "interval": [compared.low, compared.high],
                    "bottleneck": compared.bottleneck,
                    "seconds": {"measured": compared.case.seconds, "predicted": compared.predicted_seconds},
                    "latencies": compared.latencies,
                    "suspected": compared.suspected,
                }
                for compared in self.cases
            ],
            "missing": [
                {
                    "id": case.id,
                    "use": case.use,
                    "unit": self.unit,
                    "measured": case.rate,
                    "seconds": case.seconds,
                    "needs": case.needs,
                }
                for case in self.study.open_cases
            ],
        }


def _profile_document(profile: Profile) -> dict[str, Any]:
    document = profile.model_dump(mode="json", exclude={"sensitivities", "correlation", "study"})
    document["inseparable"] = [[first, second, value] for first, second, value in profile.inseparable()]
    document["undetermined"] = profile.undetermined()
    return document


def compare(
    study: StudySpec, profile: Profile | None, evaluator: Evaluator, progress: Progress | None = None
) -> StudyComparison:
    """Predict every case of a study with a profile (or with the study's own values) and compare."""
    builder = CaseBuilder(study, profile.factors if profile is not None else {})
    scenarios = [builder.scenario(case) for case in study.cases]
    predictions = evaluator.run(scenarios, Sample(), progress)
    pairs = zip(study.cases, predictions, strict=True)
    return StudyComparison(study, profile, tuple(_compared(study, profile, case, made) for case, made in pairs))


def _compared(study: StudySpec, profile: Profile | None, case: CaseSpec, prediction: Prediction) -> Compared:
    spread = profile.spread(case.id) if profile is not None else 0.0
    model = max(CELL_SD, profile.rms if profile is not None else 0.0)
    factor = math.exp(_NORMAL_QUANTILE * math.hypot(spread, model))
    rate = prediction.rate / study.conventions.MB
    return Compared(
        case=case,
        predicted=rate,
        predicted_seconds=prediction.seconds,
        low=rate / factor,
        high=rate * factor,
        bottleneck=prediction.bottleneck,
        busiest=_busiest(prediction),
        suspected=study.suspected(case.id),
        latencies=prediction.latencies,
    )


def _busiest(prediction: Prediction) -> str:
    top = max(prediction.usages, key=lambda usage: (usage.utilisation, usage.name))
    return f"{top.name} {100 * top.utilisation:.0f} %"


def summarise(cases: Iterable[Compared]) -> dict[str, Any]:
    """``{"n", "median_error_pct", "p90_error_pct", "worst_error_pct", "coverage_pct"}``; None without cases."""
    chosen = list(cases)
    if not chosen:
        empty = dict.fromkeys(("median_error_pct", "p90_error_pct", "worst_error_pct", "coverage_pct"))
        return {"n": 0, **empty}
    errors = np.array([compared.error_pct for compared in chosen])
    return {
        "n": len(chosen),
        "median_error_pct": float(np.median(errors)),
        "p90_error_pct": float(np.percentile(errors, 90)),
        "worst_error_pct": float(errors.max()),
        "coverage_pct": 100.0 * sum(compared.covered for compared in chosen) / len(chosen),
    }


def summary(comparisons: Sequence[StudyComparison]) -> dict[str, Any]:
    """Summaries of calibrated and of predicted cases over all studies."""
    cases = [compared for comparison in comparisons for compared in comparison.cases]
    return {use: summarise(c for c in cases if c.case.use == use) for use in ("calibrate", "predict")}
