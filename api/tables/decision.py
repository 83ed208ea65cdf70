"""The answer of a comparison, and of advice, in a few sentences before any figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...model.files.quantities import format_duration
from ...scenarios.advice.advice import Advice
from ...scenarios.advice.verdict import Verdict
from ...scenarios.comparison.side_by_side import Comparison, Measured
from ..answer.numbers import decimal_size, listed, number, probability

_WORTH_A_WORD = 1.05
"""Figures within this factor are alike."""
_MOST_OTHERS = 2
"""Designs that do not meet a requirement of which the reason is told at once."""


def comparison_decision(found: Comparison) -> str:
    """Which design serves the load, or is fastest, by how much and why, and what speaks for another; "" for one."""
    designs = [each for each in found.designs if each.facts is not None]
    if len(designs) < 2:
        return ""
    told = [*_served(designs), *_fastest(designs), *_besides(designs)]
    return " ".join(f"{words}." for words in told)


def _served(designs: Sequence[Measured]) -> Iterator[str]:
    """Which designs serve all of an open load, if some do not."""
    late = [each for each in designs if each.lost_iops]
    fit = [each for each in designs if not each.saturated]
    if not late:
        return
    offered = f"{number(late[0].offered_iops or 0.0)} IOPS"
    part = listed([f"{_name(each)} {number(each.iops)}" for each in late])
    if fit:
        yield f"All {offered} are served by {listed([_name(each) for each in fit])}; {part}"
    else:
        yield f"None serves all {offered}: {part}"
    best = max(fit or late, key=lambda each: each.iops)
    yield from _because(best, min(late, key=lambda each: each.iops))


def _fastest(designs: Sequence[Measured]) -> Iterator[str]:
    """The shortest latencies of an open load, or the most I/Os of another, of the designs that serve it."""
    fit = [each for each in designs if not each.saturated]
    if len(fit) < 2 or not all("iops" in each.estimates for each in fit):
        return
    if all(each.offered_iops is not None for each in fit):
        for op in ("read", "write"):
            named = f"{op}_p99_seconds"
            if all(named in each.estimates for each in fit):
                best, *_, worst = sorted(fit, key=lambda each: each.estimates[named].mean)
                yield from _apart(f"99 % of {op}s", named, best, worst)
        return
    best, *_, worst = sorted(fit, key=lambda each: -each.iops)
    if _alike(best, worst, "iops"):
        yield "All serve about as many I/Os"
        return
    first = [each for each in fit if each is best or _alike(best, each, "iops")]
    others = [f"{best.iops / each.iops:.2g} times {_name(each)}" for each in fit if each not in first]
    names = listed([_name(each) for each in first])
    yield f"Most served: {names}, {number(best.iops)} IOPS, {listed(others[:_MOST_OTHERS])}"
    yield from _while_cached(first)
    yield from _because(best, worst)


def _while_cached(designs: Sequence[Measured]) -> Iterator[str]:
    """Which of the fastest designs are only known while a controller's cache takes the writes."""
    for each in designs:
        if each.ends_in_cache and each.without_battery is not None:
            lost = number(each.without_battery.figures.get("iops", 0.0))
            yield f"{_name(each)} is measured while its cache takes the writes; with the battery lost it serves {lost}"


def _apart(what: str, named: str, best: Measured, worst: Measured) -> Iterator[str]:
    """Where a latency is shortest and where it is longest."""
    shortest, longest = best.estimates[named].mean, worst.estimates[named].mean
    if _alike(best, worst, named):
        few, many = format_duration(shortest), format_duration(longest)
        yield f"{what} are within {few if few == many else f'{few} to {many}'} on all, and not told apart"
    else:
        yield (
            f"{what} are within {format_duration(shortest)} on {_name(best)}, and {format_duration(longest)} on "
            f"{_name(worst)}, {longest / shortest:.2g} times as long"
        )
        yield from _because(best, worst)


