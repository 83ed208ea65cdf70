"""How all pictures look: one set of colors, and for everything that a color says a shape, a dash or a hatching too.

Drawing functions give a figure; :func:`styled` is around their making, and :func:`save` writes it so that the same
figure gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from .letters import noted_letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMS = (".svg", ".png", ".pdf")
"""Endings of the files that a picture can be written to."""

INK, GREY, PALE, GRID, LOST = "#1b2733", "#52606d", "#dfe6ee", "#e3e8ed", "#b3261e"
MARKED, PLAIN = "#1f3a5f", "#c3ccd6"
"""What a picture is about, and all else."""
FONT_PT, TITLE_PT = 9.5, 11.0
_DPI = 110
_LETTERS_AN_INCH = 10.5
"""Of a title, if they are wide ones."""


@dataclass(frozen=True, slots=True)
class Series:
    """How one of several things in a picture looks.

    Attributes
    ----------
    color, marker, line, hatch
        As Matplotlib has them. Each but the color tells it from its neighbors in black and white.
    hollow
        Whether its markers are open.
    """

    colour: str
    marker: str
    line: str | tuple[int, tuple[int, ...]]
    hatch: str
    hollow: bool

    @property
    def face(self) -> str:
        """The color inside a marker."""
        return "white" if self.hollow else self.colour


_COLOURS = ("#1f6fb4", "#c2410c", "#15803d", "#7e22ce", "#52606d", "#b45309", "#0e7490", "#be185d")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_LINES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
_HATCHES = ("", "///", "\\\\\\", "xxx", "---", "|||", "+++")
"""No dots: in SVG each is a curve, and a picture of 40 KB becomes one of 300."""


def series(number: int) -> Series:
    """The look of the thing with a number from 0; the first 280 differ."""
    turn = number // len(_MARKERS)
    return Series(
        _COLOURS[number % len(_COLOURS)],
        _MARKERS[number % len(_MARKERS)],
        _LINES[(number + turn) % len(_LINES)],
        _HATCHES[number % len(_HATCHES)],
        turn % 2 == 1,
    )


READS, WRITES = Series("#1f3a5f", "o", "-", "", False), Series("#c2571a", "s", "--", "///", False)
OPS = {"read": READS, "write": WRITES}


@contextmanager
def styled(fallbacks: Sequence[str] = ()) -> Iterator[set[str]]:
    """Everything that is drawn inside looks alike.

    Parameters
    ----------
    fallbacks
        Fonts for letters that the usual one lacks.

    Returns
    -------
    set of str
        Letters that none of them has, as they are met.
    """
    from matplotlib import rc_context

    with (
        noted_letters() as missing,
        rc_context(
            {
                "font.family": ["sans-serif", *fallbacks],
                "font.size": FONT_PT,
                "text.parse_math": False,
                "text.color": INK,
                "axes.labelcolor": INK,
                "axes.edgecolor": GREY,
                "axes.titlesize": FONT_PT + 0.5,
                "axes.titlelocation": "left",
                "axes.axisbelow": True,
                "grid.color": GRID,
                "grid.linewidth": 0.7,
                "hatch.linewidth": 0.7,
                "legend.frameon": False,
                "xtick.color": INK,
                "ytick.color": INK,
                "svg.fonttype": "none",
                "svg.hashsalt": "raidsim",
            }
        ),
    ):
        yield missing


_MAKER: ContextVar[Callable[..., Figure] | None] = ContextVar("maker of figures", default=None)


def blank(width_in: float, height_in: float) -> Figure:
    """An empty figure: nobody's but the caller's, unless :func:`figures_made_by` says who makes it."""
    make = _MAKER.get()
    if make is None:
        from matplotlib.figure import Figure

        make = Figure
    return make(figsize=(width_in, height_in), layout="constrained")


@contextmanager
def figures_made_by(make: Callable[..., Figure]) -> Iterator[None]:
    """Figures that are drawn inside are made by `make`, such as ``matplotlib.pyplot.figure``."""
    token = _MAKER.set(make)
    try:
        yield
    finally:
        _MAKER.reset(token)


def save(figure: Figure, path: Path, form: str) -> None:
    """Write a figure to a file in one of the `FORMS`; inside :func:`styled`, the same figure gives the same bytes."""
    dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(form)
    figure.savefig(path, format=form.removeprefix("."), dpi=_DPI, metadata=dated)


def headed(figure: Figure, words: str) -> None:
    """Put words above a picture, in as many lines as they need."""
    letters = int(figure.get_figwidth() * _LETTERS_AN_INCH)
    lines = [line for part in words.splitlines() for line in wrap(part, letters)]
    figure.suptitle("\n".join(lines), fontsize=TITLE_PT, x=0.01, ha="left")


def bare(axes: Axes) -> None:
    """Only the two axes that have numbers."""
    axes.spines[["top", "right"]].set_visible(False)


def decades(axes: Axes, axis: str, low: float, high: float) -> None:
    """A logarithmic axis from `low` to `high` with plain numbers, as many as fit."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    chosen = axes.xaxis if axis == "x" else axes.yaxis
    (axes.set_xscale if axis == "x" else axes.set_yscale)("log")
    (axes.set_xlim if axis == "x" else axes.set_ylim)(low, high)
    ratio = high / low
    steps = next((steps for below, steps in _STEPS if ratio < below), (1.0,))
    chosen.set_major_locator(LogLocator(subs=steps))
    chosen.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    chosen.set_minor_locator(NullLocator())
    chosen.set_minor_formatter(NullFormatter())


FEW = 5.0
"""A logarithmic axis that covers less than this factor has numbers at the `NARROW` multiples of powers of ten."""
NARROW = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
_STEPS = ((FEW, NARROW), (300.0, (1.0, 2.0, 5.0)))
