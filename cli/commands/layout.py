"""`raidsim layout`: a map of chunks and parity, as a table or in the notation of the recorded maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...model.core.errors import InputError
from ...model.files.quantities import format_size, parse_size
from ...model.layouts import (
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
from ...model.layouts.chart import chunk_chart, parity_chart, segment_chart, zone_chart
from ..plots.layout import layout_figure
from ..support.files import check_picture, write_picture

MOST_CHUNKS = 1_000_000
_MOST_DRAWN = 64
_MOST_DISKS = 1000
_MOST_FIELDS = 100_000
_DEFAULT_ROWS = 4
_MOST_DEFAULT_ROWS = 12


def layout_command(
    level: Annotated[
        str, typer.Option(help="linear, raid0, raid1, raid3, raid4, raid5, raid6, raid10, raid01, raid50 or raid60.")
    ],
    disks: Annotated[int, typer.Option(help="Number of disks.")],
    chunk: Annotated[str, typer.Option(help="Bytes on one disk before the next: a power of two.")] = "64KiB",
    algorithm: Annotated[
        str | None,
        typer.Option(help="left-symmetric, ddf-N-restart, near, f2, alternate ...: md's names and short names."),
    ] = None,
    copies: Annotated[int | None, typer.Option(help="raid10: copies of each chunk (2 unless given).")] = None,
    groups: Annotated[int | None, typer.Option(help="raid50, raid60, raid01: number of inner arrays.")] = None,
    member_size: Annotated[
        list[str] | None,
        typer.Option(
            help="Size of a disk; repeat or separate by commas for different ones. A few stripes unless given."
        ),
    ] = None,
    truncate: Annotated[
        bool, typer.Option("--truncate", help="Use unequal disks up to the end of the smallest.")
    ] = False,
    rows: Annotated[int | None, typer.Option(help="How many stripes to print.")] = None,
    failed: Annotated[list[int] | None, typer.Option(help="A disk that is lost, from 0; repeat for several.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the map: .svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout: the whole map.")] = False,
) -> None:
    """Show where an array keeps its data, copies and parity."""
    if rows is not None and rows < 1:
        raise InputError("--rows", str(rows), "at least 1")
    if disks > _MOST_DISKS:
        raise InputError("--disks", f"{disks:,}", f"at most {_MOST_DISKS:,}")
    if rows is not None and rows * disks > _MOST_FIELDS:
        raise InputError("--rows", f"{rows:,} rows of {disks} disks", f"at most {_MOST_FIELDS:,} fields in all")
    if plot is not None:
        check_picture(plot)
    chunk_bytes = parse_size(chunk, "--chunk")
    sizes = [parse_size(part, "--member-size") for text in member_size or [] for part in text.split(",")]

    def build(members: int | list[int]) -> Layout:
        return layout_for(
            level, disks, chunk_bytes, members, algorithm, copies=copies, groups=groups, truncate=truncate
        )

    if sizes:
        layout = build(sizes[0] if len(sizes) == 1 else sizes)
    else:
        sample = build(MOST_CHUNKS * chunk_bytes)
        layout = build(_rows_that_fit(sample, rows) * (sample.chunk_bytes or chunk_bytes))
    unit = layout.chunk_bytes or min(chunk_bytes, layout.capacity)
    lost = _lost(layout, failed or [])
    if plot is not None:
        _draw(layout, unit, rows, lost, plot)
    if as_json:
        typer.echo(json.dumps(layout_document(layout, unit)))
        return
    _print(layout, unit, rows, lost)


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


def _lost(layout: Layout, failed: list[int]) -> frozenset[int]:
    """The disks that are lost; `InputError` if one of them is not there."""
    for disk in failed:
        if not 0 <= disk < layout.members:
            raise InputError("--failed", f"found disk {disk}", f"allowed: 0 to {layout.members - 1}")
    return frozenset(failed)


def _shown(layout: Layout, unit: int, rows: int | None) -> tuple[int, int]:
    """How many rows are shown, and how many there are."""
    total = min(max(layout.member_bytes), layout.capacity) // unit
    return min(rows or max(_DEFAULT_ROWS, min(2 * layout.members, 24)), total), total


def _draw(layout: Layout, unit: int, rows: int | None, lost: frozenset[int], path: Path) -> None:
    if isinstance(layout, LinearLayout):
        raise InputError("--plot", f"found it with {layout.level}", "allowed: levels with chunks or copies")
    if layout.members > _MOST_DRAWN or (rows or 0) > _MOST_DRAWN:
        found = f"a map of {layout.members} disks and {rows or 'few'} rows"
        raise InputError("--plot", found, f"allowed: up to {_MOST_DRAWN} of each")
    shown, _ = _shown(layout, unit, rows)
    fields = {place: text.plain for place, text in _cells(layout, unit, shown).items() if place[1] < shown}
    heading = _heading(layout, lost).plain
    write_picture(path, lambda: layout_figure(heading, fields, layout.members, shown, lost))


def _print(layout: Layout, unit: int, rows: int | None, lost: frozenset[int]) -> None:
    console = Console(highlight=False)
    console.print(_heading(layout, lost))
    if isinstance(layout, LinearLayout):
        tables = [_segment_table(layout)]
        rest = 0
    else:
        shown, total = _shown(layout, unit, rows)
        tables = [_stripe_table(layout, unit, shown, lost)]
        rest = total - shown
        if isinstance(layout, StripedLayout) and len(layout.zones) > 1:
            tables.append(_zone_table(layout))
    for table in tables:
        # A map with columns cut off cannot be read: it takes the width it needs, wider than the screen if must be.
        console.width = max(console.width, console.measure(table, options=console.options.update(width=10_000)).maximum)
        console.print(table)
    if rest:
        console.print(f"... and {rest:,} more rows (--rows)", style="dim")


def _heading(layout: Layout, lost: frozenset[int] = frozenset()) -> Text:
    name = layout.level.replace("raid", "RAID ")
    several = not isinstance(layout, StripedLayout) or len(layout.zones) > 1
    variant = f" {layout.algorithm}" if layout.algorithm and several else ""
    if isinstance(layout, Raid10Layout):
        variant += f", {layout.copies_per_chunk} copies"
    if isinstance(layout, NestedLayout):
        variant += f", {len(layout.groups)} groups of {layout.groups[0].members}"
    chunk = f", chunk {format_size(layout.chunk_bytes)}" if layout.chunk_bytes else ""
    survived = {0: "no disk", 1: "any 1 disk"}.get(layout.survives, f"any {layout.survives} disks")
    degraded: tuple[str | tuple[str, str], ...] = ()
    if lost:
        words = f"without disk{'s' if len(lost) > 1 else ''} {', '.join(map(str, sorted(lost)))}: "
        kept = layout.tolerates(lost)
        degraded = (f"\n{words}", ("all data can be read", "green") if kept else ("data is lost", "bold red"))
    return Text.assemble(
        (f"{name}{variant}", "bold"),
        f": {layout.members} disk{'s' if layout.members > 1 else ''}{chunk}\n",
        f"{format_size(layout.capacity)} of {format_size(sum(layout.member_bytes))} usable; {survived} may fail",
        *degraded,
    )


def _stripe_table(layout: Layout, unit: int, rows: int, lost: frozenset[int]) -> Table:
    padding = (0, 0) if layout.members > 12 else (0, 1)
    table = Table(box=SIMPLE_HEAD, padding=padding, pad_edge=False)
    table.add_column("row", justify="right", style="dim", no_wrap=True)
    for member in range(layout.members):
        heading = f"disk {member}" if layout.members <= 8 else str(member)
        table.add_column(f"({heading})" if member in lost else heading, justify="center", no_wrap=True)
    cells = _cells(layout, unit, rows)
    for (member, _), text in cells.items():
        if member in lost:
            text.stylize("strike red")
            text.plain = f"({text.plain})"
    for row in range(rows):
        table.add_row(str(row), *[cells.get((member, row), Text("")) for member in range(layout.members)])
    return table


def _cells(layout: Layout, unit: int, rows: int) -> dict[tuple[int, int], Text]:
    """Return what stands in each (member, row) of the first rows."""
    cells: dict[tuple[int, int], Text] = {}
    for chunk in range(layout.chunks or layout.capacity // unit):
        places = layout.map_copies(chunk)
        if places[0][1] >= rows:  # the primary copy of every later chunk lies further down, its other copies too
            break
        for index, place in enumerate(places):
            cells[place] = Text(f"D{chunk}'", style="green") if index else Text(f"D{chunk}")
    for row, members in enumerate(parity_chart(layout, rows)):
        per_group = max(1, LEVELS[layout.level].parities)
        for index, member in enumerate(members):
            cells[member, row] = (
                Text("Q", style="bold magenta") if index % per_group else Text("P", style="bold yellow")
            )
    return cells


def _zone_table(layout: StripedLayout) -> Table:
    table = Table(title="zones", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for heading in ("first chunk", "chunks", "disks", "from row"):
        table.add_column(heading, justify="left" if heading == "disks" else "right", no_wrap=True)
    for zone in layout.zones:
        disks = " ".join(map(str, zone.members))
        table.add_row(f"D{zone.start}", f"{zone.end - zone.start:,}", disks, str(zone.first_row))
    return table


def _segment_table(layout: LinearLayout) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for heading in ("disk", "from", "to", "size"):
        table.add_column(heading, justify="right", no_wrap=True)
    for start, size, member, _ in layout.segments:
        table.add_row(f"disk {member}", format_size(start), format_size(start + size), format_size(size))
    return table


def _kib(size: int) -> int | float:
    return size // 1024 if size % 1024 == 0 else size / 1024
