"""A served array at one moment: the figures, the utilization of the parts, and the course of the last two minutes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ...api.answer.numbers import number
from ...api.answer.tree import Column, Table
from ...api.answer.units import format_duration, format_size
from ...api.support.explorer import RebuildProgress
from ...serve.counts import MOST_LATE
from ...serve.recent import Look
from ..work.live import ArrayState, Seen
from .theme import TEAL

MOST_PARTS = 16
IDLE = 0.01
"""Parts with a lower utilization are left out, unless all have one."""
_FEWEST_POINTS = 2


def figures(look: Look) -> list[tuple[str, str]]:
    """The figures that matter most, as (name, value)."""
    found = [
        ("I/Os per second", f"{total_iops(look):,.0f}"),
        ("Throughput", f"{look.bytes_per_second / 1e6:,.3g} MB/s"),
    ]
    for each in look.requests:
        if each.kind in ("read", "write"):
            found.append((f"p50 of {each.kind}s", format_duration(each.p50_s)))
            found.append((f"p99 of {each.kind}s", format_duration(each.p99_s)))
    found.append(("Requests in the array", f"{look.outstanding:,}"))
    found.append(("Dirty in drive caches", format_size(look.dirty_bytes)))
    return found


def total_iops(look: Look) -> float:
    """Reads and writes per second."""
    return math.fsum(each.per_second for each in look.requests if each.kind in ("read", "write"))


def state_words(name: str, state: ArrayState) -> str:
    """The state of an array in a sentence."""
    said = [f"{name}: {len(state.members)} members"]
    if state.failed:
        said.append(f"failed: {', '.join(state.failed)}")
    if state.rebuilding:
        said.append(f"rebuilding onto {', '.join(state.rebuilding)}")
    if state.spares:
        said.append(f"hot spares: {state.spares}")
    if not state.failed and not state.rebuilding:
        said.append("whole")
    return "; ".join(said) + "."


def rebuild_words(rebuild: RebuildProgress) -> str:
    """How far a rebuild or a check is."""
    left = f", {format_duration(rebuild.left_s)} left at this rate" if math.isfinite(rebuild.left_s) else ""
    return (
        f"{rebuild.array}: {rebuild.action}, {100 * rebuild.position / rebuild.total_bytes:.1f} % done, "
        f"{rebuild.rate / 1e6:,.3g} MB/s a drive{left}"
    )


def lateness_words(look: Look) -> str:
    """The lateness of the answers; "" if the server is as fast as possible."""
    if look.late_p50_s is None or look.late_p99_s is None:
        return ""
    late = [format_duration(seconds) if seconds else "0 ms" for seconds in (look.late_p50_s, look.late_p99_s)]
    of_all = "" if look.late_share is None else f"; {100 * look.late_share:.1f} % of the latency since the start"
    return f"Answers are late by {late[0]} (p50) and {late[1]} (p99){of_all}."


def is_late(look: Look) -> bool:
    """Whether the answers are so late that clients see a slower array."""
    return look.late_share is not None and look.late_share > MOST_LATE


def requests_table(look: Look) -> Table:
    """Requests of the last second by kind."""
    rows = [
        ("flushes" if each.kind == "flush" else f"{each.kind}s", each.per_second, each.mean_s, each.p50_s, each.p99_s)
        for each in look.requests
    ]
    columns = [Column("requests"), Column("per second", show=number)]
    columns += [Column(name, "ms", number, 1e3) for name in ("mean", "p50", "p99")]
    return Table("Requests by kind, and their latency", columns, rows)


def busiest(look: Look) -> Sequence[tuple[str, str, float]]:
    """The parts that are shown, the busiest first."""
    return [each for each in look.parts if each[2] >= IDLE][:MOST_PARTS] or look.parts[:1]


def meters(look: Look, caption: str) -> str:
    """Utilization of the parts as a table of bars: HTML, which is redrawn without flicker."""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:500;padding:.15rem .6rem .15rem 0;'
        f'white-space:nowrap">{escape(name)}</th><td style="width:70%"><div style="background:rgba(128,128,128,.22);'
        f'border-radius:3px"><div style="width:{100 * share:.1f}%;height:.9rem;background:{TEAL};border-radius:3px">'
        f'</div></div></td><td style="text-align:right;padding-left:.6rem;white-space:nowrap">{100 * share:.0f} %</td>'
        "</tr>"
        for name, _, share in busiest(look)
    )
    return (
        f'<table style="border-collapse:collapse;font-size:.875rem;width:100%"><caption style="text-align:left;'
        f'opacity:.8;padding:.2rem 0">{escape(caption)}</caption><tbody>{rows}</tbody></table>'
    )


def course(seen: Sequence[Seen]) -> str:
    """I/Os per second over the last two minutes as columns of HTML; "" before there are two points."""
    points = [each.look for each in seen if each.look.span_s > 0]
    if len(points) < _FEWEST_POINTS:
        return ""
    rates = [total_iops(each) for each in points]
    most = max(rates)
    seconds = points[-1].at_s - points[0].at_s + points[0].span_s
    caption = f"I/Os per second in the last {seconds:,.0f} s: {min(rates):,.0f} to {most:,.0f}"
    columns = "".join(
        f'<div style="flex:{each.span_s:.2f} 1 0;background:{TEAL};height:{100 * rate / (most or 1.0):.1f}%"></div>'
        for each, rate in zip(points, rates, strict=True)
    )
    return (
        f'<div style="font-size:.875rem;opacity:.8;padding:.2rem 0">{escape(caption)}</div>'
        f'<div role="img" aria-label="{escape(caption)}" style="display:flex;align-items:flex-end;gap:1px;height:9rem;'
        f'border-bottom:1px solid rgba(128,128,128,.6)">{columns}</div>'
    )
