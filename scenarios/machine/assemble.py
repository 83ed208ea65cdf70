"""From a list of plans to a simulated machine: one pass, bottom-up.

Every part is shown to the observer when it has been made, before anything is made upon it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...model.block.kernel_thread import KernelThread
from ...model.block.multi_queue import BlkMqQueue
from ...model.block.throttle import WriteBackThrottle
from ...model.core.engine import Engine
from ...model.core.errors import InputError
from ...model.disk.hard_disk import HardDisk
from ...model.disk.spec import DriveSpec
from ...model.links.link import AtaChannel, Link, Path
from ...model.memory.dirty_memory import DirtyMemory
from ...model.memory.page_memory import PageMemory
from ...model.raid.base.io_limit import BioSplit, behind_limit
from ...model.raid.metadata.array_metadata import ArrayMetadata
from ...model.raid.metadata.bitmap import SAFE_MODE_DELAY_S, WriteIntentBitmap
from ...model.raid.metadata.superblock import GEOM, VERSION_0_90, VERSION_1_2
from ...model.raid.read_balance import READ_BALANCE, ReadBalance
from ...model.raid.resync.thread import Action, Resync
from ...model.readahead import READ_AHEAD, ReadAhead
from ...model.schedulers import SCHEDULERS, QueueFacts
from ...model.solid_state.spec import SolidStateSpec
from ...model.statistics.rebuild_report import Rebuild
from ...model.statistics.usage import HOST_MEMORY
from ...model.tasks.cpu import Cpu
from ...model.tasks.host import Host
from ...model.tasks.lock import Lock, line_transfer_s
from ..description.machine import MachineSpec
from .array_plan import RESYNC_HEADS
from .drives import is_solid_state
from .links import built_link
from .loads import locality
from .lock_plan import LocksPlan, locked, pool_locks
from .mapper_plan import SlicesPlan, SsdCachePlan
from .observer import Observer
from .parts import (
    ArrayPlan,
    ByteStripeDriver,
    CachePlan,
    CryptPlan,
    DiskPlan,
    DriveQueuePlan,
    FaultsPlan,
    FirmwarePlan,
    LimitPlan,
    LoopPlan,
    MirrorDriver,
    ParityDriver,
    Part,
    PlainDriver,
    QueuePlan,
    Raid10Driver,
    ReadAheadPlan,
    ResyncPlan,
    SparesPlan,
    VolumePlan,
)
from .plan import MachinePlan
from .pool_plan import DatasetPlan, PoolPlan

# What only some machines have is imported where it is made.
if TYPE_CHECKING:
    from ...model.block.faulty_drive import FaultyDrive
    from ...model.block.in_submission import SubmissionWork
    from ...model.block.single_queue import BlockQueue
    from ...model.cache.bcache.cached_device import Bcache
    from ...model.cache.dm_cache.target import DmCache
    from ...model.cache.writecache.target import Writecache
    from ...model.controller.controller import RaidController
    from ...model.controller.firmware import Firmware
    from ...model.crypt.cryptoloop import CryptDevice
    from ...model.crypt.loop_device import LoopDevice
    from ...model.memory.page_cache import PageCache
    from ...model.memory.partition import Slice
    from ...model.raid.base.locks import LockedArray
    from ...model.raid.reshape.array import ReshapingArray
    from ...model.raid.resync.spares import HotSpares
    from ...model.raid.striped.stripe import StripeArray
    from ...model.zfs.pool.dataset import Dataset
    from ...model.zfs.pool.pool import Pool
    from .drives import Drive, Queue

    AnyCache = Bcache | DmCache | Writecache

_UNLIMITED = 1 << 62


class Assembly:
    """The parts of a machine that have been made.

    Parameters
    ----------
    engine, plan, observer
        The clock; what is made; who sees each part.

    Attributes
    ----------
    cpu, host
        The host's processor, and who pays for what it does.
    memory, pages
        Dirty memory and the page cache.
    links, channels
        Links, and cables with what locks them.
    memory_link
        What copies of block devices in memory go through, if the processor's description says how much it moves.
    disks, queues
        Drives, and the host's queues in front of them.
    devices
        What stands under each name, as those above see it.
    arrays
        By name; the second array inside a nested one is "md0.1".
    controllers
        Volumes of hardware controllers, by the name of their array.
    firmwares
        The controllers' processors, by the controller's name.
    resyncs
        Threads that rebuild or check from the start, by the name of their array.
    scans
        What rebuilds or checks pools, by their names.
    delayed
        Resyncs that begin when those of other arrays are over: these arrays, and what makes the thread.
    spares
        What waits for members to fail, by the name of their array.
    faults
        Where faults of drives are switched on and off, by the drive's name.
    loops
        Loop devices with a page cache below.
    volumes
        Logical volumes by name; no partitions.
    pools
        Pools of ZFS by name.
    ssd_caches
        SSD caches by name.
    locks
        What I/Os of arrays take turns at.
    """

    def __init__(self, engine: Engine, plan: MachinePlan, observer: Observer) -> None:
        machine: MachineSpec = plan.scenario.machine
        self._engine = engine
        self._observer = observer
        self._plan = plan
        self._shared: dict[str, dict[str, Any]] = defaultdict(dict)
        self._of_schedulers: dict[str, dict[Any, Any]] = {}  # what those of all queues share
        self.cpu = Cpu(engine, machine.cpu.cores, idle_states=machine.cpu.idle_states)
        cpu = machine.cpu
        line_s = line_transfer_s(cpu.nodes, cpu.line_transfer, cpu.far_line_transfer)
        self.host = Host(self.cpu, plan.prices, plan.kernel.queue.plug_limits, line_s)
        observer.part(self.host)
        self.memory = DirtyMemory(plan.limits)
        section = plan.kernel.cache
        self.pages = PageMemory(plan.room, section.counts_activations, section.second_chance, section.half_pace)
        self.links: dict[str, Link] = {name: built_link(name, link) for name, link in machine.links.items()}
        self.channels: dict[str, tuple[Link, AtaChannel | None]] = {
            name: (built_link(name, channel), AtaChannel(name) if channel.kind == "ata" else None)
            for name, channel in machine.channels.items()
        }
        for link in (*self.links.values(), *(cable for cable, _ in self.channels.values())):
            observer.part(link)
        self.memory_link: Link | None = None
        if machine.cpu.memory_rate is not None:
            self.memory_link = Link(HOST_MEMORY, machine.cpu.memory_rate * machine.cpu.nodes)
        self.disks: dict[str, Drive] = {}
        self.queues: dict[str, Queue] = {}
        self.devices: dict[str, Any] = {}
        self.arrays: dict[str, Any] = {}
        self.controllers: dict[str, RaidController] = {}
        self.firmwares: dict[str, Firmware] = {}
        self.resyncs: dict[str, Resync] = {}
        self.scans: dict[str, Rebuild] = {}
        self.delayed: dict[str, tuple[tuple[str, ...], Callable[[], Resync]]] = {}
        self.spares: dict[str, HotSpares] = {}
        self.faults: dict[str, FaultyDrive] = {}
        self.loops: dict[str, LoopDevice] = {}
        self.encrypting: dict[str, CryptDevice | LoopDevice] = {}
        self.volumes: dict[str, StripeArray] = {}
        self.pools: dict[str, Pool] = {}
        self.ssd_caches: dict[str, AnyCache] = {}
        self.locks: list[Lock] = []
        self._makers: dict[type[Any], Callable[[Any], Any]] = {
            DiskPlan: self._disk,
            FaultsPlan: self._faults,
            QueuePlan: self._queue,
            FirmwarePlan: self._firmware,
            DriveQueuePlan: self._drive_queue,
            ArrayPlan: self._array,
            LocksPlan: self._locks,
            SparesPlan: self._spares,
            LimitPlan: self._limit,
            VolumePlan: self._volume,
            CryptPlan: self._crypt,
            LoopPlan: self._loop,
            SlicesPlan: self._slices,
            PoolPlan: self._pool,
            DatasetPlan: self._dataset,
            SsdCachePlan: self._ssd_cache,
        }

    def make(self, parts: Iterable[Part]) -> None:
        """Make the parts of a list, each after those it stands upon."""
        for part in parts:
            made = self._makers[type(part)](part)
            if made is not None:
                self._observer.part(made)
                self.devices[part.name] = made
            if isinstance(part, ArrayPlan) and (part.rebuilding or part.bitmap or part.marks or part.resync):
                self._begin(part, made)

    def cache(self, device: Any, plan: CachePlan) -> PageCache:
        """A page cache over a device."""
        from ...model.memory.page_cache import PageCache

        opened = read_ahead(plan.read_ahead)
        return PageCache(self._engine, self.host, device, plan.settings, self.pages, self.memory, opened)

    def _disk(self, plan: DiskPlan) -> Drive:
        engine, spec = self._engine, plan.spec
        cable, lock = self.channels[plan.channel]
        path = Path((cable, *(self.links[link] for link in plan.links)))
        disk: Drive
        if isinstance(spec, DriveSpec) and spec.actuators > 1:
            from ...model.disk.actuators.split_drive import SplitDrive

            disk = SplitDrive(engine, spec, plan.name, path, lock, own_cable=plan.own_cable)
            for part in disk.parts:
                self._observer.part(part)
        elif isinstance(spec, DriveSpec):
            disk = HardDisk(engine, spec, plan.name, path, lock, own_cable=plan.own_cable)
        else:
            from ...model.solid_state.drive import SolidState

            disk = SolidState(engine, spec, plan.name, path, state=plan.state, driver=self._driver(spec))
        self.disks[plan.name] = disk
        return disk

    def _driver(self, spec: SolidStateSpec) -> SubmissionWork | None:
        """What does a drive's work inside the submission, if something does."""
        if spec.in_submission is None:
            return None
        from ...model.block.in_submission import SubmissionWork

        copies, tagged = spec.in_submission == "copy", spec.queued and self._plan.kernel.queue.multiqueue
        return SubmissionWork(
            self._engine,
            self.host,
            spec.read_overhead,
            spec.write_overhead,
            copies=copies,
            by_page=not spec.queued,
            command_s=self.host.prices.command_s if tagged else 0.0,
            memory=self.memory_link if copies else None,
        )

    def _faults(self, plan: FaultsPlan) -> FaultyDrive:
        from ...model.block.faulty_drive import FaultyDrive

        faults = self.faults[plan.name] = FaultyDrive(self._engine, self.devices[plan.name])
        return faults

    def _queue(self, plan: QueuePlan) -> Queue:
        engine, host, device, section = self._engine, self.host, self.devices[plan.name], plan.section
        throttle = None
        if plan.throttle_s:
            throttle = WriteBackThrottle(engine, plan.throttle_s, plan.throttle_requests)
        disk = self.disks.get(plan.name)
        pays = disk is not None and is_solid_state(disk) and disk.spec.in_submission is not None
        queue: Queue
        if plan.kind == "bio":
            from ...model.block.bio_queue import BioQueue

            queue = BioQueue(engine, host, device, busy_ticks=section.busy_ticks)
        elif plan.kind == "hardware":
            from ...model.block.hardware_queues import HardwareQueues

            queue = HardwareQueues(
                engine,
                host,
                device,
                depth=plan.depth,
                hardware_queues=plan.hardware_queues,
                max_request_bytes=plan.max_request,
                max_segments=plan.max_segments,
                throttle=throttle,
                busy_ticks=section.busy_ticks,
                program_pays=pays,
            )
        else:
            kind = SCHEDULERS[plan.scheduler]
            scheduler = kind.made(self._queue_facts(plan))
            if plan.kind == "tags":
                queue = BlkMqQueue(
                    engine,
                    host,
                    device,
                    depth=plan.depth,
                    scheduler=scheduler,
                    max_request_bytes=plan.max_request,
                    max_segments=plan.max_segments,
                    requests=plan.requests,
                    write_requests=plan.write_requests,
                    only_async=not kind.limits_all_writes,
                    spreads=plan.hardware_queues > 1,
                    throttle=throttle,
                    busy_ticks=section.busy_ticks,
                    program_pays=pays,
                )
            else:
                from ...model.block.single_queue import BlockQueue, PlugSettings

                plug = PlugSettings(section.plug_requests, section.plug_delay)
                share, one = section.wake_share, section.wakes_one
                queue = BlockQueue(
                    engine, host, device, scheduler, plan.depth, section.limit, plan.requests, plug, share, one
                )
        if plan.name in self.disks:
            self.queues[plan.name] = queue
        return queue

    def _queue_facts(self, plan: QueuePlan) -> QueueFacts:
        streams, name = self._engine.streams, f"{plan.name}/scheduler"
        return QueueFacts(
            plan.max_request,
            plan.section,
            plan.usual,
            plan.rotational,
            plan.depth,
            lambda: float(streams.generator(name).random()),
            self._of_schedulers,
        )

    def _firmware(self, plan: FirmwarePlan) -> Link:
        name = plan.controller
        firmware = self.firmwares[name] = plan.spec.firmware(self._engine, f"{name} cpu")
        self._observer.part(firmware)
        link = self.links[name] = plan.spec.host_link(name)
        return link

    def _drive_queue(self, plan: DriveQueuePlan) -> BlockQueue:
        from ...model.controller.drive_queue import DriveOrder, DriveQueue

        firmware, disk = self.firmwares[plan.controller], self.devices[plan.drive]
        order = DriveOrder(plan.max_request, plan.background_wait_s)
        return DriveQueue(self._engine, firmware, disk, order, plan.depth, _UNLIMITED, _UNLIMITED, None)

    def _array(self, plan: ArrayPlan) -> Any:
        engine, name, failed = self._engine, plan.name, plan.failed
        layout: Any = plan.layout
        host = self.host if plan.controller is None else self.firmwares[plan.controller]
        members = [self.devices[member] for member in plan.members]
        if plan.fails:
            from ...model.raid.resync.spares import MemberSlot

            members = [MemberSlot(member) for member in members]
        made: Any
        match plan.driver:
            case Raid10Driver() | ParityDriver() if plan.resync is not None and plan.resync.layouts:
                made = self._reshaping(plan, plan.resync, members, host)
            case MirrorDriver(section=section):
                from ...model.raid.mirrors.barrier import RESYNC_BARRIER
                from ...model.raid.mirrors.mirror import MirrorArray

                balance = self._balance(plan.root, plan.driver)
                barrier, depth = RESYNC_BARRIER[section.barrier], section.resync_depth
                pays = section.submitter_pays
                made = MirrorArray(
                    engine, name, members, balance, host, failed, depth, barrier, section.clones_pages, pays
                )
            case Raid10Driver(section=tenth):
                from ...model.raid.mirrors.barrier import RESYNC_BARRIER
                from ...model.raid.mirrors.raid10 import Raid10Array

                balance = self._balance(plan.root, plan.driver)
                barrier, depth = RESYNC_BARRIER[tenth.barrier], tenth.resync_depth
                made = Raid10Array(
                    engine, name, members, layout, balance, host, failed, depth, barrier, tenth.holds_writes
                )
            case ByteStripeDriver(round_robin=in_turn):
                from ...model.raid.striped.raid3 import ByteStripedArray

                made = ByteStripedArray(engine, name, members, layout, host, failed, in_turn)
            case ParityDriver(settings=settings, journal=journal):
                from ...model.raid.metadata.journal import Journal
                from ...model.raid.parity.array import ParityArray

                log = None if journal is None else Journal(self.devices[journal])
                made = ParityArray(engine, name, members, layout, settings, host, failed, log)
            case PlainDriver(kind=kind):
                made = kind(engine, name, members, layout, host, failed)
        self.arrays[name] = made
        return made

    def _reshaping(self, plan: ArrayPlan, resync: ResyncPlan, members: list[Any], host: Host) -> ReshapingArray:
        """An array that is moved from one layout to another."""
        from ...model.raid.mirrors.barrier import RESYNC_BARRIER
        from ...model.raid.mirrors.raid10 import Raid10Array
        from ...model.raid.reshape.geometry import Geometry
        from ...model.raid.reshape.parity import ReshapingParityArray
        from ...model.raid.reshape.raid10 import ReshapingRaid10Array

        engine, name, driver = self._engine, plan.name, plan.driver
        old, new = resync.layouts
        geometry = Geometry(old, new, None if resync.backup is None else 0)  # type: ignore[arg-type]
        done = resync.position / min(new.member_bytes) if resync.at is None else resync.at
        if isinstance(driver, ParityDriver):
            unit = min(old.chunk_bytes, new.chunk_bytes, driver.settings.head * RESYNC_HEADS)
            position = int(done * new.capacity)
            made = ReshapingParityArray(engine, name, members, geometry, driver.settings, host, position, unit)
            if resync.backup is not None and not resync.frozen:
                made.keep_backup(self.devices[resync.backup])
            return made
        assert isinstance(driver, Raid10Driver)
        section, of = driver.section, driver
        barrier = RESYNC_BARRIER[section.barrier]

        def make(devices: Sequence[Any], layout: Any) -> Raid10Array:
            balance = self._balance(plan.root, of)
            return Raid10Array(engine, name, devices, layout, balance, host, holds_writes=section.holds_writes)

        position = int(done * min(old.capacity, new.capacity))
        return ReshapingRaid10Array(
            engine, name, members, geometry, make, barrier, section.resync_depth, host, position
        )

    def _balance(self, root: str, driver: MirrorDriver | Raid10Driver) -> ReadBalance:
        mirrors = replace(driver.mirrors, shared=self._shared[root])
        return READ_BALANCE[driver.balance.name].for_members(mirrors, driver.balance)

    def _begin(self, plan: ArrayPlan, array: Any) -> None:
        """What goes on in an array without anybody's I/O: rebuilds, bitmaps, superblocks, checks."""
        for slot in plan.rebuilding:
            array.rebuild_onto(slot)
        superblock, clean_after, marks = VERSION_1_2, SAFE_MODE_DELAY_S, plan.marks
        if marks is not None:
            version = GEOM if marks.format == "geom" else VERSION_0_90
            superblock = replace(version, in_turn=marks.in_turn, write_through=marks.barrier)
            clean_after = marks.clean_after
        bitmap = waits = None
        if plan.bitmap is not None:
            bitmap = WriteIntentBitmap(self._engine, array, plan.bitmap, superblock=superblock)
            waits = array.bitmap_waits(bitmap, plan.bitmap_waits)
        if bitmap is not None or marks is not None:
            array.keep_metadata(
                ArrayMetadata(self._engine, array, bitmap, clean_after, superblock=superblock, waits=waits)
            )
        if plan.resync is None or plan.pace is None:
            return
        resync, start = plan.resync, plan.resync.position
        if resync.action == "reshape":
            total, start = array.reshape_bytes, array.reshaped_bytes
        else:
            total = array.resync_bytes
            if resync.action != "recover":
                total = getattr(array, "check_bytes", total)
            if resync.at is not None:
                start = int(resync.at * total)
        if start >= total:
            found = f"{start} bytes, where the array has {total} to {resync.action}"
            raise InputError(f"arrays.{plan.root}.resync.position", found, "expected: less than that")
        start -= start % plan.pace.request_bytes
        if resync.stripe_heads is not None:
            array.cache.grow_to(resync.stripe_heads)
        array.mismatches.share = resync.mismatched
        if resync.frozen:
            return
        begin = partial(self._resync, plan, array, resync.action, start, resync.warm, partial(self._over, plan.name))
        if resync.after:
            self.delayed[plan.name] = resync.after, begin
        else:
            self.resyncs[plan.name] = begin()

    def _over(self, name: str) -> None:
        """The resync with which a run began is over: a spare may be waiting."""
        if name in self.spares:
            self.spares[name].fill()

    def _resync(
        self,
        plan: ArrayPlan,
        array: Any,
        action: Action,
        start: int = 0,
        warm: bool = False,
        finished: Callable[[], None] | None = None,
    ) -> Resync:
        """The thread at work on an array; on blk-mq it sleeps where a member has no tag for it."""
        assert plan.pace is not None
        thread = None
        if plan.resync_sleeps:
            from ...model.raid.parity.array import ParityArray

            array.resync_thread = submitter = KernelThread(self._engine, array.members, array.host)
            # In a parity array it sleeps for stripe heads, where md's own thread takes them from it to submit.
            thread = submitter if array.daemon_submits or not isinstance(array, ParityArray) else None
        return Resync(self._engine, array, plan.pace, start, warm, action, finished, thread)

    def _spares(self, plan: SparesPlan) -> None:
        """Members fail when the scenario says so, and spares take their place."""
        from ...model.raid.resync.spares import HotSpares

        array = self.arrays[plan.array.name]

        def start(finished: Callable[[], None]) -> Resync:
            return self._resync(plan.array, array, "recover", finished=finished)

        def check(finished: Callable[[], None]) -> Resync:
            return self._resync(plan.array, array, "check", finished=finished)

        stand_by = [self.devices[spare] for spare in plan.spares]
        spares = self.spares[plan.name] = HotSpares(self._engine, array, stand_by, start, check)
        for at, slot in plan.failures:
            spares.fail_at(at, slot)

    def _locks(self, plan: LocksPlan) -> LockedArray:
        made = locked(self._engine, self.host, self.arrays[plan.name], plan)
        self.locks += made.locks
        return made

    def _limit(self, plan: LimitPlan) -> BioSplit:
        array = self.devices[plan.name]
        if plan.layout is None:
            return BioSplit(array, plan.max_request)
        return behind_limit(array, plan.layout, plan.max_request, plan.raid10_chunks)

    def _volume(self, plan: VolumePlan) -> RaidController:
        from ...model.controller.controller import RaidController

        array, firmware = self.devices[plan.name], self.firmwares[plan.controller]
        path = Path(tuple(self.links[link] for link in plan.links))
        volume = RaidController(self._engine, plan.name, array, plan.spec, firmware, path)
        self.controllers[plan.name] = volume
        return volume

    def _crypt(self, plan: CryptPlan) -> CryptDevice:
        made = self.encrypting[plan.name] = self._crypt_device(plan)
        return made

    def _crypt_device(self, plan: CryptPlan) -> CryptDevice:
        engine, host, below, name = self._engine, self.host, self.devices[plan.on], plan.name
        if plan.settings is not None:
            from ...model.crypt.dm_crypt import CryptPipeline

            cpu = self._plan.scenario.machine.cpu
            pools = pool_locks(name, plan.pools, cpu) if plan.pools else []
            self.locks += pools
            return CryptPipeline(engine, below, host, plan.settings, name, pools)
        from ...model.crypt.cryptoloop import CryptDevice

        rate, threads, discards = plan.s_per_byte, plan.threads, plan.allow_discards
        return CryptDevice(engine, below, host, rate, threads=threads, name=name, allow_discards=discards)

    def _loop(self, plan: LoopPlan) -> LoopDevice:
        from ...model.crypt.loop_device import LoopDevice

        cache = self.cache(self.devices[plan.on], plan.cache)
        loop = self.loops[plan.name] = LoopDevice(self._engine, self.host, cache, plan.s_per_byte, plan.name)
        self.encrypting[plan.name] = loop
        return loop

    def _slices(self, plan: SlicesPlan) -> Slice | StripeArray | BioSplit:
        """A partition, or a logical volume: a clone of each I/O on one of its ranges, as the device mapper makes it."""
        from ...model.memory.partition import Slice
        from ...model.raid.striped.stripe import StripeArray

        slices = [Slice(self.devices[on], start, size, plan.name) for on, start, size in plan.slices]
        if plan.layout is None:
            return slices[0]
        volume = StripeArray(self._engine, plan.name, slices, plan.layout, self.host)
        self.volumes[plan.name] = volume
        if not plan.max_request:
            return volume
        chunk = plan.layout.chunk_bytes
        return BioSplit(volume, plan.max_request, chunk, at_chunks=chunk > 0)

    def _pool(self, plan: PoolPlan) -> Pool:
        from ...model.zfs.pool.pool import Pool

        devices = [self.devices[leaf] for leaf in plan.leaves]
        pool = self.pools[plan.name] = Pool(
            self._engine,
            self.host,
            plan.name,
            plan.pool,
            devices,
            plan.rotating,
            plan.settings,
            plan.datasets,
            plan.lost,
            plan.rebuilding,
            [self.devices[cache] for cache in plan.caches],
        )
        if plan.scan is not None:
            from ...model.zfs.scan.begin import begin_scan

            scan = plan.scan
            self.scans[plan.name] = begin_scan(
                self._engine, self.host, pool, scan.action, scan.done, scan.settings, warm=True
            )
        if plan.autotrim is not None:
            from ...model.zfs.scan.begin import begin_autotrim

            begin_autotrim(self._engine, pool, plan.autotrim)
        return pool

    def _dataset(self, plan: DatasetPlan) -> Dataset:
        """A volume or file of a pool."""
        return self.pools[plan.pool].datasets[plan.name]

    def _ssd_cache(self, plan: SsdCachePlan) -> AnyCache:
        from ...model.cache.bcache.cached_device import Bcache
        from ...model.cache.dm_cache.target import DmCache
        from ...model.cache.settings import BcacheSettings, DmCacheSettings
        from ...model.cache.warm import PastLoad, full_blocks, warm_blocks
        from ...model.cache.writecache.target import Writecache

        engine, host, settings, size = self._engine, self.host, plan.settings, plan.cache_bytes
        members = [self.devices[plan.on], self.devices[plan.cache]]
        random = engine.streams.generator(f"{plan.name}/before")
        made: AnyCache
        if isinstance(settings, DmCacheSettings):
            own = plan.metadata is not None
            metadata = self.devices[plan.metadata] if plan.metadata is not None else members[1]
            made = DmCache(engine, plan.name, members, metadata, host, settings, size, 0 if own else size)
        elif isinstance(settings, BcacheSettings):
            made = Bcache(engine, plan.name, members, host, settings, size)
        else:
            made = Writecache(engine, plan.name, members, host, settings, size)
            if plan.full:
                made.fill(full_blocks(random, made.places, made.capacity // settings.block_bytes))
        if plan.warmed_by and not isinstance(made, Writecache):
            past = []
            for load in plan.warmed_by:
                span = load.span or made.capacity - load.start
                places = locality(engine, load, plan.name, span)
                past.append(PastLoad(places, load.start, span, load.read_share, load.weight))
            made.warm(warm_blocks(random, past, made.warm_pieces, made.warm_piece_bytes))
        self.ssd_caches[plan.name] = made
        return made


def read_ahead(plan: ReadAheadPlan) -> Callable[[int], ReadAhead]:
    """Makes the read-ahead of a file, from where the file ends."""
    policy = READ_AHEAD[plan.policy]
    return lambda end: policy.opened(plan.window, end, plan.max_request)
