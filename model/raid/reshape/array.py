"""An array that is being reshaped: what lies before the position is in the new layout, the rest in the old one.

Two positions move through the array. Up to `progress` the new layout has been begun, and up to `safe` the superblocks
of all members say so. After a crash md goes on at `safe`; so it writes superblocks before it overwrites what lies
behind that in the old layout, and every ten seconds. Source: Linux 6.1 drivers/md/raid5.c and raid10.c,
reshape_request; drivers/md/md.c, md_do_sync.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from ...core.device import Device
from ...core.engine import Engine
from ...core.join import FORWARD, Parts
from ...core.request import WRITE, Request
from ...layouts import Layout
from ...tasks.host import Host
from ...waits.causes import BARRIER
from ..base.array import Array
from ..metadata.superblock import VERSION_1_2, MemberMetadata
from .backup import BackupFile
from .geometry import Geometry
from .member import ReshapedMember

CHECKPOINT_S = 10.0
"""Superblocks are written at least this often (reshape_checkpoint)."""


class ReshapingArray(Array):
    """Base of the levels that can be reshaped.

    Parameters
    ----------
    engine, name, host
        As of every array.
    members
        Those of the new layout, the old layout's first.
    geometry
        The two layouts, and where they are.
    position
        Up to where the array has been reshaped before the run (bytes of the array).

    Attributes
    ----------
    geometry
        See above.
    progress, safe
        See the module (bytes of the array).
    finished
        Whether all of it is in the new layout.
    backup
        The backup file; None: the data offset moves instead.
    checkpoints
        How often the superblocks of all members have been written.
    """

    __slots__ = (
        "_checkpoint_s",
        "_on_safe",
        "_per_byte",
        "_settled",
        "_supers",
        "_under_way",
        "backup",
        "checkpoints",
        "finished",
        "geometry",
        "progress",
        "safe",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        geometry: Geometry,
        host: Host | None = None,
        position: int = 0,
    ) -> None:
        views = [ReshapedMember(member, geometry.old_start, geometry.moved) for member in members]
        super().__init__(engine, name, views, min(geometry.old.capacity, geometry.new.capacity), host)
        self.geometry = geometry
        self.progress = self.safe = position
        self.finished = False
        self.backup: BackupFile | None = None
        self.checkpoints = 0
        self._checkpoint_s = engine.now
        self._on_safe: list[Callable[[], None]] = []
        # Ranges under way, and what to do when none is.
        self._under_way = 0
        self._settled: Callable[[], None] | None = None
        self._per_byte = 1
        self._supers = MemberMetadata(self, geometry.data_offset_sectors)

    @property
    @abstractmethod
    def old(self) -> Array:
        """What serves the part in the old layout; its addresses begin behind :attr:`Geometry.old_shift`."""

    @property
    @abstractmethod
    def new(self) -> Array:
        """What serves the part in the new layout."""

    @property
    def striping(self) -> Layout | None:
        """See :attr:`Array.striping`: programs see the new layout's chunks."""
        return self.new.striping

    # what programs ask for

    def _read(self, request: Request) -> None:
        self._route(request)

    def _write(self, request: Request) -> None:
        self._route(request)

    def _cuts(self, offset: int, end: int) -> list[int]:
        """Where a request from `offset` to `end` is cut, in order: at the positions."""
        places = {self.safe, self.progress}
        if self.backup is not None:
            places.add(self.backup.suspended)
        return [offset, *[at for at in sorted(places) if offset < at < end], end]

    @abstractmethod
    def _waits(self, request: Request) -> bool:
        """Whether a request that lies between the positions, or begins there, waits until they have moved on."""

    def _route(self, request: Request) -> None:
        offset, end = request.offset, request.offset + request.size
        cuts = [offset, end] if self.finished else self._cuts(offset, end)
        if len(cuts) == 2:
            self._pass_on(request)
            return
        parts = Parts(len(cuts) - 1, request)
        for start, stop in pairwise(cuts):
            self._pass_on(
                Request(request.op, start, stop - start, parts, request.issuer, request.sync, trail=request.trail)
            )

    def _pass_on(self, request: Request) -> None:
        """Serve a request that lies on one side, or have it wait."""
        if self.finished:
            self.new.submit(request)
        elif request.offset >= self.progress:
            if self.backup is not None and request.op == WRITE and request.offset < self.backup.suspended:
                self._on_safe.append(partial(self._again, request))
                return
            offset = request.offset + self.geometry.old_shift
            self.old.submit(
                Request(request.op, offset, request.size, FORWARD, request.issuer, request.sync, request, request.trail)
            )
        elif self._waits(request):
            self._on_safe.append(partial(self._again, request))
        else:
            self.new.submit(request)

    def _again(self, request: Request) -> None:
        request.mark(BARRIER, self._engine._now)
        self._route(request)

    def plug(self) -> None:
        """See :meth:`Array.plug`."""
        self.old.plug()
        self.new.plug()

    def unplug(self) -> None:
        """See :meth:`Array.unplug`."""
        self.old.unplug()
        self.new.unplug()

    @property
    def has_room(self) -> bool:
        """See :attr:`Array.has_room`."""
        return self.old.has_room and self.new.has_room

    def when_room(self, callback: Callable[[], None]) -> None:
        """See :meth:`Array.when_room`."""
        (self.new if self.old.has_room else self.old).when_room(callback)

    # the reshape

    @property
    def resync_bytes(self) -> int:
        """See :attr:`Array.resync_bytes`: what the reshape writes to each member."""
        return self.reshape_bytes

    @property
    def reshaped_bytes(self) -> int:
        """How much is begun or done, of the address space that a reshape counts in."""
        return self.progress // self._per_byte

    def reshape(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Bring one range into the new layout, when what it overwrites is safe."""
        begin = partial(self._begin, offset, size, done)
        backup, now = self.backup, self._engine._now
        if backup is not None and self.progress + size * self._per_byte > self._most(backup):
            again = partial(self.reshape, offset, size, done)
            if backup.is_over:
                self._settle(again)
                return
            backup.when_copied(again)
            if self.safe < self.progress:
                self._settle(_nothing)
        elif now <= self._checkpoint_s + CHECKPOINT_S and not self._overwrites() and not self._half_way():
            begin()
        else:
            self._settle(begin)

    def _most(self, backup: BackupFile) -> int:
        """Up to where md may go, as mdadm tells it (sync_max): what it writes over is in the file, or has moved."""
        return max(backup.covered, self._read_before(self.safe))

    def _read_before(self, position: int) -> int:
        """Up to where the reshape writes only over what it reads before a position."""
        return position

    def _half_way(self) -> bool:
        """Whether md has gone half of what it may since the last superblocks (curr_resync_completed, resync_max)."""
        if self.backup is None:
            return False
        return 2 * (self.progress - self.safe) >= self._most(self.backup) - self.safe > 0

    def _settle(self, then: Callable[[], None]) -> None:
        """Write superblocks when nothing is under way, and go on with `then`."""
        if self._under_way:
            self._settled = partial(self._checkpoint, then)
        else:
            self._checkpoint(then)

    @abstractmethod
    def _overwrites(self) -> bool:
        """Whether what comes next may be written over what md would read after a crash, and that can be helped."""

    @abstractmethod
    def _move(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read a range in the old layout and write it in the new one."""

    def _begin(self, offset: int, size: int, done: Callable[[], None]) -> None:
        self._under_way += 1
        self.progress += size * self._per_byte
        self._move(offset, size, partial(self._moved, done))

    def _moved(self, done: Callable[[], None]) -> None:
        self._under_way -= 1
        if self._under_way:
            done()
        elif self._settled is not None:
            settled, self._settled = self._settled, None
            done()
            settled()
        elif self.progress >= self.reshape_bytes * self._per_byte:
            self._checkpoint(partial(self._finish, done))
        else:
            done()

    def _checkpoint(self, then: Callable[[], None]) -> None:
        """Write to the superblocks of all members how far the reshape is, and go on with `then`."""
        self.checkpoints += 1
        self._checkpoint_s = self._engine._now
        self._supers.write_superblock(VERSION_1_2, partial(self._is_safe, self.progress, then))

    def _is_safe(self, position: int, then: Callable[[], None]) -> None:
        self.safe = position
        if self.backup is not None:
            self.backup.reached(position)
        then()
        waiting, self._on_safe = self._on_safe, []
        for again in waiting:
            again()

    def _finish(self, done: Callable[[], None]) -> None:
        """All is in the new layout: the array takes its size."""
        self.finished = True
        self.capacity = self.geometry.new.capacity
        done()


def _nothing() -> None:
    """What goes on while a window is copied."""
