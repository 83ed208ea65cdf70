"""A sweep as a picture: its figures against what varied.

Few values are lines, one for each setting of what else varied. A sample, or a grid of more than can be told apart, is
points: a panel for each figure and each thing that varied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.core.errors import InputError
from ...model.files.quantities import format_size
from ...scenarios.pictures.style import GREY, MARKED, bare, blank, headed, series
from ...scenarios.questions.replications import mean_of_replications
from ...scenarios.sweeps.axes import Cell
from ...scenarios.sweeps.result_store import ResultStore, SweepRecord
from ..support.figures import heading, is_size, scaled, usual, value_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

_MOST_FIGURES, _MOST_PATHS, _MOST_LINES = 3, 4, 12
_PANEL_IN, _SMALL_IN = (5.6, 4.0), (3.6, 2.9)
_LEGEND_ROW_IN = 0.22
_WIDE = 20.0
"""Values that are further apart than this factor stand on a logarithmic axis."""
_MANY_TICKS = 9

Point = tuple[dict[str, Cell], dict[str, tuple[float, float]]]
"""What varied, and figures: mean and half-width of its 90 % interval."""


def sweep_figure(store: ResultStore, record: SweepRecord, figures: Sequence[str]) -> Figure:
    """The results of a sweep that there are so far.

    Parameters
    ----------
    store, record
        The sweep.
    figures
        Those that its file asks for; the first few are drawn.

    Raises
    ------
    InputError
        If no run has a result.
    """
    names = (list(figures) or usual(store.names(record.number, "figures")))[:_MOST_FIGURES]
    points = _points(store, record, names)
    if not points or not names:
        raise InputError("--plot", "a sweep without results", "expected: a run that ended with one")
    varied = [path for path in record.paths if len({repr(values.get(path)) for values, _ in points}) > 1]
    varied = varied or list(record.paths)
    across = _across(points, varied)
    others = [path for path in varied if path != across]
    groups: dict[tuple[str, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(tuple(value_words(path, point[0].get(path, "")) for path in others), []).append(point)
    if len(groups) <= _MOST_LINES and len(points) >= 2 * len(groups):
        return _lines(record.name, names, across, others, groups)
    return _scatter(record.name, names, varied[:_MOST_PATHS], points)


def _points(store: ResultStore, record: SweepRecord, names: Sequence[str]) -> list[Point]:
    samples: dict[int, tuple[dict[str, Cell], dict[str, list[float]]]] = {}
    for row in store.rows(record.number):
        if row.status == "done":
            _, found = samples.setdefault(row.point, (row.values, {}))
            for name in names:
                if name in row.figures:
                    found.setdefault(name, []).append(row.figures[name])
    return [(values, {name: _estimate(found[name]) for name in found}) for values, found in samples.values()]


def _estimate(values: list[float]) -> tuple[float, float]:
    found = mean_of_replications(values)
    return found.mean, found.half_width if math.isfinite(found.half_width) else 0.0


def _across(points: Sequence[Point], varied: Sequence[str]) -> str:
    """What is drawn from left to right: the number that has most values, or the first if there is none."""

    def rank(path: str) -> tuple[bool, int]:
        values = {repr(values.get(path)): values.get(path) for values, _ in points}
        return all(isinstance(value, (int, float)) for value in values.values()), len(values)

    return max(varied, key=rank)


class _Axis:
    """Where the values of a path stand: as numbers, or side by side."""

    def __init__(self, path: str, points: Sequence[Point]) -> None:
        self.path = path
        self.cells = list(dict.fromkeys(values[path] for values, _ in points if path in values))
        self.numbers = all(isinstance(cell, (int, float)) for cell in self.cells)
        if self.numbers:
            self.cells.sort(key=float)

    def at(self, cell: Cell) -> float:
        return float(cell) if self.numbers else float(self.cells.index(cell))

    def label(self, axes: Axes) -> None:
        """Ticks that have the values' own words, if they are few."""
        values = [float(cell) for cell in self.cells] if self.numbers else []
        if values and min(values) > 0 and max(values) / min(values) > _WIDE:
            axes.set_xscale("log")
        if not self.numbers or len(self.cells) <= _MANY_TICKS:
            words = [value_words(self.path, cell) for cell in self.cells]
            turned = {"rotation": 30, "ha": "right"} if sum(map(len, words)) > _MOST_LETTERS else {}
            axes.set_xticks([self.at(cell) for cell in self.cells], words, **turned)  # type: ignore[arg-type]
            axes.minorticks_off()
        else:
            size = is_size(self.path)
            axes.xaxis.set_major_locator(self._locator(axes.get_xscale() == "log", size))
            axes.xaxis.set_major_formatter(lambda at, _: format_size(int(at)) if size else f"{at:,.10g}")
            axes.minorticks_off()
        axes.set_xlabel(self.path)

    def _locator(self, log: bool, size: bool) -> Locator:
        """Some four round numbers; of bytes, powers of two or their multiples."""
        from matplotlib.ticker import LogLocator, MaxNLocator, MultipleLocator

        if log:
            return LogLocator(base=4.0 if size else 10.0, numticks=6)
        if size:
            span = max(512.0, max(map(float, self.cells)) - min(map(float, self.cells)))
            return MultipleLocator(2.0 ** math.ceil(math.log2(span / 4)))
        return MaxNLocator(nbins=4)


