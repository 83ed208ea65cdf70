"""From a scenario to a machine that is ready to run: its plan, the parts, and the load on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...model.block.block_file import BlockFile
from ...model.core.engine import Engine
from ...model.core.errors import InputError
from ...model.kernels import KernelSpec
from ...model.links.link import Link
from ...model.loads.direct_load import DirectLoad
from ...model.schedulers import SCHEDULERS
from ...model.tasks.cpu import Cpu
from ...model.tasks.prices import NotedPrices
from ..description.any_workload import LoadsSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import DdSpec, LoadSpec
from ..workers.process_setup import allow_nesting
from .assemble import Assembly, read_ahead
from .cache_plan import cache_plan
from .loads import FIRST_ISSUER, jobs_on, several_on
from .observer import UNOBSERVED, Observer
from .parts import DiskPlan, DriveQueuePlan, FaultsPlan, MountPlan, Part, QueuePlan, RawCachePlan
from .plan import MachinePlan, Planning, device_parts, machine_plan, mount_plan

# What only some machines have is imported where it is made.
if TYPE_CHECKING:
    from ...model.loads.dd import Dd
    from ...model.memory.page_cache import PageCache
    from ...model.memory.raw_cache import RawCache
    from ...model.process.process import Mount
    from ...model.raid.parity_6_1.thread import ParityThread
    from .network import Network


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
    serviced
        Whether drives may be failed, replaced and hurt during the run, and checks started.

    Attributes
    ----------
    plan
        What it was made from.
    loads, loads_by_name
        The jobs of all loads of direct I/O, and those of each of several loads.
    """

    def __init__(
        self, scenario: ScenarioSpec, scale: int = 1, observer: Observer = UNOBSERVED, serviced: bool = False
    ) -> None:
        allow_nesting(len(scenario.arrays) + len(scenario.encrypted) + len(scenario.volumes) + len(scenario.caches))
        self.scenario = scenario
        self.scale = scale
        self.observer = observer
        self.plan: MachinePlan = machine_plan(scenario, scale, serviced)
        self.kernel: KernelSpec = self.plan.kernel
        self.engine = Engine(scenario.seed)
        observer.built_on(self.engine)
        self._parts = parts = Assembly(self.engine, self.plan, observer)
        self.cpu, self.host = parts.cpu, parts.host
        self.memory, self.pages = parts.memory, parts.pages
        self.disks, self.queues = parts.disks, parts.queues
        self.links, self.channels, self.memory_link = parts.links, parts.channels, parts.memory_link
        self.arrays, self.controllers = parts.arrays, parts.controllers
        self.resyncs, self.spares, self.loops = parts.resyncs, parts.spares, parts.loops
        self.delayed_resyncs, self.faults = parts.delayed, parts.faults
        self.locks, self.encrypting = parts.locks, parts.encrypting
        self.pools, self.scans = parts.pools, parts.scans
        self.ssd_caches = parts.ssd_caches
        self.network: Network | None = None
        if scenario.network is not None:
            from .network import Network

            self.network = Network(self.engine, self.cpu, scenario.network, scenario.machine, scenario.path_length)
            for link in self.network.links:
                observer.part(link)
        self.mounts: dict[str, Mount] = {}
        for mounted in self.plan.mounts:
            self.mounts[mounted.point] = self._mount(mounted)
        parts.make(self.plan.parts)
        self.targets: list[Any] = [parts.devices[name] for name in self.plan.targets]
        for target in self.targets:
            observer.target(target)
        if self.network is not None:
            self.targets = [self.network.before(target) for target in self.targets]
        parts.make(self.plan.busy)
        self.dds: list[Dd] = []
        self.loads: list[DirectLoad] = []
        self.loads_by_name: dict[str, list[DirectLoad]] = {}
        workload = scenario.workload
        if isinstance(workload, DdSpec):
            for number, (target, cached) in enumerate(zip(self.targets, self.plan.caches, strict=True)):
                self.dds.append(self._dd(number, target, cached, workload))
        elif isinstance(workload, LoadSpec):
            runs_on = self.host if self.network is None else self.network.host
            for number, target in enumerate(self.targets):
                self.loads += jobs_on(self.engine, runs_on, workload, number, self.opened(target))
        elif isinstance(workload, LoadsSpec):
            runs_on = self.host if self.network is None else self.network.host
            opened = {name: self.opened(each) for name, each in zip(self.plan.targets, self.targets, strict=True)}
            several = several_on(self.engine, runs_on, workload, opened)
            self.loads_by_name = {load.name: jobs for load, jobs in zip(workload.loads, several, strict=True)}
            self.loads += [job for jobs in several for job in jobs]

    def device(self, name: str) -> Any:
        """A device by name, as programs see it: through the network, if there is one."""
        device = self._device(name)
        return device if self.network is None else self.network.before(device)

    def opened(self, device: Any) -> Any:
        """A device as a program opens it for direct I/O, whose calls the kernel may plug.

        Through a network the server's kernel gets the I/Os, which come without calls.
        """
        queue = self.kernel.queue
        reads, writes = queue.plugs_reads_above, queue.plugs_writes_above
        if self.network is not None or reads is None or writes is None:
            return device
        striped = self.arrays.get(device.name) or self._parts.volumes.get(device.name)
        striping = None if striped is None else striped.striping
        piece = queue.max_request if striping is None or not striping.chunk_bytes else striping.chunk_bytes
        return BlockFile(device, self.host, reads, writes, piece)

    def add_drive(self, name: str, like: str) -> Any:
        """Put a new drive `name` into the bay of the drive `like`: on its cable, behind a queue of the same kind.

        Raises
        ------
        InputError
            If no array has `like` as a whole drive.
        """
        plans: list[Part] = []
        for plan in (*self.plan.parts, *self.plan.busy):
            if isinstance(plan, DiskPlan | FaultsPlan | QueuePlan) and plan.name == like:
                plans.append(replace(plan, name=name))
            elif isinstance(plan, DriveQueuePlan) and plan.drive == like:
                plans.append(replace(plan, name=f"{plan.controller}/{name}", drive=name))
        if not plans:
            raise InputError("drive", f"found {like}", "expected: a drive of the machine")
        self._parts.make(plans)
        self.disks[name].start_statistics(self.engine.now)
        return self._parts.devices[plans[-1].name]

    def mount(self, point: str) -> Mount:
        """The file system at a mount point of the scenario, for programs that are no part of it."""
        if point not in self.mounts:
            self.mounts[point] = self._mount(mount_plan(self._planning(), point))
        return self.mounts[point]

    def device_cache(self, name: str) -> PageCache:
        """A page cache of a device by name, with the blocks in which the kernel caches devices."""
        device = self._device(name)
        block = self.kernel.cache.block_on(device.capacity)
        return self._parts.cache(device, cache_plan(self.scenario, self.kernel, name, block, self.scale))

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
        """Threads that handle the stripes of arrays: md's own, under the name that ps shows, and its workers."""
        found: dict[str, ParityThread] = {}
        for name, array in self.arrays.items():
            threads: list[ParityThread] = getattr(array, "threads", [])
            for number, thread in enumerate(threads):
                worker = f" worker {number - 1}" if number else ""
                found[f"{name}_{array.layout.level}{worker}"] = thread
        return found

    @property
    def all_links(self) -> list[Link]:
        """Cables and what is behind them, and memory."""
        network = [] if self.network is None else self.network.links
        memory = [] if self.memory_link is None else [self.memory_link]
        return [*network, *self.links.values(), *(cable for cable, _ in self.channels.values()), *memory]

    @property
    def cpus(self) -> list[Cpu]:
        """The host's CPU and the controllers' processors."""
        clients = [] if self.network is None else [self.network.host.cpu]
        return [self.cpu, *clients, *(firmware.cpu for firmware in self._parts.firmwares.values())]

    @property
    def scheduler_cycle_s(self) -> float:
        """How long one round of batches of the I/O schedulers takes (s); 0 without batches."""
        section = self.kernel.queue
        names = {instance.scheduler or section.scheduler for instance in self.scenario.machine.drives.values()}
        kinds = (SCHEDULERS[name] for name in (section.scheduler, *names) if name in SCHEDULERS)
        return max((kind.round_s(section) for kind in kinds), default=0.0)

    def _device(self, name: str) -> Any:
        """A drive behind its queue, an array, a controller's volume, an encrypted device, or a volume."""
        devices = self._parts.devices
        if name not in devices:
            self._parts.make(device_parts(self._planning(), name))
        return devices[name]

    def _planning(self) -> Planning:
        """The plan of what is added to what is there."""
        return replace(self.plan.planning, made=set(self._parts.devices))

    def _mount(self, plan: MountPlan) -> Mount:
        from ...model.file_system import FileSystem
        from ...model.memory.partition import Partition
        from ...model.process.process import Mount

        self._parts.make(plan.parts)
        device = self._parts.devices[plan.on]
        self.observer.target(device)
        size = plan.size or device.capacity - plan.start
        partition = Partition(device, plan.start, size, self.scale, plan.settings.group)
        cache = self._parts.cache(partition, plan.cache)
        journal = None
        if plan.journal_on is not None:
            below = self._parts.devices[plan.journal_on]
            journal = Partition(below, 0, below.capacity, self.scale, plan.settings.group)
        system = FileSystem(
            self.engine,
            self.host,
            cache,
            plan.settings,
            partition.capacity,
            self.engine.streams.generator(f"file system {plan.on}"),
            self.scenario.path_length / self.scenario.machine.cpu.clock,
            plan.age,
            scale=self.scale,
            journal_device=journal,
        )
        return Mount(system, cache)

    def _dd(self, number: int, target: Any, plan: RawCachePlan, workload: DdSpec) -> Dd:
        from ...model.loads.dd import Dd
        from ...model.memory.raw_cache import RawCache

        opened = read_ahead(plan.read_ahead)
        cache = RawCache(self.engine, self.host, target, plan.settings, self.memory, opened)
        issuer = FIRST_ISSUER + number
        start = workload.start_of(number, target.capacity)
        return Dd(self.host, cache, workload.block_size, start, workload.size, issuer=issuer)
