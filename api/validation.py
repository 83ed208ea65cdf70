"""How right raidsim is, and whether a change has moved that: the work of `raidsim validate`, `drift` and `laws`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from ..calibration.simulation.evaluator import Evaluator
from ..calibration.simulation.touched_runs import all_switches, chosen_switches
from ..calibration.study.study import StudySpec, chosen_studies, load_study
from ..calibration.uncertainty.discrepancy import TABLE as INTERVALS
from ..calibration.uncertainty.discrepancy import load_table
from ..calibration.uncertainty.intervals import errors_of
from ..calibration.uncertainty.learn_discrepancy import with_errors
from ..validation.conformance.kinds import KINDS
from ..validation.conformance.run import check_kind, document, files_not_checked, kinds_to_run
from ..validation.conformance.totals import ConformanceTotals, totals_from_file, totals_of
from ..validation.conformance.truth_files import DEFAULT_TRUTH, load_truth
from ..validation.drift.drives import DRIVES, drive_table, load_drive_table
from ..validation.drift.pages import written
from ..validation.drift.quick import LIMIT, QUICK, QuickSet, load_quick, quick_figures
from ..validation.drift.table import TABLE, load_study_table, study_table
from ..validation.laws.broken import Broken, open_kinds
from ..validation.laws.hunting.hunt import Hunt, Tally
from ..validation.laws.laws import LAWS, laws_named
from ..validation.prediction.comparison import StudyComparison
from ..validation.prediction.leave_out import LeftOut, can_leave_out, leave_out
from ..validation.prediction.without import Without
from ..validation.report.report import Report, report
from ..validation.report.words import standings
from .support.mechanisms import conformance_without, studies_without
from .support.predicting import predict_studies
from .support.progress import progress_bar, progress_text
from .support.unfinished import evaluating
from .tables.parts.without import conformance_line, study_line

__all__ = [
    "DEFAULT_TRUTH",
    "KINDS",
    "LAWS",
    "Broken",
    "Hunt",
    "Tally",
    "check_kind",
    "chosen_studies",
    "conformance_totals",
    "document",
    "drift_of_all",
    "drift_of_drives",
    "drift_of_quick",
    "files_not_checked",
    "kinds_to_run",
    "laws_named",
    "load_truth",
    "open_kinds",
    "outdated_manual",
    "pages_written",
    "standings",
    "totals_from_file",
    "validated",
    "without_mechanisms",
]
Tell = Callable[[str], None]
"""Takes a line for the user."""


def validated(
    studies: Sequence[StudySpec],
    recalibrate: bool = False,
    cross_validate: bool = False,
    workers: int | None = None,
    totals: Callable[[], ConformanceTotals | None] = lambda: None,
) -> Report:
    """Predict studies and judge the predictions.

    Parameters
    ----------
    studies
        Predicted one after the other.
    recalibrate
        If true, fit again, whatever is stored.
    cross_validate
        If true, fit anew for every level that is left out; takes long.
    workers
        Processes; 0 is this one.
    totals
        Gives what recordings say, after the predictions.
    """
    with evaluating(workers, "validate", [study.id for study in studies], cross_validate, recalibrate) as evaluator:
        comparisons, failed = predict_studies(studies, evaluator, recalibrate)
        left_out = _left_out(studies, evaluator, failed) if cross_validate else []
    return report(comparisons, totals(), left_out, failed)


def outdated_manual() -> str:
    """Which model the manual's tables are of, if it is another one; "" if it is this one."""
    kept = load_study_table()
    if kept.current(load_quick()):
        return ""
    return f"The tables in the manual are of another model ({kept.model}, {kept.date}): raidsim drift"


def without_mechanisms(
    text: str, studies: Sequence[StudySpec], conformance: bool, workers: int | None, tell: Tell
) -> tuple[list[Without], dict[str, str]]:
    """Predict studies, and with `conformance` check recordings, with mechanisms and without them.

    Parameters
    ----------
    text
        Fields to switch off together, or "all": each of them in turn.
    studies
        Predicted with and without.
    conformance
        If true, recordings too.
    workers
        Processes; 0 is this one.
    tell
        Takes a line about each result, as soon as it is there.

    Returns
    -------
    tuple
        What each mechanism changes, and why studies could not be predicted, by name.
    """
    names = all_switches() if text == "all" else chosen_switches(text)
    chosen = [Without((name,)) for name in names] if text == "all" else [Without(names)]
    work = ([study.id for study in studies], names, text == "all")
    with evaluating(workers, "validate-without", *work) as evaluator:
        failed = studies_without(studies, chosen, evaluator, lambda each, found: tell(study_line(each, found)))
        if conformance:
            conformance_without(chosen, lambda each, kind: tell(conformance_line(each, kind)))
    return chosen, failed


