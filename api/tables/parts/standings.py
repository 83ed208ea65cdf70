"""The ranking of designs while advice is being worked out, from bounds first."""

from __future__ import annotations

from ....scenarios.advice.standings import Standing, Standings
from ...answer.numbers import COUNT, fixed
from ...answer.tree import Cell, Column, Row, Table

_ROWS = 20
"""Lines of the table: a terminal is not longer."""


def standings_table(standings: Standings) -> tuple[Table, str]:
    """The ranking so far: what is not out yet, and in words the number of those that are."""
    ranked, ops = standings.ranked(), standings.requirement.load.ops
    going = [each for each in ranked if not each.fails]
    columns = [Column("layout"), Column("cost", show=COUNT), Column("TB", show=lambda size: f"{size:.3g}", scale=1e-12)]
    columns += [Column("drives busy", show=str), *(Column(f"{op} p99", "ms", fixed(1), 1e3) for op in ops)]
    rows = [_row(each, ops) for each in going[:_ROWS]]
    hidden = len(going) - _ROWS
    by_bounds = sum(1 for each in ranked if each.verdict is not None and each.verdict.refusals)
    below = f"{len(ranked) - len(going)} out, {by_bounds} of them by bounds"
    table = Table(f"{standings.requirement.name}: so far", [*columns, Column("known from")], rows)
    return table, f"{hidden} more; {below}" if hidden > 0 else below


def _row(each: Standing, ops: tuple[str, ...]) -> Row:
    head: list[Cell] = [each.design.name, each.facts.cost, each.facts.usable_bytes]
    verdict = each.verdict
    measured = None if verdict is None else verdict.measured
    if measured is None or verdict is None:
        return [*head, f"≥ {100 * each.busy:.0f} %", *(None for _ in ops), "bounds"]
    found = [measured.latencies.get(f"{op}_p99") for op in ops]
    brief = measured.task.kind == "brief" and verdict.status != "beaten"
    known = f"{measured.task.ios:,} I/Os" if brief else verdict.status
    return [*head, f"{100 * measured.busiest:.0f} %", *(None if one is None else one.mean for one in found), known]
