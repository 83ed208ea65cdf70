"""A run as a picture: utilization of each part, with the bottleneck marked, and the latencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...model.statistics.usage import SATURATED, Usage, limit
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.pictures.style import INK, MARKED, OPS, PLAIN, bare, blank, decades, headed
from ...scenarios.questions.without_bottleneck import busiest_phase
from ...scenarios.running.base.prediction import LatencyBins, Prediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
_MOST_BARS, _FEW_BARS = 32, 8
_IDLE = 0.005
"""Busy for a smaller share is 0 % in the table."""
_WIDTH_IN, _BAR_IN, _LEAST_IN = 10.0, 0.27, 3.9
_PERCENTS = (50.0, 99.0)
_RARE, _ROOM = 0.1, 1.3
"""Percentage of the fastest I/Os that the picture may begin after, and the space at its sides, as a factor."""


def run_figure(spec: ScenarioSpec, prediction: Prediction) -> Figure:
    """Utilization and latency of a run."""
    bars = _bars(prediction.usages)
    left_out = len(prediction.usages) - len(bars)
    late = bool(prediction.latency_bins) and not prediction.saturated
    height = max(_LEAST_IN, 1.3 + _BAR_IN * len(bars))
    figure = blank(_WIDTH_IN if late else _WIDTH_IN / 2, height)
    panels = figure.subplots(1, 2 if late else 1, squeeze=False)[0]
    busiest = busiest_phase(prediction)
    during = next((f" during {name}" for name, phase in prediction.phases.items() if phase is busiest), "")
    _draw_usages(panels[0], bars, left_out, busiest, during)
    if late:
        title = "Latency" if spec.workload.kind in ("load", "several", "fio") else "Latency of the page cache's I/Os"
        _draw_latencies(panels[1], prediction, title)
        figure.legend(loc="outside lower right", ncols=2, handlelength=2.8)
    headed(figure, f"{spec.name} ({spec.kernel})")
    return figure


def _bars(usages: Sequence[Usage]) -> list[Usage]:
    """The parts to show, in the order of the table: all of a few, else those that had something to do."""
    if len(usages) <= _FEW_BARS:
        return list(usages)
    ranked = sorted(usages, key=lambda usage: -usage.utilization)
    busiest = [usage for usage in ranked if usage.utilization >= _IDLE][:_MOST_BARS] or ranked[:_FEW_BARS]
    return [usage for usage in usages if usage in busiest]


def _draw_usages(axes: Axes, bars: Sequence[Usage], left_out: int, busiest: Prediction, during: str) -> None:
    found = limit(busiest.usages)
    limiting = {part.name for part in found.parts} if found is not None and found.saturated else set()
    places = np.arange(len(bars))
    shares = [100 * usage.utilization for usage in bars]
    marked = [usage.name in limiting for usage in bars]
    axes.barh(
        places,
        shares,
        height=0.7,
        color=[MARKED if mark else PLAIN for mark in marked],
        edgecolor=INK,
        linewidth=0.6,
    )
    for place, share, mark in zip(places, shares, marked, strict=True):
        words = f"{share:.0f} %" + (f", limits{during}" if mark else "")
        inside = share > 70
        axes.annotate(
            words,
            (share, place),
            xytext=(-4 if inside else 4, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            color="white" if inside and mark else INK,
            weight="bold" if mark else "normal",
        )
    axes.axvline(100 * SATURATED, color=INK, linewidth=0.8, linestyle=":", zorder=0)
    axes.set_yticks(places, [usage.name for usage in bars])
    axes.invert_yaxis()
    axes.set(xlim=(0, 104), xlabel=f"busy (% of the time; dotted: saturated from {100 * SATURATED:.0f} %)")
    title = "Utilization" if limiting else "Utilization: the latency of each I/O limits"
    axes.set_title(title + (f" ({left_out} less busy part{'s' if left_out > 1 else ''} left out)" if left_out else ""))
    bare(axes)


def _draw_latencies(axes: Axes, prediction: Prediction, title: str) -> None:
    """The share of the I/Os that were done within a time."""
    ends: list[float] = []
    for op, bins in prediction.latency_bins.items():
        look = OPS[op]
        late_ms, shares = _cumulative(bins)
        marks = [1e3 * prediction.latencies[op][f"p{percent:g}_s"] for percent in _PERCENTS]
        told = ", ".join(f"p{percent:g} {mark:.3g}" for percent, mark in zip(_PERCENTS, marks, strict=True))
        axes.step(late_ms, shares, where="post", color=look.colour, linestyle=look.line, linewidth=1.6)
        axes.plot(marks, _PERCENTS, look.marker, color=look.colour, markersize=5)
        label = f"{op}s: {told} ms"
        axes.plot([], [], look.marker, linestyle=look.line, color=look.colour, markersize=5, label=label)
        ends += [late_ms[int(np.searchsorted(shares, _RARE))], late_ms[-1]]
    decades(axes, "x", min(ends) / _ROOM, max(ends) * _ROOM)
    axes.set(ylim=(0, 104), xlabel="latency (ms)", ylabel="I/Os that take no longer (%)")
    axes.set_title(title)
    axes.grid(which="major")
    bare(axes)


def _cumulative(bins: LatencyBins) -> tuple[list[float], list[float]]:
    """Latencies (ms) and the share of I/Os (%) up to each, from nothing on."""
    counts = np.cumsum([count for _, count in bins])
    late_ms = [1e3 * seconds for seconds, _ in bins]
    return [late_ms[0], *late_ms], [0.0, *(100 * counts / counts[-1]).tolist()]
