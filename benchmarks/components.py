"""Parts of the model alone: what each does for one I/O, as often as it can.

A part that stands between others has ideal neighbors: a queue or an array has devices below it whose service time is
fixed, so that what is measured is its own price.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import READ
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import drive, hard_disk
from raidsim.model.layouts import Layout, layout_for
from raidsim.model.layouts.parity import ParityLayout
from raidsim.model.links.link import Bus
from raidsim.model.loads.trace_ios import in_parts
from raidsim.model.loads.trace_load import TimedTrace
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory
from raidsim.model.memory.page_cache import PageCache
from raidsim.model.memory.page_memory import PageMemory
from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.readahead import PAGE, READ_AHEAD
from raidsim.model.schedulers import MqDeadline
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.model.tasks.cpu import Account, Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE

from .loads import CHUNK, DRIVE, NVME_DRIVE, Load, random_draws, sequential_draws

_CAPACITY = 1 << 38
_PLENTY = 1 << 40
_SIZE = 4096
_CALL = 64 << 10
_DIRTY_PAGES = 100_000
_GAP_S = 0.005
"""Between the records of a trace: RAID 5 of 8 disks takes that."""


class Chore(Protocol):
    """Something that can be done again and again."""

    def run(self, count: int) -> int:
        """Do about so many; how many were done."""


class Part:
    """A part that is called, without a clock.

    Parameters
    ----------
    do
        One of what it does, the number of which it is told.
    """

    def __init__(self, do: Callable[[int], object]) -> None:
        self._do = do
        self._done = 0

    def run(self, count: int) -> int:
        """See :class:`Chore`."""
        do = self._do
        for number in range(self._done, self._done + count):
            do(number)
        self._done += count
        return count


class Loaded:
    """A device under a load; what counts are the I/Os of the devices below it."""

    def __init__(self, load: Load) -> None:
        self.load = load

    def run(self, count: int) -> int:
        """See :class:`Chore`."""
        before = self.load.member_ios
        self.load.run(count)
        return self.load.member_ios - before


class Running:
    """A process on a clock that does one after the other."""

    def __init__(self, engine: Engine, each: Callable[[int], Generator[Any, Any, None]]) -> None:
        self._engine = engine
        self._each = each
        self._done = 0

    def run(self, count: int) -> int:
        """See :class:`Chore`."""
        self._engine.run(self._engine.spawn(self._loop(count)))
        return count

    def _loop(self, count: int) -> Generator[Any, Any, None]:
        for number in range(self._done, self._done + count):
            yield from self._each(number)
        self._done += count


def link() -> Chore:
    """A PCI bus that two drives share, each with one transfer reserved ahead."""
    bus = Bus("pci", 133.3e6, 1e-6)
    reserve, each_s = bus.reserve, 1.2 * (_SIZE / 133.3e6 + 1e-6)
    return Part(lambda number: reserve(number * each_s, (number + 1 + number % 2) * each_s, _SIZE))


def mechanics() -> Chore:
    """Arm and platters: reads at random places that no buffer has."""
    engine = Engine()
    media = HardDisk(engine, hard_disk(DRIVE), "sda").media
    places = iter(random_draws(engine, media.geometry.capacity, _SIZE, 0.0))
    at = 0.0

    def read(_: int) -> None:
        nonlocal at
        at = media.read(next(places)[1], _SIZE, at, at)

    return Part(read)


def disk_cache() -> Chore:
    """A drive that has read ahead what it is asked for."""
    engine = Engine()
    disk = HardDisk(engine, hard_disk(DRIVE), "sda")
    draws = sequential_draws(READ, disk.capacity, _SIZE)
    return Loaded(Load(engine, disk, [disk], draws, _SIZE, outstanding=1))


def _fixed(engine: Engine, count: int) -> list[FixedServiceDevice]:
    return [FixedServiceDevice(engine, f"sd{i}", _CAPACITY, lambda size, op: 1e-4) for i in range(count)]


def scheduler() -> Chore:
    """mq-deadline with 64 requests in it, in front of a device that takes one command at a time."""
    engine = Engine()
    devices = _fixed(engine, 1)
    queue = BlkMqQueue(
        engine, Host(Cpu(engine), FREE), devices[0], depth=1, scheduler=MqDeadline(1_310_720), requests=256
    )
    draws = random_draws(engine, _CAPACITY, _SIZE, 0.3)
    return Loaded(Load(engine, queue, devices, draws, _SIZE, outstanding=64))


def _mapping(layout: Layout) -> Chore:
    extents, places = layout.extents, iter(random_draws(Engine(), layout.capacity, _SIZE, 0.0))
    return Part(lambda _: extents(next(places)[1], _SIZE))


def mapping(level: str) -> Callable[[], Chore]:
    """From an address of an array to its members."""
    return lambda: _mapping(layout_for(level, 8, CHUNK, _CAPACITY))


def stripes() -> Chore:
    """The driver of RAID 5 under small reads and writes, on ideal members."""
    engine = Engine()
    members = _fixed(engine, 8)
    layout = ParityLayout("raid5", [_CAPACITY] * 8, CHUNK, "left-symmetric")
    array = ParityArray(engine, "md0", members, layout, ParitySettings(heads=0))
    return Loaded(Load(engine, array, members, random_draws(engine, array.capacity, _SIZE, 0.3), _SIZE))


class _Ideal(FixedServiceDevice):
    """An ideal device that a page cache can stand on: its queue is never full."""

    __slots__ = ()

    has_room = True

    def unplug(self) -> None:
        """Nothing is held back."""

    def when_room(self, callback: Callable[[], Any]) -> None:
        """There is room."""
        callback()


def _cached_file(engine: Engine, memory: int) -> tuple[PageCache, PagedFile]:
    """A page cache of so much memory (bytes), whose dirty pages stay, and a file in one piece."""
    host = Host(Cpu(engine), FREE)
    device = _Ideal(engine, "sda", _PLENTY, lambda size, op: 1e-4)
    limits = DirtyLimits(_PLENTY, _PLENTY, 2 * _PLENTY)
    policy = READ_AHEAD["2.6"]
    pages, dirty = PageMemory(memory), DirtyMemory(limits)
    cache = PageCache(engine, host, device, PageCacheSettings(), pages, dirty, lambda end: policy(128 << 10, end))
    file = PagedFile("f", _CAPACITY)
    file.extents.append(0, _CAPACITY)
    return cache, file


def page_cache() -> Chore:
    """A program that reads a file in calls of 64 KiB, with read-ahead of 128 KiB."""
    engine = Engine()
    cache, file = _cached_file(engine, 1 << 28)
    program, read_ahead = Account(1), READ_AHEAD["2.6"](128 << 10, _CAPACITY)

    def each(number: int) -> Generator[Any, Any, None]:
        yield from cache.read(file, read_ahead, number * _CALL, (number + 1) * _CALL, program, 0.0, _CALL)

    return Running(engine, each)


def random_writes() -> Chore:
    """A program that overwrites random pages of a file, of which a hundred thousand lie apart in memory, dirty."""
    engine = Engine()
    cache, file = _cached_file(engine, _PLENTY)
    for page in range(_DIRTY_PAGES):
        cache.mark_dirty(file, 3 * page * PAGE, (3 * page + 1) * PAGE)
    places = iter(random_draws(engine, _CAPACITY, PAGE, 1.0))

    def write(_: int) -> None:
        offset = next(places)[1]
        cache.mark_dirty(file, offset, offset + PAGE)

    return Part(write)


def cpu() -> Chore:
    """A program's run of CPU time and the interrupt of a completion, on four cores."""
    engine = Engine()
    processor = Cpu(engine, 4)

    def each(_: int) -> Generator[Any, Any, None]:
        processor.interrupt(1e-6)
        yield processor.run(2e-6)

    return Running(engine, each)


