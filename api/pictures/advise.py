"""Advice as a picture: cost of each design against its latency."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from ...scenarios.advice.advice import Advice
from ...scenarios.advice.verdict import Verdict
from ...scenarios.pictures.style import GREY, LOST, MARKED, bare, blank, decades, headed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE, _ROOM = 5.0, 1.3
"""Times that are further apart than this factor stand on a logarithmic axis, which has this much room at its ends."""


def advice_figure(advice: Advice) -> Figure:
    """Every design that was simulated: its latency percentile against what it costs."""
    front, rest = advice.ranked[: advice.best], advice.ranked[advice.best :]
    shown_too = [each for each in advice.verdicts if isfinite(each.worst_p99)]
    failed = [each for each in shown_too if each.status in ("close", "fails")]
    beaten = [each for each in shown_too if each.status == "beaten"]
    groups: list[tuple[str, Sequence[Verdict], str, str, str]] = [
        ("on the shortlist", front, MARKED, "o", MARKED),
        ("meets it", rest, GREY, "o", "white"),
        ("slower than another chunk", beaten, GREY, "x", GREY),
        ("does not, or too close", failed, LOST, "x", LOST),
        ("would do", advice.would_do, MARKED, "s", "white"),
    ]
    shown = [verdict for _, group, _, _, _ in groups for verdict in group]
    priced = bool(shown) and all(each.facts.cost is not None for each in shown)
    picture = blank(8.0, 5.2)
    axes = picture.add_subplot()
    for label, group, colour, marker, inside in groups:
        if not group:
            continue
        across = [float(each.facts.cost or 0.0) if priced else each.facts.drives for each in group]
        late_ms = [1e3 * each.worst_p99 for each in group]
        axes.plot(across, late_ms, marker, color=colour, markerfacecolor=inside, label=label, linestyle="")
        for each, place in zip(group, across, strict=True):
            at = (place, 1e3 * each.worst_p99)
            words = f"{each.design.family.layout_words}, {each.design.drives}"
            axes.annotate(words, at, textcoords="offset points", xytext=(5, 4), fontsize=7)
    asked = (advice.requirement.limits.of(op, "p99") for op in advice.requirement.load.ops)
    limits = [1e3 * limit for limit in asked if limit is not None]
    for limit in set(limits):
        axes.axhline(limit, color=GREY, linewidth=0.8, linestyle="--")
    late = limits + [1e3 * each.worst_p99 for each in shown]
    low, high = min(late, default=1.0), max(late, default=1.0)
    if high > _WIDE * low > 0:
        decades(axes, "y", low / _ROOM, high * _ROOM)
    axes.set(xlabel="cost" if priced else "drives", ylabel="p99 (ms), the slower of reads and writes")
    if shown:
        axes.legend(fontsize=8)
    bare(axes)
    headed(picture, advice.requirement.name)
    return picture
