"""What a fit tells: its parameters, what the data do not say about them, and where other searches ended."""

from __future__ import annotations

from ...calibration.fit.profile import Profile
from ...calibration.fit.report import Calibrated
from ...calibration.fit.starts import Searches
from ...calibration.uncertainty.discrepancy import DiscrepancyTable
from ...model.files.quantities import format_duration, format_rate, format_size
from ..answer.numbers import PERCENTS, counted
from ..answer.tree import Answer, Column, Marked, Part, Row, Table, Words, lines
from .predict import fit_lines

_FURTHEST = 3
"""Parameters of a start that are shown."""
_FORMATS = {"bytes/s": format_rate, "s": format_duration, "bytes": format_size}


def calibration_answer(found: Calibrated) -> Answer:
    """All of a fit."""
    profile, searches = found.profile, found.searches
    cost = "" if profile.cost is None else f"cost {profile.cost:.3g}, "
    parts: list[Part] = [*fit_lines(found.failures, found.misfits), _parameters(found)]
    parts += lines([*found.doubts, *found.choices])
    parts.append(
        Words(
            f"{counted(len(found.study.calibrate_cells), 'cell')}: {cost}{profile.evaluations} evaluations, "
            f"{profile.simulations} simulations; two thirds of the cells are within {100 * profile.discrepancy:.1f} %."
        )
    )
    if len(searches.optima) > 1:
        same = sum(not start.differs_in for start in searches.of(profile))
        ended = f"{same} of {len(searches.optima)} starts ended at the best one, within its 90 % intervals."
        parts += [_starts(searches, profile), Words(ended)]
    return Answer(found.study.title, parts)


def _starts(searches: Searches, profile: Profile) -> Table:
    columns = [Column(name, show=str) for name in ("start", "cost", "evaluations")]
    columns += [Column("furthest from the best, in standard errors"), Column("ended")]
    names = [parameter.name for parameter in profile.parameters]
    rows: list[Row] = []
    for number, start in enumerate(searches.of(profile), 1):
        optimum, best = start.optimum, start.optimum is searches.best
        furthest = sorted(zip(start.distances, names, strict=True), reverse=True)[:_FURTHEST]
        told = "" if best else ", ".join(f"{name} {distance:.1f}" for distance, name in furthest)
        ended = Marked("the best" if best else start.verdict, "bad" if start.differs_in else "")
        rows.append((str(number), f"{optimum.cost:.3g}", str(optimum.evaluations), told, ended))
    return Table("", columns, rows)


def _parameters(found: Calibrated) -> Table:
    headings = ["prior", "fitted", "factor", "allowed", *(["90 % interval"] if found.limits else [])]
    rows: list[Row] = []
    for each in found.parameters():
        first, more = each["values"][0], len(each["values"]) - 1
        name = f"{each['name']} (and {counted(more, 'more value')})" if more else each["name"]
        cells = [
            f"{_value(first['prior'], first['unit'])} ± {100 * each['prior_sd']:.0f} %",
            _value(first["value"], first["unit"]),
            f"{each['factor']:.3f} ± {100 * each['standard_error']:.1f} %",
            f"{each['bounds'][0]:.2f} - {each['bounds'][1]:.2f}",
            *([_limits(each)] if found.limits else []),
        ]
        rows.append((Marked(name, "bad" if each["at_bound"] else ""), *cells))
    return Table("", [Column("parameter"), *(Column(name, show=str) for name in headings)], rows)


def _limits(parameter: dict[str, object]) -> str:
    interval = parameter.get("interval")
    if not isinstance(interval, list):
        return ""
    low, high = ("open" if limit is None else f"{limit:.3f}" for limit in interval)
    return f"{low} - {high}"


def _value(value: float, unit: str) -> str:
    """A value in its unit, three digits."""
    if unit not in _FORMATS:
        return f"{value:,.3g} {unit}".strip() if value < 1000 else f"{value:,.0f} {unit}".strip()
    return _FORMATS[unit](value)


def learnt_answer(table: DiscrepancyTable, without: list[str]) -> Answer:
    """How far predicted cells are off, study by study; `without`: studies that are not in the table."""
    columns = [Column("study"), Column("class"), Column("cells", show=str)]
    columns += [Column(name, show=PERCENTS, scale=100.0) for name in ("half", "68 %", "90 %")]
    rows = [
        (study, f"{device} {kind}", str(errors.cells), *errors.errors)
        for study, devices in table.studies.items()
        for device, kinds in devices.items()
        for kind, errors in kinds.items()
    ]
    lacking = lines((f"{name} has predicted cells and is not in the table." for name in without), "bad")
    return Answer("", [Table("How far predicted cells are off", columns, rows, keys=2), *lacking])
