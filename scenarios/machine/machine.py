"""From a scenario to simulated parts: links, drives behind queues, arrays, caches, programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...model.core.engine import Engine
from ...model.file_system import FileSystem
from ...model.kernels import KernelSpec, kernel
from ...model.links.link import Link
from ...model.loads.dd import Dd
from ...model.loads.direct_load import DirectLoad
from ...model.memory.dirty_memory import DirtyLimits, DirtyMemory
from ...model.memory.page_cache import PageCache
from ...model.memory.page_memory import PageMemory
from ...model.memory.partition import Partition
from ...model.memory.raw_cache import RawCache, RawCacheSettings
from ...model.memory.settings import EXPIRE_S, LOOK_S, PageCacheSettings
from ...model.process.process import Mount
from ...model.raid.base.array import Array
from ...model.raid.base.io_limit import largest_request_bytes, optimal_request_bytes
from ...model.raid.parity.array import ParityArray
from ...model.raid.parity_6_1.thread import ParityThread
from ...model.readahead import PAGE, READ_AHEAD, ReadAhead, ReadAhead61
from ...model.schedulers import BfqSettings
from ...model.tasks.cpu import QUANTUM_S, Cpu
from ...model.tasks.host import Host
from ...model.tasks.prices import NotedPrices
from ..description.file_systems import FileSystemSpec
from ..description.programs import ProgramsSpec
from ..description.scenario import ScenarioSpec
from ..description.tuning import VirtualMemorySpec, dirty_limits
from ..description.workloads import DdSpec, LoadSpec
from ..workers.process_setup import allow_nesting
from .arrays import Arrays
from .drives import Drives
from .loads import FIRST_ISSUER, Jobs
from .network import Network
from .observer import UNOBSERVED, Observer

LOW_MEMORY_BYTES = 896 << 20
"""What a 32-bit x86 kernel maps directly; buffers of block devices lie there on Linux 2.4."""


class BuiltMachine:
    """The parts of one scenario, ready to run.

    Parameters
    ----------
    scenario
        What to build.
    scale
        Programs run at this fraction of their size, on as much less memory.
    observer
        Sees each part when it is built.
    """

    def __init__(self, scenario: ScenarioSpec, scale: int = 1, observer: Observer = UNOBSERVED) -> None:
        allow_nesting(len(scenario.arrays) + len(scenario.encrypted))
        self.scenario = scenario
        self.scale = scale
        self.observer = observer
        machine = scenario.machine
        self.kernel: KernelSpec = kernel(scenario.kernel)
        self.engine = Engine(scenario.seed)
        observer.built_on(self.engine)
        self.cpu = Cpu(self.engine, machine.cpu.cores)
        self.host = Host(self.cpu, machine.cpu.charged().scaled(scenario.path_length))
        observer.part(self.host)
        self.memory = DirtyMemory(self._dirty_limits())
        vm = self.kernel.cache
        room = (machine.memory - machine.resident) // scale
        self.pages = PageMemory(room, vm.counts_activations, vm.second_chance)
        self._drives = Drives(self.engine, self.host, self.kernel, machine, observer)
        self._arrays = Arrays(
            self.engine, self.host, self.kernel, self._drives, scenario, self._device_cache, scale, observer
        )
        self.disks = self._drives.disks
        self.queues = self._drives.queues
        self.links = self._drives.links
        self.channels = self._drives.channels
        self.arrays = self._arrays.arrays
        self.controllers = self._arrays.controllers
        self.resyncs = self._arrays.resyncs
        self.spares = self._arrays.spares
        self.loops = self._arrays.loops
        workload = scenario.workload
        self.dds: list[Dd] = []
        self.loads: list[DirectLoad] = []
        self.mounts: dict[str, Mount] = {}
        self.targets: list[Any] = []
        self.network: Network | None = None
        if scenario.network is not None:
            self.network = Network(self.engine, self.cpu, scenario.network, machine, scenario.path_length)
            for link in self.network.links:
                observer.part(link)
        if isinstance(workload, ProgramsSpec):
            self.mounts = {point: self._mount(spec) for point, spec in scenario.file_systems.items()}
        else:
            self.targets = [self._arrays.device(name) for name in workload.targets]
        for target in self.targets:
            observer.target(target)
        if self.network is not None:
            self.targets = [self.network.before(target) for target in self.targets]
        for name in scenario.busy_arrays:
            self._arrays.device(name)
        for number, target in enumerate(self.targets):
            if isinstance(workload, DdSpec):
                self.dds.append(self._dd(number, target, workload))
            elif isinstance(workload, LoadSpec):
                runs_on = self.host if self.network is None else self.network.host
                self.loads += Jobs(self.engine, runs_on, workload).on(number, target)

    def device(self, name: str) -> Any:
        """A device by name, as programs see it: through the network, if there is one."""
        device = self._arrays.device(name)
        return device if self.network is None else self.network.before(device)

    def mount(self, point: str) -> Mount:
        """The file system at a mount point of the scenario, for programs that are no part of it."""
        if point not in self.mounts:
            self.mounts[point] = self._mount(self.scenario.file_systems[point])
        return self.mounts[point]

    def device_cache(self, name: str) -> PageCache:
        """A page cache of a device by name, with the blocks in which the kernel caches devices."""
        device = self._arrays.device(name)
        return self._cache(device, name, self.kernel.cache.block_on(device.capacity))

    @property
    def caches(self) -> list[RawCache | PageCache]:
        """Of devices and of mounted file systems."""
        return [*(dd.cache for dd in self.dds), *(mount.cache for mount in self.mounts.values())]

    @property
    def price_lists(self) -> list[NotedPrices]:
        """The machine's prices of work, as each of the hosts that are made from them notes which it has read."""
        return [self.host.prices, *([] if self.network is None else [self.network.host.prices])]

    @property
    def threads(self) -> dict[str, ParityThread]:
        """Threads that handle the stripes of arrays: md's own, under the name that ps shows, or its workers."""
        found: dict[str, ParityThread] = {}
        for name, array in self.arrays.items():
            threads: list[ParityThread] = getattr(array, "threads", [])
            for number, thread in enumerate(threads):
                worker = f" worker {number}" if len(threads) > 1 else ""
                found[f"{name}_{array.layout.level}{worker}"] = thread
        return found

    @property
    def all_links(self) -> list[Link]:
        """Cables and what is behind them."""
        network = [] if self.network is None else self.network.links
        return [*network, *self.links.values(), *(cable for cable, _ in self.channels.values())]

    @property
    def cpus(self) -> list[Cpu]:
        """The host's CPU and the controllers' processors."""
        clients = [] if self.network is None else [self.network.host.cpu]
        return [self.cpu, *clients, *(firmware.cpu for firmware in self._arrays.firmwares.values())]

    @property
    def scheduler_cycle_s(self) -> float:
        """How long one round of batches of the I/O schedulers takes (s); 0 without batches."""
        section = self.kernel.queue
        names = {instance.scheduler or section.scheduler for instance in self.scenario.machine.drives.values()}
        rounds_s = {
            "anticipatory": section.read_batch + section.write_batch,
            "cfq": section.slice_sync + section.slice_async,
            "bfq": 2 * BfqSettings().timeout_s,
        }
        return max(rounds_s.get(name, 0.0) for name in (section.scheduler, *names))

    def _dirty_limits(self) -> DirtyLimits:
        memory = self.scenario.machine.memory
        if self.kernel.cache.memory == "low":
            memory = min(memory, LOW_MEMORY_BYTES)
        return dirty_limits(self.kernel, memory, self.scenario.vm, self.scale)

    def _md_array(self, name: str) -> Any:
        """The array that the host's own kernel runs under this name, below any encryption; None if it is none."""
        scenario = self.scenario
        while name in scenario.encrypted:
            name = scenario.encrypted[name].on
        spec = scenario.arrays.get(name)
        return self.arrays[name] if spec is not None and spec.controller is None else None

    def _largest_command(self, on: str) -> int:
        """Bytes of the largest command to a drive or to an array of a controller; elsewhere the kernel's own."""
        scenario = self.scenario
        machine, spec = scenario.machine, scenario.arrays.get(on)
        controller = None if spec is None else spec.controller
        if controller is not None:
            limit = machine.controllers[controller].max_request
        else:
            limit = machine.drives[on].max_request if on in machine.drives else None
        return limit or self.kernel.queue.max_request

    def _read_ahead(self, array: Any) -> Callable[[int], ReadAhead]:
        section, layout = self.kernel.read_ahead, array.striping if isinstance(array, Array) else None
        window, most = section.window, self.kernel.queue.max_request
        tuned = self.scenario.read_ahead
        if tuned is not None:
            section = section.model_copy(
                update={"window": tuned, "parity_chunks": 0, "parity_least": 0, "optimal_ios": None}
            )
            window = tuned
        if layout is not None and section.optimal_ios is not None:
            window = section.window_for(optimal_request_bytes(layout))
            most = largest_request_bytes(layout, most)
        elif isinstance(array, ParityArray):
            window = section.window_for_parity(array.layout.data_members, array.layout.chunk_bytes)
        elif layout is not None:
            window = section.window_for_stripes(optimal_request_bytes(layout), layout.members)
        policy = READ_AHEAD[section.policy]
        if policy is ReadAhead61:
            return lambda end: ReadAhead61(window, end, most)
        return lambda end: policy(window, end)

    def _mount(self, spec: FileSystemSpec) -> Mount:
        device = self._arrays.device(spec.on)
        self.observer.target(device)
        kind = spec.settings()
        if not self.kernel.goal_shift_by_process:
            kind = kind.model_copy(update={"goal_shifts": 1})
        size = spec.size or device.capacity - spec.start
        partition = Partition(device, spec.start, size, self.scale, kind.group)
        cache = self._cache(partition, spec.on, kind.block, kind.write_run)
        system = FileSystem(
            self.engine,
            self.host,
            cache,
            kind,
            partition.capacity,
            self.engine.streams.generator(f"file system {spec.on}"),
            self.scenario.path_length / self.scenario.machine.cpu.clock,
            spec.age,
            scale=self.scale,
        )
        return Mount(system, cache)

    def _device_cache(self, name: str) -> PageCache:
        """The page cache of a block device that a loop device is on."""
        return self._cache(self._arrays.device(name), name, PAGE)

    def _cache(self, device: Any, on: str, block: int, write_run: int = 0) -> PageCache:
        """A page cache with blocks of `block` bytes over the device called `on`, or over a part of it.

        A file system that makes large bios writes `write_run` bytes with one.
        """
        array = self._md_array(on)
        section = self.kernel.cache
        whole = self._largest_command(on)
        vm = self.scenario.vm or VirtualMemorySpec()
        # In a run at a scale pages must grow old before it is over; but were they looked for as often as in the whole
        # run, the seeks of each pass would count `scale` times.
        settings = PageCacheSettings(
            block,
            run_bytes=section.read_run,
            run_aligned=section.read_run_aligned,
            flush_run_bytes=write_run or (section.flush_run if isinstance(array, ParityArray) else whole),
            write_behind_bytes=section.write_behind,
            expire_s=(vm.dirty_expire or EXPIRE_S) / self.scale,
            look_s=(vm.dirty_writeback or LOOK_S) / math.sqrt(self.scale),
            by_age=section.by_age,
            block_lists=section.block_lists,
            turn_s=QUANTUM_S if self.kernel.time_slice is None else self.kernel.time_slice,
            interleaves=self.kernel.time_slice is not None
            and (self.kernel.raid5.gathers_per_head or not isinstance(array, ParityArray)),
            bio_bytes=write_run,
            read_bio_bytes=section.read_bio,
            flusher_yields=section.flusher_yields,
            drop_behind=section.drop_behind,
            task_plug=self.kernel.queue.task_plug,
        )
        return PageCache(self.engine, self.host, device, settings, self.pages, self.memory, self._read_ahead(array))

    def _dd(self, number: int, target: Any, workload: DdSpec) -> Dd:
        section = self.kernel.cache
        array = self._md_array(workload.targets[number])
        block = section.block_on(target.capacity)
        settings = RawCacheSettings(block, self.scenario.machine.memory, run_bytes=section.read_run)
        settings = replace(settings, task_plug=self.kernel.queue.task_plug)
        if isinstance(array, ParityArray):
            settings = replace(settings, flush_run_bytes=section.flush_run)
        cache = RawCache(self.engine, self.host, target, settings, self.memory, self._read_ahead(array))
        issuer = FIRST_ISSUER + number
        start = workload.start_of(number, target.capacity)
        return Dd(self.host, cache, workload.block_size, start, workload.size, issuer=issuer)
