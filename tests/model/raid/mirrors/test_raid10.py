"""RAID 10 in time: 1 ms a member request, one at a time, chunks of 64 KiB."""

from __future__ import annotations

import gc
import time
from functools import partial
from typing import Any

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ArrayFailed, ModelError
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import DIRECT, READ, WAITED, WRITE, Request
from raidsim.model.layouts import Raid10Layout
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.metadata.array_metadata import ArrayMetadata
from raidsim.model.raid.metadata.bitmap import WriteIntentBitmap
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.read_balance import Md61Raid10, PrimaryOnly, ReadBalance
from raidsim.model.schedulers import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

CHUNK = 64 * KIB


class Bench:
    """A RAID 10 of recorders."""

    def __init__(
        self,
        members: int = 4,
        algorithm: str = "near",
        copies: int = 2,
        failed: tuple[int, ...] = (),
        balance: ReadBalance | None = None,
    ) -> None:
        self.engine = Engine()
        self.disks = recorders(self.engine, members, 16 * MIB)
        self.layout = Raid10Layout([16 * MIB] * members, CHUNK, algorithm, copies)
        balance = balance or Md61Raid10(members, near=algorithm == "near")
        self.array = Raid10Array(self.engine, "md0", self.disks, self.layout, balance, failed=failed)
        self.issuer = Issuer(self.engine, self.array)

    def sent(self, op: int) -> list[list[tuple[int, int]]]:
        """What each member was sent."""
        return [disk.sent(op) for disk in self.disks]


