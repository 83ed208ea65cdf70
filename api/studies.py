"""Studies of published reports, and of measurements of your own: predict, validate, calibrate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..calibration.fio_study.skeleton import skeleton
from ..calibration.fio_study.study import FioStudy, scenario_path
from ..calibration.fit.choices import ALLOWED, read_choices
from ..calibration.fit.profile import load_profile
from ..calibration.fit.report import Calibrated
from ..calibration.fit.starts import SEED
from ..calibration.sensitivity.study_check import StudyCheck, check_study, resolve_study
from ..calibration.simulation.evaluator import Evaluator
from ..calibration.simulation.responses import Vector
from ..calibration.study.study import StudySpec, chosen_studies, load_study, study_names
from ..calibration.uncertainty.discrepancy import TABLE, load_table
from ..calibration.uncertainty.learn_discrepancy import lacking, learn
from ..model.core.errors import InputError
from ..model.core.exact_sums import sum_in_order
from ..scenarios.documents.document import document_from
from ..scenarios.documents.text import plain_text
from ..validation.prediction.comparison import Compared, StudyComparison, summary
from ..validation.prediction.first_shots import FIRST_SHOTS, FirstShot, load_first_shots
from ..validation.prediction.study_queue import WrongRun
from ..validation.report.report import Report, report
from .answer.tree import Answer
from .base import Drawn, Value
from .scenario import Scenario
from .support.fitting import calibrated
from .support.predicting import predict_studies
from .support.unfinished import evaluating
from .tables.calibrate import calibration_answer
from .tables.predict import all_studies, study_answer
from .tables.validate import validation_answer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "ALLOWED",
    "FIRST_SHOTS",
    "SEED",
    "TABLE",
    "Calibrated",
    "Calibration",
    "Evaluator",
    "FioStudy",
    "FirstShot",
    "Predictions",
    "StudyCheck",
    "StudySpec",
    "Validation",
    "Vector",
    "WrongRun",
    "calibrate",
    "check_study",
    "chosen_studies",
    "lacking",
    "learn",
    "load_first_shots",
    "load_profile",
    "load_study",
    "load_table",
    "predict",
    "read_choices",
    "resolve_study",
    "scenario_path",
    "skeleton",
    "study_names",
    "sum_in_order",
    "summary",
    "validate",
]


class Predictions(Drawn):
    """Studies of published reports: every figure as predicted and as measured.

    Attributes
    ----------
    comparisons
        Everything that is known of each study.
    failed
        Why studies could not be predicted, by name.
    """

    schema = "raidsim.predictions"

    def __init__(self, comparisons: Sequence[StudyComparison], failed: Mapping[str, str]) -> None:
        self.comparisons = tuple(comparisons)
        self.failed = dict(failed)

    @property
    def cells(self) -> tuple[Compared, ...]:
        """Every measured figure with its prediction."""
        return tuple(cell for each in self.comparisons for cell in each.cells)

    @property
    def summary(self) -> dict[str, Any]:
        """Errors (%) of the figures that nothing was fitted to, and how many intervals cover what was measured."""
        return summary(self.comparisons)

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        studies = [study_answer(each) for each in self.comparisons]
        return Answer("", [*studies, all_studies(self.comparisons, self.failed)])

    def figure(self) -> Figure:
        from .pictures.predict import comparison_figure

        return comparison_figure(self.comparisons)

    def _document(self) -> Mapping[str, Any]:
        return {
            "studies": [each.document() for each in self.comparisons],
            "summary": self.summary,
            "failed": self.failed,
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [
            {
                "study": each.study.id,
                "cell": cell.cell.id,
                "use": cell.cell.use,
                "unit": cell.unit,
                "measured": cell.measured,
                "predicted": cell.predicted,
                "low": cell.low,
                "high": cell.high,
                "error_pct": cell.error_pct,
                "covered": cell.covered,
                "bottleneck": cell.bottleneck,
            }
            for each in self.comparisons
            for cell in each.cells
        ]

    def __repr__(self) -> str:
        names = ", ".join(each.study.id for each in self.comparisons)
        lost = f"; failed: {', '.join(self.failed)}" if self.failed else ""
        return f"{type(self).__name__}({names}: {len(self.cells)} figures{lost})"


class Validation(Predictions):
    """The same studies, and the report that judges the predictions.

    Attributes
    ----------
    report
        Classes of figures, baselines and coverage.
    """

    schema = "raidsim.validation"

    def __init__(self, comparisons: Sequence[StudyComparison], failed: Mapping[str, str]) -> None:
        super().__init__(comparisons, failed)
        self.report: Report = report(comparisons, failed=failed)

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return validation_answer(self.report)

    def _document(self) -> Mapping[str, Any]:
        return self.report.document()


class Calibration(Value):
    """A fit: parameters with their errors, and what the data do not tell.

    Attributes
    ----------
    found
        Everything that is known of the fit.
    notes
        What a user should know about the measurements.
    """

    schema = "raidsim.calibration"

    def __init__(self, found: Calibrated, own: FioStudy | None = None) -> None:
        self.found = found
        self.notes: tuple[str, ...] = () if own is None else (f"fitted as {own.base.note}", *own.notes)
        self._own = own

    @property
    def factors(self) -> dict[str, float]:
        """Factor on the prior of each parameter."""
        return self.found.profile.factors

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the fit should not be trusted; empty if it is sound."""
        return tuple(self.found.failures)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the profile to a YAML file, which ``raidsim calibrate --from`` reads."""
        self.found.profile.save(Path(path))

    def scenario(self) -> Scenario:
        """Return the fitted machine as a scenario.

        Raises
        ------
        InputError
            If the measurements are those of a published study, which has several machines.
        """
        if self._own is None:
            raise InputError("scenario", f"the study {self.found.study.id}", "expected: a fit to measurements of fio")
        return Scenario.of(document_from(plain_text(self._own.scenario(self.factors)), "fitted machine"))

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return calibration_answer(self.found)

    def _document(self) -> Mapping[str, Any]:
        return self.found.document()

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        rows = []
        for each in self.found.parameters():
            first = each["values"][0]
            rows.append(
                {
                    "parameter": each["name"],
                    "unit": first["unit"],
                    "prior": first["prior"],
                    "fitted": first["value"],
                    "factor": each["factor"],
                    "standard_error": each["standard_error"],
                    "at_bound": each["at_bound"],
                }
            )
        return rows

    def __repr__(self) -> str:
        study, doubt = self.found.study, f"; failed: {self.failures[0]}" if self.failures else ""
        return (
            f"Calibration({study.id}: {len(study.parameters)} parameters, {len(study.calibrate_cells)} measured "
            f"figures{doubt})"
        )


def predict(
    *studies: str, every: bool = False, recalibrate: bool = False, workers: int | None = None, progress: bool = True
) -> Predictions:
    """Predict the figures of published reports, and compare them with what was measured.

    Parameters
    ----------
    studies
        Names (:func:`raidsim.studies` lists them) or files of studies. Default: all that come with raidsim but the
        modern ones, which take long.
    every
        If true, the modern ones too.
    recalibrate
        If true, fit the parameters anew; default: the profiles that come with raidsim.
    workers
        Processes; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress.

    Notes
    -----
    After an interrupt (Ctrl-C) the same call goes on where it was.
    """
    return Predictions(*_predicted("predict", studies, every, recalibrate, workers, progress))


def validate(
    *studies: str, every: bool = False, recalibrate: bool = False, workers: int | None = None, progress: bool = True
) -> Validation:
    """Predict the figures of published reports, and judge the predictions.

    Parameters
    ----------
    studies, every, recalibrate, workers, progress
        As for :func:`predict`.

    Notes
    -----
    After an interrupt (Ctrl-C) the same call goes on where it was.
    """
    return Validation(*_predicted("validate", studies, every, recalibrate, workers, progress))


def _predicted(
    command: str, names: Sequence[str], every: bool, recalibrate: bool, workers: int | None, progress: bool
) -> tuple[list[StudyComparison], dict[str, str]]:
    loaded = chosen_studies(names, every)
    with evaluating(workers, f"api-{command}", [study.id for study in loaded], recalibrate) as evaluator:
        return predict_studies(loaded, evaluator, recalibrate, progress=progress)


def calibrate(
    study: str | PathLike[str],
    *,
    machine: str | PathLike[str] | None = None,
    drive: str | None = None,
    starts: int = 1,
    seed: int = SEED,
    workers: int | None = None,
    progress: bool = True,
) -> Calibration:
    """Fit parameters to measurements.

    Parameters
    ----------
    study
        A folder with fio's JSON reports of your own disk or array, or a study by name or file.
    machine
        Of a folder: a scenario file with the machine; default: one drive.
    drive
        Of a folder: the drive's name in the catalogue; default: found by what fio's reports say.
    starts
        Searches, all but one from random starts.
    seed
        Of the random starts.
    workers
        Processes; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress.

    Notes
    -----
    After an interrupt (Ctrl-C) the same call goes on where it was.
    """
    own = None
    if Path(study).is_dir():
        own = FioStudy(Path(study), None if machine is None else Path(machine), drive)
    elif machine is not None or drive is not None:
        raise InputError("calibrate", f"{study}, which is no folder, with machine or drive", "expected: a folder")
    spec = load_study(str(study)) if own is None else own.study
    return Calibration(calibrated(spec, starts, seed, workers=workers, progress=progress), own)