def _alike(one: Measured, other: Measured, named: str) -> bool:
    """Whether a figure of two designs is about the same, or not known well enough to tell them apart."""
    first, second = one.estimates[named], other.estimates[named]
    low, high = sorted((first.mean, second.mean))
    halves = [each.half_width for each in (first, second) if math.isfinite(each.half_width)]
    return high <= low * _WORTH_A_WORD or high - low <= sum(halves)


def _because(best: Measured, worst: Measured) -> Iterator[str]:
    """That the slower design has more commands for each I/O, if that is so."""
    few, many = best.commands_per_io, worst.commands_per_io
    if few and many > few * _WORTH_A_WORD:
        yield f"Each I/O takes {many:.2g} drive commands on {_name(worst)} and {few:.2g} on {_name(best)}"


def _besides(designs: Sequence[Measured]) -> Iterator[str]:
    """Which design holds most, and which is least likely to lose data."""
    held = {_name(each): each.facts.usable_bytes for each in designs if each.facts is not None}
    most = max(held, key=lambda name: held[name])
    if held[most] > min(held.values()) * _WORTH_A_WORD:
        yield f"Most space: {most}, {decimal_size(held[most])}"
    risks = {_name(each): each.risk.over_life for each in designs if each.risk is not None}
    if len(risks) == len(designs):
        least = min(risks, key=lambda name: risks[name])
        if risks[least] * _WORTH_A_WORD < max(risks.values()):
            yield f"Least likely to lose data: {least}, {probability(risks[least])}"


def _name(each: Measured) -> str:
    return each.design.label


def advice_decision(advice: Advice) -> str:
    """Which design to take and how much it has to spare, and by how much others miss what is wanted."""
    told = []
    if advice.ranked:
        best = advice.ranked[0]
        cost = "" if best.facts.cost is None else f" for {best.facts.cost:,.0f}"
        told.append(f"{best.design.name} meets it{cost}{_spare(advice, best)}.")
    for each in _nearest(advice):
        commands = each.needed / advice.requirement.load.total_iops
        told.append(
            f"{each.design.name} does not: {_missed(advice, each)}, with {commands:.2g} drive commands for each I/O."
        )
    return " ".join(told)


def _nearest(advice: Advice) -> list[Verdict]:
    """Of the designs that do not meet it in a simulation, the nearest of each layout."""
    failed = [each for each in advice.verdicts if each.status == "fails" and each.measured is not None]
    failed.sort(key=lambda each: max((ratio for ratio, *_ in _ratios(advice, each)), default=math.inf))
    nearest: dict[str, Verdict] = {}
    for each in failed:
        nearest.setdefault(each.design.family.layout_words, each)
    return [*nearest.values()][:_MOST_OTHERS]


def _spare(advice: Advice, verdict: Verdict) -> str:
    """How far a design is from the nearest of its limits, and from saturation."""
    ratios = sorted(_ratios(advice, verdict), reverse=True)
    told = [f"{what} {format_duration(found)} of {format_duration(limit)}" for _, what, found, limit in ratios[:1]]
    if verdict.saturates_at:
        share = 100 * advice.requirement.load.total_iops / verdict.saturates_at
        told.append(f"{share:.2g} % of the load at which it saturates")
    return f": {', '.join(told)}" if told else ""


def _missed(advice: Advice, verdict: Verdict) -> str:
    """The limit that a design misses by most, in times of it; otherwise the reason as it stands."""
    ratios = [] if verdict.measured is None or verdict.measured.saturated else sorted(_ratios(advice, verdict))
    if ratios and ratios[-1][0] > 1:
        ratio, what, found, _ = ratios[-1]
        return f"{what} {format_duration(found)} is {ratio:.2g} times the limit"
    return "; ".join(verdict.reasons)


def _ratios(advice: Advice, verdict: Verdict) -> Iterator[tuple[float, str, float, float]]:
    """Latencies over their limits: the ratio, what it is, the latency and the limit (s)."""
    if verdict.measured is None:
        return
    for name, estimate in verdict.measured.latencies.items():
        op, kind = name.split("_")
        limit = advice.requirement.limits.of(op, kind)
        if limit is not None:
            yield estimate.mean / limit, f"{op} {kind}", estimate.mean, limit
