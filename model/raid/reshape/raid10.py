"""RAID 10 that is being reshaped: 64 KiB at a time, read from one copy and written to all new ones.

The resync thread reads, and md's own thread writes what has come. Between a range that is being moved and other I/O
stands the barrier of a resync. A write where the superblocks do not say yet that the data have moved waits until they
do. What lies beyond the old data is not written. Neutral: a request across the position is cut there, where md lets it
wait until the position has passed. Source: Linux 6.1 drivers/md/raid10.c, reshape_request, reshape_request_write,
first_dev_address, last_dev_address, regular_request_wait and raid10_write_request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.device import Device
from ...core.engine import Engine
from ...core.errors import ModelError
from ...core.join import Join
from ...core.request import READ, RESYNC_ISSUER, WRITE, Call, Request
from ...layouts.raid10 import Raid10Layout
from ...tasks.host import Host
from ..mirrors.barrier import WAITS, ResyncBarrier
from ..mirrors.daemon import MirrorDaemon
from ..mirrors.raid10 import RESYNC_PAGES, Raid10Array
from .array import ReshapingArray
from .geometry import Geometry

BLOCK_BYTES = 65536
"""What is moved at a time (RESYNC_BLOCK_SIZE), at most a chunk."""

Make = Callable[[Sequence[Device], Raid10Layout], Raid10Array]
"""Makes an array of a layout over members."""


class ReshapingRaid10Array(ReshapingArray):
    """RAID 10.

    Parameters
    ----------
    make
        Makes the array in each of its layouts.
    barrier, resync_depth
        As of :class:`Raid10Array`.
    """

    __slots__ = ("_barrier", "_daemon", "_new", "_old")

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        geometry: Geometry,
        make: Make,
        barrier: type[ResyncBarrier],
        resync_depth: int,
        host: Host | None = None,
        position: int = 0,
    ) -> None:
        new, shifted = geometry.new, geometry.shifted
        if not (isinstance(new, Raid10Layout) and isinstance(shifted, Raid10Layout)):
            raise ModelError(f"{name}: {new!r} is no RAID 10")
        super().__init__(engine, name, members, geometry, host, position - position % BLOCK_BYTES)
        self._new = make(self._members, new)
        self._old = make(self._members[: shifted.members], shifted)
        self._barrier = barrier(engine, self._serve, self.unplug, resync_depth)
        self._daemon: MirrorDaemon | None = None

    @property
    def old(self) -> Raid10Array:
        """See :attr:`ReshapingArray.old`."""
        return self._old

    @property
    def new(self) -> Raid10Array:
        """See :attr:`ReshapingArray.new`."""
        return self._new

    # what programs ask for

    def _read(self, request: Request) -> None:
        self._serve(request)

    def _write(self, request: Request) -> None:
        self._serve(request)

    def _serve(self, request: Request) -> None:
        if self.finished:
            self._route(request)
            return
        ticket = self._barrier.admit(request)
        if ticket == WAITS:
            return

        def over(inner: Request) -> None:
            request.trail = inner.trail
            request.complete()
            self._barrier.leave(ticket)

        self._route(
            Request(
                request.op, request.offset, request.size, Call(over), request.issuer, request.sync, trail=request.trail
            )
        )

    def _waits(self, request: Request) -> bool:
        if request.op != WRITE or request.offset < self.safe:
            return False
        if not self._on_safe:
            self._checkpoint(lambda: None)
        return True

    # the reshape

    @property
    def reshape_bytes(self) -> int:
        """See :attr:`Array.reshape_bytes`: bytes of the array."""
        return min(self.geometry.old.capacity, self.geometry.new.capacity)

    @property
    def resync_bytes(self) -> int:
        """See :attr:`Array.resync_bytes`: as many rows of the members as the old data fill."""
        return _device_end(self.reshape_bytes - 1, self._new.layout)

    def _overwrites(self) -> bool:
        """See :meth:`ReshapingArray._overwrites`."""
        return _device_end(self.progress, self._new.layout) > (
            _device_start(self.safe, self._old.layout) + self.geometry.moved
        )

    def _move(self, offset: int, size: int, done: Callable[[], None]) -> None:
        def start() -> None:
            old, new = self._old, self._new
            ((_, _, places),) = old.layout.copies(self.geometry.old_shift + offset, size)
            slots, starts = [slot for slot, _ in places], [at for _, at in places]
            read = Request(READ, self.geometry.old_shift + offset, size, Call(has_read), RESYNC_ISSUER, False)
            slot = old.balance.choose(read, slots, starts)
            old.balance.pending[slot] += 1
            read.parent, read.offset = slot, starts[slots.index(slot)]
            ((_, _, copies),) = new.layout.copies(offset, size)
            written.extend(copies)
            self.submit_resync(slot, read)
            self.resync_submitted()

        def has_read(read: Request) -> None:
            self._old.balance.ended(read.parent, read.offset + read.size)
            self.daemon.add(write)

        def write() -> None:
            join = Join(len(written), over)
            self._count(written, 1)
            for slot, at in written:
                request = Request(WRITE, at, size, join, RESYNC_ISSUER, False)
                self.count_resync(slot, request)
                self.daemon.write(slot, request)

        def over() -> None:
            self._count(written, -1)
            self._barrier.resynced(offset, done)

        written: list[tuple[int, int]] = []
        self.prepare_resync(RESYNC_PAGES, lambda: self._barrier.resync(offset, start))

    def _count(self, written: Sequence[tuple[int, int]], more: int) -> None:
        """Count writes as under way at members, as the choice among copies sees it (nr_pending)."""
        for balance in (self._old.balance, self._new.balance):
            for slot, _ in written:
                if slot < len(balance.pending):
                    balance.pending[slot] += more

    def _finish(self, done: Callable[[], None]) -> None:
        """What comes now does not ask about positions, and what lies beyond the old data can be resynced."""
        self._new.resync_thread = self.resync_thread
        super()._finish(done)

    @property
    def check_bytes(self) -> int:
        """See :attr:`Array.check_bytes`."""
        return self._new.check_bytes

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """See :meth:`Array.check`; md does so with what the array has grown by (MD_RECOVERY_SYNC)."""
        self._new.check(offset, size, done)

    @property
    def daemon(self) -> MirrorDaemon:
        """md's thread, which sleeps on its own where the resync thread does."""
        if self._daemon is None:
            self._daemon = MirrorDaemon(self._engine, self._members, self.host, self.resync_thread is not None)
        return self._daemon


def _device_start(offset: int, layout: Raid10Layout) -> int:
    """The first byte of a member where data from `offset` on may lie."""
    return _rows(offset // layout.chunk_bytes, layout, up=False)


def _device_end(offset: int, layout: Raid10Layout) -> int:
    """The first byte of a member behind which no data of the chunk at `offset` lie."""
    return _rows(offset // layout.chunk_bytes + 1, layout, up=True)


def _rows(chunk: int, layout: Raid10Layout, up: bool) -> int:
    near, offsets = (1, layout.copies_per_chunk) if layout.algorithm == "offset" else (layout.copies_per_chunk, 1)
    slots = chunk * near
    rows = -(-slots // layout.members) if up else slots // layout.members
    return rows * offsets * layout.chunk_bytes
