"""What fsync costs where commits flush the drive's cache: the medium, and nothing where the cache cannot be lost."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.device import Device, flush_all
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import WRITE, WRITE_THROUGH, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.file_system import FileSystem, FileSystemSettings, file_system_settings
from raidsim.model.layouts import StripedLayout
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory
from raidsim.model.memory.page_cache import PageCache
from raidsim.model.memory.page_memory import PageMemory
from raidsim.model.memory.partition import Partition
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.readahead import ReadAhead26
from raidsim.model.tasks.cpu import Account, Cpu
from raidsim.model.tasks.host import Host

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class CachedDrive(Device):
    """Takes a write in 20 us; what is in its cache when it is flushed takes 500 us, unless capacitors keep it."""

    def __init__(self, engine: Engine, protected: bool, name: str = "ssd", capacity: int = 8 * GIB) -> None:
        self._engine = engine
        self._protected = protected
        self.name = name
        self.capacity = capacity
        self.requests: list[Request] = []
        self.flushes = 0

    def submit(self, request: Request) -> None:
        self.requests.append(request)
        through = request.sync == WRITE_THROUGH and not self._protected
        self._engine.call_at(self._engine.now + (520e-6 if through else 20e-6), lambda _: request.complete())

    def flush(self, done: Callable[[], None]) -> None:
        self.flushes += 1
        self._engine.call_at(self._engine.now + (0.0 if self._protected else 500e-6), lambda _: done())


class Mounted:
    """A file system on a device, and a program that appends and calls fsync."""

    def __init__(self, engine: Engine, device: Any, kind: str, journal: Device | None = None, **changes: Any) -> None:
        self.engine = engine
        host = Host(Cpu(engine))
        memory = DirtyMemory(DirtyLimits(1 << 40, 1 << 40, 1 << 41))
        partition = Partition(device, 0, min(device.capacity, 8 * GIB))
        self.cache = PageCache(
            engine, host, partition, PageCacheSettings(), PageMemory(GIB), memory, lambda end: ReadAhead26(0, end)
        )
        settings = FileSystemSettings.model_validate({**file_system_settings(kind).model_dump(), **changes})
        random = engine.streams.generator("file system")
        self.system = FileSystem(
            engine, host, self.cache, settings, partition.capacity, random, 0.0, journal_device=journal
        )
        self.program = Account(1)

    def rate(self, count: int, overwrite: bool = False, data_only: bool = False) -> float:
        """So many writes of 4 KiB, each followed by fsync: how many a second."""
        system, by = self.system, self.program

        def work() -> Generator[Any, Any, None]:
            file = yield from system.create("log", by)
            if overwrite:
                yield from system.extend(file, count * 4 * KIB, by)
                self.cache.mark_dirty(file, 0, file.size)
                yield from system.fsync(file, by)
            self.began = self.engine.now
            for number in range(count):
                start, end = number * 4 * KIB, (number + 1) * 4 * KIB
                yield from system.written(file, end, by)
                self.cache.mark_dirty(file, start, end)
                yield from system.fsync(file, by, data_only)

        self.engine.run(self.engine.spawn(work()))
        return count / (self.engine.now - self.began)


def on_hard_disk(kind: str, **changes: Any) -> Mounted:
    """A drive of the catalogue with its write cache on."""
    engine = Engine(1)
    disk = HardDisk(engine, hard_disk("Exos-10E2400-2400GB").with_values(write_cache=True), "sda")
    return Mounted(engine, BlkMqQueue(engine, Host(Cpu(engine)), disk, depth=32), kind, **changes)


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_on_a_hard_disk_a_commit_waits_for_the_platters(kind: str) -> None:
    """Protects barriers: with them every fsync costs turns of the platters, 10,000 of them a minute, though the drive
    has a cache. Counter-test: without them the cache takes all and fsync is many times as fast.
    """
    safe = on_hard_disk(kind).rate(30)
    assert 30 < safe < 170
    assert on_hard_disk(kind, barrier=False).rate(30) > 20 * safe


def test_capacitors_make_fsync_cheap() -> None:
    """Protects power-loss protection: a drive that loses nothing has nothing to flush, so it does fsync ten times as
    often. Counter-test: without barriers the two drives are the same.
    """

    def rate(protected: bool, **changes: Any) -> float:
        engine = Engine(1)
        return Mounted(engine, CachedDrive(engine, protected), "ext4", **changes).rate(50)

    assert rate(protected=True) > 10 * rate(protected=False)
    assert rate(protected=True, barrier=False) == rate(protected=False, barrier=False)


def test_what_one_fsync_sends() -> None:
    """Protects jbd2's order on paper: the data, the described blocks of the transaction, a flush, and the commit block
    written through the cache. fdatasync of what has its place already is the data and a flush.
    """
    engine = Engine(1)
    device = CachedDrive(engine, protected=False)
    mounted = Mounted(engine, device, "ext4")
    mounted.rate(1)
    data, *described, commit = [r for r in device.requests if r.op == WRITE]
    assert {r.size for r in (data, *described, commit)} == {4 * KIB}
    assert [r.offset for r in (*described, commit)] == [
        described[0].offset + n * 4 * KIB for n in range(len(described) + 1)
    ]
    assert [r.sync == WRITE_THROUGH for r in (data, *described, commit)] == [False] * (1 + len(described)) + [True]
    assert device.flushes == 1

    engine = Engine(1)
    device = CachedDrive(engine, protected=False)
    Mounted(engine, device, "ext4").rate(10, overwrite=True, data_only=True)
    assert len([r for r in device.requests if r.sync == WRITE_THROUGH]) == 1, "the commit block of the first fsync"
    assert device.flushes == 1 + 10

    engine = Engine(1)
    device = CachedDrive(engine, protected=False)
    Mounted(engine, device, "ext4", time_grain=1e-9).rate(10, overwrite=True)
    assert len([r for r in device.requests if r.sync == WRITE_THROUGH]) == 11, "fsync commits the times of the file"


def test_an_array_flushes_all_its_members() -> None:
    """Protects data on other members: a commit block lies on one member of a stripe, but the flush before it reaches
    all; a failed slot is left out, and a device without a cache is flushed at once.
    """
    engine = Engine(1)
    members = [CachedDrive(engine, protected=False, name=f"d{i}", capacity=4 * GIB) for i in range(3)]
    array = StripeArray(engine, "md0", members, StripedLayout([4 * GIB] * 3, 64 * KIB))
    Mounted(engine, array, "ext4").rate(2)
    assert [member.flushes for member in members] == [2, 2, 2]
    through = [r for member in members for r in member.requests if r.sync == WRITE_THROUGH]
    assert len(through) == 2

    over: list[str] = []
    array.failed = frozenset({1})
    array.flush(lambda: over.append("array"))
    FixedServiceDevice(engine, "d0", GIB, linear_service(1e-3)).flush(lambda: over.append("nothing"))
    flush_all([], lambda: over.append("none"))
    assert over == ["nothing", "none"]
    engine.run(until=engine.now + 0.001)
    assert over[-1] == "array"
    assert [member.flushes for member in members] == [3, 2, 3]


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_a_commit_to_another_device_flushes_both(kind: str) -> None:
    """Protects a journal on a device of its own: all of it goes there, from its first block on, after both caches are
    flushed. Counter-test: inside the file system each commit flushes once.
    """
    engine = Engine()
    data, journal = CachedDrive(engine, False, "data"), CachedDrive(engine, False, "journal", GIB)
    mounted = Mounted(engine, data, kind, journal)
    commits = 20
    mounted.rate(commits)
    assert data.flushes == journal.flushes == commits
    assert all(request.sync != WRITE_THROUGH for request in data.requests)
    assert sum(request.sync == WRITE_THROUGH for request in journal.requests) == commits
    assert min(request.offset for request in journal.requests) < MIB

    alone = CachedDrive(engine, False)
    Mounted(engine, alone, kind).rate(commits)
    assert alone.flushes == commits
