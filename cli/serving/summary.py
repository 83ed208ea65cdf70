"""What `raidsim serve` prints when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from ...api.answer.numbers import COUNT, fixed
from ...api.answer.tree import Answer, Cell, Column, Part, Table, Words, lines
from ...api.answer.units import format_duration, format_size
from ...api.tables.parts.usages import usages
from ...api.tables.rebuild import rebuild_line
from ...serve.counts import MOST_LATE
from ...serve.server import Server

_TIMES = ("mean", "p50", "p99", "max")


def served(server: Server, all_parts: bool) -> Answer:
    """What was served, the latencies of the array, the lateness of the answers, and the utilization of the parts."""
    return Answer("", list(_served(server, all_parts)))


def _served(server: Server, all_parts: bool) -> Iterator[Part]:
    found = server.counts.document()
    if not found["requests"]:
        yield Words("No request was served.")
        return
    moved = f"{format_size(found['read_bytes'])} read, {format_size(found['write_bytes'])} written"
    yield Words(f"Served {moved} in {format_duration(found['simulated_s'])} of simulated time")
    columns = [Column("Latency (ms)"), Column("requests", show=COUNT), Column("per second", show=fixed(1))]
    columns += [Column(name, show=fixed(3), scale=1e3) for name in _TIMES]
    rows: list[list[Cell]] = [
        [name, each["count"], each["per_second"], *(each[f"{which}_s"] for which in _TIMES)]
        for name, each in found["requests"].items()
    ]
    late = found.get("lateness")
    if late is not None:
        rows.append(["late by", None, None, *(late[f"{which}_s"] for which in _TIMES)])
    yield Table("", columns, rows)
    prediction = server.prediction()
    if prediction is not None:
        yield from usages(prediction, all_parts)
        yield from lines(map(rebuild_line, prediction.rebuilds))
    if server.array.busiest is not None:
        yield Words(f"busiest: {server.array.busiest}")
    if server.operator is not None:
        yield from lines(f"{at:.3f} s: {words}" for at, words in server.operator.done)
    if late is not None and late["too_late"]:
        share = late["share_of_latency"]
        by = "" if share is None else f" by {ceil(1000 * share) / 10:,.1f} %"
        yield Words(
            f"note: the answers were late{by} of the latency, more than {100 * MOST_LATE:.0f} %: this machine was too "
            "slow, and the client saw a slower array than the simulated one; use a lower --speed or "
            "--as-fast-as-possible"
        )
    if server.refused:
        yield Words(f"note: connections refused because there were too many: {server.refused:,}")