def solid_state(write_share: float) -> Callable[[], Chore]:
    """An NVMe drive in steady state."""

    def make() -> Chore:
        engine = Engine()
        spec = drive(NVME_DRIVE)
        assert isinstance(spec, SolidStateSpec)
        ssd = SolidState(engine, spec, "nvme0n1")
        draws = random_draws(engine, ssd.capacity, _SIZE, write_share)
        return Loaded(Load(engine, ssd, [ssd], draws, _SIZE, outstanding=32))

    return make


class Replayed:
    """A recorded trace, played on RAID 5 of 8 disks at its own times."""

    def __init__(self) -> None:
        self._engine = engine = Engine()
        disks = [HardDisk(engine, hard_disk(DRIVE), f"sd{i}") for i in range(8)]
        layout = ParityLayout("raid5", [disk.capacity for disk in disks], CHUNK, "left-symmetric")
        array = ParityArray(engine, "md0", disks, layout, ParitySettings(heads=0))
        draws = random_draws(engine, array.capacity, _SIZE, 0.3)
        self._load = TimedTrace(engine, array, records=in_parts(self._records(iter(draws))), name="trace")

    def _records(self, draws: Iterator[tuple[int, int]]) -> Iterator[tuple[float, int, int, int]]:
        at = 0.0
        for op, offset in draws:
            at += _GAP_S
            yield at, op, offset, _SIZE

    def run(self, count: int) -> int:
        """See :class:`Chore`; records, not I/Os of members."""
        before = self._load.completed
        self._engine.run_to(self._engine.now + count * _GAP_S)
        return self._load.completed - before


COMPONENTS: dict[str, Callable[[], Chore]] = {
    "link: a transfer on a shared bus": link,
    "disk head and media: a random read": mechanics,
    "disk cache: a read that was read ahead": disk_cache,
    "scheduler queue: mq-deadline, 64 requests": scheduler,
    "mapping: RAID 0 of 8": mapping("raid0"),
    "mapping: RAID 5 of 8": mapping("raid5"),
    "mapping: RAID 6 of 8": mapping("raid6"),
    "mapping: RAID 10 of 8": mapping("raid10"),
    "RAID 5 stripe handling: a member I/O": stripes,
    "page cache: a read call of 64 KiB": page_cache,
    "page cache: a random page dirtied": random_writes,
    "CPU: a run and an interrupt": cpu,
    "SSD: a random read": solid_state(0.0),
    "SSD: random I/O, 70 % reads": solid_state(0.3),
    "replay on RAID 5 of 8: a record": Replayed,
}
"""What is done, and what counts as one."""
