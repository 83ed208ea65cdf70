"""From a scenario and a kernel to the list of a machine's parts: frozen data, each part after those it stands upon.

Nothing is simulated here and nothing looks at a clock, so that what a scenario becomes can be tested part by part.
:mod:`.assemble` makes the objects, in one pass over the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from ...model.crypt.ciphers import cipher
from ...model.disk.spec import DriveSpec
from ...model.file_system import FileSystemSettings, on_array, with_log_on
from ...model.kernels import KernelSpec, kernel
from ...model.memory.dirty_memory import DirtyLimits
from ...model.readahead import PAGE
from ...model.solid_state.spec import SolidStateSpec
from ...model.tasks.prices import Prices
from ..description.devices import Devices
from ..description.file_systems import FileSystemSpec
from ..description.machine import ControllerInstance
from ..description.programs import ProgramsSpec
from ..description.scenario import ScenarioSpec
from ..description.tuning import dirty_limits
from ..description.workloads import DdSpec
from .array_plan import array_parts, is_rotational, shown_layout
from .cache_plan import cache_plan, raw_cache_plan
from .mapper_plan import SlicesPlan, ssd_cache_plan
from .parts import (
    CryptPlan,
    DiskPlan,
    DriveQueuePlan,
    FaultsPlan,
    FirmwarePlan,
    LoopPlan,
    MountPlan,
    Part,
    RawCachePlan,
    VolumePlan,
)
from .pool_plan import pool_parts
from .queue_plan import queue_plan

LOW_MEMORY_BYTES = 896 << 20
"""What a 32-bit x86 kernel maps directly; buffers of block devices lie there on Linux 2.4."""


@dataclass(frozen=True, slots=True)
class Planning:
    """A scenario while it is planned.

    Attributes
    ----------
    scenario, known, scale
        What is planned, under which kernel, at which scale.
    devices
        The scenario's devices, with their sizes.
    drives_on
        How many drives are on each cable.
    made
        Names of the parts that are planned already.
    serviced
        Whether somebody may fail, replace and hurt drives during the run, and start checks.
    """

    scenario: ScenarioSpec
    known: KernelSpec
    scale: int
    devices: Devices
    drives_on: Mapping[str, int]
    made: set[str] = field(default_factory=set)
    serviced: bool = False


@dataclass(frozen=True, slots=True)
class MachinePlan:
    """What one scenario is simulated as.

    Attributes
    ----------
    scenario, kernel, scale
        What it is the plan of; programs run at this fraction of their size, on as much less memory.
    prices
        What the host's CPU takes for what it does.
    limits
        Dirty limits.
    room
        Bytes of the page cache.
    mounts
        File systems that programs are run on.
    targets
        Devices that another load works on.
    caches
        Of dd, target by target.
    parts
        Of the targets, and of all that these stand upon.
    busy
        Of the arrays that have something to do without the workload, unless these are among the others.
    planning
        With what parts are planned that are asked for later.
    """

    scenario: ScenarioSpec
    kernel: KernelSpec
    scale: int
    prices: Prices
    limits: DirtyLimits
    room: int
    mounts: tuple[MountPlan, ...]
    targets: tuple[str, ...]
    caches: tuple[RawCachePlan, ...]
    parts: tuple[Part, ...]
    busy: tuple[Part, ...]
    planning: Planning = field(compare=False)


def machine_plan(scenario: ScenarioSpec, scale: int = 1, serviced: bool = False) -> MachinePlan:
    """The plan of a scenario in a run at a scale; `serviced`: see :class:`Planning`."""
    known, machine, workload = kernel(scenario.kernel), scenario.machine, scenario.workload
    devices = Devices.of(scenario)
    drives_on = Counter(instance.channel for instance in machine.drives.values())
    planning = Planning(scenario, known, scale, devices, drives_on, serviced=serviced)
    memory = min(machine.memory, LOW_MEMORY_BYTES) if known.cache.memory == "low" else machine.memory
    mounts: tuple[MountPlan, ...] = ()
    targets: tuple[str, ...] = ()
    if isinstance(workload, ProgramsSpec):
        mounts = tuple(mount_plan(planning, point) for point in scenario.file_systems)
    else:
        targets = tuple(workload.targets)
    return MachinePlan(
        scenario,
        known,
        scale,
        prices=machine.cpu.charged().scaled(scenario.path_length),
        limits=dirty_limits(known, memory, scenario.vm, scale),
        room=(machine.memory - machine.resident) // scale // PAGE * PAGE,
        mounts=mounts,
        targets=targets,
        caches=tuple(raw_cache_plan(scenario, known, on) for on in targets) if isinstance(workload, DdSpec) else (),
        parts=tuple(part for name in targets for part in device_parts(planning, name)),
        busy=tuple(part for name in scenario.busy_arrays for part in device_parts(planning, name)),
        planning=planning,
    )


def mount_settings(scenario: ScenarioSpec, spec: FileSystemSpec) -> FileSystemSettings:
    """A file system as mkfs makes it where it is mounted."""
    settings = on_array(spec.settings(), shown_layout(scenario, spec.on) if spec.stripe_aligned else None)
    if spec.journal_on is None:
        return settings
    return with_log_on(settings, spec.settings(), shown_layout(scenario, spec.journal_on))


def mount_plan(planning: Planning, point: str) -> MountPlan:
    """The file system at a mount point, with the parts below that are not there yet."""
    scenario, known, scale = planning.scenario, planning.known, planning.scale
    spec = scenario.file_systems[point]
    kind = mount_settings(scenario, spec)
    if not known.unaligned_alone:
        kind = kind.model_copy(update={"unaligned_alone": False})
    if not known.goal_shift_by_process:
        kind = kind.model_copy(update={"goal_shifts": 1})
    cached = cache_plan(scenario, known, spec.on, kind.block, scale, kind.write_run)
    names = (spec.on,) if spec.journal_on is None else (spec.on, spec.journal_on)
    parts = tuple(part for name in names for part in device_parts(planning, name))
    return MountPlan(point, spec.on, parts, spec.start, spec.size or 0, kind, spec.age, cached, spec.journal_on)


def device_parts(planning: Planning, name: str) -> Iterator[Part]:
    """The parts of a device and of all that it stands upon, but for those that are there already.

    A device is a drive behind its queue, an array, a volume of a controller, what is encrypted or cached, a partition,
    or a logical volume.
    """
    if name in planning.made:
        return
    planning.made.add(name)
    scenario, known = planning.scenario, planning.known
    machine, array = scenario.machine, scenario.arrays.get(name)
    if name in machine.drives:
        instance = machine.drives[name]
        spec, section, queues = instance.spec(), known.queue, instance.queues()
        yield disk_plan(planning, name)
        if planning.serviced:
            yield FaultsPlan(name)
        yield queue_plan(
            name,
            section,
            spec.queue_depth,
            hardware_queues=min(machine.cpu.cores, queues) if section.multiqueue else 1,
            single=section.single_queue_drivers and queues == 1,
            queued=not isinstance(spec, SolidStateSpec) or spec.queued,
            rotational=spec.rotational,
            interface=spec.interface,
            scheduler=instance.scheduler,
            nr_requests=instance.nr_requests,
            max_request=instance.max_request,
            wbt_lat=instance.wbt_lat,
        )
    elif name in scenario.volumes:
        yield from _volume_slices(planning, name)
    elif name in planning.devices.datasets or name in scenario.pools:
        rotates = partial(is_rotational, scenario)
        yield from pool_parts(scenario, name, planning.made, partial(device_parts, planning), rotates)
    elif name in scenario.caches:
        for device in scenario.caches[name].devices:
            yield from device_parts(planning, device)
        yield ssd_cache_plan(scenario, name)
    elif array is None:
        yield from _encrypted_parts(planning, name)
    elif array.controller is not None:
        yield from _volume_parts(planning, name)
    else:
        layout = array.layout([planning.devices.capacity(member) for member in array.members])
        serviced = planning.serviced
        yield from array_parts(scenario, known, name, layout, lambda on: device_parts(planning, on), serviced=serviced)


def disk_plan(
    planning: Planning, name: str, cache: bool | None = None, controlling: ControllerInstance | None = None
) -> DiskPlan:
    """A drive of a machine on its cable.

    Parameters
    ----------
    planning
        The machine.
    name
        The drive's.
    cache
        What the firmware in front of it makes of a hard disk's write cache, unless the scenario sets it itself; None:
        as it is shipped.
    controlling
        The controller whose port it is at, if it is at one.
    """
    machine = planning.scenario.machine
    instance = machine.drives[name]
    channel = instance.channel
    alone = planning.drives_on[channel] == 1
    links = tuple(machine.channels[channel].links)
    spec = instance.spec()
    if cache is not None and isinstance(spec, DriveSpec) and "write_cache" not in instance.overrides:
        spec = spec.with_values(write_cache=cache)
    if controlling is not None:
        spec = controlling.attached(spec)
    return DiskPlan(name, spec, channel, links, alone, instance.state or "steady")


def _volume_parts(planning: Planning, name: str) -> Iterator[Part]:
    """An array that a controller runs, behind the host's queue for the controller."""
    scenario, known, scale, made = planning.scenario, planning.known, planning.scale, planning.made
    array = scenario.arrays[name]
    controller = array.controller
    assert controller is not None
    instance = scenario.machine.controllers[controller]
    settings = instance.spec()
    if scale > 1:
        settings = settings.with_values(cache=settings.cache // scale)
    firmware = FirmwarePlan(controller, settings)
    if firmware.name not in made:
        made.add(firmware.name)
        yield firmware

    def behind(drive: str) -> Iterator[Part]:
        """A drive behind a controller's queue.

        If the host waits for all that is written, nothing is background work: what is read for parity takes turns.
        """
        own = firmware.name + drive
        if own not in made:
            made.add(own)
            depth = min(scenario.machine.drives[drive].spec().queue_depth, settings.drive_queue_depth)
            wait_s = 0.0 if settings.gathers_in_turn else settings.destage_wait
            yield disk_plan(planning, drive, False if settings.drive_cache == "off" else None, instance)
            if planning.serviced:
                yield FaultsPlan(drive)
            yield DriveQueuePlan(own, drive, controller, depth, settings.drive_request, wait_s)

    layout = array.layout([planning.devices.capacity(member) for member in array.members])
    yield from array_parts(scenario, known, name, layout, behind, settings, planning.serviced)
    yield VolumePlan(name, controller, settings, (controller, *instance.links))
    section = known.queue
    single = section.single_queue_drivers
    yield queue_plan(name, section, settings.queue_depth, single=single, max_request=instance.max_request)


def _volume_slices(planning: Planning, name: str) -> Iterator[Part]:
    """A partition or a logical volume.

    The device mapper cuts an I/O at the stripes of a striped volume, in the order of their offsets (dm.c,
    max_io_len); the kernels before blk-mq asked each target (merge_bvec), and the array itself cuts.
    """
    volume, devices, queue = planning.scenario.volumes[name], planning.devices, planning.known.queue
    for device in volume.on:
        yield from device_parts(planning, device)
    slices = tuple((device, *volume.range(devices.capacity(device))) for device in volume.on)
    if volume.kind == "partition":
        yield SlicesPlan(name, slices, None)
        return
    yield SlicesPlan(name, slices, devices.volume_layout(name), queue.max_request if queue.multiqueue else 0)


def _encrypted_parts(planning: Planning, name: str) -> Iterator[Part]:
    """An encrypted device."""
    scenario, known, scale = planning.scenario, planning.known, planning.scale
    spec, cpu = scenario.encrypted[name], scenario.machine.cpu
    yield from device_parts(planning, spec.on)
    if spec.cipher is not None:
        from ...model.crypt.dm_crypt import POOL_CYCLES, CryptSettings

        secret, section = cipher(spec.cipher), known.crypt
        cycle_s = scenario.path_length / cpu.clock
        settings = CryptSettings(
            s_per_byte=secret.cycles * cycle_s,
            sector_s=secret.sector_cycles * cycle_s,
            sector_bytes=spec.sector,
            largest_bytes=section.largest,
            splits_reads=section.splits_reads,
            queues_reads=section.queues and not spec.no_read_workqueue,
            queues_writes=section.queues and not spec.no_write_workqueue,
            same_core=section.queues and spec.same_cpu_crypt,
            sorts_writes=not spec.submit_from_crypt_cpus,
            pool_s=POOL_CYCLES * cycle_s,
            allow_discards=spec.allow_discards,
        )
        # The lock of a pool keeps nobody waiting on one core, nor in kernels whose dm-crypt has no pool of workers.
        shared = section.queues and cpu.cores > 1
        yield CryptPlan(name, spec.on, settings, pools=f"Linux {known.version}" if shared else "")
        return
    assert spec.rate is not None
    if spec.kind == "cryptoloop" and known.cache.loop_cached:
        yield LoopPlan(name, spec.on, cache_plan(scenario, known, spec.on, PAGE, scale), 1.0 / spec.rate)
        return
    threads = 1 if spec.kind == "cryptoloop" else cpu.cores
    yield CryptPlan(name, spec.on, None, 1.0 / spec.rate, threads, spec.allow_discards)
