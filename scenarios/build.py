"""From a scenario to simulated parts: links, drives behind queues, arrays, caches, programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..model.block_queue import BlockQueue, PlugSettings
from ..model.cpu import Cpu
from ..model.dd import Dd
from ..model.disk import HardDisk
from ..model.engine import Engine
from ..model.errors import InputError
from ..model.host import Host
from ..model.kernels import KernelSpec, kernel
from ..model.layouts import ParityLayout
from ..model.links import AtaChannel, Bus, Link, Path
from ..model.mirror_array import MirrorArray
from ..model.parity_array import ParityArray
from ..model.parity_settings import ParitySettings
from ..model.raw_cache import DirtyLimits, DirtyMemory, RawCache, RawCacheSettings
from ..model.read_balance import READ_BALANCE
from ..model.readahead import READ_AHEAD, ReadAhead
from ..model.resync import Resync, ResyncSettings
from ..model.schedulers import Anticipatory, AnticipatorySettings, LinusElevator, Noop, Scheduler
from ..model.stripe_array import StripeArray
from .machine import ArraySpec
from .scenario import ScenarioSpec

LOW_MEMORY_BYTES = 896 << 20
"""What a 32-bit x86 kernel maps directly; buffers of block devices lie there on Linux 2.4."""


RESYNC_HEADS = 32
"""Stripe heads whose members md merges into one request when it rebuilds RAID 4, 5 or 6; at most a chunk."""


class BuiltMachine:
    """The parts of one scenario, ready to run."""

    def __init__(self, scenario: ScenarioSpec) -> None:
        self.scenario = scenario
        machine = scenario.machine
        self.kernel: KernelSpec = kernel(scenario.kernel)
        self.engine = Engine(scenario.seed)
        self.cpu = Cpu(self.engine, machine.cpu.cores)
        self.host = Host(self.cpu, machine.cpu.prices.prices().scaled(scenario.path_length))
        self.links: dict[str, Link] = {
            name: Bus(name, link.rate, link.per_transfer) for name, link in machine.links.items()
        }
        self.channels: dict[str, tuple[Link, AtaChannel | None]] = {}
        for name, channel in machine.channels.items():
            lock = AtaChannel(name) if channel.kind == "ata" else None
            self.channels[name] = (Link(name, channel.rate), lock)
        self.disks: dict[str, HardDisk] = {}
        self.queues: dict[str, BlockQueue] = {}
        self.arrays: dict[str, Any] = {}
        self.resyncs: dict[str, Resync] = {}
        self.memory = DirtyMemory(self._dirty_limits())
        self.targets: list[Any] = [self._target(name) for name in scenario.workload.targets]
        self.dds: list[Dd] = [self._dd(i, target) for i, target in enumerate(self.targets)]

    @property
    def all_links(self) -> list[Link]:
        """Cables and what is behind them."""
        return [*self.links.values(), *(cable for cable, _ in self.channels.values())]

    @property
    def scheduler_cycle_s(self) -> float:
        """How long one round of batches of the I/O scheduler takes (s); 0 without batches."""
        section = self.kernel.queue
        return section.read_batch + section.write_batch if section.scheduler == "anticipatory" else 0.0

    # drives

    def _target(self, name: str) -> Any:
        if name in self.scenario.machine.drives:
            return self._queue(name)
        if name not in self.arrays:
            self.arrays[name] = self._array(name, self.scenario.arrays[name])
        return self.arrays[name]

    def _queue(self, name: str) -> BlockQueue:
        if name not in self.queues:
            instance = self.scenario.machine.drives[name]
            channel = self.scenario.machine.channels[instance.channel]
            cable, lock = self.channels[instance.channel]
            spec = instance.spec()
            path = Path((cable, *(self.links[link] for link in channel.links)))
            disk = self.disks[name] = HardDisk(self.engine, spec, name, path, lock)
            section = self.kernel.queue
            plug = PlugSettings(section.plug_requests, section.plug_delay)
            self.queues[name] = BlockQueue(
                self.engine,
                self.host,
                disk,
                self._scheduler(name),
                depth=spec.queue_depth,
                limit_bytes=section.limit,
                limit_requests=section.limit_requests,
                plug=plug,
            )
        return self.queues[name]

    def _scheduler(self, name: str) -> Scheduler:
        section = self.kernel.queue
        if section.scheduler == "linus":
            return LinusElevator(section.max_request, section.read_passes, section.write_passes)
        if section.scheduler == "noop":
            return Noop(section.max_request)
        settings = AnticipatorySettings(
            section.read_batch, section.write_batch, section.anticipation, section.read_expire, section.write_expire
        )
        phase = float(self.engine.streams.generator(f"{name}/scheduler").random())
        return Anticipatory(section.max_request, settings, phase)

    # arrays

    def _array(self, name: str, spec: ArraySpec) -> Any:
        members = [self._queue(member) for member in spec.members]
        sizes = {member: queue.capacity for member, queue in zip(spec.members, members, strict=True)}
        if spec.level not in ("linear", "raid0") and len(set(sizes.values())) > 1:
            found = ", ".join(f"{member} {size} bytes" for member, size in sizes.items())
            raise InputError(f"arrays.{name}.members", f"members of unequal size ({found})", "allowed: equal members")
        failed = [spec.members.index(member) for member in spec.failed]
        section = self.kernel.raid5
        array: Any
        if spec.level == "raid1":
            balance = READ_BALANCE[self.kernel.raid1.balance](len(members))
            array = MirrorArray(self.engine, name, members, balance, self.host, failed, self.kernel.raid1.resync_depth)
        elif spec.level in ("linear", "raid0"):
            layout: Any = spec.layout(list(sizes.values()))
            return StripeArray(self.engine, name, members, layout, self.host, failed)
        else:
            parity_layout = spec.layout(list(sizes.values()))
            assert isinstance(parity_layout, ParityLayout)
            settings = ParitySettings(section.heads, section.head, section.hold, section.copies_reads)
            array = ParityArray(self.engine, name, members, parity_layout, settings, self.host, failed)
        if spec.rebuilding:
            for member in spec.rebuilding:
                array.rebuild_onto(spec.members.index(member))
            self.resyncs[name] = self._resync(array, spec)
        return array

    def _resync(self, array: Any, spec: ArraySpec) -> Resync:
        section = self.kernel.resync
        tuned = spec.resync
        speed_min = tuned.speed_min if tuned is not None and tuned.speed_min is not None else section.speed_min
        speed_max = tuned.speed_max if tuned is not None and tuned.speed_max is not None else section.speed_max
        majors = [self.scenario.machine.drives[member].major for member in spec.members]
        unseen = section.unseen_majors_from
        mirror = spec.level == "raid1"
        heads, head = self.kernel.raid5.heads, self.kernel.raid5.head
        request = self.kernel.raid1.resync_request if mirror else min(spec.chunk, RESYNC_HEADS * head)
        settings = ResyncSettings(
            speed_min=speed_min,
            speed_max=speed_max,
            request_bytes=request,
            window_bytes=section.window,
            depth=self.kernel.raid1.resync_depth if mirror else max(1, heads * head // request),
            sees_load=unseen is None or any(major < unseen for major in majors),
        )
        return Resync(self.engine, array, settings, start=tuned.position if tuned is not None else 0)

    # memory and programs

    def _dirty_limits(self) -> DirtyLimits:
        section = self.kernel.cache
        memory = self.scenario.machine.memory
        if section.memory == "low":
            memory = min(memory, LOW_MEMORY_BYTES)
        return DirtyLimits(
            int(section.flush_above * memory),
            int(section.flush_below * memory),
            int(section.limit * memory),
            section.duty,
            section.flush_pass,
        )

    def _read_ahead(self, target: Any) -> Callable[[int], ReadAhead]:
        section = self.kernel.read_ahead
        window = section.window
        if isinstance(target, ParityArray):
            window = section.window_for_parity(target.layout.data_members, target.layout.chunk_bytes)
        policy = READ_AHEAD[section.policy]
        return lambda end: policy(window, end)

    def _dd(self, number: int, target: Any) -> Dd:
        workload = self.scenario.workload
        settings = RawCacheSettings(self.kernel.cache.block, self.scenario.machine.memory)
        if isinstance(target, ParityArray):
            settings = replace(settings, flush_run_bytes=self.kernel.cache.flush_run)
        cache = RawCache(
            self.engine,
            self.host,
            target,
            settings,
            self.memory,
            self._read_ahead(target),
        )
        if workload.start + workload.size > target.capacity:
            raise InputError(
                "workload.size",
                f"{workload.size} bytes from {workload.start} on {target.name}, which has {target.capacity}",
                "allowed: within the device",
            )
        return Dd(self.host, cache, workload.block_size, workload.start, workload.size, stream=100 + number)
