"""The report as one HTML file: its sections in words, numbers and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..prediction.baseline_comparison import LEAST_IN_GROUP, Judged, matches, weaknesses
from ..prediction.baselines import BASELINES
from ..prediction.comparison import INTERVAL, summarise
from ..prediction.leave_out import LeftOut
from ..prediction.proportion import Proportion
from .html_page import Entry, Mark, Section, bullets, heading, page, paragraph, pictures, table
from .plots import baseline_plot, coverage_plot, error_histogram, residual_plots, scatter_plots
from .report import NOTEWORTHY_PCT, Report, StudyReport, coverage, coverage_by_class, suspects, unanswered
from .words import bounds, cell_row, conformance_words, fit_warnings, percent, standings

_CELL_HEADINGS = ("cell", "level", "unit", "measured", "predicted", "error", "90 % interval", "inside")


def html_report(report: Report, version: str) -> str:
    """The page, which says which version of raidsim made it."""
    sections = [
        Section("summary", "Summary", _summary(report)),
        Section("cells", "Predicted against measured", _against(report)),
        Section("errors", "Errors", _errors(report)),
        Section("coverage", "Intervals", _coverage(report)),
        Section("baselines", "Against guessing", _baselines(report)),
        Section("claims", "Claims", _claims(report)),
        Section("conformance", "Conformance", _conformance(report)),
        Section("misses", "What is wrong", _misses(report)),
        Section("missing", "What is missing", _missing(report)),
        Section("all-cells", "All cells", "".join(map(_cells, report.studies))),
    ]
    if report.left_out:
        sections.insert(5, Section("cross-validation", "Cross-validation", _left_out(report.left_out)))
    wrong = fit_warnings(report)
    lead = (
        "".join(map(paragraph, standings(report)))
        + (bullets(wrong) if wrong else "")
        + paragraph(
            f"raidsim {version}. An error is |ln(predicted / measured)| in percent: 10 % is a ratio of 1.105 or its "
            "inverse. Cells that were fitted to and cells that were predicted are never mixed.",
            note=True,
        )
    )
    return page("How right raidsim is", lead, sections)


def _summary(report: Report) -> str:
    headings = ("study", "predicted cells", "median", "p90", "worst", "in 90 % interval", "claims held", "missing")
    shown = ""
    failed_rows: list[list[Entry]] = [[study, Mark("failed", False), *[""] * 6] for study in report.failed]
    for part in report.parts() or [report]:
        modern = any(study.modern for study in part.studies)
        seed = [study for study in part.studies if study.report == "seed"]
        rows = [_summary_row(study.id, [study]) for study in part.studies] + failed_rows
        if seed:
            rows.append(_summary_row(f"{len(seed)} of the five reports" if len(seed) < 5 else "the five reports", seed))
        rows.append(_summary_row("all", part.studies))
        shown += (paragraph("Modern studies:") if modern else "") + table(headings, rows)
        failed_rows = []
    failed = bullets(f"{study} could not be predicted: {error}" for study, error in report.failed.items())
    fitted = table(
        ("study", "calibrated cells", "median", "p90", "worst"),
        [_errors_row(study.id, study.cells, "calibrate")[:5] for study in report.studies if study.cells],
    )
    words = paragraph("How well the calibrate cells could be fitted, which is no prediction:")
    return _first_shots(report) + shown + (failed if report.failed else "") + words + fitted


def _first_shots(report: Report) -> str:
    """The first prediction of each study next to today's."""
    rows: list[list[Entry]] = []
    for study in report.with_first_shot:
        shot = report.first_shots.shots[study.id]
        errors = [percent(each, 1) for each in (shot.median_error_pct, shot.p90_error_pct)]
        now = _errors_row(study.id, study.cells, "predict")
        first = [study.id, shot.date, str(shot.n), *errors, percent(shot.inside_pct), now[2], now[3], now[5]]
        rows.append([*first, "; ".join(f"{each.date}: {each.text}" for each in shot.notes)])
    if not rows:
        return ""
    headings = ("study", "first shot", "cells", "median", "p90", "inside", "median now", "p90 now", "inside now")
    words = "First shots: the first prediction of a study, made before its figures were seen, and today's."
    return paragraph(words) + table((*headings, "changed since"), rows, words=(0, 1, 9))


def _summary_row(name: str, studies: Sequence[StudyReport]) -> list[Entry]:
    cells = [each for study in studies for each in study.cells]
    claims = [claimed for study in studies for claimed in study.comparison.claims]
    held = f"{sum(claimed.holds for claimed in claims)} of {len(claims)}" if claims else "-"
    missing = sum(len(study.comparison.study.missing) for study in studies)
    return [*_errors_row(name, cells, "predict"), held, str(missing)]


def _errors_row(name: str, cells: Iterable[Judged], use: str) -> list[Entry]:
    total = summarise(each.compared for each in cells if each.compared.cell.use == use)
    errors = [percent(total[f"{which}_error_pct"], 1) for which in ("median", "p90", "worst")]
    return [name, str(total["n"]), *errors, percent(total["coverage_pct"])]


