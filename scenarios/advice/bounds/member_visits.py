"""How often the heads of an array's drives must go somewhere for one I/O: the fewest visits that any driver needs.

A visit is one command that needs the head. *Fresh* visits go to places that nothing before has told the drive about;
a *return* goes back to a place that was read a moment ago, to write what a read-modify-write has worked out. The price
of a small write is the one of Patterson, Gibson and Katz ("A case for redundant arrays of inexpensive disks", SIGMOD
1988): RAID 5 reads old data and old parity and writes both, 4 commands; RAID 6 reads and writes 3, a mirror writes all
copies. A driver that reads the rest of the row instead, because that is less, is counted with what is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm

from ....model.layouts import Layout, MirroredLayout, NestedLayout, ParityLayout, Raid10Layout

_MOST_PLACES = 256
"""Offsets of an I/O that are looked at; with more different ones every n-th."""


@dataclass(frozen=True, slots=True)
class Visits:
    """What one I/O asks of all drives together.

    Attributes
    ----------
    reads, writes
        Fresh visits that read, and that write.
    returns
        Visits that write where the same I/O has just read.
    copies
        Drives that a read may choose from.
    """

    reads: float = 0.0
    writes: float = 0.0
    returns: float = 0.0
    copies: int = 1

    def __add__(self, other: Visits) -> Visits:
        return Visits(
            self.reads + other.reads,
            self.writes + other.writes,
            self.returns + other.returns,
            max(self.copies, other.copies),
        )

    def times(self, factor: float) -> Visits:
        """Their number."""
        return Visits(self.reads * factor, self.writes * factor, self.returns * factor, self.copies)

    @property
    def total(self) -> float:
        """All visits."""
        return self.reads + self.writes + self.returns


def visits_for(layout: Layout | None, writes: bool, size: int, align: int | None = None) -> Visits:
    """Fewest visits for an I/O of `size` bytes at a random multiple of `align`, on average; a drive has no layout."""
    if layout is None:
        return Visits(writes=1.0) if writes else Visits(reads=1.0)
    step = align or size
    period = lcm(step, _period_bytes(layout)) // step
    last = max(0, (layout.capacity - size) // step)
    stride = -(-min(period, last + 1) // _MOST_PLACES)
    places = range(0, min(period, last + 1), stride)
    total = Visits()
    for place in places:
        total += _visits(layout, writes, place * step, size)
    return total.times(1.0 / len(places))


def _period_bytes(layout: Layout) -> int:
    """Bytes after which the borders between members repeat."""
    if isinstance(layout, NestedLayout):
        inner = _period_bytes(layout.groups[0])
        outer = getattr(layout.outer, "chunk_bytes", 0) or inner
        return lcm(inner, outer) * len(layout.groups)
    if isinstance(layout, ParityLayout):
        return layout.stripe_bytes
    return (layout.chunk_bytes or 1) * layout.members


def _visits(layout: Layout, writes: bool, offset: int, size: int) -> Visits:
    if isinstance(layout, NestedLayout):
        return _nested(layout, writes, offset, size)
    if isinstance(layout, ParityLayout):
        return _parity(layout, offset, size) if writes else Visits(reads=len(layout.extents(offset, size)))
    if isinstance(layout, MirroredLayout):
        return Visits(writes=layout.members) if writes else Visits(reads=1.0, copies=layout.members)
    pieces = layout.copies(offset, size)
    copies = layout.copies_per_chunk if isinstance(layout, Raid10Layout) else 1
    return Visits(writes=len(pieces) * copies) if writes else Visits(reads=len(pieces), copies=copies)


def _nested(layout: NestedLayout, writes: bool, offset: int, size: int) -> Visits:
    found = Visits()
    for _, length, places in layout.outer.copies(offset, size):
        chosen = places if writes else places[:1]
        for group, start in chosen:
            found += _visits(layout.groups[group], writes, start, length)
        if not writes:
            found = Visits(found.reads, found.writes, found.returns, max(found.copies, len(places)))
    return found


def _parity(layout: ParityLayout, offset: int, size: int) -> Visits:
    """Row by row; within one every page is written by the way that needs fewer commands, or needs no reading if all is
    new.
    """
    chunk, row_bytes, end = layout.chunk_bytes, layout.stripe_bytes, offset + size
    width, parities = layout.data_members, layout.parities
    found = Visits()
    while offset < end:
        row_end = min(end, (offset // row_bytes + 1) * row_bytes)
        touched = -(-row_end // chunk) - offset // chunk
        # Where the I/O begins and ends inside chunks, some pages of the row have one chunk less that is new.
        least, most = max(1, (row_end - offset) // chunk), touched
        read = min(min(new + parities, width - new) for new in (least, most))
        written = touched + parities
        returns = min(read, written) if least + parities < width - least else 0
        found += Visits(reads=read, writes=written - returns, returns=returns)
        offset = row_end
    return found
