"""The lower half of a machine: links, drives, and the queue through which the kernel or a controller drives each."""

from __future__ import annotations

from collections import Counter

from ...model.block.single_queue import BlockQueue
from ...model.controller.catalogue import ControllerSpec
from ...model.controller.drive_queue import DriveOrder
from ...model.core.device import Device
from ...model.core.engine import Engine
from ...model.disk.hard_disk import HardDisk
from ...model.disk.spec import DriveSpec
from ...model.kernels import KernelSpec
from ...model.links.link import AtaChannel, Bus, DuplexLink, Link, Path
from ...model.solid_state.drive import SolidState
from ...model.tasks.host import Host
from ..description.machine import ChannelSpec, LinkSpec, MachineSpec
from .observer import UNOBSERVED, Observer
from .queues import Queue, QueueChoice, Queues


def built_link(name: str, spec: LinkSpec, ends: tuple[str, str] = ("to the host", "to the drives")) -> Link:
    """A link of a machine, or of a network; `ends` are its directions in words."""
    what = spec.model or ""
    if not spec.duplex:
        return Bus(name, spec.rate, spec.per_transfer, spec.write_rate, what)
    return DuplexLink(
        name, spec.rate, spec.per_transfer, spec.write_rate, what, command_rate=spec.command_rate, ends=ends
    )


def built_cable(name: str, spec: ChannelSpec) -> Link:
    """The cable between a drive and the links beyond."""
    what = spec.model or ""
    return DuplexLink(name, spec.rate, what=what) if spec.duplex else Link(name, spec.rate, what=what)


_UNLIMITED = 1 << 62

Drive = HardDisk | SolidState
"""What a drive of a machine is simulated as."""


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
        self._queues = Queues(engine, host, kernel)
        self._machine = machine
        self.links: dict[str, Link] = {name: built_link(name, link) for name, link in machine.links.items()}
        self.channels: dict[str, tuple[Link, AtaChannel | None]] = {}
        for name, channel in machine.channels.items():
            lock = AtaChannel(name) if channel.kind == "ata" else None
            self.channels[name] = (built_cable(name, channel), lock)
        for link in (*self.links.values(), *(cable for cable, _ in self.channels.values())):
            observer.part(link)
        self._drives_on = Counter(instance.channel for instance in machine.drives.values())
        self.disks: dict[str, Drive] = {}
        self.queues: dict[str, Queue] = {}

    def queue(self, name: str) -> Queue:
        """A drive behind the host's request queue."""
        if name not in self.queues:
            instance = self._machine.drives[name]
            self.queues[name] = self._queued(self.disk(name), QueueChoice.of_drive(instance, instance.spec()))
        return self.queues[name]

    def behind(self, name: str, firmware: Host, controller: ControllerSpec) -> BlockQueue:
        """A drive behind a controller's own queue: sorted and merged, and never plugged.

        If the host waits for all that is written, nothing is background work: what is read for parity takes turns.
        """
        depth = min(self._machine.drives[name].spec().queue_depth, controller.drive_queue_depth)
        background_wait_s = 0.0 if controller.settings().gathers_in_turn else controller.destage_wait
        scheduler = DriveOrder(controller.drive_request, background_wait_s)
        queue = BlockQueue(self._engine, firmware, self.disk(name), scheduler, depth, _UNLIMITED, _UNLIMITED, None)
        self._observer.part(queue)
        return queue

    def disk(self, name: str) -> Drive:
        """A drive on its cable."""
        if name not in self.disks:
            instance = self._machine.drives[name]
            channel = self._machine.channels[instance.channel]
            cable, lock = self.channels[instance.channel]
            path = Path((cable, *(self.links[link] for link in channel.links)))
            spec = instance.spec()
            if isinstance(spec, DriveSpec):
                alone = self._drives_on[instance.channel] == 1
                self.disks[name] = HardDisk(self._engine, spec, name, path, lock, own_cable=alone)
            else:
                self.disks[name] = SolidState(self._engine, spec, name, path, state=instance.state or "steady")
            self._observer.part(self.disks[name])
        return self.disks[name]

    def queued(self, device: Device, depth: int, max_request: int | None = None) -> Queue:
        """A device behind a request queue of the host's kernel that keeps `depth` commands at it.

        They are of at most `max_request` bytes; None: as the kernel sends them.
        """
        return self._queued(device, QueueChoice(depth, max_request=max_request))

    def _queued(self, device: Device, choice: QueueChoice) -> Queue:
        queue = self._queues.over(device, choice)
        self._observer.part(queue)
        return queue
