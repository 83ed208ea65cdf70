"""A line below a table of a comparison: what its columns mean."""

from __future__ import annotations

from ...answer.tree import Part, Table, Words

FACTS, REBUILDS, RISKS = "What it holds, and what limits", "Rebuild of a drive", "Probability that data are lost"
"""Titles of tables."""
_P99 = "p99: latency that 99 % of the I/Os do not exceed."
_WORDS = {
    FACTS: (
        "of: capacity of all drives. survives: drive failures without loss of data, in any case and with luck. "
        "busiest: utilization of the busiest part."
    ),
    REBUILDS: "idle: without a load. set by: what limits the speed of the rebuild.",
    RISKS: (
        "drives fail, sectors unreadable: probability of each of the two ways to lose data; together they are the "
        "first column."
    ),
}


def with_words(table: Table) -> list[Part]:
    """The table, with the line of its columns if they need one; empty without rows."""
    words = [Words(_WORDS[table.title])] if table.title in _WORDS else []
    return [table, *words] if table.rows else []


def speed_words(baseline: int, differ: bool) -> Words:
    """What the columns of speeds mean; with `differ`, those of differences too."""
    if not differ:
        return Words(_P99)
    return Words(
        f"{_P99} +9.0 ±2.0: 9 % more than design {baseline}, 7 to 11 % with a probability of 90 %; =: the "
        "difference may be 0."
    )
