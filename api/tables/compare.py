"""What a comparison tells: speeds and their differences, capacity, rebuilds, risk, cost, power and load curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...calibration.uncertainty.model_interval import evidence_lines
from ...model.files.quantities import format_duration
from ...model.statistics.batch_means import Estimate
from ...scenarios.comparison.reliability import assumed_rates
from ...scenarios.comparison.side_by_side import Comparison, Measured, Settings
from ...scenarios.description.any_workload import LoadsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.tuning import ServiceSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.running.base.flash_state import with_states, writers
from ...scenarios.running.full_load import without_phases
from ..answer.numbers import (
    COUNT,
    PERCENT,
    Sure,
    counted,
    decimal_size,
    fixed,
    number,
    once_in,
    probability,
    watts,
    with_interval,
)
from ..answer.power import class_words, no_figure
from ..answer.svg import bars
from ..answer.tree import Answer, Cell, Column, Part, Picture, Row, Table, Words, lines
from ..support.figures import SPEED, rebuild_time, speed_columns, speed_figures, survived, unit_of
from .curve import curve_table
from .decision import comparison_decision
from .parts.behind_cards import cache_note, waits, without_battery
from .parts.column_words import FACTS, REBUILDS, RISKS, speed_words, with_words
from .parts.design_table import design_table
from .parts.ssd_caches import cache_table

_LONG_S = 7 * 86400.0
"""A rebuild that takes longer is worth a warning."""
_PART = (Column("load or\nphase", whole=True), Column("design", show=str))


def comparison_answer(title: str, found: Comparison, settings: Settings, span: int | None) -> Answer:
    """Everything about a comparison."""
    possible = [each for each in found.designs if each.facts is not None]
    decision = comparison_decision(found)
    parts: list[Part] = [Words(decision)] if decision else []
    parts += [*lines(_how(found, settings)), *_speeds(possible, found.baseline, span)]
    for table in (facts, cache_table, rules, rebuilds, rebuild_latencies, risks, costs, powers):
        parts += with_words(table(possible))
    parts += [curve_table(each.curve, _curve_title(each)) for each in possible if each.curve is not None]
    for table in (without_battery, waits):
        parts += [made] if (made := table(possible)).rows else []
    speeds = [(each.design.label, iops.mean) for each in possible if (iops := each.estimates.get("iops")) is not None]
    drawn = Picture("I/Os per second of each design", lambda: bars([(*each, COUNT(each[1])) for each in speeds], title))
    return Answer(title, [*parts, *lines(_notes(found, settings)), *([drawn] if speeds else [])])


def _how(found: Comparison, settings: Settings) -> list[str]:
    """What was run."""
    told = [f"{counted(found.replications, 'run')} of each design with the same requests; ± is half of a 90 % interval"]
    if not found.precise and settings.precision is not None:
        told.append(f"{100 * settings.precision:g} % was not reached with that")
    return told


def _speeds(designs: Sequence[Measured], baseline: int, span: int | None) -> Iterator[Table | Words]:
    """What each design reaches and by how much it differs; of each load or phase too."""
    parts, against = _parts(designs), any(each.against for each in designs)
    if not parts and any("." in name for each in designs for name in each.estimates):
        yield _reports(designs, baseline)
        return
    yield _speed(designs, span)
    if against:
        yield _differences(designs, baseline)
    if parts:
        yield _speed_of_parts(designs, parts)
    if parts and against:
        yield _differences_of_parts(designs, parts, baseline)
    yield speed_words(baseline, against)


def _speed(designs: Sequence[Measured], span: int | None) -> Table:
    """Rates and latencies of each design, with which part of it the requests go to."""
    columns = speed_columns(speed_figures(designs), [each.estimates for each in designs])
    is_open = any(each.offered_iops is not None for each in designs)

    def cells(each: Measured) -> Row:
        known = {name: Sure.of(each.estimates.get(name)) for name in columns}
        if each.saturated and each.offered_iops is not None:
            known |= dict.fromkeys((name for name in columns if name.endswith("_seconds")), None)
        row: list[Cell] = list(known.values())
        return [each.offered_iops, row[0], each.lost_iops, *row[1:]] if is_open else row

    shown = list(columns.values())
    if is_open:
        offered, served, lost = (Column(f"{name}\n", "1/s") for name in ("offered", "served", "lost"))
        shown = [
            replace(offered, show=number),
            replace(served, show=shown[0].show),
            replace(lost, show=number),
            *(replace(column, detail=True) if name == "rate" else column for name, column in [*columns.items()][1:]),
        ]
    where = "" if span is None else f" on the first {decimal_size(span)} of each, all that the smallest design has"
    return design_table(f"Speed{where}", shown, cells, designs)


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


def _by_part(
    parts: Sequence[str], designs: Sequence[Measured], cells: Callable[[str, Measured], list[Cell]]
) -> list[Row]:
    """A row for each part and design; the part is named once."""
    return [
        (part if each is designs[0] else "", str(each.design.number), *cells(part, each))
        for part in parts
        for each in designs
    ]


def _speed_of_parts(designs: Sequence[Measured], parts: Sequence[str]) -> Table:
    """Figures of each phase and load, design by design."""

    def cells(part: str, each: Measured) -> list[Cell]:
        known = _of_part(part, each.estimates)
        # MB/s are as sure as I/Os per s, and the table is wide.
        rate = {"rate": Sure(known["rate"].mean, math.inf)} if "rate" in known else {}
        return [rate.get(name, Sure.of(known.get(name))) for name in SPEED]

    columns = (*_PART, *speed_columns(list(SPEED), ()).values())
    return Table("Speed of each load or phase", columns, _by_part(parts, designs, cells), keys=2)


def _difference_columns(names: Sequence[str]) -> list[Column]:
    return [Column(SPEED[name].name.rstrip("\n"), show=str) for name in names]


def _differences_of_parts(designs: Sequence[Measured], parts: Sequence[str], baseline: int) -> Table:
    """Differences of pairs of runs, of each phase and load."""
    names = ("iops", "read_mean_seconds", "write_mean_seconds")
    reference = next(each for each in designs if each.design.number == baseline)

    def cells(part: str, each: Measured) -> list[Cell]:
        known, against = _of_part(part, reference.estimates), _of_part(part, each.against)
        return [_difference(against.get(name), known.get(name)) for name in names]

    title = f"Each load or phase against design {baseline}, run by run (in percent of it)"
    others = [each for each in designs if each.against]
    return Table(title, (*_PART, *_difference_columns(names)), _by_part(parts, others, cells), keys=2)


def _reports(designs: Sequence[Measured], baseline: int) -> Table:
    """What programs report, figure by figure."""
    columns = [Column("figure", whole=True), Column("design", whole=True)]
    columns += [Column("value", show=str), Column("difference (%)", show=str)]
    reference = next(each for each in designs if each.design.number == baseline)
    rows: list[Row] = []
    for name in dict.fromkeys(name for each in designs for name in each.estimates):
        unit, scale = unit_of(name)
        shown = f"{name} ({unit})" if unit else name
        for each in designs:
            estimate = each.estimates.get(name)
            if estimate is not None:
                difference = _difference(each.against.get(name), reference.estimates.get(name))
                value = with_interval(Sure(scale * estimate.mean, scale * estimate.half_width))
                rows.append((shown, f"{each.design.number}  {each.design.label}", value, difference))
            shown = ""
    return Table(f"What the programs report, and run by run against design {baseline}", columns, rows, keys=2)


def _differences(designs: Sequence[Measured], baseline: int) -> Table:
    """Differences of pairs of runs; an interval that covers 0 tells nothing apart."""
    names = speed_figures(designs)
    if "iops" in names:
        names.remove("rate")  # as many percent
    reference = next(each for each in designs if each.design.number == baseline).estimates

    def cells(each: Measured) -> Row:
        return [_difference(each.against.get(name), reference.get(name)) for name in names]

    title = f"Against design {baseline}, run by run (in percent of it)"
    return design_table(title, _difference_columns(names), cells, [each for each in designs if each.against])


def _difference(difference: Estimate | None, reference: Estimate | None) -> str:
    if difference is None or reference is None or not reference.mean:
        return ""
    share, half = 100 * difference.mean / reference.mean, 100 * difference.half_width / abs(reference.mean)
    text = f"{round(share, 1) + 0.0:+.1f} ±{half:.1f}"
    return f"= {text}" if abs(share) <= half else text


def facts(designs: Sequence[Measured]) -> Table:
    """Capacity, failures survived, and what limits."""
    columns = [Column("usable", show=decimal_size), Column("of", show=decimal_size), Column("survives", show=str)]
    columns += [Column("busiest", show=PERCENT, scale=100.0), Column("bottleneck")]

    def cells(each: Measured) -> Row | None:
        more = "; saturated" if each.saturated else ""
        held, limit = each.facts, each.bottleneck + more + ("" if each.settled else "; not settled when measured")
        return None if held is None else (held.usable_bytes, held.raw_bytes, survived(held), each.utilization, limit)

    return design_table(FACTS, columns, cells, designs)


def rules(designs: Sequence[Measured]) -> Table:
    """What the rule of thumb says of pools next to what is predicted; no rows without pools."""

    def cells(each: Measured) -> Row | None:
        rule = each.rule
        return None if rule is None else (f"{rule.factor:.3g} x {number(rule.drive_iops)}", rule.iops, each.iops)

    columns = [
        Column("times\none drive", show=str),
        Column("at most\n", "1/s", number),
        Column("served\n", "1/s", number),
    ]
    return design_table(
        "Rule of thumb: at random a raidz is one drive, mirrors read as all drives", columns, cells, designs
    )


def rebuilds(designs: Sequence[Measured]) -> Table:
    """Times of a rebuild, idle and under the load; no rows if none was simulated."""

    def cells(each: Measured) -> Row:
        times = each.rebuild
        if times is None:
            words = "refused" if each.rebuild_refused else "none"
            return words, "", words, "", *[""] * reshaped
        loaded = "does not finish" if times.starves else rebuild_time(times.loaded_s)
        left = ["" if times.reshape_s is None else rebuild_time(times.reshape_s)] * reshaped
        return rebuild_time(times.idle_s), times.idle_limit, loaded, times.loaded_limit, *left

    reshaped = any(each.rebuild is not None and each.rebuild.reshape_s is not None for each in designs)
    columns = [Column("idle", show=str), Column("set by"), Column("under the load", show=str), Column("set by")]
    columns += [Column("reshape left,\nunder the load", show=str)] * reshaped
    return design_table(REBUILDS, columns, cells, designs if any(each.rebuild for each in designs) else ())


def rebuild_latencies(designs: Sequence[Measured]) -> Table:
    """What the load waits during a rebuild; no rows where no load was simulated with one."""

    def cells(each: Measured) -> Row | None:
        known = {} if each.rebuild is None else each.rebuild.means_s
        return (known.get("read"), known.get("write")) if known else None

    columns = [Column(f"{op} mean", "ms", number, 1e3) for op in ("read", "write")]
    return design_table("Latency during the rebuild of a drive", columns, cells, designs)


def risks(designs: Sequence[Measured]) -> Table:
    """Probabilities that data are lost; no rows if nobody asked."""
    lives = {each.risk.life_s for each in designs if each.risk is not None}
    over = f"over {format_duration(next(iter(lives)))}" if len(lives) == 1 else "over the service life"
    headings = (f"data loss\n{over}", "drives\nfail", "sectors\nunreadable", "in the\nfirst year")

    def cells(each: Measured) -> Row:
        risk = each.risk
        if risk is None:
            return "unknown", "", "", "", ""
        errors = "unknown" if risk.life_from_read_errors is None else risk.life_from_read_errors
        once = once_in(math.inf if risk.losses_per_year <= 0 else 1.0 / risk.losses_per_year)
        return risk.over_life, risk.life_from_failures, errors, risk.per_year, once

    columns = [*(Column(name, show=probability) for name in headings), Column("in the long run\nonce in", show=str)]
    asked = any(each.rebuild is not None or each.risk is not None for each in designs)
    return design_table(RISKS, columns, cells, designs if asked else ())


def costs(designs: Sequence[Measured]) -> Table:
    """Cost of the drives and controllers; no rows without prices."""

    def cells(each: Measured) -> Row:
        held = each.facts
        values = () if held is None else (held.cost, held.cost_per_tb, each.cost_per_iops)
        return ["unknown" if value is None else value for value in values]

    columns = [Column(name, show=fixed(2)) for name in ("cost", "per usable TB", "per I/O per s")]
    priced = any(each.facts is not None and each.facts.cost is not None for each in designs)
    return design_table("Cost, in the unit of the prices", columns, cells, designs if priced else ())


def powers(designs: Sequence[Measured]) -> Table:
    """Power and energy of the drives; no rows if nothing is known of it."""

    def cells(each: Measured) -> Row:
        power = each.power
        if power is None or power.kwh_a_year is None:
            return "not known", "", "", ""
        return power.watts, power.idle_watts, power.active_watts, power.kwh_a_year

    columns = [Column(name, show=watts) for name in ("at this load", "idle", "all busy")]
    known = any(each.power is not None and each.power.kwh_a_year is not None for each in designs)
    columns.append(Column("a year", show=fixed(0, " kWh")))
    return design_table("Power of the drives", columns, cells, designs if known else ())


def _curve_title(each: Measured) -> str:
    """Which design's curve it is, and of several loads, which one's rate it raises."""
    workload = None if each.design.spec is None else each.design.spec.workload
    of = ""
    if isinstance(workload, LoadsSpec):
        first, *others = (load.name for load in without_phases(workload).loads)
        of = f" of {first}" + (f", with {', '.join(others)} at the same time" if others else "")
    most = 0.0 if each.curve is None else each.curve.saturation_iops
    return f"Load curve of design {each.design.number}, {each.design.label}: up to {most:,.0f} I/Os per s{of}"


def _notes(found: Comparison, settings: Settings) -> list[str]:
    """What cannot be, what is not known, and what was assumed."""
    told = []
    for each in found.designs:
        name = f"design {each.design.number} ({each.design.label})"
        told += [f"{name} is not possible: {each.design.refused}"] if each.facts is None else []
        told += [] if each.rebuild_refused is None else [f"{name} has no rebuild: {each.rebuild_refused}"]
        told += [f"{name}: {cache_note(each)}"] if each.ends_in_cache else []
        told += [] if each.curve_refused is None else [f"{name} has no curve: {each.curve_refused}"]
    if settings.rebuild:
        if models := sorted({model for each in found.designs for model in each.unknown_rates}):
            told.append(f"no risk of data loss: the failure rate of {', '.join(models)} is not known")
        slow: dict[str, list[str]] = {}
        for each in found.designs:
            if each.rebuild_s is not None and each.rebuild_s > _LONG_S:
                slow.setdefault(_advice(each), []).append(str(each.design.number))
        week = "a rebuild takes longer than a week under this load"
        told += [
            f"design{'s' * (len(numbers) > 1)} {', '.join(numbers)}: {week}: {advice}plan for the load to be lower then"
            for advice, numbers in slow.items()
        ]
        specs = [each.design.spec for each in found.designs if each.risk and each.design.spec is not None]
        services = {spec.service for spec in specs}
        if len(services) == 1:
            told.append(_assumed(services.pop()))
        told += _assumed_rates(specs)
    if missing := tuple(dict.fromkeys(model for each in found.designs if each.power for model in each.power.unknown)):
        told.append(f"power: {no_figure(missing)}")
    if assumed := {model: far for each in found.designs if each.power for model, far in each.power.assumed.items()}:
        told.append(f"power: no figure was found {class_words(assumed)}")
    possible = [each.design.spec for each in found.designs if each.facts and each.design.spec]
    # The state of flash that was assumed, each sentence once.
    told += dict.fromkeys(told for spec in possible for told in with_states(spec, writers(spec.workload))[1])
    return told + evidence_lines(possible)


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
