"""`raidsim trace info`: what is in a recorded trace, and a load that is like it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from ...api.support.progress import progress_bar
from ...model.core.errors import InputError
from ...model.core.request import READ, WRITE
from ...model.files.quantities import format_size
from ...scenarios.traces.fitted import fitted_load, size_text
from ...scenarios.traces.formats.table import FORMATS
from ...scenarios.traces.reading import Trace, open_trace
from ...scenarios.traces.summary import DeviceSummary, TraceSummary, summarised
from ...scenarios.traces.touched import PIECE
from ..support.options import OnErrorOption, skips_malformed
from ..support.table import Table

_MOST_SHOWN = 10


def trace_command(
    action: Annotated[str, typer.Argument(metavar="info", help="What to do: info.")],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The trace; may be packed with gzip, xz or zstd.")],
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help=f"Its format: {', '.join(FORMATS)}.")
    ] = None,
    on_error: OnErrorOption = "stop",
    target: Annotated[str, typer.Option("--target", help="Where the fitted load goes.")] = "md0",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Say what is in a recorded trace, and print a load that is like it."""
    if action != "info":
        raise InputError("trace", f"found {action!r}", "expected: info")
    trace = open_trace(path, format, skips_malformed(on_error))
    with progress_bar(f"reading {path.name} (bytes)") as progress:
        summary = summarised(trace.records(progress), str(path))
    load = fitted_load(summary, target, trace.tick_s)
    if as_json:
        typer.echo(json.dumps(_document(trace, summary, load), allow_nan=False))
        return
    console = Console(highlight=False)
    _show(console, trace, summary)
    if load is None:
        typer.echo("no load is fitted: the times say nothing about the rate")
    else:
        typer.echo(yaml.safe_dump({"workload": load}, sort_keys=False, default_flow_style=None, width=100), nl=False)


def _show(console: Console, trace: Trace, summary: TraceSummary) -> None:
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, value in _facts(trace, summary):
        facts.add_row(name, value)
    console.print(facts)
    table = Table(padding=(0, 1), pad_edge=False)
    for column in ("device", "I/Os", "reads", "read", "written", "in order", "varies", "up to"):
        table.add_column(column, justify="left" if column == "device" else "right")
    shown = sorted(summary.devices.items(), key=lambda item: -item[1].records)[:_MOST_SHOWN]
    for name, device in shown:
        table.add_row(
            name,
            f"{device.records:,}",
            _percent(device.read_share),
            format_size(device.bytes[READ]),
            format_size(device.bytes[WRITE]),
            _percent(device.sequential_share),
            _number(device.gaps.variation),
            format_size(device.end),
        )
    console.print(table)
    if len(summary.devices) > len(shown):
        console.print(f"... and {len(summary.devices) - len(shown):,} more devices (--json has all)\n")


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


def _document(trace: Trace, summary: TraceSummary, load: dict[str, Any] | None) -> dict[str, Any]:
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
