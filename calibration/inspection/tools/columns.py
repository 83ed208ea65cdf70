"""Tables as programs print them: a line of headings, and cells that stand below their own heading.

A cell belongs to the heading that it overlaps, as one that is aligned to the right always does. One between two
headings belongs to the left one (a model of several words). The first cell belongs to the first heading, wherever the
branches of a tree push it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ...text.positioned_json import Value
from ...text.report_text import Cell, ReportText

_WORD = re.compile(r"\S+")
Span = tuple[str, int, int]


def headings(line: str) -> list[Span]:
    """The headings of a table, a word each, with the characters that it takes."""
    return [(match[0], match.start(), match.end()) for match in _WORD.finditer(line)]


def ruled(line: str, rule: str) -> list[Span]:
    """The headings of a table above a rule whose dashes are as wide as the columns."""
    return [(line[match.start() : match.end()].strip(), *match.span()) for match in re.finditer(r"-+", rule)]


def row(text: ReportText, number: int, heads: list[Span]) -> dict[str, Cell]:
    """The cells of a line by their headings; empty ones are left out.

    Parameters
    ----------
    text, number
        The line.
    heads
        The table's headings.
    """
    line = text.line(number)
    words = [match.span() for match in _WORD.finditer(line)]
    spans: dict[str, tuple[int, int]] = {}
    squeezed = all(after[1] - before[2] == 1 for before, after in pairwise(heads))
    if squeezed and len(words) == len(heads):  # a paste that has lost its blanks: nothing stands below its heading
        spans = {head[0]: span for head, span in zip(heads, words, strict=True)}
    else:
        at = 0
        for word, (start, end) in enumerate(words):
            at = _column(start, end, heads, at) if word else 0
            name = heads[at][0]
            spans[name] = (spans[name][0] if name in spans else start, end)
    return {name: text.cell(number, start, end) for name, (start, end) in spans.items()}


def _column(start: int, end: int, heads: list[Span], least: int) -> int:
    """The number of the heading that a cell belongs to; no less than that of the cell before it."""
    for at in range(least, len(heads)):
        _, first, after = heads[at]
        if start < after and end > first:
            return at
        if end <= first:
            return at if at == least else at - 1
    return len(heads) - 1


def record(cells: dict[str, Cell]) -> Value:
    """A row as the object that the same program prints as JSON."""
    members = {name: Value("text", cell, {}, []) for name, cell in cells.items()}
    first = next(iter(cells.values()))
    return Value("object", first, members, [])


def listing(items: list[Value], cell: Cell) -> Value:
    """Rows as a list."""
    return Value("list", cell, {}, items)


def mapping(members: dict[str, Value], cell: Cell) -> Value:
    """Named values as an object."""
    return Value("object", cell, members, [])
