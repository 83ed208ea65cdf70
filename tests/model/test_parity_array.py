"""RAID 4, 5 and 6 in time. Chunks of 64 KiB, rows left-symmetric; members take 1 ms a request, one at a time.

On four disks row 0 is data 0, 1, 2 and P on 3; row 1 has P on 2 and begins on 3.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.block_queue import BlockQueue, PlugSettings
from raidsim.model.cpu import Cpu
from raidsim.model.engine import Engine
from raidsim.model.errors import ArrayFailed
from raidsim.model.host import FREE, Host
from raidsim.model.layouts import ParityLayout, layout_for
from raidsim.model.parity_array import ParityArray, ParitySettings
from raidsim.model.request import READ, WRITE
from raidsim.model.schedulers import Noop
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

CHUNK = 64 * KIB
PAGE = 4 * KIB


class Bench:
    """A parity array of recorders."""

    def __init__(
        self,
        members: int = 4,
        level: str = "raid5",
        failed: tuple[int, ...] = (),
        rebuilding: tuple[int, ...] = (),
        capacity: int = 64 * MIB,
        queued: bool = False,
        prices: dict[str, float] | None = None,
        **settings: Any,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        host = None if prices is None else Host(self.cpu, replace(FREE, **prices))
        self.disks: list[Recorder] = recorders(self.engine, members, capacity)
        devices: list[Any] = list(self.disks)
        if queued:  # queues that let go only when somebody waits
            plug = PlugSettings(0, 0.0)
            devices = [
                BlockQueue(self.engine, Host(self.cpu), disk, Noop(128 * KIB), 1, MIB, 1 << 30, plug)
                for disk in self.disks
            ]
        layout = layout_for(level, members, CHUNK, [capacity] * members)
        assert isinstance(layout, ParityLayout)
        self.array = ParityArray(self.engine, "md0", devices, layout, ParitySettings(**settings), host, failed)
        for slot in rebuilding:
            self.array.rebuild_onto(slot)
        self.issuer = Issuer(self.engine, self.array)

    def reads(self) -> list[list[tuple[int, int]]]:
        """Bytes read of every member."""
        return [disk.covered(READ) for disk in self.disks]

    def writes(self) -> list[list[tuple[int, int]]]:
        """Bytes written of every member."""
        return [disk.covered(WRITE) for disk in self.disks]

    def forget(self) -> None:
        """Forget what was written down."""
        for disk in self.disks:
            disk.log.clear()

    def times(self) -> list[float]:
        """When requests were complete."""
        return [now for now, _, _ in self.issuer.done]


# clean writes


def test_a_full_stripe_reads_nothing() -> None:
    """Protects full-stripe writes: 192 KiB on four disks are four chunk writes side by side, 1 ms, and no read."""
    bench = Bench()
    bench.issuer.write(0, 3 * CHUNK, sync=True)
    bench.engine.run()
    assert bench.reads() == [[]] * 4
    assert bench.writes() == [[(0, CHUNK)]] * 4
    assert bench.times() == pytest.approx([0.001])
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 0}


@pytest.mark.parametrize(
    ("members", "level", "read", "written"),
    [
        (4, "raid5", {1, 2}, {0, 3}),
        (5, "raid5", {0, 4}, {0, 4}),
        (8, "raid5", {0, 7}, {0, 7}),
        (5, "raid4", {0, 4}, {0, 4}),
        (7, "raid6", {0, 5, 6}, {0, 5, 6}),
        (4, "raid6", {1}, {0, 2, 3}),
    ],
)
def test_a_small_write_reads_first(members: int, level: str, read: set[int], written: set[int]) -> None:
    """Protects the small write: reads side by side, then writes side by side, 2 ms. Data comes first in every row 0
    here, then P, then Q, but for RAID 6, where left-symmetric begins after Q.
    """
    bench = Bench(members, level)
    first = bench.array.layout.row(0).data[0]
    turn = {slot: (slot + first) % members for slot in range(members)}
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert {slot for slot, runs in enumerate(bench.reads()) if runs} == {turn[slot] for slot in read}
    assert {slot for slot, runs in enumerate(bench.writes()) if runs} == {turn[slot] for slot in written}
    assert bench.times() == pytest.approx([0.002])
    assert bench.array.parity_reads == len(read)


def test_each_range_of_a_row_has_its_own_plan() -> None:
    """Protects unaligned writes: 64 KiB from the middle of chunk 0 on three disks. The upper half rewrites data 0 and
    reads data 1, the lower half rewrites data 1 and reads data 0.
    """
    bench = Bench(3)
    bench.issuer.write(CHUNK // 2, CHUNK, sync=True)
    bench.engine.run()
    half = CHUNK // 2
    assert bench.reads() == [[(0, half)], [(half, half)], []]
    assert bench.writes() == [[(half, half)], [(0, half)], [(0, CHUNK)]]


def test_less_than_a_block_is_a_block() -> None:
    """Protects sub-block writes: 1 KiB at 3 KiB is done as the 4 KiB around it, whose own contents are read."""
    bench = Bench(3)
    bench.issuer.write(3 * KIB, KIB, sync=True)
    bench.engine.run()
    assert bench.reads() == [[(0, PAGE)], [(0, PAGE)], []]
    assert bench.writes() == [[(0, PAGE)], [], [(0, PAGE)]]


def test_rmw_level_0_reconstructs() -> None:
    """Protects md's setting: on five disks the other three blocks are read instead of old data and P."""
    bench = Bench(5, rmw_level=0)
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert {slot for slot, runs in enumerate(bench.reads()) if runs} == {1, 2, 3}


