"""What `raidsim validate` prints: the report's summaries; the page has the pictures and all cells."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ...validation.prediction.baseline_comparison import GROUPINGS, Judged, grouped, matches, weaknesses
from ...validation.prediction.baselines import BASELINES
from ...validation.prediction.comparison import INTERVAL, summarise
from ...validation.prediction.proportion import Proportion
from ...validation.report.report import (
    NO_SUSPECT,
    NOTEWORTHY_PCT,
    Report,
    coverage,
    coverage_by_class,
    suspects,
    unanswered,
)
from ...validation.report.words import conformance_words, fit_warnings, percent, standings
from ..support.table import Table
from .predict import print_all

_RED = "red"


def print_report(console: Console, report: Report) -> None:
    """The report in tables, after what is wrong with fits."""
    for line in fit_warnings(report):
        console.print(Text(line, style=_RED))
    print_all(console, report.comparisons, report.failed)
    if report.with_first_shot:
        console.print(_first_shots(report))
    for part in report.parts():
        if part.predicted:
            _print_part(console, part)
    if report.conformance is not None:
        console.print(_conformance(report))
    if report.left_out:
        console.print(_left_out(report))
    console.print(Text(f"Conformance: {conformance_words(report.conformance)}"))
    console.print()
    for words in standings(report):
        console.print(Text(words, style="bold"))


def _print_part(console: Console, part: Report) -> None:
    """How right the predictions of some studies are."""
    what = " (modern studies)" if part.studies[0].modern else ""
    console.print(_coverage(part, what))
    console.print(_coverage_by_class(part, what))
    console.print(_baselines(part, what))
    for line in _weaknesses(part):
        console.print(Text(line))
    console.print(_groups(part, what))
    console.print(Text(_far_off(part)))


def _first_shots(report: Report) -> Table:
    """The kept error of each study's first prediction next to today's."""
    title = "First shots: the first prediction of a study, before its figures were seen; and today's"
    table = _table(title, ("study", "", "date"), ("cells", "median", "p90", "inside"))
    for study in report.with_first_shot:
        shot = report.first_shots.shots[study.id]
        errors = [percent(each, 1) for each in (shot.median_error_pct, shot.p90_error_pct)]
        table.add_row(study.id, "first shot", shot.date, str(shot.n), *errors, percent(shot.inside_pct))
        now = summarise(each.compared for each in study.cells if each.compared.cell.use == "predict")
        errors = [percent(now[f"{which}_error_pct"], 1) for which in ("median", "p90")]
        changed = "" if not shot.notes else f"changed {shot.notes[-1].date}"
        table.add_row("", "now", changed, str(now["n"]), *errors, percent(now["coverage_pct"]))
        table.add_section()
    return table


def _table(title: str, words: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", keys=len(words))
    for word in words:
        table.add_column(word, no_wrap=True)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _coverage(report: Report, what: str) -> Table:
    table = _table(
        f"Inside their 90 % interval{what}", ("study",), ("cells", "inside", "share", "95 % limits", "intervals")
    )
    for study in report.studies:
        _add_coverage(table, study.id, coverage(study.cells))
    table.add_section()
    _add_coverage(table, "all", coverage(report.cells))
    return table


def _coverage_by_class(report: Report, what: str) -> Table:
    title = f"The same by kind of figure; intervals are learnt from all other studies{what}"
    table = _table(title, ("kind of figure",), ("studies", "cells", "inside", "share", "95 % limits", "width", "score"))
    for name, each in coverage_by_class(report.studies).items():
        low, high = (f"{100 * limit:.0f}" for limit in each.inside.limits)
        share = percent(100 * (each.inside.share or 0.0))
        counts = (str(each.studies), str(each.inside.n), str(each.inside.count), share, f"{low} - {high} %")
        table.add_row(name, *counts, f"{each.width:.2f}", f"{each.score:.2f}")
    return table


def _add_coverage(table: Table, name: str, covered: Proportion) -> None:
    if not covered.n:
        return
    low, high = (f"{100 * limit:.0f}" for limit in covered.limits)
    verdict = covered.against(INTERVAL)
    marked = Text(verdict, style="" if verdict == "as promised" else _RED)
    share = percent(100 * (covered.share or 0.0))
    table.add_row(name, str(covered.n), str(covered.count), share, f"{low} - {high} %", marked)


def _baselines(report: Report, what: str) -> Table:
    title = f"raidsim and guesses on the same predicted cells{what}"
    table = _table(title, ("study", ""), ("cells", "median", "p90", "raidsim nearer"))
    for study in report.studies:
        _add_baselines(table, study.id, study.cells)
    _add_baselines(table, "all", report.cells)
    return table


def _add_baselines(table: Table, name: str, cells: Sequence[Judged]) -> None:
    found = matches(cells)
    if not found[0].n:
        return
    own = found[0].document()
    errors = [percent(own[f"raidsim_{which}_error_pct"], 1) for which in ("median", "p90")]
    table.add_row(name, "raidsim", str(own["n"]), *errors, "")
    for match in found:
        one = match.document()
        errors = [percent(one[f"{which}_error_pct"], 1) for which in ("median", "p90")]
        table.add_row("", match.baseline.title, "", *errors, percent(one["raidsim_nearer_pct"]))
    table.add_section()


def _weaknesses(report: Report) -> list[str]:
    by_baseline: dict[str, list[str]] = {}
    for weakness in weaknesses(report.cells):
        one = weakness.match.document()
        own, other = (percent(one[f"{which}median_error_pct"], 1) for which in ("raidsim_", ""))
        what = f"{weakness.grouping} {weakness.group} ({own} against {other})"
        by_baseline.setdefault(weakness.match.baseline.title, []).append(what)
    lines = [f"Not better than the {name}: {', '.join(groups)}." for name, groups in by_baseline.items()]
    left = unanswered(report.cells)
    for baseline in BASELINES:
        count = sum(map(len, left[baseline.name].values()))
        if count:
            cells = "1 cell" if count == 1 else f"{count} cells"
            lines.append(f"The {baseline.title} says nothing of {cells}, which are left out of the comparison.")
    return lines


def _groups(report: Report, what: str) -> Table:
    table = _table(f"Errors of predicted cells{what}", ("by", "group"), ("cells", "median", "p90", "worst"))
    for name in GROUPINGS:
        if name == "study":
            continue
        for group, cells in grouped(report.predicted, name).items():
            total = summarise(each.compared for each in cells)
            errors = [percent(total[f"{which}_error_pct"], 1) for which in ("median", "p90", "worst")]
            table.add_row(name, group, str(total["n"]), *errors)
        table.add_section()
    return table


def _far_off(report: Report) -> str:
    """How much needs a suspect, and where these are."""
    cells = sum(each.compared.error_pct > NOTEWORTHY_PCT for each in report.predicted)
    broken = sum(not claimed.holds for comparison in report.comparisons for claimed in comparison.claims)
    unknown = sum(len(suspects(study).get(NO_SUSPECT, ())) for study in report.studies)
    words = [
        f"{_count(cells, 'predicted cell')} off by more than {NOTEWORTHY_PCT:.0f} %, {_count(broken, 'claim')} broken."
    ]
    if unknown:
        words.append(f"No cause is suspected yet for {unknown} of these.")
    if cells + broken > unknown:
        words.append("The suspected causes are in the page (--html).")
    return " ".join(words)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _conformance(report: Report) -> Table:
    table = _table("Recorded cases of real programs", ("kind",), ("cases", "matched", "aim"))
    for each in report.conformance.kinds if report.conformance is not None else ():
        matched = Text(str(each.matched), style="" if each.reached else _RED)
        table.add_row(each.kind, str(each.cases), matched, percent(each.aim_pct))
    return table


def _left_out(report: Report) -> Table:
    title = "Cross-validation: fitted without a level, whatever the cells' marks; not the predictions above"
    numbers = ("fitted to", "predicted", "median", "p90", "in interval")
    table = _table(title, ("study", "left out"), numbers)
    for each in report.left_out:
        total = summarise(each.cells)
        errors = [percent(total[f"{which}_error_pct"], 1) for which in ("median", "p90")]
        row = [str(each.fitted), str(total["n"]), *errors, percent(total["coverage_pct"])]
        table.add_row(each.study, each.level, *row)
    return table
