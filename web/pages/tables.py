"""Results as tables with units, which the page shows beside every picture, and as CSV and JSON to take away."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...model.files.quantities import format_duration, format_size
from ...model.statistics.batch_means import Estimate
from ...model.statistics.usage import limit
from ...scenarios.comparison.side_by_side import Comparison, Measured
from ...scenarios.questions.load_curve import LoadCurve
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.timeline.timeline import Timeline
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
    return Table("load", ("", "I/Os per s", *(f"{name} (ms)" for name, _ in LATENCIES)), tuple(rows))


def phases_table(prediction: Prediction) -> Table:
    """What each part of a day gives."""
    rows: list[tuple[Cell, ...]] = []
    for name, part in prediction.phases.items():
        known = {} if part.saturated else part.latencies
        times = [1e3 * known[op]["mean_s"] if op in known else None for op in _OPS]
        rows.append((name, sum(part.iops.values()), part.rate / 1e6, *times, part.bottleneck))
    columns = ("part", "I/Os per s", "MB/s", "read mean (ms)", "write mean (ms)", "bottleneck")
    return Table("parts of the day", columns, tuple(rows))


def usage_table(prediction: Prediction) -> Table:
    """How busy every part was."""
    found = limit(prediction.usages)
    limits = {part.name for part in found.parts} if found is not None else set()
    role = "limits" if found is not None and found.saturated else "busiest"
    rows = [
        (
            each.name,
            each.kind,
            100 * each.utilisation,
            each.mean_queue,
            each.reads,
            each.writes,
            role if each.name in limits else "",
        )
        for each in sorted(prediction.usages, key=lambda each: -each.utilisation)
    ]
    return Table("parts", ("part", "kind", "busy (%)", "mean queue", "reads", "writes", ""), tuple(rows))


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
    columns = ("offered (I/Os per s)", "done (I/Os per s)", "mean (ms)", "99 % (ms)", "")
    return Table("curve", columns, tuple(rows))


def comparison_table(found: Comparison) -> Table:
    """Designs side by side, with the 90 % intervals."""
    columns = (
        "design",
        "I/Os per s",
        "± (90 %)",
        "against the first",
        "read mean (ms)",
        "write mean (ms)",
        "usable",
        "survives",
        "busiest (%)",
    )
    return Table("comparison", columns, tuple(_compared(each, found) for each in found.designs))


def _compared(each: Measured, found: Comparison) -> tuple[Cell, ...]:
    name = str(each.design.values["design"])
    if each.facts is None:
        return name, None, None, each.design.refused or "", None, None, None, None, None
    iops = each.estimates["iops"]
    usable = format_size(each.facts.usable_bytes)
    times = [1e3 * known.mean if (known := each.estimates.get(f"{op}_mean_seconds")) else None for op in _OPS]
    if each.saturated:
        times = [None, None]
    against = _against(each, found)
    return name, iops.mean, iops.half_width, against, *times, usable, each.facts.survives_any, 100 * each.utilisation


_OPS = ("read", "write")


def _against(each: Measured, found: Comparison) -> str:
    """The difference of the throughput from the baseline's, and whether it is one."""
    difference = each.against.get("iops")
    if each.design.number == found.baseline or difference is None:
        return "the baseline"
    base = next(other for other in found.designs if other.design.number == found.baseline).estimates["iops"].mean
    low, high = 100 * difference.low / base, 100 * difference.high / base
    if low <= 0 <= high:
        return f"no certain difference ({low:+.0f} to {high:+.0f} %)"
    return f"{low:+.0f} to {high:+.0f} %"


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
    return Table("mechanisms", ("", "I/Os per s", "mean (ms)", "change"), tuple(rows))


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
    """A run as one JSON object in SI units; what is infinite is null."""
    found = _plain(outcome.prediction)
    del found["latency_bins"]
    for prediction in (found, *found["phases"].values()):
        del prediction["prices_read"]
    without = outcome.without
    plain = None if without is None else {"what": without.what, "rate": without.prediction.rate, "then": without.then}
    head = {"name": outcome.spec.name, "kernel": outcome.spec.kernel}
    return json.dumps({**head, **found, "relief": _plain(plain)}, indent=1, allow_nan=False)


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
