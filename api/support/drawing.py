"""Figures that pyplot knows, which a notebook shows below the cell, and figures in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...scenarios.pictures.letters import installed_fallbacks, missing_words
from ...scenarios.pictures.style import FORMS, figures_made_by, save, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["FORMS", "drawn_for_pyplot", "drawn_into"]


def drawn_into(path: Path, form: str, draw: Callable[[], Figure]) -> str:
    """Draw a picture of a form into a file; says which letters no font has, "" if none."""
    with styled() as missing:
        save(draw(), path, form)
    if missing and form != ".svg":  # which has letters, for the fonts of whoever looks at it
        with styled(installed_fallbacks()) as missing:
            save(draw(), path, form)
        return missing_words(missing) if missing else ""
    return ""


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
