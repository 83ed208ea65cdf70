"""The benchmark's table and picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...scenarios.pictures.style import bare, blank, decades, save, series, styled
from .benchmark import Line, boxes
from .methods import METHODS

_HEADINGS = ("learnt from", "method", "reads: median", "90th percentile", "writes: median", "90th percentile")
_COLUMNS = 4


def table(lines: Sequence[Line]) -> str:
    """Of the boxes that are no study's, in Markdown: a row for each method and number of configurations."""
    headings = (*_HEADINGS, "in their 90 % range", "CPU time (s)")
    rows = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    chosen = [line for line in lines if line.box in boxes()]
    for line in sorted(chosen, key=lambda each: (each.box, each.known)):
        errors = [f"{value:.1f} %" for value in (*line.reads, *line.writes)]
        rows.append(f"| {' | '.join([str(line.known), line.method, *errors, _inside(line), f'{line.seconds:.1f}'])} |")
    return "\n".join(rows) + "\n"


def study_table(lines: Sequence[Line]) -> str:
    """Of the studies, in Markdown: a row for each and each number of configurations; median / 90th percentile."""
    headings = ("study", "learnt from", *METHODS, "in raidsim's 90 % range")
    rows = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    found = {(line.box, line.known, line.method): line for line in lines if line.box not in boxes()}
    for box, known in sorted({key[:2] for key in found}):
        each = [found[box, known, method] for method in METHODS]
        errors = [f"{line.rates[0]:.1f} % / {line.rates[1]:.0f} %" for line in each]
        rows.append(f"| {' | '.join([box, str(known), *errors, _inside(each[0])])} |")
    return "\n".join(rows) + "\n"


def _inside(line: Line) -> str:
    return "-" if line.inside is None else f"{line.inside:.0f} %"


def draw(lines: Sequence[Line], path: Path) -> None:
    """Errors of all rates against the number of configurations, a panel for each box or study.

    Both are logarithmic; medians are thick, and 90th percentiles thin.
    """
    names = list(dict.fromkeys(line.box for line in lines))
    counts = sorted({line.known for line in lines})
    errors = [error for line in lines for error in line.rates]
    rows = -(-len(names) // _COLUMNS)
    with styled():
        figure = blank(2.4 * _COLUMNS, 2.5 * rows)
        panels = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False).flat
        for name, axes in zip(names, panels, strict=False):
            for number, method in enumerate(METHODS):
                look = series(number)
                own = sorted((line.known, *line.rates) for line in lines if (line.box, line.method) == (name, method))
                numbers = [count for count, _, _ in own]
                for part, width, label in ((1, 1.8, method), (2, 0.7, None)):
                    values = [each[part] for each in own]
                    axes.plot(
                        numbers,
                        values,
                        color=look.colour,
                        marker=look.marker,
                        ms=3,
                        ls=look.line,
                        lw=width,
                        label=label,
                    )
            axes.set(xscale="log", title=name)
            axes.set_xticks(counts, [str(count) for count in counts])
            axes.minorticks_off()
            decades(axes, "y", 0.8 * min(errors), 1.2 * max(errors))
            bare(axes)
        for axes in list(panels):
            axes.set_axis_off()
        figure.supxlabel("configurations measured")
        figure.supylabel("error of rates (%)")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="lower right")
        save(figure, path, ".svg")
