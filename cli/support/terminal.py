"""How a terminal shows an answer: sentences, and tables whose figures are never broken."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.text import Text

from ...api.answer.tree import Answer, Column, Marked, Part, Row, Verbatim, Words
from ...api.answer.tree import Table as Tree
from .table import Table

_WIDTH = 100
WIDE = 200
"""Columns of a catalogue in a file or a pipe, whose columns stay side by side."""
_STYLES = {"": "", "title": "bold", "note": "dim", "good": "", "doubt": "yellow", "bad": "red"}


def console_of(width: int | None = None) -> Console:
    """A console as wide as a page where nobody looks at it right now."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=width or _WIDTH, highlight=False)


def show(answer: Answer | Part, console: Console | None = None) -> None:
    """Print an answer, or a part of one."""
    _show(console or console_of(), answer, "")


def _show(console: Console, part: Part, before: str) -> str:
    """Print a part; what kind it is: a blank line is between words and a table."""
    if isinstance(part, Words):
        if part.apart and before != "table":
            console.print()
        console.print(Text(part.text, style=_STYLES[part.tone]))
        return "words"
    if isinstance(part, Verbatim):
        console.file.flush()
        typer.echo(part.text, nl=False)
        return "words"
    if isinstance(part, Tree):
        made = table(part.brief())
        if not made.rows:
            return before
        if before == "words":
            console.print()
        if part.title:
            console.print(Text(part.title))
        console.print(made)
        return "table"
    if isinstance(part, Answer):
        if part.title:
            before = _show(console, Words(part.title, "title", apart=bool(before)), before)
        for each in part.parts:
            before = _show(console, each, before)
    return before


def table(tree: Tree) -> Table:
    """A table of a tree for rich."""
    made = Table(keys=tree.keys)
    for column in tree.columns:
        made.add_column(
            Text(column.heading),
            justify="left" if column.show is None else "right",
            overflow="fold",
            no_wrap=column.whole or column.show is not None,
            min_width=4 if column.show is None and not column.whole else None,
        )
    for row in tree.rows:
        if row:
            made.add_row(*_cells(tree, row))
        else:
            made.add_section()
    return made


def _cells(tree: Tree, row: Row) -> list[Text]:
    if len(row) == 1:
        return [Text(tree.columns[0].text(row[0]), style="bold")]
    return [_cell(column, cell) for column, cell in zip(tree.columns, row, strict=True)]


def _cell(column: Column, cell: object) -> Text:
    style = _STYLES[cell.tone] if isinstance(cell, Marked) else ""
    return Text(column.text(cell), style=style)  # type: ignore[arg-type]