def test_a_row_written_again_is_not_read_again() -> None:
    """Protects the stripe cache: the second write of a block, and one beside it, find the row in memory."""
    bench = Bench(5)
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    bench.forget()
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert bench.reads() == [[]] * 5
    bench.issuer.write(PAGE, PAGE, sync=True)
    bench.engine.run()
    assert bench.reads() != [[]] * 5, "the counter-test: the block after it was never read"


def test_rows_are_forgotten() -> None:
    """Protects the size of the cache: 16 heads of 4 KiB keep one row of 64 KiB; after writing another it is read anew."""
    bench = Bench(5, heads=16)
    for row in (0, 1, 0):
        bench.forget()
        bench.issuer.write(row * 4 * CHUNK, PAGE, sync=True)
        bench.engine.run()
    assert sum(len(runs) for runs in bench.reads()) == 2


# gathering


def test_a_row_completed_by_later_requests_is_not_read_up() -> None:
    """Protects sequential write-back: pieces of 4 KiB that nobody waits for fill the row within its 3 ms."""
    bench = Bench()
    for at in range(0, 3 * CHUNK, PAGE):
        bench.issuer.write(at, PAGE)
    bench.engine.run()
    assert bench.reads() == [[]] * 4
    assert [len(disk.log) for disk in bench.disks] == [1] * 4, "and each member gets one write"
    assert bench.times() == pytest.approx([0.001] * 48)


def test_writes_that_are_waited_for_are_not_held() -> None:
    """The counter-test: the same pieces as sync writes are read up one by one."""
    bench = Bench()
    for at in range(0, 3 * CHUNK, PAGE):
        bench.issuer.write(at, PAGE, sync=True)
    bench.engine.run()
    assert bench.array.row_writes["rcw"] > 16


@pytest.mark.parametrize("hold_s", [0.003, 0.01])
def test_an_incomplete_row_is_held_back_and_then_read_up(hold_s: float) -> None:
    """Protects the hold: a lone write nobody waits for starts after its time, reads 1 ms, writes 1 ms."""
    bench = Bench(hold_s=hold_s)
    bench.issuer.write(0, PAGE)
    bench.engine.run()
    assert bench.times() == pytest.approx([hold_s + 0.002])


def test_every_row_is_held_for_its_own_time() -> None:
    """Protects rows from each other's timers: a row that begins 2 ms later is read up 2 ms later."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.engine.call_at(0.002, lambda _: bench.issuer.write(3 * CHUNK, PAGE))
    bench.engine.run()
    assert bench.times() == pytest.approx([0.005, 0.007])


def test_who_waits_has_incomplete_rows_read_up() -> None:
    """Protects md's unplugging: somebody waits, so the row is read up at once, not after 3 ms."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.array.unplug()
    bench.engine.run()
    assert bench.times() == pytest.approx([0.002])


def test_not_while_rows_are_being_read_up_already() -> None:
    """Protects rows that come during a reading-up: the unplugging in between leaves them to their neighbours."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.array.unplug()
    bench.issuer.write(3 * CHUNK, PAGE)
    bench.array.unplug()
    bench.engine.run()
    assert bench.times() == pytest.approx([0.002, 0.005])


def test_a_block_written_twice_is_written_in_order() -> None:
    """Protects overwriting: the second write of a gathered block does not vanish in the first."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.issuer.write(0, PAGE)
    bench.engine.run()
    assert len(bench.disks[0].sent(WRITE)) == 2
    assert len(bench.issuer.done) == 2


