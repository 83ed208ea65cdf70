"""Which of several designs are best: those that no other beats in everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from .verdict import Verdict


def pareto(verdicts: Sequence[Verdict]) -> tuple[list[Verdict], list[Verdict]]:
    """Designs that no other beats in everything, and the rest; both by cost, then drives, then latency."""
    front = [one for one in verdicts if not any(_beats(other, one) for other in verdicts)]
    rest = [one for one in verdicts if one not in front]
    return sorted(front, key=cost_key), sorted(rest, key=cost_key)


def cost_key(verdict: Verdict) -> tuple[float, float, float]:
    """Cost, then drives, then latency."""
    cost = verdict.facts.cost
    return (inf if cost is None else cost, verdict.facts.drives, verdict.worst_p99)


def _aims(verdict: Verdict) -> tuple[float, ...]:
    """What should be small: cost, drives, latency, loss of data, and with their sign capacity, failures, headroom."""
    facts = verdict.facts
    return (
        inf if facts.cost is None else facts.cost,
        facts.drives,
        verdict.worst_p99,
        inf if verdict.loss_per_year is None else verdict.loss_per_year,
        -facts.usable_bytes,
        -facts.survives_any,
        -(verdict.saturates_at or 0.0),
    )


def _beats(one: Verdict, other: Verdict) -> bool:
    pairs: Iterable[tuple[float, float]] = list(zip(_aims(one), _aims(other), strict=True))
    return all(mine <= theirs for mine, theirs in pairs) and any(mine < theirs for mine, theirs in pairs)
