"""RAID 3 in time: 1 ms a member request, one at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.block.single_queue import BlockQueue, PlugSettings
from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ArrayFailed, ModelError
from raidsim.model.core.request import READ, RESYNC_ISSUER, WRITE
from raidsim.model.layouts import ByteStripedLayout
from raidsim.model.raid.resync.thread import Resync, ResyncSettings
from raidsim.model.raid.striped.raid3 import BufferPool, ByteStripedArray
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Issuer, recorders

SECTOR = 512


class Bench:
    """A RAID 3 of recorders; `copy_s` and `xor_s` are seconds a byte."""

    def __init__(
        self,
        members: int = 5,
        failed: tuple[int, ...] = (),
        round_robin: bool = False,
        verify: bool = False,
        copy_s: float = 0.0,
        xor_s: float = 0.0,
        plug: PlugSettings | None = None,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        host = Host(self.cpu, replace(FREE, copy_s_per_byte=copy_s, xor_s_per_byte=xor_s))
        self.disks = recorders(self.engine, members)
        devices: list[Device] = list(self.disks)
        if plug is not None:
            devices = [BlockQueue(self.engine, host, disk, Noop(MIB), 1, MIB, 128, plug) for disk in self.disks]
        layout = ByteStripedLayout([disk.capacity for disk in self.disks])
        self.array = ByteStripedArray(self.engine, "gr0", devices, layout, host, failed, round_robin, verify)
        self.issuer = Issuer(self.engine, self.array)

    def sent(self, op: int) -> list[list[tuple[int, int]]]:
        """What each member was sent in one direction."""
        return [disk.sent(op) for disk in self.disks]

    def finished(self) -> list[float]:
        """When each request was complete (ms)."""
        self.engine.run()
        return [round(at * 1000, 6) for at, _, _ in self.issuer.done]


@pytest.mark.parametrize("members", [3, 4, 5, 9])
def test_a_read_goes_to_all_data_members_and_a_write_to_all(members: int) -> None:
    """Protects RAID 3 itself: a share of the same size at the same place of each member, the parity only written."""
    bench = Bench(members)
    data = members - 1
    assert bench.array.sector_bytes == data * SECTOR
    bench.issuer.read(data * 64 * KIB, data * 32 * KIB)
    assert bench.finished() == [1.0]
    assert bench.sent(READ) == [[(64 * KIB, 32 * KIB)]] * data + [[]]
    bench.issuer.write(data * 64 * KIB, data * 32 * KIB)
    assert bench.finished() == [1.0, 2.0]
    assert bench.sent(WRITE) == [[(64 * KIB, 32 * KIB)]] * members
    assert (bench.array.member_reads, bench.array.member_writes) == (data, members)


def test_small_reads_keep_every_member_busy() -> None:
    """Protects why it is last with many readers: two random reads take twice the time of one, on five disks too."""
    bench = Bench(5)
    bench.issuer.read(0, 2 * KIB)
    bench.issuer.read(100 * MIB, 2 * KIB)
    assert bench.finished() == [1.0, 2.0]


def test_a_full_sector_is_written_without_reading() -> None:
    """Protects the absence of RAID 5's small-write penalty: one sector of the array, n writes, no read."""
    bench = Bench(5)
    bench.issuer.write(2 * KIB, 2 * KIB)
    assert bench.finished() == [1.0]
    assert bench.sent(READ) == [[]] * 5
    assert bench.sent(WRITE) == [[(SECTOR, SECTOR)]] * 5


@pytest.mark.parametrize(
    ("offset", "size", "reads", "writes"),
    [
        (0, SECTOR, [(0, SECTOR)], (0, SECTOR)),
        (SECTOR, SECTOR, [(0, SECTOR)], (0, SECTOR)),
        (3 * SECTOR, 2 * SECTOR, [(0, SECTOR), (SECTOR, SECTOR)], (0, 2 * SECTOR)),
        (4 * SECTOR, 9 * SECTOR, [(3 * SECTOR, SECTOR)], (SECTOR, 3 * SECTOR)),
    ],
)
def test_what_is_written_in_part_is_read_first(
    offset: int, size: int, reads: list[tuple[int, int]], writes: tuple[int, int]
) -> None:
    """Protects read-modify-write of unaligned writes: the sectors at the edges of the range, each once."""
    bench = Bench(5)
    bench.issuer.write(offset, size)
    assert bench.finished() == [1.0 + len(reads)]
    assert bench.sent(READ) == [reads] * 4 + [[]]
    assert bench.sent(WRITE) == [[writes]] * 5