def _left_out(studies: Sequence[StudySpec], evaluator: Evaluator, failed: dict[str, str]) -> list[LeftOut]:
    """Cross-validate the studies that could be predicted; why one could not be goes to `failed`."""
    found: list[LeftOut] = []
    for study in studies:
        if study.id in failed:
            continue
        if not can_leave_out(study):
            print(f"{study.id}: no cross-validation, for want of parameters or of a second level", file=sys.stderr)
            continue
        try:
            with progress_bar(f"cross-validating {study.id}") as progress:
                found += leave_out(study, evaluator, progress)
        except Exception as error:  # whatever ends one study must not take the others' results along
            said = " ".join(f"{type(error).__name__}: {error}".split())
            failed[f"{study.id} (cross-validation)"] = said
            print(f"{study.id} could not be cross-validated: {said}", file=sys.stderr)
        finally:
            evaluator.forget()
    return found


def conformance_totals() -> ConformanceTotals:
    """Check all recordings that come with raidsim."""
    truth = load_truth(DEFAULT_TRUTH)
    results = []
    for kind in kinds_to_run([], truth, DEFAULT_TRUTH):
        with progress_text(f"conformance, {kind.name}") as progress:
            results.append(check_kind(kind, truth.by_kind[kind.name], progress))
    return totals_of(results)


def pages_written(tell: Tell) -> None:
    """Write the manual's figures from what is kept."""
    for path in written():
        tell(f"{path.name}: its figures are written anew")


def drift_of_quick(reason: str | None, tell: Tell) -> bool:
    """Predict the quick set; whether a change of it is not kept yet."""
    kept = load_quick()
    found: dict[str, dict[str, float]] = {}
    with progress_bar("quick set") as progress:
        for number, (study, cells) in enumerate(kept.figures.items()):
            progress(number, len(kept.figures))
            found[study] = quick_figures(load_study(study), cells)
    if reason is not None:
        kept.changed(found, reason).save(QUICK)
        return False
    return _told(kept, found, tell)


def _told(kept: QuickSet, found: Mapping[str, Mapping[str, float]], tell: Tell) -> bool:
    for each in kept.moved(found):
        change = 100 * (each.new / each.old - 1)
        tell(f"{each.study}: {each.cell}: {each.old:.6g} -> {each.new:.6g} ({change:+.1f} %)")
    differs = kept.differs(found)
    if not differs:
        tell("The quick set is what is kept, to the last digit.")
        return False
    tell(
        f"{len(differs)} figures of the quick set changed, {len(kept.moved(found))} of them by more than "
        f"{100 * LIMIT:.0f} %. If that is right: raidsim drift --quick --record --reason 'why results changed'"
    )
    return True


def drift_of_all(record: bool, learn: bool, workers: int | None, tell: Tell) -> bool:
    """Predict all studies; whether the kept table is not theirs."""
    studies = chosen_studies((), True)
    with evaluating(workers, "drift", [study.id for study in studies]) as evaluator:
        comparisons, failed = predict_studies(studies, evaluator, False)
        if learn:
            _learn(comparisons)
            comparisons, failed = predict_studies(studies, evaluator, False)
    kept_quick = load_quick()
    made = study_table(report(comparisons, failed=failed), kept_quick)
    kept = load_study_table()
    told = kept.differs(made)
    for line in told:
        tell(line)
    if record:
        made.save(TABLE)
        return False
    if not kept.current(kept_quick):
        tell(f"The kept table is of another model, {kept.model} of {kept.date}.")
    elif not told:
        tell("The kept table is what this model gives.")
        return False
    tell("If that is right: raidsim drift --record")
    return True


def drift_of_drives(record: bool, workers: int | None, tell: Tell) -> bool:
    """Predict the studies of single drives; whether the kept table "drive by drive" is not theirs."""
    studies = [study for study in chosen_studies((), True) if study.report == "drive"]
    with evaluating(workers, "drift-drives", [study.id for study in studies]) as evaluator:
        comparisons, failed = predict_studies(studies, evaluator, False)
    made = drive_table(comparisons)
    told = load_drive_table().differs(made) if DRIVES.exists() else []
    told += [f"{study} could not be predicted: {error}" for study, error in failed.items()]
    for line in told:
        tell(line)
    if record and not failed:
        made.save(DRIVES)
        return False
    if told:
        tell("If that is right: raidsim drift --drives --record")
    return bool(told)


def _learn(comparisons: Sequence[StudyComparison]) -> None:
    """Learn what the model lacks from the predicted cells of all studies, for the intervals of what follows."""
    found = {}
    for each in comparisons:
        if any(compared.cell.use == "predict" for compared in each.cells):
            ratios = {compared.cell.id: compared.log_ratio for compared in each.cells}
            found[each.study.id] = errors_of(each.study, each.profile, ratios)
    with_errors(load_table(), found, date.today().isoformat()).save(INTERVALS)
    load_table.cache_clear()