def _against(report: Report) -> str:
    drawn = scatter_plots(report)
    if not drawn:
        return paragraph("These studies have no predicted cells.")
    return paragraph("Every predicted cell. On the line the prediction is right.") + pictures(drawn)


def _errors(report: Report) -> str:
    if not report.predicted:
        return paragraph("These studies have no predicted cells.")
    words = (
        "Every point is a predicted cell, the bar the middle half of a group, its tick the median. Errors beyond the "
        "axis stand at its end. The pale band is 20 % wide on either side."
    )
    histogram = ("how often predicted / measured is what", error_histogram(report))
    return paragraph(words) + pictures([histogram, *residual_plots(report)])


def _coverage(report: Report) -> str:
    if not report.predicted:
        return paragraph("These studies have no predicted cells.")
    words = (
        f"Of the intervals, {100 * INTERVAL:.0f} % should hold what was measured. The limits are those of independent "
        "cells (binomial, 95 %); cells of one study share its mechanisms, so the true ones are wider."
    )
    shares = [(study.id, coverage(study.cells)) for study in report.studies]
    rows = [_coverage_row(name, covered) for name, covered in (*shares, ("all", coverage(report.cells))) if covered.n]
    shown = table(("study", "cells", "inside", "share", "95 % limits", "intervals"), rows, words=(0, 5))
    return (
        paragraph(words) + pictures([("share inside the interval", coverage_plot(report))]) + shown + _by_class(report)
    )


def _by_class(report: Report) -> str:
    """Coverage by class of figure."""
    words = (
        "By kind of figure. An interval is learnt from the predicted cells of all other studies. The width is the "
        "median factor between a prediction and an end of its interval. The score is the mean interval score of "
        "ln(figure): the interval's length, plus 20 times how far the measured value lies outside."
    )
    found = coverage_by_class(report.studies).items()
    rows = [
        [name, str(each.studies), *_coverage_row(name, each.inside)[1:], f"{each.width:.2f}", f"{each.score:.2f}"]
        for name, each in found
    ]
    headings = ("kind of figure", "studies", "cells", "inside", "share", "95 % limits", "intervals", "width", "score")
    return paragraph(words) + table(headings, rows, words=(0, 6))


def _coverage_row(name: str, covered: Proportion) -> list[Entry]:
    low, high = (f"{100 * limit:.0f}" for limit in covered.limits)
    verdict = covered.against(INTERVAL)
    mark = Mark(verdict, verdict == "as promised")
    share = percent(100 * (covered.share or 0.0))
    return [name, str(covered.n), str(covered.count), share, f"{low} - {high} %", mark]


def _baselines(report: Report) -> str:
    words = (
        "What a prediction is worth is what it adds to a guess. The rule of thumb multiplies a single drive's figure "
        "by what is said of the level: n drives are n times as fast, RAID 5 loses one, a random write costs 4 I/Os, "
        "and so on. The other guess copies the nearest calibrate cell. Both know the calibrate cells only, and all "
        "three are compared on the cells that all can answer. In brackets: 95 % limits, as for the intervals."
    )
    drawn = baseline_plot(report)
    if drawn is None:
        return paragraph(words) + paragraph("There is no such cell in these studies.") + _unanswered(report)
    headings = ["cells of", "n", "raidsim", "p90"]
    for baseline in BASELINES:
        headings += [baseline.title, "p90", "raidsim nearer"]
    shown = pictures([("cells by error", drawn)])
    for part in report.parts():
        rows = [_baseline_row(study.id, study.cells) for study in part.studies]
        rows.append(_baseline_row("all", part.cells))
        words_of = paragraph("Modern studies:") if part.studies[0].modern else ""
        shown += words_of + table(headings, [row for row in rows if row])
    return paragraph(words) + shown + _not_better(report) + _unanswered(report)


def _baseline_row(name: str, cells: Sequence[Judged]) -> list[Entry]:
    found = [match.document() for match in matches(cells)]
    own = found[0]
    if not own["n"]:
        return []
    row: list[Entry] = [name, str(own["n"])]
    row += [percent(own[f"raidsim_{which}_error_pct"], 1) for which in ("median", "p90")]
    for one in found:
        nearer, better = one["raidsim_nearer_pct"], one["raidsim_median_error_pct"] < one["median_error_pct"]
        low, high = one["raidsim_nearer_limits_pct"]
        row += [Mark(percent(one["median_error_pct"], 1), better), percent(one["p90_error_pct"], 1)]
        row.append(f"{percent(nearer)} ({low:.0f} - {high:.0f})")
    return row


def _not_better(report: Report) -> str:
    found = list(weaknesses(report.cells))
    title = heading("Where raidsim is not better", "not-better")
    if not found:
        words = f"In no group of at least {LEAST_IN_GROUP} cells does a baseline have the smaller median error."
        return title + paragraph(words)
    rows: list[list[Entry]] = []
    for weakness in found:
        one = weakness.match.document()
        medians = [percent(one[f"{which}median_error_pct"], 1) for which in ("raidsim_", "")]
        row = [weakness.grouping, weakness.group, weakness.match.baseline.title, str(one["n"]), *medians]
        rows.append([*row, percent(one["raidsim_nearer_pct"])])
    words = f"Groups of at least {LEAST_IN_GROUP} cells in which a baseline's median error is no larger than raidsim's:"
    headings = ("by", "group", "baseline", "n", "raidsim", "baseline's median", "raidsim nearer")
    return title + paragraph(words) + table(headings, rows, words=(0, 1, 2))


