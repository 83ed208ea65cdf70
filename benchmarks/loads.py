"""The loads: closed loops of callbacks over full models, the next request submitted when one completes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

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
from raidsim.model.loads.closed_loop import ClosedLoop, Drawn
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
        Which requests.
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
        draws: Draws,
        size: int,
        sync: bool = True,
        outstanding: int = OUTSTANDING,
    ) -> None:
        self.engine = engine
        self.disks = disks
        self._loop = ClosedLoop(device, draws.block, size, sync)
        self._loop.start(outstanding)

    @property
    def completed(self) -> int:
        """Requests that are complete."""
        return self._loop.completed

    @property
    def member_ios(self) -> int:
        """I/Os that the drives have completed."""
        return sum(disk.reads + disk.writes for disk in self.disks)

    def run(self, requests: int) -> None:
        """Simulate until `requests` more have completed."""
        stop = self.engine.event()
        self._loop.when_completed(requests, stop.succeed)
        self.engine.run(until=stop)


class Draws:
    """Endless requests (op, offset), drawn in blocks."""

    def __init__(self, block: Callable[[], Drawn]) -> None:
        self.block = block

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while True:
            yield from zip(*self.block(), strict=True)


def random_draws(engine: Engine, capacity: int, size: int, write_share: float) -> Draws:
    """Anywhere on the device, aligned to `size`."""
    generator = engine.streams.generator("load")

    def block() -> Drawn:
        offsets = (generator.integers(0, capacity // size, BLOCK) * size).tolist()
        return np.where(generator.random(BLOCK) < write_share, WRITE, READ).tolist(), offsets

    return Draws(block)


def sequential_draws(op: int, capacity: int, size: int) -> Draws:
    """From the start of the device to its end, again and again."""
    end = capacity - capacity % size
    offset = 0

    def block() -> Drawn:
        nonlocal offset
        offsets = list(range(offset, min(end, offset + BLOCK * size), size))
        offset = (offsets[-1] + size) % end
        return [op] * len(offsets), offsets

    return Draws(block)


def disk_load(name: str) -> Load:
    """One drive, random reads."""
    engine = Engine()
    disk = HardDisk(engine, hard_disk(name), "sda")
    return Load(engine, disk, [disk], random_draws(engine, disk.capacity, 4096, 0.0), 4096)


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
