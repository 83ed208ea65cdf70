"""A comparison as pictures: designs side by side with their intervals, and load curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ...model.statistics.batch_means import Estimate
from ...scenarios.comparison.side_by_side import Comparison, Measured
from ...scenarios.pictures.style import GREY, INK, OPS, PLAIN, bare, blank, decades, headed, series
from ...scenarios.questions.load_curve import CurvePoint, LoadCurve
from ..support.figures import speed_figures, unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_PANEL_IN = (6.4, 4.8)
_LEGEND_COLUMNS = 4
_LEGEND_ROW_IN = 0.22
_ROOM = 1.25
"""Space above the slowest point, as a factor."""
_BARS_IN, _BAR_IN, _LINE_IN = 4.2, 0.34, 0.17
_NAME_LETTERS = 34
_SPEEDS, _RATES = ("iops", "rate"), ("MB/s", "1/s")
_MOST_REPORTED = 3
"""Figures that programs report and that are drawn."""
_MS = 1e3


def designs_figure(title: str, found: Comparison) -> Figure:
    """Throughput and latencies of designs side by side, or what programs report first, with 90 % intervals.

    Designs that cannot be are left out.
    """
    shown = [each for each in found.designs if each.facts is not None]
    figures = _figures(shown)
    late = any(_latencies(each) for each in shown)
    count = len(figures) + late
    names = ["\n".join(wrap(f"{each.design.number}. {each.design.label}", _NAME_LETTERS)) for each in shown]
    lines = sum(max(_BAR_IN, _LINE_IN * (1 + name.count("\n"))) for name in names)
    width = count * _BARS_IN + 0.075 * max(len(line) for name in names for line in name.split("\n"))
    picture = blank(max(width, 6.0), 1.5 + lines)
    panels = picture.subplots(1, count, squeeze=False, sharey=True)[0]
    for axes, figure in zip(panels, figures, strict=False):
        _draw_bars(axes, shown, figure, found.baseline)
        heading = "How fast" if figure in _SPEEDS else figure
        if axes is panels[0] and any(each.design.number == found.baseline for each in shown):
            heading += " (hatched: what the others are compared with)"
        axes.set_title(heading, fontsize=9)
    panels[0].set_yticks(range(len(shown)), names)
    panels[0].set_ylim(len(shown) - 0.4, -0.6)
    if late:
        _draw_latencies(panels[-1], shown)
        picture.legend(loc="outside lower right", ncols=4)
    runs = f"{found.replications} run{'' if found.replications == 1 else 's'} of each"
    headed(picture, f"{title}: {runs}, with 90 % intervals")
    return picture


def _figures(shown: Sequence[Measured]) -> list[str]:
    """What says how fast the designs are: I/Os or bytes a second, or what programs report, rates first."""
    known = speed_figures(shown)
    speed = [name for name in _SPEEDS if name in known]
    reported = dict.fromkeys(name for each in shown for name in each.estimates)
    return speed[:1] or sorted(reported, key=lambda name: unit_of(name)[0] not in _RATES)[:_MOST_REPORTED]


def _draw_bars(axes: Axes, shown: Sequence[Measured], figure: str, baseline: int) -> None:
    """A bar for each design; where more I/Os come than are done it says so."""
    unit, scale = ("I/Os per second", 1.0) if figure == "iops" else unit_of(figure)
    places = [place for place, each in enumerate(shown) if figure in each.estimates]
    estimates = [shown[place].estimates[figure] for place in places]
    values = [scale * each.mean for each in estimates]
    first = [shown[place].design.number == baseline for place in places]
    axes.barh(
        places,
        values,
        height=0.62,
        color=["white" if base else PLAIN for base in first],
        hatch=["///" if base else "" for base in first],
        edgecolor=GREY,
        linewidth=0.6,
    )
    widths = [scale * _half(each) for each in estimates]
    axes.errorbar(values, places, xerr=widths, fmt="none", ecolor=INK, elinewidth=1.1, capsize=3)
    most = max((value + width for value, width in zip(values, widths, strict=True)), default=1.0) or 1.0
    for place, value, width in zip(places, values, widths, strict=True):
        words = f"{value:,.3g}" if value < _ROUND else f"{value:,.0f}"
        words += ", saturated" if shown[place].saturated else ""
        at = (value + width, place)
        axes.annotate(words, at, xytext=(5, 0), textcoords="offset points", va="center", fontsize="small")
    room = 1.45 if any(each.saturated for each in shown) else 1.22
    axes.set(xlim=(0, room * most), xlabel=unit)
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.tick_params(axis="y", length=0)
    bare(axes)


_ROUND = 1000
"""From here on all digits are shown."""


def _half(estimate: Estimate) -> float:
    return float(estimate.half_width) if math.isfinite(estimate.half_width) else 0.0


def _latencies(each: Measured) -> list[tuple[str, str, Estimate]]:
    """What is known of a design's latencies: reads or writes, which figure, and its value."""
    if each.saturated:
        return []
    return [
        (op, kind, each.estimates[name])
        for op in OPS
        for kind in ("mean", "p99")
        if (name := f"{op}_{kind}_seconds") in each.estimates
    ]


