"""A drive with several hardware queues and no I/O scheduler, as Linux drives NVMe: each CPU has a queue of its own.

A request goes to the queue of the CPU that submits it, and takes a tag of that queue; its completion interrupts that
CPU. So threads on different CPUs neither wait for each other's tags nor for each other's interrupts. Merging stays in
the plug. A program stays on its CPU: it issues the stream, and the stream modulo the number of CPUs is where it runs.
Kernel threads have a queue likewise, but run, and are interrupted, where most is free, as if the others made room.
Sources: block/blk-mq.c (blk_mq_submit_bio, blk_mq_map_queue), block/blk-mq-cpumap.c, drivers/nvme/host/pci.c
(nvme_setup_irqs: one queue per CPU if the drive has enough).

A submission that finds nothing in its way (no plug, no sleeper, a free tag) is done at one go; all others take the way
of :class:`.request_queue.RequestQueue`.
"""

from __future__ import annotations

from collections import deque

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import DIRECT, READ, RESYNC_ISSUER, RESYNC_THREADS, TRIM, WRITE_THROUGH, Request
from ..core.timed import Timed
from ..schedulers import QueuedRequest
from ..tasks.host import GIVE_WAY_S, Host
from ..waits.causes import TAG
from .io_statistics import BusyTicks
from .request_queue import MAX_SEGMENTS, RequestQueue, wake_batch
from .throttle import Throttle


