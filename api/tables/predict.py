"""What predictions of studies tell: every figure as predicted and as measured, claims, suspects, and the totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...calibration.fit.profile import Profile
from ...validation.prediction.comparison import Claimed, Compared, StudyComparison, ZeroCompared, summarise, summary
from ...validation.prediction.study_queue import WrongRun
from ...validation.report.words import bounds
from ..answer.numbers import PERCENT, PERCENTS, counted, fixed
from ..answer.tree import RULE, Answer, Cell, Column, Marked, Part, Row, Table, Words, lines

_NOTEWORTHY_PCT = 40.0
"""Errors above this are explained below the tables."""
_RED_PCT = 20.0
ERRORS = ("median", "p90", "worst")
_BOTH = ("measured", "predicted")
_TOTALS = (
    Column("study", whole=True),
    Column("cells", show=str),
    *(Column(name, show=PERCENTS) for name in ERRORS),
    Column("in interval", show=PERCENT),
    Column("claims held", show=str),
    Column("missing", show=str),
)


def fit_lines(failures: Sequence[str], misfits: Sequence[str]) -> list[Words]:
    """What is wrong with a fit, for the top of its tables."""
    wrong = [*(f"The fit failed: {line}." for line in failures), *(f"Not explained: {line}." for line in misfits)]
    return lines(wrong, "bad")


def study_answer(comparison: StudyComparison) -> Answer:
    """Everything about one study."""
    source = comparison.study.source
    return Answer(f"{comparison.study.title} ({source.author}, {source.date})", list(_parts(comparison)))


def _parts(comparison: StudyComparison) -> Iterator[Part]:
    if note := kept_note(comparison):
        yield Words(note, "note")
    yield from fit_lines(comparison.failures, comparison.misfits)
    if comparison.profile is not None:
        yield _parameters(comparison.profile)
        yield from _doubts(comparison.profile)
    for use, heading in (("calibrate", "Calibrated on"), ("predict", "Predicted")):
        cells = [compared for compared in comparison.cells if compared.cell.use == use]
        if cells:
            yield _cells(heading, cells)
            yield Words(_summary_line(summarise(cells)))
    if comparison.zeros:
        yield _zeros(comparison.zeros)
        missed = sum(each.missed for each in comparison.zeros)
        yield Words(f"{missed} of {len(comparison.zeros)} missed; they are in no median and no percentile.")
    if comparison.claims:
        yield claims_table(comparison.claims, "Claims of the report")
        held = sum(claimed.holds for claimed in comparison.claims)
        yield Words(f"{held} of {len(comparison.claims)} claims hold.")
    told = [*_suspicions(comparison), *_missing(comparison)]
    yield from (Words(line, apart=not place) for place, line in enumerate(told))
    yield Words("")


def kept_note(comparison: StudyComparison) -> str:
    """Which rows are results that came with raidsim; empty if none is."""
    kept = [each.cell.id for each in comparison.cells if each.kept]
    if not comparison.kept_runs:
        return ""
    if comparison.kept_runs == len(comparison.study.wanted_runs):
        return "Every row is a kept result of this model."
    return f"Kept results of this model: {', '.join(kept) or 'claims only'}. The rest is simulated."


def verdict(count: int, wrong: Sequence[WrongRun]) -> Part:
    """Whether the kept results came out the same when they were simulated."""
    if not wrong:
        return Words(f"All {count:,} kept results are verified: simulated again, they came out the same.")
    title = f"{len(wrong):,} of {count:,} kept results are wrong; the tables with what was simulated follow"
    columns = [Column(name) for name in ("study", "run", "kept", "simulated")]
    rows = [(each.study, each.run, each.kept, each.simulated) for each in wrong]
    return Answer("", [Words(title, "bad"), Table("", columns, rows, keys=2)])


def all_studies(comparisons: Sequence[StudyComparison], failed: Mapping[str, str]) -> Answer:
    """One line a study, and the totals; modern studies in a table of their own."""
    if len(comparisons) + len(failed) < 2:
        return Answer("", [])
    return Answer("", [*totals(comparisons, failed), *failed_lines(failed)])


def failed_lines(failed: Mapping[str, str]) -> list[Words]:
    """Studies that could not be predicted."""
    return lines(f"{study} could not be predicted: {error}" for study, error in failed.items())


def totals(comparisons: Sequence[StudyComparison], failed: Mapping[str, str]) -> Iterator[Table]:
    """The errors of each study; those of modern studies and of single drives in tables of their own."""
    titles = {"modern": "Predicted cells of modern studies", "drive": "Predicted cells of single drives"}
    of = {report: [each for each in comparisons if each.study.report == report] for report in titles}
    others = [comparison for comparison in comparisons if comparison.study.report not in titles]
    if others or not comparisons:
        yield _totals("Predicted cells of all studies", others, failed)
        failed = {}
    for report, studies in of.items():
        if studies:
            yield _totals(titles[report], studies, failed)
            failed = {}


def _totals(title: str, comparisons: Sequence[StudyComparison], failed: Iterable[str]) -> Table:
    rows: list[Row] = [(comparison.study.id, *_figures([comparison])) for comparison in comparisons]
    rows += [(Marked(study, "bad"), Marked("failed", "bad"), *[None] * 6) for study in failed]
    rows.append(RULE)
    seed = [comparison for comparison in comparisons if comparison.study.report == "seed"]
    if seed:
        rows.append(("the five reports" if len(seed) == 5 else f"{len(seed)} of the five reports", *_figures(seed)))
    return Table(title, _TOTALS, [*rows, ("all", *_figures(comparisons))])


def _figures(comparisons: Sequence[StudyComparison]) -> list[Cell]:
    total = summary(comparisons)
    claims = total["claims"]
    held = f"{claims['held']}/{claims['n']}" if claims["n"] else "-"
    return [*errors(total["predict"]), held, str(total["missing"])]


def errors(predicted: Mapping[str, Any], names: Sequence[str] = ERRORS) -> list[Cell]:
    """Number of cells, their errors (%) and the percentage in their interval; "-" for what no cell has."""
    found = [*(predicted[f"{name}_error_pct"] for name in names), predicted["coverage_pct"]]
    return [str(predicted["n"]), *("-" if value is None else value for value in found)]


def _parameters(profile: Profile) -> Table:
    columns = [Column("parameter"), Column("factor", show=fixed(3))]
    columns += [Column("standard error", show=PERCENTS, scale=100.0), Column("prior", show=PERCENT, scale=100.0)]
    rows = [(each.name, each.factor, each.standard_error, each.prior_sd) for each in profile.parameters]
    return Table("Fitted parameters", columns, rows)


def _doubts(profile: Profile) -> list[Words]:
    """What a reader must know about the fit before trusting it, in words."""
    unknown = profile.undetermined()
    told = [f"The calibrated cells say next to nothing about {', '.join(unknown)}."] if unknown else []
    return lines(
        told
        + [
            f"The calibrated cells cannot tell {first} from {second} (correlation {value:.2f})."
            for first, second, value in profile.inseparable()
        ]
    )


def _cells(heading: str, cells: Sequence[Compared]) -> Table:
    units = list(dict.fromkeys(compared.unit for compared in cells))
    one = len(units) == 1
    columns = [
        Column("cell"),
        *(Column(name, show=str) for name in ("measured", "predicted", "error", "90 % interval")),
    ]
    columns += [*(() if one else (Column("unit", whole=True),)), Column("busiest", whole=True)]
    rows: list[Row] = []
    for compared in cells:
        low, high = _digits(compared.low, 1), _digits(compared.high, 1)
        figures = (_digits(compared.measured, 2), _digits(compared.predicted, 2), error_cell(compared))
        interval = Marked(f"{low} - {high}", "" if compared.covered else "doubt")
        rows.append((compared.cell.id, *figures, interval, *(() if one else (compared.unit,)), compared.busiest))
    return Table(f"{heading} ({units[0]})" if one else heading, columns, rows)


def error_cell(compared: Compared) -> Marked:
    """The error of a prediction, marked if it is large."""
    return Marked(f"{100 * compared.log_ratio:+.1f} %", "bad" if compared.error_pct > _RED_PCT else "")


def _zeros(cells: Sequence[ZeroCompared]) -> Table:
    columns = [
        Column("cell"),
        *(Column(name, show=str) for name in ("measured", "predicted", "unit", "agrees up to", "")),
    ]
    rows: list[Row] = []
    for each in cells:
        within = "-" if each.cell.within is None else f"{each.cell.within:g}"
        found = Marked("missed", "bad") if each.missed else "agrees"
        figures = (_digits(each.cell.measured, 2), _digits(each.predicted, 2))
        rows.append((each.cell.id, *figures, each.cell.unit, within, found))
    return Table("Cells with a 0, which have no ratio", columns, rows)


def _digits(value: float, most: int) -> str:
    """A number with up to this many decimals, fewer where it is large."""
    return f"{value:.{most}f}" if value < 1000 else f"{value:.0f}"


def claims_table(claims: Sequence[Claimed], title: str) -> Table:
    """Claims as ratios of two figures, and what these have to lie within."""
    columns = [Column("claim"), *(Column(name, show=str) for name in ("ratio", "allowed", "measured"))]
    rows = [
        (
            each.claim.gist,
            each.shown,
            bounds(each.claim.ratio),
            "-" if each.measured is None else f"{each.measured:.2f}",
            "holds" if each.holds else Marked("broken", "bad"),
        )
        for each in claims
    ]
    return Table(title, [*columns, Column("", whole=True)], rows)


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


def missing_cells(comparison: StudyComparison) -> dict[str, list[str]]:
    """The cells of the report that no run gives, by what they need."""
    needs: dict[str, list[str]] = {}
    for cell in comparison.study.missing:
        needs.setdefault(cell.needs, []).append(cell.id)
    return needs


def _missing(comparison: StudyComparison) -> list[str]:
    needs = missing_cells(comparison)
    total = sum(map(len, needs.values()))
    if not total:
        return []
    cells = "1 more cell of the report is" if total == 1 else f"{total} more cells of the report are"
    return [f"{cells} missing:", *(f"- {', '.join(names)}: {need}" for need, names in needs.items())]


def _summary_line(figures: dict[str, Any]) -> str:
    return (
        f"{counted(figures['n'], 'cell')}: median error {figures['median_error_pct']:.1f} %, "
        f"90th percentile {figures['p90_error_pct']:.1f} %, worst {figures['worst_error_pct']:.1f} %; "
        f"{figures['coverage_pct']:.0f} % inside their 90 % interval."
    )
