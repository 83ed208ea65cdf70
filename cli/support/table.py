"""A table whose figures are never broken or cut: one that is wider than the terminal is printed in parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import rich.table
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Column
from rich.text import Text

_LONGEST = 44
"""Characters of the longest figure, and of the longest word that is kept whole; a longer one is broken."""
_LINE = 20
"""Characters of room that a column of text needs; with less it moves to the next part."""
_ANY = 10_000
"""A width that every table fits into."""


class Table(rich.table.Table):
    """A table below a line. Columns that do not fit follow in another table, with the first columns again.

    A table without rows is not printed.

    Cells of a column that is justified to the right are figures: they are not broken, their heading is.

    Parameters
    ----------
    keys
        How many columns, from the left, say what a row is about; the first ones of them, if all take half of the room.
    settings
        Those of a table of rich.
    """

    def __init__(self, *, keys: int = 1, **settings: Any) -> None:
        self._settings = {"box": SIMPLE_HEAD, **settings}
        super().__init__(**self._settings)
        self._keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.rows:
            return
        if console.measure(self, options=options.update_width(_ANY)).maximum <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        needs = [_least(column, number < self._keys) for number, column in enumerate(self.columns)]
        for number, columns in enumerate(self._parts(console, needs, options.max_width)):
            part = self._part(console, columns, needs, options.max_width)
            part.title = None if number else self.title
            yield part

    def _parts(self, console: Console, needs: Sequence[int], room: int) -> list[list[int]]:
        """The columns of each part: those that say what a row is about, and further ones that fit."""
        keys = list(range(min(self._keys, len(self.columns) - 1)))
        while len(keys) > 1 and 2 * sum(needs[each] for each in keys) > room:
            keys.pop()
        parts: list[list[int]] = []
        for number in range(len(keys), len(self.columns)):
            together = [*parts[-1], number] if parts else []
            if not parts or sum(needs[each] for each in together) > room - self._padding_of(console, len(together)):
                parts.append([*keys])
            parts[-1].append(number)
        return parts

    def _padding_of(self, console: Console, columns: int) -> int:
        """Characters between and around the cells of a table, by its number of columns."""
        empty = rich.table.Table(**{**self._settings, "title": None})
        for _ in range(columns):
            empty.add_column(width=1)
        return console.measure(empty, options=console.options.update_width(_ANY)).maximum - columns

    def _part(self, console: Console, columns: Sequence[int], needs: Sequence[int], room: int) -> rich.table.Table:
        """The table with some of its columns, as wide as they are or as there is room for."""
        part = rich.table.Table(**self._settings)
        shown = [self.columns[number] for number in columns]
        least = [needs[number] for number in columns]
        widths = [max(need, _widest(column)) for need, column in zip(least, shown, strict=True)]
        for breaks in (_is_figures, lambda _: True):  # headings of figures are broken before text is
            can = [breaks(column) for column in shown]
            widths = _shrunk(widths, least, can, room - self._padding_of(console, len(columns)))
        for column, width in zip(shown, widths, strict=True):
            part.add_column(
                column.header,
                header_style=column.header_style,
                style=column.style,
                justify=column.justify,
                overflow="fold",
                width=width,
            )
        for row, cells in zip(self.rows, zip(*(column.cells for column in shown), strict=True), strict=True):
            part.add_row(*cells, style=row.style, end_section=row.end_section)
        return part


def _least(column: Column, is_key: bool) -> int:
    """Characters of the narrowest column that breaks no figure and no word."""
    lines = [line for cell in column.cells for line in _lines(cell)]
    broken = column.justify == "left" and not column.no_wrap
    whole = [word for line in lines for word in _words(line)] if broken else lines
    heading = _lines(column.header)
    if broken or _is_figures(column):
        heading = [word for line in heading for word in _words(line)]
    text = 0 if is_key else min(_LINE, max(map(cell_len, lines), default=0))
    return max(1, column.min_width or 0, text, *(min(_LONGEST, cell_len(each)) for each in [*whole, *heading]))


def _words(line: str) -> list[str]:
    """Its words, the first one with what it is indented by."""
    return re.findall(r"^\s*\S+|\S+", line)


def _is_figures(column: Column) -> bool:
    return column.justify == "right"


def _widest(column: Column) -> int:
    return max(cell_len(line) for each in (column.header, *column.cells) for line in _lines(each))


def _lines(cell: RenderableType) -> list[str]:
    """What is written in a cell, line by line."""
    return (cell if isinstance(cell, Text) else Text.from_markup(str(cell))).plain.split("\n")


def _shrunk(widths: Sequence[int], least: Sequence[int], can: Sequence[bool], room: int) -> list[int]:
    """Take from the widest column that `can` be narrower, a character at a time, until all fit or none can."""
    found = list(widths)
    while sum(found) > room:
        wider = [number for number, width in enumerate(found) if can[number] and width > least[number]]
        if not wider:
            break
        found[max(wider, key=lambda number: found[number])] -= 1
    return found
