"""Load curves as a picture: mean and 99th percentile of the response time, all designs in one figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..scenarios.comparison.side_by_side import Comparison
from ..scenarios.load_curve import CurvePoint, LoadCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_PANEL_IN = (6.4, 4.8)
_COLOURS = ("#1f6fb4", "#c2410c", "#15803d", "#7e22ce", "#52606d", "#b45309", "#0e7490", "#be185d")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_LINES = ("-", "--", "-.", ":")
_LEGEND_COLUMNS = 4
_LEGEND_ROW_IN = 0.22
_ROOM = 1.25
"""Space above the slowest point, as a factor."""


def draw_curves(title: str, found: Comparison, path: Path) -> None:
    """Draw the load curves of all designs that have one; the file's suffix sets the format."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    curves = [(each.design.label, each.curve) for each in found.designs if each.curve is not None]
    width, height = _PANEL_IN
    # The same curves are to give the same file.
    with rc_context({"svg.hashsalt": "raidsim"}):
        rows = -(-len(curves) // _LEGEND_COLUMNS)
        picture = Figure(figsize=(2 * width, height + rows * _LEGEND_ROW_IN), layout="constrained")
        lines: list[Line2D] = []
        panels = (("mean", "mean response time (ms)"), ("p99", "99th percentile of the response time (ms)"))
        for i, (kind, label) in enumerate(panels):
            axes = picture.add_subplot(1, 2, i + 1)
            lines = [_draw(axes, number, curve, kind) for number, (_, curve) in enumerate(curves)]
            _label(axes, label, [curve for _, curve in curves], kind)
        columns = min(_LEGEND_COLUMNS, len(curves))
        names = [name for name, _ in curves]
        legend = picture.legend(lines, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
        for text in legend.get_texts():
            text.set_parse_math(False)
        picture.suptitle(
            f"{title}: rings mark the knee, vertical lines what each design can do", fontsize=10, parse_math=False
        )
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
        picture.savefig(path, dpi=150, metadata=metadata)


def _seconds(point: CurvePoint, kind: str) -> float:
    return point.mean_s if kind == "mean" else point.p99_s


def _draw(axes: Axes, number: int, curve: LoadCurve, kind: str) -> Line2D:
    """One design's curve; colour, marker and line are its own, so that it is told apart without colour too."""
    turn = number // len(_MARKERS)
    colour = _COLOURS[number % len(_COLOURS)]
    line = _LINES[(number + turn) % len(_LINES)]
    steady = [point for point in curve.points if not point.saturated]
    (drawn,) = axes.plot(
        [point.offered_iops for point in steady],
        [1e3 * _seconds(point, kind) for point in steady],
        color=colour,
        linestyle=line,
        marker=_MARKERS[number % len(_MARKERS)],
        markerfacecolor="white" if turn % 2 else colour,
        markersize=5,
        linewidth=1.2,
    )
    axes.axvline(curve.saturation_iops, color=colour, linestyle=line, linewidth=0.8, alpha=0.6)
    if curve.knee is not None:
        at = (curve.knee.offered_iops, 1e3 * _seconds(curve.knee, kind))
        axes.plot(*at, marker="o", markersize=13, markerfacecolor="none", markeredgecolor="black", markeredgewidth=1.3)
    return drawn


def _label(axes: Axes, label: str, curves: list[LoadCurve], kind: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set(xlabel="offered load (I/Os per second)", ylabel=label, yscale="log", xlim=(0, None))
    seconds = [_seconds(point, kind) for curve in curves for point in curve.points if not point.saturated]
    if seconds:
        axes.set_ylim(1e3 * min(seconds) / _ROOM, 1e3 * max(seconds) * _ROOM)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(color="#e4e7eb", linewidth=0.6)
