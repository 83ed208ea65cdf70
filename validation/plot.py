"""Predicted against measured as a picture: on the diagonal the prediction is right."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..model.errors import InputError
from .comparison import Compared, StudyComparison

_SUFFIXES = (".png", ".svg", ".pdf")
_GROUPS = (
    ("calibrate", "calibrated on", "#9aa5b1", "o"),
    ("predict/read", "predicted, reading", "#1f6fb4", "o"),
    ("predict/write", "predicted, writing", "#d1602b", "s"),
)


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
    """Draw all cases of some studies into a file; its suffix sets the format."""
    from matplotlib.figure import Figure

    cases = [compared for comparison in comparisons for compared in comparison.cases]
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes = figure.add_subplot()
    values = [value for compared in cases for value in (compared.measured, compared.predicted)]
    low, high = 0.8 * min(values), 1.25 * max(values)
    line = np.array([low, high])
    axes.fill_between(line, line / 1.2, line * 1.2, color="#e8eef4", label="within 20 %", zorder=0)
    axes.plot(line, line, color="#52606d", linewidth=0.8, zorder=1)
    for key, label, colour, marker in _GROUPS:
        chosen = [compared for compared in cases if _group(compared) == key]
        if chosen:
            centre = np.array([compared.predicted for compared in chosen])
            spread = [
                centre - [compared.low for compared in chosen],
                [compared.high for compared in chosen] - centre,
            ]
            axes.errorbar(
                [compared.measured for compared in chosen],
                centre,
                yerr=spread,
                fmt=marker,
                color=colour,
                markersize=4.5,
                linewidth=0.8,
                label=label,
            )
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), aspect="equal")
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if low <= tick <= high]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    unit = comparisons[0].unit
    axes.set_xlabel(f"measured ({unit})")
    axes.set_ylabel(f"predicted ({unit}), with 90 % interval")
    axes.set_title(", ".join(comparison.study.title for comparison in comparisons), fontsize=10)
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)


def _group(compared: Compared) -> str:
    if compared.case.use == "calibrate":
        return "calibrate"
    return f"predict/{compared.case.direction}"
