"""The map of a layout as lists, in the notation of the maps read off real arrays (`validation/truth/layout`).

`chunks`: index = logical chunk, value = [member, member chunk], or the list of copies where there are several;
`parity`: index = member chunk row, value = [P] or [P, Q], of nested levels those of all groups one after the other;
`zones`: chunk `logical_chunk` + k is on members[k % w] at member_chunk[k % w] + k // w, w being the number of members;
`segments_kib`: [logical, size, member, member offset].
"""

from __future__ import annotations

from typing import Any

from .layout import Layout
from .linear import LinearLayout
from .mirrored import MirroredLayout
from .nested import NestedLayout
from .parity import ParityLayout
from .raid10 import Raid10Layout
from .striped import StripedLayout


def chunk_chart(layout: Layout, first: int = 0, count: int | None = None) -> list[Any]:
    """Return [member, member chunk] of each logical chunk; a list of them where the level keeps copies.

    Parameters
    ----------
    first, count
        Part of the map: from which chunk, and how many; all the rest unless given.
    """
    last = layout.chunks if count is None else min(first + count, layout.chunks)
    if keeps_copies(layout):
        return [sorted([list(place) for place in layout.map_copies(chunk)]) for chunk in range(first, last)]
    return [list(layout.map_chunk(chunk)) for chunk in range(first, last)]


def parity_chart(layout: Layout, count: int | None = None) -> list[list[int]]:
    """Return the parity members of each row, or of the first `count`; empty for levels without parity."""
    arrays = _parity_arrays(layout)
    if not arrays:
        return []
    rows = arrays[0][1].rows
    return [
        [first + member for first, array in arrays for member in array.row(row)[1:] if member is not None]
        for row in range(rows if count is None else min(count, rows))
    ]


def zone_chart(layout: StripedLayout) -> list[dict[str, Any]]:
    """Return the zones of a RAID 0 as somebody sees them who only reads the members.

    A zone goes on as long as the pattern of its first chunks continues, which may be some chunks into the
    driver's next zone (:attr:`StripedLayout.zones`).
    """
    chart = []
    start = 0
    place = layout.map_chunk
    for zone in layout.zones:
        while start < zone.end:
            pattern = _pattern(layout, start)
            width = len(pattern)
            # All chunks up to the end of the driver's zone follow the pattern if it is a full one.
            chunk = zone.end if zone.end - start >= len(zone.members) else start + width
            while chunk < layout.chunks:
                turn, index = divmod(chunk - start, width)
                if place(chunk) != (pattern[index][0], pattern[index][1] + turn):
                    break
                chunk += 1
            chart.append(
                {
                    "logical_chunk": start,
                    "chunks": chunk - start,
                    "members": [member for member, _ in pattern],
                    "member_chunk": [row for _, row in pattern],
                }
            )
            start = chunk
    return chart


def segment_chart(layout: LinearLayout) -> list[list[int | float]]:
    """Return [logical, size, member, member offset] of each member, addresses and sizes in KiB."""
    return [[_kib(start), _kib(size), member, _kib(at)] for start, size, member, at in layout.segments]


def keeps_copies(layout: Layout) -> bool:
    """Return whether the chunks of a layout lie on more than one member."""
    if isinstance(layout, NestedLayout):
        return keeps_copies(layout.outer) or keeps_copies(layout.groups[0])
    return isinstance(layout, MirroredLayout | Raid10Layout)


def _parity_arrays(layout: Layout) -> list[tuple[int, ParityLayout]]:
    """Return each parity array of a layout with the number of its first member."""
    if isinstance(layout, ParityLayout):
        return [(0, layout)]
    found = []
    if isinstance(layout, NestedLayout):
        first = 0
        for group in layout.groups:
            found += [(first + inner, array) for inner, array in _parity_arrays(group)]
            first += group.members
    return found


def _pattern(layout: StripedLayout, start: int) -> list[tuple[int, int]]:
    """Return the places of the chunks from `start` on until a member appears for the second time."""
    pattern: list[tuple[int, int]] = []
    seen: set[int] = set()
    for chunk in range(start, layout.chunks):
        member, row = layout.map_chunk(chunk)
        if member in seen:
            break
        seen.add(member)
        pattern.append((member, row))
    return pattern


def _kib(size: int) -> int | float:
    return size // 1024 if size % 1024 == 0 else size / 1024
