"""From block I/Os to requests: splitting, merging in the plug, write throttling, and the request's own end.

What is common to the queues of blk-mq (:mod:`.multi_queue`, :mod:`.hardware_queues`): how an I/O enters the queue, and
when its thread sleeps on the way. Where a request gets its tag, and how it goes to the device, is each queue's own.
Sources: block/blk-mq.c (blk_mq_submit_bio), block/blk-merge.c (__bio_split_to_limits), block/blk-rq-qos.c.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from ..core.device import Device
from ..core.discard import pieces_of
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.join import Parts
from ..core.request import CRYPT_THREADS, PARITY_THREADS, TRIM, WRITE_THROUGH, Completion, Request
from ..schedulers import QueuedRequest, Scheduler
from ..tasks.host import Host
from ..tasks.submitting_threads import SubmittingThreads
from ..waits.causes import THROTTLE
from .io_statistics import BusyTicks, IoStatistics
from .throttle import Throttle

MAX_SEGMENTS: Final = 128
"""Pieces of memory that a request may consist of, unless the driver takes more or fewer (BLK_MAX_SEGMENTS)."""
_PAGE: Final = 4096
_WAIT_QUEUES: Final = 8
_LARGEST_WAKE_BATCH: Final = 8


class RequestQueue(SubmittingThreads):
    """The side of a queue that faces the I/Os.

    Parameters
    ----------
    engine, host
        The clock, and the host that pays for commands and interrupts.
    device
        What serves the requests.
    depth
        Requests the device takes at once.
    scheduler
        I/O scheduler, or None for "none".
    max_request_bytes
        Largest request (max_sectors_kb): larger I/Os are split, and merging stops there.
    max_segments
        Pieces of memory that a request may consist of. md's threads of RAID 4, 5 and 6 submit a bio for each page of a
        stripe head, and each bio is a separate piece, even next to another one in memory: so their requests have
        this number of pages at most (block/blk-merge.c, ll_new_hw_segment and ll_merge_requests_fn).
    spreads
        Whether the device has a hardware queue for each CPU, so that threads stay on theirs and are interrupted there.
    throttle
        Write-back throttling, or None.
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
        "_engine",
        "_finished",
        "_fits",
        "_host",
        "_releasing",
        "_switch_s",
        "_throttle",
        "_throttled",
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
        scheduler: Scheduler | None,
        max_request_bytes: int,
        max_segments: int,
        spreads: bool,
        throttle: Throttle | None,
        busy_ticks: BusyTicks,
        program_pays: bool,
    ) -> None:
        if min(depth, max_request_bytes, max_segments) < 1:
            raise ModelError(
                f"{device.name}: depth {depth}, requests of up to {max_request_bytes} bytes and "
                f"{max_segments} segments; at least 1 each"
            )
        super().__init__(engine, host, device)
        self._engine = engine
        self._host = host
        self.depth = depth
        self.scheduler = scheduler
        self._finished = _Finished(self)
        self.statistics = IoStatistics(busy_ticks)
        self.max_request_bytes = max_request_bytes
        self.most_of_pages = self._fits = min(max_segments * _PAGE, max_request_bytes)
        self.discard_bytes = device.discard_limits.most_bytes
        if scheduler is not None:
            scheduler.done = self._finished
            scheduler.discard_bytes = self.discard_bytes
            scheduler.most_of_pages = self.most_of_pages
        self.spreads = spreads
        self._cores = host.cpu.cores
        self._throttle = throttle
        self._throttled: deque[Request] = deque()
        self._releasing = False
        self._switch_s = host.prices.switch_s
        self._command_s = 0.0 if program_pays else host.prices.command_s
        self._cpu = host.cpu
        self.queued_write_bytes = self.foreground_bytes = self.merges = 0

    @abstractmethod
    def _allocate(self, request: Request) -> None:
        """Give `request` a tag, or let it wait for one."""

    @abstractmethod
    def take_plugged(self, held: list[QueuedRequest]) -> None:
        """See :meth:`raidsim.model.tasks.task_plug.PlugQueue.take_plugged`."""

    @abstractmethod
    def finish(self, queued: QueuedRequest) -> None:
        """The device has done a request."""

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
                thread.backlog.append(thread.later(self._engine, request, self._enter))
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
            Request(
                request.op, offset, min(limit, end - offset), join, request.issuer, request.sync, trail=request.trail
            )
            for offset in range(request.offset, end, limit)
        )
        while pieces:
            self._submit_piece(pieces.popleft())
            thread = self._sleepers.get(request.issuer)
            if thread is not None and thread.sleeps:
                thread.backlog.extendleft(
                    thread.later(self._engine, piece, self._submit_piece) for piece in reversed(pieces)
                )
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
                self._fall_asleep(issuer, THROTTLE)
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
            and (scheduler.writes if op else scheduler.reads)
            and request.sync != WRITE_THROUGH
            and scheduler.merge(request, self._engine._now)
        ):
            return
        if self._throttle is not None and not self._throttle.admit(request, not self._throttled):
            self._throttled.append(request)
            self._fall_asleep(request.issuer, THROTTLE)
            return
        self._allocate(request)

    def flush(self, done: Callable[[], None]) -> None:
        """See :meth:`Device.flush`; a command that goes past the scheduler."""

        def flushed() -> None:
            self._host.complete_command()
            done()

        self.device.flush(flushed)

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
            request.mark(THROTTLE, self._engine._now)
            self._allocate(request)
            self._wake_thread(request.issuer)
        self._tell_waiters()


class _Finished(Completion):
    """Of all requests of a queue."""

    __slots__ = ("_queue",)

    def __init__(self, queue: RequestQueue) -> None:
        self._queue = queue

    def done(self, request: Request) -> None:
        """See :meth:`RequestQueue.finish`."""
        assert isinstance(request, QueuedRequest)
        self._queue.finish(request)


def wake_batch(tags: int) -> int:
    """How many tags must be free before sleepers are woken for them (lib/sbitmap.c, sbq_calc_wake_batch)."""
    return min(max(tags // _WAIT_QUEUES, 1), _LARGEST_WAKE_BATCH)
