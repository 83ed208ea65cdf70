"""The multi-queue block layer of today's Linux (6.1): tags, a task's plug, an optional scheduler, write throttling.

A request takes a tag before it is queued or sent. Without an I/O scheduler the tags are the device's own (its queue
depth) and a request goes to the device at once; with one they are the scheduler's (nr_requests) and the device's depth
limits what is dispatched. A task that finds no tag sleeps in the middle of its submission, so it cannot keep other
devices busy meanwhile: see :mod:`raidsim.model.tasks.submitting_threads`. Sources: block/blk-mq.c (blk_mq_submit_bio),
block/blk-mq-sched.c (__blk_mq_do_dispatch_sched), lib/sbitmap.c (sbq_calc_wake_batch).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from mypy_extensions import i64

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import (
    ASYNC,
    FLUSH,
    READ,
    RESYNC_ISSUER,
    RESYNC_THREADS,
    TRIM,
    WAITED,
    WRITE,
    WRITE_THROUGH,
    Request,
)
from ..core.timed import Timed
from ..schedulers import QueuedRequest, Scheduler
from ..tasks.host import GIVE_WAY_S, Host
from ..waits.causes import TAG
from .io_statistics import BusyTicks
from .request_queue import MAX_SEGMENTS, RequestQueue, wake_batch
from .tag_waits import TagWaits
from .throttle import Throttle


class BlkMqQueue(RequestQueue):
    """A device behind one hardware queue of blk-mq.

    Parameters
    ----------
    engine, host
        The clock, and the host that pays for commands and interrupts.
    device
        What serves the requests.
    depth
        Tags: requests the device takes at once.
    scheduler
        I/O scheduler, or None for "none".
    requests
        Tags of the scheduler (nr_requests); without a scheduler there are only the device's.
    write_requests
        How many of the scheduler's tags writes may take (block/mq-deadline.c, async_depth); None for all.
    only_async
        Whether that is so only for writes that nobody waits for (BFQ, kyber).
    volatile_cache
        If true, the device has a write cache that loses its data without power (queue/write_cache is "write back"): a
        write with flush and FUA goes past the scheduler to the device. If false, it is queued as any write
        (block/blk-core.c, submit_bio_noacct, takes both flags off).
    max_request_bytes, max_segments, spreads, throttle, busy_ticks, program_pays
        As :class:`.request_queue.RequestQueue` has them.
    """

    __slots__ = (
        "_dispatch_list",
        "_follows",
        "_free_tags",
        "_free_write_tags",
        "_freed",
        "_gives_way_until",
        "_idle_until",
        "_in_flight",
        "_limited_sync",
        "_runs_until",
        "_volatile_cache",
        "_waits",
        "_wake_batch",
        "_waker",
        "_waking",
    )

    _free_tags: i64
    _free_write_tags: i64
    _freed: i64
    _in_flight: i64

    def __init__(
        self,
        engine: Engine,
        host: Host,
        device: Device,
        *,
        depth: int,
        scheduler: Scheduler | None = None,
        max_request_bytes: int = 1_310_720,
        max_segments: int = MAX_SEGMENTS,
        requests: int = 64,
        write_requests: int | None = None,
        only_async: bool = False,
        spreads: bool = False,
        throttle: Throttle | None = None,
        volatile_cache: bool = True,
        busy_ticks: BusyTicks = "requests",
        program_pays: bool = False,
    ) -> None:
        if requests < 1:
            raise ModelError(f"{device.name}: {requests} requests; at least 1")
        super().__init__(
            engine,
            host,
            device,
            depth=depth,
            scheduler=scheduler,
            max_request_bytes=max_request_bytes,
            max_segments=max_segments,
            spreads=spreads,
            throttle=throttle,
            busy_ticks=busy_ticks,
            program_pays=program_pays,
        )
        # Whether the scheduler wants to know what is complete.
        self._follows = scheduler is not None and type(scheduler).completed is not Scheduler.completed
        tags = depth if scheduler is None else requests
        self._free_tags = tags
        scarcest = tags if scheduler is None or write_requests is None else min(tags, write_requests)
        self._free_write_tags = scarcest
        self._limited_sync = ASYNC if only_async else WRITE_THROUGH
        self._wake_batch = wake_batch(scarcest)
        self._freed = self._in_flight = 0
        self._idle_until = -1.0
        self._dispatch_list: deque[QueuedRequest] = deque()
        self._volatile_cache = volatile_cache
        self._waits = TagWaits()
        self._waker = _Waker(self)
        self._waking = False
        self._gives_way_until = self._runs_until = 0.0
        if throttle is not None:
            throttle.attach(self._release, tags)

    @property
    def has_room(self) -> bool:
        """Whether nobody sleeps for want of a tag or held back by the throttle."""
        return not self._waits.count and not self._throttled

    @property
    def has_write_tag(self) -> bool:
        """Whether a write that merges with nothing gets a tag at once."""
        return self._free_tags > 0 and self._free_write_tags > 0

    def _allocate(self, request: Request) -> None:
        """Give `request` a tag, or let it wait for one; a task that goes to sleep flushes its plug."""
        write, sync = request.op != READ, request.sync
        limited = write and sync <= self._limited_sync
        if not self._free_tags or (limited and not self._free_write_tags):
            if not self._waits.count:
                self._freed = 0
            self._waits.add(request, limited)
            self._fall_asleep(request.issuer, TAG)
            return
        self._free_tags -= 1
        if limited:
            self._free_write_tags -= 1
        now = self._engine._now
        queued = QueuedRequest(request, now, self._finished)
        # The same as IoStatistics.made(), inlined.
        statistics = self.statistics
        if now < statistics.tick_ends:
            statistics.inside += 1
        else:
            statistics.made(now)
        if write and self._throttle is not None:
            self._throttle.track(queued)
        if sync == WRITE_THROUGH and self._volatile_cache:
            if self._dispatch_list or self._in_flight >= self.depth:
                self._dispatch_list.append(queued)
            else:
                self._send(queued)
            self._dispatch()
            return
        if self._plugged or self._thread_plugs:
            # The same as _open_plug(), inlined.
            plug = self._thread_plugs.get(request.issuer, self._task_plug if self._plugged else None)
            if plug is not None:
                plug.add(self, queued)
                return
        if self.scheduler is None:
            self._send(queued)
        else:
            self._schedule(self.scheduler, queued)

    def _schedule(self, scheduler: Scheduler, queued: QueuedRequest) -> None:
        """Give a request to the scheduler, and the device what that chooses: the same one, if no other is there."""
        if (
            scheduler.reads
            or scheduler.writes
            or self._dispatch_list
            or self._in_flight >= self.depth
            or not scheduler.passes(queued)
        ):
            scheduler.insert(queued, self._engine._now)
            self._dispatch()
        else:
            # The same as _send(), inlined.
            self._in_flight += 1
            if queued.op == READ and self._throttle is not None:
                self._throttle.sent(queued)
            self.device.submit(queued)

    def _free_tag(self, queued: QueuedRequest) -> None:
        self._free_tags += 1
        self._freed += 1
        # What has been merged into it may be waited for, but has taken no tag.
        if queued.op and queued.first.sync <= self._limited_sync:
            self._free_write_tags += 1

    def take_plugged(self, held: list[QueuedRequest]) -> None:
        """See :meth:`raidsim.model.tasks.task_plug.PlugQueue.take_plugged`."""
        scheduler = self.scheduler
        if scheduler is None:
            for queued in held:
                self._send(queued)
            return
        now = self._engine._now
        if len(held) == 1 and not (scheduler.writes if held[0].op & WRITE else scheduler.reads):
            self._schedule(scheduler, held[0])
            return
        for queued in held:
            if scheduler.merge(queued, now):
                self._free_tag(queued)
                self.statistics.merged()
                if self._throttle is not None:
                    self._throttle.merged(queued)
            else:
                scheduler.insert(queued, now)
        self._dispatch()

    def _send(self, queued: QueuedRequest) -> None:
        self._in_flight += 1
        if queued.op == READ and self._throttle is not None:
            self._throttle.sent(queued)
        self.device.submit(queued)

    def _dispatch(self) -> None:
        """Fill the device's depth; one more request is taken from the scheduler, and is the next whatever comes."""
        dispatch_list = self._dispatch_list
        scheduler = self.scheduler
        while True:
            if not dispatch_list:
                if scheduler is None:
                    return
                if not (scheduler.reads or scheduler.writes or scheduler.idles):
                    return
                queued = scheduler.next(self._engine._now)
                if queued is None:
                    if scheduler.idles and (scheduler.reads or scheduler.writes):
                        self._wait_idle(scheduler.wake_at())
                    return
                if self._in_flight >= self.depth:
                    dispatch_list.append(queued)
                    return
            elif self._in_flight >= self.depth:
                return
            else:
                queued = dispatch_list.popleft()
            self._send(queued)

    def _wait_idle(self, until: float | None) -> None:
        """Ask the scheduler again when it has kept the device idle for long enough."""
        if until is not None and self._idle_until < 0.0:
            self._idle_until = until
            self._engine.call_at(until, self._idled)

    def _idled(self, _: Any) -> None:
        self._idle_until = -1.0
        self._dispatch()

    def finish(self, queued: QueuedRequest) -> None:
        """See :meth:`.request_queue.RequestQueue.finish`."""
        self._in_flight -= 1
        # The same as IoStatistics.done(), inlined.
        statistics, now = self.statistics, self._engine._now
        if now < statistics.tick_ends and queued.op != TRIM:
            statistics.inside -= 1
            statistics.completed += 1
            statistics.waited_s += now - queued.made
        else:
            statistics.done(now, queued)
        # The same as _free_tag(), inlined.
        self._free_tags += 1
        self._freed += 1
        issuer = queued.issuer
        if issuer < 0:
            self._host.complete_command_of(issuer)
        else:
            # The same as Host.complete_command(), inlined.
            self._host.commands += 1
            if self._command_s:
                self._cpu.interrupt(self._command_s, issuer % self._cores if self.spreads else None)
        if queued.op:
            if queued.first.sync <= self._limited_sync:
                self._free_write_tags += 1
            self.queued_write_bytes -= queued.size
        if issuer != RESYNC_ISSUER and issuer > RESYNC_THREADS:
            self.foreground_bytes += queued.size
        scheduler = self.scheduler
        if scheduler is not None:
            # What goes past the scheduler is none of its requests.
            if self._follows and queued.sync != WRITE_THROUGH:
                scheduler.completed(queued, now)
            if scheduler.reads or scheduler.writes or self._dispatch_list or scheduler.idles:
                self._dispatch()
        elif self._dispatch_list:
            self._dispatch()
        if self._throttle is not None:
            self._throttle.completed(queued)
        if self._waits.count:
            self._wake_batch_of(now)
        queued.complete_parts()

    def flush(self, done: Callable[[], None]) -> None:
        """See :meth:`Device.flush`; a command that takes a tag, but goes past the scheduler."""
        if not self._volatile_cache:
            super().flush(done)
            return
        request = Request(FLUSH, 0, 0, lambda _: done(), 0, WAITED)
        if self._free_tags:
            self._send_flush(request)
            return
        if not self._waits.count:
            self._freed = 0
        self._waits.add(request, False)

    def _send_flush(self, request: Request) -> None:
        self._free_tags -= 1

        def flushed() -> None:
            self._free_tags += 1
            self._freed += 1
            self._host.complete_command()
            if self._waits.count:
                self._wake_batch_of(self._engine._now)
            request.complete()

        self.device.flush(flushed)

    def _wake_batch_of(self, now: float) -> None:
        """Wake sleepers once a batch of tags is free."""
        if self._freed >= self._wake_batch and not self._waking:
            self._waking = True
            self._gives_way_until = now + GIVE_WAY_S
            self._runs_until = self._cpu.free_from
            self._engine.insert(now + self._switch_s, self._waker)

    def wake(self) -> None:
        """Sleepers take the free tags in order; Linux wakes them when a batch of tags is free, not at each.

        It runs when the CPU has switched to it: what completes meanwhile, or at the same time, comes first. A kernel
        thread cannot interrupt what runs, so it takes its tag when the CPU is free, and a program may be before it.
        """
        waits, now, host = self._waits, self._engine._now, self._host
        if now < self._gives_way_until:
            first = waits.first_issuer
            at = host.looks_again_at(first, now, self._runs_until)
            if at >= now:
                self._engine.insert(min(at, self._gives_way_until), self._waker)
                if first >= 0:
                    self._gives_way_until = now
                return
        self._waking = False
        self._freed = 0
        while self._free_tags and (request := waits.next(self._free_write_tags > 0)) is not None:
            if request.op == FLUSH:
                self._send_flush(request)
                continue
            request.mark(TAG, now)
            self._allocate(request)
            self._wake_thread(request.issuer)
        waits.end()
        self._tell_waiters()


class _Waker(Timed):
    """The time at which a queue wakes those that sleep for want of a tag."""

    __slots__ = ("_queue",)

    def __init__(self, queue: BlkMqQueue) -> None:
        self._queue = queue

    def happen(self) -> None:
        """See :meth:`BlkMqQueue.wake`."""
        self._queue.wake()
