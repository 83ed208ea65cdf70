"""What all answers have in common: one line of text, a table, JSON with a version, a data frame and a picture.

An answer is a value: numbers in SI units (bytes, seconds, bytes per second, shares of 1) that no later run changes.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

from ..model.core.errors import InputError
from ..model.files.extras import how_to_install

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MOST_WORKERS = 1024
SCHEMA_VERSION = 1
"""Version of what `to_dict` and `to_json` give. It rises when a key goes away or changes its meaning."""


class Value(ABC):
    """An answer of raidsim.

    ``repr`` is one line, a notebook shows a table, `to_dict` and `to_json` give everything, and `to_frame` a pandas
    data frame.
    """

    schema: ClassVar[str]
    """Name of the schema of `to_dict`."""

    @abstractmethod
    def __repr__(self) -> str: ...

    @abstractmethod
    def _document(self) -> Mapping[str, Any]:
        """Everything, as plain data."""

    @abstractmethod
    def _rows(self) -> Sequence[Mapping[str, Any]]:
        """The lines of the data frame."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data that JSON can hold.

        Returns
        -------
        dict
            ``schema`` and ``schema_version`` say what the other keys mean. Numbers are in SI units; what is infinite or
            not known is None.
        """
        return {"schema": self.schema, "schema_version": SCHEMA_VERSION, **plain(self._document())}

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON.

        Parameters
        ----------
        indent
            Spaces for each level; default: all on one line.
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_frame(self) -> DataFrame:
        """Return the answer as a pandas data frame, one line for each thing that was measured.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        return frame(self._rows())

    def _bars(self) -> Sequence[tuple[str, float]]:
        """What the small picture of a notebook shows: labels and shares of 1."""
        return ()

    def _shown(self) -> Sequence[Mapping[str, Any]]:
        """The lines of the table that a notebook shows."""
        return self._rows()

    def _repr_html_(self) -> str:
        return html(repr(self), self._shown(), self._bars())


class Drawn(Value):
    """An answer that can be drawn."""

    @abstractmethod
    def _figure(self) -> Figure:
        """The picture."""

    def plot(self) -> tuple[Axes, ...]:
        """Draw the answer with Matplotlib.

        Returns
        -------
        tuple of Axes
            The panels of a new figure, from left to right. A notebook shows the figure; in a program, call
            ``matplotlib.pyplot.show()`` or ``axes[0].figure.savefig(...)``.

        Raises
        ------
        InputError
            If Matplotlib is not installed.
        """
        return drawn(self._figure)