def _unanswered(report: Report) -> str:
    items = []
    for baseline in BASELINES:
        for reason, names in unanswered(report.cells)[baseline.name].items():
            items.append(f"{baseline.title}: {reason} ({len(names)}: {', '.join(names)})")
    if not items:
        return ""
    words = paragraph("Left out of the comparison, because a baseline says nothing of them:")
    return heading("Cells without a guess", "unanswered") + words + bullets(items)


def _left_out(left_out: Iterable[LeftOut]) -> str:
    words = (
        "Cross-validation, in which the study's marks are ignored: each study is fitted to all cells but those of one "
        "level, and predicts these. Cells that the tables above predict are fitted to here, though never in the fit "
        "that predicts them."
    )
    rows = []
    for each in left_out:
        total = summarise(each.cells)
        errors = [percent(total[f"{which}_error_pct"], 1) for which in ("median", "p90", "worst")]
        names = [each.study, each.level, str(each.fitted), str(total["n"])]
        rows.append([*names, *errors, percent(total["coverage_pct"])])
    headings = ("study", "left out", "fitted to", "predicted", "median", "p90", "worst", "in 90 % interval")
    return paragraph(words) + table(headings, rows, words=(0, 1))


def _claims(report: Report) -> str:
    parts = []
    for study in report.studies:
        claims = study.comparison.claims
        if not claims:
            continue
        held = sum(claimed.holds for claimed in claims)
        rows: list[list[Entry]] = [
            [
                claimed.claim.gist,
                claimed.shown,
                bounds(claimed.claim.ratio),
                "-" if claimed.measured is None else f"{claimed.measured:.2f}",
                Mark("holds", True) if claimed.holds else Mark("broken", False),
            ]
            for claimed in claims
        ]
        parts.append(heading(f"{study.id}: {held} of {len(claims)} held", f"claims-{study.id}"))
        parts.append(table(("claim", "predicted ratio", "allowed", "measured", ""), rows))
    words = "What the reports say in words, as a ratio of two figures and what it has to lie within."
    return paragraph(words) + ("".join(parts) or paragraph("These studies have none."))


def _conformance(report: Report) -> str:
    if report.conformance is None:
        return paragraph(conformance_words(None))
    rows: list[list[Entry]] = [
        [
            each.kind,
            each.asks,
            str(each.cases),
            Mark(str(each.matched), each.reached),
            percent(100 * each.matched / each.cases if each.cases else None, 1),
            percent(each.aim_pct),
        ]
        for each in report.conformance.kinds
    ]
    words = conformance_words(report.conformance)
    return paragraph(words) + table(("kind", "the same", "cases", "matched", "share", "aim"), rows, words=(0, 1))


def _misses(report: Report) -> str:
    parts = []
    for study in report.studies:
        found = suspects(study)
        if found:
            rows: list[list[Entry]] = [[", ".join(names), mechanism] for mechanism, names in found.items()]
            parts.append(heading(study.id, f"misses-{study.id}"))
            parts.append(table(("off, or broken", "suspected"), rows, words=(0, 1)))
    words = (
        f"Predicted cells that are off by more than {NOTEWORTHY_PCT:.0f} %, and claims that do not hold, with the "
        "mechanism that is thought to be behind them."
    )
    return paragraph(words) + ("".join(parts) or paragraph("None."))


def _missing(report: Report) -> str:
    items = []
    for study in report.studies:
        needs: dict[str, list[str]] = {}
        for cell in study.comparison.study.missing:
            needs.setdefault(cell.needs, []).append(cell.id)
        items += [f"{study.id}: {', '.join(names)}: {need}" for need, names in needs.items()]
    words = paragraph("Numbers of the reports that no run gives, by what they need.")
    return words + (bullets(items) if items else paragraph("None."))


def _cells(study: StudyReport) -> str:
    parts = [heading(f"{study.id}: {study.comparison.study.title}", f"cells-{study.id}")]
    source = study.comparison.study.source
    parts.append(paragraph(f"{source.author}, {source.date}: {source.where}", note=True))
    titles = [baseline.title for baseline in BASELINES]
    for use, what in (("predict", "Predicted"), ("calibrate", "Calibrated on")):
        cells = [each for each in study.cells if each.compared.cell.use == use]
        if cells:
            more = titles if use == "predict" else []
            parts.append(paragraph(f"{what} ({len(cells)}):"))
            rows = [cell_row(each, bool(more)) for each in cells]
            parts.append(table((*_CELL_HEADINGS, *more), rows, words=(0, 1, 2)))
    if not study.cells:
        parts.append(paragraph("The study has claims only."))
    return "".join(parts)
