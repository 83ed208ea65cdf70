"""Tables that only the page has, the figures that matter most, and a run as JSON to take away."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

from ...api.answer.numbers import COUNT, PERCENT, fixed, number
from ...api.answer.tree import Column, Row, Table
from ...api.answer.units import format_duration
from ...api.support.explorer import Estimate, Prediction, Timeline
from ..work.explain import Effect
from ..work.tasks import CoursePart, Outcome

IOPS, MEAN = Column("I/Os per s", show=number), Column("mean", "ms", number, 1e3)


def fan_out_table(timeline: Timeline) -> Table:
    """What the logical I/Os became: commands of the drives by what they hold."""
    rows: list[Row] = []
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
    columns = (Column("logical I/Os"), Column("became commands that"), Column("number", show=COUNT))
    return Table(
        "Commands of the disks for the recorded I/Os", (*columns, Column("for each", show=number)), rows, keys=2
    )


def commands_table(timeline: Timeline, number: int) -> Table:
    """The commands of one logical I/O, in order."""
    began = timeline.ios[number].began_s
    rows = [
        (
            each.drive,
            command_words(each.op, each.role, each.kind),
            each.size,
            each.arrived_s - began,
            each.started_s - each.arrived_s,
            each.ended_s - began,
        )
        for each in timeline.commands_of(number)
    ]
    columns = (Column("drive"), Column("command"), Column("size", "KiB", COUNT, 1 / 1024))
    times = (Column(name, "ms", fixed(3), 1e3) for name in ("came at", "waited", "over at"))
    return Table(f"Commands of I/O {number}", (*columns, *times), rows, keys=2)


def io_waits_table(timeline: Timeline, number: int) -> Table:
    """What one logical I/O spent its time on, in order."""
    io = timeline.ios[number]
    took_s = io.waits[-1].ended_s - io.began_s if io.waits else 1.0
    rows = [
        (each.cause, each.began_s - io.began_s, each.ended_s - each.began_s, (each.ended_s - each.began_s) / took_s)
        for each in io.waits
    ]
    times = (Column(name, "ms", fixed(3), 1e3) for name in ("from", "for"))
    columns = (Column("time for"), *times, Column("share", show=PERCENT, scale=100.0))
    return Table(f"What I/O {number} spent its time on", columns, rows)


def command_words(op: str, role: str, kind: str) -> str:
    """What a command does, in words."""
    what = {"Q": "second parity", "old Q": "old second parity"}.get(role, role)
    if what:
        return f"{op}s {what}" if op == "read" else f"writes new {what}" if what != "data" else "writes data"
    return f"{op}s data" if kind == "load" else f"{op}s ({kind})"


def course_table(parts: Sequence[CoursePart]) -> Table:
    """A run piece by piece."""
    rows = [(each.begin_s, each.end_s, each.iops, each.mean_s, each.longest_s) for each in parts]
    columns = (Column("from", "s", number), Column("to", "s", number), IOPS, MEAN, Column("longest", "ms", number, 1e3))
    return Table("The run piece by piece", columns, rows)


def effects_table(effects: Sequence[Effect], base_iops: float, base_mean_s: float) -> Table:
    """Mechanisms, and what the load gets without each."""
    rows: list[Row] = [("the design as it is", base_iops, base_mean_s, "")]
    rows += [
        (
            f"{each.mechanism}: {each.without[0].lower()}{each.without[1:]}",
            each.iops,
            each.mean_s,
            f"{100 * each.change:+.0f} %" if each.certain else "no certain difference",
        )
        for each in effects
    ]
    return Table("The load with and without each mechanism", (Column("design"), IOPS, MEAN, Column("change")), rows)


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
    iops, lost = prediction.served_iops, prediction.lost_iops
    estimate = prediction.estimates.get("iops")
    sure = f" ± {100 * estimate.relative:.0f} %" if estimate is not None and math.isfinite(estimate.relative) else ""
    figures = [
        ("I/Os per second", f"{iops:,.0f}{'' if open_load and not prediction.saturated else sure}"),
        *([("Offered, lost", f"{prediction.offered_iops:,.0f}, {lost:,.0f}")] if lost else []),
        (
            "Throughput",
            f"{prediction.rate / 1e6:,.3g} MB/s" if prediction.rate < 1e8 else f"{prediction.rate / 1e6:,.0f} MB/s",
        ),
    ]
    for op, known in prediction.latencies.items():
        if not prediction.saturated:
            figures.append((f"99 % of {op}s within", format_duration(known["p99_s"])))
    return figures
