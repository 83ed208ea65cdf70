"""The upper half of a machine: arrays over drives and over each other, controllers that run them, and encryption."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.controller.controller import RaidController
from ...model.controller.firmware import Firmware
from ...model.core.engine import Engine
from ...model.crypt.ciphers import cipher
from ...model.crypt.cryptoloop import CryptDevice
from ...model.crypt.dm_crypt import CryptPipeline, CryptSettings
from ...model.crypt.loop_device import LoopDevice
from ...model.kernels import KernelSpec
from ...model.links.link import Path
from ...model.memory.page_cache import PageCache
from ...model.raid.base.io_limit import BioSplit
from ...model.raid.read_balance import READ_BALANCE
from ...model.tasks.host import Host
from ..description.arrays import ArraySpec, EncryptedSpec
from ..description.scenario import ScenarioSpec
from .array import ArrayBuilder, ArrayParts
from .drives import Drives
from .observer import UNOBSERVED, Observer


class Arrays:
    """Arrays, controllers and encrypted devices of a scenario, each built when it is first asked for.

    Parameters
    ----------
    engine, host, kernel
        The clock; who runs the arrays that no controller runs; how.
    drives
        The drives.
    scenario
        The description.
    cached
        Makes the page cache of a device, by its name.
    scale
        Controllers have as much less memory for their caches, in a run of a fraction of the size.
    observer
        Sees each part.

    Attributes
    ----------
    arrays
        By name; the second array inside a nested one is "md0.1".
    controllers
        Volumes of hardware controllers, by the name of their array.
    firmwares
        The controllers' processors, by the controller's name.
    resyncs
        Threads that rebuild or check from the start, by the name of their array.
    spares
        What waits for members to fail, by the name of their array.
    loops
        Loop devices with a page cache below.
    """

    def __init__(
        self,
        engine: Engine,
        host: Host,
        kernel: KernelSpec,
        drives: Drives,
        scenario: ScenarioSpec,
        cached: Callable[[str], PageCache],
        scale: int = 1,
        observer: Observer = UNOBSERVED,
    ) -> None:
        self._cached = cached
        self._scale = scale
        self._observer = observer
        self._engine = engine
        self._kernel = kernel
        self._scenario = scenario
        self._parts = ArrayParts(engine, kernel, scenario, observer, self.rotational)
        self.arrays, self.resyncs, self.spares = self._parts.arrays, self._parts.resyncs, self._parts.spares
        self._host = host
        self._drives = drives
        self._devices: dict[str, Any] = {}
        self.controllers: dict[str, RaidController] = {}
        self.firmwares: dict[str, Firmware] = {}
        self.loops: dict[str, LoopDevice] = {}

    def device(self, name: str) -> Any:
        """A drive behind its queue, an array, a controller's volume, or an encrypted device."""
        if name in self._scenario.machine.drives:
            return self._drives.queue(name)
        if name not in self._devices:
            if name in self._scenario.encrypted:
                self._devices[name] = self._encrypted(name)
            else:
                self._devices[name] = self._array(name, self._scenario.arrays[name])
        return self._devices[name]

    def rotational(self, name: str) -> bool:
        """Whether a device turns; an array does if one of its members does (md.c, md_run: QUEUE_FLAG_NONROT)."""
        scenario = self._scenario
        if name in scenario.machine.drives:
            return scenario.machine.drives[name].spec().rotational
        if name in scenario.encrypted:
            return self.rotational(scenario.encrypted[name].on)
        while name not in scenario.arrays:  # a part of a nested array, "md0.1"
            name = name.rpartition(".")[0]
        return any(self.rotational(member) for member in scenario.arrays[name].members)

    def _encrypted(self, name: str) -> CryptDevice | CryptPipeline | LoopDevice:
        spec = self._scenario.encrypted[name]
        threads = 1 if spec.kind == "cryptoloop" else self._host.cpu.cores
        device: CryptDevice | CryptPipeline | LoopDevice
        if spec.rate is None:
            device = self._ciphered(name, spec)
        elif spec.kind == "cryptoloop" and self._kernel.cache.loop_cached:
            device = LoopDevice(self._engine, self._host, self._cached(spec.on), 1.0 / spec.rate, name)
            self.loops[name] = device
        else:
            below = self.device(spec.on)
            rate, discards = 1.0 / spec.rate, spec.allow_discards
            device = CryptDevice(
                self._engine, below, self._host, rate, threads=threads, name=name, allow_discards=discards
            )
        self._observer.part(device)
        return device

    def _ciphered(self, name: str, spec: EncryptedSpec) -> CryptPipeline:
        """dm-crypt with a cipher of the catalogue, on the cores that there are."""
        assert spec.cipher is not None
        scenario, section, host = self._scenario, self._kernel.crypt, self._host
        known, cycle_s = cipher(spec.cipher), scenario.path_length / scenario.machine.cpu.clock
        settings = CryptSettings(
            s_per_byte=known.cycles * cycle_s,
            sector_s=known.sector_cycles * cycle_s,
            sector_bytes=spec.sector,
            largest_bytes=section.largest,
            splits_reads=section.splits_reads,
            queues_reads=section.queues and not spec.no_read_workqueue,
            queues_writes=section.queues and not spec.no_write_workqueue,
            allow_discards=spec.allow_discards,
        )
        return CryptPipeline(self._engine, self.device(spec.on), host, settings, name)

    def _array(self, name: str, spec: ArraySpec) -> Any:
        if spec.controller is not None:
            return self._volume(name, spec, spec.controller)
        members = [self.device(member) for member in spec.members]
        builder = ArrayBuilder(self._parts, name, spec, self._host, self.device)
        layout = spec.layout([member.capacity for member in members])
        array = builder.assemble(name, layout, members, spec.members)
        as_disk = spec.balance is not None and READ_BALANCE[spec.balance.name].as_disk
        return self._as_disk(array) if as_disk else builder.limited(array)

    def _as_disk(self, array: Any) -> BioSplit:
        """An array of FreeBSD's ataraid, which is a disk to those above: what is too large for one is cut before it.

        So it is the pieces that are spread over its disks (ata_raid_attach in ata-raid.c, d_maxsize; g_disk_start in
        geom_disk.c).
        """
        disk = BioSplit(array, self._kernel.queue.max_request)
        self._observer.part(disk)
        return disk

    def _volume(self, name: str, spec: ArraySpec, controller: str) -> Any:
        """An array that a controller runs, behind the host's queue for the controller."""
        instance = self._scenario.machine.controllers[controller]
        settings = instance.spec()
        if self._scale > 1:
            settings = settings.with_values(cache=settings.cache // self._scale)
        if controller not in self.firmwares:
            self.firmwares[controller] = settings.firmware(self._engine, f"{controller} cpu")
            link = settings.host_link(controller)
            self._drives.links[controller] = link
            self._observer.part(self.firmwares[controller])
            self._observer.part(link)
        firmware = self.firmwares[controller]

        def behind(drive: str) -> Any:
            return self._drives.behind(drive, firmware, settings)

        members = [behind(member) for member in spec.members]
        builder = ArrayBuilder(self._parts, name, spec, firmware, behind, settings)
        array = builder.assemble(name, spec.layout([member.capacity for member in members]), members, spec.members)
        path = Path(tuple(self._drives.links[link] for link in (controller, *instance.links)))
        volume = RaidController(self._engine, name, array, settings.settings(), firmware, path)
        self._observer.part(volume)
        self.controllers[name] = volume
        return self._drives.queued(volume, settings.queue_depth, instance.max_request)