def _draw_latencies(axes: Axes, shown: Sequence[Measured]) -> None:
    """Mean and 99th percentile of reads and writes, each with a marker of its own."""
    ends: list[float] = []
    labelled: set[str] = set()
    for place, each in enumerate(shown):
        for op, kind, estimate in _latencies(each):
            look, label = OPS[op], f"{op}s, {'mean' if kind == 'mean' else 'p99'}"
            value, half = _MS * estimate.mean, _MS * _half(estimate)
            low = max(value - half, 0.2 * value)
            axes.errorbar(
                [value],
                [place + (-0.14 if op == "read" else 0.14)],
                xerr=[[value - low], [half]],
                fmt=look.marker,
                color=look.colour,
                markerfacecolor=look.colour if kind == "mean" else "white",
                markersize=5,
                elinewidth=1.0,
                capsize=2.5,
                label="" if label in labelled else label,
            )
            labelled.add(label)
            ends += [low, value + half]
    if min(ends) > 0:
        decades(axes, "x", min(ends) / _ROOM, max(ends) * _ROOM)
    axes.set_xlabel("latency (ms)")
    axes.set_title("Latency", fontsize=9)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    bare(axes)


def curves_figure(title: str, found: Comparison) -> Figure:
    """The load curves of all designs that have one: mean and 99th percentile of the response time."""
    return curves_picture(title, [(each.design.label, each.curve) for each in found.designs if each.curve is not None])


def curves_picture(title: str, curves: Sequence[tuple[str, LoadCurve]]) -> Figure:
    """Load curves, each with its name."""
    width, height = _PANEL_IN
    rows = -(-len(curves) // _LEGEND_COLUMNS)
    picture = blank(2 * width, height + rows * _LEGEND_ROW_IN)
    lines: list[Line2D] = []
    panels = (("mean", "mean response time (ms)"), ("p99", "99th percentile of the response time (ms)"))
    for i, (kind, label) in enumerate(panels):
        axes = picture.add_subplot(1, 2, i + 1)
        lines = [_draw_curve(axes, number, curve, kind) for number, (_, curve) in enumerate(curves)]
        _label(axes, label, [curve for _, curve in curves], kind)
    columns = min(_LEGEND_COLUMNS, max(1, len(curves)))
    names = [name for name, _ in curves]
    picture.legend(lines, names, loc="outside lower center", ncols=columns, handlelength=3)
    headed(picture, f"{title}: rings mark the knee, vertical lines what each design can do")
    return picture


def _seconds(point: CurvePoint, kind: str) -> float:
    return point.mean_s if kind == "mean" else point.p99_s


def _draw_curve(axes: Axes, number: int, curve: LoadCurve, kind: str) -> Line2D:
    """One design's curve; color, marker and line are its own, so that it is told apart without color too."""
    look = series(number)
    steady = [point for point in curve.points if not point.saturated]
    (drawn,) = axes.plot(
        [point.offered_iops for point in steady],
        [_MS * _seconds(point, kind) for point in steady],
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markerfacecolor=look.face,
        markersize=5,
        linewidth=1.2,
    )
    axes.axvline(curve.saturation_iops, color=look.colour, linestyle=look.line, linewidth=0.8, alpha=0.6)
    if curve.knee is not None:
        at = (curve.knee.offered_iops, _MS * _seconds(curve.knee, kind))
        axes.plot(*at, marker="o", markersize=13, markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1.3)
    return drawn


def _label(axes: Axes, label: str, curves: list[LoadCurve], kind: str) -> None:
    from matplotlib.ticker import FuncFormatter

    axes.set(xlabel="offered load (I/Os per second)", ylabel=label, xlim=(0, None))
    seconds = [_seconds(point, kind) for curve in curves for point in curve.points if not point.saturated]
    if seconds:
        decades(axes, "y", _MS * min(seconds) / _ROOM, _MS * max(seconds) * _ROOM)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.grid()
    bare(axes)
