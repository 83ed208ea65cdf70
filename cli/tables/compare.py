"""Tables of `raidsim compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ...api.support.figures import (
    SPEED,
    capacity,
    once_in,
    places_of,
    probability,
    rebuild_time,
    speed_figures,
    speed_titles,
    survived,
    three_digits,
    unit_of,
)
from ...calibration.uncertainty.model_interval import evidence_lines
from ...model.files.quantities import format_duration
from ...model.statistics.batch_means import Estimate
from ...scenarios.comparison.reliability import assumed_rates
from ...scenarios.comparison.side_by_side import Comparison, Measured, Settings
from ...scenarios.description.any_workload import LoadsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.tuning import ServiceSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.running.full_load import without_phases
from ..support.table import Table
from .power import no_figure, watts_words

_LONG_S = 7 * 86400.0
"""A rebuild that takes longer is worth a warning."""


def print_comparison(console: Console, title: str, found: Comparison, settings: Settings, span: int | None) -> None:
    """Everything about a comparison."""
    console.print(Text(title, style="bold"))
    for line in _how(found, settings, span):
        console.print(Text(line))
    possible = [each for each in found.designs if each.facts is not None]
    parts = _parts(possible)
    if not parts and any("." in name for each in possible for name in each.estimates):
        _print(console, _reports(possible, found.baseline))
    else:
        _print(console, _speed(possible))
        if any(each.against for each in possible):
            _print(console, _differences(possible, found.baseline))
    if parts:
        _print(console, _speed_of_parts(possible, parts))
        if any(each.against for each in possible):
            _print(console, _differences_of_parts(possible, parts, found.baseline))
    _print(console, _facts(possible))
    if any(each.rebuild is not None for each in possible):
        _print(console, _rebuilds(possible))
    if any(each.rebuild is not None or each.risk is not None for each in possible):
        _print(console, _risks(possible))
    if any(each.facts is not None and each.facts.cost is not None for each in possible):
        _print(console, _costs(possible))
    if any(each.power is not None and each.power.kwh_a_year is not None for each in possible):
        _print(console, _power(possible))
    for each in possible:
        if each.curve is not None:
            _print(console, _curve(each))
    notes = _notes(found, settings)
    if notes:
        console.print()
    for line in notes:
        console.print(Text(line))


def _print(console: Console, table: Table) -> None:
    """A table below its title, which is not broken to the width of the table."""
    console.print(Text(f"\n{table.title}"))
    table.title = None
    console.print(table, end="")


def _how(found: Comparison, settings: Settings, span: int | None) -> list[str]:
    """What was run."""
    runs = "1 run" if found.replications == 1 else f"{found.replications} runs"
    lines = [f"{runs} of each design with the same requests; ± is half of a 90 % interval"]
    if span is not None and len(found.designs) > 1:
        lines.append(f"requests go to the first {capacity(span)} of each, what the smallest design has")
    if not found.precise and settings.precision is not None:
        lines.append(f"{100 * settings.precision:g} % was not reached with that")
    return lines


def _table(title: str, columns: Sequence[str], texts: Sequence[str] = (), parts: bool = False) -> Table:
    """A table of designs, or of `parts` of designs by number; columns hold figures, except for those in `texts`."""
    table = Table(title=title, keys=2)
    if parts:
        table.add_column("load or\nphase", no_wrap=True)
    table.add_column("design" if parts else "", justify="right", no_wrap=True)
    if not parts:
        table.add_column("design", min_width=6)
    for column in columns:
        table.add_column(column, justify="left" if column in texts else "right")
    return table


def _row(table: Table, each: Measured, cells: Sequence[str]) -> None:
    table.add_row(str(each.design.number), Text(each.design.label), *(Text(cell) for cell in cells))


def _speed(designs: Sequence[Measured]) -> Table:
    names = speed_figures(designs)
    titles = speed_titles([each.estimates for each in designs])
    table = _table("Speed", [titles[name][0] for name in names])
    for each in designs:
        cells = []
        for name in names:
            estimate, scale = each.estimates.get(name), titles[name][1]
            cells.append("" if estimate is None else _with_interval(estimate, scale))
        _row(table, each, cells)
    return table


def _parts(designs: Sequence[Measured]) -> list[str]:
    """Phases and loads that have figures of their own, by the beginnings of their names; none of programs."""
    if not all(isinstance(each.design.spec and each.design.spec.workload, LoadSpec | LoadsSpec) for each in designs):
        return []
    parts = dict.fromkeys(name.rpartition(".")[0] for each in designs for name in each.estimates)
    figures = {part: [_of_part(part, each.estimates) for each in designs] for part in parts if part}
    # The only load of a phase has the figures of the phase.
    return [part for part in figures if figures[part] != figures.get(part.rpartition(".")[0])]


def _of_part(part: str, figures: Mapping[str, Estimate]) -> dict[str, Estimate]:
    return {name: figures[f"{part}.{name}"] for name in SPEED if f"{part}.{name}" in figures}


def _speed_of_parts(designs: Sequence[Measured], parts: Sequence[str]) -> Table:
    """Figures of each phase and load, design by design."""
    table = _table("Speed of each load or phase", [title for title, _ in SPEED.values()], parts=True)
    for part in parts:
        for each in designs:
            known = _of_part(part, each.estimates)
            cells = [_with_interval(known[name], SPEED[name][1]) if name in known else "" for name in SPEED]
            cells[1] = cells[1].partition(" ")[0]  # MB/s are as sure as I/Os per s, and the table is wide
            table.add_row(Text(part if each is designs[0] else ""), str(each.design.number), *cells)
    return table


def _differences_of_parts(designs: Sequence[Measured], parts: Sequence[str], baseline: int) -> Table:
    """Differences of pairs of runs, of each phase and load."""
    names = ("iops", "read_mean_seconds", "write_mean_seconds")
    title = f"Each load or phase against design {baseline}, run by run (in percent of it)"
    table = _table(title, [SPEED[name][0].replace("\n(ms)", "") for name in names], parts=True)
    reference = next(each for each in designs if each.design.number == baseline)
    others = [each for each in designs if each.against]
    for part in parts:
        known = _of_part(part, reference.estimates)
        for each in others:
            against = _of_part(part, each.against)
            cells = [_difference(against.get(name), known.get(name)) for name in names]
            table.add_row(Text(part if each is others[0] else ""), str(each.design.number), *cells)
    return table


def _reports(designs: Sequence[Measured], baseline: int) -> Table:
    """What programs report, figure by figure."""
    title = f"What the programs report, and run by run against design {baseline}"
    table = Table(title=title, keys=2)
    for column in ("figure", "design"):
        table.add_column(column, no_wrap=True)
    for column in ("value", "difference (%)"):
        table.add_column(column, justify="right", no_wrap=True)
    reference = next(each for each in designs if each.design.number == baseline)
    for name in dict.fromkeys(name for each in designs for name in each.estimates):
        unit, scale = unit_of(name)
        shown = f"{name} ({unit})" if unit else name
        for each in designs:
            estimate = each.estimates.get(name)
            if estimate is not None:
                difference = _difference(each.against.get(name), reference.estimates.get(name))
                design = f"{each.design.number}  {each.design.label}"
                table.add_row(shown, Text(design), Text(_with_interval(estimate, scale)), difference)
            shown = ""
    return table


def _with_interval(estimate: Estimate, scale: float) -> str:
    mean, half = scale * estimate.mean, scale * estimate.half_width
    if not math.isfinite(half):
        return three_digits(mean)
    places = places_of(half) - 1 if half else places_of(mean)
    places = max(0, min(places, places_of(mean) + 1))
    return f"{mean:,.{places}f} ±{half:,.{places}f}"


def _differences(designs: Sequence[Measured], baseline: int) -> Table:
    """Differences of pairs of runs; an interval that covers 0 tells nothing apart."""
    names = speed_figures(designs)
    if "iops" in names:
        names.remove("rate")  # as many percent
    title = f"Against design {baseline}, run by run (in percent of it)"
    table = _table(title, [SPEED[name][0].replace("\n(ms)", "") for name in names])
    reference = next(each for each in designs if each.design.number == baseline)
    for each in designs:
        if each.against:
            _row(table, each, [_difference(each.against.get(name), reference.estimates.get(name)) for name in names])
    return table


def _difference(difference: Estimate | None, reference: Estimate | None) -> str:
    if difference is None or reference is None or not reference.mean:
        return ""
    share, half = 100 * difference.mean / reference.mean, 100 * difference.half_width / abs(reference.mean)
    text = f"{round(share, 1) + 0.0:+.1f} ±{half:.1f}"
    return f"= {text}" if abs(share) <= half else text


def _facts(designs: Sequence[Measured]) -> Table:
    table = _table("What it holds, and what limits", ["usable", "of", "survives", "busiest"])
    table.add_column("bottleneck")
    for each in designs:
        facts = each.facts
        assert facts is not None
        busy = f"{100 * each.utilization:.0f} %"
        limit = each.bottleneck + ("; more comes than can be done" if each.saturated else "")
        cells = [capacity(facts.usable_bytes), capacity(facts.raw_bytes), survived(facts), busy, limit]
        _row(table, each, cells)
    return table


def _rebuilds(designs: Sequence[Measured]) -> Table:
    table = _table("Rebuild of a drive", ["idle", "set by", "under the load", "set by"], texts=["set by"])
    for each in designs:
        times = each.rebuild
        if times is None:
            words = "refused" if each.rebuild_refused else "none"
            _row(table, each, [words, "", words, ""])
            continue
        loaded = "does not finish" if times.starves else rebuild_time(times.loaded_s)
        _row(table, each, [rebuild_time(times.idle_s), times.idle_limit, loaded, times.loaded_limit])
    return table


def _risks(designs: Sequence[Measured]) -> Table:
    lives = {each.risk.life_s for each in designs if each.risk is not None}
    over = f"over {format_duration(lives.pop())}" if len(lives) == 1 else "over the service life"
    columns = [
        f"data loss\n{over}",
        "drives\nfail",
        "sectors\nunreadable",
        "in the\nfirst year",
        "in the long run\nonce in",
    ]
    table = _table("Probability that data are lost", columns)
    for each in designs:
        risk = each.risk
        if risk is None:
            _row(table, each, ["unknown", "", "", "", ""])
            continue
        errors = "unknown" if risk.life_from_read_errors is None else probability(risk.life_from_read_errors)
        once = once_in(math.inf if risk.losses_per_year <= 0 else 1.0 / risk.losses_per_year)
        cells = [probability(risk.over_life), probability(risk.life_from_failures), errors]
        _row(table, each, [*cells, probability(risk.per_year), once])
    return table


def _costs(designs: Sequence[Measured]) -> Table:
    table = _table("Cost, in the unit of the prices", ["cost", "per usable TB", "per I/O per s"])
    for each in designs:
        facts = each.facts
        assert facts is not None
        values = (facts.cost, facts.cost_per_tb, each.cost_per_iops)
        _row(table, each, ["unknown" if value is None else f"{value:,.2f}" for value in values])
    return table


def _power(designs: Sequence[Measured]) -> Table:
    table = _table("Power of the drives", ["at this load", "idle", "all busy", "a year"])
    for each in designs:
        power = each.power
        if power is None or power.kwh_a_year is None:
            _row(table, each, ["not known", "", "", ""])
            continue
        watts = [
            "" if value is None else watts_words(value) for value in (power.watts, power.idle_watts, power.active_watts)
        ]
        _row(table, each, [*watts, f"{power.kwh_a_year:,.0f} kWh"])
    return table


def _of_which_load(each: Measured) -> str:
    """Of several loads, the one whose rate the curve raises, and those at the same time."""
    workload = None if each.design.spec is None else each.design.spec.workload
    if not isinstance(workload, LoadsSpec):
        return ""
    first, *others = (load.name for load in without_phases(workload).loads)
    return f" of {first}" + (f", with {', '.join(others)} at the same time" if others else "")


def _curve(each: Measured) -> Table:
    curve = each.curve
    assert curve is not None
    title = (
        f"Load curve of design {each.design.number}, {each.design.label}: up to {curve.saturation_iops:,.0f} I/Os per s"
        f"{_of_which_load(each)}"
    )
    table = Table(title=title)
    ops = [op for op in ("read", "write") if any(f"{op}_mean_seconds" in point.figures for point in curve.points)]
    for column in ("offered\n(1/s)", "done\n(1/s)", "mean\n(ms)", "p99\n(ms)"):
        table.add_column(column, justify="right")
    if len(ops) > 1:
        for op in ops:
            for figure in ("mean", "p99"):
                table.add_column(f"{op}\n{figure}", justify="right")
    table.add_column("")
    for point in curve.points:
        values = [point.mean_s, point.p99_s]
        if len(ops) > 1:
            values += [
                point.figures.get(f"{op}_{figure}_seconds", math.nan) for op in ops for figure in ("mean", "p99")
            ]
        mark = "knee" if point is curve.knee else "too much" if point.saturated else ""
        cells = [f"{point.offered_iops:,.0f}", f"{point.iops:,.0f}", *(three_digits(1e3 * value) for value in values)]
        table.add_row(*cells, mark)
    return table


def _notes(found: Comparison, settings: Settings) -> list[str]:
    """What cannot be, what is not known, and what was assumed."""
    lines = [
        f"design {each.design.number} ({each.design.label}) is not possible: {each.design.refused}"
        for each in found.designs
        if each.facts is None
    ]
    lines += [
        f"design {each.design.number} ({each.design.label}) has no rebuild: {each.rebuild_refused}"
        for each in found.designs
        if each.rebuild_refused is not None
    ]
    lines += [
        f"design {each.design.number} ({each.design.label}) has no curve: {each.curve_refused}"
        for each in found.designs
        if each.curve_refused is not None
    ]
    if settings.rebuild:
        models = sorted({model for each in found.designs for model in each.unknown_rates})
        if models:
            lines.append(f"no risk of data loss: the failure rate of {', '.join(models)} is not known")
        lines += [
            f"design {each.design.number} ({each.design.label}): a rebuild takes longer than a week under this load: "
            f"{_advice(each)}plan for the load to be lower meanwhile"
            for each in found.designs
            if each.rebuild_s is not None and each.rebuild_s > _LONG_S
        ]
        services = {each.design.spec.service for each in found.designs if each.risk and each.design.spec is not None}
        if len(services) == 1:
            lines.append(_assumed(services.pop()))
        specs = [each.design.spec for each in found.designs if each.risk and each.design.spec is not None]
        lines += _assumed_rates(specs)
    missing = tuple(dict.fromkeys(model for each in found.designs if each.power for model in each.power.unknown))
    if missing:
        lines.append(f"power: {no_figure(missing)}")
    if any(abs(d.mean) <= d.half_width for each in found.designs for d in each.against.values()):
        lines.append("=: the interval covers 0, so the two are not told apart")
    return lines + evidence_lines(each.design.spec for each in found.designs if each.facts and each.design.spec)


def _advice(each: Measured) -> str:
    """What helps a rebuild that md itself slows down."""
    limit = "" if each.rebuild is None else each.rebuild.loaded_limit
    return "raise speed_limit_min, or " if limit.startswith("speed_limit_min") else ""


def _assumed_rates(specs: list[ScenarioSpec]) -> list[str]:
    """Which drives' data sheets do not give a rate that the risk of losing data rests on."""
    found: dict[str, set[str]] = {}
    for spec in specs:
        for rate, models in assumed_rates(spec).items():
            found.setdefault(rate, set()).update(models)
    return [
        f"{rate} assumed, not from the drive's data sheet: {', '.join(sorted(found[rate]))}" for rate in sorted(found)
    ]


def _assumed(service: ServiceSpec) -> str:
    """What the risk of losing data rests on."""
    rate = {"data-sheet": "the maker's rate", "field": "the rate of hard disks in the field"}.get(str(service.afr))
    words = rate or f"{100 * float(service.afr):.3g} % a year"
    how = (
        "independent failures" if service.stress == 1 else f"failures {service.stress:g} times as often after a failure"
    )
    checks = "never checked" if service.scrub == "none" else f"checked every {format_duration(service.scrub)}"
    return (
        f"data loss: {how} at {words}, a drive replaced after {format_duration(service.replacement)} where no spare "
        f"stands by, all data {checks}; real drives do worse"
    )
