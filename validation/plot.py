"""Predicted against measured as a picture: on the diagonal the prediction is right."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..calibration.figures import Dimension, dimension_of_unit
from ..model.errors import InputError
from .comparison import Compared, StudyComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SUFFIXES = (".png", ".svg", ".pdf")
_GROUPS = (("calibrate", "calibrated on", "#9aa5b1", "s"), ("predict", "predicted", "#1f6fb4", "o"))
_PANELS: dict[Dimension, tuple[str, float]] = {
    "bytes/s": ("MiB/s", float(1 << 20)),
    "s": ("s", 1.0),
    "1/s": ("1/s", 1.0),
    "share": ("% of a CPU", 0.01),
}
"""Unit of each panel, and its value in SI units."""
_MOST_IN_TITLE = 2
_PANEL_IN = (6.4, 5.6)


def check_plot_file(path: Path) -> None:
    """Refuse a picture that could not be drawn, before anything long is computed.

    Raises
    ------
    InputError
        For another suffix, a folder that is not there, or without matplotlib.
    """
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError("--plot", f"{path} is no picture file", f"allowed: {', '.join(_SUFFIXES)}")
    if not path.absolute().parent.is_dir():
        raise InputError("--plot", f"{path}: there is no folder {path.parent}", "allowed: a file in an existing folder")
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("--plot", "matplotlib is not installed", "allowed: with raidsim's extra `plot`")


def draw_comparison(comparisons: Sequence[StudyComparison], path: Path) -> None:
    """Draw all cells of some studies into a file, a panel for each kind of number; its suffix sets the format."""
    from matplotlib.figure import Figure

    cells = [compared for comparison in comparisons for compared in comparison.cells]
    panels = {kind: [c for c in cells if dimension_of_unit(c.cell.unit) == kind] for kind in _PANELS}
    drawn = {kind: chosen for kind, chosen in panels.items() if chosen}
    if not drawn:
        raise InputError("--plot", "studies without cells", "allowed: studies that have numbers")
    width, height = _PANEL_IN
    figure = Figure(figsize=(width * len(drawn), height), layout="constrained")
    for i, (kind, chosen) in enumerate(drawn.items()):
        _draw_panel(figure.add_subplot(1, len(drawn), i + 1), chosen, *_PANELS[kind])
    titles = [comparison.study.title for comparison in comparisons]
    title = ", ".join(titles) if len(titles) <= _MOST_IN_TITLE else f"{len(titles)} benchmark reports"
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=150)


def _draw_panel(axes: Axes, cells: Sequence[Compared], unit: str, unit_value: float) -> None:
    """One panel of cells in `unit`."""
    scales = {id(compared): compared.cell.scale / unit_value for compared in cells}
    values = [value * scales[id(c)] for c in cells for value in (c.measured, c.predicted)]
    low, high = 0.8 * min(values), 1.25 * max(values)
    line = np.array([low, high])
    axes.fill_between(line, line / 1.2, line * 1.2, color="#e8eef4", label="within 20 %", zorder=0)
    axes.plot(line, line, color="#52606d", linewidth=0.8, zorder=1)
    for use, label, colour, marker in _GROUPS:
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
                markersize=4.5,
                linewidth=0.8,
                label=label,
            )
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    ticks = [t for decade in range(-3, 7) for t in (10.0**decade * m for m in (1, 2, 5)) if low <= t <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel(f"measured ({unit})")
    axes.set_ylabel(f"predicted ({unit}), with 90 % interval")
    axes.legend(loc="upper left", frameon=False, fontsize=9)
