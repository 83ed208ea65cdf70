"""The loads: closed loops of callbacks over full models, the next request submitted when one completes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import drive, hard_disk
from raidsim.model.layouts.parity import ParityLayout
from raidsim.model.layouts.striped import StripedLayout
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

DRIVE = "WD2500JB"
QUEUING_DRIVE = "WD5000AAKS"
NVME_DRIVE = "Samsung-PM9A3-3840GB"
NVME_DRIVES = 24
NVME_DEPTH = 32
"""Outstanding per drive: 24 drives then do about 10 million reads a second of simulated time."""
CHUNK = 64 << 10
OUTSTANDING = 16
BLOCK = 1 << 12
"""Requests drawn at once: few, so that they do not show in the memory measured."""


class Load:
    """Keeps `outstanding` requests in a device; each completion submits the next.

    Parameters
    ----------
    engine
        The clock.
    device, disks
        What is loaded, and the drives whose I/Os are counted.
    draws
        Endless (op, offset).
    size
        Bytes of every request.
    sync
        Whether somebody waits for every request.
    outstanding
        Requests in the device.
    """

    def __init__(
        self,
        engine: Engine,
        device: Device,
        disks: Sequence[HardDisk | SolidState | FixedServiceDevice],
        draws: Iterator[tuple[int, int]],
        size: int,
        sync: bool = True,
        outstanding: int = OUTSTANDING,
    ) -> None:
        self.engine = engine
        self.disks = disks
        self.completed = 0
        self._stop_at = -1
        self._stop = engine.event()
        self._submit = device.submit
        self._draw = draws.__next__
        self._size = size
        self._sync = sync
        self._done: Callable[[Request], None] = self._completed  # bound once
        for _ in range(outstanding):
            self._next()

    @property
    def member_ios(self) -> int:
        """I/Os that the drives have completed."""
        return sum(disk.reads + disk.writes for disk in self.disks)

    def run(self, requests: int) -> None:
        """Simulate until `requests` more have completed."""
        self._stop = self.engine.event()
        self._stop_at = self.completed + requests
        self.engine.run(until=self._stop)

    def _next(self) -> None:
        op, offset = self._draw()
        self._submit(Request(op, offset, self._size, self._done, 0, self._sync))

    def _completed(self, _: Request) -> None:
        self.completed = completed = self.completed + 1
        if completed == self._stop_at:
            self._stop.succeed()
        op, offset = self._draw()
        self._submit(Request(op, offset, self._size, self._done, 0, self._sync))


def random_draws(engine: Engine, capacity: int, size: int, write_share: float) -> Iterator[tuple[int, int]]:
    """(op, offset) anywhere on the device, aligned to `size`; drawn in blocks."""
    generator = engine.streams.generator("load")

    def blocks() -> Iterator[Iterator[tuple[int, int]]]:
        while True:
            offsets = (generator.integers(0, capacity // size, BLOCK) * size).tolist()
            ops = np.where(generator.random(BLOCK) < write_share, WRITE, READ).tolist()
            yield zip(ops, offsets, strict=True)

    return chain.from_iterable(blocks())


def sequential_draws(op: int, capacity: int, size: int) -> Iterator[tuple[int, int]]:
    """(op, offset) from the start of the device to its end, again and again."""
    end = capacity - capacity % size
    while True:
        for offset in range(0, end, size):
            yield op, offset


def disk_load(name: str) -> Load:
    """One drive, random reads."""
    engine = Engine()
    disk = HardDisk(engine, hard_disk(name), "sda")
    return Load(engine, disk, [disk], random_draws(engine, disk.capacity, 4096, 0.0), 4096)


def sequential_disk_load() -> Load:
    """One drive, one stream of 64 KiB reads."""
    engine = Engine()
    disk = HardDisk(engine, hard_disk(DRIVE), "sda")
    return Load(engine, disk, [disk], sequential_draws(READ, disk.capacity, 64 << 10), 64 << 10, outstanding=1)


def _disks(engine: Engine, count: int, write_cache: bool = True) -> list[HardDisk]:
    spec = hard_disk(DRIVE) if write_cache else hard_disk(DRIVE).with_values(write_cache=False)
    return [HardDisk(engine, spec, f"sd{'abcdefgh'[i]}") for i in range(count)]


def _raid5(engine: Engine, write_cache: bool = True) -> tuple[ParityArray, list[HardDisk]]:
    disks = _disks(engine, 8, write_cache)
    layout = ParityLayout("raid5", [disk.capacity for disk in disks], CHUNK, "left-symmetric")
    return ParityArray(engine, "md0", disks, layout, ParitySettings(heads=0)), disks


def random_raid5_load(write_cache: bool = True) -> Load:
    """RAID 5 of 8, random, 70 % reads."""
    engine = Engine()
    array, disks = _raid5(engine, write_cache)
    return Load(engine, array, disks, random_draws(engine, array.capacity, 4096, 0.3), 4096)


def random_raid0_load() -> Load:
    """RAID 0 of 4, random, 70 % reads."""
    engine = Engine()
    disks = _disks(engine, 4)
    array = StripeArray(engine, "md0", disks, StripedLayout([disk.capacity for disk in disks], CHUNK))
    return Load(engine, array, disks, random_draws(engine, array.capacity, 4096, 0.3), 4096)


def sequential_raid5_load(op: int) -> Load:
    """RAID 5 of 8, one stream of 64 KiB requests; writes as the page cache sends them, nobody waits for each."""
    engine = Engine()
    array, disks = _raid5(engine)
    return Load(engine, array, disks, sequential_draws(op, array.capacity, 64 << 10), 64 << 10, sync=op == READ)


class Spread(Device):
    """Drives side by side, each behind its queue: addresses go to the drives in turn, 4 KiB each."""

    def __init__(self, queues: list[BlkMqQueue]) -> None:
        self.name = "nvme"
        self.capacity = sum(queue.capacity for queue in queues)
        self._submits = [queue.submit for queue in queues]

    def submit(self, request: Request) -> None:
        """Pass a request on to its drive."""
        row, drive = divmod(request.offset >> 12, len(self._submits))
        request.offset = row << 12
        self._submits[drive](request)


def nvme_load(write_share: float) -> Load:
    """Many NVMe drives behind Linux's queue without an I/O scheduler, random I/O."""
    engine = Engine()
    host = Host(Cpu(engine))
    spec = drive(NVME_DRIVE)
    assert isinstance(spec, SolidStateSpec)
    disks = [SolidState(engine, spec, f"nvme{i}n1") for i in range(NVME_DRIVES)]
    spread = Spread([BlkMqQueue(engine, host, disk, depth=spec.queue_depth) for disk in disks])
    draws = random_draws(engine, spread.capacity, 4096, write_share)
    return Load(engine, spread, disks, draws, 4096, outstanding=NVME_DRIVES * NVME_DEPTH)


LOADS: dict[str, Callable[[], Load]] = {
    "disk, random 4 KiB reads": lambda: disk_load(DRIVE),
    "disk with NCQ, random 4 KiB reads": lambda: disk_load(QUEUING_DRIVE),
    "RAID 5 of 8, random 4 KiB 70/30": random_raid5_load,
    "the same, drives' write caches off": lambda: random_raid5_load(write_cache=False),
    "RAID 0 of 4, random 4 KiB 70/30": random_raid0_load,
    "RAID 5 of 8, sequential 64 KiB reads": lambda: sequential_raid5_load(READ),
    "RAID 5 of 8, sequential 64 KiB writes": lambda: sequential_raid5_load(WRITE),
    "24 NVMe drives, random 4 KiB reads": lambda: nvme_load(0.0),
    "24 NVMe drives, random 4 KiB 70/30": lambda: nvme_load(0.3),
}
WITHOUT_AIM = {"disk with NCQ, random 4 KiB reads", "24 NVMe drives, random 4 KiB 70/30"}
"""A queuing drive compares all commands it knows for each one it serves; a write to flash in steady state moves several
times as much."""
MEMORY_LOAD = "RAID 5 of 8, random 4 KiB 70/30"
