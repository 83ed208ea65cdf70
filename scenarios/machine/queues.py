"""The request queue of the kernel in front of a drive, with its I/O scheduler."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.block.hardware_queues import HardwareQueues
from ...model.block.multi_queue import BlkMqQueue
from ...model.block.single_queue import BlockQueue, PlugSettings
from ...model.block.throttle import WriteBackThrottle
from ...model.core.device import Device
from ...model.core.engine import Engine
from ...model.drives.catalogue import AnyDrive
from ...model.kernels import KernelSpec, SchedulerName
from ...model.schedulers import (
    Anticipatory,
    AnticipatorySettings,
    Bfq,
    BufferElevator,
    Cfq,
    CfqSettings,
    Deadline,
    DeadlineSettings,
    Kyber,
    LinusElevator,
    MqDeadline,
    Noop,
    OneWayElevator,
    Scheduler,
)
from ...model.schedulers import bfq as bfq_scheduler
from ...model.schedulers import kyber as kyber_scheduler
from ...model.schedulers.anticipatory import Reader
from ...model.schedulers.disksort import Disksort
from ...model.solid_state.spec import SolidStateSpec
from ...model.tasks.host import Host
from ..description.machine import DriveInstance

Queue = BlockQueue | BlkMqQueue
"""A device behind a kernel's request queue."""

_ELEVATORS = {"both-ways": LinusElevator, "one-way": OneWayElevator, "one-way-buffers": BufferElevator}

_TAG_WORD = 64
"""Tags in a word of a large bitmap; a small one is spread over four words (lib/sbitmap.c, sbitmap_calculate_shift)."""


@dataclass(frozen=True, slots=True)
class QueueChoice:
    """What is known of a device, and what its user has set.

    Attributes
    ----------
    depth
        Commands that it takes at once in each of its queues.
    queues
        How many it has.
    rotational
        Whether it turns.
    scheduler, nr_requests, max_request, wbt_lat
        As :class:`raidsim.scenarios.description.machine.DriveInstance` has them; None for the kernel's choice.
    """

    depth: int
    queues: int = 1
    rotational: bool = True
    scheduler: SchedulerName | None = None
    nr_requests: int | None = None
    max_request: int | None = None
    wbt_lat: float | None = None

    @classmethod
    def of_drive(cls, instance: DriveInstance, spec: AnyDrive) -> QueueChoice:
        """Of a drive of a machine."""
        return cls(
            depth=spec.queue_depth,
            queues=spec.queues if isinstance(spec, SolidStateSpec) else 1,
            rotational=spec.rotational,
            scheduler=instance.scheduler,
            nr_requests=instance.nr_requests,
            max_request=instance.max_request,
            wbt_lat=instance.wbt_lat,
        )


