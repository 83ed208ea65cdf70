"""The request queue of a block device: plugging, merging, scheduling, and the driver's commands.

Linux holds back ("plugs") an idle queue so that neighbors can merge, and submits when enough requests are queued,
after a few milliseconds, or as soon as a process waits for the data (ll_rw_blk.c). A queue with plugging therefore does
not start a read-ahead until the reader needs it, which is why reading ahead hides less than it could on these kernels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..core.device import Device, Wrapper
from ..core.discard_limits import DiscardLimits, refused
from ..core.engine import Engine
from ..core.request import RESYNC_ISSUER, WRITE, Completion, Request
from ..schedulers import QueuedRequest, Scheduler
from ..tasks.host import Host
from .io_statistics import IoStatistics


@dataclass(frozen=True, slots=True)
class PlugSettings:
    """When a plugged queue is unplugged without a request for it."""

    requests: int = 4
    """Number of queued requests that unplugs it (0: only a waiter does)."""
    delay_s: float = 0.003
    """Time after which it unplugs itself (0: never)."""


class BlockQueue(Wrapper):
    """A device behind a Linux request queue.

    Parameters
    ----------
    engine, host
        The clock, and the host that pays for commands and interrupts.
    device
        What serves the requests.
    scheduler
        Their order.
    depth
        Commands the driver keeps at the device (1 without tagged queueing).
    limit_bytes, limit_requests
        Queued writes beyond which writers have to wait (:attr:`has_room`).
    plug
        Plugging, or None for a queue that never plugs.
    wake_share, wakes_one
        Waiting writers go on when no more than this part of the limits is queued: all, or one for each completion.

    Attributes
    ----------
    queued_write_bytes
        Writes queued or at the device.
    foreground_bytes
        Completed so far, but for resync.
    statistics
        What iostat shows of the device.
    """

    __slots__ = (
        "_engine",
        "_host",
        "_in_flight",
        "_plug",
        "_plug_timer",
        "_plugged",
        "_plugged_at",
        "_timer_at",
        "_waiters",
        "_wake_bytes",
        "_wake_requests",
        "_wakes_one",
        "depth",
        "foreground_bytes",
        "limit_bytes",
        "limit_requests",
        "queued_write_bytes",
        "scheduler",
        "statistics",
    )

    foreground_bytes: int

    def __init__(
        self,
        engine: Engine,
        host: Host,
        device: Device,
        scheduler: Scheduler,
        depth: int,
        limit_bytes: int,
        limit_requests: int,
        plug: PlugSettings | None,
        wake_share: float = 0.875,
        wakes_one: bool = False,
    ) -> None:
        super().__init__(device)
        self._engine = engine
        self._host = host
        self.scheduler = scheduler
        scheduler.done = _Finished(self)
        self.statistics = IoStatistics()
        self.depth = depth
        self.limit_bytes = limit_bytes
        self.limit_requests = limit_requests
        self._plug = plug
        self._wake_bytes = limit_bytes * wake_share
        self._wake_requests = limit_requests * wake_share
        self._wakes_one = wakes_one
        self._plugged = False
        self._plugged_at = 0.0
        self._plug_timer: Any = None
        self._timer_at = -1.0
        self._in_flight = 0
        self.queued_write_bytes = 0
        self.foreground_bytes = 0
        self._waiters: deque[Callable[[], None]] = deque()

    @property
    def plugs(self) -> bool:
        """Nobody plugs it from outside: it plugs itself when it is idle."""
        return False

    def plug(self) -> None:
        """Nothing: it plugs itself when it is idle."""

    @property
    def discard_limits(self) -> DiscardLimits:
        """It takes no discards: Linux has them since 2.6.28, with a queue like this one, but arrays not before 3.7."""
        return refused(f"{self.name} is behind a block layer that passes no discards on")

    @property
    def has_room(self) -> bool:
        """Whether more writes may be queued."""
        return self.queued_write_bytes < self.limit_bytes and self.scheduler.writes < self.limit_requests

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call `callback` once queued writes are well below the limit again; whoever waits unplugs the queue."""
        self._waiters.append(callback)
        self.unplug()

    def submit(self, request: Request) -> None:
        """Queue a request; it goes to the device when its turn comes."""
        now = self._engine._now
        request.submitted = now
        scheduler = self.scheduler
        plug = self._plug
        if plug is not None and not self._plugged and not self._in_flight and not (scheduler.reads or scheduler.writes):
            self._plugged = True
            self._plugged_at = now
            if plug.delay_s and self._plug_timer is None:
                self._plug_timer = self._engine.call_at(now + plug.delay_s, self._plug_expired)
        if request.op == WRITE:
            self.queued_write_bytes += request.size
        before = scheduler.reads + scheduler.writes
        scheduler.add(request, now)
        for _ in range(scheduler.reads + scheduler.writes - before):
            self.statistics.made(now)
        if self._plugged:
            assert plug is not None
            if plug.requests and scheduler.reads + scheduler.writes >= plug.requests:
                self.unplug()
        elif self._in_flight < self.depth:
            self._dispatch()

    def _plug_expired(self, _: Any) -> None:
        self._plug_timer = None
        if self._plugged:
            assert self._plug is not None
            lets_go = self._plugged_at + self._plug.delay_s
            if lets_go > self._engine._now:
                self._plug_timer = self._engine.call_at(lets_go, self._plug_expired)
            else:
                self.unplug()

    def unplug(self) -> None:
        """Let queued requests go to the device (somebody waits for them)."""
        if self._plugged:
            self._plugged = False
            if self._in_flight < self.depth:
                self._dispatch()

    def _dispatch(self) -> None:
        now = self._engine._now
        scheduler = self.scheduler
        while self._in_flight < self.depth:
            queued = scheduler.next(now)
            if queued is None:
                if scheduler.reads or scheduler.writes:
                    self._arm_timer()
                return
            self._in_flight += 1
            self.device.submit(queued)

    def _arm_timer(self) -> None:
        at = self.scheduler.wake_at()
        if at is not None and self._timer_at < 0.0:
            self._timer_at = at
            self._engine.call_at(at, self._timer_fired)

    def _timer_fired(self, _: Any) -> None:
        self._timer_at = -1.0
        at = self.scheduler.wake_at()
        if at is not None and at > self._engine._now:
            self._arm_timer()
        elif not self._plugged and self._in_flight < self.depth:
            self._dispatch()

    def flush(self, done: Callable[[], None]) -> None:
        """See :meth:`Device.flush`; a command that goes past the scheduler."""

        def flushed() -> None:
            self._host.complete_command()
            done()

        self.device.flush(flushed)

    def _complete(self, queued: QueuedRequest) -> None:
        """Charge the host for a command."""
        self._host.complete_command()

    def finish(self, queued: QueuedRequest) -> None:
        """The device has done a request."""
        scheduler = self.scheduler
        now = self._engine._now
        self._in_flight -= 1
        self.statistics.done(now, queued)
        self._complete(queued)
        scheduler.completed(queued, now)
        if queued.op == WRITE:
            self.queued_write_bytes -= queued.size
        if queued.issuer != RESYNC_ISSUER:
            self.foreground_bytes += queued.size
        if not self._plugged:
            self._dispatch()
        queued.complete_parts()
        waiters = self._waiters
        writes: int = scheduler.writes
        if waiters and self.queued_write_bytes <= self._wake_bytes and writes <= self._wake_requests:
            # Who is woken may take nothing; so the last completion wakes all that are left.
            if self._wakes_one and self.queued_write_bytes:
                waiters.popleft()()
            else:
                self._waiters = deque()
                for waiter in waiters:
                    waiter()


class _Finished(Completion):
    """Of all requests of a queue."""

    __slots__ = ("_queue",)

    def __init__(self, queue: BlockQueue) -> None:
        self._queue = queue

    def done(self, request: Request) -> None:
        """See :meth:`BlockQueue.finish`."""
        assert isinstance(request, QueuedRequest)
        self._queue.finish(request)