class HardwareQueues(RequestQueue):
    """A device behind one or more hardware queues without a scheduler.

    Parameters
    ----------
    engine, host
        The clock, and the host that pays for commands and interrupts, on whose cores the threads run.
    device
        What serves the requests.
    depth
        Tags of each queue.
    hardware_queues
        How many there are; not more than the host has cores.
    max_request_bytes
        Largest request (max_sectors_kb).
    throttle
        Write-back throttling, or None.
    max_segments, busy_ticks, program_pays
        As :class:`.request_queue.RequestQueue` has them.
    """

    __slots__ = ("_free", "_freed_of", "_waiting_for", "_wake_batch", "_waking_of", "hardware_queues")

    def __init__(
        self,
        engine: Engine,
        host: Host,
        device: Device,
        *,
        depth: int,
        hardware_queues: int = 1,
        max_request_bytes: int = 1_310_720,
        max_segments: int = MAX_SEGMENTS,
        throttle: Throttle | None = None,
        busy_ticks: BusyTicks = "requests",
        program_pays: bool = False,
    ) -> None:
        cores = host.cpu.cores
        if not 1 <= hardware_queues <= cores:
            raise ModelError(f"{device.name}: {hardware_queues} hardware queues on {cores} cores; 1 to {cores}")
        super().__init__(
            engine,
            host,
            device,
            depth=depth,
            scheduler=None,
            max_request_bytes=max_request_bytes,
            max_segments=max_segments,
            spreads=hardware_queues > 1,
            throttle=throttle,
            busy_ticks=busy_ticks,
            program_pays=program_pays,
        )
        self.hardware_queues = hardware_queues
        self.depth = depth * hardware_queues
        self._free = [depth] * hardware_queues
        self._freed_of = [0] * hardware_queues
        self._waiting_for: list[deque[Request]] = [deque() for _ in range(hardware_queues)]
        self._waking_of = [False] * hardware_queues
        self._wake_batch = wake_batch(depth)
        if throttle is not None:
            throttle.attach(self._release, depth)

    @property
    def has_room(self) -> bool:
        """Whether nobody sleeps for want of a tag or held back by the throttle."""
        return not any(self._waiting_for) and not self._throttled

    @property
    def has_write_tag(self) -> bool:
        """Whether every hardware queue has a tag."""
        return all(self._free)

    def _queue_of(self, issuer: int) -> int:
        return issuer % self._cores % self.hardware_queues

    def submit(self, request: Request) -> None:
        """Accept an I/O; without a tag in its thread's queue, it waits in order of arrival."""
        now = self._engine._now
        throttle = self._throttle
        counted = request.op != READ
        if (
            self._plugged
            or self._sleepers
            or self._thread_plugs
            or request.size > self._fits
            or (counted and (request.op == TRIM or (throttle is not None and request.sync != DIRECT)))
        ):
            super().submit(request)
            return
        queue = request.issuer % self._cores % self.hardware_queues
        free = self._free
        if not free[queue]:
            super().submit(request)
            return
        free[queue] -= 1
        request.submitted = now
        queued = QueuedRequest(request, now, self._finished)
        # The same as IoStatistics.made(), inlined.
        statistics = self.statistics
        if now < statistics.tick_ends:
            statistics.inside += 1
        else:
            statistics.made(now)
        if counted:
            self.queued_write_bytes += request.size
        if throttle is not None:
            throttle.passed(queued)
        self.device.submit(queued)

    def _allocate(self, request: Request) -> None:
        """Give `request` a tag of its thread's queue, or let it wait for one."""
        queue = self._queue_of(request.issuer)
        if not self._free[queue]:
            if not self._waiting_for[queue]:
                self._freed_of[queue] = 0
            self._waiting_for[queue].append(request)
            self._fall_asleep(request.issuer, TAG)
            return
        self._free[queue] -= 1
        now = self._engine._now
        queued = QueuedRequest(request, now, self._finished)
        self.statistics.made(now)
        if self._throttle is not None:
            self._throttle.track(queued)
        plug = self._open_plug(request.issuer) if self._plugged or self._thread_plugs else None
        if plug is None or request.sync == WRITE_THROUGH:
            self._send(queued)
        else:
            plug.add(self, queued)

    def _send(self, queued: QueuedRequest) -> None:
        if self._throttle is not None:
            self._throttle.sent(queued)
        self.device.submit(queued)

    def take_plugged(self, held: list[QueuedRequest]) -> None:
        """See :meth:`raidsim.model.tasks.task_plug.PlugQueue.take_plugged`."""
        for queued in held:
            self._send(queued)

    def finish(self, queued: QueuedRequest) -> None:
        """See :meth:`.request_queue.RequestQueue.finish`."""
        # The same as IoStatistics.done(), inlined.
        statistics, now = self.statistics, self._engine._now
        if now < statistics.tick_ends and queued.op != TRIM:
            statistics.inside -= 1
            statistics.completed += 1
            statistics.waited_s += now - queued.made
        else:
            statistics.done(now, queued)
        issuer = queued.issuer
        core = issuer % self._cores
        queue = core % self.hardware_queues
        self._free[queue] += 1
        if issuer < 0:
            self._host.complete_command_of(issuer)
        elif self._command_s:
            self._host.complete_command(core if self.spreads else None)
        else:
            self._host.commands += 1
        if queued.op:
            self.queued_write_bytes -= queued.size
        if issuer > RESYNC_THREADS and issuer != RESYNC_ISSUER:
            self.foreground_bytes += queued.size
        if self._throttle is not None:
            self._throttle.completed(queued)
        if self._waiting_for[queue]:
            self._freed_of[queue] += 1
            if self._freed_of[queue] >= self._wake_batch and not self._waking_of[queue]:
                self._waking_of[queue] = True
                self._engine.insert(now + self._switch_s, _Waker(self, queue, now + GIVE_WAY_S))
        queued.complete_parts()

    def wake(self, waker: _Waker) -> None:
        """Sleepers take the free tags of one queue; see :meth:`.multi_queue.BlkMqQueue.wake`."""
        queue = waker.queue
        waiting, now, free = self._waiting_for[queue], self._engine._now, self._host.cpu.free_from
        if waiting[0].issuer < 0 and free > now and now < waker.gives_way_until:
            self._engine.insert(min(free, waker.gives_way_until), waker)
            return
        self._waking_of[queue] = False
        self._freed_of[queue] = 0
        # Who falls asleep again meanwhile stands in front of those that have not been looked at yet.
        fallen = self._waiting_for[queue] = deque()
        while waiting and self._free[queue]:
            request = waiting.popleft()
            request.mark(TAG, now)
            self._allocate(request)
            self._wake_thread(request.issuer)
        waiting.extendleft(reversed(fallen))
        self._waiting_for[queue] = waiting
        self._tell_waiters()


class _Waker(Timed):
    """The time at which one hardware queue wakes those that sleep for want of a tag.

    Attributes
    ----------
    queue
        Its number.
    gives_way_until
        Until when (s) a kernel thread lets a program run on.
    """

    __slots__ = ("_queues", "gives_way_until", "queue")

    def __init__(self, queues: HardwareQueues, queue: int, gives_way_until: float) -> None:
        self._queues = queues
        self.queue = queue
        self.gives_way_until = gives_way_until

    def happen(self) -> None:
        """See :meth:`HardwareQueues.wake`."""
        self._queues.wake(self)