def test_an_unaligned_read_is_widened() -> None:
    """Protects reads of less than a sector: whole sectors of the members, no second read."""
    bench = Bench(5)
    bench.issuer.read(3 * SECTOR, 2 * SECTOR)
    assert bench.finished() == [1.0]
    assert bench.sent(READ) == [[(0, 2 * SECTOR)]] * 4 + [[]]


def test_round_robin_leaves_out_each_member_in_turn() -> None:
    """Protects `-r`: four of five members each, the data members 0 to 3 left out and then the parity, and again."""
    bench = Bench(5, round_robin=True)
    left_out = []
    for number in range(10):
        before = [disk.reads for disk in bench.disks]
        bench.issuer.read(number * 64 * KIB, 64 * KIB)
        bench.engine.run()
        left_out += [slot for slot, disk in enumerate(bench.disks) if disk.reads == before[slot]]
    assert left_out == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


def test_verify_reads_the_parity_too() -> None:
    """Protects `-w`: all five members; and that graid3 refuses both options together."""
    bench = Bench(5, verify=True)
    bench.issuer.read(0, 64 * KIB)
    assert bench.finished() == [1.0]
    assert bench.sent(READ) == [[(0, 16 * KIB)]] * 5
    with pytest.raises(ModelError, match="at most one"):
        Bench(5, round_robin=True, verify=True)


@pytest.mark.parametrize("round_robin", [False, True])
@pytest.mark.parametrize("lost", [0, 3, 4])
def test_degraded_it_does_without_the_lost_member(lost: int, round_robin: bool) -> None:
    """Protects degraded arrays: the four that are left serve reads and writes; `-r` is off then."""
    bench = Bench(5, (lost,), round_robin)
    for number in range(3):
        bench.issuer.read(number * 64 * KIB, 64 * KIB)
    bench.issuer.write(0, 64 * KIB)
    bench.engine.run()
    left = [0 if slot == lost else 1 for slot in range(5)]
    assert [len(sent) for sent in bench.sent(READ)] == [3 * one for one in left]
    assert [len(sent) for sent in bench.sent(WRITE)] == left


def test_two_lost_members_are_too_many() -> None:
    """Protects from reading what is not there."""
    with pytest.raises(ArrayFailed, match=r"\[0, 4\]"):
        Bench(5, (0, 4))


def test_what_parity_and_copies_cost() -> None:
    """Protects the CPU's share, in bytes: everything is copied; XOR is for writes, and for reads of a lost member."""
    size, share = 64 * KIB, 16 * KIB

    def bytes_of(op: int, failed: tuple[int, ...] = (), round_robin: bool = False) -> tuple[int, int]:
        worked = []
        for copy_s, xor_s in ((1e-9, 0.0), (0.0, 1e-9)):
            bench = Bench(5, failed, round_robin, copy_s=copy_s, xor_s=xor_s)
            bench.issuer.send(op, 0, size)
            bench.engine.run()
            worked.append(round(bench.cpu.busy_s * 1e9))
        return worked[0], worked[1]

    assert bytes_of(READ) == (size, 0)
    assert bytes_of(READ, round_robin=True) == (size, 3 * share)
    assert bytes_of(READ, failed=(1,)) == (size, 3 * share)
    assert bytes_of(READ, failed=(4,)) == (size, 0)
    assert bytes_of(WRITE) == (size, 4 * share)
    assert bytes_of(WRITE, failed=(1,)) == (size, 4 * share)
    assert bytes_of(WRITE, failed=(4,)) == (size, 0)


@pytest.mark.parametrize("target", [1, 4])
def test_rebuild(target: int) -> None:
    """Protects resync: the other four are read, the new one is written, and then it is read like the rest."""
    bench = Bench(5, (target,))
    with pytest.raises(ArrayFailed):
        bench.array.rebuild_onto((target + 1) % 5)
    bench.array.rebuild_onto(target)
    bench.issuer.write(0, 64 * KIB)
    bench.issuer.read(0, 64 * KIB)
    bench.engine.run()
    assert bench.sent(WRITE) == [[(0, 16 * KIB)]] * 5, "the new member takes writes"
    assert not bench.disks[target].sent(READ), "but is not read"
    settings = ResyncSettings(1e12, 1e12, 128 * KIB, 128 * KIB, 2)
    start = bench.array.resync_bytes - MIB
    bench.engine.spawn(Resync(bench.engine, bench.array, settings, start).run())
    bench.engine.run()
    assert bench.array.resync_bytes == 64 * MIB
    assert bench.disks[target].covered(WRITE)[-1] == (start, MIB)
    assert all(disk.covered(READ)[-1] == (start, MIB) for disk in bench.disks if disk is not bench.disks[target])
    assert not bench.array.failed
    bench.issuer.read(0, 64 * KIB)
    bench.engine.run()
    assert bool(bench.disks[target].sent(READ)) == (target != 4)


