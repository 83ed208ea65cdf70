"""A driver that takes block I/Os as they come: no requests, tags, merging, plug or I/O scheduler.

Such a driver has its own submit_bio (Linux drivers/block/brd.c; null_blk with queue_mode=0); block/blk-core.c hands it
each I/O of a thread, one after the other, also those that md makes of one (submit_bio_noacct, current->bio_list).
"""

from __future__ import annotations

from ..core.device import Device
from ..core.discard import pieces_of
from ..core.engine import Engine
from ..core.request import RESYNC_ISSUER, RESYNC_THREADS, TRIM, Completion, Request
from ..schedulers import QueuedRequest, Scheduler
from ..tasks.host import Host
from ..tasks.submitting_threads import SubmittingThreads
from .io_statistics import BusyTicks, IoStatistics


class BioQueue(SubmittingThreads):
    """A device without a request queue.

    Parameters
    ----------
    engine, host
        The clock; whose threads submit.
    device
        What serves the I/Os.
    busy_ticks
        What iostat's ``%util`` counts (:mod:`.io_statistics`).

    Attributes
    ----------
    foreground_bytes
        Completed so far, but for resync.
    scheduler
        None: nothing is sorted.
    statistics
        What iostat shows of the device.
    """

    __slots__ = ("_finished", "_kernel_inside", "foreground_bytes", "scheduler", "spreads", "statistics")

    foreground_bytes: int

    def __init__(self, engine: Engine, host: Host, device: Device, *, busy_ticks: BusyTicks = "requests") -> None:
        super().__init__(engine, host, device)
        self._finished = _Finished(self)
        self._kernel_inside = 0
        self.scheduler: Scheduler | None = None
        self.spreads = False
        self.statistics = IoStatistics(busy_ticks)
        self.foreground_bytes = 0

    @property
    def has_room(self) -> bool:
        """Whether no kernel thread is inside a submission here: one that is waits until it comes out."""
        return not self._kernel_inside

    @property
    def has_write_tag(self) -> bool:
        """There are no tags to wait for."""
        return True

    @property
    def plugs(self) -> bool:
        """Nothing is held back."""
        return False

    def plug(self) -> None:
        """Hold nothing back."""

    def unplug(self) -> None:
        """There is nothing to send."""

    def submit(self, request: Request) -> None:
        """Accept an I/O; a thread that is inside another submission brings it later."""
        request.submitted = self._clock._now
        if request.op == TRIM:
            for piece in pieces_of(request, self.discard_limits):
                self._take_turn(piece)
        else:
            self._take_turn(request)

    def _take_turn(self, request: Request) -> None:
        thread = self._sleepers.get(request.issuer) if self._sleepers else None
        if thread is not None and thread.sleeps:
            thread.backlog.append(thread.later(self._clock, request, self._pass_on))
        else:
            self._pass_on(request)

    def _pass_on(self, request: Request) -> None:
        now = self._clock._now
        self.statistics.made(now)
        self._kernel_inside += request.issuer < 0
        self.device.submit(QueuedRequest(request, now, self._finished))

    def finish(self, queued: QueuedRequest) -> None:
        """The driver has done an I/O."""
        self.statistics.done(self._clock._now, queued)
        issuer = queued.issuer
        if issuer < 0:
            self._kernel_inside -= 1
        if issuer > RESYNC_THREADS and issuer != RESYNC_ISSUER:
            self.foreground_bytes += queued.size
        queued.complete_parts()
        self._tell_waiters()


class _Finished(Completion):
    """Of all I/Os of a queue."""

    __slots__ = ("_queue",)

    def __init__(self, queue: BioQueue) -> None:
        self._queue = queue

    def done(self, request: Request) -> None:
        """See :meth:`BioQueue.finish`."""
        assert isinstance(request, QueuedRequest)
        self._queue.finish(request)
