"""Results as tables with units, which the page shows with every picture, and as CSV and JSON to take away."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...api.advice import Advice
from ...api.comparison import Alternative, Comparison
from ...api.curve import LoadCurve
from ...api.support.explorer import Estimate, Prediction, Timeline, limit
from ...api.support.figures import capacity, once_in, probability, rebuild_time, survived
from ...model.files.quantities import format_duration
from ..work.explain import Effect
from ..work.tasks import CoursePart, Outcome

Cell = str | float | int | None

LATENCIES = (("mean", "mean_s"), ("median", "p50_s"), ("90 %", "p90_s"), ("99 %", "p99_s"), ("longest", "max_s"))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings that say the unit."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, str]]:
        """The rows as the page shows them."""
        return [{column: shown(cell) for column, cell in zip(self.columns, row, strict=True)} for row in self.rows]


def shown(cell: Cell) -> str:
    """A cell for reading: three figures, thousands apart."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if not math.isfinite(cell):
        return "-"
    return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"


def load_table(prediction: Prediction) -> Table:
    """Throughput and latencies of reads and writes."""
    rows: list[tuple[Cell, ...]] = []
    for op, iops in prediction.iops.items():
        known = prediction.latencies.get(op, {})
        times = [None if prediction.saturated or key not in known else 1e3 * known[key] for _, key in LATENCIES]
        rows.append((f"{op}s", iops, *times))
    return Table("load", ("I/Os", "I/Os per s", *(f"{name} (ms)" for name, _ in LATENCIES)), tuple(rows))


def phases_table(prediction: Prediction) -> Table:
    """What each part of a day gives, and each of several loads in it."""
    rows: list[tuple[Cell, ...]] = []
    for name, part in prediction.phases.items():
        rows.append((name, *_part_cells(part), part.bottleneck))
        rows += [(f"{name}: {load}", *_part_cells(each), "") for load, each in part.loads.items()]
    columns = ("part", "I/Os per s", "MB/s", "read mean (ms)", "write mean (ms)", "bottleneck")
    return Table("parts of the day", columns, tuple(rows))


def _part_cells(part: Prediction) -> tuple[Cell, ...]:
    """Rates and mean latencies of a part of a day, or of a load during it."""
    known = {} if part.saturated else part.latencies
    times = [1e3 * known[op]["mean_s"] if op in known else None for op in _OPS]
    return sum(part.iops.values()), part.rate / 1e6, *times


def loads_table(prediction: Prediction) -> Table:
    """What each of several loads gets."""
    rows: list[tuple[Cell, ...]] = []
    for name, each in prediction.loads.items():
        times = [
            1e3 * each.latencies[op][key] if op in each.latencies and not each.saturated else None
            for op in _OPS
            for key in ("mean_s", "p99_s")
        ]
        rows.append((name, sum(each.iops.values()), each.rate / 1e6, *times))
    columns = ("load", "I/Os per s", "MB/s", "read mean (ms)", "read 99 % (ms)", "write mean (ms)", "write 99 % (ms)")
    return Table("loads", columns, tuple(rows))


def usage_table(prediction: Prediction) -> Table:
    """Utilization of every part."""
    found = limit(prediction.usages)
    limits = {part.name for part in found.parts} if found is not None else set()
    role = "limits" if found is not None and found.saturated else "busiest"
    rows = [
        (
            each.name,
            each.kind,
            100 * each.utilization,
            each.mean_queue,
            each.reads,
            each.writes,
            role if each.name in limits else "",
        )
        for each in sorted(prediction.usages, key=lambda each: -each.utilization)
    ]
    return Table("parts", ("part", "kind", "utilization (%)", "mean queue", "reads", "writes", "role"), tuple(rows))


def curve_table(curve: LoadCurve) -> Table:
    """Response time against offered load."""
    rows = [
        (
            point.offered_iops,
            point.iops,
            None if point.saturated else 1e3 * point.mean_s,
            None if point.saturated else 1e3 * point.p99_s,
            "too much" if point.saturated else "knee" if point is curve.knee or point == curve.knee else "",
        )
        for point in curve.points
    ]
    columns = ("offered (I/Os per s)", "done (I/Os per s)", "mean (ms)", "99 % (ms)", "note")
    return Table("curve", columns, tuple(rows))


def comparison_table(found: Comparison) -> Table:
    """Designs side by side, with the 90 % intervals of the throughput."""
    columns = (
        "design",
        "I/Os per s",
        "± (90 %)",
        "against the first",
        "read mean (ms)",
        "read 99 % (ms)",
        "write mean (ms)",
        "write 99 % (ms)",
        "busiest part",
    )
    return Table("comparison", columns, tuple(_compared(each) for each in found))


