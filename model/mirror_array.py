"""RAID 1 in time: n mirrors, a read-balance policy, and md's exclusion of resync and normal I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .array import Array, Join
from .engine import Engine
from .errors import ArrayFailed
from .host import Host
from .read_balance import ReadBalance
from .request import DIRECT, READ, RESYNC_STREAM, WAITED, WRITE, Device, Request
from .resync_barrier import WAITS, AlternatingBarrier, ResyncBarrier

PAGE = 4096
"""md clones a write page by page."""


class MirrorArray(Array):
    """RAID 1; as large as its smallest member.

    Parameters
    ----------
    balance
        Read-balance policy.
    resync_depth
        Resync requests under way at most.
    barrier
        How the kernel keeps resync and normal I/O apart.
    """

    __slots__ = ("_balance", "_barrier", "_readable")

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        balance: ReadBalance,
        host: Host | None = None,
        failed: Iterable[int] = (),
        resync_depth: int = 32,
        barrier: type[ResyncBarrier] = AlternatingBarrier,
    ) -> None:
        super().__init__(engine, name, members, min(member.capacity for member in members), host, failed)
        self._readable = [slot for slot in range(len(members)) if slot not in self.failed]
        if not self._readable:
            raise ArrayFailed(f"{name}: all {len(members)} mirrors have failed")
        self._balance = balance
        balance.use_clock(lambda: engine._now)
        self._barrier = barrier(engine, self._serve, self.unplug, resync_depth)

    @property
    def balance(self) -> ReadBalance:
        """The read-balance policy."""
        return self._balance

    def rebuilt(self, slot: int) -> None:
        """See :meth:`Array.rebuilt`."""
        super().rebuilt(slot)
        self._members_changed()
        if not self.rebuilding:
            self._barrier.finished()

    def _survives(self, failed: frozenset[int]) -> bool:
        return len(failed) < len(self._members)

    def _members_changed(self) -> None:
        self._readable = [s for s in range(len(self._members)) if s not in self.failed]

    def _serve(self, request: Request) -> None:
        (self._read if request.op == READ else self._write)(request)

    def _read(self, request: Request) -> None:
        barrier = self._barrier
        ticket = barrier.admit(request)
        if ticket == WAITS:
            return
        balance = self._balance
        parts = balance.divide(request, self._readable)
        self.member_reads += len(parts)
        self._charge(self.prices.clone_s * len(parts))

        def then() -> None:
            request.done(request)
            barrier.leave(ticket)

        join = Join(len(parts), then)

        def done(child: Request) -> None:
            balance.ended(child.parent, child.offset + child.size)
            join.done(child)

        for slot, offset, size in parts:
            balance.started(slot, request)
            self._submit[slot](Request(READ, offset, size, done, request.stream, request.sync, slot))

    def _write(self, request: Request) -> None:
        barrier = self._barrier
        ticket = barrier.admit(request)
        if ticket == WAITS:
            return
        slots = [s for s in range(len(self._members)) if s not in self.failed or s in self.rebuilding]

        def then() -> None:
            request.done(request)
            barrier.leave(ticket)

        join = Join(len(slots), then)
        balance = self._balance

        def done(child: Request) -> None:
            balance.ended(child.parent, child.offset + child.size)
            join.done(child)

        sync = WAITED if request.sync == DIRECT else request.sync
        self.member_writes += len(slots)
        self._charge(self.prices.clone_s * len(slots) * max(1, request.size // PAGE))
        for slot in slots:
            balance.started(slot, request)
            self._submit[slot](Request(WRITE, request.offset, request.size, done, request.stream, sync, slot))

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Copy [offset, offset + size) from a readable mirror to the ones being rebuilt."""
        self._copy(offset, size, lambda source: sorted(self.rebuilding), done)

    def synchronise(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Copy [offset, offset + size) from one mirror to all others, as after a crash."""
        self._copy(offset, size, lambda source: [slot for slot in self._readable if slot != source], done)

    def _copy(self, offset: int, size: int, targets: Callable[[int], list[int]], done: Callable[[], None]) -> None:
        def start() -> None:
            source = self._balance.rebuild_source(self._readable)

            def copied(_: Request) -> None:
                slots = targets(source)
                join = Join(len(slots), lambda: self._barrier.resynced(offset, done))
                for slot in slots:
                    self._submit[slot](Request(WRITE, offset, size, join.done, RESYNC_STREAM, False))
                self.unplug()

            self.submit_resync(source, Request(READ, offset, size, copied, RESYNC_STREAM, False))
            self.resync_submitted()

        self._barrier.resync(offset, start)

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read [offset, offset + size) from all readable mirrors and compare; they are equal, nothing is written."""
        balance = self._balance

        def start() -> None:
            slots = list(self._readable)
            first = balance.rebuild_source(slots)
            join = Join(len(slots), lambda: self._barrier.resynced(offset, done))

            def compared(child: Request) -> None:
                slot = child.parent
                balance.pending[slot] -= 1
                if slot == first:  # md moves the head of the one it would copy from
                    balance.head[slot] = offset + size
                join.done(child)

            for slot in slots:
                balance.pending[slot] += 1
            for slot in slots:
                self.submit_resync(slot, Request(READ, offset, size, compared, RESYNC_STREAM, False, slot))
            self.resync_submitted()

        self._barrier.resync(offset, start)

    @property
    def resync_bytes(self) -> int:
        """How much there is to copy (bytes per member)."""
        return self.capacity

    @property
    def check_bytes(self) -> int:
        """How much there is to check (bytes of the array)."""
        return self.capacity
