"""Figures that pyplot knows: a notebook shows them below the cell, and ``matplotlib.pyplot.show()`` in a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...scenarios.pictures.style import figures_made_by, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn_for_pyplot(make: Callable[[], Figure]) -> Figure:
    """Make a figure that belongs to pyplot; commands, which write files, make theirs without."""
    import matplotlib
    from matplotlib import pyplot

    with styled(), figures_made_by(pyplot.figure):
        figure = make()
        interactive = matplotlib.is_interactive()
    # In a notebook the first figure makes pyplot interactive, which leaving the style would undo: no further figure
    # would be shown.
    matplotlib.interactive(interactive)
    return figure
