"""What `raidsim predict` prints: tables of cells and claims, and a summary of all studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ...calibration.fit.profile import Profile
from ...validation.prediction.comparison import Claimed, Compared, StudyComparison, ZeroCompared, summarise, summary
from ...validation.prediction.study_queue import WrongRun
from ..support.table import Table

_NOTEWORTHY_PCT = 40.0
"""Errors above this are explained below the tables."""
_RED_PCT = 20.0
_WIDTH = 100


def tables_console() -> Console:
    """A console as wide as a page where nobody looks at it right now."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


def fit_lines(failures: Sequence[str], misfits: Sequence[str]) -> list[Text]:
    """What is wrong with a fit, for the top of its tables."""
    wrong = [f"The fit failed: {line}." for line in failures] + [f"Not explained: {line}." for line in misfits]
    return [Text(line, style="red") for line in wrong]


def print_study(console: Console, comparison: StudyComparison) -> None:
    """Everything about one study."""
    study = comparison.study
    console.print(Text(study.title, style="bold"), Text(f"({study.source.author}, {study.source.date})"))
    if note := kept_note(comparison):
        console.print(Text(note, style="dim"))
    for warning in fit_lines(comparison.failures, comparison.misfits):
        console.print(warning)
    if comparison.profile is not None:
        console.print(_parameters(comparison.profile))
        for line in _doubts(comparison.profile):
            console.print(Text(line))
    for use, heading in (("calibrate", "Calibrated on"), ("predict", "Predicted")):
        cells = [compared for compared in comparison.cells if compared.cell.use == use]
        if cells:
            console.print(_cells(heading, cells))
            console.print(_summary_line(summarise(cells)))
            console.print()
    if comparison.zeros:
        console.print(_zeros(comparison.zeros))
        missed = sum(each.missed for each in comparison.zeros)
        console.print(f"{missed} of {len(comparison.zeros)} missed; they are in no median and no percentile.")
        console.print()
    if comparison.claims:
        console.print(_claims(comparison.claims))
        held = sum(claimed.holds for claimed in comparison.claims)
        console.print(f"{held} of {len(comparison.claims)} claims hold.")
        console.print()
    for line in (*_suspicions(comparison), *_missing(comparison)):
        console.print(Text(line), soft_wrap=False)
    console.print()


def kept_note(comparison: StudyComparison) -> str:
    """Which rows are results that came with raidsim; empty if none is."""
    kept = [each.cell.id for each in comparison.cells if each.kept]
    if not comparison.kept_runs:
        return ""
    if comparison.kept_runs == len(comparison.study.wanted_runs):
        return "Every row is a kept result of this model."
    return f"Kept results of this model: {', '.join(kept) or 'claims only'}. The rest is simulated."


def print_verdict(console: Console, count: int, wrong: Sequence[WrongRun]) -> None:
    """Whether the kept results came out the same when they were simulated."""
    if not wrong:
        console.print(f"All {count:,} kept results are verified: simulated again, they came out the same.")
        return
    title = f"{len(wrong):,} of {count:,} kept results are wrong; the tables with what was simulated follow"
    table = Table(title=title, title_justify="left", title_style="red")
    for heading in ("study", "run", "kept", "simulated"):
        table.add_column(heading, overflow="fold")
    for each in wrong:
        table.add_row(Text(each.study), Text(each.run), Text(each.kept), Text(each.simulated))
    console.print(table)


def print_all(console: Console, comparisons: Sequence[StudyComparison], failed: Mapping[str, str]) -> None:
    """One line a study, and the totals; modern studies in a table of their own."""
    if len(comparisons) + len(failed) < 2:
        return
    modern = [comparison for comparison in comparisons if comparison.study.report == "modern"]
    others = [comparison for comparison in comparisons if comparison.study.report != "modern"]
    if others or not modern:
        console.print(_studies("Predicted cells of all studies", others, failed))
    if modern:
        console.print(_studies("Predicted cells of modern studies", modern, {} if others else failed))
    for study, error in failed.items():
        console.print(Text(f"{study} could not be predicted: {error}"))


