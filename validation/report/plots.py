"""The report's pictures, each a complete SVG element for a page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...calibration.study.figures import dimension_of_unit
from ...scenarios.pictures.style import FEW, GREY, MARKED, NARROW, PALE, bare, series, styled
from ...scenarios.programs.step import Dimension
from ..prediction.baseline_comparison import GROUPINGS, Judged, grouped, matches
from ..prediction.comparison import INTERVAL
from ..prediction.proportion import Proportion
from .report import Report, coverage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS: dict[Dimension, tuple[str, float]] = {
    "bytes/s": ("MiB/s", float(1 << 20)),
    "s": ("s", 1.0),
    "1/s": ("1/s", 1.0),
    "share": ("% of a CPU", 0.01),
}
"""Unit of each scatter plot, and its value in SI units."""
_WIDTH_IN = 5.2
_ROW_IN = 0.3
_MOST_LN = 1.5
"""Errors beyond are drawn at the edge."""


def scatter_plots(report: Report) -> list[tuple[str, str]]:
    """Predicted against measured, a picture for each kind of number: (what it shows, SVG)."""
    names = [study.id for study in report.studies]
    found = []
    for dimension, (unit, value) in PANELS.items():
        cells = [each for each in report.predicted if dimension_of_unit(each.compared.cell.unit) == dimension]
        if cells:

            def draw(axes: Axes, cells: Sequence[Judged] = cells, unit: str = unit, value: float = value) -> None:
                _scatter(axes, cells, names, unit, value)

            found.append((f"predicted against measured, {unit}", _svg(f"scatter {dimension}", draw, _WIDTH_IN)))
    return found


def _scatter(axes: Axes, cells: Sequence[Judged], names: Sequence[str], unit: str, unit_value: float) -> None:
    scales = [each.compared.cell.scale / unit_value for each in cells]
    measured = np.array([each.compared.measured * scale for each, scale in zip(cells, scales, strict=True)])
    predicted = np.array([each.compared.predicted * scale for each, scale in zip(cells, scales, strict=True)])
    low, high = 0.7 * min(measured.min(), predicted.min()), 1.4 * max(measured.max(), predicted.max())
    line = np.array([low, high])
    axes.fill_between(line, line / 2, line * 2, color=PALE, label="within a factor of 2", zorder=0)
    axes.plot(line, line, color=GREY, linewidth=0.8, zorder=1)
    studies = np.array([each.study for each in cells])
    for i, name in enumerate(names):
        chosen = studies == name
        if chosen.any():
            look = series(i)
            axes.plot(
                measured[chosen],
                predicted[chosen],
                look.marker,
                color=look.colour,
                markerfacecolor=look.face,
                markersize=4,
                alpha=0.75,
                label=name,
            )
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    steps = NARROW if high / low < FEW else (1, 2, 5) if high / low < 50 else (1,)
    ticks = [t for decade in range(-4, 8) for t in (10.0**decade * m for m in steps) if low <= t <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(f"measured ({unit})")
    axes.set_ylabel(f"predicted ({unit})")
    axes.legend(loc="upper left", fontsize=7)


def error_histogram(report: Report) -> str:
    """Distribution of ln(predicted / measured), of predicted and of calibrated cells."""

    def draw(axes: Axes) -> None:
        edges = np.linspace(-_MOST_LN, _MOST_LN, 31)
        for use, label, style in (
            ("predict", "predicted", {"color": MARKED, "alpha": 0.85}),
            ("calibrate", "calibrated on", {"histtype": "step", "color": GREY, "linewidth": 1.2}),
        ):
            errors = [each.compared.log_ratio for each in report.cells if each.compared.cell.use == use]
            if errors:
                count = f"{label} ({len(errors)})"
                axes.hist(np.clip(errors, -_MOST_LN, _MOST_LN), bins=list(edges), label=count, **style)  # type: ignore[arg-type]
        axes.axvline(0.0, color=GREY, linewidth=0.8)
        _ratio_axis(axes)
        axes.set_ylabel("cells")
        axes.legend(fontsize=8)

    return _svg("histogram", draw, 3.2)


def residual_plots(report: Report) -> list[tuple[str, str]]:
    """Errors of predicted cells told apart by each class: (what it shows, SVG)."""
    return [(f"errors by {name}", _residuals(grouped(report.predicted, name), name)) for name in GROUPINGS]


def _residuals(groups: dict[str, list[Judged]], name: str) -> str:
    def draw(axes: Axes) -> None:
        random = np.random.default_rng(0)
        axes.axvspan(-0.2, 0.2, color=PALE, zorder=0)
        axes.axvline(0.0, color=GREY, linewidth=0.8, zorder=1)
        for row, cells in enumerate(groups.values()):
            errors = np.clip([each.compared.log_ratio for each in cells], -_MOST_LN, _MOST_LN)
            heights = row + random.uniform(-0.22, 0.22, len(errors))
            axes.plot(errors, heights, ".", color=MARKED, alpha=0.45, markersize=4, zorder=2)
            first, median, third = np.percentile(errors, [25, 50, 75])
            axes.plot([first, third], [row, row], color="black", linewidth=3, alpha=0.55, zorder=3)
            axes.plot(median, row, "|", color="black", markersize=11, markeredgewidth=2, zorder=4)
        axes.set_yticks(range(len(groups)), [f"{group} ({len(cells)})" for group, cells in groups.items()])
        axes.set_ylim(len(groups) - 0.5, -0.5)
        _ratio_axis(axes)

    return _svg(f"residuals {name}", draw, 0.9 + _ROW_IN * len(groups))


def coverage_plot(report: Report) -> str:
    """Share of predicted cells inside their interval, with its uncertainty, per study and over all."""
    rows = [(study.id, coverage(study.cells)) for study in report.studies]
    rows = [(name, covered) for name, covered in rows if covered.n]
    rows.append(("all", coverage(report.cells)))

    def draw(axes: Axes) -> None:
        axes.axvline(100 * INTERVAL, color=GREY, linewidth=0.8, linestyle="--")
        for row, (_, covered) in enumerate(rows):
            _bar(axes, row, covered)
        axes.set_yticks(range(len(rows)), [f"{name} ({covered.n})" for name, covered in rows])
        axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(0, 103), xlabel="inside the 90 % interval (%), with 95 % limits")

    return _svg("coverage", draw, 0.9 + _ROW_IN * len(rows))


def _bar(axes: Axes, row: int, covered: Proportion) -> None:
    low, high = covered.limits
    axes.plot([100 * low, 100 * high], [row, row], color=MARKED, linewidth=2, alpha=0.5)
    axes.plot(100 * (covered.share or 0.0), row, "o", color=MARKED, markersize=6)


def baseline_plot(report: Report) -> str | None:
    """Share of the cells within an error, for raidsim and the baselines; None without cells."""
    found = matches(report.cells)
    if not found[0].n:
        return None

    def draw(axes: Axes) -> None:
        curves = [("raidsim", found[0].own)]
        curves += [(match.baseline.title, match.other) for match in found]
        for number, (label, errors) in enumerate(curves):
            ordered = np.sort(np.minimum(errors, 100 * _MOST_LN))
            shares = 100.0 * np.arange(1, len(ordered) + 1) / len(ordered)
            look = series(number)
            axes.step(ordered, shares, where="post", color=look.colour, linestyle=look.line, label=label, linewidth=1.6)
        axes.set(xlim=(0, 100 * _MOST_LN), ylim=(0, 100), xlabel="error |ln(predicted / measured)| (%)")
        axes.set_ylabel(f"cells with at most this error (% of {found[0].n})")
        axes.grid()
        axes.legend(loc="lower right")

    return _svg("baselines", draw, 3.6)


def _ratio_axis(axes: Axes) -> None:
    """An axis of ln(predicted / measured), labeled by the ratio."""
    ticks = (0.25, 0.5, 1.0, 2.0, 4.0)
    axes.set_xticks([float(np.log(tick)) for tick in ticks], [f"{tick:g}" for tick in ticks])
    axes.set_xlim(-_MOST_LN * 1.04, _MOST_LN * 1.04)
    axes.set_xlabel("predicted / measured")


def _svg(name: str, draw: Callable[[Axes], None], height: float) -> str:
    """The SVG element of a picture; what is equal in two pictures has different ids in them."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with styled(), rc_context({"svg.hashsalt": name}):
        figure = Figure(figsize=(_WIDTH_IN, height), layout="constrained")
        axes = figure.add_subplot()
        bare(axes)
        draw(axes)
        buffer = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=nothing)
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    prefix = re.sub(r"\W", "-", name)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'xlink:href="#|url\(#', lambda match: f"{match.group()}{prefix}-", text)
    return re.sub(
        r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1), count=1
    )
