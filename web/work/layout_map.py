"""The layout as a table: a column for each disk, a row of chunks in each row, data, copies and parity colored.

A table and not a picture: a screen reader reads it cell by cell, and letters say what colors say.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ...api.answer.units import format_size
from ...model.layouts import (
    LEVELS,
    STRIPED_MIRRORS,
    ByteStripedLayout,
    Layout,
    LinearLayout,
    NestedLayout,
    Raid10Layout,
    layout_for,
)
from ...model.layouts.chart import parity_chart
from ...scenarios.description.arrays import ArraySpec

MOST_ROWS = 16
_LEAST_ROWS = 4
_UNIT = 64 * 1024

_INK = "#14202b"
_LOOKS = {
    "data": ("#dfe8f3", "data, numbered as the host sees them"),
    "copy": ("#cfe8cb", "a further copy of data"),
    "P": ("#f4d58d", "parity: XOR of the row"),
    "Q": ("#e3c1ea", "second parity, over GF(2^8)"),
}
_LOST = ("repeating-linear-gradient(135deg,#fff,#fff 5px,#f3cfcb 5px,#f3cfcb 7px)", "on a lost disk")


@dataclass(frozen=True, slots=True)
class LayoutMap:
    """The first rows of an array.

    Attributes
    ----------
    cells
        What stands at (disk, row): "D7", "D7'" (a further copy), "P" or "Q".
    disks, rows
        How many there are, and how many rows are shown.
    lost
        Disks that are lost.
    kept
        Whether all data can be read without those.
    chunk
        Bytes of a cell; 0 where the level has no chunks.
    """

    cells: dict[tuple[int, int], str]
    disks: int
    rows: int
    lost: frozenset[int]
    kept: bool
    chunk: int


def layout_map(array: ArraySpec, lost: frozenset[int]) -> LayoutMap:
    """The map of an array without some of its members; it is as small as shows everything once."""
    rows = _rows(_layout(array, 64 * (array.copies or 2)))
    layout = _layout(array, rows)
    unit = layout.chunk_bytes or min(_UNIT, layout.capacity)
    cells: dict[tuple[int, int], str] = {}
    if isinstance(layout, LinearLayout):
        for start, size, member, _ in layout.segments:
            for row in range(size // unit):
                cells[member, row] = f"D{start // unit + row}"
    else:
        for chunk in range(layout.chunks or layout.capacity // unit):
            for number, (member, row) in enumerate(layout.map_copies(chunk)):
                if row < rows:
                    cells[member, row] = f"D{chunk}'" if number else f"D{chunk}"
        kinds = max(1, LEVELS[layout.level].parities)
        for row, members in enumerate(parity_chart(layout, rows)):
            for number, member in enumerate(members):
                cells[member, row] = "Q" if number % kinds else "P"
    return LayoutMap(cells, layout.members, rows, lost, layout.tolerates(lost), layout.chunk_bytes)


def survives(array: ArraySpec, lost: frozenset[int]) -> bool:
    """Whether all data of an array are still there without some of its members."""
    return len(lost) < len(array.members) and _layout(array, _LEAST_ROWS * (array.copies or 2)).tolerates(lost)


def _layout(array: ArraySpec, rows: int) -> Layout:
    """The layout on members of a number of chunks."""
    chunk = array.chunk if LEVELS[array.level].has_chunk else _UNIT
    algorithm = array.algorithm
    if LEVELS[array.level].has_copies and array.controller is not None and algorithm is None:
        algorithm = STRIPED_MIRRORS
    return layout_for(
        array.level,
        len(array.members),
        chunk,
        rows * chunk,
        algorithm,
        copies=array.copies,
        groups=array.groups,
        outer_chunk_bytes=array.outer_chunk,
        truncate=True,
    )


def _rows(layout: Layout) -> int:
    """Rows that show all of a rotation, and a whole number of copies."""
    members = layout.groups[0].members if isinstance(layout, NestedLayout) else layout.members
    rows = min(MOST_ROWS, max(_LEAST_ROWS, members))
    if isinstance(layout, Raid10Layout):
        rows += -rows % layout.copies_per_chunk
    return max(8, rows) if isinstance(layout, ByteStripedLayout) else rows


def layout_words(found: LayoutMap) -> str:
    """What the map shows, in a sentence or two."""
    if not found.lost:
        return ""
    lost = ", ".join(str(disk) for disk in sorted(found.lost))
    several = "s" if len(found.lost) > 1 else ""
    if not found.kept:
        return f"Without disk{several} {lost} data are lost."
    return (
        f"Without disk{several} {lost} all data can still be read: from copies, or computed from the rest of the row."
    )


def layout_html(found: LayoutMap, caption: str) -> str:
    """The map as an HTML table with a legend."""
    head = "".join(
        f'<th scope="col" style="{_HEAD}">disk {disk}{" (lost)" if disk in found.lost else ""}</th>'
        for disk in range(found.disks)
    )
    body = "".join(_row(found, row) for row in range(found.rows))
    kinds = {_kind(text) for text in found.cells.values()}
    legend = "".join(_key(kind, *look) for kind, look in _LOOKS.items() if kind in kinds)
    if found.lost:
        legend += _key("", *_LOST)
    chunk = f"; a cell is a chunk of {format_size(found.chunk)}" if found.chunk else ""
    return (
        f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table style="border-collapse:separate;border-spacing:3px;font-size:.85rem">'
        f'<caption style="text-align:left;padding:.2rem 0">{escape(caption + chunk)}</caption>'
        f'<thead><tr><th scope="col" style="{_HEAD}">row</th>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.3rem 1rem;margin-top:.4rem;font-size:.85rem">{legend}</div>'
    )


_HEAD = "text-align:center;font-weight:600;padding:.15rem .4rem;white-space:nowrap"


def _row(found: LayoutMap, row: int) -> str:
    cells = "".join(_cell(found.cells.get((disk, row), ""), disk in found.lost) for disk in range(found.disks))
    return f'<tr><th scope="row" style="{_HEAD}">{row}</th>{cells}</tr>'


def _cell(text: str, lost: bool) -> str:
    if not text:
        return '<td aria-label="unused"></td>'
    background = _LOST[0] if lost else _LOOKS[_kind(text)][0]
    struck = "text-decoration:line-through;" if lost else ""
    style = (
        f"background:{background};color:{_INK};{struck}text-align:center;padding:.25rem .45rem;"
        "border:1px solid #5b6b7a;border-radius:3px;min-width:2.6rem"
    )
    return f'<td style="{style}">{escape(text)}</td>'


def _key(kind: str, background: str, meaning: str) -> str:
    letters = {"data": "D7", "copy": "D7'"}.get(kind, kind)
    box = (
        f"display:inline-block;min-width:1.8rem;text-align:center;background:{background};color:{_INK};"
        "border:1px solid #5b6b7a;border-radius:3px;padding:0 .25rem;margin-right:.35rem"
    )
    return f'<span><span style="{box}">{escape(letters) or "&nbsp;"}</span>{escape(meaning)}</span>'


def _kind(text: str) -> str:
    if text in ("P", "Q"):
        return text
    return "copy" if text.endswith("'") else "data"
