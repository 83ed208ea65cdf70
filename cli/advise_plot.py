"""Advice as a picture: what each design costs against how late its I/Os are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..scenarios.advice.advice import Advice
from ..scenarios.advice.verdict import Verdict

_BLUE, _GREY, _RED = "#1f6fb4", "#9aa5b1", "#c0392b"


def draw_advice(advice: Advice, path: Path) -> None:
    """Draw every design that was simulated into a file; its suffix sets the format."""
    from matplotlib.figure import Figure

    front, rest = advice.ranked[: advice.best], advice.ranked[advice.best :]
    failed = [each for each in advice.verdicts if each.status != "meets" and each.measured is not None]
    groups: list[tuple[str, Sequence[Verdict], str, str]] = [
        ("not beaten in everything", front, _BLUE, "o"),
        ("meets it", rest, _GREY, "o"),
        ("does not, or too close", failed, _RED, "x"),
        ("would do", advice.would_do, _BLUE, "s"),
    ]
    shown = [verdict for _, group, _, _ in groups for verdict in group]
    priced = bool(shown) and all(each.facts.cost is not None for each in shown)
    picture = Figure(figsize=(8.0, 5.2), layout="constrained")
    axes = picture.add_subplot()
    for label, group, colour, marker in groups:
        if not group:
            continue
        across = [float(each.facts.cost or 0.0) if priced else each.facts.drives for each in group]
        axes.plot(across, [1e3 * each.worst_p99 for each in group], marker, color=colour, label=label, linestyle="")
        for each, place in zip(group, across, strict=True):
            at = (place, 1e3 * each.worst_p99)
            words = f"{each.design.family.layout_words}, {each.design.drives}"
            axes.annotate(words, at, textcoords="offset points", xytext=(5, 4), fontsize=7)
    limits = [advice.requirement.limits.of(op, "p99") for op in advice.requirement.load.ops]
    for limit in {each for each in limits if each is not None}:
        axes.axhline(1e3 * limit, color="#52606d", linewidth=0.8, linestyle="--")
    if shown and max(each.worst_p99 for each in shown) > 5 * min(each.worst_p99 for each in shown):
        axes.set_yscale("log")
    axes.set(xlabel="cost" if priced else "drives", ylabel="p99 (ms), the slower of reads and writes")
    if shown:
        axes.legend(frameon=False, fontsize=8)
    picture.suptitle(advice.requirement.name, fontsize=10)
    picture.savefig(path, dpi=150)
