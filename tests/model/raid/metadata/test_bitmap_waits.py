"""Who sleeps for a new bit of a write-intent bitmap: the task, md's thread of a mirror, and md's thread of RAID 5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from raidsim.model.block.block_file import BlockFile
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import DIRECT, READ, WAITED, WRITE, Request
from raidsim.model.layouts import ParityLayout, Raid10Layout, layout_for
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.base.io_limit import BioSplit
from raidsim.model.raid.metadata.array_metadata import ArrayMetadata
from raidsim.model.raid.metadata.bitmap import WriteIntentBitmap
from raidsim.model.raid.metadata.bitmap_waits import MirrorWaits
from raidsim.model.raid.metadata.superblock import VERSION_0_90, MetadataWrite
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61, Md61Raid10
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.schedulers import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, Recorder

CAPACITY = 256 * MIB
BITMAP = -2032


class Member(Recorder):
    """A recorder that notes when it is sent the bitmap, and when data."""

    __slots__ = ("bitmaps", "data")

    def __init__(self, engine: Engine, name: str, servers: int) -> None:
        super().__init__(engine, name, CAPACITY, 0.001, servers)
        self.bitmaps: list[float] = []
        self.data: list[tuple[float, int]] = []

    def submit(self, request: Any) -> None:
        part = request.parts[0]
        if isinstance(part, MetadataWrite):
            if part.sector == BITMAP:
                self.bitmaps.append(self._engine.now)
        elif request.op == WRITE:
            self.data.append((self._engine.now, request.offset))
        super().submit(request)


class Bench:
    """An array with a bitmap of 1 MiB chunks behind queues, already marked dirty; members take 1 ms."""

    def __init__(
        self, level: str, who: MirrorWaits, servers: int = 1, chunk: int | None = MIB, workers: int = 0
    ) -> None:
        self.engine = Engine()
        host = Host(Cpu(self.engine))
        count = 2 if level == "raid1" else 4
        self.members = [Member(self.engine, f"d{slot}", servers) for slot in range(count)]
        scheduler = servers == 1
        queues = [
            BlkMqQueue(self.engine, host, member, depth=servers, scheduler=MqDeadline(MIB) if scheduler else None)
            for member in self.members
        ]
        self.array: Any
        if level == "raid1":
            self.array = MirrorArray(self.engine, "md0", queues, Md61(count), host, clones_pages=False)
        else:
            layout = layout_for(level, count, 64 * KIB, [CAPACITY] * count)
            if isinstance(layout, Raid10Layout):
                self.array = Raid10Array(self.engine, "md0", queues, layout, Md61Raid10(count), host)
            else:
                assert isinstance(layout, ParityLayout)
                settings = ParitySettings(heads=256, hold=None, direct_reads=True, workers=workers)
                self.array = ParityArray(self.engine, "md0", queues, layout, settings, host)
        bitmap = waits = None
        if chunk is not None:
            bitmap = WriteIntentBitmap(self.engine, self.array, chunk)
            waits = self.array.bitmap_waits(bitmap, who)
        self.array.keep_metadata(ArrayMetadata(self.engine, self.array, bitmap, 0.0, waits=waits))
        self.done: list[tuple[float, int]] = []
        self.chunks: set[int] = set()
        self.write(0)
        self.engine.run(until=1.0)
        for member in self.members:
            member.bitmaps.clear()
            member.data.clear()
            member.log.clear()
        self.done.clear()

    def write(self, offset: int, issuer: int = 1) -> None:
        """Write 4 KiB now."""
        self.array.submit(Request(WRITE, offset, 4 * KIB, self._done, issuer, DIRECT))

    def _done(self, request: Request) -> None:
        self.done.append((self.engine.now - 1.0, request.offset))

    def rate(self, depth: int) -> float:
        """Random writes of 4 KiB a second over 0.5 s."""
        offsets = self.engine.streams.generator("offsets")

        def ios() -> Iterator[tuple[int, int, int]]:
            while True:
                offset = 4 * KIB * int(offsets.integers(self.array.capacity // (4 * KIB)))
                self.chunks.add(self.array.resync_range(offset, 4 * KIB)[0] // MIB)
                yield WRITE, offset, 4 * KIB

        load = ClosedLoad(self.engine, self.array, size=4 * KIB, depth=depth, issuer=1, ios=ios())
        self.engine.run(until=1.5)
        load.stop()
        return 2.0 * load.writes


@pytest.mark.parametrize("level", ["raid1", "raid10"])
@pytest.mark.parametrize("depth", [1, 16])
def test_a_task_that_submits_to_a_mirror_waits_for_each_new_bit_alone(level: str, depth: int) -> None:
    """Protects 6.1: as many bitmap writes as new bits at any queue depth. Counter-test: without bitmap none."""
    bench = Bench(level, "task")
    rate = bench.rate(depth)
    assert len(bench.members[0].bitmaps) == pytest.approx(len(bench.chunks - {0}), abs=1)
    bare = Bench(level, "task", chunk=None)
    assert rate < 0.7 * bare.rate(depth)
    assert bare.members[0].bitmaps == []


@pytest.mark.parametrize("level", ["raid1", "raid10"])
@pytest.mark.parametrize("who", ["thread", "plugged-task"])
def test_md_s_thread_writes_the_bitmap_once_for_all_that_wait(level: str, who: MirrorWaits) -> None:
    """Protects 2.6 and 6.5: single writes of a deep queue share bitmap writes, and are faster than on 6.1 for it."""
    shared, alone = Bench(level, who), Bench(level, "task")
    assert shared.rate(16) > 1.15 * alone.rate(16)
    assert len(shared.members[0].bitmaps) < 0.8 * len(shared.chunks)


@pytest.mark.parametrize("who", ["task", "plugged-task"])
def test_a_plugged_task_waits_once(who: MirrorWaits) -> None:
    """Protects write-back: what a task submits from plug to unplug shares one bitmap write, and none goes before."""
    bench = Bench("raid1", who)
    bench.array.plug()
    for number in range(1, 9):
        bench.write(number * MIB)
    assert [member.bitmaps for member in bench.members] == [[], []]
    bench.array.unplug()
    assert bench.array.sleeps(1)
    assert not bench.array.has_room
    woken: list[float] = []
    bench.array.when_room(lambda: woken.append(bench.engine.now - 1.0))
    bench.engine.run(until=1.1)
    assert [len(member.bitmaps) for member in bench.members] == [1, 1]
    assert woken == [pytest.approx(0.001)]
    assert len(bench.done) == 8
    assert min(at for at, _ in bench.members[0].data) == pytest.approx(1.001)


def test_a_task_is_still_plugged_when_its_bits_are_written() -> None:
    """Protects merging: neighbors that a task submitted in one plug are one request of each member after the flush."""
    bench = Bench("raid1", "task")
    bench.array.plug()
    for number in range(8):
        bench.write(8 * MIB + number * 4 * KIB)
    bench.array.unplug()
    bench.engine.run(until=1.1)
    assert len(bench.done) == 8
    assert [member.sent(WRITE)[1:] for member in bench.members] == [[(8 * MIB, 32 * KIB)]] * 2


def test_the_task_sleeps_and_another_one_does_not() -> None:
    """Protects who waits: what the task submits after a new bit is later; another task writes to its known chunk."""
    bench = Bench("raid1", "task", servers=32)
    bench.write(5 * MIB)
    bench.write(8 * KIB)  # its bit is set, but the task is asleep
    bench.write(16 * KIB, issuer=2)
    assert bench.array.sleeps(1)
    assert not bench.array.sleeps(2)
    bench.engine.run(until=1.1)
    assert [(round(at, 6), offset) for at, offset in bench.done] == [
        (0.001, 16 * KIB),
        (0.002, 5 * MIB),
        (0.002, 8 * KIB),
    ]
    assert not bench.array.sleeps(1)


@pytest.mark.parametrize("level", ["raid1", "raid5"])
@pytest.mark.parametrize("who", ["task", "thread", "plugged-task"])
def test_no_data_goes_before_its_bit(level: str, who: MirrorWaits) -> None:
    """Protects the promise of the bitmap: a member gets the first data of a chunk after all have had its bit."""
    bench = Bench(level, who)
    bench.rate(16)
    bits = sorted(at for member in bench.members for at in member.bitmaps)
    first: dict[int, float] = {}
    for member in bench.members:
        for at, offset in member.data:
            first[offset // MIB] = min(first.get(offset // MIB, at), at)
    late = [at for chunk, at in first.items() if chunk]
    assert len(late) > 50
    for at in late:  # the last bitmap write that began a service time before it
        assert any(written <= at - 0.001 + 1e-9 for written in bits)
    assert min(late) >= bits[0] + 0.001 - 1e-9


@pytest.mark.parametrize(("workers", "known"), [(0, False), (0, True), (4, False), (4, True)])
def test_raid5d_handles_nothing_while_the_bitmap_is_written(workers: int, known: bool) -> None:
    """Protects 6.1's RAID 5: old contents that arrive while raid5d sleeps for another write's bit wait for it, also
    where workers handle the stripes: only raid5d and workers that are awake look for what is complete.

    Counter-test: a write without a new bit does not stop it.
    """
    bench = Bench("raid5", "task", servers=32, workers=workers)
    bench.write(128 * KIB * 3)  # known chunk: reads at once, its writes come 1 ms later
    bench.engine.run(until=1.0005)
    bench.write(12 * KIB if known else 60 * MIB)
    bench.engine.run(until=1.1)
    written = min(at for member in bench.members for at, offset in member.data if offset < MIB) - 1.0
    assert written == pytest.approx(0.001 if known else 0.0015)
    assert sum(len(member.bitmaps) for member in bench.members) == (0 if known else 4)


def test_writes_that_come_while_raid5d_sleeps_share_the_next_bitmap_write() -> None:
    """Protects the numbers of the flushes: four writes with new bits during one flush need one more, not four."""
    bench = Bench("raid5", "task", servers=32)
    bench.write(60 * MIB)
    bench.engine.run(until=1.0005)
    for number in range(4):
        bench.write((90 + 12 * number) * MIB)
    bench.engine.run(until=1.1)
    assert [round(at - 1.0, 6) for at in bench.members[0].bitmaps] == [0.0, 0.001]
    assert len(bench.done) == 5


def test_reads_do_not_wait_for_bits() -> None:
    """Counter-test: only writes have bits to wait for."""
    bench = Bench("raid1", "task", servers=32)
    done: list[float] = []
    bench.array.submit(Request(READ, 100 * MIB, 4 * KIB, lambda _: done.append(bench.engine.now), 1, WAITED))
    bench.engine.run(until=1.1)
    assert done == [pytest.approx(1.001)]
    assert bench.members[0].bitmaps == []


class OldBench:
    """A RAID 5 of four as 2.6.20 runs it, with 0.90 metadata and a bitmap of 1 MiB chunks; members take 1 ms."""

    def __init__(self, chunk: int | None = MIB) -> None:
        self.engine = Engine()
        self.disks = [Recorder(self.engine, f"d{slot}", CAPACITY, 0.001, 32) for slot in range(4)]
        layout = layout_for("raid5", 4, 64 * KIB, [CAPACITY] * 4)
        assert isinstance(layout, ParityLayout)
        settings = ParitySettings(heads=256)
        self.array = ParityArray(self.engine, "md0", list(self.disks), layout, settings, Host(Cpu(self.engine)))
        bitmap = waits = None
        if chunk is not None:
            bitmap = WriteIntentBitmap(self.engine, self.array, chunk, superblock=VERSION_0_90)
            waits = self.array.bitmap_waits(bitmap, "thread")
        self.array.keep_metadata(
            ArrayMetadata(self.engine, self.array, bitmap, 0.0, superblock=VERSION_0_90, waits=waits)
        )
        self.done: list[float] = []

    def write(self, offset: int, sync: int = WAITED) -> None:
        """Write a full stripe now."""
        self.array.submit(Request(WRITE, offset, 192 * KIB, lambda _: self.done.append(self.engine.now), 1, sync))


def test_a_bitmap_of_version_0_90_lies_behind_the_superblock() -> None:
    """Protects where old md has it: at the end of the members, a whole stroke of the arm away from the data."""
    bench = OldBench()
    bench.write(0)
    bench.engine.run(until=0.1)
    superblock = (CAPACITY // (64 * KIB) - 1) * 64 * KIB
    places = [offset for _, offset, size in bench.disks[0].log if size <= 4 * KIB]
    assert places == [superblock + 4 * KIB, superblock, superblock + 4 * KIB]


def test_before_4_1_no_more_rows_wait_for_bits_than_there_are_heads() -> None:
    """Protects write-back to an old RAID 5: a flush is for the rows that have heads, so a long write needs several.

    Counter-test: without a bitmap the same rows are written in less time.
    """
    took = {}
    for chunk in (MIB, None):
        bench = OldBench(chunk)
        for number in range(64):  # 4 MiB of each member, of which 1 MiB has heads at once
            bench.write(number * 192 * KIB)
        bench.engine.run(until=1.0)
        assert len(bench.done) == 64
        took[chunk] = max(bench.done)
        bitmaps = [offset for _, offset, size in bench.disks[0].log if size <= 4 * KIB]
        assert (len(bitmaps) >= 5) == (chunk is not None)
    assert took[MIB] > 1.5 * took[None]


@pytest.mark.parametrize(("who", "flushes"), [("task", 1), ("plugged-task", 2)])
def test_the_pieces_of_one_write_share_a_bitmap_write(who: MirrorWaits, flushes: int) -> None:
    """Protects the plug of a write call: 256 KiB over four chunks of a bitmap, in pieces of 64 KiB, are one flush.

    Since 6.5 a call of up to 1 MiB has no plug: md's thread flushes for the first piece, and then for the three others.
    """
    bench = Bench("raid1", who, chunk=64 * KIB)
    done: list[Request] = []
    BioSplit(bench.array, 64 * KIB).submit(Request(WRITE, 8 * MIB, 256 * KIB, done.append, 1, DIRECT))
    bench.engine.run(until=1.1)
    assert len(done) == 1
    assert [len(member.bitmaps) for member in bench.members] == [flushes, flushes]


def plugged_call(bench: Bench, offset: int, size: int, above: int) -> None:
    """The task writes a block device in one call, which the kernel plugs if it is larger than `above`."""
    request = Request(WRITE, offset, size, bench._done, 1, DIRECT)
    BlockFile(BioSplit(bench.array, 64 * KIB), bench.array.host, above, above).submit(request)


@pytest.mark.parametrize(("above", "sleeps"), [(128 * KIB, True), (MIB, False)])
@pytest.mark.parametrize("size", [256 * KIB, 192 * KIB + 4 * KIB])
def test_a_plugged_call_makes_its_task_wait_since_6_5(size: int, above: int, sleeps: bool) -> None:
    """Protects long direct writes of 6.5 and later: the call is plugged, so the task flushes the bitmap and sleeps.

    The counter-test: a call that the kernel does not plug leaves the bitmap to md's thread.
    """
    bench = Bench("raid1", "plugged-task", servers=32)
    plugged_call(bench, 8 * MIB, size, above)
    assert bench.array.sleeps(1) == sleeps
    bench.engine.run(until=1.1)
    assert not bench.array.sleeps(1)
    assert len(bench.done) == 1


def test_a_call_in_pieces_does_not_hold_another_task_s_writes() -> None:
    """Protects who waits: another task's write in the middle of the call is flushed for by that task alone."""
    bench = Bench("raid1", "task", servers=32)
    metadata = bench.array.metadata
    metadata.begin_call(1)
    bench.write(8 * MIB)
    bench.write(9 * MIB, issuer=2)
    metadata.end_call(2)
    assert (bench.array.sleeps(1), bench.array.sleeps(2)) == (False, True)
    bench.engine.run(until=1.05)
    assert [offset for _, offset in bench.done] == [9 * MIB]
    metadata.end_call(1)
    bench.engine.run(until=1.1)
    assert [offset for _, offset in bench.done] == [9 * MIB, 8 * MIB]
