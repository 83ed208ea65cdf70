"""The live view of `raidsim serve --live`: a dashboard in a terminal, otherwise a line each time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from ...api.answer.units import format_duration, format_size
from ...serve.recent import Look
from ...serve.server import Server
from ..support.table import Table

EVERY_S = 1.0
"""Seconds between two pictures: drawing takes some 10 ms of CPU time, by which answers may be late."""
_PARTS = 8
_BAR = 20


class LiveView:
    """Shows a server until it ends.

    Parameters
    ----------
    server
        The server.
    console
        Where to.
    """

    def __init__(self, server: Server, console: Console) -> None:
        self._server = server
        self._console = console
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, in the server's event loop; it goes on until the loop ends."""
        self._server.looks.latest()  # from here on is counted
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            if not self._console.is_terminal:
                while True:
                    await asyncio.sleep(EVERY_S)
                    self._console.print(Text(line(self._server.looks.latest())), soft_wrap=True)
            with Live(console=self._console, auto_refresh=False, transient=True) as live:
                while True:
                    live.update(dashboard(self._server.name, self._server.looks.latest()), refresh=True)
                    await asyncio.sleep(EVERY_S)


def line(look: Look) -> str:
    """A look in one line."""
    words = [f"{look.at_s:.1f} s"]
    words += [
        f"{each.kind} {each.per_second:,.0f}/s p50 {_ms(each.p50_s)} p99 {_ms(each.p99_s)}" for each in look.requests
    ]
    words.append(f"{look.outstanding} in the array")
    if look.parts:
        name, _, share = look.parts[0]
        words.append(f"{name} {100 * share:.0f} %")
    words += _rebuilds(look)
    if look.late_p50_s is not None and look.late_p99_s is not None:
        words.append(f"late by p50 {_ms(look.late_p50_s)} p99 {_ms(look.late_p99_s)}")
    return ", ".join(words)


def dashboard(name: str, look: Look) -> Group:
    """A look as a screen."""
    moved = f"{format_size(round(look.bytes_per_second))}/s"
    dirty = f"{format_size(look.dirty_bytes)} in the drives' write caches"
    shown: list[Table | Text] = [
        Text(f"{name} at {look.at_s:.1f} s: {moved}, {look.outstanding:,} requests in the array, {dirty}")
    ]
    latencies = Table(box=None, pad_edge=False)
    for column in ("Latency (ms)", "per second", "mean", "p50", "p99"):
        latencies.add_column(column, justify="left" if column.startswith("Latency") else "right")
    for each in look.requests:
        times = (f"{1e3 * seconds:,.3f}" for seconds in (each.mean_s, each.p50_s, each.p99_s))
        latencies.add_row(each.kind, f"{each.per_second:,.1f}", *times)
    shown.append(latencies)
    parts = Table(box=None, pad_edge=False, show_header=False)
    for part, _, share in look.parts[:_PARTS]:
        filled = round(_BAR * share)
        parts.add_row(part, "█" * filled + "·" * (_BAR - filled), f"{100 * share:3.0f} %")
    shown.append(parts)
    shown += [Text(words) for words in _rebuilds(look)]
    if look.bottleneck is not None:
        shown.append(Text(f"bottleneck: {look.bottleneck}"))
    if look.late_p50_s is not None and look.late_p99_s is not None:
        of_all = "" if look.late_share is None else f"; {100 * look.late_share:.1f} % of the latency since the start"
        shown.append(Text(f"answers late by: p50 {_ms(look.late_p50_s)}, p99 {_ms(look.late_p99_s)}{of_all}"))
    return Group(*shown)


def _rebuilds(look: Look) -> list[str]:
    return [
        f"{each.array} {each.action} {100 * each.position / each.total_bytes:.1f} % "
        f"at {format_size(round(each.rate))}/s"
        for each in look.rebuilds
    ]


def _ms(seconds: float) -> str:
    return format_duration(seconds) if seconds else "0 ms"