@pytest.mark.parametrize("algorithm", ["near", "far", "offset"])
@pytest.mark.parametrize("copies", [2, 3])
def test_what_lies_in_one_chunk_goes_where_all_else_does(algorithm: str, copies: int) -> None:
    """Protects the short path: a chunk's part goes to the layout's places, and one byte more takes the long way."""
    bench = Bench(5, algorithm, copies)
    capacity, inside = bench.layout.capacity, CHUNK // 2
    for chunk in (0, 1, 7, 33, capacity // CHUNK - 1):
        offset = chunk * CHUNK + inside
        for size in (512, CHUNK - inside, min(CHUNK - inside + 512, capacity - offset)):
            before = [len(sent) for sent in bench.sent(WRITE)]
            bench.issuer.write(offset, size)
            bench.engine.run()
            new = [sent[count:] for sent, count in zip(bench.sent(WRITE), before, strict=True)]
            places: list[list[tuple[int, int]]] = [[] for _ in range(5)]
            for _, length, copied in bench.layout.copies(offset, size):
                for member, at in copied:
                    places[member].append((at, length))
            assert new == places
    with pytest.raises(ModelError):
        bench.issuer.write(capacity - 512, 1024)


@pytest.mark.parametrize("algorithm", ["near", "far", "offset"])
@pytest.mark.parametrize("copies", [2, 3])
def test_a_write_goes_to_all_copies_and_a_read_to_one(algorithm: str, copies: int) -> None:
    """Protects what RAID 10 costs and gives: each chunk is written where the layout says, and read from one place."""
    bench = Bench(5, algorithm, copies)
    bench.issuer.write(CHUNK // 2, 3 * CHUNK)
    bench.engine.run()
    places: list[list[tuple[int, int]]] = [[] for _ in range(5)]
    for _, size, copied in bench.layout.copies(CHUNK // 2, 3 * CHUNK):
        for member, offset in copied:
            places[member].append((offset, size))
    assert bench.sent(WRITE) == places
    assert bench.array.member_writes == 4 * copies
    bench.issuer.read(CHUNK // 2, 3 * CHUNK)
    bench.engine.run()
    read = [run for member in bench.sent(READ) for run in member]
    assert sum(size for _, size in read) == 3 * CHUNK
    assert bench.array.member_reads == len(read) == 4
    assert [op for _, op, _ in bench.issuer.done] == [WRITE, READ]


@pytest.mark.parametrize(("algorithm", "used"), [("far", {0, 1, 2, 3}), ("offset", {0, 1, 2, 3}), ("near", {0, 2})])
def test_far_reads_one_stream_like_a_stripe(algorithm: str, used: set[int]) -> None:
    """Protects the point of far copies: one stream uses all members; with near, the counter-test, half of them."""
    bench = Bench(algorithm=algorithm)
    for chunk in range(16):
        bench.issuer.read(chunk * CHUNK, CHUNK)
        bench.engine.run()
    assert {slot for slot, runs in enumerate(bench.sent(READ)) if runs} == used


def test_far_stays_in_the_outer_half() -> None:
    """Protects the lowest address: reads stay in the first part of each member.

    The copy in the other part is read only where the first member has failed.
    """
    for failed, below in (((), True), ((0,), False)):
        bench = Bench(algorithm="far", failed=failed)
        for chunk in range(16):
            bench.issuer.read(chunk * CHUNK, CHUNK)
        bench.engine.run()
        assert all(offset < 8 * MIB for runs in bench.sent(READ) for offset, _ in runs) == below


def stream_rate(algorithm: str, balance: ReadBalance) -> float:
    """Chunks a second of one stream that keeps four reads outstanding on four members."""
    bench = Bench(algorithm=algorithm, balance=balance)
    load = ClosedLoad(bench.engine, bench.array, size=CHUNK, depth=4, sequential=True)
    bench.engine.run(until=0.5)
    return load.reads / 0.5


def test_one_stream_gets_all_members() -> None:
    """Protects the rates: far gives one stream four members' rate; near by primary copy, the counter-test, two's."""
    assert stream_rate("far", Md61Raid10(4, near=False)) == pytest.approx(4000, rel=0.02)
    assert stream_rate("near", PrimaryOnly(4)) == pytest.approx(2000, rel=0.02)


def test_flash_takes_the_calmer_copy_of_far() -> None:
    """Protects that distance does not count on flash: a busy first member leaves the read to the second copy."""
    for rotational, slot in ((True, 0), (False, 1)):
        bench = Bench(algorithm="far", balance=Md61Raid10(4, [rotational] * 4, near=False))
        for _ in range(2):
            bench.issuer.read(0, 4 * KIB)
        assert len(bench.disks[slot].sent(READ)) == (2 if rotational else 1)


def test_a_failed_member_gets_nothing_and_a_rebuilding_one_is_written() -> None:
    """Protects degraded arrays: reads and writes use the copies that are left, a fresh member takes writes only."""
    for rebuilds in (False, True):
        bench = Bench(failed=(0,))
        if rebuilds:
            bench.array.rebuild_onto(0)
        for chunk in range(4):
            bench.issuer.write(chunk * CHUNK, CHUNK)
            bench.issuer.read(chunk * CHUNK, CHUNK)
        bench.engine.run()
        assert [op for op, _, _ in bench.disks[0].log] == [WRITE] * (2 if rebuilds else 0)
        assert len(bench.issuer.done) == 8


def test_an_array_without_a_copy_is_lost() -> None:
    """Protects from reading what is gone: members 0 and 1 hold the same chunks, members 0 and 2 do not."""
    Bench(failed=(0, 2))
    with pytest.raises(ArrayFailed, match=r"slots \[0, 1\]"):
        Bench(failed=(0, 1))
    with pytest.raises(ArrayFailed):
        Bench(algorithm="far", failed=(1, 2))


def test_a_direct_write_is_an_ordinary_awaited_one_on_the_members() -> None:
    """Protects write-back throttling on RAID 10: md drops REQ_IDLE."""
    bench = Bench()
    seen: list[int] = []

    class Notes(Recorder):
        def submit(self, request: Request) -> None:
            seen.append(request.sync)
            super().submit(request)

    members = [Notes(bench.engine, f"n{slot}", 16 * MIB) for slot in range(4)]
    array = Raid10Array(bench.engine, "md0", members, bench.layout, PrimaryOnly(4))
    array.submit(Request(WRITE, 0, CHUNK, lambda _: None, sync=DIRECT))
    assert seen == [WAITED, WAITED]


@pytest.mark.parametrize(("op", "requests"), [(WRITE, 6), (READ, 16)])
def test_the_pieces_of_a_write_merge_on_the_members(op: int, requests: int) -> None:
    """Protects the recorded footprint of 1 MiB on three members, far: a write is 6 requests of 32 pieces, a read 16."""
    engine = Engine()
    disks = [Recorder(engine, f"d{slot}", 127 * MIB, servers=64) for slot in range(3)]
    host = Host(Cpu(engine))
    queues = [BlkMqQueue(engine, host, disk, depth=64, scheduler=MqDeadline(1280 * KIB)) for disk in disks]
    layout = Raid10Layout([127 * MIB] * 3, CHUNK, "far", 2)
    array = Raid10Array(engine, "md0", queues, layout, Md61Raid10(3, near=False))
    Issuer(engine, array).send(op, 20 * MIB, MIB)
    engine.run()
    assert sum(len(disk.sent(op)) for disk in disks) == requests
    if op == WRITE:
        assert disks[0].covered(WRITE) == [(13_696 * 512, 640 * 512), (143_616 * 512, 768 * 512)]


@pytest.mark.parametrize(("tags", "chosen"), [(1, [0.0, 0.0, 0.0, 0.001]), (64, [0.0] * 4)])
def test_a_copy_is_chosen_when_the_reader_is_awake(tags: int, chosen: list[float]) -> None:
    """Protects the order of md: a reader that finds no tag for a chunk sleeps, and looks at the mirrors for the next
    one when it has it; with tags enough it looks at all of them at once.
    """
    engine = Engine()
    times: list[float] = []

    class Watched(PrimaryOnly):
        """Writes down when it chooses."""

        def choose(self, *args: Any) -> int:
            """The first copy."""
            times.append(round(engine.now, 6))
            return super().choose(*args)

    host = Host(Cpu(engine))
    disks = [Recorder(engine, f"d{slot}", 16 * MIB, servers=tags) for slot in range(2)]
    queues = [BlkMqQueue(engine, host, disk, depth=tags) for disk in disks]
    array = Raid10Array(engine, "md0", queues, Raid10Layout([16 * MIB] * 2, CHUNK, "far", 1), Watched(2), host)
    array.submit(Request(READ, 0, 4 * CHUNK, lambda _: None))
    engine.run()
    assert times == chosen


def test_an_outer_plug_stays() -> None:
    """Protects merging across requests: while the caller holds the array back, a write in between lets nothing go."""
    engine = Engine()
    disks = [Recorder(engine, f"d{slot}", 16 * MIB) for slot in range(2)]
    queues = [BlkMqQueue(engine, Host(Cpu(engine)), disk, depth=64) for disk in disks]
    array = Raid10Array(engine, "md0", queues, Raid10Layout([16 * MIB] * 2, CHUNK), PrimaryOnly(2))
    for held in (True, False):
        if held:
            array.plug()
        for chunk in range(2):
            Issuer(engine, array).write(chunk * CHUNK, CHUNK)
        assert len(disks[0].log) == (0 if held else 3)
        array.unplug()
        assert len(disks[0].log) == (1 if held else 3)


@pytest.mark.parametrize("algorithm", ["near", "far", "offset"])
@pytest.mark.parametrize("members", [4, 5])
def test_the_way_back_from_a_member(algorithm: str, members: int) -> None:
    """Protects rebuilds: every copy of every chunk is found again from its place, and no place holds another."""
    layout = Raid10Layout([40 * CHUNK] * members, CHUNK, algorithm, 3)
    held = {place: chunk for chunk in range(layout.chunks) for place in layout.map_copies(chunk)}
    for member in range(members):
        for row in range(layout.member_rows):
            chunk = layout.chunk_at(member, row)
            assert held.get((member, row), chunk if chunk >= layout.chunks else None) == chunk


@pytest.mark.parametrize("algorithm", ["near", "far", "offset"])
def test_a_rebuild_copies_every_chunk_once(algorithm: str) -> None:
    """Protects a rebuild: the fresh member is written from end to end, from where the other copies lie."""
    bench = Bench(5, algorithm, failed=(2,))
    bench.array.rebuild_onto(2)
    over: list[float] = []
    step = 100 * KIB
    for offset in range(0, bench.array.resync_bytes, step):
        size = min(step, bench.array.resync_bytes - offset)
        bench.array.resync(offset, size, lambda: over.append(bench.engine.now))
    bench.engine.run()
    assert len(over) == -(-bench.array.resync_bytes // step)
    held = [place for chunk in range(bench.layout.chunks) for place in bench.layout.map_copies(chunk)]
    on_it = sum(1 for member, _ in held if member == 2)
    assert sum(size for _, size in bench.disks[2].sent(WRITE)) == on_it * CHUNK
    assert not bench.disks[2].sent(READ)
    assert sum(size for runs in bench.sent(READ) for _, size in runs) == on_it * CHUNK
    bench.array.rebuilt(2)
    bench.issuer.read(0, MIB)
    bench.engine.run()
    assert bench.disks[2].sent(READ), "now it is read"


def test_normal_requests_wait_for_a_resync() -> None:
    """Protects the barrier of RAID 10: a read waits until the copy is over, 2 ms; without a resync it takes 1."""
    for resyncs, end in ((0, 0.001), (1, 0.003)):
        bench = Bench(failed=(0,))
        bench.array.rebuild_onto(0)
        for _ in range(resyncs):
            bench.array.resync(0, CHUNK, lambda: None)
        bench.issuer.read(8 * MIB, 4 * KIB)
        bench.engine.run()
        assert [now for now, _, _ in bench.issuer.done] == pytest.approx([end])


def test_a_check_reads_every_copy() -> None:
    """Protects a check: all copies are read and none is written; a failed member is left out."""
    for failed, read in (((), 8), ((0,), 6)):
        bench = Bench(failed=failed)
        over: list[float] = []
        bench.array.check(0, 4 * CHUNK, partial(over.append, 0.0))
        bench.engine.run()
        assert sum(len(runs) for runs in bench.sent(READ)) == read
        assert bench.sent(WRITE) == [[]] * 4
        assert len(over) == 1
        assert bench.array.check_bytes == bench.array.capacity


def seconds_for_a_write(chunks: int) -> float:
    """CPU time that a write of so many chunks takes, the best of three, without the garbage collector.

    Real time on a busy machine, and collections that depend on what else is in memory, would drown it.
    """
    best = []
    for _ in range(3):
        engine = Engine()
        size = (chunks + 10) * CHUNK
        disks = [FixedServiceDevice(engine, f"d{slot}", size, linear_service(1e-6)) for slot in range(4)]
        layout = Raid10Layout([size] * 4, CHUNK, "far", 2)
        array = Raid10Array(engine, "md0", disks, layout, Md61Raid10(4, near=False))
        gc.disable()
        started = time.process_time()
        Issuer(engine, array).write(0, chunks * CHUNK)
        engine.run()
        best.append(time.process_time() - started)
        gc.enable()
    return min(best)


def test_a_long_write_costs_no_more_per_chunk_than_a_short_one() -> None:
    """Protects speed: 16 times as many chunks take about 16 times as long (a quadratic way takes 256 times)."""
    assert seconds_for_a_write(8000) < 64 * seconds_for_a_write(500)


@pytest.mark.parametrize(("holds", "bitmap", "requests"), [(True, False, 1), (False, False, 4), (False, True, 1)])
def test_pieces_of_a_write_are_held_back_or_sent_at_once(holds: bool, bitmap: bool, requests: int) -> None:
    """Until 6.5 the pieces of a write merge on each member; since 6.6 only those of an array with a bitmap do."""
    engine = Engine()
    host = Host(Cpu(engine))
    disks = recorders(engine, 4, 16 * MIB, servers=32)
    queues = [BlkMqQueue(engine, host, disk, depth=32) for disk in disks]
    layout = Raid10Layout([16 * MIB] * 4, CHUNK, "near", 2)
    array = Raid10Array(engine, "md0", queues, layout, Md61Raid10(4), host, holds_writes=holds)
    if bitmap:
        array.keep_metadata(ArrayMetadata(engine, array, WriteIntentBitmap(engine, array, 64 * MIB)))
    Issuer(engine, array).write(0, 8 * CHUNK)
    engine.run(until=0.5)
    data = [[size for offset, size in disk.sent(WRITE) if offset < 4 * CHUNK and size >= CHUNK] for disk in disks]
    assert [len(sizes) for sizes in data] == [requests] * 4
    assert [sum(sizes) for sizes in data] == [4 * CHUNK] * 4
