"""Where the files of a fio job lie on the machine of a scenario.

``/dev/NAME`` is the device of that name. Any other name is a file on the scenario's file system, if it has one mounted
there; without one the file is laid out in one piece on the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from posixpath import normpath
from typing import Any

from ...model.core.errors import FileSystemFull, InputError
from ...model.core.extents import ExtentSet
from ...model.core.request import WRITE
from ...model.file_system import File
from ...model.files.quantities import format_size
from ...model.fio.files import CachedFile, DirectFile, FioFile, InodeTimes, LockedFile
from ...model.memory.page_cache import PageCache
from ...model.memory.paged_file import PagedFile
from ...model.network.server import NetworkFront
from ...model.process.process import Mount
from ...model.readahead import PAGE
from ...model.tasks.lock import Counter, Lock, QueuedLock, line_transfer_s
from ..description.devices import Devices
from ..description.pools import pool_devices
from ..description.scenario import ScenarioSpec, target_of
from ..machine.array_plan import is_rotational
from ..machine.machine import BuiltMachine
from .plan import Plan

_DEVICE = "/dev/"
_ALIGN = 1 << 20
"""Files laid out on a target begin at a multiple of this."""
_NO_ADVICE = ("linux-2.4", "freebsd-")
"""Kernels without posix_fadvise (Linux has it since 2.5.60, FreeBSD since 9.0)."""
_FUA_SINCE = {"xfs": (4, 18), "xfs-v5": (4, 18), "ext4": (5, 5)}
"""Linux whose file system sends a direct write of a file opened with O_DSYNC with FUA, if it is over what is there, and
not with a flush after it (fs/iomap/direct-io.c, IOMAP_DIO_WRITE_FUA)."""
_NO_FLUSH = ("linux-2.", "freebsd-")
"""Kernels whose fsync of a block device leaves its cache alone (Linux flushes it since 2.6.33, blkdev_fsync)."""


class FileNames:
    """What the names in a job file mean on a scenario.

    Parameters
    ----------
    scenario
        The scenario.
    target
        What ``--target`` names.

    Attributes
    ----------
    notes
        What was assumed.
    """

    def __init__(self, scenario: ScenarioSpec, target: str | None) -> None:
        self._scenario = scenario
        self._target = target
        self._devices = Devices.of(scenario)
        self.notes: list[str] = []
        if target is not None:
            target_of(scenario, target)

    def device(self, name: str, place: str) -> str | None:
        """The device that a name means; None if it is a file.

        Raises
        ------
        InputError
            If it is the name of a device that is not there.
        """
        if not name.startswith(_DEVICE):
            return None
        known = name.removeprefix(_DEVICE)
        hidden = self._devices.hidden
        if known in self._devices.names and known not in hidden:
            return known
        if self._target is not None:
            note = f"{name} is {self._target}"
            if note not in self.notes:
                self.notes.append(note)
            return self._target
        seen = [each for each in self._devices.names if each not in hidden]
        found = f"{name}, which is behind {hidden[known]}" if known in hidden else f"unknown device {name!r}"
        allowed = f"expected: {', '.join(_DEVICE + each for each in seen)}, or --target NAME for all others"
        raise InputError(place, found, allowed)

    def sizes(self, names: Sequence[tuple[str, str]]) -> dict[str, int]:
        """Sizes of those names that are devices; each with its place for errors."""
        found = {}
        for name, place in names:
            device = self.device(name, place)
            if device is not None:
                found[name] = self._devices.capacity(device)
        return found

    def mount_point(self, name: str) -> str | None:
        """The file system that a file is on, by its mount point; None if it is on none."""
        points = self._scenario.file_systems
        if not name.startswith("/"):
            return next(iter(points)) if len(points) == 1 else None
        above = [point for point in points if point == "/" or name.startswith(point + "/")]
        return max(above, key=len, default=None)

    def real(self, name: str) -> str:
        """One name for a file that has several: "f" and "/raid/f", if /raid is the only file system."""
        point = self.mount_point(name)
        return normpath(name if point is None or name.startswith("/") else f"{point}/{name}")

    def target(self) -> str:
        """What files without a file system are laid out on."""
        return target_of(self._scenario, self._target)

    def past_the_page_cache(self, plan: Plan) -> Plan:
        """Calls on files of ZFS, which the ARC holds and no page cache, take the way of direct I/O to them.

        Raises
        ------
        InputError
            If the job asks for O_DIRECT, which OpenZFS 2.3 serves past the ARC unless the dataset's property says no.
        """
        timing, place = plan.timing, f"job {plan.name}, filename"
        if timing.kind == "null":
            return plan
        datasets = pool_devices(self._scenario.pools)
        known = {file.name: datasets.get(self.holder(file.name, place)) for file in plan.job.files}
        found = {name: each[1] for name, each in known.items() if each is not None and each[1].file is not None}
        for name, dataset in found.items():
            if timing.direct and dataset.direct != "disabled":
                said = f"direct=1 on {name}, a file of ZFS, past whose ARC it goes"
                allowed = "expected: a volume, or direct: disabled of its dataset"
                raise InputError(f"job {plan.name}, direct", said, allowed)
        if timing.kind != "sync" or timing.direct or not known or len(found) < len(known):
            return plan
        return replace(plan, timing=replace(timing, direct=True))

    def holder(self, name: str, place: str) -> str:
        """The device that a name means, or that its file is on."""
        device = self.device(name, place)
        if device is not None:
            return device
        point = self.mount_point(name)
        return self.target() if point is None else self._scenario.file_systems[point].on


class FilePlaces:
    """The files of all threads on a machine that has been built.

    Parameters
    ----------
    machine
        The machine.
    names
        What the names mean.
    threads
        Whose files they are.

    Attributes
    ----------
    used
        Devices with files on them, by name.
    caches
        Page caches of them, by the name of the device or of the mount point.
    """

    def __init__(self, machine: BuiltMachine, names: FileNames, threads: Sequence[Plan]) -> None:
        self._machine = machine
        self._names = names
        self._scenario = machine.scenario
        self._flushes = not machine.scenario.kernel.startswith(_NO_FLUSH)
        self._advises = not machine.scenario.kernel.startswith(_NO_ADVICE)
        self.used: dict[str, Any] = {}
        self.caches: dict[str, PageCache] = {}
        self._on: dict[str, str] = {}
        self._mounts: dict[str, Mount] = {}
        self._laid_out: dict[str, tuple[int, int]] = {}
        self._paged: dict[str, tuple[PageCache, PagedFile, Any]] = {}
        self._direct: dict[tuple[str, bool], DirectFile] = {}
        self._clients_see: dict[PageCache, NetworkFront] = {}
        sizes: dict[str, int] = {}
        self._written_in_part: set[str] = set()
        # fio creates a file that is only written, and fallocate(2) gives it its place; other files it writes first.
        there = {
            names.real(file.name)
            for plan in threads
            if plan.job.reads or plan.job.trims or plan.job.overwrite
            for file in plan.job.files
        }
        self._new = {names.real(file.name) for plan in threads for file in plan.job.files} - there
        for plan in threads:
            write = plan.job.sizes[WRITE].least
            for file in plan.job.files:
                if plan.job.writes and write % PAGE:
                    self._written_in_part.add(names.real(file.name))
                sizes[file.name] = max(sizes.get(file.name, 0), file.size)
        self._lay_out(sizes)

    def of(self, plan: Plan) -> dict[str, FioFile]:
        """The files of a thread."""
        found: dict[str, FioFile] = {}
        for file in plan.job.files:
            place = f"job {plan.name}, filename"
            device = self._names.device(file.name, place)
            if plan.timing.direct or plan.timing.kind == "null":
                found[file.name] = self._direct_file(file.name, device, plan.timing.sync_writes == "dsync")
            else:
                found[file.name] = self._cached_file(plan, file.name, device)
            if plan.job.trims and plan.timing.kind != "null":
                self._check_trims(found[file.name], plan)
        return found

    def direct_on(self, plan: Plan, device: str) -> bool:
        """Whether a thread sends direct I/O to a device, by its name."""
        if not plan.timing.direct or plan.timing.kind == "null":
            return False
        return any(self._on.get(file.name) == device for file in plan.job.files)

    def caches_on(self, device: str) -> list[PageCache]:
        """Page caches of a device and of file systems on it."""
        mounted = self._scenario.file_systems
        return [
            cache
            for name, cache in self.caches.items()
            if name == device or (name in mounted and mounted[name].on == device)
        ]

    def _lay_out(self, sizes: Mapping[str, int]) -> None:
        """Files that are no devices get their place."""
        free: dict[str, int] = {}
        on_target: list[str] = []
        first: dict[str, str] = {}
        largest: dict[str, int] = {}
        for name, size in sizes.items():
            real = self._names.real(name)
            largest[real] = max(size, largest.get(real, 0))
        for name in sizes:
            if name.startswith(_DEVICE):
                self._on[name] = self._names.device(name, name) or ""
                continue
            real = self._names.real(name)
            size, same = largest[real], first.setdefault(real, name)
            if same != name:
                self._on[name] = self._on[same]
                if same in self._paged:
                    self._paged[name] = self._paged[same]
                else:
                    self._laid_out[name] = self._laid_out[same]
                continue
            point = self._names.mount_point(name)
            if point is not None:
                self._lay_out_on(point, name, size)
                continue
            target = self._on[name] = self._names.target()
            start = free.get(target, 0)
            capacity = self._device(target).capacity
            if start + size > capacity:
                found = f"files of {format_size(start + size)} on {target}"
                raise InputError("size", found, f"expected: up to {format_size(capacity)} in all")
            free[target] = start + -(-size // _ALIGN) * _ALIGN
            self._laid_out[name] = (start, size)
            on_target.append(name)
        if on_target:
            target = self._names.target()
            names = ", ".join(on_target[:4]) + (", ..." if len(on_target) > 4 else "")
            self._names.notes.append(f"laid out in one piece each on {target}, which has no file system: {names}")

    def _lay_out_on(self, point: str, name: str, size: int) -> None:
        if point not in self._mounts:
            self._mounts[point] = self._machine.mount(point)
            on = self._scenario.file_systems[point].on
            self.used.setdefault(on, self._machine.device(on))
            self.caches[point] = self._mounts[point].cache
        self._on[name] = self._scenario.file_systems[point].on
        mount = self._mounts[point]
        inside = name.removeprefix(point).lstrip("/") if name.startswith("/") else name.removeprefix("./")
        try:
            file = mount.file_system.place(inside, size)
        except FileSystemFull as error:
            raise InputError("size", str(error), "expected: files that fit on the file system") from None
        if self._names.real(name) in self._new and mount.file_system.settings.journal != "none":
            file.written = ExtentSet()
        self._paged[name] = (mount.cache, file, mount.file_system)
        if not name.startswith("/"):
            note = f"relative names are files on {point}, the only file system"
            if note not in self._names.notes:
                self._names.notes.append(note)

    def _device(self, name: str) -> Any:
        if name not in self.used:
            self.used[name] = self._machine.device(name)
        return self.used[name]

    def _direct_file(self, name: str, device: str | None, durable: bool) -> DirectFile:
        """A file with O_DIRECT, and with O_DSYNC if it is `durable`."""
        key = (name, durable)
        if key not in self._direct:
            through = durable and self._sends_fua(name, device)
            if device is not None:
                opened = self._machine.opened(self._device(device))
                inode = self._inode(name, device, QueuedLock)
                self._direct[key] = DirectFile(opened, 0, None, self._flushes, inode, through)
            elif name in self._laid_out:
                start, _ = self._laid_out[name]
                target = self._device(self._names.target())
                self._direct[key] = DirectFile(target, start, None, self._flushes, None, through)
            else:
                cache, file, system = self._paged[name]
                inode = self._inode(name, self._on[name], Counter)
                below, pieces = self._reached(cache), file.extents.pieces
                in_part = self._names.real(name) in self._written_in_part
                times = None
                if system is not None and isinstance(file, File) and self._machine.network is None:
                    times = InodeTimes(self._machine.engine, system, file)
                if in_part and system is not None and system.settings.unaligned_alone:
                    block = system.settings.block
                    self._direct[key] = LockedFile(below, pieces, self._flushes, inode, block, times)
                else:
                    self._direct[key] = DirectFile(below, None, pieces, self._flushes, inode, through, times)
        return self._direct[key]

    def _sends_fua(self, name: str, device: str | None) -> bool:
        """Whether the kernel makes a direct write durable with FUA: to a device, or where the file system does."""
        if not self._flushes or self._machine.network is not None:
            return False
        point = self._names.mount_point(name) if device is None else None
        if point is None:
            return True
        since = _FUA_SINCE.get(self._scenario.file_systems[point].kind)
        version = tuple(int(part) for part in self._machine.kernel.version.split(".")[:2])
        return since is not None and version >= since

    def _inode(self, name: str, device: str, kind: type[Lock]) -> Lock | None:
        """What threads of several cores take turns at, at the inode of a file; None on hard disks, which are slower."""
        cpu = self._scenario.machine.cpu
        if cpu.cores == 1 or self._machine.network is not None or is_rotational(self._scenario, device):
            return None
        line_s = line_transfer_s(cpu.nodes, cpu.line_transfer, cpu.far_line_transfer)
        lock = kind(f"the inode of {name}", f"Linux {self._machine.kernel.version}", line_s)
        self._machine.locks.append(lock)
        return lock

    def _reached(self, cache: PageCache) -> Any:
        """What a file system lies on, as direct I/O gets there: through the network, if there is one."""
        network = self._machine.network
        if network is None:
            return cache.device
        if cache not in self._clients_see:
            self._clients_see[cache] = network.before(cache.device)
        return self._clients_see[cache]

    def _cached_file(self, plan: Plan, name: str, device: str | None) -> CachedFile:
        if self._machine.network is not None:
            allowed = "expected: direct=1 where the drives are behind a network"
            raise InputError(f"job {plan.name}, direct", "found buffered I/O", allowed)
        if name not in self._paged:
            on = device if device is not None else self._names.target()
            if on not in self.caches:
                self._device(on)
                self.caches[on] = self._machine.device_cache(on)
            cache = self.caches[on]
            if device is not None:
                self._paged[name] = (cache, cache.device_file, None)
            else:
                start, size = self._laid_out[name]
                file = PagedFile(name, size)
                file.extents.append(start, -(-size // PAGE) * PAGE)
                self._paged[name] = (cache, file, None)
        cache, file, system = self._paged[name]
        advice = plan.timing.advice
        if advice == "pattern":
            advice = "random" if plan.job.random else "sequential"
        told = advice if self._advises else "none"
        return CachedFile(self._machine.host, cache, file, system, told, self._flushes)

    @staticmethod
    def _check_trims(file: FioFile, plan: Plan) -> None:
        place = plan.section.options["rw"].place
        if isinstance(file, CachedFile):
            raise InputError(place, "trims with buffered I/O", "expected: direct=1")
        if file.no_trims:
            found = f"trims on {file.device.name}, where fio fails with EOPNOTSUPP (Operation not supported): "
            allowed = "expected: solid-state drives, and arrays and encrypted devices of them that pass discards on"
            raise InputError(place, found + file.no_trims, allowed)
