"""Numbers and findings of the report in words, the same on a page and on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ..conformance.totals import ConformanceTotals
from ..prediction.baseline_comparison import Match, matches, weaknesses
from ..prediction.comparison import INTERVAL, summarise
from .report import Report, coverage


def percent(value: float | None, decimals: int = 0) -> str:
    """A percentage; "-" where there is none."""
    return "-" if value is None else f"{value:.{decimals}f} %"


def digits(value: float) -> str:
    """A number of a report, with as many decimals as its size deserves."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 100 else f"{value:.3g}" if value < 1 else f"{value:.2f}"


def bounds(ratio: tuple[float | None, float | None]) -> str:
    """What a claim's ratio has to lie within."""
    low, high = ratio
    if high is None:
        return f"{low:g} or more"
    return f"up to {high:g}" if low is None else f"{low:g} - {high:g}"


def standings(report: Report) -> list[str]:
    """All of the report in a few sentences; modern studies have sentences of their own."""
    told = [("Modern studies: " if part.studies[0].modern else "") + _standing(part) for part in report.parts()]
    return told or [_standing(report)]


def _standing(report: Report) -> str:
    total = summarise(each.compared for each in report.predicted)
    if not total["n"]:
        return "These studies have no predicted cells."
    covered = coverage(report.cells)
    low, high = (100 * limit for limit in covered.limits)
    claims = [claimed for comparison in report.comparisons for claimed in comparison.claims]
    errors = (
        f"{total['n']} predicted cells: median error {total['median_error_pct']:.1f} %, 90th percentile "
        f"{total['p90_error_pct']:.1f} %, worst {total['worst_error_pct']:.1f} %."
    )
    inside = (
        f"{total['coverage_pct']:.0f} % lie inside their {100 * INTERVAL:.0f} % interval (95 % limits {low:.0f} to "
        f"{high:.0f} %): the intervals are {covered.against(INTERVAL)}."
    )
    lines = [errors, inside]
    if claims:
        lines.append(f"{sum(claimed.holds for claimed in claims)} of {len(claims)} claims hold.")
    lines += baseline_words(matches(report.cells))
    weak = sum(1 for _ in weaknesses(report.cells))
    if weak:
        lines.append(f"Of single groups of cells, a guess is as good or better in {weak}.")
    return " ".join(lines)


def baseline_words(found: Sequence[Match]) -> list[str]:
    """Whether raidsim is better than each baseline, in a sentence each."""
    lines = []
    for match in found:
        one = match.document()
        if one["n"]:
            verdict = "better" if match.better else "not better"
            lines.append(
                f"raidsim is {verdict} than the {match.baseline.title}: median error "
                f"{one['raidsim_median_error_pct']:.1f} against {one['median_error_pct']:.1f} % on {one['n']} cells, "
                f"nearer in {one['raidsim_nearer_pct']:.0f} % of them."
            )
    return lines


def conformance_words(totals: ConformanceTotals | None) -> str:
    """What is known of the conformance, in a sentence."""
    if totals is None:
        return "Not run for this report; --conformance runs it, --conformance-json takes what a run has printed."
    cases, matched = sum(each.cases for each in totals.kinds), sum(each.matched for each in totals.kinds)
    aims = "every kind reaches its aim" if totals.reached else "not every kind reaches its aim"
    left = sum(each.not_checked for each in totals.kinds)
    not_checked = f", {left} are not checked" if left else ""
    return f"{matched} of {cases} recorded cases of real programs match{not_checked} ({totals.origin}); {aims}."


def fit_warnings(report: Report) -> list[str]:
    """What is wrong with fits, study by study: those that failed, then calibrated cells that noise does not explain."""
    studies = [(study.id, study.comparison) for study in report.studies]
    failed = [f"{name}: the fit failed: {line}" for name, each in studies for line in each.failures]
    return failed + [f"{name}: {line}" for name, each in studies for line in each.misfits]
