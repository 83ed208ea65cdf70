"""The multi-queue block layer of today's Linux (6.1): tags, a task's plug, an optional scheduler, write throttling.

A request takes a tag before it is queued or sent. Without an I/O scheduler the tags are the device's own (its queue
depth) and a request goes to the device at once; with one they are the scheduler's (nr_requests) and the device's depth
limits what is dispatched. A task that finds no tag sleeps in the middle of its submission, so it cannot keep other
devices busy meanwhile: see :mod:`raidsim.model.tasks.submitting_threads`. Sources: block/blk-mq.c (blk_mq_submit_bio),
block/blk-mq-sched.c (__blk_mq_do_dispatch_sched), lib/sbitmap.c (sbq_calc_wake_batch).
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from ..core.device import Device
from ..core.discard import pieces_of
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.join import Parts
from ..core.request import (
    ASYNC,
    CRYPT_THREADS,
    PARITY_THREADS,
    READ,
    RESYNC_ISSUER,
    RESYNC_THREADS,
    TRIM,
    WRITE,
    WRITE_THROUGH,
    Call,
    Request,
)
from ..schedulers import QueuedRequest, Scheduler
from ..tasks.host import GIVE_WAY_S, Host
from ..tasks.submitting_threads import SubmittingThreads
from .io_statistics import BusyTicks, IoStatistics
from .throttle import Throttle

MAX_SEGMENTS: Final = 128
"""Pieces of memory that a request may consist of, unless the driver takes more or fewer (BLK_MAX_SEGMENTS)."""
_PAGE: Final = 4096
_WAIT_QUEUES: Final = 8
_LARGEST_WAKE_BATCH: Final = 8


class BlkMqQueue(SubmittingThreads):
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
    max_request_bytes
        Largest request (max_sectors_kb): larger I/Os are split, and merging stops there.
    requests
        Tags of the scheduler (nr_requests); without a scheduler there are only the device's.
    write_requests
        How many of the scheduler's tags writes may take (block/mq-deadline.c, async_depth); None for all.
    only_async
        Whether that is so only for writes that nobody waits for (BFQ, kyber).
    spreads
        Whether the device has a hardware queue for each CPU, so that threads stay on theirs and are interrupted there.
    throttle
        Write-back throttling, or None.
    volatile_cache
        If true, the device has a write cache that loses its data without power (queue/write_cache is "write back"): a
        write with flush and FUA goes past the scheduler to the device. If false, it is queued as any write
        (block/blk-core.c, submit_bio_noacct, takes both flags off).
    max_segments
        Pieces of memory that a request may consist of. md's threads of RAID 4, 5 and 6 submit a bio for each page of a
        stripe head, and each bio is a separate piece, even next to another one in memory: so their requests have
        this number of pages at most (block/blk-merge.c, ll_new_hw_segment and ll_merge_requests_fn).
    busy_ticks
        What iostat's ``%util`` counts (:mod:`.io_statistics`).
    program_pays
        If true, the device's driver charges a program for its command (:mod:`.in_submission`), as nothing interrupts.

    Attributes
    ----------
    discard_bytes
        Largest discard; larger ones are split, and merging stops there.
    most_of_pages
        Largest request of md's threads of RAID 4, 5 and 6 (bytes).
    queued_write_bytes
        Writes and discards accepted and not complete.
    foreground_bytes
        Completed so far, but for resync.
    merges
        I/Os merged into a request of the plug.
    statistics
        What iostat shows of the device.
    """

    __slots__ = (
        "_command_s",
        "_cores",
        "_cpu",
        "_dispatch_list",
        "_engine",
        "_finished",
        "_fits",
        "_follows",
        "_free_tags",
        "_free_write_tags",
        "_freed",
        "_gives_way_until",
        "_host",
        "_idle_until",
        "_in_flight",
        "_limited_sync",
        "_releasing",
        "_switch_s",
        "_throttle",
        "_throttled",
        "_volatile_cache",
        "_waiting",
        "_wake_batch",
        "_waking",
        "depth",
        "discard_bytes",
        "foreground_bytes",
        "max_request_bytes",
        "merges",
        "most_of_pages",
        "queued_write_bytes",
        "scheduler",
        "spreads",
        "statistics",
    )

    foreground_bytes: int

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
        if min(depth, requests, max_request_bytes, max_segments) < 1:
            raise ModelError(
                f"{device.name}: depth {depth}, {requests} requests of up to {max_request_bytes} bytes and "
                f"{max_segments} segments; at least 1 each"
            )
        super().__init__(engine, host, device)
        self._engine = engine
        self._host = host
        self.depth = depth
        self.scheduler = scheduler
        self._finished = Call(self._done)
        self.statistics = IoStatistics(busy_ticks)
        # Whether the scheduler wants to know what is complete.
        self._follows = scheduler is not None and type(scheduler).completed is not Scheduler.completed
        self.max_request_bytes = max_request_bytes
        self.most_of_pages = self._fits = min(max_segments * _PAGE, max_request_bytes)
        self.discard_bytes = device.discard_limits.most_bytes
        if scheduler is not None:
            scheduler.done = self._finished
            scheduler.discard_bytes = self.discard_bytes
            scheduler.most_of_pages = self.most_of_pages
        tags = depth if scheduler is None else requests
        self._free_tags = tags
        scarcest = tags if scheduler is None or write_requests is None else min(tags, write_requests)
        self._free_write_tags = scarcest
        self.spreads = spreads
        self._cores = host.cpu.cores
        self._limited_sync = ASYNC if only_async else WRITE_THROUGH
        self._wake_batch = min(max(scarcest // _WAIT_QUEUES, 1), _LARGEST_WAKE_BATCH)
        self._freed = self._in_flight = 0
        self._idle_until = -1.0
        self._dispatch_list: deque[QueuedRequest] = deque()
        self._throttle = throttle
        self._volatile_cache = volatile_cache
        self._throttled: deque[Request] = deque()
        self._waiting: deque[Request] = deque()
        self._releasing = self._waking = False
        self._gives_way_until = 0.0
        self._switch_s = host.prices.switch_s
        self._command_s = 0.0 if program_pays else host.prices.command_s
        self._cpu = host.cpu
        self.queued_write_bytes = self.foreground_bytes = self.merges = 0
        if throttle is not None:
            throttle.attach(self._release, tags)

    @property
    def has_room(self) -> bool:
        """Whether nobody sleeps for want of a tag or held back by the throttle."""
        return not self._waiting and not self._throttled

    @property
    def has_write_tag(self) -> bool:
        """Whether a write that merges with nothing gets a tag at once."""
        return self._free_tags > 0 and self._free_write_tags > 0

    def submit(self, request: Request) -> None:
        """Accept an I/O; without a tag for it, it waits in order of arrival."""
        request.submitted = self._engine._now
        if request.op:
            self.queued_write_bytes += request.size
            if request.op == TRIM:
                self._discard(request)
                return
        if self._sleepers:
            thread = self._sleepers.get(request.issuer)
            if thread is not None and thread.sleeps:
                thread.backlog.append(functools.partial(self._enter, request))
                return
        if request.size <= self._fits:
            self._submit_piece(request)
        else:
            self._enter(request)

    def _enter(self, request: Request) -> None:
        size, limit = request.size, self.max_request_bytes
        if CRYPT_THREADS < request.issuer <= PARITY_THREADS:
            limit = self.most_of_pages
        if size <= limit:
            self._submit_piece(request)
            return
        join = Parts(-(-size // limit), request)
        end = request.offset + size
        pieces = deque(
            Request(request.op, offset, min(limit, end - offset), join, request.issuer, request.sync)
            for offset in range(request.offset, end, limit)
        )
        while pieces:
            self._submit_piece(pieces.popleft())
            thread = self._sleepers.get(request.issuer)
            if thread is not None and thread.sleeps:
                thread.backlog.extendleft(functools.partial(self._submit_piece, piece) for piece in reversed(pieces))
                return

    def _discard(self, request: Request) -> None:
        """Split a discard into what the device takes at once, and submit that, asleep or awake."""
        pieces = deque(pieces_of(request, self.discard_limits))
        if self.sleeps(request.issuer):
            self._sleepers[request.issuer].backlog.append(functools.partial(self._submit_discards, pieces))
        else:
            self._submit_discards(pieces)

    def _submit_discards(self, pieces: deque[Request]) -> None:
        """Submit discards in their order, until the thread falls asleep over one."""
        scheduler, issuer = self.scheduler, pieces[0].issuer
        while pieces:
            request = pieces.popleft()
            plug = self._open_plug(issuer)
            if plug is not None and request.sync != WRITE_THROUGH and plug.merge(self, request):
                self.merges += 1
            elif scheduler is not None and scheduler.merge(request, self._engine._now):
                pass
            elif self._throttle is not None and not self._throttle.admit(request, not self._throttled):
                self._throttled.append(request)
                self._fall_asleep(issuer)
            else:
                self._allocate(request)
            if pieces and self.sleeps(issuer):
                self._sleepers[issuer].backlog.appendleft(functools.partial(self._submit_discards, pieces))
                return

    def _submit_piece(self, request: Request) -> None:
        if self._plugged or self._thread_plugs:
            # The same as _open_plug(), inlined.
            plug = self._thread_plugs.get(request.issuer, self._task_plug if self._plugged else None)
            if plug is not None and plug.merge(self, request):
                self.merges += 1
                return
        scheduler, op = self.scheduler, request.op
        if (
            scheduler is not None
            and scheduler.queued[op]
            and request.sync != WRITE_THROUGH
            and scheduler.merge(request, self._engine._now)
        ):
            return
        if self._throttle is not None and not self._throttle.admit(request, not self._throttled):
            self._throttled.append(request)
            self._fall_asleep(request.issuer)
            return
        self._allocate(request)

    def _allocate(self, request: Request) -> None:
        """Give `request` a tag, or let it wait for one; a task that goes to sleep flushes its plug."""
        write, sync = request.op != READ, request.sync
        limited = write and sync <= self._limited_sync
        if not self._free_tags or (limited and not self._free_write_tags):
            if not self._waiting:
                self._freed = 0
            self._waiting.append(request)
            self._fall_asleep(request.issuer)
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
        reads, writes = scheduler.queued
        if reads or writes or self._dispatch_list or self._in_flight >= self.depth or not scheduler.passes(queued):
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
        if queued.op and queued.parts[0].sync <= self._limited_sync:
            self._free_write_tags += 1

    def take_plugged(self, held: list[QueuedRequest]) -> None:
        """See :meth:`raidsim.model.tasks.task_plug.PlugQueue.take_plugged`."""
        scheduler = self.scheduler
        if scheduler is None:
            for queued in held:
                self._send(queued)
            return
        now, queues = self._engine._now, scheduler.queued
        if len(held) == 1 and not queues[held[0].op & WRITE]:
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
                reads, writes = scheduler.queued
                if not (reads or writes or scheduler.idles):
                    return
                queued = scheduler.next(self._engine._now)
                if queued is None:
                    if scheduler.idles and (reads or writes):
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

    def flush(self, done: Callable[[], None]) -> None:
        """See :meth:`Device.flush`; a command that goes past the scheduler."""

        def flushed() -> None:
            self._host.complete_command()
            done()

        self.device.flush(flushed)

    def _done(self, queued: Any) -> None:
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
            if queued.parts[0].sync <= self._limited_sync:
                self._free_write_tags += 1
            self.queued_write_bytes -= queued.size
        if issuer != RESYNC_ISSUER and issuer > RESYNC_THREADS:
            self.foreground_bytes += queued.size
        scheduler = self.scheduler
        if scheduler is not None:
            # What goes past the scheduler is none of its requests.
            if self._follows and queued.sync != WRITE_THROUGH:
                scheduler.completed(queued, now)
            reads, writes = scheduler.queued
            if reads or writes or self._dispatch_list or scheduler.idles:
                self._dispatch()
        elif self._dispatch_list:
            self._dispatch()
        if self._throttle is not None:
            self._throttle.completed(queued)
        if self._waiting and self._freed >= self._wake_batch and not self._waking:
            self._waking = True
            self._gives_way_until = now + GIVE_WAY_S
            self._engine.call_at(now + self._switch_s, self._wake)
        for part in queued.parts:
            part.complete()

    def _wake(self, _: Any) -> None:
        """Sleepers take the free tags in order; Linux wakes them when a batch of tags is free, not at each.

        It runs when the CPU has switched to it: what completes meanwhile, or at the same time, comes first. A kernel
        thread cannot interrupt what runs, so it takes its tag when the CPU is free, and a program may be before it.
        """
        waiting, now, free = self._waiting, self._engine._now, self._host.cpu.free_from
        if waiting and waiting[0].issuer < 0 and free > now and now < self._gives_way_until:
            self._engine.call_at(min(free, self._gives_way_until), self._wake)
            return
        self._waking = False
        self._freed = 0
        self._waiting = deque()
        for request in waiting:
            self._allocate(request)
            self._wake_thread(request.issuer)
        self._tell_waiters()

    def _release(self) -> None:
        """The throttle may admit more of what it held back."""
        if self._throttled and not self._releasing:
            self._releasing = True
            self._engine.call_at(self._engine._now + self._switch_s, self._admit_throttled)

    def _admit_throttled(self, _: Any) -> None:
        self._releasing = False
        throttle, throttled = self._throttle, self._throttled
        assert throttle is not None
        while throttled and throttle.admit(throttled[0], True):
            request = throttled.popleft()
            self._allocate(request)
            self._wake_thread(request.issuer)
        self._tell_waiters()
