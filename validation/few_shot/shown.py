"""The benchmark's table and picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...scenarios.pictures.style import bare, blank, decades, save, series, styled
from .benchmark import Line
from .methods import METHODS

_HEADINGS = ("learnt from", "method", "reads: median", "90th percentile", "writes: median", "90th percentile")


def table(lines: Sequence[Line]) -> str:
    """In Markdown, with a row for each method and number of configurations."""
    headings = (*_HEADINGS, "in their 90 % range", "CPU time (s)")
    rows = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    for line in sorted(lines, key=lambda each: (each.box, each.known)):
        errors = [f"{value:.1f} %" for value in (*line.reads, *line.writes)]
        inside = "-" if line.inside is None else f"{line.inside:.0f} %"
        rows.append(f"| {' | '.join([str(line.known), line.method, *errors, inside, f'{line.seconds:.1f}'])} |")
    return "\n".join(rows) + "\n"


def draw(lines: Sequence[Line], path: Path) -> None:
    """Errors of reads against the number of configurations, both logarithmic: medians, and 90th percentiles thin."""
    with styled():
        figure = blank(6.4, 3.8)
        axes = figure.add_subplot()
        counts = sorted({line.known for line in lines})
        for number, method in enumerate(METHODS):
            look = series(number)
            own = sorted((line.known, *line.reads) for line in lines if line.method == method)
            numbers = [count for count, _, _ in own]
            for part, width, label in ((1, 1.8, method), (2, 0.7, None)):
                values = [each[part] for each in own]
                axes.plot(numbers, values, color=look.colour, marker=look.marker, ls=look.line, lw=width, label=label)
        axes.set(xscale="log", xlabel="configurations measured", ylabel="error of read rates (%)")
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        errors = [error for line in lines for error in line.reads]
        decades(axes, "y", 0.8 * min(errors), 1.2 * max(errors))
        axes.set_title("Thick: median; thin: 90th percentile of configurations not measured")
        axes.legend()
        bare(axes)
        save(figure, path, ".svg")
