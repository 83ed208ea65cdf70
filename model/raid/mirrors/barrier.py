"""How md keeps resync and normal I/O apart on mirrors: one rule of exclusion a class.

A normal request asks to be admitted and gets a ticket, or waits; a resync request asks for its turn. What waits, and
for what, differs: Linux 2.6 (and RAID 10 to this day) lets resync and normal I/O alternate on the whole array, and
RAID 1 since 4.11 does so in each 64 MiB separately. Mirrors of 2.4 let normal I/O pass except in a window that slides
along the array; no recording shows what that changes, and they take the rule of 2.6.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from ...core.engine import Engine
from ...core.request import READ, Request
from ...waits.causes import BARRIER

WAITS: Final = -1
"""The ticket of a request that has to wait; the barrier serves it again when it may go."""

Action = Callable[[], None]


class ResyncBarrier:
    """Keeps resync and normal I/O apart.

    Parameters
    ----------
    engine
        The clock.
    serve
        Takes a waiting request once more.
    unplug
        Lets held-back requests go, because somebody waits for them.
    depth
        Resync requests under way at most.
    """

    __slots__ = ("_engine", "_serve", "_unplug", "depth")

    def __init__(self, engine: Engine, serve: Callable[[Request], None], unplug: Action, depth: int) -> None:
        self._engine = engine
        self._serve = serve
        self._unplug = unplug
        self.depth = depth

    @abstractmethod
    def admit(self, request: Request) -> int:
        """A ticket for :meth:`leave`, or :data:`WAITS`."""

    @abstractmethod
    def leave(self, ticket: int) -> None:
        """A normal request is over."""

    def guard(self, request: Request, run: Callable[[Callable[[], None]], None]) -> None:
        """Have `run` do a normal request if it is admitted; what `run` is given ends the request and its stay."""
        ticket = self.admit(request)
        if ticket == WAITS:
            return

        def over() -> None:
            request.complete()
            self.leave(ticket)

        run(over)

    @abstractmethod
    def resync(self, offset: int, start: Action) -> None:
        """Call `start` when the resync of the range at `offset` may begin; requests begin in the order they come."""

    @abstractmethod
    def resynced(self, offset: int, done: Action) -> None:
        """The resync of the range at `offset` is over; `done` tells whoever asked for it."""

    def _serve_again(self, waiting: deque[Request]) -> None:
        requests = list(waiting)
        waiting.clear()
        for request in requests:
            request.mark(BARRIER, self._engine._now)
            self._serve(request)
        if requests:
            self._unplug()


class AlternatingBarrier(ResyncBarrier):
    """Linux 2.6 RAID 1, and RAID 10 (raid1.c and raid10.c, raise_barrier).

    A resync request keeps new normal I/O out and waits until what is under way is done; while
    normal I/O waits, no further resync request starts.
    """

    __slots__ = ("_draining", "_normal", "_raised", "_resync_waiting", "_waiting")

    def __init__(self, engine: Engine, serve: Callable[[Request], None], unplug: Action, depth: int) -> None:
        super().__init__(engine, serve, unplug, depth)
        self._normal = 0
        self._raised = 0
        self._draining: Action | None = None
        self._waiting: deque[Request] = deque()
        self._resync_waiting: deque[Action] = deque()

    def admit(self, request: Request) -> int:
        if self._raised:
            self._waiting.append(request)
            return WAITS
        self._normal += 1
        return 0

    def leave(self, ticket: int) -> None:
        self._normal -= 1
        if not self._normal and self._draining is not None:
            start, self._draining = self._draining, None
            start()
            self._raise()

    def resync(self, offset: int, start: Action) -> None:
        self._resync_waiting.append(start)
        self._raise()

    def resynced(self, offset: int, done: Action) -> None:
        self._raised -= 1
        done()
        if not self._raised:
            self._serve_again(self._waiting)
        self._raise()

    def _raise(self) -> None:
        """Let waiting resync requests go, as long as no normal I/O waits and not too many are under way."""
        while self._resync_waiting and self._draining is None and not self._waiting and self._raised < self.depth:
            self._raised += 1
            start = self._resync_waiting.popleft()
            if self._raised == 1 and self._normal:
                self._draining = start
                self._unplug()
            else:
                start()


class PausingBarrier(AlternatingBarrier):
    """RAID 10 of Linux 6.1 (raid10.c, raid10_sync_request): as 2.6, but the thread gives way to normal I/O.

    If normal I/O waits when the resync thread comes with its next request, the thread sleeps first: one jiffy, which
    the timer wheel makes one to two.
    """

    __slots__ = ()
    TICK_S: Final = 0.004

    def resync(self, offset: int, start: Action) -> None:
        if not self._waiting:
            super().resync(offset, start)
            return
        now = self._engine._now
        awake = (now // self.TICK_S + 2) * self.TICK_S
        self._engine.call_at(awake, lambda _: AlternatingBarrier.resync(self, offset, start))


class _Bucket:
    """The state of one 64 MiB of the array."""

    __slots__ = ("pending", "raised", "waiting")

    def __init__(self) -> None:
        self.pending = 0
        self.raised = 0
        self.waiting: deque[Request] = deque()


class BucketBarrier(ResyncBarrier):
    """RAID 1 of Linux 6.1 (raid1.c, raise_barrier and wait_barrier): each 64 MiB of the array has its own barrier.

    A resync request keeps new writes out of its 64 MiB and waits until what is under way there is done. Reads
    do not wait for the resync, but it waits for them. If a write waits, the resync thread first sleeps for a tick of
    the clock. A request across a border belongs where it begins (md cuts it in two).
    """

    __slots__ = ("_buckets", "_draining", "_resync_waiting", "_slept")
    BUCKET: Final = 1 << 26
    TICK_S: Final = 0.004
    """A jiffy at HZ=250."""

    def __init__(self, engine: Engine, serve: Callable[[Request], None], unplug: Action, depth: int) -> None:
        super().__init__(engine, serve, unplug, depth)
        self._buckets: dict[int, _Bucket] = {}
        self._draining: tuple[_Bucket, Action] | None = None
        self._resync_waiting: deque[tuple[int, Action]] = deque()
        self._slept: bool | None = None

    def _bucket(self, number: int) -> _Bucket:
        bucket = self._buckets.get(number)
        if bucket is None:
            bucket = self._buckets[number] = _Bucket()
        return bucket

    def admit(self, request: Request) -> int:
        number = request.offset // self.BUCKET
        bucket = self._bucket(number)
        if bucket.raised and request.op != READ:
            bucket.waiting.append(request)
            return WAITS
        bucket.pending += 1
        return number

    def leave(self, ticket: int) -> None:
        bucket = self._buckets[ticket]
        bucket.pending -= 1
        if not bucket.pending and self._draining is not None:
            self._drained()
            self._raise()

    def resync(self, offset: int, start: Action) -> None:
        self._resync_waiting.append((offset, start))
        self._raise()

    def resynced(self, offset: int, done: Action) -> None:
        bucket = self._buckets[offset // self.BUCKET]
        bucket.raised -= 1
        done()
        if not bucket.raised:
            self._serve_again(bucket.waiting)
        self._drained()
        self._raise()

    def _drains(self) -> bool:
        """Whether a resync request waits for what is under way in its bucket."""
        return self._draining is not None

    def _drained(self) -> None:
        """Start the resync request whose turn it is if nothing is under way in its bucket any more."""
        if self._draining is not None:
            bucket, start = self._draining
            if not bucket.pending and bucket.raised <= self.depth:
                self._draining = None
                start()

    def _raise(self) -> None:
        while self._resync_waiting and self._draining is None and self._slept is not False:
            bucket = self._bucket(self._resync_waiting[0][0] // self.BUCKET)
            if bucket.waiting:
                if self._slept is None:
                    self._slept = False
                    self._engine.call_at(self._engine._now + self.TICK_S, self._awake)
                return
            _, start = self._resync_waiting.popleft()
            self._slept = None
            bucket.raised += 1
            self._draining = bucket, start
            self._drained()
            if self._drains():
                self._unplug()

    def _awake(self, _: Any) -> None:
        self._slept = True
        self._raise()


RESYNC_BARRIER: dict[str, type[ResyncBarrier]] = {
    "md-2.6": AlternatingBarrier,
    "md-6.1": BucketBarrier,
    "md-6.1-raid10": PausingBarrier,
}
"""The rules by name."""
