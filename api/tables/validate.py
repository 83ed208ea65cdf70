"""How right raidsim is: errors, intervals, guesses, claims and recordings; a page has pictures and all cells too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...validation.prediction.baseline_comparison import GROUPINGS, LEAST_IN_GROUP, Judged, grouped, matches, weaknesses
from ...validation.prediction.baselines import BASELINES
from ...validation.prediction.comparison import INTERVAL, summarise
from ...validation.prediction.proportion import Proportion
from ...validation.report.report import (
    NO_SUSPECT,
    NOTEWORTHY_PCT,
    Report,
    StudyReport,
    coverage,
    coverage_by_class,
    suspects,
    unanswered,
)
from ...validation.report.words import conformance_words, digits, fit_warnings, percent
from ..answer.numbers import PERCENT, PERCENTS, counted, fixed
from ..answer.tree import RULE, Answer, Cell, Column, Marked, Part, Picture, Row, Table, Words, lines
from .predict import ERRORS, claims_table, error_cell, errors, failed_lines, missing_cells, totals

_TWO = ("median", "p90")
_STUDY = (Column("study", whole=True),)
_ERRORS = [Column("cells", show=str), *(Column(name, show=PERCENTS) for name in _TWO)]
_COVERED = [Column(name, show=str) for name in ("cells", "inside", "share", "95 % limits", "intervals")]


def validation_answer(report: Report, whole: bool = False) -> Answer:
    """The report; the `whole` of it, for a page, has pictures, explanations and all cells."""
    brief: list[tuple[str, Callable[[Report], Iterable[Part]]]] = [
        ("Predicted cells", _summary),
        ("Errors", _errors),
        ("Intervals", _intervals),
        ("Against guessing", _guesses),
        *([("Cross-validation", _left_out)] if report.left_out else []),
        ("Conformance", _conformance),
        ("What is wrong", _misses),
    ]
    parts: list[Part] = [*lines(fit_warnings(report), "bad")]
    for title, told in brief:
        more = _MORE[title](report) if whole and title in _MORE else ()
        parts.append(Answer(title, [*told(report), *more]))
    if whole:
        parts.append(Answer("Claims", list(_claims(report))))
        parts.append(Answer("What is missing", list(_missing(report))))
        parts.append(Answer("All cells", [part for study in report.studies for part in _cells(study)]))
    return Answer("How right raidsim is", parts)


def _of_parts(report: Report, title: str, table: Callable[[Report, str], Table]) -> Iterator[Table]:
    """A table of all studies but the modern ones, and one of these."""
    for part in report.parts():
        if part.predicted:
            yield table(part, f"{title}{' (modern studies)' if part.studies[0].modern else ''}")


def _summary(report: Report) -> Iterator[Part]:
    yield from totals(report.comparisons, report.failed)
    yield from failed_lines(report.failed)
    if report.with_first_shot:
        yield _first_shots(report)


def _more_summary(report: Report) -> Iterator[Part]:
    yield Words(
        "An error is |ln(predicted / measured)| in percent: 10 % is a ratio of 1.105 or its inverse. Cells that were "
        "fitted to and cells that were predicted are never mixed.",
        "note",
    )
    fitted = [(study.id, *_total(study.cells, "calibrate", ERRORS)[:-1]) for study in report.studies if study.cells]
    columns = [*_STUDY, *_ERRORS, Column("worst", show=PERCENTS)]
    yield Table("How well the calibrate cells could be fitted, which is no prediction", columns, fitted)


def _total(cells: Iterable[Judged], use: str = "predict", names: Sequence[str] = _TWO) -> list[Cell]:
    """Number of cells, errors and coverage of the cells of one use."""
    return errors(summarise(each.compared for each in cells if each.compared.cell.use == use), names)


def _first_shots(report: Report) -> Table:
    """The kept error of each study's first prediction next to today's."""
    columns = [*_STUDY, Column("", whole=True), Column("date", whole=True), *_ERRORS, Column("inside", show=PERCENT)]
    rows: list[Row] = []
    for study in report.with_first_shot:
        shot = report.first_shots.shots[study.id]
        figures = (str(shot.n), shot.median_error_pct, shot.p90_error_pct, shot.inside_pct)
        rows.append((study.id, "first shot", shot.date, *figures, ""))
        changed = f"changed {shot.notes[-1].date}" if shot.notes else ""
        notes = "; ".join(f"{each.date}: {each.text}" for each in shot.notes)
        rows += [("", "now", changed, *_total(study.cells), notes), RULE]
    title = "First shots: the first prediction of a study, before its figures were seen; and today's"
    return Table(title, [*columns, Column("changed since", detail=True)], rows, keys=3)


def _errors(report: Report) -> Iterator[Part]:
    yield from _of_parts(report, "Errors of predicted cells", _groups)
    if not report.predicted:
        yield Words("These studies have no predicted cells.")


def _groups(report: Report, title: str) -> Table:
    rows: list[Row] = []
    for name in GROUPINGS:
        if name != "study":
            groups = grouped(report.predicted, name).items()
            rows += [(name, group, *_total(cells, names=ERRORS)[:-1]) for group, cells in groups]
            rows.append(RULE)
    columns = [Column("by", whole=True), Column("group", whole=True), *_ERRORS, Column("worst", show=PERCENTS)]
    return Table(title, columns, rows, keys=2)


def _more_errors(report: Report) -> Iterator[Part]:
    from ...validation.report.plots import error_histogram, residual_plots, scatter_plots

    if report.predicted:
        yield Words("Every predicted cell. On the line the prediction is right.")
        yield from _pictures(scatter_plots(report))
        yield Words(
            "Every point is a predicted cell, the bar the middle half of a group, its tick the median. Errors beyond "
            "the axis stand at its end. The pale band is 20 % wide on either side."
        )
        yield from _pictures([("how often predicted / measured is what", error_histogram(report))])
        yield from _pictures(residual_plots(report))


def _pictures(drawn: Iterable[tuple[str, str]]) -> list[Picture]:
    return [Picture(caption, lambda svg=svg: svg) for caption, svg in drawn]  # type: ignore[misc]


def _intervals(report: Report) -> Iterator[Table]:
    yield from _of_parts(report, "Inside their 90 % interval", _coverage)
    yield from _of_parts(report, "The same by kind of figure; intervals are learnt from all other studies", _by_class)


def _more_intervals(report: Report) -> Iterator[Part]:
    from ...validation.report.plots import coverage_plot

    if report.predicted:
        yield Words(
            f"Of the intervals, {100 * INTERVAL:.0f} % should hold what was measured. The limits are those of "
            "independent cells (binomial, 95 %); cells of one study share its mechanisms, so the true ones are wider. "
            "The width is the median factor between a prediction and an end of its interval. The score is the mean "
            "interval score of ln(figure): the interval's length, plus 20 times how far the measured value lies "
            "outside.",
            "note",
        )
        yield from _pictures([("share inside the interval", coverage_plot(report))])


def _coverage(report: Report, title: str) -> Table:
    known = [(study.id, coverage(study.cells)) for study in report.studies]
    rows: list[Row] = [(name, *covered_cells(found)) for name, found in known if found.n]
    return Table(title, [*_STUDY, *_COVERED], [*rows, RULE, ("all", *covered_cells(coverage(report.cells)))])


def covered_cells(covered: Proportion) -> list[Cell]:
    """How many cells lie in their interval, what that says of the share, and whether it is as promised."""
    low, high = (f"{100 * limit:.0f}" for limit in covered.limits)
    verdict = covered.against(INTERVAL)
    share = percent(100 * (covered.share or 0.0))
    marked = Marked(verdict, "good" if verdict == "as promised" else "bad")
    return [str(covered.n), str(covered.count), share, f"{low} - {high} %", marked]


def _by_class(report: Report, title: str) -> Table:
    columns = [Column("kind of figure", whole=True), Column("studies", show=str), *_COVERED]
    columns += [Column(name, show=fixed(2)) for name in ("width", "score")]
    rows = [
        (name, str(each.studies), *covered_cells(each.inside), each.width, each.score)
        for name, each in coverage_by_class(report.studies).items()
    ]
    return Table(title, columns, rows)


def _guesses(report: Report) -> Iterator[Part]:
    for part in report.parts():
        if part.predicted:
            what = " (modern studies)" if part.studies[0].modern else ""
            yield _baselines(part, f"raidsim and guesses on the same predicted cells{what}")
            yield from lines(_weaknesses(part))


def _more_guesses(report: Report) -> Iterator[Part]:
    from ...validation.report.plots import baseline_plot

    yield Words(
        "What a prediction is worth is what it adds to a guess. The rule of thumb multiplies a single drive's figure "
        "by what is said of the level: n drives are n times as fast, RAID 5 loses one, a random write costs 4 I/Os, "
        "and so on. The other guess copies the nearest calibrate cell. Both know the calibrate cells only, and all "
        f"three are compared on the cells that all can answer, in groups of at least {LEAST_IN_GROUP}.",
        "note",
    )
    drawn = baseline_plot(report)
    yield from _pictures([("cells by error", drawn)] if drawn is not None else [])
    left = unanswered(report.cells)
    yield from lines(
        f"{baseline.title}: {reason} ({len(names)}: {', '.join(names)})"
        for baseline in BASELINES
        for reason, names in left[baseline.name].items()
    )


def _baselines(report: Report, title: str) -> Table:
    columns = [*_STUDY, Column("", whole=True), *_ERRORS, Column("raidsim nearer", show=str)]
    rows: list[Row] = []
    for name, cells in [*((study.id, study.cells) for study in report.studies), ("all", report.cells)]:
        found = [match.document() for match in matches(cells)]
        if found[0]["n"]:
            own = [found[0][f"raidsim_{which}_error_pct"] for which in _TWO]
            rows.append((name, "raidsim", str(found[0]["n"]), *own, ""))
            for baseline, one in zip(BASELINES, found, strict=True):
                low, high = one["raidsim_nearer_limits_pct"]
                nearer = f"{percent(one['raidsim_nearer_pct'])} ({low:.0f} - {high:.0f})"
                rows.append(("", baseline.title, str(one["n"]), *(one[f"{which}_error_pct"] for which in _TWO), nearer))
            rows.append(RULE)
    return Table(title, columns, rows, keys=2)


def _weaknesses(report: Report) -> list[str]:
    by_baseline: dict[str, list[str]] = {}
    for weakness in weaknesses(report.cells):
        one = weakness.match.document()
        own, other = (percent(one[f"{which}median_error_pct"], 1) for which in ("raidsim_", ""))
        what = f"{weakness.grouping} {weakness.group} ({own} against {other})"
        by_baseline.setdefault(weakness.match.baseline.title, []).append(what)
    told = [f"Not better than the {name}: {', '.join(groups)}." for name, groups in by_baseline.items()]
    left = unanswered(report.cells)
    for baseline in BASELINES:
        count = sum(map(len, left[baseline.name].values()))
        if count:
            cells = counted(count, "cell")
            told.append(f"The {baseline.title} says nothing of {cells}, which are left out of the comparison.")
    return told


def _left_out(report: Report) -> Iterator[Part]:
    columns = [*_STUDY, Column("left out", whole=True), Column("fitted to", show=str), Column("predicted", show=str)]
    columns += [*(Column(name, show=PERCENTS) for name in _TWO), Column("in interval", show=PERCENT)]
    rows = [
        (each.study, each.level, str(each.fitted), *errors(summarise(each.cells), _TWO)) for each in report.left_out
    ]
    title = "Cross-validation: fitted without a level, whatever the cells' marks; not the predictions above"
    yield Table(title, columns, rows, keys=2)


def _claims(report: Report) -> Iterator[Part]:
    yield Words("What the reports say in words, as a ratio of two figures and what it has to lie within.")
    for study in report.studies:
        claims = study.comparison.claims
        if claims:
            held = sum(claimed.holds for claimed in claims)
            yield claims_table(claims, f"{study.id}: {held} of {len(claims)} held")


def _conformance(report: Report) -> Iterator[Part]:
    columns = [Column("kind", whole=True), Column("the same", detail=True), Column("cases", show=str)]
    columns += [Column(name, show=str) for name in ("matched", "not checked")]
    columns += [Column("aim", show=PERCENT)]
    rows: list[Row] = []
    for each in report.conformance.kinds if report.conformance is not None else ():
        matched = Marked(str(each.matched), "" if each.reached else "bad")
        rows.append((each.kind, each.asks, str(each.cases), matched, str(each.not_checked), each.aim_pct))
    yield Table("Recorded cases of real programs", columns, rows)
    yield Words(f"Conformance: {conformance_words(report.conformance)}")


def _misses(report: Report) -> Iterator[Words]:
    """How much needs a suspect, and where these are."""
    for part in report.parts():
        if part.predicted:
            yield Words(far_off(part))


def far_off(report: Report) -> str:
    """How many cells and claims are wrong, and of how many no cause is suspected."""
    cells = sum(each.compared.error_pct > NOTEWORTHY_PCT for each in report.predicted)
    broken = sum(not claimed.holds for comparison in report.comparisons for claimed in comparison.claims)
    unknown = sum(len(suspects(study).get(NO_SUSPECT, ())) for study in report.studies)
    off = f"{counted(cells, 'predicted cell')} off by more than {NOTEWORTHY_PCT:.0f} %"
    told = [f"{off}, {counted(broken, 'claim')} broken."]
    if unknown:
        told.append(f"No cause is suspected yet for {unknown} of these.")
    if cells + broken > unknown:
        told.append("The suspected causes are in the page (--html).")
    return " ".join(told)


def _more_misses(report: Report) -> Iterator[Part]:
    columns = [Column("off, or broken"), Column("suspected")]
    for study in report.studies:
        rows = [(", ".join(names), mechanism) for mechanism, names in suspects(study).items()]
        yield Table(study.id, columns, rows)


def _missing(report: Report) -> Iterator[Words]:
    yield Words("Numbers of the reports that no run gives, by what they need.")
    for study in report.studies:
        needs = missing_cells(study.comparison).items()
        yield from lines(f"{study.id}: {', '.join(names)}: {need}" for need, names in needs)


_MORE: dict[str, Callable[[Report], Iterable[Part]]] = {
    "Predicted cells": _more_summary,
    "Errors": _more_errors,
    "Intervals": _more_intervals,
    "Against guessing": _more_guesses,
    "What is wrong": _more_misses,
}
"""What a page has besides, by section."""


def _cells(study: StudyReport) -> Iterator[Part]:
    source = study.comparison.study.source
    yield Words(f"{study.id}: {study.comparison.study.title}", "title")
    yield Words(f"{source.author}, {source.date}: {source.where}", "note")
    columns = [Column("cell"), Column("level"), Column("unit")]
    columns += [Column(name, show=str) for name in ("measured", "predicted", "error", "90 % interval", "inside")]
    for use, what in (("predict", "Predicted"), ("calibrate", "Calibrated on")):
        cells = [each for each in study.cells if each.compared.cell.use == use]
        guessed = BASELINES if use == "predict" else ()
        rows = [
            [*_cell(each), *(None if (guess := each.guessed(one.name)) is None else digits(guess) for one in guessed)]
            for each in cells
        ]
        more = [Column(baseline.title, show=str) for baseline in guessed]
        yield Table(f"{what} ({len(cells)})", [*columns, *more], rows)
    if not study.cells:
        yield Words("The study has claims only.")


def _cell(each: Judged) -> list[Cell]:
    compared = each.compared
    row: list[Cell] = [compared.cell.id, each.cell_class.level, compared.unit]
    row += [digits(compared.measured), digits(compared.predicted), error_cell(compared)]
    inside = Marked("yes", "good") if compared.covered else Marked("no", "bad")
    return [*row, f"{digits(compared.low)} - {digits(compared.high)}", inside]
