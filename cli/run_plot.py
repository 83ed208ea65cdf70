"""A run as a picture: how busy each part was, with the bottleneck marked, and how late the I/Os were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model.usage import SATURATED, Usage, limit
from ..scenarios.prediction import LatencyBins, Prediction
from ..scenarios.relief import busiest_phase
from ..scenarios.scenario import ScenarioSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 16
_FONT_PT = 9.5
_WIDTH_IN, _BAR_IN, _LEAST_IN = 10.0, 0.27, 3.9
_MARKED, _PLAIN, _INK = "#1f3a5f", "#c3ccd6", "#1b2733"
_LINES = {"read": ("#1f3a5f", "-", "o"), "write": ("#c2571a", "--", "s")}
_PERCENTS = (50.0, 99.0)
_FEW_DECADES = 500.0


def draw_run(spec: ScenarioSpec, prediction: Prediction, path: Path, form: str) -> None:
    """Draw a run into a file of the format `form` ("svg", "png" or "pdf")."""
    import matplotlib
    from matplotlib.figure import Figure

    bars = _bars(prediction.usages)
    late = bool(prediction.latency_bins) and not prediction.saturated
    height = max(_LEAST_IN, 1.3 + _BAR_IN * len(bars))
    # The same run gives the same file: no random names inside, no date.
    with matplotlib.rc_context({"font.size": _FONT_PT, "svg.fonttype": "none", "svg.hashsalt": "raidsim"}):
        figure = Figure(figsize=(_WIDTH_IN if late else _WIDTH_IN / 2, height), layout="constrained")
        panels = figure.subplots(1, 2 if late else 1, squeeze=False)[0]
        _draw_usages(panels[0], bars, busiest_phase(prediction))
        if late:
            title = "How late" if spec.workload.kind == "load" else "How late the page cache's I/Os are"
            _draw_latencies(panels[1], prediction, title)
        figure.suptitle(f"{spec.name} ({spec.kernel})", fontsize=_FONT_PT + 1.5, color=_INK)
        dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
        figure.savefig(path, format=form, dpi=110, metadata=dated)


def _bars(usages: Sequence[Usage]) -> list[Usage]:
    """The parts to show: all, or the busiest in the order of the table."""
    if len(usages) <= _MOST_BARS:
        return list(usages)
    busiest = sorted(usages, key=lambda usage: -usage.utilisation)[:_MOST_BARS]
    return [usage for usage in usages if usage in busiest]


def _draw_usages(axes: Axes, bars: Sequence[Usage], busiest: Prediction) -> None:
    found = limit(busiest.usages)
    limiting = {part.name for part in found.parts} if found is not None and found.saturated else set()
    places = np.arange(len(bars))
    shares = [100 * usage.utilisation for usage in bars]
    marked = [usage.name in limiting for usage in bars]
    axes.barh(
        places,
        shares,
        height=0.7,
        color=[_MARKED if mark else _PLAIN for mark in marked],
        edgecolor=_INK,
        linewidth=0.6,
    )
    for place, share, mark in zip(places, shares, marked, strict=True):
        words = f"{share:.0f} %" + (", limits" if mark else "")
        inside = share > 70
        axes.annotate(
            words,
            (share, place),
            xytext=(-4 if inside else 4, 0),
            textcoords="offset points",
            ha="right" if inside else "left",
            va="center",
            color="white" if inside and mark else _INK,
            weight="bold" if mark else "normal",
        )
    axes.axvline(100 * SATURATED, color=_INK, linewidth=0.8, linestyle=":", zorder=0)
    axes.set_yticks(places, [usage.name for usage in bars])
    axes.invert_yaxis()
    axes.set(xlim=(0, 104), xlabel=f"busy (% of the time; dotted: saturated from {100 * SATURATED:.0f} %)")
    axes.set_title(
        "How busy" if limiting else "How busy: nothing is saturated", fontsize=_FONT_PT + 0.5, loc="left", color=_INK
    )
    _bare(axes)


def _draw_latencies(axes: Axes, prediction: Prediction, title: str) -> None:
    """The share of the I/Os that were done within a time."""
    from matplotlib.ticker import LogLocator, NullLocator

    for op, bins in prediction.latency_bins.items():
        colour, line, marker = _LINES[op]
        late_ms, shares = _cumulative(bins)
        marks = [1e3 * prediction.latencies[op][f"p{percent:g}_s"] for percent in _PERCENTS]
        told = ", ".join(f"p{percent:g} {mark:.3g}" for percent, mark in zip(_PERCENTS, marks, strict=True))
        axes.step(late_ms, shares, where="post", color=colour, linestyle=line, linewidth=1.6)
        axes.plot(marks, _PERCENTS, marker, color=colour, markersize=5)
        axes.plot([], [], marker, linestyle=line, color=colour, markersize=5, label=f"{op}s: {told} ms")
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < _FEW_DECADES else (1.0,)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set(ylim=(0, 104), xlabel="latency (ms)", ylabel="I/Os that take no longer (%)")
    axes.set_title(title, fontsize=_FONT_PT + 0.5, loc="left", color=_INK)
    axes.grid(axis="both", which="major", color="#e3e8ed", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.13),
        ncols=len(prediction.latency_bins),
        frameon=False,
        handlelength=2.8,
    )
    _bare(axes)


def _cumulative(bins: LatencyBins) -> tuple[list[float], list[float]]:
    """Latencies (ms) and the share of I/Os (%) up to each, from nothing on."""
    counts = np.cumsum([count for _, count in bins])
    late_ms = [1e3 * seconds for seconds, _ in bins]
    return [late_ms[0], *late_ms], [0.0, *(100 * counts / counts[-1]).tolist()]


def _bare(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
