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
from typing import TYPE_CHECKING, Any, ClassVar

from ..model.core.errors import InputError
from ..model.files.extras import how_to_install
from .answer import tree
from .answer.html import html
from .answer.numbers import number
from .answer.tree import Answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MOST_WORKERS = 1024
SCHEMA_VERSION = 1
"""Version of what `to_dict` and `to_json` give. It rises when a key goes away or changes its meaning."""


_MEANT = {
    "bandwidth": "throughput",
    "limit": "bottleneck",
    "mean": "latency.mean",
    "p50": "latency.p50",
    "p99": "latency.p99",
    "price": "cost",
    "rate": "throughput",
    "watts": "power",
}
"""Other words for attributes of answers."""


class Proposing:
    """Something that proposes the right attribute if it is asked for one that it does not have."""

    __slots__ = ()

    if not TYPE_CHECKING:  # mypy would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            known = [each for each in dir(self) if not each.startswith("_")]
            meant = {word: said for word, said in _MEANT.items() if said.partition(".")[0] in known}
            close = [name] if name in meant else get_close_matches(name, [*known, *meant], n=1)
            hint = f"did you mean {meant.get(close[0], close[0])}?" if close else f"it has {', '.join(known)}"
            # Without the object, Python adds no further proposal.
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}; {hint}", name=name)


class Value(Proposing, ABC):
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

    def document(self) -> dict[str, Any]:
        """Return everything as plain data in SI units, as the command of the answer prints it with ``--json``."""
        return dict(self._document())

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

    def answer(self) -> Answer:
        """Return the answer as a tree of sentences, tables and pictures, which every medium renders."""
        return Answer(repr(self), [table_of(self._rows())])

    def _repr_html_(self) -> str:
        return html(self.answer())


class Drawn(Value):
    """An answer that can be drawn."""

    @abstractmethod
    def figure(self) -> Figure:
        """Return the picture as a figure of Matplotlib that no window shows."""

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
        return drawn(self.figure)


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


def table_of(rows: Sequence[Mapping[str, Any]], title: str = "") -> tree.Table:
    """A table of rows of named values, such as those of a data frame."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    kinds = [[row.get(name) for row in rows if row.get(name) is not None] for name in names]
    columns = [
        tree.Column(name, show=number if all(_is_number(each) for each in kind) and kind else None)
        for name, kind in zip(names, kinds, strict=True)
    ]
    return tree.Table(title, columns, [[_cell(row.get(name)) for name in names] for row in rows])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any) -> tree.Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if value is None or isinstance(value, float) else f"{value}"


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