def test_a_write_over_two_rows_ends_with_the_second() -> None:
    """Protects latency: the first row is full, 1 ms; of the second one block is read up and written, 2 ms more."""
    bench = Bench()
    bench.issuer.write(0, 3 * CHUNK + PAGE, sync=True)
    bench.engine.run()
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 1}
    assert len(bench.times()) == 1
    assert bench.times()[0] >= 0.003


# reads


def test_a_clean_read_is_the_members() -> None:
    """Protects reads of a healthy array: one member for a piece of a chunk, two across a border, none for parity."""
    bench = Bench()
    bench.issuer.read(PAGE, PAGE)
    bench.engine.run()
    assert bench.reads() == [[(PAGE, PAGE)], [], [], []]
    bench.forget()
    bench.issuer.read(0, 6 * CHUNK)
    bench.engine.run()
    assert bench.reads() == [[(0, 2 * CHUNK)], [(0, 2 * CHUNK)], [(0, CHUNK)], [(CHUNK, CHUNK)]]
    assert bench.array.member_reads == 7


def test_a_degraded_read_fans_out() -> None:
    """Protects degraded reads: 4 KiB of the lost member are the same 4 KiB of the three others, in the same 1 ms."""
    bench = Bench(failed=(0,))
    bench.issuer.read(8 * KIB, PAGE)
    bench.engine.run()
    assert bench.reads() == [[], *[[(8 * KIB, PAGE)]] * 3]
    assert bench.times() == pytest.approx([0.001])
    bench.forget()
    bench.issuer.read(8 * KIB, PAGE)
    bench.engine.run()
    assert bench.reads() == [[]] * 4, "and stays in the stripe cache"


def test_a_degraded_read_of_another_member_does_not() -> None:
    """The counter-test: what is still there is read where it is."""
    bench = Bench(failed=(0,))
    bench.issuer.read(CHUNK, PAGE)
    bench.engine.run()
    assert bench.reads() == [[], [(0, PAGE)], [], []]


def test_two_readers_of_a_lost_block_share_its_row() -> None:
    """Protects arrivals: while the row is on its way a second reader waits for it, and reads nothing."""
    bench = Bench(failed=(0,))
    bench.issuer.read(0, CHUNK)
    bench.issuer.read(0, CHUNK)
    bench.engine.run()
    assert [len(disk.log) for disk in bench.disks] == [0, 1, 1, 1]
    assert bench.times() == pytest.approx([0.001, 0.001])


def test_raid_6_reads_on_with_two_lost() -> None:
    """Protects double degradation: six disks, two lost, a lost block comes from the four others."""
    bench = Bench(6, "raid6", failed=(1, 2))
    data = bench.array.layout.row(0).data
    bench.issuer.read(data.index(1) * CHUNK, PAGE)
    bench.engine.run()
    assert {slot for slot, runs in enumerate(bench.reads()) if runs} == {0, 3, 4, 5}


def test_more_lost_than_parities_is_refused() -> None:
    """Protects from an array that is gone."""
    for level, failed in (("raid5", (0, 1)), ("raid4", (1, 2)), ("raid6", (0, 1, 2))):
        with pytest.raises(ArrayFailed, match="survives"):
            Bench(5, level, failed=failed)
    Bench(5, "raid6", failed=(0, 1))


# degraded and rebuilding writes


def test_a_degraded_write_leaves_the_lost_member_alone() -> None:
    """Protects degraded writes: a block of the lost member is written into P only, from the others' data."""
    bench = Bench(failed=(0,))
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert bench.reads() == [[], [(0, PAGE)], [(0, PAGE)], []]
    assert bench.writes() == [[], [], [], [(0, PAGE)]]


def test_a_spare_takes_the_write() -> None:
    """The counter-test: with a fresh member in the slot the block itself is written too, and still not read."""
    bench = Bench(failed=(0,), rebuilding=(0,))
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert bench.reads() == [[], [(0, PAGE)], [(0, PAGE)], []]
    assert bench.writes() == [[(0, PAGE)], [], [], [(0, PAGE)]]


