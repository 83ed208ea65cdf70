"""The lower half of a machine: links, drives, and the queue through which the kernel or a controller drives each."""

from __future__ import annotations

from ..model.blk_mq import BlkMqQueue
from ..model.block_queue import BlockQueue, PlugSettings
from ..model.controller_queue import DriveOrder
from ..model.controllers import ControllerSpec
from ..model.disk import HardDisk
from ..model.engine import Engine
from ..model.host import Host
from ..model.kernels import KernelSpec
from ..model.links import AtaChannel, Bus, Link, Path
from ..model.request import Device
from ..model.schedulers import (
    Anticipatory,
    AnticipatorySettings,
    Cfq,
    CfqSettings,
    Deadline,
    DeadlineSettings,
    LinusElevator,
    MqDeadline,
    Noop,
    Scheduler,
)
from ..model.schedulers.disksort import Disksort
from ..model.write_throttle import WriteBackThrottle
from .machine import MachineSpec
from .observer import UNOBSERVED, Observer

Queue = BlockQueue | BlkMqQueue
"""A device behind a kernel's request queue."""

_UNLIMITED = 1 << 62


class Drives:
    """Links and drives of a machine, each built when it is first asked for.

    Parameters
    ----------
    engine, host, kernel
        The clock; who pays for commands; whose queues the drives stand behind.
    machine
        The description.
    observer
        Sees each part.
    """

    def __init__(
        self, engine: Engine, host: Host, kernel: KernelSpec, machine: MachineSpec, observer: Observer = UNOBSERVED
    ) -> None:
        self._engine = engine
        self._observer = observer
        self._host = host
        self._kernel = kernel
        self._machine = machine
        self.links: dict[str, Link] = {
            name: Bus(name, link.rate, link.per_transfer, link.write_rate) for name, link in machine.links.items()
        }
        self.channels: dict[str, tuple[Link, AtaChannel | None]] = {}
        for name, channel in machine.channels.items():
            lock = AtaChannel(name) if channel.kind == "ata" else None
            self.channels[name] = (Link(name, channel.rate), lock)
        for link in (*self.links.values(), *(cable for cable, _ in self.channels.values())):
            observer.part(link)
        self.disks: dict[str, HardDisk] = {}
        self.queues: dict[str, Queue] = {}

    def queue(self, name: str) -> Queue:
        """A drive behind the host's request queue."""
        if name not in self.queues:
            spec = self._machine.drives[name].spec()
            self.queues[name] = self.queued(self.disk(name), spec.queue_depth)
        return self.queues[name]

    def behind(self, name: str, firmware: Host, controller: ControllerSpec) -> BlockQueue:
        """A drive behind a controller's own queue: sorted and merged, and never plugged."""
        depth = min(self._machine.drives[name].spec().queue_depth, controller.drive_queue_depth)
        scheduler = DriveOrder(controller.drive_request, controller.destage_wait)
        queue = BlockQueue(self._engine, firmware, self.disk(name), scheduler, depth, _UNLIMITED, _UNLIMITED, None)
        self._observer.part(queue)
        return queue

    def disk(self, name: str) -> HardDisk:
        """A drive on its cable."""
        if name not in self.disks:
            instance = self._machine.drives[name]
            channel = self._machine.channels[instance.channel]
            cable, lock = self.channels[instance.channel]
            path = Path((cable, *(self.links[link] for link in channel.links)))
            self.disks[name] = HardDisk(self._engine, instance.spec(), name, path, lock)
            self._observer.part(self.disks[name])
        return self.disks[name]

    def queued(self, device: Device, depth: int) -> Queue:
        """A device behind a request queue of the host's kernel that keeps `depth` commands at it."""
        queue = self._queue(device, depth)
        self._observer.part(queue)
        return queue

    def _queue(self, device: Device, depth: int) -> Queue:
        section = self._kernel.queue
        scheduler = self._scheduler(device.name)
        if section.multiqueue:
            target_s = section.throttle_rotational
            return BlkMqQueue(
                self._engine,
                self._host,
                device,
                depth=depth,
                scheduler=scheduler,
                max_request_bytes=section.max_request,
                requests=section.tags_for(depth),
                throttle=WriteBackThrottle(self._engine, target_s) if target_s else None,
            )
        assert scheduler is not None
        plug = PlugSettings(section.plug_requests, section.plug_delay)
        return BlockQueue(
            self._engine, self._host, device, scheduler, depth, section.limit, section.limit_requests, plug
        )

    def _scheduler(self, name: str) -> Scheduler | None:
        section = self._kernel.queue
        match section.scheduler:
            case "linus":
                return LinusElevator(section.max_request, section.read_passes, section.write_passes)
            case "noop":
                return Noop(section.max_request)
            case "disksort":
                return Disksort(section.max_request)
            case "deadline" | "mq-deadline":
                settings = DeadlineSettings(
                    read_expire_s=section.read_expire,
                    write_expire_s=section.write_expire,
                    fifo_batch=section.fifo_batch,
                    writes_starved=section.writes_starved,
                )
                order = Deadline if section.scheduler == "deadline" else MqDeadline
                return order(section.max_request, settings)
            case "cfq":
                slices = CfqSettings(
                    section.slice_sync,
                    section.slice_async,
                    section.slice_idle,
                    section.read_expire,
                    section.write_expire,
                    section.quantum,
                )
                return Cfq(section.max_request, slices)
            case "none":
                return None
        anticipatory = AnticipatorySettings(
            section.read_batch, section.write_batch, section.anticipation, section.read_expire, section.write_expire
        )
        phase = float(self._engine.streams.generator(f"{name}/scheduler").random())
        return Anticipatory(section.max_request, anticipatory, phase)
