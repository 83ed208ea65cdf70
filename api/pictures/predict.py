"""Predicted against measured as a picture: on the diagonal the prediction is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...calibration.study.figures import dimension_of_unit
from ...model.core.errors import InputError
from ...scenarios.pictures.style import FEW, GREY, MARKED, NARROW, PALE, bare, blank, headed
from ...validation.prediction.comparison import Compared, StudyComparison
from ...validation.report.plots import PANELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
_GROUPS = (("calibrate", "calibrated on", GREY, "s", "white"), ("predict", "predicted", MARKED, "o", MARKED))
_MOST_IN_TITLE = 2
_MOST_IN_ROW = 3
_PANEL_IN = (6.4, 5.6)


def comparison_figure(comparisons: Sequence[StudyComparison]) -> Figure:
    """All cells of some studies, a panel for each kind of number."""
    cells = [compared for comparison in comparisons for compared in comparison.cells]
    panels = {kind: [c for c in cells if dimension_of_unit(c.cell.unit) == kind] for kind in PANELS}
    drawn = {kind: chosen for kind, chosen in panels.items() if chosen}
    if not drawn:
        raise InputError("--plot", "studies without cells", "expected: studies that have numbers")
    width, height = _PANEL_IN
    rows = 1 if len(drawn) <= _MOST_IN_ROW else 2
    columns = math.ceil(len(drawn) / rows)
    figure = blank(width * columns, height * rows)
    for i, (kind, chosen) in enumerate(drawn.items()):
        _draw_panel(figure.add_subplot(rows, columns, i + 1), chosen, *PANELS[kind])
    labelled = {
        label: key for axes in figure.axes for key, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(labelled.values()), list(labelled), loc="outside lower right", ncols=len(labelled))
    titles = [comparison.study.title for comparison in comparisons]
    title = ", ".join(titles) if len(titles) <= _MOST_IN_TITLE else f"{len(titles)} benchmark reports"
    headed(figure, title)
    return figure


def _draw_panel(axes: Axes, cells: Sequence[Compared], unit: str, unit_value: float) -> None:
    """One panel of cells in `unit`."""
    scales = {id(compared): compared.cell.scale / unit_value for compared in cells}
    values = [value * scales[id(c)] for c in cells for value in (c.measured, c.predicted)]
    low, high = 0.8 * min(values), 1.25 * max(values)
    line = np.array([low, high])
    axes.fill_between(line, line / 1.2, line * 1.2, color=PALE, label="within 20 %", zorder=0)
    axes.plot(line, line, color=GREY, linewidth=0.8, zorder=1)
    for use, label, colour, marker, inside in _GROUPS:
        chosen = [compared for compared in cells if compared.cell.use == use]
        if chosen:
            scale = np.array([scales[id(compared)] for compared in chosen])
            centre = scale * [compared.predicted for compared in chosen]
            spread = [
                centre - scale * [compared.low for compared in chosen],
                scale * [compared.high for compared in chosen] - centre,
            ]
            axes.errorbar(
                scale * [compared.measured for compared in chosen],
                centre,
                yerr=spread,
                fmt=marker,
                color=colour,
                markerfacecolor=inside,
                markersize=4.5,
                linewidth=0.8,
                label=label,
            )
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    steps = NARROW if high / low < FEW else (1.0, 2.0, 5.0)
    ticks = [t for decade in range(-3, 7) for t in (10.0**decade * m for m in steps) if low <= t <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(f"measured ({unit})")
    axes.set_ylabel(f"predicted ({unit}), with 90 % interval")
    bare(axes)
