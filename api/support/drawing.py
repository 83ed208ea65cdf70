"""Figures that pyplot knows: a notebook shows them below the cell, and ``matplotlib.pyplot.show()`` in a window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...scenarios.pictures.style import figures_made_by


@contextmanager
def given_to_pyplot() -> Iterator[None]:
    """Every figure that is made inside belongs to pyplot; commands, which write files, leave it alone."""
    from matplotlib import pyplot

    with figures_made_by(pyplot.figure):
        yield
