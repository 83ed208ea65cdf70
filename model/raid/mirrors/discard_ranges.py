"""Which bytes of its members an array without parity discards: as few ranges as there can be, not one for each chunk.

RAID 0 sends each member of a zone one discard (Linux 6.1 drivers/md/raid0.c, raid0_handle_discard). RAID 10 does the
same with the whole stripes of a discard of at least two of them, and sends what is left before and after chunk by chunk
like a write (drivers/md/raid10.c, raid10_handle_discard, since 5.12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...layouts import Raid10Layout, StripedLayout

MemberRange = tuple[int, int, int]
"""Slot, byte on the member, bytes."""


def striped_ranges(layout: StripedLayout, offset: int, size: int) -> list[MemberRange]:
    """What a discard of [offset, offset + size) of a RAID 0 is on its members."""
    length, end = layout.chunk_bytes, offset + size
    first, last = offset // length, (end - 1) // length
    found = []
    for zone in layout.zones:
        begin, stop = max(first, zone.start), min(last + 1, zone.end)
        width = len(zone.members)
        for chunk in range(begin, min(stop, begin + width)):
            slot, row = layout.map_chunk(chunk)
            final = chunk + (stop - 1 - chunk) // width * width
            low = row * length + (offset - chunk * length if chunk == first else 0)
            high = (layout.map_chunk(final)[1] + 1) * length - ((final + 1) * length - end if final == last else 0)
            found.append((slot, low, high - low))
    return found


def mirrored_ranges(layout: Raid10Layout, offset: int, size: int) -> list[MemberRange]:
    """What a discard of [offset, offset + size) of a RAID 10 is on its members."""
    length, end = layout.chunk_bytes, offset + size
    near = layout.copies_per_chunk if layout.algorithm == "near" else 1
    stripe = (layout.members // near + layout.members % near) * length
    if size < 2 * stripe:
        return _by_chunks(layout, offset, size)
    low, high = -(-offset // stripe) * stripe, end // stripe * stripe
    found = _by_chunks(layout, offset, low - offset) if low > offset else []
    found += _whole_chunks(layout, low // length, high // length)
    return found + (_by_chunks(layout, high, end - high) if end > high else [])


def _by_chunks(layout: Raid10Layout, offset: int, size: int) -> list[MemberRange]:
    return [(slot, at, length) for _, length, places in layout.copies(offset, size) for slot, at in places]


def _whole_chunks(layout: Raid10Layout, first: int, last: int) -> list[MemberRange]:
    """The chunks [first, last): where the places repeat, they are not looked at one by one."""
    period, length = layout.period, layout.chunk_bytes
    turns = range(-(-first // period), last // period)
    rows = layout.map_copies(period)[0][1] - layout.map_copies(0)[0][1]
    odd: Iterable[int] = range(first, last)
    taken: dict[int, list[tuple[int, int]]] = {}
    if turns:
        odd = (*range(first, turns.start * period), *range(turns.stop * period, last))
        once: dict[int, list[tuple[int, int]]] = {}
        for chunk in range(period):
            for slot, row in layout.map_copies(chunk):
                once.setdefault(slot, []).append((row, row + 1))
        for slot, spans in once.items():
            for low, high in _joined(spans):
                # Rows that follow each other from turn to turn are one span.
                steps = ((turns.start, turns.stop - 1),) if high - low == rows else ((turn, turn) for turn in turns)
                taken.setdefault(slot, []).extend((low + a * rows, high + b * rows) for a, b in steps)
    for chunk in odd:
        for slot, row in layout.map_copies(chunk):
            taken.setdefault(slot, []).append((row, row + 1))
    return [(slot, low * length, (high - low) * length) for slot in sorted(taken) for low, high in _joined(taken[slot])]


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans that touch each other, as one."""
    begin, end = -1, -1
    for low, high in sorted(spans):
        if low != end:
            if end > begin:
                yield begin, end
            begin = low
        end = high
    yield begin, end
