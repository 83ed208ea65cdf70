"""Text from anyone made harmless for the page, and tables as HTML that screen readers and narrow screens can take."""

from __future__ import annotations

import re
from html import escape

from .tables import Table, shown

_LINKED = re.compile(r"[a-z]:(?=//)|www(?=\.)|@", re.IGNORECASE)
"""Where what looks like an address becomes a link without being asked; a space of no width is put there."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$:<>&@/])")


def plain(text: str) -> str:
    """Text as Markdown shows it letter by letter: no links, pictures or formulas."""
    return _SPECIAL.sub(r"\\\1", _LINKED.sub("\\g<0>\u200b", " ".join(text.split())))


def table_html(table: Table, caption: str) -> str:
    """A table with headings for every column, and for every row its first cell; it scrolls if too wide."""
    head = "".join(
        f'<th scope="col" style="{_side(table, i)}{_HEADING}{_CELL}">{_kept(escape(name))}</th>'
        for i, name in enumerate(table.columns)
    )
    body = "".join(_row(table, row) for row in range(len(table.rows)))
    return (
        f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table style="border-collapse:collapse;font-size:.875rem;min-width:60%">'
        f'<caption style="text-align:left;opacity:.8;padding:.2rem 0">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _kept(name: str) -> str:
    """A heading that does not end a line before a percent sign."""
    return name.replace(" %", "\u00a0%").replace("per s", "per\u00a0s")


_SHORT = 24
"""Text up to here stays on one line."""
_ROOM = "min-width:14rem;"
"""Of a long text, as a table that is wider than a telephone scrolls: it would be a word a line otherwise."""
_HEADING = "white-space:normal;vertical-align:bottom;"
_CELL = "padding:.25rem .6rem;border-bottom:1px solid rgba(128,128,128,.35);"


def _side(table: Table, column: int) -> str:
    """Numbers stand to the right, one below the other."""
    numbers = [isinstance(row[column], (int, float)) for row in table.rows if row[column] is not None]
    if numbers and all(numbers):
        return "text-align:right;white-space:nowrap;"
    short = all(len(shown(row[column])) <= _SHORT for row in table.rows)
    return f"text-align:left;{'white-space:nowrap;' if short else ''}"


def _row(table: Table, row: int) -> str:
    cells = []
    for column, cell in enumerate(table.rows[row]):
        style = f'style="{_side(table, column)}{_CELL}"'
        long = len(shown(cell)) > _SHORT
        text = escape(shown(cell))
        if column:
            cells.append(f'<td {style[:-1]}{_ROOM if long else ""}">{text}</td>')
        else:
            room = "min-width:8rem;" if long else ""
            cells.append(f'<th scope="row" {style[:-1]}{room}font-weight:500">{text}</th>')
    return f"<tr>{''.join(cells)}</tr>"
