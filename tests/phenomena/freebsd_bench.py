"""A FreeBSD 6 machine of 2006 with programs that copy large files to /dev/null."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.layouts import ByteStripedLayout, StripedLayout
from raidsim.model.raid.base.io_limit import BioSplit
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import READ_BALANCE, AtaRaid
from raidsim.model.raid.read_balance.ataraid import Turn
from raidsim.model.raid.striped.raid3 import BUFFERS, ByteStripedArray
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.schedulers.disksort import Disksort
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host

KIB = 1024
MIB = 1 << 20
GIB = 1 << 30

CLUSTER = 128 * KIB
MAPPED = 32 * MIB
"""What an indirect block of UFS2 maps: 2,048 blocks of 16 KiB."""

UNTUNED, TUNED = 1, 16
"""Clusters on their way with vfs.read_max 8 (the next is read when the program is at the end of this one) and 128."""


class Copy:
    """A program that copies a file: clusters in order, so many on their way, and every 32 MiB where the next ones are.

    What it waits for is the next byte, not any of its requests; and while it reads an indirect block nothing new
    is requested, which is when the disk gets to the other files.
    """

    def __init__(self, device: Any, start: int, clusters: int, issuer: int) -> None:
        self._device = device
        self._clusters = clusters
        self._stream = issuer
        self._at = self._next = start
        self._mapped = start + MAPPED
        self._mapping = False
        self._here: set[int] = set()
        self.bytes = 0
        self.read_ahead()

    def read_ahead(self) -> None:
        """Request what is to be on its way."""
        while self._next < self._at + self._clusters * CLUSTER:
            if self._next == self._mapped:
                if not self._mapping:
                    self._mapping = True
                    self._device.submit(Request(READ, self._next, 16 * KIB, self._has_map, self._stream))
                return
            self._device.submit(Request(READ, self._next, CLUSTER, self._has_data, self._stream))
            self._next += CLUSTER

    def _has_map(self, _: Request) -> None:
        self._mapping = False
        self._mapped += MAPPED
        self.read_ahead()

    def _has_data(self, request: Request) -> None:
        self._here.add(request.offset)
        while self._at in self._here:
            self._here.remove(self._at)
            self._at += CLUSTER
            self.bytes += CLUSTER
        self.read_ahead()


class Machine:
    """Drives behind the ATA driver, which gives each one command of at most 64 KiB at a time."""

    def __init__(self, **drive_values: Any) -> None:
        self.engine = Engine(1)
        self._host = Host(Cpu(self.engine))
        self._spec = hard_disk("WD2500JS").with_values(queue_depth=1, **drive_values)

    def drives(self, count: int, first: int = 0) -> list[BlockQueue]:
        """Drives ad0, ad1 ... behind their queues."""
        return [
            BlockQueue(
                self.engine,
                self._host,
                HardDisk(self.engine, self._spec, f"ad{first + number}"),
                Disksort(64 * KIB),
                1,
                MIB,
                64,
                None,
            )
            for number in range(count)
        ]

    def mirror(self, balance: str, mirrors: int) -> MirrorArray:
        """A RAID 1."""
        return MirrorArray(self.engine, "gm0", self.drives(mirrors), READ_BALANCE[balance](mirrors))

    def raid01(self) -> MirrorArray:
        """ataraid's RAID 0+1 of four drives."""
        stripes = []
        for side in (0, 1):
            pair = self.drives(2, 2 * side)
            stripes.append(
                StripeArray(self.engine, f"s{side}", pair, StripedLayout([d.capacity for d in pair], 64 * KIB))
            )
        return MirrorArray(self.engine, "ar0", stripes, READ_BALANCE["ataraid"](2))

    def striped_mirrors(self) -> BioSplit:
        """The same as the driver has it, chunk by chunk, behind the limit of what it is given at once."""
        turn = Turn()
        pairs = []
        for column in (0, 1):
            pair = self.drives(2, 2 * column)
            pairs.append(MirrorArray(self.engine, f"ar0.{column}", pair, AtaRaid(2, columns=2, turn=turn)))
        layout = StripedLayout([pair.capacity for pair in pairs], 64 * KIB)
        return BioSplit(StripeArray(self.engine, "ar0", pairs, layout), 64 * KIB)

    def raid3(self, members: int, round_robin: bool, buffers: Sequence[tuple[int, int]]) -> ByteStripedArray:
        """A graid3."""
        drives = self.drives(members)
        layout = ByteStripedLayout([d.capacity for d in drives])
        return ByteStripedArray(self.engine, "gr0", drives, layout, round_robin=round_robin, buffers=buffers)


@cache
def rates(
    array: str,
    copies: int = 1,
    clusters: int = TUNED,
    seconds: float | None = None,
    buffers: tuple[tuple[int, int], ...] = BUFFERS,
    drive_values: tuple[tuple[str, Any], ...] = (),
) -> tuple[float, ...]:
    """MB/s of each of so many simultaneous copies, over `seconds` after the first half second.

    `array` is "single", "raid01", "raid3:MEMBERS", "raid3-r:MEMBERS", or BALANCE:MIRRORS.
    """
    machine = Machine(**dict(drive_values))
    kind, _, members = array.partition(":")
    device: Any
    if kind == "single":
        (device,) = machine.drives(1)
    elif kind == "raid01":
        device = machine.raid01()
    elif kind in ("raid3", "raid3-r"):
        device = machine.raid3(int(members), kind == "raid3-r", buffers)
    else:
        device = machine.mirror(kind, int(members))
    programs = [Copy(device, number * 4 * GIB, clusters, number + 1) for number in range(copies)]
    seconds = seconds or (1.5 if copies == 1 else 3.0)
    machine.engine.run(until=0.5)
    before = [program.bytes for program in programs]
    machine.engine.run(until=0.5 + seconds)
    return tuple((program.bytes - was) / seconds / 1e6 for program, was in zip(programs, before, strict=True))


def rate(array: str, copies: int = 1, clusters: int = TUNED, **rest: Any) -> float:
    """MB/s of all copies together."""
    return sum(rates(array, copies, clusters, **rest))


@cache
def rate_of_two(second: int) -> float:
    """MB/s of two copies on striped mirrors: the first begins at a stripe of two chunks, the second so far into one."""
    machine = Machine()
    device = machine.striped_mirrors()
    programs = [Copy(device, number * (4 * GIB + second), TUNED, number + 1) for number in (0, 1)]
    machine.engine.run(until=0.5)
    before = sum(program.bytes for program in programs)
    machine.engine.run(until=3.5)
    return (sum(program.bytes for program in programs) - before) / 3.0 / 1e6