class Queues:
    """Builds the request queues of a kernel.

    Parameters
    ----------
    engine, host
        The clock, and who pays for commands.
    kernel
        Whose queues they are.
    """

    def __init__(self, engine: Engine, host: Host, kernel: KernelSpec) -> None:
        self._engine = engine
        self._host = host
        self._section = kernel.queue
        self._processes: dict[int, Reader] | None = {} if kernel.queue.task_history else None

    def over(self, device: Device, choice: QueueChoice) -> Queue:
        """A queue in front of `device`."""
        section = self._section
        largest = choice.max_request or section.max_request
        hardware_queues = min(self._host.cpu.cores, choice.queues) if section.multiqueue else 1
        name = choice.scheduler or (section.scheduler_multiqueue if hardware_queues > 1 else section.scheduler)
        if not section.multiqueue:
            scheduler = self._scheduler(name, device.name, largest, choice.rotational)
            assert scheduler is not None
            plug = PlugSettings(section.plug_requests, section.plug_delay)
            requests = choice.nr_requests or section.limit_requests
            return BlockQueue(
                self._engine,
                self._host,
                device,
                scheduler,
                choice.depth,
                section.limit,
                requests,
                plug,
                section.wake_share,
                section.wakes_one,
            )
        if name == "none":
            tags = min(choice.depth, choice.nr_requests or choice.depth)
            return HardwareQueues(
                self._engine,
                self._host,
                device,
                depth=tags,
                hardware_queues=hardware_queues,
                max_request_bytes=largest,
                throttle=self._throttle(name, choice, tags),
            )
        usual = section.tags_for(choice.depth)
        requests = choice.nr_requests or usual
        return BlkMqQueue(
            self._engine,
            self._host,
            device,
            depth=choice.depth * hardware_queues,
            scheduler=self._scheduler(name, device.name, largest, choice.rotational),
            max_request_bytes=largest,
            requests=requests * hardware_queues,
            write_requests=_tags_of_writes(name, requests, usual) * hardware_queues,
            only_async=name != "mq-deadline",
            spreads=hardware_queues > 1,
            throttle=self._throttle(name, choice, requests),
        )

    def _throttle(self, scheduler: SchedulerName, choice: QueueChoice, requests: int) -> WriteBackThrottle | None:
        """Write-back throttling, which BFQ turns off unless it is asked for (wbt_disable_default)."""
        target_s = choice.wbt_lat
        if target_s is None:
            section = self._section
            target_s = section.throttle_rotational if choice.rotational else section.throttle_solid
            if scheduler == "bfq":
                target_s = 0.0
        return WriteBackThrottle(self._engine, target_s, requests) if target_s else None

    def _scheduler(self, scheduler: SchedulerName, name: str, largest: int, rotational: bool) -> Scheduler | None:
        section = self._section
        usual = scheduler == section.scheduler
        match scheduler:
            case "linus":
                return _ELEVATORS[section.elevator](largest, section.read_passes, section.write_passes)
            case "noop":
                return Noop(largest)
            case "disksort":
                return Disksort(largest)
            case "deadline" | "mq-deadline":
                settings = DeadlineSettings(
                    read_expire_s=section.read_expire,
                    write_expire_s=section.write_expire,
                    fifo_batch=section.fifo_batch,
                    writes_starved=section.writes_starved,
                )
                order = Deadline if scheduler == "deadline" else MqDeadline
                return order(largest, settings if usual else None)
            case "cfq":
                slices = CfqSettings(
                    section.slice_sync,
                    section.slice_async,
                    section.slice_idle,
                    section.read_expire,
                    section.write_expire,
                    section.quantum,
                )
                return Cfq(largest, slices if usual else None)
            case "bfq":
                return Bfq(largest, rotational)
            case "kyber":
                return Kyber(largest)
            case "none":
                return None
        expiry = (section.read_expire, section.write_expire) if usual else ()
        anticipatory = AnticipatorySettings(section.read_batch, section.write_batch, section.anticipation, *expiry)
        phase = float(self._engine.streams.generator(f"{name}/scheduler").random())
        return Anticipatory(largest, anticipatory, phase, self._processes)


def _tags_of_writes(scheduler: SchedulerName, requests: int, usual: int) -> int:
    """How many of `requests` tags writes may take, where the kernel would have given `usual`.

    mq-deadline lets all writes have three quarters of the tags, but applies that number to each word of the tags'
    bitmap, and when nr_requests is set it computes it from the one before, so that it seldom limits anything
    (block/mq-deadline.c, dd_depth_updated and dd_limit_depth; block/blk-mq.c, blk_mq_update_nr_requests).
    """
    if scheduler != "mq-deadline":
        share = bfq_scheduler.ASYNC_SHARE if scheduler == "bfq" else kyber_scheduler.ASYNC_SHARE
        return max(int(requests * share), 1)
    word = _TAG_WORD
    while word > 1 and 4 * word > requests:
        word //= 2
    allowed = max(3 * usual // 4, 1)
    return requests if allowed >= word else max(requests // word * allowed, 1)