class Table(Value):
    """Rows of named values.

    Parameters
    ----------
    name
        What the rows are.
    rows
        The rows.
    """

    schema = "raidsim.table"

    def __init__(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.name = name
        self.rows: tuple[dict[str, Any], ...] = tuple(dict(row) for row in rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.rows[place]

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return self.rows

    def _document(self) -> Mapping[str, Any]:
        return {"name": self.name, "rows": self.rows}

    def __repr__(self) -> str:
        return f"Table({self.name}: {len(self)} rows of {', '.join(self.rows[0]) if self.rows else 'nothing'})"


def plain(value: Any) -> Any:
    """The same value as JSON can hold it: lists for tuples, None for what is infinite or unknown."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def frame(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """A data frame of rows; `InputError` without pandas."""
    if importlib.util.find_spec("pandas") is None:
        raise InputError("to_frame", "pandas is not installed", how_to_install("notebook"))
    from pandas import DataFrame

    return DataFrame([dict(row) for row in rows])


def drawn(make: Callable[[], Figure]) -> tuple[Axes, ...]:
    """Draw a figure that pyplot knows, so that notebooks and ``show()`` show it; `InputError` without Matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("plot", "Matplotlib is not installed", how_to_install("plot"))
    from .support.drawing import drawn_for_pyplot

    return tuple(drawn_for_pyplot(make).axes)


def chosen(name: str, known: Sequence[str], place: str) -> str:
    """`name` if it is one of those `known`; otherwise `InputError` with the closest."""
    if name in known:
        return name
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise InputError(place, f"found {name!r}", f"{hint}expected: {', '.join(known)}")


def within(place: str, value: int, low: int, high: int) -> int:
    """`value` if it lies between two bounds; otherwise `InputError`."""
    if not low <= value <= high:
        raise InputError(place, f"found {value:,}", f"expected: {low:,} to {high:,}")
    return value


def processes(workers: int | None) -> int:
    """How many processes share the work; one per core unless given."""
    return (os.cpu_count() or 1) if workers is None else within("workers", workers, 0, MOST_WORKERS)


def number(value: float) -> str:
    """A number with three digits that count, and no fewer before the point.

    >>> number(1234.5), number(0.0123456), number(float("inf"))
    ('1,234', '0.0123', 'inf')
    """
    if not value or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.{min(9, max(0, 2 - math.floor(math.log10(abs(value)))))}f}"


def milliseconds(seconds: float) -> str:
    """A time in ms with three digits."""
    return f"{number(1e3 * seconds)} ms"


def megabytes(rate: float) -> str:
    """A rate in MB/s with three digits."""
    return f"{number(rate / 1e6)} MB/s"


def cell(value: Any) -> str:
    """A value of a row as a table shows it."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    return number(value) if isinstance(value, float) else str(value)


_MOST_ROWS = 20
_TABLE = "border-collapse:collapse;margin:0.4em 0;font-size:90%"
_CELL = "padding:2px 10px;text-align:{align};border-bottom:1px solid #e3e8ed"
_BAR_PX, _ROW_PX, _NAME_PX = 220, 18, 150


def html(caption: str, rows: Sequence[Mapping[str, Any]], bars: Sequence[tuple[str, float]] = ()) -> str:
    """A table as HTML, and shares as a small picture below it."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    shown = rows[:_MOST_ROWS]
    lines = [
        f'<div style="overflow-x:auto"><p style="margin:0"><b>{escape(caption)}</b></p><table style="{_TABLE}"><tr>'
    ]
    lines += [f'<th style="{_CELL.format(align="left")}">{escape(column)}</th>' for column in columns]
    for row in shown:
        lines.append("</tr><tr>")
        for column in columns:
            value = row.get(column)
            align = "right" if isinstance(value, (int, float)) and not isinstance(value, bool) else "left"
            lines.append(f'<td style="{_CELL.format(align=align)}">{escape(cell(value))}</td>')
    lines.append("</tr></table>")
    if len(rows) > len(shown):
        lines.append(f"<p>... and {len(rows) - len(shown):,} more rows</p>")
    return "".join([*lines, _svg(bars), "</div>"])


def _svg(bars: Sequence[tuple[str, float]]) -> str:
    """Shares as bars with their numbers; no color says anything that a word does not."""
    if not bars:
        return ""
    width, height = _NAME_PX + _BAR_PX + 60, _ROW_PX * len(bars)
    parts = [f'<svg width="{width}" height="{height}" role="img" aria-label="utilization of the busiest parts">']
    for place, (name, share) in enumerate(bars):
        top, length = _ROW_PX * place, round(_BAR_PX * min(1.0, max(0.0, share)))
        parts.append(
            f'<text x="{_NAME_PX - 6}" y="{top + 13}" font-size="12" text-anchor="end" fill="currentColor">'
            f"{escape(name)}</text>"
            f'<rect x="{_NAME_PX}" y="{top + 3}" width="{length}" height="{_ROW_PX - 6}" fill="#1f6fb4"/>'
            f'<text x="{_NAME_PX + length + 5}" y="{top + 13}" font-size="12" fill="currentColor">'
            f"{100 * share:.0f} %</text>"
        )
    return "".join([*parts, "</svg>"])
