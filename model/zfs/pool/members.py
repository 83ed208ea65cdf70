"""The members of a pool with their queues: blocks go in, requests of members come out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mypy_extensions import i64

from ...core.device import Device, flush_all
from ...core.engine import Engine
from ...core.errors import ModelError
from ...core.join import Join
from ...core.request import READ, WRITE
from ..allocation.allocator import Place
from ..map.labels import FRONT_BYTES, uberblocks
from ..map.mirror import Mirror, side_load
from ..map.pool import PoolMap
from ..map.vdev import PADDING, SECTOR_BYTES, Piece
from .dirty_data import DirtyData
from .leaf_queue import LeafQueue
from .member_io import SYNC_WRITE, MemberIo
from .settings import QueueSettings


class Members:
    """All members of a pool, in the order of its map.

    Parameters
    ----------
    engine
        The clock.
    pool
        The map.
    devices
        The members.
    rotating
        Whether each is a hard disk.
    settings
        Module parameters of the queues.
    dirty
        The pool's dirty data.
    lost
        Members that do not have all data.
    rebuilding
        Those of them that take writes: a new device is in their place.

    Attributes
    ----------
    lost, rebuilding
        The same.
    queues
        The queue of each member.
    pool
        The map.
    """

    __slots__ = ("_absent", "lost", "pool", "queues", "rebuilding")

    def __init__(
        self,
        engine: Engine,
        pool: PoolMap,
        devices: Sequence[Device],
        rotating: Sequence[bool],
        settings: QueueSettings,
        dirty: DirtyData,
        lost: frozenset[int] = frozenset(),
        rebuilding: frozenset[int] = frozenset(),
    ) -> None:
        if len(devices) != pool.members:
            raise ModelError(f"{len(devices)} members, of which the pool has {pool.members}")
        self.pool = pool
        self.queues = [
            LeafQueue(engine, device, settings, dirty, turns) for device, turns in zip(devices, rotating, strict=True)
        ]
        self.lost = lost
        self.rebuilding = rebuilding
        self._absent = lost - rebuilding

    def rebuilt(self) -> None:
        """The members that were being rebuilt have all data."""
        self.lost = self._absent
        self.rebuilding = frozenset()

    def read(self, place: Place, priority: i64, issuer: i64, done: Callable[[], None]) -> list[MemberIo]:
        """Read a block and call back; returns its I/Os."""
        vdev, first = self.pool.vdevs[place.vdev], self.pool.first[place.vdev]
        lost = self.lost
        if isinstance(vdev, Mirror):
            side = 0
            sector = place.offset // SECTOR_BYTES
            if vdev.members > 1:
                gone = frozenset([member - first for member in lost]) if lost else lost
                side = vdev.side(place.offset, gone, self._loads(first, vdev.members, place.offset))
            size = vdev.units(place.psize) * vdev.unit_bytes
            return [self._submit(READ, first + side, sector, size, Join(1, done), priority, issuer)]
        pieces = self.pool.reads(place.vdev, place.offset, place.psize, lost)
        return self.transfer(READ, pieces, priority, issuer, done)

    def lost_data(self, place: Place) -> int:
        """How many columns of a block have to be computed from the others."""
        if not self.lost or isinstance(self.pool.vdevs[place.vdev], Mirror):
            return 0
        pieces = self.pool.reads(place.vdev, place.offset, place.psize)
        return sum(piece.member in self.lost for piece in pieces)

    def transfer(
        self, op: i64, pieces: Sequence[Piece], priority: i64, issuer: i64, done: Callable[[], None]
    ) -> list[MemberIo]:
        """Read, write or trim ranges of members and call back; returns the I/Os."""
        join = Join(len(pieces), done)
        ios = []
        for piece in pieces:
            size = piece.sectors * SECTOR_BYTES
            ios.append(self._submit(op, piece.member, piece.sector, size, join, priority, issuer))
        return ios

    def hurry(self, io: MemberIo) -> None:
        """Somebody waits for a read that prefetch has asked for."""
        self.queues[io.member].hurry(io)

    def write(self, place: Place, priority: i64, issuer: i64, done: Callable[[], None]) -> None:
        """Write a block and call back."""
        pieces = sorted(self.pool.writes(place.vdev, place.offset, place.psize, self._absent))
        runs: list[tuple[int, int, int, bool]] = []
        for member, sector, sectors, kind in pieces:
            optional = kind == PADDING
            if runs:
                last, start, length, was_optional = runs[-1]
                if last == member and start + length == sector and not was_optional:
                    runs[-1] = member, start, length + sectors, False
                    continue
            runs.append((member, sector, sectors, optional))
        join = Join(len(runs), done)
        for member, sector, sectors, optional in runs:
            self._submit(WRITE, member, sector, sectors * SECTOR_BYTES, join, priority, issuer, optional)

    def write_uberblocks(self, txg: int, issuer: i64, done: Callable[[], None]) -> None:
        """Write the uberblocks of a transaction group to the labels of all members."""
        ashift = self.pool.vdevs[0].ashift
        ios: list[tuple[int, int, int]] = []
        for member in self._present():
            for sector, sectors in uberblocks(txg, self.queues[member].device.capacity, ashift):
                ios.append((member, sector, sectors))
        join = Join(len(ios), done)
        for member, sector, sectors in ios:
            self._submit(WRITE, member, sector, sectors * SECTOR_BYTES, join, SYNC_WRITE, issuer)

    def flush(self, vdevs: Iterable[int], done: Callable[[], None]) -> None:
        """Flush the caches of the members of some vdevs."""
        numbers = [member for vdev in vdevs for member in self.pool.leaves(vdev) if member not in self._absent]
        flush_all([self.queues[member].device for member in numbers], done)

    def _present(self) -> list[int]:
        return [member for member in range(self.pool.members) if member not in self._absent]

    def _loads(self, first: int, sides: int, offset: int) -> list[int]:
        sector = offset // SECTOR_BYTES
        loads = []
        for number in range(first, first + sides):
            queue = self.queues[number]
            last = (queue.last_end - FRONT_BYTES) // SECTOR_BYTES
            loads.append(side_load(queue.active, last, sector, queue.rotating))
        return loads

    def _submit(
        self,
        op: i64,
        member: i64,
        sector: i64,
        size: i64,
        join: Join,
        priority: i64,
        issuer: i64,
        optional: bool = False,
    ) -> MemberIo:
        offset = sector * SECTOR_BYTES + FRONT_BYTES
        io = MemberIo(op, offset, size, join, priority, issuer, member, optional)
        self.queues[member].submit(io)
        return io
