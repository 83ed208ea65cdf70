"""`zpool trim`: each member is told which of its ranges are free, one metaslab after the other.

A member remembers how far it is by the offset on the drive, which has 4 MiB more than the offset in the vdev. So what
is free within 4 MiB behind the last range of the metaslab before is taken for done, and is not trimmed, as recorded.
Source: OpenZFS 2.3 module/zfs/vdev_trim.c (vdev_trim_ranges, vdev_trim_range_add, zfs_trim_extent_bytes_*).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

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
from .settings import TrimSettings


def divided(piece: Piece, settings: TrimSettings) -> Iterator[Piece]:
    """The ranges that a free one is trimmed in; none if it is too small."""
    least, most = settings.extent_min // SECTOR_BYTES, settings.extent_max // SECTOR_BYTES
    behind = piece.sector + piece.sectors
    if piece.sectors >= least:
        for at in range(piece.sector, behind, most):
            yield Piece(piece.member, at, min(most, behind - at), piece.kind)


def trimmed_ranges(vdev: Vdev, fill: Fill, member: int, settings: TrimSettings = TrimSettings()) -> Iterator[Piece]:  # noqa: B008
    """What of a member is trimmed, in order."""
    size = 1 << metaslab_shift(fill.size)
    done = 0
    for start in range(0, fill.size // size * size, size):
        end = done
        for first, last in fill.free(start, start + size):
            for piece in vdev.trims(first, last):
                begin, behind = max(piece.sector, done), piece.sector + piece.sectors
                if piece.member != member:
                    continue
                ranges = list(divided(Piece(member, begin, behind - begin, piece.kind), settings))
                yield from ranges
                if ranges:
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
    settings
        Module parameters.
    """

    __slots__ = ("_issuer", "_left", "_settings")

    def __init__(
        self,
        engine: Engine,
        members: Members,
        fills: list[Fill],
        vdevs: list[int],
        done: float,
        issuer: i64,
        settings: TrimSettings,
    ) -> None:
        self._issuer = issuer
        self._settings = settings
        self._left: list[list[Piece]] = []
        total = before = 0
        pool = members.pool
        for vdev in vdevs:
            for leaf in takes_trims(members, vdev):
                number = leaf - pool.first[vdev]
                ranges = [
                    Piece(leaf, piece.sector, piece.sectors, piece.kind)
                    for piece in trimmed_ranges(pool.vdevs[vdev], fills[vdev], number, settings)
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
        over = [MemberTrim(self.members, ranges, self._settings, self._issuer, self._trimmed) for ranges in self._left]
        for each in over:
            each.fill()
        for each in over:
            if not each.over.fired:
                yield each.over
        self.finish()

    def _trimmed(self, size: int) -> None:
        self.done_bytes += size


def takes_trims(members: Members, vdev: int) -> list[int]:
    """The members of a vdev that are trimmed: those that have all data and take discards."""
    return [
        leaf
        for leaf in members.pool.leaves(vdev)
        if leaf not in members.lost and not members.queues[leaf].device.discard_limits.refusal
    ]


class MemberTrim:
    """Ranges of one member that are trimmed.

    Parameters
    ----------
    members
        Of the pool.
    ranges
        The ranges, in order.
    settings
        Module parameters.
    issuer
        Of the I/O.
    trimmed
        Called with the bytes of each range that is trimmed.

    Attributes
    ----------
    over
        Fires when all are trimmed.
    """

    __slots__ = ("_issuer", "_limit", "_members", "_next", "_ranges", "_trimmed", "_under_way", "over")

    def __init__(
        self,
        members: Members,
        ranges: list[Piece],
        settings: TrimSettings,
        issuer: i64,
        trimmed: Callable[[int], None],
    ) -> None:
        self._members = members
        self._ranges = ranges
        self._limit: i64 = settings.queue_limit
        self._issuer = issuer
        self._trimmed = trimmed
        self._next: i64 = 0
        self._under_way: i64 = 0
        self.over = Signal()

    def fill(self) -> None:
        """Have as many ranges under way as there may be."""
        while self._next < len(self._ranges) and self._under_way < self._limit:
            piece = self._ranges[self._next]
            self._next += 1
            self._under_way += 1
            done = _Range(self, piece.sectors * SECTOR_BYTES).done
            self._members.transfer(TRIM, [piece], TRIM_RANGE, self._issuer, done)

    def ended(self, size: int) -> None:
        """A range is trimmed."""
        self._trimmed(size)
        self._under_way -= 1
        self.fill()
        if not self._under_way:
            self.over.fire()


class _Range:
    """A range under way."""

    __slots__ = ("_member", "_size")

    def __init__(self, member: MemberTrim, size: int) -> None:
        self._member = member
        self._size = size

    def done(self) -> None:
        """It is trimmed."""
        self._member.ended(self._size)
