"""Where an array keeps its data, copies and parity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..model.core.errors import InputError
from ..model.files.quantities import format_size, parse_size
from ..model.layouts import (
    DEFAULT_CHUNK,
    LEVELS,
    ByteStripedLayout,
    Layout,
    LinearLayout,
    MirroredLayout,
    NestedLayout,
    Raid10Layout,
    StripedLayout,
    layout_for,
)
from ..model.layouts.chart import chunk_chart, parity_chart, segment_chart, zone_chart
from .answer.tree import Answer
from .base import Drawn, drawn, table_of, within

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "MOST_CHUNKS",
    "Layout",
    "LayoutMap",
    "LinearLayout",
    "StripedLayout",
    "fields",
    "layout",
    "layout_document",
    "layout_for",
    "shown_rows",
    "small_layout",
    "title",
]


MOST_CHUNKS = 1_000_000
_MOST_DISKS, _MOST_FIELDS, _MOST_DRAWN = 1000, 100_000, 64
_DEFAULT_ROWS = 4
_MOST_DEFAULT_ROWS = 12


class LayoutMap(Drawn):
    """The map of an array: which chunk of data, copy or parity lies where.

    Attributes
    ----------
    layout
        The layout itself, which also tells where single bytes lie.
    """

    schema = "raidsim.layout"

    def __init__(self, layout: Layout, unit: int, rows: int | None) -> None:
        self.layout = layout
        self._unit = unit
        self._row_count = shown_rows(layout, unit, rows)[0]

    @property
    def level(self) -> str:
        """The level: "raid5"."""
        return self.layout.level

    @property
    def usable_bytes(self) -> int:
        """Capacity for data of the array that is shown."""
        return self.layout.capacity

    @property
    def survives(self) -> int:
        """Disks that may fail, whichever they are."""
        return self.layout.survives

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """What stands on each disk, row by row: "D7" (data), "D7'" (a further copy), "P" and "Q" (parity)."""
        found = fields(self.layout, self._unit, self._row_count)
        members = range(self.layout.members)
        return tuple(tuple(found.get((member, row), "") for member in members) for row in range(self._row_count))

    def readable_without(self, *disks: int) -> bool:
        """Return whether all data can be read without these disks, counted from 0."""
        for disk in disks:
            if not 0 <= disk < self.layout.members:
                raise InputError("readable_without", f"found disk {disk}", f"expected: 0 to {self.layout.members - 1}")
        return self.layout.tolerates(frozenset(disks))

    def plot(self) -> tuple[Axes, ...]:
        """Draw the map.

        Returns
        -------
        tuple of Axes
            The only panel.
        """
        if self.layout.members > _MOST_DRAWN or self._row_count > _MOST_DRAWN or isinstance(self.layout, LinearLayout):
            found = f"{self.level}, {self.layout.members} disks and {self._row_count} rows"
            raise InputError("plot", found, f"expected: a level with chunks or copies, up to {_MOST_DRAWN} of each")
        return drawn(self.figure)

    def figure(self) -> Figure:
        from .pictures.layout import layout_figure

        found = fields(self.layout, self._unit, self._row_count)
        there = {place: text for place, text in found.items() if place[1] < self._row_count}
        return layout_figure("".join(title(self.layout)), there, self.layout.members, self._row_count, ())

    def _document(self) -> Mapping[str, Any]:
        return layout_document(self.layout, self._unit)

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return [{f"disk {member}": text for member, text in enumerate(row)} for row in self.rows]

    def answer(self) -> Answer:
        """See :meth:`Value.answer`."""
        return Answer("".join(title(self.layout)), [table_of(self._rows())])

    def __repr__(self) -> str:
        return f"LayoutMap({''.join(title(self.layout)).replace(chr(10), '; ')})"


def layout(
    level: str,
    disks: int,
    chunk: str | int = "64KiB",
    *,
    algorithm: str | None = None,
    copies: int | None = None,
    groups: int | None = None,
    member_sizes: Sequence[str | int] = (),
    truncate: bool = False,
    rows: int | None = None,
) -> LayoutMap:
    """Show where an array keeps its data, copies and parity. Nothing is simulated.

    Parameters
    ----------
    level
        "linear", "raid0", "raid1", "raid3" to "raid6", "raid10", "raid01", "raid50" or "raid60".
    disks
        Number of disks.
    chunk
        Bytes on one disk before the next: a power of two.
    algorithm
        md's name of the layout: "left-symmetric", "near", "f2" ... Default: md's.
    copies
        Of each chunk in RAID 10; default 2.
    groups
        Number of inner arrays of RAID 50, 60 and 01.
    member_sizes
        Size of each disk, or one for all. Default: a few rows.
    truncate
        If true, unequal disks are used up to the end of the smallest.
    rows
        Rows of chunks that are shown.

    Raises
    ------
    InputError
        If there is no such layout.

    Examples
    --------
    >>> import raidsim
    >>> raidsim.layout("raid5", 4).rows[:2]
    (('D0', 'D1', 'D2', 'P'), ('D4', 'D5', 'P', 'D3'))
    """
    within("disks", disks, 1, _MOST_DISKS)
    if rows is not None:
        within("rows", rows, 1, _MOST_FIELDS // disks)
    chunk_bytes = parse_size(chunk, "chunk")
    sizes = [parse_size(size, "member_sizes") for size in member_sizes]

    def build(members: int | list[int]) -> Layout:
        return layout_for(
            level, disks, chunk_bytes, members, algorithm, copies=copies, groups=groups, truncate=truncate
        )

    made = small_layout(build, sizes, chunk_bytes, rows)
    return LayoutMap(made, made.chunk_bytes or min(chunk_bytes, made.capacity), rows)


def small_layout(build: Callable[[int | list[int]], Layout], sizes: list[int], chunk: int, rows: int | None) -> Layout:
    """A layout of disks of these sizes; without any, of disks that make a small complete map."""
    if sizes:
        return build(sizes[0] if len(sizes) == 1 else sizes)
    sample = build(MOST_CHUNKS * chunk)
    return build(_rows_that_fit(sample, rows) * (sample.chunk_bytes or chunk))


def layout_document(layout: Layout, unit: int = DEFAULT_CHUNK) -> dict[str, Any]:
    """Return the whole map of a layout as a JSON document.

    Parameters
    ----------
    layout
        What to describe.
    unit
        Bytes of the pieces in which RAID 1, which has no chunks, is shown.

    Returns
    -------
    dict
        `level`, `algorithm` (None if there is only one), `n`, `chunk_kib` (0 without chunks), `array_kib`,
        `member_kib`, `survives`, and the charts that the level has: `chunks`, `parity`, `zones` (RAID 0),
        `segments_kib` (linear), `copies` and `unit_kib` (RAID 1 and 10).

    Raises
    ------
    InputError
        If the map has more than a million chunks.
    """
    count = layout.chunks or layout.capacity // unit
    if count > MOST_CHUNKS and not isinstance(layout, LinearLayout):
        raise InputError(
            "--member-size", f"a map of {count:,} chunks", f"at most {MOST_CHUNKS:,} chunks; give a smaller size"
        )
    document: dict[str, Any] = {
        "level": layout.level,
        "algorithm": layout.algorithm,
        "n": layout.members,
        "chunk_kib": _kib(layout.chunk_bytes),
        "array_kib": _kib(layout.capacity),
        "member_kib": [_kib(size) for size in layout.member_bytes],
        "survives": layout.survives,
    }
    match layout:
        case LinearLayout():
            document["segments_kib"] = segment_chart(layout)
            return document
        case MirroredLayout():
            document["copies"] = layout.members
            document["unit_kib"] = _kib(unit)
            document["chunks"] = [[list(place) for place in layout.map_copies(c)] for c in range(count)]
        case Raid10Layout():
            document["copies"] = layout.copies_per_chunk
            document["chunks"] = chunk_chart(layout)
        case _:
            document["chunks"] = chunk_chart(layout)
    document["parity"] = parity_chart(layout)
    if isinstance(layout, StripedLayout):
        document["zones"] = zone_chart(layout)
    return document


def _rows_that_fit(layout: Layout, rows: int | None) -> int:
    """Return how many rows make a small complete map: all of a rotation, and a whole number of copies."""
    wanted = rows or max(_DEFAULT_ROWS, min(layout.members, _MOST_DEFAULT_ROWS))
    if rows is None and isinstance(layout, NestedLayout):
        wanted = max(_DEFAULT_ROWS, layout.groups[0].members)
    if isinstance(layout, Raid10Layout):
        wanted += -wanted % layout.copies_per_chunk
    return max(wanted, 8) if isinstance(layout, ByteStripedLayout) else wanted


def shown_rows(layout: Layout, unit: int, rows: int | None) -> tuple[int, int]:
    """How many rows are shown, and how many there are."""
    total = min(max(layout.member_bytes), layout.capacity) // unit
    return min(rows or max(_DEFAULT_ROWS, min(2 * layout.members, 24)), total), total


def fields(layout: Layout, unit: int, rows: int) -> dict[tuple[int, int], str]:
    """What stands in each (member, row) of the first rows: "D7", "D7'" (a further copy), "P" or "Q"."""
    found: dict[tuple[int, int], str] = {}
    for chunk in range(layout.chunks or layout.capacity // unit):
        places = layout.map_copies(chunk)
        if places[0][1] >= rows:  # the primary copy of every later chunk lies further down, its other copies too
            break
        for index, place in enumerate(places):
            found[place] = f"D{chunk}'" if index else f"D{chunk}"
    for row, members in enumerate(parity_chart(layout, rows)):
        per_group = max(1, LEVELS[layout.level].parities)
        for index, member in enumerate(members):
            found[member, row] = "Q" if index % per_group else "P"
    return found


def title(layout: Layout) -> tuple[str, str]:
    """The name of a layout in words, and its facts, which begin with a colon."""
    name = layout.level.replace("raid", "RAID ")
    several = not isinstance(layout, StripedLayout) or len(layout.zones) > 1
    variant = f" {layout.algorithm}" if layout.algorithm and several else ""
    if isinstance(layout, Raid10Layout):
        variant += f", {layout.copies_per_chunk} copies"
    if isinstance(layout, NestedLayout):
        variant += f", {len(layout.groups)} groups of {layout.groups[0].members}"
    chunk = f", chunk {format_size(layout.chunk_bytes)}" if layout.chunk_bytes else ""
    survived = {0: "no disk", 1: "any 1 disk"}.get(layout.survives, f"any {layout.survives} disks")
    capacity = f"{format_size(layout.capacity)} of {format_size(sum(layout.member_bytes))} usable"
    disks = f"{layout.members} disk{'s' if layout.members > 1 else ''}"
    return f"{name}{variant}", f": {disks}{chunk}\n{capacity}; {survived} may fail"


def _kib(size: int) -> int | float:
    return size // 1024 if size % 1024 == 0 else size / 1024
