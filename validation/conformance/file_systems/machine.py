"""The virtual machine of the recordings with a file system on its array; every bio and member request is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....model.core.device import Device, Wrapper
from ....model.core.engine import Engine
from ....model.core.fixed_service import FixedServiceDevice
from ....model.core.request import READ, WRITE_THROUGH, Request
from ....model.file_system import FileSystem, file_system_settings, on_array
from ....model.kernels import KernelSpec
from ....model.layouts import MirroredLayout
from ....model.memory.dirty_memory import DirtyMemory
from ....model.memory.page_cache import PageCache
from ....model.memory.page_memory import PageMemory
from ....model.process.process import Mount, Process
from ....scenarios.description.tuning import VirtualMemorySpec, dirty_limits
from ....scenarios.machine.assemble import read_ahead
from ....scenarios.machine.cache_plan import page_cache_settings, read_ahead_plan
from ..md.vm_member import Member, RecordedArray, build, layout_of
from .traffic import Traffic

KINDS = {"ext4": "ext4", "xfs": "xfs-v5"}
"""File systems of the recordings, and what the catalogue calls them."""
MOUNT_POINT = "/mnt"
_ISSUER = 1
_CYCLE_S = 1e-9
"""An instruction of the recorded machine."""


class CountedMember(FixedServiceDevice):
    """A member with a volatile write cache: a flush takes as long as any request."""

    __slots__ = ("traffic",)

    def __init__(
        self, engine: Engine, name: str, capacity: int, service_s: Callable[[int, int], float], servers: int = 1
    ) -> None:
        super().__init__(engine, name, capacity, service_s, servers)
        self.traffic = Traffic()

    def submit(self, request: Request) -> None:
        """Count and serve a request."""
        traffic = self.traffic
        if request.op == READ:
            traffic.member_reads.add(request.size)
        else:
            traffic.member_writes.add(request.size)
            if request.sync == WRITE_THROUGH:
                traffic.fua += 1
        super().submit(request)

    def flush(self, done: Callable[[], None]) -> None:
        """Serve a flush, in turn with the other requests."""
        self.traffic.flushes += 1
        super().submit(Request(READ, 0, 1, lambda _: done()))


class CountedArray(Wrapper):
    """What the file system sees: the array, and every bio by where it lies."""

    __slots__ = ("classify", "traffic")

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.traffic = Traffic()
        self.classify: Callable[[int], str] = lambda _: "metadata"

    def submit(self, request: Request) -> None:
        """Count a bio and pass it on."""
        op = "read" if request.op == READ else "write"
        self.traffic.count(f"{self.classify(request.offset)}_{op}", request.size)
        super().submit(request)


@dataclass(slots=True)
class FileMachine:
    """The machine with a mounted file system, and the process that the phases run in."""

    engine: Engine
    array: CountedArray
    members: list[CountedMember]
    mount: Mount
    process: Process

    def counts(self) -> Traffic:
        """What is counted from now on."""
        traffic = Traffic()
        self.array.traffic = traffic
        for member in self.members:
            member.traffic = traffic
        return traffic


def file_machine(
    known: KernelSpec, file_system: str, member: Member, array: RecordedArray, dirty: VirtualMemorySpec, memory: int
) -> FileMachine:
    """Build it.

    Parameters
    ----------
    known
        The recorded kernel.
    file_system
        "ext4" or "xfs", as Debian 12 makes it on the array.
    member, array
        What was recorded.
    dirty
        ``dirty_background_bytes`` and ``dirty_bytes``.
    memory
        Bytes of memory.
    """
    vm = build(known, member, array, member_type=CountedMember)
    engine, counted = vm.engine, CountedArray(vm.device)
    layout = None if array.level == "single" else layout_of(array, member.size)
    shown = None if isinstance(layout, MirroredLayout) else layout
    settings = on_array(file_system_settings(KINDS[file_system]), shown)
    pages = PageMemory(memory, known.cache.counts_activations, known.cache.second_chance, known.cache.half_pace)
    largest = member.max_request_bytes
    cached = page_cache_settings(known, shown, settings.block, largest, dirty, settings.write_run)
    opened = read_ahead(read_ahead_plan(known, shown))
    dirty_memory = DirtyMemory(dirty_limits(known, memory, dirty))
    cache = PageCache(engine, vm.host, counted, cached, pages, dirty_memory, opened)
    random = engine.streams.generator("file system")
    system = FileSystem(engine, vm.host, cache, settings, counted.capacity, random, _CYCLE_S)
    counted.classify = _classifier(system)
    mount = Mount(system, cache)
    process = Process(engine, vm.host, {MOUNT_POINT: mount}, f"{MOUNT_POINT}/", _ISSUER)
    members = [queue.device for queue in vm.queues]
    return FileMachine(engine, counted, [each for each in members if isinstance(each, CountedMember)], mount, process)


def _classifier(system: FileSystem) -> Callable[[int], str]:
    """Says of an address what lies there."""

    def classify(address: int) -> str:
        area = getattr(system.journal, "area", None)
        if area is not None and area.start <= address < area.start + area.size:
            return "journal"
        for file in system.files:
            for _, start, size in file.extents.pieces(0, file.extents.size):
                if start <= address < start + size:
                    return "data"
        return "metadata"

    return classify