def test_a_rebuild_reads_the_others_and_writes_the_spare() -> None:
    """Protects a rebuild: 64 KiB of three members, 1 ms, and the result on the fresh one, 1 ms."""
    bench = Bench(failed=(2,), rebuilding=(2,))
    rebuilt: list[float] = []
    bench.array.resync(5 * CHUNK, CHUNK, lambda: rebuilt.append(bench.engine.now))
    bench.engine.run()
    assert bench.reads() == [[(5 * CHUNK, CHUNK)], [(5 * CHUNK, CHUNK)], [], [(5 * CHUNK, CHUNK)]]
    assert bench.writes() == [[], [], [(5 * CHUNK, CHUNK)], []]
    assert rebuilt == pytest.approx([0.002])
    assert bench.array.cache.in_use == 0
    assert bench.array.resync_bytes == 64 * MIB


def test_two_members_are_rebuilt_at_once() -> None:
    """Protects RAID 6 with two spares: one pass over the four others writes both."""
    bench = Bench(6, "raid6", failed=(0, 5), rebuilding=(0, 5))
    bench.array.resync(0, CHUNK, lambda: None)
    bench.engine.run()
    assert [bool(runs) for runs in bench.reads()] == [False, True, True, True, True, False]
    assert [bool(runs) for runs in bench.writes()] == [True, False, False, False, False, True]


def test_a_rebuilt_member_is_read() -> None:
    """Protects the end of a rebuild: the array reads and writes as a healthy one."""
    bench = Bench(5, failed=(0,), rebuilding=(0,))
    bench.array.rebuilt(0)
    bench.issuer.read(0, PAGE)
    bench.issuer.write(8 * CHUNK, PAGE, sync=True)
    bench.engine.run()
    assert bench.reads()[0] == [(0, PAGE)]
    assert bench.array.row_writes["rmw"] == 1


# stripe heads


@pytest.mark.parametrize("op", [READ, WRITE])
def test_no_more_heads_than_there_are(op: int) -> None:
    """Protects the limit of 256 heads, here 8: 40 requests of 4 KiB in rows of their own, never more than 8 in use, and
    all are served.
    """
    bench = Bench(heads=8)
    for row in range(40):
        bench.issuer.send(op, row * 3 * CHUNK, PAGE)
    most = 0
    while bench.engine.peek() < float("inf"):
        bench.engine.step()
        most = max(most, bench.array.cache.in_use)
    assert most == 8
    assert bench.array.cache.waits == 32
    assert len(bench.issuer.done) == 40
    assert bench.array.cache.in_use == 0


