"""RAID 1 in time: n mirrors, a read-balance policy, and md's exclusion of resync and normal I/O.

Linux 2.6 md lets resync and normal I/O alternate (raid1.c, the barrier): a resync request keeps new normal
I/O out and waits until what is under way is done; while normal I/O waits, no further resync request starts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from .array import Array, Join
from .engine import Engine
from .errors import ArrayFailed, ModelError
from .host import Host
from .read_balance import ReadBalance
from .request import READ, RESYNC_STREAM, WRITE, Device, Request

PAGE = 4096
"""md clones a write page by page."""


class MirrorArray(Array):
    """RAID 1.

    Parameters
    ----------
    balance
        Read-balance policy.
    resync_depth
        Resync requests under way at most.
    """

    __slots__ = (
        "_balance",
        "_barrier",
        "_draining",
        "_normal",
        "_readable",
        "_resync_waiting",
        "_waiting",
        "resync_depth",
    )

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        balance: ReadBalance,
        host: Host | None = None,
        failed: Iterable[int] = (),
        resync_depth: int = 32,
    ) -> None:
        sizes = {member.capacity for member in members}
        if len(sizes) != 1:
            raise ModelError(f"{name}: mirrors of different size {sorted(sizes)}")
        super().__init__(engine, name, members, members[0].capacity, host, failed)
        self._readable = [slot for slot in range(len(members)) if slot not in self.failed]
        if not self._readable:
            raise ArrayFailed(f"{name}: all {len(members)} mirrors have failed")
        self._balance = balance
        self.resync_depth = resync_depth
        self._normal = 0
        self._barrier = 0
        self._draining: Callable[[], None] | None = None
        self._waiting: deque[Request] = deque()
        self._resync_waiting: deque[Callable[[], None]] = deque()

    def rebuilt(self, slot: int) -> None:
        """See :meth:`Array.rebuilt`."""
        super().rebuilt(slot)
        self._readable = [s for s in range(len(self._members)) if s not in self.failed]

    def _read(self, request: Request) -> None:
        if self._barrier:
            self._waiting.append(request)
            return
        self._normal += 1
        slot = self._balance.choose(request, self._readable)
        self._balance.started(slot, request)
        self.member_reads += 1
        self._charge(self.prices.clone_s)

        def done(child: Request) -> None:
            self._balance.ended(slot, child.offset + child.size)
            request.done(request)
            self._leave()

        self._submit[slot](Request(READ, request.offset, request.size, done, request.stream, request.sync))

    def _write(self, request: Request) -> None:
        if self._barrier:
            self._waiting.append(request)
            return
        self._normal += 1
        slots = [s for s in range(len(self._members)) if s not in self.failed or s in self.rebuilding]

        def then() -> None:
            request.done(request)
            self._leave()

        join = Join(len(slots), then)
        balance = self._balance

        def done(child: Request) -> None:
            balance.ended(child.parent, child.offset + child.size)
            join.done(child)

        self.member_writes += len(slots)
        self._charge(self.prices.clone_s * len(slots) * max(1, request.size // PAGE))
        for slot in slots:
            balance.started(slot, request)
            self._submit[slot](Request(WRITE, request.offset, request.size, done, request.stream, request.sync, slot))

    def _leave(self) -> None:
        self._normal -= 1
        if not self._normal and self._draining is not None:
            start, self._draining = self._draining, None
            start()
            self._raise_barrier()

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Copy [offset, offset + size) from a readable mirror to the ones being rebuilt."""

        def start() -> None:
            source = self._balance.last if self._balance.last in self._readable else self._readable[0]
            self._submit[source](Request(READ, offset, size, copied, RESYNC_STREAM, False))
            self.unplug()

        def copied(_: Request) -> None:
            targets = sorted(self.rebuilding)
            join = Join(len(targets), over)
            for slot in targets:
                self._submit[slot](Request(WRITE, offset, size, join.done, RESYNC_STREAM, False))
            self.unplug()

        def over() -> None:
            self._barrier -= 1
            done()
            if not self._barrier:
                waiting, self._waiting = self._waiting, deque()
                for request in waiting:
                    (self._read if request.op == READ else self._write)(request)
                if waiting:
                    self.unplug()
            self._raise_barrier()

        self._resync_waiting.append(start)
        self._raise_barrier()

    def _raise_barrier(self) -> None:
        """Let waiting resync requests go, as long as no normal I/O waits and the window is not full."""
        while (
            self._resync_waiting and self._draining is None and not self._waiting and self._barrier < self.resync_depth
        ):
            self._barrier += 1
            start = self._resync_waiting.popleft()
            if self._barrier == 1 and self._normal:
                self._draining = start
                self.unplug()
            else:
                start()

    @property
    def resync_bytes(self) -> int:
        """How much there is to copy (bytes per member)."""
        return self.capacity