def _compared(each: Alternative) -> tuple[Cell, ...]:
    if each.refused is not None:
        return each.name, None, None, each.refused, None, None, None, None, None
    iops = each.interval("iops")
    times: list[Cell] = []
    for name in ("read.mean", "read.p99", "write.mean", "write.p99"):
        value = each.interval(name).value
        times.append(None if each.saturated or math.isnan(value) else 1e3 * value)
    return each.name, iops.value, (iops.high - iops.low) / 2, against(each), *times, each.bottleneck


def against(each: Alternative) -> str:
    """The difference of the throughput from the baseline's, and whether it is certain."""
    difference = each.difference("iops")
    if math.isnan(difference.value):
        return "the baseline"
    base = each.iops - difference.value
    low, high = 100 * difference.low / base, 100 * difference.high / base
    if low <= 0 <= high:
        return f"no certain difference ({low:+.0f} to {high:+.0f} %)"
    return f"{low:+.0f} to {high:+.0f} %"


def plan_table(found: Comparison) -> Table:
    """Capacity, failures, rebuilds, risk and cost of the designs, in the words of `raidsim compare`."""
    columns = ["design", "usable", "of", "survives", "rebuild idle", "rebuild under the load", "data loss a year",
               "in the long run once in"]  # fmt: skip
    priced = any(each.measured.facts is not None and each.measured.facts.cost is not None for each in found)
    columns += ["cost", "per usable TB", "per I/O per s"] if priced else []
    powers = [design.get("power") for design in found.to_dict()["designs"] if design["refused"] is None]
    powered = any(power and power["watts"] is not None for power in powers)
    columns += ["power of the drives", "energy a year"] if powered else []
    rows = [_planned(each, priced) for each in found if each.refused is None]
    if powered:
        rows = [(*row, *power_words(power)) for row, power in zip(rows, powers, strict=True)]
    return Table("plan", tuple(columns), tuple(rows))


def power_words(power: Mapping[str, Any] | None) -> tuple[str, str]:
    """Power of the drives under the load, and the energy of a year; a data sheet may have no figure."""
    if power is None or power["watts"] is None:
        return "no figure", "no figure"
    return f"{power['watts']:,.3g} W", f"{power['kwh_a_year']:,.0f} kWh"


def _planned(each: Alternative, priced: bool) -> tuple[Cell, ...]:
    measured = each.measured
    facts, times, risk = measured.facts, measured.rebuild, measured.risk
    assert facts is not None
    if times is None:
        rebuild = ("unknown", "unknown") if facts.survives_any and risk is None else ("none", "none")
    else:
        loaded = "does not finish" if times.starves else rebuild_time(times.loaded_s)
        rebuild = (rebuild_time(times.idle_s), loaded)
    if risk is None:
        loss = ("unknown", "unknown")
    else:
        years = math.inf if risk.losses_per_year <= 0 else 1.0 / risk.losses_per_year
        loss = (probability(risk.per_year), once_in(years))
    row: tuple[Cell, ...] = (
        each.name,
        capacity(facts.usable_bytes),
        capacity(facts.raw_bytes),
        survived(facts),
        *rebuild,
        *loss,
    )
    if not priced:
        return row
    costs = (facts.cost, facts.cost_per_tb, measured.cost_per_iops)
    return (*row, *("unknown" if cost is None else f"{cost:,.2f}" for cost in costs))


_OPS = ("read", "write")
_STATUS_WORDS = {"meets": "meets it", "close": "too close to call", "beaten": "not run further", "fails": "does not"}


def advice_table(found: Advice) -> Table:
    """The designs that meet a requirement, best first, then those that do not, with the reasons."""
    rows: list[tuple[Cell, ...]] = []
    best = {each.name for each in found.best}
    for each in (*found.meets, *found.others, *found.would_do):
        facts = each.verdict.facts
        status = _STATUS_WORDS.get(each.status, each.status)
        if each.name in best:
            status = "not beaten"
        rows.append(
            (
                each.name,
                status,
                each.drives,
                None if each.cost is None else round(each.cost),
                capacity(facts.usable_bytes),
                survived(facts),
                1e3 * each.p99 if math.isfinite(each.p99) else None,
                "; ".join(each.reasons),
            )
        )
    columns = ("design", "status", "drives", "cost", "usable", "survives", "99 % (ms)", "why not")
    return Table("advice", columns, tuple(rows))


