"""The one form of an answer: a tree of sentences, tables and pictures, which every medium renders in its way.

A table holds values in SI units; a column knows the unit that people read, and how a number is written in it.
`cli.support.terminal` prints a tree, :mod:`raidsim.api.answer.html` makes HTML of it and
:func:`raidsim.api.answer.tree.csv_text` text for a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .numbers import Sure, number

Tone = Literal["", "title", "note", "good", "doubt", "bad"]
"""How a sentence or a cell is set off: a heading, an aside, good news, a warning, bad news."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A cell that is good or bad news."""

    value: Cell
    tone: Tone


Cell = str | float | Sure | Marked | None
"""A value in SI units or words; None where there is nothing to say."""
Row = Sequence[Cell]
"""A cell for each column. One cell alone is the heading of the rows below it; no cell is a line between groups."""
RULE: Row = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name
        Its heading; where a heading may be broken, it has a line break.
    unit
        Unit of the numbers as they are shown; "" if the name says it.
    show
        How a number is written in that unit; None: the column holds words.
    scale
        What SI units are multiplied by.
    whole
        If true, words are not broken into lines.
    detail
        If true, only media with room for it show the column: a page, a file, no terminal.
    """

    name: str
    unit: str = ""
    show: Callable[[float], str] | Callable[[Sure], str] | None = None
    scale: float = 1.0
    whole: bool = False
    detail: bool = False

    @property
    def heading(self) -> str:
        """Name and unit."""
        if not self.unit:
            return self.name
        return f"{self.name}{'' if self.name.endswith(chr(10)) else ' '}({self.unit})"

    def scaled(self, cell: Cell) -> str | float | Sure | None:
        """A cell in the unit that people read."""
        if isinstance(cell, Marked):
            return self.scaled(cell.value)
        if isinstance(cell, Sure):
            return Sure(self.scale * cell.value, self.scale * cell.half)
        return cell if cell is None or isinstance(cell, str) or self.scale == 1.0 else self.scale * cell

    def text(self, cell: Cell) -> str:
        """A cell as people read it."""
        value = self.scaled(cell)
        if value is None or isinstance(value, str):
            return value or ""
        return (self.show or number)(value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings.

    Attributes
    ----------
    title
        What the rows are; "" where the sentence above says it.
    keys
        How many columns, from the left, say what a row is about.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    keys: int = 1

    def brief(self) -> Table:
        """The table without the columns that need room."""
        kept = [place for place, column in enumerate(self.columns) if not column.detail]
        rows = [row if len(row) < 2 else [row[place] for place in kept] for row in self.rows]
        return Table(self.title, [self.columns[place] for place in kept], rows, self.keys)

    def full_rows(self) -> Iterator[Row]:
        """The rows with a cell for each column, without headings and lines between them."""
        return (row for row in self.rows if len(row) == len(self.columns))


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence or a line; with `apart`, a blank line is above it."""

    text: str
    tone: Tone = ""
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that a program has printed, line by line."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: what it shows, and what draws it as SVG. A terminal leaves it out."""

    caption: str
    svg: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, or a part of one.

    Attributes
    ----------
    title
        What is answered; "" for a part without a heading of its own.
    parts
        In order of reading.
    """

    title: str
    parts: Sequence[Part]

    def tables(self) -> Iterator[Table]:
        """All tables in it."""
        for part in self.parts:
            if isinstance(part, Table):
                yield part
            elif isinstance(part, Answer):
                yield from part.tables()


Part = Words | Table | Verbatim | Picture | Answer


def lines(texts: Iterable[str], tone: Tone = "") -> list[Words]:
    """Sentences, one a line."""
    return [Words(text, tone) for text in texts]


def csv_text(tables: Iterable[Table]) -> str:
    """Tables one after the other, each under its title; numbers in full, in the units of the headings."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for table in tables:
        rows = list(table.full_rows())
        sure = {place for place, _ in enumerate(table.columns) if any(isinstance(row[place], Sure) for row in rows)}
        heads: list[str] = []
        for place, column in enumerate(table.columns):
            heads += [column.heading.replace("\n", " "), "± (90 %)"][: 2 if place in sure else 1]
        writer.writerow([f"# {table.title}"])
        writer.writerow(heads)
        for row in rows:
            cells: list[str | float] = []
            for place, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
                value = column.scaled(cell)
                pair = (value.value, value.half) if isinstance(value, Sure) else (value, None)
                cells += [_written(each) for each in pair[: 2 if place in sure else 1]]
            writer.writerow(cells)
        writer.writerow([])
    return stream.getvalue()


def _written(cell: str | float | None) -> str | float:
    """A cell of a file: "" for what is not known, and no text that a spreadsheet takes for a formula."""
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return ""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t" and len(cell) > 1 else cell
