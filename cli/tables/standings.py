"""What `raidsim advise` shows on a terminal while it works: the ranking so far, from bounds first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ...scenarios.advice.standings import Standing, Standings
from ..support.table import Table

_ROWS = 20
"""Lines of the table: a terminal is not longer."""
_PER_SECOND = 4.0


@contextmanager
def live_standings(console: Console) -> Iterator[Callable[[Standings], None]]:
    """Show the ranking on `console` as long as the block runs; yields what takes every new one."""
    with Live(console=console, refresh_per_second=_PER_SECOND, transient=True) as live:
        yield lambda standings: live.update(standings_table(standings), refresh=True)


def standings_table(standings: Standings) -> Table:
    """The ranking so far: what is not out yet, and the number of those that are."""
    ranked = standings.ranked()
    going = [each for each in ranked if not each.fails]
    table = Table(title=f"{standings.requirement.name}: so far", title_justify="left")
    table.add_column("layout", overflow="fold")
    for heading in ("cost", "TB", "drives busy", *(f"{op} p99 (ms)" for op in standings.requirement.load.ops)):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("known from")
    for each in going[:_ROWS]:
        table.add_row(*_cells(each, standings))
    hidden = len(going) - _ROWS
    lines = [f"{hidden} more"] if hidden > 0 else []
    out = len(ranked) - len(going)
    by_bounds = sum(1 for each in ranked if each.verdict is not None and each.verdict.refusals)
    lines.append(f"{out} out, {by_bounds} of them by bounds")
    table.caption = "; ".join(lines)
    table.caption_justify = "left"
    return table


def _cells(each: Standing, standings: Standings) -> list[Text | str]:
    facts, verdict = each.facts, each.verdict
    cost = "" if facts.cost is None else f"{facts.cost:,.0f}"
    cells: list[Text | str] = [Text(each.design.name), cost, f"{facts.usable_bytes / 1e12:.3g}"]
    measured = None if verdict is None else verdict.measured
    if measured is None or verdict is None:
        return [*cells, f"≥ {100 * each.busy:.0f} %", *("" for _ in standings.requirement.load.ops), "bounds"]
    cells.append(f"{100 * measured.busiest:.0f} %")
    for op in standings.requirement.load.ops:
        found = measured.latencies.get(f"{op}_p99")
        cells.append("" if found is None else f"{1e3 * found.mean:.1f}")
    brief = measured.task.kind == "brief" and verdict.status != "beaten"
    return [*cells, f"{measured.task.ios:,} I/Os" if brief else verdict.status]