def test_check_reads_all_members() -> None:
    """Protects checking: the parity as well, and nothing is written."""
    bench = Bench(5)
    done: list[float] = []
    bench.array.check(MIB, 64 * KIB, lambda: done.append(bench.engine.now))
    bench.engine.run()
    assert done == [pytest.approx(0.001)]
    assert bench.sent(READ) == [[(MIB, 64 * KIB)]] * 5
    assert bench.sent(WRITE) == [[]] * 5


def test_resync_is_told_apart_from_load() -> None:
    """Protects the statistics of queues: what a rebuild reads and writes has the stream of a rebuild."""
    bench = Bench(3, (0,), plug=PlugSettings(1, 0.0))
    bench.array.rebuild_onto(0)
    done: list[float] = []
    bench.array.resync(0, 64 * KIB, lambda: done.append(bench.engine.now))
    bench.engine.run()
    assert done == [pytest.approx(0.002)]
    assert bench.array.foreground_bytes == 0
    assert RESYNC_ISSUER < 0


def test_buffers_are_given_out_in_order_of_arrival() -> None:
    """Protects the limit: a request that needs more than are free waits, and no later one overtakes it."""
    order: list[str] = []
    unplugs: list[int] = []
    pool = BufferPool([(64 * KIB, 4)], lambda: unplugs.append(zone.free))
    zone = pool.zone(64 * KIB)
    pool.take(zone, 3, lambda: order.append("a"))
    pool.take(zone, 2, lambda: order.append("b"))
    pool.take(zone, 1, lambda: order.append("c"))
    assert order == ["a"]
    pool.give_back(zone, 3)
    assert order == ["a", "b", "c"]
    assert unplugs == [1]
    assert zone.need(4, 100 * KIB) == 4, "no request needs more than there are"


def test_small_requests_wait_behind_large_ones() -> None:
    """Protects the one queue of the worker: a read of 16 KiB behind reads that find no buffers waits with them, though
    there are 1,200 of the size that it needs; alone it goes at once.
    """
    bench = Bench(5)
    for number in range(14):
        bench.issuer.read(number * 128 * KIB, 128 * KIB)
    bench.issuer.read(32 * MIB, 16 * KIB)
    assert (8 * MIB, 4 * KIB) not in bench.disks[0].sent(READ)
    assert len(bench.finished()) == 15
    assert bench.disks[0].sent(READ)[-1] == (8 * MIB, 4 * KIB)
    fewer = Bench(5)
    for number in range(12):
        fewer.issuer.read(number * 128 * KIB, 128 * KIB)
    fewer.issuer.read(32 * MIB, 16 * KIB)
    assert (8 * MIB, 4 * KIB) in fewer.disks[0].sent(READ)


@pytest.mark.parametrize(("members", "at_once"), [(3, 25), (5, 12)])
def test_50_buffers_are_so_many_reads_of_128_kib(members: int, at_once: int) -> None:
    """Protects what the limit means: so many reads are at the disks, the others wait before them."""
    bench = Bench(members)
    for number in range(40):
        bench.issuer.read(number * 128 * KIB, 128 * KIB)
    assert len(bench.disks[0].log) == at_once
    assert len(bench.finished()) == 40
    writes = Bench(members)
    for number in range(40):
        writes.issuer.write(number * 128 * KIB, 128 * KIB)
    assert len(writes.disks[0].log) == 50 // members
    assert len(writes.finished()) == 40


def test_small_shares_have_small_buffers() -> None:
    """The counter-test: reads of 16 KiB take 4 KiB buffers, of which there are enough for 300."""
    bench = Bench(5)
    for number in range(400):
        bench.issuer.read(number * 16 * KIB, 16 * KIB)
    assert len(bench.disks[0].log) == 300


def test_what_waited_for_buffers_is_let_go() -> None:
    """Protects plugged queues: a request that starts after its issuer has unplugged does not wait for a timer."""
    bench = Bench(3, plug=PlugSettings(0, 0.0))
    for number in range(3):
        bench.issuer.read(number * 3 * MIB, 3 * MIB)
    bench.array.unplug()
    assert len(bench.disks[0].log) == 1, "48 of the 50 buffers are taken"
    assert len(bench.finished()) == 3
