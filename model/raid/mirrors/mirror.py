"""RAID 1 in time: n mirrors, a read-balance policy, and md's exclusion of resync and normal I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mypy_extensions import mypyc_attr

from ...core.device import Device
from ...core.discard_limits import DiscardLimits
from ...core.engine import Engine
from ...core.errors import ArrayFailed
from ...core.join import Join, Parts
from ...core.request import ASYNC, DIRECT, READ, RESYNC_ISSUER, TRIM, WAITED, WRITE, Completion, Request
from ...tasks.host import Host
from ..metadata.bitmap import WriteIntentBitmap
from ..metadata.bitmap_waits import BitmapWaits, MirrorWaits, mirror_waits
from ..read_balance import ReadBalance
from .barrier import WAITS, AlternatingBarrier, BucketBarrier, ResyncBarrier
from .daemon import ServedMirrors


@mypyc_attr(free_list_len=1)
class _Parts(Completion):
    """The member requests of a logical one."""

    __slots__ = ("_balance", "_barrier", "_left", "_request", "_ticket")

    def __init__(self, request: Request, parts: int, ticket: int, barrier: ResyncBarrier, balance: ReadBalance) -> None:
        self._request = request
        self._left = parts
        self._ticket = ticket
        self._barrier = barrier
        self._balance = balance

    def done(self, request: Request) -> None:
        self._balance.ended(request.parent, request.offset + request.size)
        self._left -= 1
        if not self._left:
            if request.trail is not None:
                self._request.trail = request.trail
            self._request.complete()
            self._barrier.leave(self._ticket)


def part_done(request: Request, parts: int, ticket: int, barrier: ResyncBarrier, balance: ReadBalance) -> Completion:
    """What each of the `parts` member requests of `request` tells when it is complete.

    A member request has its slot as `parent`. After the last one `request` is complete, and leaves the barrier.
    """
    return _Parts(request, parts, ticket, barrier, balance)


PAGE = 4096
"""What one clone covers where a write is cloned page by page."""


class MirrorArray(ServedMirrors):
    """RAID 1; as large as its smallest member.

    Parameters
    ----------
    balance
        Read-balance policy.
    resync_depth
        Resync requests under way at most.
    barrier
        How the kernel keeps resync and normal I/O apart.
    clones_pages
        Whether the copy of a write for a mirror costs :attr:`~raidsim.model.tasks.host.Prices.clone_s` for each of its
        pages (Linux 2.4 and 2.6) or once, because it shares the pages of the write (6.1: bio_alloc_clone).
    submitter_pays
        If true, the CPU cost of duplicating a write is charged to the process that submits write-back
        (raid1_make_request runs where the write is submitted); otherwise to the kernel.

    Attributes
    ----------
    submission_s_per_page
        CPU time that a page written back costs its submitter here.
    """

    __slots__ = ("_balance", "_barrier", "_clones_pages", "_readable", "submission_s_per_page")

    submission_s_per_page: float

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
        clones_pages: bool = True,
        submitter_pays: bool = False,
    ) -> None:
        super().__init__(engine, name, members, min(member.capacity for member in members), host, failed)
        self._clones_pages = clones_pages
        paid = submitter_pays and clones_pages
        self.submission_s_per_page = self.prices.clone_s * len(members) if paid else 0.0
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

    def bitmap_waits(self, bitmap: WriteIntentBitmap, who: MirrorWaits) -> BitmapWaits:
        """What waits for a new bit of its write-intent bitmap: `who`, which differs between kernels."""
        return mirror_waits(self._engine, self.host, self, bitmap, who)

    def survives(self, failed: frozenset[int]) -> bool:
        return len(failed) < len(self._members)

    def _members_changed(self) -> None:
        self._readable = [s for s in range(len(self._members)) if s not in self.failed]

    def _serve(self, request: Request) -> None:
        if request.op == TRIM:
            self._discard_unit(request)
        else:
            (self._read if request.op == READ else self._write)(request)

    def _read(self, request: Request) -> None:
        barrier = self._barrier
        ticket = barrier.admit(request)
        if ticket == WAITS:
            return
        balance = self._balance
        parts = balance.divide(request, self._readable)
        self.member_reads += len(parts)
        self._charge(self.prices.clone_s * len(parts), request.issuer)
        done = part_done(request, len(parts), ticket, barrier, balance)

        for slot, offset, size in parts:
            balance.started(slot, request)
            part = Request(READ, offset, size, done, request.issuer, request.sync, slot, request.trail)
            self._members[slot].submit(part)

    def _write(self, request: Request) -> None:
        barrier = self._barrier
        ticket = barrier.admit(request)
        if ticket == WAITS:
            return
        slots = [s for s in range(len(self._members)) if s not in self.failed or s in self.rebuilding]
        balance = self._balance
        done = part_done(request, len(slots), ticket, barrier, balance)

        sync = WAITED if request.sync == DIRECT else request.sync
        self.member_writes += len(slots)
        clones: int = max(1, request.size // PAGE) if self._clones_pages else 1
        if request.sync == DIRECT or not self.submission_s_per_page:
            self._charge(self.prices.clone_s * len(slots) * clones, request.issuer)
        for slot in slots:
            balance.started(slot, request)
            copy = Request(WRITE, request.offset, request.size, done, request.issuer, sync, slot, request.trail)
            self._members[slot].submit(copy)

    @property
    def discard_limits(self) -> DiscardLimits:
        """What its mirrors take of discards."""
        return self._members_limits()

    def _discard(self, request: Request) -> None:
        """Pass a discard to every mirror, in the units that resync is kept out of (align_to_barrier_unit_end)."""
        unit, end = BucketBarrier.BUCKET, request.offset + request.size
        starts = [request.offset, *range((request.offset // unit + 1) * unit, end, unit)]
        over = Parts(len(starts), request)
        for start, stop in zip(starts, [*starts[1:], end], strict=True):
            self._discard_unit(Request(TRIM, start, stop - start, over, request.issuer, ASYNC))

    def _discard_unit(self, request: Request) -> None:
        mirrors = [(slot, request.offset, request.size) for slot in range(len(self._members))]
        self._barrier.guard(request, lambda over: self._discard_on(mirrors, request.issuer, over))

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Copy [offset, offset + size) from a readable mirror to the ones being rebuilt."""
        self._copy(offset, size, lambda source: sorted(self.rebuilding), done)

    def synchronise(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Copy [offset, offset + size) from one mirror to all others, as after a crash."""
        self._copy(offset, size, lambda source: [slot for slot in self._readable if slot != source], done)

    def _copy(self, offset: int, size: int, targets: Callable[[int], list[int]], done: Callable[[], None]) -> None:
        def submit() -> None:
            source = self._balance.rebuild_source(self._readable)

            def copied(_: Request) -> None:
                self.daemon.add(lambda: self._write_copies(targets(source), offset, size, done))

            self.submit_resync(source, Request(READ, offset, size, copied, RESYNC_ISSUER, False))
            self.resync_submitted()

        self._barrier.resync(offset, lambda: self.prepare_resync(-(-size // PAGE), submit))

    def _write_copies(self, slots: Sequence[int], offset: int, size: int, done: Callable[[], None]) -> None:
        """Write what a resync has read; md's thread does that."""
        join = Join(len(slots), lambda: self._barrier.resynced(offset, done))
        for slot in slots:
            self.write_resynced(slot, Request(WRITE, offset, size, join, RESYNC_ISSUER, False))

    def check(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Read [offset, offset + size) from all readable mirrors and compare; if they differ, write the others.

        md writes what it has read from the first one (raid1.c, process_checks). It allocates pages for all mirrors and
        as many replacements, whether there are any (r1buf_pool_alloc).
        """
        balance, differs = self._balance, self.mismatches.next()

        def submit() -> None:
            slots = list(self._readable)
            first = balance.rebuild_source(slots)
            compare_s = (len(slots) - 1) * size * self.prices.compare_s_per_byte

            def compared() -> None:
                for slot in slots:
                    balance.pending[slot] -= 1
                if differs and len(slots) > 1:
                    self._write_copies([slot for slot in slots if slot != first], offset, size, done)
                else:
                    self._barrier.resynced(offset, done)

            join = Join(len(slots), lambda: self.daemon.add(compared, compare_s))

            def read(child: Request) -> None:
                balance.head[first] = offset + size  # md moves the head of the one it would copy from
                join.done(child)

            for slot in slots:
                balance.pending[slot] += 1
            for slot in slots:
                self.submit_resync(slot, Request(READ, offset, size, read, RESYNC_ISSUER, False))
            self.resync_submitted()

        pages = 2 * len(self._members) * -(-size // PAGE)
        self._barrier.resync(offset, lambda: self.prepare_resync(pages, submit))

    @property
    def resync_bytes(self) -> int:
        """How much there is to copy (bytes per member)."""
        return self.capacity

    @property
    def check_bytes(self) -> int:
        """How much there is to check (bytes of the array)."""
        return self.capacity
