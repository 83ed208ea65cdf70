"""An answer as HTML: a part of a page or a notebook's cell, or a whole page that fetches nothing and runs nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from .numbers import Sure
from .tree import Answer, Cell, Column, Marked, Part, Picture, Row, Table, Verbatim, Words

_SECTION = 2
"""Level of the headings of a page's sections, which links lead to."""
_SHORT = 24
"""Text up to here stays on one line."""
_TONES = {
    "title": "font-weight:600",
    "note": "opacity:.8;font-size:.9rem",
    "good": "color:#1b7f4b",
    "doubt": "color:#8a6100",
    "bad": "color:#b42318",
}
_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;max-width:72rem;margin:1rem auto;padding:0 1rem;color:#1b2733;"
    "background:#fff}h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.25rem;margin:2.2rem 0 .5rem;padding-top:.6rem;"
    "border-top:2px solid #d9e2ec}h3{font-size:1.05rem;margin:1.4rem 0 .4rem}p,ul{max-width:48rem}"
    "nav{display:flex;flex-wrap:wrap;font-size:.9rem;line-height:2}nav a{margin-right:.9rem;white-space:nowrap;"
    "color:#1f6fb4}pre{background:#f4f6f8;padding:1rem;overflow-x:auto;font-size:.85rem}table{margin:.5rem 0 1.2rem}"
    "figure{margin:1rem 0;max-width:42rem;overflow-x:auto}svg{max-width:100%;height:auto}figcaption{opacity:.8;"
    "font-size:.875rem}@media print{body{margin:0;max-width:none;font-size:10pt}nav{display:none}table{font-size:7.5pt}"
    "pre{white-space:pre-wrap}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}thead{display:table-header-group}}"
)


def page(answer: Answer, lead: str = "") -> str:
    """A whole page; its parts have headings and anchors, and links at the top lead to them."""
    heads = [part for part in answer.parts if isinstance(part, Answer) and part.title]
    links = "".join(f'<a href="#{_anchor(each.title)}">{escape(each.title)}</a>' for each in heads)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(answer.title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(answer.title)}</h1>{f'<p>{escape(lead)}</p>' if lead else ''}\n"
        f"{f'<nav>{links}</nav>' if len(heads) > 2 else ''}<main>\n{_parts(answer.parts, _SECTION)}\n</main>"
        "</body></html>\n"
    )


def html(part: Part, level: int = 3) -> str:
    """A part of an answer; `level` is that of its heading."""
    if isinstance(part, Words):
        style = f' style="{_TONES[part.tone]}"' if part.tone else ""
        return f"<p{style}>{escape(part.text)}</p>"
    if isinstance(part, Table):
        return table_html(part)
    if isinstance(part, Verbatim):
        return f'<pre tabindex="0" role="region" aria-label="text">{escape(part.text)}</pre>'
    if isinstance(part, Picture):
        said = escape(part.caption)
        drawn = part.svg()
        named = drawn if "aria-label" in drawn else drawn.replace("<svg", f'<svg role="img" aria-label="{said}"', 1)
        # What scrolls is reached with the keyboard.
        return f'<figure tabindex="0">{named}<figcaption>{said}</figcaption></figure>'
    anchor = f' id="{_anchor(part.title)}"' if level == _SECTION else ""
    head = f"<h{level}{anchor}>{escape(part.title)}</h{level}>" if part.title else ""
    return f"<section>{head}{_parts(part.parts, min(6, level + 1))}</section>"


def _parts(parts: Iterable[Part], level: int) -> str:
    return "\n".join(html(part, level) for part in parts if not isinstance(part, Table) or part.rows)


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.partition(":")[0].lower())


def _head(heading: str, side: str) -> str:
    """The head of a column; one without a name is a cell, as a header without words says nothing to who listens."""
    if not heading:
        return "<td></td>"
    return f'<th scope="col" style="{side}vertical-align:bottom">{_kept(escape(heading))}</th>'


def table_html(table: Table, caption: str = "", most: int | None = None) -> str:
    """A table under its caption, by default its title; it scrolls if too wide. `most`: rows that are shown."""
    said = escape(caption or table.title)
    sides = [_side(table, place) for place in range(len(table.columns))]
    head = "".join(_head(column.heading, side) for side, column in zip(sides, table.columns, strict=True))
    rows = [row for row in table.rows if row]
    body = "".join(_row(table, row, sides) for row in rows[:most])
    left = f"<p>... and {len(rows) - most:,} more rows</p>" if most is not None and len(rows) > most else ""
    return (
        f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="{said}">'
        '<table cellpadding="4" style="border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums">'
        f'<caption style="text-align:left;opacity:.8;padding:.2rem 0">{said}</caption>'
        f'<thead><tr style="{_LINE}">{head}</tr></thead><tbody>{body}</tbody></table>{left}</div>'
    )


def _kept(name: str) -> str:
    """A heading that does not end a line before a percent sign."""
    return name.replace(" %", "\u00a0%").replace("per s", "per\u00a0s")


def _side(table: Table, place: int) -> str:
    """Numbers stand to the right, one below the other."""
    if table.columns[place].show is not None:
        return "text-align:right;white-space:nowrap;"
    short = all(len(table.columns[place].text(row[place])) <= _SHORT for row in table.full_rows())
    return f"text-align:left;{'white-space:nowrap;' if short else ''}"


def _row(table: Table, row: Row, sides: Sequence[str]) -> str:
    if len(row) == 1:
        return f'<tr><th colspan="{len(sides)}" style="text-align:left">{_text(table.columns[0], row[0])}</th></tr>'
    cells = []
    for place, (column, cell, side) in enumerate(zip(table.columns, row, sides, strict=True)):
        text = _text(column, cell)
        style = side + (f"{_TONES.get(cell.tone, '')};" if isinstance(cell, Marked) else "")
        if column.show is None and len(text) > _SHORT:
            # A table that is wider than a telephone scrolls: a long text would be a word a line otherwise.
            style += f"min-width:{14 if place else 8}rem;"
        tag, scope = ("td", "") if place else ("th", ' scope="row"')
        cells.append(f'<{tag}{scope} style="{style}{"" if place else "font-weight:500"}">{escape(text)}</{tag}>')
    return f'<tr style="{_LINE}">{"".join(cells)}</tr>'


def _text(column: Column, cell: Cell) -> str:
    """What a cell says; "-" for a number that there is not."""
    value = column.scaled(cell)
    plain = value.value if isinstance(value, Sure) else value
    if column.show is not None and (plain is None or (isinstance(plain, float) and not math.isfinite(plain))):
        return "-"
    return column.text(cell)
