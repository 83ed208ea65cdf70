"""`zpool trim`: each member is told which of its ranges are free, one metaslab after the other.

A member remembers how far it is by the offset on the drive, which has 4 MiB more than the offset in the vdev. So what
is free within 4 MiB behind the last range of the metaslab before is taken for done, and is not trimmed, as recorded.
Source: OpenZFS 2.3 module/zfs/vdev_trim.c (vdev_trim_ranges, vdev_trim_range_add, zfs_trim_extent_bytes_*).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, Final

from mypy_extensions import i64

from ...core.engine import Engine
from ...core.request import TRIM
from ...core.signal import Signal
from ..allocation.fill import Fill
from ..map.capacity import metaslab_shift
from ..map.labels import FRONT_SECTORS
from ..map.vdev import SECTOR_BYTES, Piece, Vdev
from ..pool.member_io import TRIM_RANGE
from ..pool.members import Members
from .progress import PoolScan

LEAST_SECTORS: Final = (32 << 10) // SECTOR_BYTES
MOST_SECTORS: Final = (128 << 20) // SECTOR_BYTES
"""Sizes of a range that is trimmed (zfs_trim_extent_bytes_min, zfs_trim_extent_bytes_max)."""
UNDER_WAY: Final = 10
"""Ranges that a member has under way (zfs_trim_queue_limit)."""


def trimmed_ranges(vdev: Vdev, fill: Fill, member: int) -> Iterator[Piece]:
    """What of a member is trimmed, in order."""
    size = 1 << metaslab_shift(fill.size)
    done = 0
    for start in range(0, fill.size // size * size, size):
        end = done
        for first, last in fill.free(start, start + size):
            for piece in vdev.trims(first, last):
                begin, behind = max(piece.sector, done), piece.sector + piece.sectors
                if piece.member != member or behind - begin < LEAST_SECTORS:
                    continue
                for at in range(begin, behind, MOST_SECTORS):
                    yield Piece(member, at, min(MOST_SECTORS, behind - at), piece.kind)
                end = behind + FRONT_SECTORS
        done = end


class Trim(PoolScan):
    """A trim of all members that take discards.

    Parameters
    ----------
    engine
        The clock.
    members
        Of the pool.
    fills
        What of each vdev is in use.
    vdevs
        Which vdevs are trimmed.
    done
        Share of each member that is done, 0 to 1.
    issuer
        Of its I/O.
    """

    __slots__ = ("_issuer", "_left")

    def __init__(
        self, engine: Engine, members: Members, fills: list[Fill], vdevs: list[int], done: float, issuer: i64
    ) -> None:
        self._issuer = issuer
        self._left: list[list[Piece]] = []
        total = before = 0
        pool = members.pool
        for vdev in vdevs:
            for leaf in pool.leaves(vdev):
                if leaf in members.lost or members.queues[leaf].device.discard_limits.refusal:
                    continue
                number = leaf - pool.first[vdev]
                ranges = [
                    Piece(leaf, piece.sector, piece.sectors, piece.kind)
                    for piece in trimmed_ranges(pool.vdevs[vdev], fills[vdev], number)
                ]
                first = int(done * len(ranges))
                total += sum([piece.sectors for piece in ranges]) * SECTOR_BYTES
                before += sum([piece.sectors for piece in ranges[:first]]) * SECTOR_BYTES
                if ranges[first:]:
                    self._left.append(ranges[first:])
        super().__init__(engine, members, vdevs, "trim", total, before)
        self.member_bytes = total // max(1, len(self._left))

    def run(self) -> Generator[Any, Any, None]:
        """Trim all members at the same time."""
        over = [_Member(self, ranges) for ranges in self._left]
        for each in over:
            each.fill()
        for each in over:
            if not each.over.fired:
                yield each.over
        self.finish()

    def trim(self, member: _Member, piece: Piece) -> None:
        """Trim a range."""
        self.members.transfer(TRIM, [piece], TRIM_RANGE, self._issuer, _Range(self, member, piece.sectors).done)


class _Member:
    """The ranges of one member that are left.

    Attributes
    ----------
    over
        Fires when all are trimmed.
    """

    __slots__ = ("_next", "_ranges", "_trim", "_under_way", "over")

    def __init__(self, trim: Trim, ranges: list[Piece]) -> None:
        self._trim = trim
        self._ranges = ranges
        self._next: i64 = 0
        self._under_way: i64 = 0
        self.over = Signal()

    def fill(self) -> None:
        """Have as many ranges under way as there may be."""
        while self._next < len(self._ranges) and self._under_way < UNDER_WAY:
            self._next += 1
            self._under_way += 1
            self._trim.trim(self, self._ranges[self._next - 1])

    def ended(self) -> None:
        """A range is trimmed."""
        self._under_way -= 1
        self.fill()
        if not self._under_way:
            self.over.fire()


class _Range:
    """A range under way."""

    __slots__ = ("_member", "_sectors", "_trim")

    def __init__(self, trim: Trim, member: _Member, sectors: i64) -> None:
        self._trim = trim
        self._member = member
        self._sectors = sectors

    def done(self) -> None:
        """It is trimmed."""
        self._trim.done_bytes += self._sectors * SECTOR_BYTES
        self._member.ended()
