"""What `raidsim serve` prints when it ends."""

from __future__ import annotations

from math import ceil

from rich.text import Text

from ...model.files.quantities import format_duration, format_size
from ...serve.counts import MOST_LATE
from ...serve.server import Server
from ..support.table import Table
from ..tables.run import rebuild_line, run_console
from ..tables.usages import print_usages


def print_served(server: Server, all_parts: bool) -> None:
    """What was served, the latencies of the array, the lateness of the answers, and the utilization of the parts."""
    found = server.counts.document()
    console = run_console()
    if not found["requests"]:
        console.print("No request was served.")
        return
    moved = f"{format_size(found['read_bytes'])} read, {format_size(found['write_bytes'])} written"
    console.print(Text(f"Served {moved} in {format_duration(found['simulated_s'])} of simulated time"))
    table = Table(box=None, pad_edge=False)
    for column in ("Latency (ms)", "requests", "per second", "mean", "p50", "p99", "max"):
        table.add_column(column, justify="left" if column.startswith("Latency") else "right")
    for name, each in found["requests"].items():
        rate = "" if each["per_second"] is None else f"{each['per_second']:,.1f}"
        table.add_row(name, f"{each['count']:,}", rate, *_milliseconds(each))
    late = found.get("lateness")
    if late is not None:
        table.add_row("late by", "", "", *_milliseconds(late))
    console.print(table)
    prediction = server.prediction()
    if prediction is not None:
        print_usages(console, prediction, all_parts)
        for rebuild in prediction.rebuilds:
            console.print(Text(rebuild_line(rebuild)))
    if server.array.busiest is not None:
        console.print(Text(f"busiest: {server.array.busiest}"))
    if server.operator is not None:
        for at, words in server.operator.done:
            console.print(Text(f"{at:.3f} s: {words}"))
    if late is not None and late["too_late"]:
        share = late["share_of_latency"]
        words = (
            "the answers were late" if share is None else f"the answers were late by {ceil(1000 * share) / 10:,.1f} %"
        )
        console.print(
            Text(
                f"note: {words} of the latency, more than {100 * MOST_LATE:.0f} %: this machine was too slow, and the "
                "client saw a slower array than the simulated one; use a lower --speed or --as-fast-as-possible"
            )
        )
    if server.refused:
        console.print(Text(f"note: connections refused because there were too many: {server.refused:,}"))


def _milliseconds(latencies: dict[str, float]) -> list[str]:
    return [f"{1e3 * latencies[f'{which}_s']:,.3f}" for which in ("mean", "p50", "p99", "max")]