def _studies(title: str, comparisons: Sequence[StudyComparison], failed: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("study", no_wrap=True)
    for heading in ("cells", "median", "p90", "worst", "in interval", "claims held", "missing"):
        table.add_column(heading, justify="right")
    for comparison in comparisons:
        table.add_row(comparison.study.id, *_figures(summary([comparison])))
    for study in failed:
        table.add_row(Text(study, style="red"), Text("failed", style="red"))
    table.add_section()
    seed = [comparison for comparison in comparisons if comparison.study.report == "seed"]
    if seed:
        table.add_row(
            "the five reports" if len(seed) == 5 else f"{len(seed)} of the five reports", *_figures(summary(seed))
        )
    table.add_row("all", *_figures(summary(comparisons)))
    return table


def _figures(total: dict[str, Any]) -> list[str]:
    predicted, claims = total["predict"], total["claims"]
    errors = [predicted[f"{which}_error_pct"] for which in ("median", "p90", "worst")]
    percentages = [*(("-" if error is None else f"{error:.1f} %") for error in errors)]
    coverage = "-" if predicted["coverage_pct"] is None else f"{predicted['coverage_pct']:.0f} %"
    held = f"{claims['held']}/{claims['n']}" if claims["n"] else "-"
    return [str(predicted["n"]), *percentages, coverage, held, str(total["missing"])]


def _parameters(profile: Profile) -> Table:
    table = Table(title="Fitted parameters", title_justify="left")
    table.add_column("parameter")
    for heading in ("factor", "standard error", "prior"):
        table.add_column(heading, justify="right")
    for each in profile.parameters:
        error, prior = f"{100 * each.standard_error:.1f} %", f"{100 * each.prior_sd:.0f} %"
        table.add_row(Text(each.name), f"{each.factor:.3f}", error, prior)
    return table


def _doubts(profile: Profile) -> list[str]:
    """What a reader must know about the fit before trusting it, in words."""
    lines = []
    if profile.undetermined():
        lines.append(f"The calibrated cells say next to nothing about {', '.join(profile.undetermined())}.")
    for first, second, value in profile.inseparable():
        lines.append(f"The calibrated cells cannot tell {first} from {second} (correlation {value:.2f}).")
    return lines


def _cells(heading: str, cells: Sequence[Compared]) -> Table:
    units = list(dict.fromkeys(compared.unit for compared in cells))
    one = units[0] if len(units) == 1 else None
    table = Table(title=f"{heading} ({one})" if one else heading, title_justify="left")
    table.add_column("cell", overflow="fold")
    for column in ("measured", "predicted", "error", "90 % interval"):
        table.add_column(column, justify="right", no_wrap=True)
    if one is None:
        table.add_column("unit", no_wrap=True)
    table.add_column("busiest", no_wrap=True)
    for compared in cells:
        error = Text(f"{100 * compared.log_ratio:+.1f} %", style="red" if compared.error_pct > _RED_PCT else "")
        low, high = _digits(compared.low, 1), _digits(compared.high, 1)
        interval = Text(f"{low} - {high}", style="" if compared.covered else "yellow")
        numbers = (_digits(compared.measured, 2), _digits(compared.predicted, 2), error, interval)
        unit = () if one else (compared.unit,)
        table.add_row(Text(compared.cell.id), *numbers, *unit, compared.busiest)
    return table


def _zeros(cells: Sequence[ZeroCompared]) -> Table:
    table = Table(title="Cells with a 0, which have no ratio", title_justify="left")
    table.add_column("cell", overflow="fold")
    for column in ("measured", "predicted", "unit", "agrees up to", ""):
        table.add_column(column, justify="right", no_wrap=True)
    for each in cells:
        within = "-" if each.cell.within is None else f"{each.cell.within:g}"
        verdict = Text("missed", style="red") if each.missed else Text("agrees")
        numbers = (_digits(each.cell.measured, 2), _digits(each.predicted, 2))
        table.add_row(Text(each.cell.id), *numbers, each.cell.unit, within, verdict)
    return table


def _digits(value: float, most: int) -> str:
    """A number with up to this many decimals, fewer where it is large."""
    return f"{value:.{most}f}" if value < 1000 else f"{value:.0f}"


def _claims(claims: Sequence[Claimed]) -> Table:
    table = Table(title="Claims of the report", title_justify="left")
    table.add_column("claim")
    table.add_column("ratio", justify="right", no_wrap=True)
    table.add_column("allowed", justify="right", no_wrap=True)
    table.add_column("measured", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for each in claims:
        low, high = each.claim.ratio
        bounds = f"{low:g} or more" if high is None and low is not None else f"up to {high:g}"
        if low is not None and high is not None:
            bounds = f"{low:g} - {high:g}"
        measured = "-" if each.measured is None else f"{each.measured:.2f}"
        verdict = Text("holds") if each.holds else Text("broken", style="red")
        table.add_row(Text(each.claim.gist), each.shown, bounds, measured, verdict)
    return table


def _suspicions(comparison: StudyComparison) -> Iterable[str]:
    """What is thought to be behind large errors and broken claims, each mechanism once."""
    wrong: dict[str, list[str]] = {}
    for compared in comparison.cells:
        if compared.cell.use == "predict" and compared.error_pct > _NOTEWORTHY_PCT:
            what = f"{compared.cell.id} is off by {compared.error_pct:.0f} %"
            wrong.setdefault(compared.suspected or "no mechanism suspected yet", []).append(what)
    for each in comparison.zeros:
        if each.missed and each.cell.use == "predict":
            what = f"{each.cell.id} is predicted to be {each.predicted:.3g} {each.cell.unit}"
            wrong.setdefault(each.suspected or "no mechanism suspected yet", []).append(what)
    for claimed in comparison.claims:
        if not claimed.holds:
            what = f"{claimed.claim.id} does not hold"
            wrong.setdefault(claimed.suspected or "no mechanism suspected yet", []).append(what)
    return [f"{', '.join(names)}: {mechanism}" for mechanism, names in wrong.items()]


def _missing(comparison: StudyComparison) -> list[str]:
    """The cells of the report that no run gives, by what they need."""
    needs: dict[str, list[str]] = {}
    for cell in comparison.study.missing:
        needs.setdefault(cell.needs, []).append(cell.id)
    total = sum(map(len, needs.values()))
    if not total:
        return []
    cells = "1 more cell of the report is" if total == 1 else f"{total} more cells of the report are"
    return [f"{cells} missing:", *(f"- {', '.join(names)}: {need}" for need, names in needs.items())]


def _summary_line(figures: dict[str, Any]) -> str:
    return (
        f"{figures['n']} cell{'' if figures['n'] == 1 else 's'}: median error {figures['median_error_pct']:.1f} %, "
        f"90th percentile {figures['p90_error_pct']:.1f} %, worst {figures['worst_error_pct']:.1f} %; "
        f"{figures['coverage_pct']:.0f} % inside their 90 % interval."
    )
