"""What every I/O scheduler shares: queued requests and their merging by adjacent address.

Linux merges a block I/O into a queued request of the same direction that ends where it starts (back
merge) or starts where it ends (front merge), up to the device's request size (ll_rw_blk.c, elevator.c). A discard
counts as a write, but merges only with discards, up to the size that the device takes of those (its number is odd, so
that rq_data_dir says write: include/linux/blk_types.h; block/blk-merge.c, blk_try_merge, blk_rq_get_max_sectors).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from mypy_extensions import i64, mypyc_attr

from ..core.request import CRYPT_THREADS, PARITY_THREADS, TRIM, WRITE, Call, Completion, Request
from ..waits.trail import followed
from .settings import QueueFacts, SchedulerSettings


@mypyc_attr(free_list_len=1)
class QueuedRequest(Request):
    """A request as the driver sees it: one or more adjacent block I/Os.

    Attributes
    ----------
    made
        When it was made (s).
    arrived
        When its scheduler got it (s), which may be later: it may have been plugged.
    first
        The I/O it was made of.
    number
        Of the requests of its scheduler, in the order in which they came.
    position
        Where it stands in its scheduler's order of addresses (bytes): where it began when it came.
    passes
        How often it may still be passed (:mod:`.elevator`).
    older, younger
        Those before and after it in an order of arrival (:mod:`.address_order`).
    """

    __slots__ = ("_merged", "arrived", "first", "made", "number", "older", "passes", "position", "younger")

    number: i64
    position: i64
    passes: i64

    def __init__(self, first: Request, now: float, done: Completion | Callable[[Request], Any]) -> None:
        # As Request does it, without the call: this runs for every I/O.
        self.op = first.op
        self.offset = self.position = first.offset
        self.size = first.size
        self.completion = done if isinstance(done, Completion) else Call(done)
        self.issuer = first.issuer
        self.sync = first.sync
        self.parent = None
        self.submitted = 0.0
        self.trail = first.trail
        self.first = first
        self._merged: list[Request] | None = None
        self.arrived = self.made = now
        self.number = self.passes = 0
        self.older: QueuedRequest | None = None
        self.younger: QueuedRequest | None = None

    @property
    def parts(self) -> list[Request]:
        """The block I/Os it consists of, in the order in which they came."""
        return [self.first, *(self._merged or ())]

    def append(self, request: Request) -> None:
        """One more block I/O is part of it."""
        if self.trail is None:
            self.trail = request.trail
        if self._merged is None:
            self._merged = [request]
        else:
            self._merged.append(request)

    def absorb(self, other: QueuedRequest) -> None:
        """All block I/Os of another one are part of it."""
        self.append(other.first)
        if other._merged is not None:
            for request in other._merged:
                self.append(request)

    def complete_parts(self) -> None:
        """Tell that each block I/O is complete."""
        first, merged, trail = self.first, self._merged, self.trail
        if trail is not None and first.trail is not None:
            first.trail = followed(first.trail, trail)
        first.completion.done(first)
        if merged is not None:
            for request in merged:
                if trail is not None and request.trail is not None:
                    request.trail = followed(request.trail, trail)
                request.completion.done(request)


class Scheduler:
    """Orders the requests of one block queue.

    A scheduler overrides :meth:`_insert` and :meth:`next` and has a name. A module of this package that defines one is
    all that it takes; one that is made from more than the largest request overrides :meth:`made` too.

    Parameters
    ----------
    max_bytes
        Largest request that merging may build (bytes).

    Attributes
    ----------
    name
        By which kernels and scenarios ask for it; a class without one of its own is no scheduler to choose.
    listed
        If true, only a kernel whose description names it has it; otherwise every kernel does. Not inherited.
    throttled
        If false, a queue with it has write-back throttling only where that is asked for.
    limits_all_writes
        If true, writes may take the kernel's `write_share` of a queue's requests, those that are waited for included;
        if false, :attr:`async_share` of them, and only those that nobody waits for are counted.
    async_share
        See there.
    discard_bytes
        Largest discard that merging may build (bytes); set by the queue.
    most_of_pages
        Largest request that merging may build of what md's threads of RAID 4, 5 and 6 submit (bytes); set by the queue.
    reads, writes
        How many requests wait: reads, and writes with discards.
    """

    __slots__ = (
        "_by_end",
        "_by_start",
        "discard_bytes",
        "done",
        "max_bytes",
        "merges",
        "most_of_pages",
        "reads",
        "writes",
    )

    reads: i64
    writes: i64

    name: ClassVar[str] = ""
    listed: ClassVar[bool] = False
    throttled: ClassVar[bool] = True
    limits_all_writes: ClassVar[bool] = False
    async_share: ClassVar[float] = 1.0
    idles = False
    """Whether it may keep the device idle although something is queued: see :meth:`wake_at`."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = self.most_of_pages = max_bytes
        self.discard_bytes = 0
        self.merges = 0
        self.reads = self.writes = 0
        self.done: Completion = Call(_unset)
        # By op: what ends, and what begins, at each byte.
        self._by_end: tuple[dict[int, QueuedRequest], ...] = ({}, {}, {}, {})
        self._by_start: tuple[dict[int, QueuedRequest], ...] = ({}, {}, {}, {})

    @classmethod
    def made(cls, queue: QueueFacts) -> Scheduler:
        """The scheduler of a queue."""
        return cls(queue.max_bytes)

    @classmethod
    def round_s(cls, section: SchedulerSettings) -> float:
        """How long one round of its batches takes (s) with a kernel's tunables; 0 without batches."""
        return 0.0

    @property
    def queued(self) -> list[int]:
        """How many requests wait: reads, and writes with discards."""
        return [self.reads, self.writes]

    def add(self, request: Request, now: float) -> None:
        """Queue `request`, cut where it is too long for the device, merging it with a neighbor where there is one."""
        if request.size > self.max_bytes and request.op != TRIM:
            for part in parts_of(request, self.max_bytes):
                self.add(part, now)
            return
        if not self.merge(request, now):
            self.insert(QueuedRequest(request, now, self.done), now)

    def merge(self, request: Request, now: float) -> bool:
        """Merge `request` with a queued neighbor; False if there is none.

        A request that comes from a plug is only appended to what ends where it begins (elv_attempt_insert_merge). An
        I/O may also go before what begins where it ends.
        """
        op, start = request.op, request.offset
        by_end, by_start = self._by_end[op], self._by_start[op]
        if op == TRIM:
            most = self.discard_bytes
        else:
            most = self.most_of_pages if CRYPT_THREADS < request.issuer <= PARITY_THREADS else self.max_bytes
        neighbour = by_end.get(start)
        if neighbour is not None and neighbour.size + request.size <= most:
            del by_end[start]
            neighbour.size += request.size
            by_end[start + request.size] = neighbour
        else:
            neighbour = None if isinstance(request, QueuedRequest) else by_start.get(start + request.size)
            if neighbour is None or neighbour.size + request.size > most:
                return False
            del by_start[neighbour.offset]
            neighbour.offset = start
            neighbour.size += request.size
            by_start[start] = neighbour
        if isinstance(request, QueuedRequest):
            neighbour.absorb(request)
        else:
            neighbour.append(request)
        if request.sync > neighbour.sync:
            neighbour.sync = request.sync
        self.merges += 1
        self._merged(neighbour, request, now)
        return True

    def insert(self, queued: QueuedRequest, now: float) -> None:
        """Queue a request that merges with nothing."""
        op = queued.op
        self._by_end[op][queued.offset + queued.size] = queued
        self._by_start[op][queued.offset] = queued
        if op & WRITE:
            self.writes += 1
        else:
            self.reads += 1
        self._insert(queued, now)

    def _take(self, queued: QueuedRequest) -> QueuedRequest:
        """Forget a request that goes to the driver: nothing merges with it any more."""
        op = queued.op
        end = queued.offset + queued.size
        if self._by_end[op].get(end) is queued:
            del self._by_end[op][end]
        if self._by_start[op].get(queued.offset) is queued:
            del self._by_start[op][queued.offset]
        if op & WRITE:
            self.writes -= 1
        else:
            self.reads -= 1
        return queued

    def _merged(self, queued: QueuedRequest, request: Request, now: float) -> None:
        """A hook: `request` has been merged into `queued`."""

    @abstractmethod
    def _insert(self, queued: QueuedRequest, now: float) -> None:
        """Put a new request into the queue's order."""

    @abstractmethod
    def next(self, now: float) -> QueuedRequest | None:
        """The request to dispatch now, or None (nothing queued, or the scheduler waits for a better one)."""

    def passes(self, queued: QueuedRequest) -> bool:
        """Whether `queued`, which comes while nothing is queued, goes to the driver at once.

        If so, the scheduler has noted it as :meth:`insert` and :meth:`next` would; if not, both are to be called.
        """
        return False

    def wake_at(self) -> float | None:
        """The time (s) at which :meth:`next` may answer differently without new requests, if any."""
        return None

    def completed(self, queued: QueuedRequest, now: float) -> None:
        """The driver has finished `queued`."""


class _Parts(Completion):
    """Completes a request with its last part."""

    __slots__ = ("_left", "_whole")

    def __init__(self, parts: int, whole: Request) -> None:
        self._left = parts
        self._whole = whole

    def done(self, request: Request) -> None:
        """One part is complete."""
        self._left -= 1
        if not self._left:
            if request.trail is not None:
                self._whole.trail = request.trail
            self._whole.complete()


def parts_of(request: Request, max_bytes: int) -> Iterator[Request]:
    """`request` itself, or parts of at most `max_bytes` that complete it if it is longer."""
    if request.size <= max_bytes:
        yield request
        return
    done = _Parts(-(-request.size // max_bytes), request)
    offset, end = request.offset, request.offset + request.size
    while offset < end:
        size = min(max_bytes, end - offset)
        yield Request(request.op, offset, size, done, request.issuer, request.sync, trail=request.trail)
        offset += size


def _unset(_: Request) -> None:
    raise RuntimeError("a scheduler's completion is set by its block queue")