def test_heads_limit_what_is_under_way() -> None:
    """Protects the price of a small stripe cache: forty random reads on four disks, 8 heads or enough of them."""

    def seconds(heads: int) -> float:
        bench = Bench(heads=heads)
        rng = random.Random(1)
        for _ in range(40):
            bench.issuer.read(rng.randrange(0, 150 * MIB) // PAGE * PAGE, PAGE)
        bench.engine.run()
        return bench.engine.now

    assert seconds(4) > seconds(256)
    assert seconds(256) == seconds(0)


def test_a_request_larger_than_the_cache_is_served() -> None:
    """Protects large requests: 1 MiB through 4 heads, as a read and as a write, waited for or not."""
    for op, sync in ((READ, True), (WRITE, True), (WRITE, False)):
        bench = Bench(heads=4)
        bench.issuer.send(op, PAGE, MIB, sync=sync)
        bench.engine.run()
        assert len(bench.issuer.done) == 1
        assert bench.array.cache.in_use == 0


def test_writers_are_told_when_there_are_heads_again() -> None:
    """Protects throttling: no room while work waits for heads; whoever asked is called when it no longer does."""
    bench = Bench(heads=1)
    bench.issuer.read(0, PAGE)
    assert bench.array.has_room
    bench.issuer.read(3 * CHUNK, PAGE)
    assert not bench.array.has_room
    told: list[float] = []
    bench.array.when_room(lambda: told.append(bench.engine.now))
    bench.engine.run()
    assert told == pytest.approx([0.001])
    assert bench.array.has_room


def test_who_waits_for_heads_lets_the_members_go() -> None:
    """Protects from a standstill: the heads are held by requests in queues that only a waiter unplugs."""
    for sync in (True, False):
        bench = Bench(heads=2, queued=True)
        for row in range(12):
            bench.issuer.write(row * 3 * CHUNK, PAGE, sync=sync)
        bench.engine.run(until=1.0)
        bench.array.unplug()
        bench.engine.run(until=2.0)
        assert len(bench.issuer.done) == 12


# CPU


def test_a_read_is_paid_and_copied() -> None:
    """Protects the price of reads: 16 KiB are four heads of two passes of 1 us and a bio of 10 us each; a kernel that
    reads into the stripe cache copies 16 KiB at 1 ns a byte on top.
    """
    prices = {"stripe_s": 1e-6, "bio_s": 10e-6, "copy_s_per_byte": 1e-9}
    for copies, copy_s in ((False, 0.0), (True, 16 * KIB * 1e-9)):
        bench = Bench(prices=prices, copies_reads=copies)
        bench.issuer.read(0, 16 * KIB)
        bench.engine.run()
        assert bench.cpu.busy_s == pytest.approx(4 * (2 * 1e-6 + 10e-6) + copy_s)


def test_a_degraded_read_is_computed() -> None:
    """Protects the price of the lost member: three blocks of 4 KiB at 1 ns a byte of XOR; a present one costs none."""
    for offset, xored in ((0, 3 * PAGE), (CHUNK, 0)):
        bench = Bench(failed=(0,), prices={"xor_s_per_byte": 1e-9})
        bench.issuer.read(offset, PAGE)
        bench.engine.run()
        assert bench.cpu.busy_s == pytest.approx(xored * 1e-9)


def test_parity_is_paid_by_what_goes_through_it() -> None:
    """Protects the price of XOR: a full row of four disks is three chunks; a block by read-modify-write on five disks
    is its old and new contents and P.
    """
    full = Bench(4, prices={"xor_s_per_byte": 1e-9})
    full.issuer.write(0, 3 * CHUNK, sync=True)
    full.engine.run()
    assert full.cpu.busy_s == pytest.approx(3 * CHUNK * 1e-9)
    small = Bench(5, prices={"xor_s_per_byte": 1e-9})
    small.issuer.write(0, PAGE, sync=True)
    small.engine.run()
    assert small.cpu.busy_s == pytest.approx(3 * PAGE * 1e-9)


# everything at once


@pytest.mark.parametrize(
    ("level", "members", "failed", "rebuilding"),
    [
        ("raid4", 4, (), ()),
        ("raid5", 3, (), ()),
        ("raid5", 5, (), ()),
        ("raid5", 5, (1,), ()),
        ("raid5", 5, (1,), (1,)),
        ("raid6", 6, (), ()),
        ("raid6", 6, (0, 3), ()),
        ("raid6", 6, (0, 3), (3,)),
        ("raid6", 6, (0, 3), (0, 3)),
    ],
)
@pytest.mark.parametrize("heads", [0, 5, 64])
@pytest.mark.parametrize("queued", [False, True])
def test_a_random_mix_is_served(
    level: str, members: int, failed: tuple[int, ...], rebuilding: tuple[int, ...], heads: int, queued: bool
) -> None:
    """Protects from requests that get lost: 120 reads and writes of all sizes, waited for or not, at random times in a
    small array, with a rebuild beside them; in the end all are answered and nothing is in use.
    """
    rng = random.Random(f"{level}{members}{failed}{rebuilding}{heads}")
    bench = Bench(members, level, failed, rebuilding, capacity=8 * CHUNK, queued=queued, heads=heads)
    capacity = bench.array.capacity
    resynced: list[int] = []

    def send(_: Any) -> None:
        size = rng.choice((512, KIB, PAGE, 12 * KIB, CHUNK, 200 * KIB))
        offset = rng.randrange(0, (capacity - size) // 512) * 512
        bench.issuer.send(rng.choice((READ, WRITE)), offset, size, sync=rng.random() < 0.5)
        bench.array.unplug()

    for _ in range(120):
        bench.engine.call_at(rng.random() * 0.05, send)
    if rebuilding:
        for row in range(8):
            bench.engine.call_at(
                rng.random() * 0.05,
                lambda _, row=row: bench.array.resync(row * CHUNK, CHUNK, lambda: resynced.append(row)),
            )
    most = 0
    for _ in range(1000):
        bench.engine.run(until=bench.engine.now + 0.001)
        most = max(most, bench.array.cache.in_use)
    for _ in range(10):  # a row that was held back is read up for one who waits, and written for the next one
        bench.array.unplug()
        bench.engine.run(until=bench.engine.now + 0.1)
    assert len(bench.issuer.done) == 120
    assert sorted(resynced) == (list(range(8)) if rebuilding else [])
    assert bench.array.cache.in_use == 0
    assert not bench.array.cache.full
    assert most <= heads
    for slot in set(failed) - set(rebuilding):
        assert bench.disks[slot].log == []
    for slot in failed:
        assert bench.disks[slot].sent(READ) == []
