"""A drive with several hardware queues and no I/O scheduler, as Linux drives NVMe: each CPU has a queue of its own.

A request goes to the queue of the CPU that submits it, and takes a tag of that queue; its completion interrupts that
CPU. So threads on different CPUs neither wait for each other's tags nor for each other's interrupts. Merging stays in
the plug. A program stays on its CPU: it issues the stream, and the stream modulo the number of CPUs is where it runs.
Kernel threads have a queue likewise, but run, and are interrupted, where most is free, as if the others made room.
Sources: block/blk-mq.c (blk_mq_submit_bio, blk_mq_map_queue), block/blk-mq-cpumap.c, drivers/nvme/host/pci.c
(nvme_setup_irqs: one queue per CPU if the drive has enough).

A submission that finds nothing in its way (no plug, no sleeper, a free tag) is done at one go; all others take the way
of :class:`raidsim.model.block.multi_queue.BlkMqQueue`.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import DIRECT, READ, RESYNC_ISSUER, RESYNC_THREADS, TRIM, WRITE_THROUGH, Request
from ..schedulers import QueuedRequest
from ..tasks.host import GIVE_WAY_S, Host
from .io_statistics import BusyTicks
from .multi_queue import MAX_SEGMENTS, BlkMqQueue
from .throttle import Throttle


class HardwareQueues(BlkMqQueue):
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
        As :class:`.multi_queue.BlkMqQueue` has them.
    """

    __slots__ = ("_free", "_freed_of", "_waiting_for", "_waking_of", "hardware_queues")

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
            self._fall_asleep(request.issuer)
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

    def _done(self, queued: Any) -> None:
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
                since = self._engine._now
                self._engine.call_at(since + self._switch_s, partial(self._wake_queue, queue, since + GIVE_WAY_S))
        for part in queued.parts:
            part.complete()

    def _wake_queue(self, queue: int, gives_way_until: float, _: Any) -> None:
        """Sleepers take the free tags of one queue; see :meth:`raidsim.model.block.multi_queue.BlkMqQueue._wake`."""
        waiting, now = self._waiting_for[queue], self._engine._now
        free = self._host.cpu.free_from
        if waiting[0].issuer < 0 and free > now and now < gives_way_until:
            again = partial(self._wake_queue, queue, gives_way_until)
            self._engine.call_at(min(free, gives_way_until), again)
            return
        self._waking_of[queue] = False
        self._freed_of[queue] = 0
        self._waiting_for[queue] = deque()
        for request in waiting:
            self._allocate(request)
            self._wake_thread(request.issuer)
        self._tell_waiters()
