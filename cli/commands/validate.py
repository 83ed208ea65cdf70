"""`raidsim validate` and `raidsim drift`: how right raidsim is, and whether a change has moved that."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from ... import __version__
from ...api.support.predicting import predict_studies
from ...api.support.progress import progress_bar, progress_text
from ...api.support.unfinished import evaluating
from ...calibration.simulation.evaluator import Evaluator
from ...calibration.simulation.touched_runs import all_switches, chosen_switches
from ...calibration.study.study import StudySpec, chosen_studies, load_study
from ...calibration.uncertainty.discrepancy import TABLE as INTERVALS
from ...calibration.uncertainty.discrepancy import load_table
from ...calibration.uncertainty.intervals import errors_of
from ...calibration.uncertainty.learn_discrepancy import with_errors
from ...model.core.errors import InputError
from ...validation.conformance.run import check_kind, kinds_to_run
from ...validation.conformance.totals import ConformanceTotals, totals_from_file, totals_of
from ...validation.conformance.truth_files import DEFAULT_TRUTH, load_truth
from ...validation.drift.pages import written
from ...validation.drift.quick import LIMIT, QUICK, QuickSet, load_quick, quick_figures
from ...validation.drift.table import TABLE, load_study_table, study_table
from ...validation.prediction.comparison import StudyComparison
from ...validation.prediction.leave_out import LeftOut, can_leave_out, leave_out
from ...validation.prediction.without import Without
from ...validation.report.html import html_report
from ...validation.report.report import report
from ..support.files import require_matplotlib, whole_file
from ..support.mechanisms import conformance_without, studies_without
from ..support.options import EveryStudyOption, RecalibrateOption, StudiesArgument, WorkersOption
from ..tables.predict import tables_console
from ..tables.validate import print_report
from ..tables.without import conformance_line, print_without, study_line


def validate_command(
    studies: StudiesArgument = None,
    every: EveryStudyOption = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    recalibrate: RecalibrateOption = False,
    leave_out_levels: Annotated[
        bool, typer.Option("--leave-out", help="Cross-validate too: a fit for every level of a study; takes long.")
    ] = False,
    conformance: Annotated[
        bool, typer.Option("--conformance", help="Run the conformance checks too; takes minutes.")
    ] = False,
    conformance_json: Annotated[
        Path | None, typer.Option("--conformance-json", help="What `raidsim conformance --json` has printed.")
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without",
            metavar="FIELD[,FIELD]",
            help="Instead: what changes without these mechanisms; `all`: without each in turn, which takes hours.",
        ),
    ] = None,
    workers: WorkersOption = None,
) -> None:
    """Predict the studies as `raidsim predict` does, and judge the predictions."""
    if without is not None:
        others = {"--html": html, "--recalibrate": recalibrate, "--leave-out": leave_out_levels}
        others["--conformance-json"] = conformance_json
        for option, given in others.items():
            if given:
                raise InputError("--without", f"{option} too", "expected: one of the two")
        _without(without, chosen_studies(studies or (), every), conformance, as_json, workers)
        return
    if html is not None:
        _check_file(html)
    if conformance and conformance_json is not None:
        raise InputError("--conformance-json", "--conformance too", "expected: one of the two")
    totals = None if conformance_json is None else totals_from_file(conformance_json)
    loaded = chosen_studies(studies or (), every)
    with evaluating(workers, "validate", [study.id for study in loaded], leave_out_levels, recalibrate) as evaluator:
        comparisons, failed = predict_studies(loaded, evaluator, recalibrate)
        left_out = _left_out(loaded, evaluator, failed) if leave_out_levels else []
    if conformance:
        totals = _conformance()
    made = report(comparisons, totals, left_out, failed)
    if html is not None:
        with whole_file(html, "--html") as unfinished:
            unfinished.write_text(html_report(made, __version__), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(made.document()))
    else:
        print_report(tables_console(), made)
        kept = load_study_table()
        if not kept.current(load_quick()):
            typer.echo(f"The tables in the manual are of another model ({kept.model}, {kept.date}): raidsim drift")
    if failed or (totals is not None and not totals.reached):
        raise typer.Exit(1)


def _without(text: str, studies: Sequence[StudySpec], conformance: bool, as_json: bool, workers: int | None) -> None:
    """Predict the studies with mechanisms and without them, and print what changes."""
    names = all_switches() if text == "all" else chosen_switches(text)
    chosen = [Without((name,)) for name in names] if text == "all" else [Without(names)]

    def tell(line: str) -> None:
        typer.echo(line, err=as_json)

    work = ([study.id for study in studies], names, text == "all")
    with evaluating(workers, "validate-without", *work) as evaluator:
        failed = studies_without(studies, chosen, evaluator, lambda each, found: tell(study_line(each, found)))
        if conformance:
            conformance_without(chosen, lambda each, kind: tell(conformance_line(each, kind)))
    if as_json:
        failures = [{"id": study, "error": error} for study, error in failed.items()]
        typer.echo(json.dumps({"mechanisms": [each.document() for each in chosen], "failed": failures}))
    else:
        print_without(tables_console(), chosen)
    if failed:
        raise typer.Exit(1)


def _check_file(path: Path) -> None:
    """Refuse a page that could not be written, before anything long is computed."""
    require_matplotlib("--html")
    if not path.absolute().parent.is_dir():
        raise InputError(
            "--html", f"{path}: there is no folder {path.parent}", "expected: a file in an existing folder"
        )
    if path.exists() and not path.is_file():
        raise InputError("--html", f"{path} is no file", "expected: a new file, or one to be replaced")


def _left_out(studies: Sequence[StudySpec], evaluator: Evaluator, failed: dict[str, str]) -> list[LeftOut]:
    """Cross-validate the studies that could be predicted; why one could not be goes to `failed`."""
    found: list[LeftOut] = []
    for study in studies:
        if study.id in failed:
            continue
        if not can_leave_out(study):
            typer.echo(f"{study.id}: no cross-validation, for want of parameters or of a second level", err=True)
            continue
        try:
            with progress_bar(f"cross-validating {study.id}") as progress:
                found += leave_out(study, evaluator, progress)
        except Exception as error:  # whatever ends one study must not take the others' results along
            said = " ".join(f"{type(error).__name__}: {error}".split())
            failed[f"{study.id} (cross-validation)"] = said
            typer.echo(f"{study.id} could not be cross-validated: {said}", err=True)
        finally:
            evaluator.forget()
    return found


def _conformance() -> ConformanceTotals:
    truth = load_truth(DEFAULT_TRUTH)
    results = []
    for kind in kinds_to_run([], truth, DEFAULT_TRUTH):
        with progress_text(f"conformance, {kind.name}") as progress:
            results.append(check_kind(kind, truth.by_kind[kind.name], progress))
    return totals_of(results)


def drift_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the quick set: two or three figures of each study.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Keep what is found; with --quick it needs --reason.")
    ] = False,
    learn: Annotated[
        bool, typer.Option("--learn", help="With --record: learn the 90 % intervals anew from all studies first.")
    ] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why results of the quick set changed.")
    ] = None,
    pages: Annotated[
        bool, typer.Option("--pages", help="Only write the manual's figures from what is kept; nothing is predicted.")
    ] = False,
    workers: WorkersOption = None,
) -> None:
    """Compare predictions of the published reports with those that are kept, and say what moved."""
    if reason is not None and not (quick and record):
        raise InputError("--reason", "no --quick --record", "expected: together with both")
    if quick and record and reason is None:
        raise InputError("--record", "no --reason", "expected: --reason with why results changed")
    if learn and (quick or not record):
        raise InputError("--learn", "no --record, or --quick", "expected: with --record, and all studies")
    if pages:
        _pages()
        return
    moved = _drift_of_quick(reason) if quick else _drift_of_all(record, learn, workers)
    if record:
        _pages()
    elif moved:
        raise typer.Exit(1)


def _pages() -> None:
    for path in written():
        typer.echo(f"{path.name}: its figures are written anew")


def _drift_of_quick(reason: str | None) -> bool:
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
    return _told(kept, found)


def _told(kept: QuickSet, found: Mapping[str, Mapping[str, float]]) -> bool:
    for each in kept.moved(found):
        change = 100 * (each.new / each.old - 1)
        typer.echo(f"{each.study}: {each.cell}: {each.old:.6g} -> {each.new:.6g} ({change:+.1f} %)")
    differs = kept.differs(found)
    if not differs:
        typer.echo("The quick set is what is kept, to the last digit.")
        return False
    typer.echo(
        f"{len(differs)} figures of the quick set changed, {len(kept.moved(found))} of them by more than "
        f"{100 * LIMIT:.0f} %. If that is right: raidsim drift --quick --record --reason 'why results changed'"
    )
    return True


def _drift_of_all(record: bool, learn: bool, workers: int | None) -> bool:
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
        typer.echo(line)
    if record:
        made.save(TABLE)
        return False
    if not kept.current(kept_quick):
        typer.echo(f"The kept table is of another model, {kept.model} of {kept.date}.")
    elif not told:
        typer.echo("The kept table is what this model gives.")
        return False
    typer.echo("If that is right: raidsim drift --record")
    return True


def _learn(comparisons: Sequence[StudyComparison]) -> None:
    """Learn what the model lacks from the predicted cells of all studies, for the intervals of what follows."""
    found = {}
    for each in comparisons:
        if any(compared.cell.use == "predict" for compared in each.cells):
            ratios = {compared.cell.id: compared.log_ratio for compared in each.cells}
            found[each.study.id] = errors_of(each.study, each.profile, ratios)
    with_errors(load_table(), found, date.today().isoformat()).save(INTERVALS)
    load_table.cache_clear()