_MOST_LETTERS = 44


def _lines(
    title: str, names: Sequence[str], across: str, others: Sequence[str], groups: dict[tuple[str, ...], list[Point]]
) -> Figure:

    width, height = _PANEL_IN
    rows = -(-len(groups) // 4) + 1 if others else 0
    figure = blank(width * len(names), height + rows * _LEGEND_ROW_IN)
    axis = _Axis(across, [point for points in groups.values() for point in points])
    for panel, name in enumerate(names, start=1):
        axes, factor = figure.add_subplot(1, len(names), panel), scaled(name)[0]
        for number, (words, points) in enumerate(groups.items()):
            look = series(number)
            known = sorted((axis.at(values[across]), *found[name]) for values, found in points if name in found)
            axes.errorbar(
                [at for at, _, _ in known],
                [factor * mean for _, mean, _ in known],
                yerr=_bars(known, factor),
                color=look.colour,
                marker=look.marker,
                markerfacecolor=look.face,
                linestyle=look.line if axis.numbers else "",
                markersize=5,
                linewidth=1.3,
                elinewidth=0.9,
                capsize=2.5,
                label=", ".join(words),
            )
        axis.label(axes)
        _measure(axes, name)
    if others:
        handles, labels = figure.axes[0].get_legend_handles_labels()
        columns = min(4, len(labels))
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, title=", ".join(others))
    headed(figure, title)
    return figure


def _scatter(title: str, names: Sequence[str], varied: Sequence[str], points: Sequence[Point]) -> Figure:

    width, height = _SMALL_IN
    figure = blank(width * max(2, len(varied)), height * len(names))
    panels = figure.subplots(len(names), len(varied), squeeze=False)
    for row, name in enumerate(names):
        factor = scaled(name)[0]
        for axes, path in zip(panels[row], varied, strict=True):
            axis = _Axis(path, points)
            known = [(axis.at(values[path]), *found[name]) for values, found in points if name in found]
            axes.errorbar(
                [at for at, _, _ in known],
                [factor * mean for _, mean, _ in known],
                yerr=_bars(known, factor),
                fmt="o",
                color=MARKED,
                ecolor=GREY,
                markersize=2.5,
                elinewidth=0.5,
                alpha=0.75,
            )
            axis.label(axes)
            _measure(axes, name)
    headed(figure, f"{title}: {len(points):,} points")
    return figure


def _bars(known: Sequence[tuple[float, float, float]], factor: float) -> list[list[float]]:
    """How far intervals reach down and up; what cannot be below nothing does not reach there."""
    down = [factor * (min(half, mean) if mean >= 0 else half) for _, mean, half in known]
    return [down, [factor * half for _, _, half in known]]


def _measure(axes: Axes, name: str) -> None:
    """The upright axis: from nothing, or logarithmic if the values are far apart."""
    low, high = axes.dataLim.intervaly
    if low > 0 and high / low > _WIDE:
        axes.set_yscale("log")
    elif low >= 0:
        axes.set_ylim(0, 1.08 * high if high else 1.0)
    axes.yaxis.set_major_formatter(lambda at, _: f"{at:,.10g}")
    axes.set_ylabel(heading(name))
    axes.grid()
    bare(axes)