def fan_out_table(timeline: Timeline) -> Table:
    """What the logical I/Os became: commands of the drives by what they hold."""
    rows: list[tuple[Cell, ...]] = []
    for op in ("read", "write"):
        numbers = {io.number for io in timeline.ios if io.op == op}
        if not numbers:
            continue
        counts: dict[str, int] = {}
        for command in timeline.commands:
            if numbers.intersection(command.causes):
                what = command_words(command.op, command.role, command.kind)
                counts[what] = counts.get(what, 0) + 1
        for what, count in sorted(counts.items(), key=lambda item: -item[1]):
            rows.append((f"{len(numbers)} {op}s", what, count, count / len(numbers)))
    return Table("fan-out", ("logical I/Os", "became commands that", "number", "for each"), tuple(rows))


def commands_table(timeline: Timeline, number: int) -> Table:
    """The commands of one logical I/O, in order."""
    began = timeline.ios[number].began_s
    rows = [
        (
            each.drive,
            command_words(each.op, each.role, each.kind),
            each.size / 1024,
            1e3 * (each.arrived_s - began),
            1e3 * (each.started_s - each.arrived_s),
            1e3 * (each.ended_s - began),
        )
        for each in timeline.commands_of(number)
    ]
    columns = ("drive", "command", "size (KiB)", "came at (ms)", "waited (ms)", "over at (ms)")
    return Table(f"I/O {number}", columns, tuple(rows))


def command_words(op: str, role: str, kind: str) -> str:
    """What a command does, in words."""
    what = {"Q": "second parity", "old Q": "old second parity"}.get(role, role)
    if what:
        return f"{op}s {what}" if op == "read" else f"writes new {what}" if what != "data" else "writes data"
    return f"{op}s data" if kind == "load" else f"{op}s ({kind})"


def course_table(parts: Sequence[CoursePart]) -> Table:
    """A run piece by piece."""
    rows = tuple(
        (
            each.begin_s,
            each.end_s,
            each.iops,
            None if each.mean_s is None else 1e3 * each.mean_s,
            None if each.longest_s is None else 1e3 * each.longest_s,
        )
        for each in parts
    )
    return Table("course", ("from (s)", "to (s)", "I/Os per s", "mean (ms)", "longest (ms)"), rows)


def effects_table(effects: Sequence[Effect], base_iops: float, base_mean_s: float) -> Table:
    """Mechanisms, and what the load gets without each."""
    rows: list[tuple[Cell, ...]] = [("the design as it is", base_iops, 1e3 * base_mean_s, "")]
    rows += [
        (
            f"{each.mechanism}: {each.without[0].lower()}{each.without[1:]}",
            each.iops,
            1e3 * each.mean_s,
            f"{100 * each.change:+.0f} %" if each.certain else "no certain difference",
        )
        for each in effects
    ]
    return Table("mechanisms", ("design", "I/Os per s", "mean (ms)", "change"), tuple(rows))


def csv_text(tables: Sequence[Table]) -> str:
    """Tables one after the other, each under its name; numbers in full."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for table in tables:
        writer.writerow([f"# {table.name}"])
        writer.writerow(table.columns)
        for row in table.rows:
            writer.writerow(["" if cell is None else _harmless(cell) for cell in row])
        writer.writerow([])
    return stream.getvalue()


def _harmless(cell: Cell) -> Cell:
    """Text that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t" and len(cell) > 1 else cell


def json_text(outcome: Outcome) -> str:
    """A run as one JSON object in SI units; infinite values are null."""
    without = outcome.without
    plain = None if without is None else {"what": without.what, "rate": without.prediction.rate, "then": without.then}
    return json.dumps(_plain({**outcome.result.to_dict(), "relief": plain}), indent=1, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return value.document()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def headline(prediction: Prediction, open_load: bool) -> list[tuple[str, str]]:
    """The few figures that matter most, as (name, value)."""
    iops = sum(prediction.iops.values())
    estimate = prediction.estimates.get("iops")
    sure = f" ± {100 * estimate.relative:.0f} %" if estimate is not None and math.isfinite(estimate.relative) else ""
    figures = [
        ("I/Os per second", f"{iops:,.0f}{'' if open_load and not prediction.saturated else sure}"),
        (
            "Throughput",
            f"{prediction.rate / 1e6:,.3g} MB/s" if prediction.rate < 1e8 else f"{prediction.rate / 1e6:,.0f} MB/s",
        ),
    ]
    for op, known in prediction.latencies.items():
        if not prediction.saturated:
            figures.append((f"99 % of {op}s within", format_duration(known["p99_s"])))
    return figures
