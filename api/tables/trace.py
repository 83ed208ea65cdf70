"""What a recorded trace tells: its I/Os in short, the devices, and the same as plain data."""

from __future__ import annotations

from typing import Any

from ...model.core.request import READ, WRITE
from ...model.files.quantities import format_size
from ...scenarios.traces.fitted import size_text
from ...scenarios.traces.formats.table import FORMATS
from ...scenarios.traces.reading import Trace
from ...scenarios.traces.summary import DeviceSummary, TraceSummary
from ...scenarios.traces.touched import PIECE
from ..answer.numbers import COUNT, PERCENTS
from ..answer.tree import Answer, Column, Part, Row, Table, Words

_MOST_SHOWN = 10


def trace_answer(trace: Trace, summary: TraceSummary) -> Answer:
    """What is in the trace, and the busiest devices."""
    shown = sorted(summary.devices.items(), key=lambda item: -item[1].records)[:_MOST_SHOWN]
    columns = [Column("device"), Column("I/Os", show=COUNT), Column("reads", show=PERCENTS, scale=100.0)]
    columns += [
        *(Column(name, show=str) for name in ("read", "written")),
        Column("in order", show=PERCENTS, scale=100.0),
    ]
    columns += [Column(name, show=str) for name in ("varies", "up to")]
    rows: list[Row] = [
        (
            name,
            device.records,
            device.read_share,
            *(format_size(device.bytes[op]) for op in (READ, WRITE)),
            device.sequential_share,
            _number(device.gaps.variation),
            format_size(device.end),
        )
        for name, device in shown
    ]
    parts: list[Part] = [Words(f"{name:15}{value}") for name, value in _facts(trace, summary)]
    parts.append(Table("", columns, rows))
    if len(summary.devices) > len(shown):
        parts.append(Words(f"... and {len(summary.devices) - len(shown):,} more devices (--json has all)"))
    return Answer("", parts)


def _facts(trace: Trace, summary: TraceSummary) -> list[tuple[str, str]]:
    rate = summary.mean_per_s
    about = "" if summary.touched.exact else "about "
    facts = [
        ("format", f"{FORMATS[trace.format].title} ({trace.format})"),
        ("records", f"{summary.records:,} on {len(summary.devices):,} device{'s' if len(summary.devices) > 1 else ''}"),
        ("duration", f"{summary.last_s:.6g} s"),
        ("reads", f"{_percent(summary.read_share)} of the I/Os"),
        ("sizes read", _sizes(summary, READ)),
        ("sizes written", _sizes(summary, WRITE)),
        ("in order", f"{_percent(summary.sequential_share)} begin where the one before on the device has ended"),
        ("working set", f"{about}{format_size(summary.touched.number * PIECE)} in pieces of 1 MiB"),
        ("rate", f"{'-' if rate is None else f'{rate:.4g}'} I/Os a second, at most {summary.peak_per_s:,} in a second"),
        ("arrivals", f"distances vary by {_number(summary.gaps.variation)} of their mean (1 is at random)"),
    ]
    if trace.tick_s:
        facts.append(("clock", f"in steps of {trace.tick_s:g} s: distances say nothing"))
    if trace.skipped:
        parts = [f"{number:,} {what}" for what, number in sorted(trace.skipped.items())]
        facts.append(("left out", ", ".join(parts)))
        facts += [("", error) for error in trace.errors]
    return facts


def _sizes(summary: TraceSummary, op: int) -> str:
    sizes, total = summary.sizes(op), summary.ios[op]
    common = [f"{size_text(size)} {_percent(number / total)}" for size, number in sizes.most_common(5)]
    rest = "" if len(sizes) <= len(common) else f", and {len(sizes) - len(common):,} more sizes"
    return ", ".join(common) + rest if common else "-"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def trace_document(trace: Trace, summary: TraceSummary, load: dict[str, Any] | None) -> dict[str, Any]:
    """Everything in SI units; `workload` is what a scenario file takes."""
    return {
        "file": str(trace.path),
        "format": trace.format,
        "clock_step_s": trace.tick_s,
        "records": summary.records,
        "left_out": dict(trace.skipped),
        "first_malformed": trace.errors,
        "duration_s": summary.last_s,
        "read_share": summary.read_share,
        "sequential_share": summary.sequential_share,
        "run_length": summary.runs.length,
        "working_set": summary.touched.number * PIECE,
        "working_set_exact": summary.touched.exact,
        "rate_per_s": summary.mean_per_s,
        "peak_per_s": summary.peak_per_s,
        "variation": summary.gaps.variation,
        "read_sizes": _shares(summary, READ),
        "write_sizes": _shares(summary, WRITE),
        "devices": {name: _device(device) for name, device in summary.devices.items()},
        "workload": load,
    }


def _shares(summary: TraceSummary, op: int) -> dict[str, float]:
    """The 100 most frequent sizes (bytes) with their shares."""
    return {str(size): number / summary.ios[op] for size, number in summary.sizes(op).most_common(100)}


def _device(device: DeviceSummary) -> dict[str, Any]:
    return {
        "reads": device.ios[READ],
        "writes": device.ios[WRITE],
        "bytes_read": device.bytes[READ],
        "bytes_written": device.bytes[WRITE],
        "sequential_share": device.sequential_share,
        "run_length": device.runs.length,
        "variation": device.gaps.variation,
        "end": device.end,
    }
