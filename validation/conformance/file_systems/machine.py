"""The virtual machine of the recordings with a file system on its array; every bio and member request is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ....model.core.device import Device, Wrapper
from ....model.core.engine import Engine
from ....model.core.fixed_service import FixedServiceDevice
from ....model.core.request import READ, WRITE, WRITE_THROUGH, Request
from ....model.file_system import FileSystem, file_system_settings, on_array
from ....model.kernels import KernelSpec
from ....model.layouts import MirroredLayout
from ....model.memory.dirty_memory import DirtyMemory
from ....model.memory.page_cache import PageCache
from ....model.memory.page_memory import PageMemory
from ....model.process.process import Mount, Process
from ....model.readahead import PAGE
from ....scenarios.description.tuning import VirtualMemorySpec, dirty_limits
from ....scenarios.machine.assemble import read_ahead
from ....scenarios.machine.cache_plan import page_cache_settings, read_ahead_plan
from ..md.vm_member import MEMORY_BYTE_S, PRICES, Member, RecordedArray, build, layout_of
from .traffic import Traffic

KINDS = {"ext4": "ext4", "xfs": "xfs-v5"}
"""File systems of the recordings, and what the catalogue calls them."""
MOUNT_POINT = "/mnt"
_ISSUER = 1
_CYCLE_S = 1e-9
"""An instruction of the recorded machine."""

PAGE_S = 4.0e-6
"""CPU time of a page of a file in memory, without its copy (s): 4 KiB are written over in 13.3 us on one disk, on which
all prices are fitted."""
WRITE_CALL_S = 6.6e-6
"""CPU time of a call that writes, besides (s)."""
READ_CALL_S = 10e-6
"""CPU time of a call that reads (s): 128 KiB that are in memory are read in 0.14 ms."""
WRITE_BACK_PAGE_S = 6e-6
"""CPU time of a page that is written back (s): O_DSYNC writes of 64 KiB take 0.64 ms longer than those of 4 KiB on
ext4, of which copies and new pages of the member are 0.37 ms, and writing 15 more pages 0.25 ms."""
BLOCK_INSTRUCTIONS = {"ext4": 9_200, "xfs": 5_100}
"""Instructions for a block that a file grows by: 128 KiB are written in 0.52 and 0.38 ms."""
NEW_PAGE_S = 13e-6
"""CPU time of a page that a member stores for the first time, besides its copy (s): O_DSYNC writes of 64 KiB to a new
file take 0.39 ms longer on RAID 1 of two than on one disk."""
FLUSH_S = 12e-6
"""CPU time of a member's flush (s): 4 KiB written over and fdatasync take 2.065 ms."""

_NEW_PAGE_BYTES = NEW_PAGE_S / MEMORY_BYTE_S
_FLUSH_BYTES = int(FLUSH_S / MEMORY_BYTE_S)
"""Bytes that a member copies in those times."""
_PRICES = replace(PRICES, page_s=PAGE_S, file_write_s=WRITE_CALL_S, file_read_s=READ_CALL_S)


class CountedMember(FixedServiceDevice):
    """A member with a volatile write cache: a flush takes as long as any request.

    It stores its data in memory, and gets a page for them when it is written first (Linux
    drivers/block/null_blk/main.c, null_insert_page).
    """

    __slots__ = ("_new_pages", "_serve_s", "_stored", "traffic")

    def __init__(
        self, engine: Engine, name: str, capacity: int, service_s: Callable[[int, int], float], servers: int = 1
    ) -> None:
        self._serve_s = service_s
        self._stored = bytearray(capacity // PAGE)
        self._new_pages = 0
        super().__init__(engine, name, capacity, self._store_s, servers)
        self.traffic = Traffic()

    def _store_s(self, size: int, op: int) -> float:
        """Service time (s) of a request, with the pages that it is the first to write."""
        return self._serve_s(size + int(self._new_pages * _NEW_PAGE_BYTES) if op == WRITE else size, op)

    def fill(self, start: int, size: int) -> int:
        """Note that [start, start + size) is stored; returns the number of new pages."""
        first, last = start // PAGE, -(-(start + size) // PAGE)
        new = self._stored.count(0, first, last)
        self._stored[first:last] = b"\1" * (last - first)
        return new

    def submit(self, request: Request) -> None:
        """Count and serve a request."""
        traffic = self.traffic
        if request.op == READ:
            traffic.member_reads.add(request.size)
        else:
            traffic.member_writes.add(request.size)
            self._new_pages = self.fill(request.offset, request.size)
            if request.sync == WRITE_THROUGH:
                traffic.fua += 1
        super().submit(request)

    def flush(self, done: Callable[[], None]) -> None:
        """Serve a flush, in turn with the other requests."""
        self.traffic.flushes += 1
        self._new_pages = 0
        super().submit(Request(WRITE, 0, _FLUSH_BYTES, lambda _: done()))


class CountedArray(Wrapper):
    """What the file system sees: the array, and every bio by where it lies."""

    __slots__ = ("classify", "traffic")

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.traffic = Traffic()
        self.classify: Callable[[int], str] = lambda _: "metadata"

    @property
    def submission_s_per_page(self) -> float:
        """CPU time of a page that is written back."""
        return WRITE_BACK_PAGE_S

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
    vm = build(known, member, array, member_type=CountedMember, prices=_PRICES)
    engine, counted = vm.engine, CountedArray(vm.device)
    layout = None if array.level == "single" else layout_of(array, member.size)
    shown = None if isinstance(layout, MirroredLayout) else layout
    instructions = {"allocate_cycles": BLOCK_INSTRUCTIONS[file_system]}
    settings = on_array(file_system_settings(KINDS[file_system]), shown).model_copy(update=instructions)
    pages = PageMemory(memory, known.cache.counts_activations, known.cache.second_chance, known.cache.half_pace)
    largest = member.max_request_bytes
    cached = page_cache_settings(known, shown, settings.block, largest, dirty, settings.write_run)
    opened = read_ahead(read_ahead_plan(known, shown, largest_request=largest))
    dirty_memory = DirtyMemory(dirty_limits(known, memory, dirty))
    cache = PageCache(engine, vm.host, counted, cached, pages, dirty_memory, opened)
    random = engine.streams.generator("file system")
    system = FileSystem(engine, vm.host, cache, settings, counted.capacity, random, _CYCLE_S)
    counted.classify = _classifier(system)
    members = [queue.device for queue in vm.queues if isinstance(queue.device, CountedMember)]
    _fill_journal(system, counted.capacity, members)
    mount = Mount(system, cache)
    process = Process(engine, vm.host, {MOUNT_POINT: mount}, f"{MOUNT_POINT}/", _ISSUER)
    return FileMachine(engine, counted, members, mount, process)


def _fill_journal(system: FileSystem, capacity: int, members: list[CountedMember]) -> None:
    """The journal has been written by mkfs."""
    area = getattr(system.journal, "area", None)
    if area is not None:
        data_members = max(1, round(capacity / members[0].capacity))
        for member in members:
            member.fill(area.start // data_members, area.size // data_members)


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
