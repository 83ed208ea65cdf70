"""Pictures of an answer: SVG that is part of a page, needs no script and prints as it looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

BLUE, ORANGE, TEAL = "#2b7bba", "#d2691e", "#0f7490"

_WIDE, _LEFT, _ROW, _HIGH = 640, 190, 24, 240
"""Pixels: of a picture, left of its bars or lines, of a bar, and of a picture of lines."""
_TICKS = 5
Line = tuple[str, Sequence[tuple[float, float]]]
"""A name, and points from left to right."""


def bars(values: Sequence[tuple[str, float, str]], caption: str) -> str:
    """Horizontal bars: name, value, and the words at its end."""
    most = max((value for _, value, _ in values), default=0.0) or 1.0
    room = _WIDE - _LEFT - 110
    rows = []
    for place, (name, value, words) in enumerate(values):
        top = _ROW * place
        wide = room * max(0.0, value) / most
        rows.append(
            f'<text x="{_LEFT - 8}" y="{top + 16}" text-anchor="end">{escape(_short(name))}</text>'
            f'<rect x="{_LEFT}" y="{top + 4}" width="{wide:.1f}" height="{_ROW - 8}" fill="{TEAL}"/>'
            f'<text x="{_LEFT + wide + 6:.1f}" y="{top + 16}">{escape(words)}</text>'
        )
    return _svg("".join(rows), _ROW * len(values) + 4, caption)


def lines(series: Sequence[Line], x_title: str, y_title: str, caption: str, log_x: bool = False) -> str:
    """Lines over a common axis; those after the first are dashed."""
    points = [point for _, line in series for point in line if not log_x or point[0] > 0]
    if not points:
        return ""
    places = [math.log10(x) if log_x else x for x, _ in points]
    low, high = min(places), max(places)
    span = high - low or 1.0
    top = max(y for _, y in points) or 1.0
    left, bottom, right = 60, _HIGH - 40, _WIDE - 20

    def at(x: float, y: float) -> str:
        along = ((math.log10(x) if log_x else x) - low) / span
        return f"{left + along * (right - left):.1f},{bottom - y / top * (bottom - 30):.1f}"

    drawn = [f'<path d="M{left},30V{bottom}H{right}" fill="none" stroke="#888"/>']
    for number, (name, line) in enumerate(series):
        colour, dash = ((BLUE, ""), (ORANGE, ' stroke-dasharray="6 3"'))[min(1, number)]
        known = " ".join(at(x, y) for x, y in line if not log_x or x > 0)
        drawn.append(f'<polyline points="{known}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        key = left + 10 + 150 * number
        drawn.append(f'<path d="M{key},14h18" stroke="{colour}" stroke-width="2"{dash}/>')
        drawn.append(f'<text x="{key + 24}" y="18">{escape(name)}</text>')
    for tick in range(_TICKS):
        share = tick / (_TICKS - 1)
        x = low + share * span
        value = 10**x if log_x else x
        place = left + share * (right - left)
        drawn.append(f'<text x="{place:.0f}" y="{bottom + 16}" text-anchor="middle">{value:,.3g}</text>')
        height = bottom - share * (bottom - 30)
        drawn.append(f'<text x="{left - 6}" y="{height + 4:.0f}" text-anchor="end">{share * top:,.3g}</text>')
    drawn.append(f'<text x="{(left + right) / 2:.0f}" y="{_HIGH - 6}" text-anchor="middle">{escape(x_title)}</text>')
    drawn.append(f'<text x="{right}" y="18" text-anchor="end">{escape(y_title)}</text>')
    return _svg("".join(drawn), _HIGH, caption)


def _svg(inside: str, height: int, caption: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDE} {height}" role="img" aria-label="{escape(caption)}" '
        f'font-size="12" font-family="system-ui,sans-serif" fill="currentColor">{inside}</svg>'
    )


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
