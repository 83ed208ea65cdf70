"""`raidsim layout`: a map of chunks and parity, as a table or in the notation of the recorded maps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ... import InputError
from ...api.answer.units import format_size, parse_size
from ...api.layout import (
    Layout,
    LinearLayout,
    StripedLayout,
    fields,
    layout_document,
    layout_for,
    shown_rows,
    small_layout,
    title,
)
from ...api.pictures.layout import layout_figure
from ...api.tables.pool_map import PoolMap
from ..support.files import check_picture, write_picture
from ..support.table import Table
from ..support.terminal import show

_MOST_DRAWN = 64
_MOST_DISKS = 1000
_MOST_FIELDS = 100_000


def layout_command(
    level: Annotated[
        str | None,
        typer.Option(help="linear, raid0, raid1, raid3, raid4, raid5, raid6, raid10, raid01, raid50 or raid60."),
    ] = None,
    disks: Annotated[int | None, typer.Option(help="Number of disks.")] = None,
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
    pool: Annotated[
        str | None,
        typer.Option(help='Instead of a level: a vdev of ZFS and its members or their number, "raidz2 6".'),
    ] = None,
    record: Annotated[
        list[str] | None,
        typer.Option(help="Of a pool: size of a block after compression (128KiB); repeat or separate by commas."),
    ] = None,
    ashift: Annotated[int, typer.Option(min=9, max=16, help="Of a pool: log2 of its smallest block.")] = 12,
    offset: Annotated[str, typer.Option(help="Of a pool: where in the vdev the first block lies.")] = "0",
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the map: .svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout: the whole map.")] = False,
) -> None:
    """Show where an array keeps its data, copies and parity, or where a pool of ZFS puts blocks."""
    if rows is not None and rows < 1:
        raise InputError("--rows", str(rows), "at least 1")
    if pool is not None:
        if level is not None or disks is not None or plot is not None:
            raise InputError("--pool", "found it with --level, --disks or --plot", "expected: without them")
        sizes = [parse_size(part, "--record") for text in record or ["128KiB"] for part in text.split(",")]
        drawn = PoolMap(pool, sizes, ashift, parse_size(offset, "--offset"), frozenset(failed or []))
        if as_json:
            typer.echo(json.dumps(drawn.document()))
        else:
            show(drawn.answer(rows))
        return
    if level is None or disks is None:
        raise InputError("--level" if level is None else "--disks", "it is missing", "expected: with it, or --pool")
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

    layout = small_layout(build, sizes, chunk_bytes, rows)
    unit = layout.chunk_bytes or min(chunk_bytes, layout.capacity)
    lost = _lost(layout, failed or [])
    if plot is not None:
        _draw(layout, unit, rows, lost, plot)
    if as_json:
        typer.echo(json.dumps(layout_document(layout, unit)))
        return
    _print(layout, unit, rows, lost)


def _lost(layout: Layout, failed: list[int]) -> frozenset[int]:
    """The disks that are lost; `InputError` if one of them is not there."""
    for disk in failed:
        if not 0 <= disk < layout.members:
            raise InputError("--failed", f"found disk {disk}", f"expected: 0 to {layout.members - 1}")
    return frozenset(failed)


def _draw(layout: Layout, unit: int, rows: int | None, lost: frozenset[int], path: Path) -> None:
    if isinstance(layout, LinearLayout):
        raise InputError("--plot", f"found it with {layout.level}", "expected: levels with chunks or copies")
    if layout.members > _MOST_DRAWN or (rows or 0) > _MOST_DRAWN:
        found = f"a map of {layout.members} disks and {rows or 'few'} rows"
        raise InputError("--plot", found, f"expected: up to {_MOST_DRAWN} of each")
    shown, _ = shown_rows(layout, unit, rows)
    drawn = {place: text for place, text in fields(layout, unit, shown).items() if place[1] < shown}
    heading = _heading(layout, lost).plain
    write_picture(path, lambda: layout_figure(heading, drawn, layout.members, shown, lost))


def _print(layout: Layout, unit: int, rows: int | None, lost: frozenset[int]) -> None:
    console = Console(highlight=False)
    console.print(_heading(layout, lost))
    if isinstance(layout, LinearLayout):
        tables = [_segment_table(layout)]
        rest = 0
    else:
        shown, total = shown_rows(layout, unit, rows)
        tables = [_stripe_table(layout, unit, shown, lost)]
        rest = total - shown
        if isinstance(layout, StripedLayout) and len(layout.zones) > 1:
            tables.append(_zone_table(layout))
    for table in tables:
        if not console.is_terminal:  # a file has room for all columns side by side
            wide = console.measure(table, options=console.options.update(width=10_000)).maximum
            console.width = max(console.width, wide)
        console.print(table)
    if rest:
        console.print(f"... and {rest:,} more rows (--rows)", style="dim")


def _heading(layout: Layout, lost: frozenset[int] = frozenset()) -> Text:
    name, facts = title(layout)
    degraded: tuple[str | tuple[str, str], ...] = ()
    if lost:
        words = f"without disk{'s' if len(lost) > 1 else ''} {', '.join(map(str, sorted(lost)))}: "
        kept = layout.tolerates(lost)
        degraded = (f"\n{words}", ("all data can be read", "green") if kept else ("data is lost", "bold red"))
    return Text.assemble((name, "bold"), facts, *degraded)


def _stripe_table(layout: Layout, unit: int, rows: int, lost: frozenset[int]) -> Table:
    padding = (0, 0) if layout.members > 12 else (0, 1)
    table = Table(padding=padding, pad_edge=False)
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
    """What stands in each (member, row), colored by what it is."""
    return {place: Text(text, style=_style(text)) for place, text in fields(layout, unit, rows).items()}


def _style(text: str) -> str:
    if text in ("P", "Q"):
        return {"P": "bold yellow", "Q": "bold magenta"}[text]
    return "green" if text.endswith("'") else ""


def _zone_table(layout: StripedLayout) -> Table:
    table = Table(title="zones", title_justify="left", padding=(0, 1), pad_edge=False)
    for heading in ("first chunk", "chunks", "disks", "from row"):
        table.add_column(heading, justify="left" if heading == "disks" else "right", no_wrap=True)
    for zone in layout.zones:
        disks = " ".join(map(str, zone.members))
        table.add_row(f"D{zone.start}", f"{zone.end - zone.start:,}", disks, str(zone.first_row))
    return table


def _segment_table(layout: LinearLayout) -> Table:
    table = Table(padding=(0, 1), pad_edge=False)
    for heading in ("disk", "from", "to", "size"):
        table.add_column(heading, justify="right", no_wrap=True)
    for start, size, member, _ in layout.segments:
        table.add_row(f"disk {member}", format_size(start), format_size(start + size), format_size(size))
    return table
