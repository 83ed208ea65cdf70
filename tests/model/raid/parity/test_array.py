"""RAID 4, 5 and 6 in time: reads, degraded and rebuilding arrays, stripe heads, CPU, and everything at once."""

from __future__ import annotations

import random
from typing import Any

import pytest

from raidsim.model.core.errors import ArrayFailed
from raidsim.model.core.request import READ, WRITE
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench
from raidsim.tests.model.recording import KIB, MIB

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


def test_today_a_whole_array_is_read_directly() -> None:
    """Protects chunk_aligned_read: one request per chunk, no heads occupied, and what was written is read again."""
    bench = Bench(hold=None, direct_reads=True)
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    bench.forget()
    bench.issuer.read(0, PAGE)
    bench.issuer.read(3 * CHUNK, 2 * CHUNK)
    assert bench.array.cache.in_use == 0
    bench.engine.run()
    assert bench.disks[0].sent(READ) == [(0, PAGE), (CHUNK, CHUNK)]


def test_through_the_stripe_cache_it_is_not_read_again() -> None:
    """The counter-test: a degraded array, and kernels before 2.6.20, find the block in the stripe cache."""
    for bench in (Bench(), Bench(failed=(1,), hold=None, direct_reads=True)):
        bench.issuer.write(0, PAGE, sync=True)
        bench.engine.run()
        bench.forget()
        bench.issuer.read(0, PAGE)
        bench.engine.run()
        assert bench.reads() == [[]] * 4
        assert len(bench.issuer.done) == 2


def test_today_a_degraded_array_reads_whole_heads() -> None:
    """Protects degraded reads by md's thread: 1 KiB of the lost member are 4 KiB of all others, and 3 KiB of another
    member are its block.
    """
    bench = Bench(failed=(0,), hold=None, direct_reads=True)
    bench.issuer.read(9 * KIB, KIB)
    bench.issuer.read(CHUNK + 33 * KIB, 3 * KIB)
    bench.engine.run()
    assert bench.reads() == [[], [(8 * KIB, PAGE), (32 * KIB, PAGE)], [(8 * KIB, PAGE)], [(8 * KIB, PAGE)]]
    assert bench.times() == pytest.approx([0.001, 0.002])
    assert bench.array.cache.in_use == 0


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
    room = [bench.array.has_room]
    bench.issuer.read(3 * CHUNK, PAGE)
    room.append(bench.array.has_room)
    told: list[float] = []
    bench.array.when_room(lambda: told.append(bench.engine.now))
    bench.engine.run()
    assert told == pytest.approx([0.001])
    assert [*room, bench.array.has_room] == [True, False, True]


@pytest.mark.parametrize(("sync", "over"), [(True, 0.003), (False, 0.006)])
def test_a_write_that_waited_for_heads_is_completed(sync: bool, over: float) -> None:
    """Protects late pieces: the only head is free at 1 ms; a write somebody waits for is read up and written at once,
    another is held for 3 ms before.
    """
    bench = Bench(heads=1)
    bench.issuer.read(0, PAGE)
    bench.issuer.write(3 * CHUNK, PAGE, sync=sync)
    bench.engine.run()
    assert bench.times() == pytest.approx([0.001, over])


def test_one_who_waits_unplugs_once() -> None:
    """Protects O_DIRECT and fsync: first the reads, then the writes of a sync write go out though the program unplugged
    once and sleeps; a write nobody waits for is read up, and its writes stay in the queue.
    """
    for sync, done in ((True, 1), (False, 0)):
        bench = Bench(queued=True)
        bench.issuer.write(0, PAGE, sync=sync)
        bench.array.unplug()
        bench.engine.run()
        assert len(bench.issuer.done) == done


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
@pytest.mark.parametrize(
    ("heads", "queued", "hold_s"),
    [
        (0, False, 0.003),
        (5, False, 0.003),
        (5, True, 0.003),
        (64, True, 0.003),
        (0, True, None),
        (5, False, None),
        (5, True, None),
    ],
)
def test_a_random_mix_is_served(
    level: str,
    members: int,
    failed: tuple[int, ...],
    rebuilding: tuple[int, ...],
    heads: int,
    queued: bool,
    hold_s: float | None,
) -> None:
    """Protects from requests that get lost: 120 reads and writes of all sizes, waited for or not, at random times in a
    small array, with a rebuild beside them; in the end all are answered and nothing is in use.
    """
    rng = random.Random(f"{level}{members}{failed}{rebuilding}{heads}")
    bench = Bench(
        members, level, failed, rebuilding, 8 * CHUNK, queued, hold=hold_s, direct_reads=hold_s is None, heads=heads
    )
    capacity = bench.array.capacity
    resynced: list[int] = []

    def send(_: Any) -> None:
        size = rng.choice((512, KIB, PAGE, 12 * KIB, CHUNK, 200 * KIB))
        offset = rng.randrange(0, (capacity - size) // 512) * 512
        bench.issuer.send(rng.choice((READ, WRITE)), offset, size, sync=rng.random() < 0.5)
        bench.array.unplug()

    for _ in range(120):
        bench.engine.call_at(rng.random() * 0.05, send)

    def resync(row: int) -> None:
        bench.array.resync(row * CHUNK, CHUNK, lambda: resynced.append(row))

    if rebuilding:
        for row in range(8):
            bench.engine.call_at(rng.random() * 0.05, lambda _, row=row: resync(row))  # type: ignore[misc]
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
