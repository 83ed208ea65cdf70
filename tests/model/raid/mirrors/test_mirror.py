"""RAID 1 in time: 1 ms a member request, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from raidsim.model.block.single_queue import BlockQueue, PlugSettings
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ArrayFailed
from raidsim.model.core.fixed_service import FixedServiceDevice
from raidsim.model.core.request import ASYNC, DIRECT, READ, WAITED, WRITE, WRITE_THROUGH, Request
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import Md26, Md61, PrimaryOnly, ReadBalance
from raidsim.model.schedulers import Noop
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.prices import FREE
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders


class Bench:
    """A mirror of recorders."""

    def __init__(
        self,
        mirrors: int = 2,
        failed: tuple[int, ...] = (),
        resync_depth: int = 32,
        clone_s: float = 0.0,
        servers: int = 1,
        clones_pages: bool = True,
        submitter_pays: bool = False,
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        self.disks = recorders(self.engine, mirrors, servers=servers)
        host = Host(self.cpu, replace(FREE, clone_s=clone_s))
        self.array = MirrorArray(
            self.engine,
            "md0",
            self.disks,
            Md26(mirrors),
            host,
            failed,
            resync_depth,
            clones_pages=clones_pages,
            submitter_pays=submitter_pays,
        )
        self.issuer = Issuer(self.engine, self.array)
        self.resynced: list[float] = []

    def resync(self, number: int) -> None:
        """Ask for one 64 KiB range to be resynced now."""
        self.array.resync(number * 64 * KIB, 64 * KIB, lambda: self.resynced.append(self.engine.now))

    def ops(self) -> list[int]:
        """Requests that each member got."""
        return [len(disk.log) for disk in self.disks]


@pytest.mark.parametrize("mirrors", [2, 3, 5])
def test_a_write_goes_to_all_and_a_read_to_one(mirrors: int) -> None:
    """Protects what mirrors cost and give: the write is on every member, the read on one."""
    bench = Bench(mirrors)
    bench.issuer.write(8 * KIB, 4 * KIB)
    bench.engine.run()
    assert [disk.log for disk in bench.disks] == [[(WRITE, 8 * KIB, 4 * KIB)]] * mirrors
    assert bench.array.member_writes == mirrors
    bench.issuer.read(8 * KIB, 4 * KIB)
    bench.engine.run()
    assert sum(bench.ops()) == mirrors + 1
    assert bench.array.member_reads == 1


@pytest.mark.parametrize(("pays", "clones"), [(True, 0), (False, 32)])
def test_copies_of_a_write_are_paid_by_who_submits_it_or_by_the_kernel(pays: bool, clones: int) -> None:
    """Protects 2.4, where raid1_make_request runs in the program: a page costs it two copies of 1 us, and nobody else.
    The counter-test: 64 KiB cost the kernel 32 copies and the program nothing. A direct write is no page written back.
    """
    bench = Bench(clone_s=1e-6, submitter_pays=pays)
    bench.issuer.write(0, 64 * KIB)
    bench.engine.run()
    assert bench.array.submission_s_per_page == pytest.approx(2e-6 if pays else 0.0)
    assert bench.cpu.kernel_s == pytest.approx(clones * 1e-6)
    bench.array.submit(Request(WRITE, 0, 64 * KIB, lambda _: None, sync=DIRECT))
    bench.engine.run()
    assert bench.cpu.kernel_s == pytest.approx((clones + 32) * 1e-6)


def test_a_write_ends_with_the_slowest_mirror() -> None:
    """Protects latency: with three reads in front on one mirror the write takes 4 ms though the other is done in 1."""
    bench = Bench()
    for _ in range(3):
        Issuer(bench.engine, bench.disks[1]).read(0, 4 * KIB)
    bench.issuer.write(0, 4 * KIB)
    bench.engine.run()
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.004])


def test_independent_readers_share_the_mirrors() -> None:
    """Protects the gain of mirrors: two random reads at once take the time of one, on one mirror left twice as long."""
    for failed, last in (((), 0.001), ((1,), 0.002)):
        bench = Bench(failed=failed)
        bench.issuer.read(0, 4 * KIB)
        bench.issuer.read(32 * MIB, 4 * KIB)
        bench.engine.run()
        assert bench.engine.now == pytest.approx(last)


def test_clones_are_paid() -> None:
    """Protects why a third mirror writes slower: a clone per page and mirror; 16 KiB on three are twelve of 1 us."""
    for mirrors in (2, 3):
        bench = Bench(mirrors, clone_s=1e-6)
        bench.issuer.write(0, 16 * KIB)
        bench.engine.run()
        assert bench.cpu.busy_s == pytest.approx(4 * mirrors * 1e-6)
    bench.issuer.read(0, 16 * KIB)
    assert bench.cpu.busy_s == pytest.approx(13e-6), "a read is one clone"
    today = Bench(3, clone_s=1e-6, clones_pages=False)
    today.issuer.write(0, 16 * KIB)
    assert today.cpu.busy_s == pytest.approx(3e-6), "a clone that shares the pages is one per mirror"


def test_failed_mirrors_get_nothing() -> None:
    """Protects a degraded mirror: neither reads nor writes go to the lost slot."""
    bench = Bench(3, failed=(0,))
    for number in range(10):
        bench.issuer.write(number * MIB, 4 * KIB)
        bench.issuer.read(number * MIB, 4 * KIB)
    bench.engine.run()
    assert bench.ops()[0] == 0
    assert len(bench.issuer.done) == 20


def test_a_rebuilding_mirror_is_written_and_not_read() -> None:
    """Protects a rebuild: the fresh member takes writes at once and reads only when it is whole."""
    bench = Bench(2, failed=(1,))
    bench.array.rebuild_onto(1)
    for number in range(10):
        bench.issuer.write(number * MIB, 4 * KIB)
        bench.issuer.read(number * MIB, 4 * KIB)
    bench.engine.run()
    assert len(bench.disks[1].sent(WRITE)) == 10
    assert bench.disks[1].sent(READ) == []
    bench.array.rebuilt(1)
    for number in (3, 7, 5):
        bench.issuer.read(number * MIB, 4 * KIB)
    bench.engine.run()
    assert bench.disks[1].sent(READ) != []


def test_a_resync_copies_from_a_mirror_to_the_fresh_one() -> None:
    """Protects what a resync does: 64 KiB read from the good, written to the fresh member, 2 ms, done once."""
    bench = Bench(2, failed=(1,))
    bench.array.rebuild_onto(1)
    bench.resync(3)
    bench.engine.run()
    assert bench.disks[0].log == [(READ, 192 * KIB, 64 * KIB)]
    assert bench.disks[1].log == [(WRITE, 192 * KIB, 64 * KIB)]
    assert bench.resynced == pytest.approx([0.002])
    assert bench.array.resync_bytes == 64 * MIB


def test_resync_and_normal_requests_alternate() -> None:
    """Protects md's barrier. A read of 1 ms is under way: the resync waits for it; a second read waits for the resync;
    the second resync waits until that read is over. 1 + 2 + 1 + 2 ms.
    """
    bench = Bench(2, failed=(1,))
    bench.array.rebuild_onto(1)
    bench.issuer.read(0, 4 * KIB)
    bench.resync(0)
    bench.issuer.read(MIB, 4 * KIB)
    bench.resync(1)
    bench.engine.run()
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.001, 0.004])
    assert bench.resynced == pytest.approx([0.003, 0.006])


def test_a_resync_waits_even_for_a_disk_that_could_do_both() -> None:
    """Protects that it is the barrier that waits: members that serve two requests at once do not change the order."""
    for normal, over in ((1, 0.003), (0, 0.002)):
        bench = Bench(2, failed=(1,), servers=2)
        bench.array.rebuild_onto(1)
        for _ in range(normal):
            bench.issuer.read(0, 4 * KIB)
        bench.resync(0)
        bench.engine.run()
        assert bench.resynced == pytest.approx([over])


def test_without_normal_requests_resync_runs_ahead() -> None:
    """The counter-test: two resync requests alone overlap, the second reads while the first writes: 3 ms."""
    bench = Bench(2, failed=(1,))
    bench.array.rebuild_onto(1)
    bench.resync(0)
    bench.resync(1)
    bench.engine.run()
    assert bench.resynced == pytest.approx([0.002, 0.003])


def test_without_resync_normal_requests_do_not_wait() -> None:
    """The other counter-test: the same two reads alone are served one after the other, 1 and 2 ms."""
    bench = Bench(2, failed=(1,))
    bench.issuer.read(0, 4 * KIB)
    bench.issuer.read(MIB, 4 * KIB)
    bench.engine.run()
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.001, 0.002])


def test_the_resync_window_is_limited() -> None:
    """Protects the depth: with 2 requests under way at most the third read starts after the first copy."""
    starts = {}
    for depth in (2, 3):
        bench = Bench(2, failed=(1,), resync_depth=depth)
        bench.array.rebuild_onto(1)
        for number in range(3):
            bench.resync(number)
        bench.engine.run(until=0.0005)
        starts[depth] = len(bench.disks[0].sent(READ))
        bench.engine.run()
        assert len(bench.resynced) == 3
    assert starts == {2: 2, 3: 3}


def test_a_resync_lets_plugged_requests_go() -> None:
    """Protects from a standstill: the resync waits for a write that sits in a queue which only a waiter unplugs."""
    engine = Engine()
    host = Host(Cpu(engine))
    plug = PlugSettings(0, 0.0)
    disks = recorders(engine, 2)
    queues = [BlockQueue(engine, host, disk, Noop(128 * KIB), 1, MIB, 1 << 30, plug) for disk in disks]
    array = MirrorArray(engine, "md0", queues, PrimaryOnly(2), host, failed=[1])
    array.rebuild_onto(1)
    issuer = Issuer(engine, array)
    issuer.write(0, 4 * KIB)
    resynced: list[float] = []
    array.resync(MIB, 64 * KIB, lambda: resynced.append(engine.now))
    engine.run()
    assert resynced == pytest.approx([0.003])
    assert len(issuer.done) == 1


def test_unequal_mirrors_are_as_large_as_the_smallest_and_one_is_left() -> None:
    """Protects the capacity of unequal members, and from an array without a mirror."""
    engine = Engine()
    unequal = [Recorder(engine, "a", 2 * MIB), Recorder(engine, "b", MIB)]
    assert MirrorArray(engine, "md0", unequal, Md26(2)).capacity == MIB
    with pytest.raises(ArrayFailed, match="all 2 mirrors"):
        MirrorArray(engine, "md0", recorders(engine, 2), Md26(2), failed=[0, 1])


class SyncNotes(Recorder):
    """A recorder that notes who waits."""

    def submit(self, request: Request) -> None:
        self.syncs = [*getattr(self, "syncs", []), request.sync]
        super().submit(request)


def test_a_direct_write_is_an_ordinary_awaited_one_on_the_members() -> None:
    """Protects write-back throttling on mirrors: md drops REQ_IDLE, so the members see no direct write."""
    engine = Engine()
    disks = [SyncNotes(engine, f"d{slot}") for slot in range(2)]
    array = MirrorArray(engine, "md0", disks, Md26(2))
    for sync in (ASYNC, WAITED, DIRECT, WRITE_THROUGH):
        array.submit(Request(WRITE, 0, 4 * KIB, lambda _: None, sync=sync))
    engine.run()
    assert [disk.syncs for disk in disks] == [[ASYNC, WAITED, WAITED, WRITE_THROUGH]] * 2


class Halves(PrimaryOnly):
    """Cuts every read between two mirrors."""

    def divide(self, request: Request, candidates: Sequence[int]) -> list[tuple[int, int, int]]:
        half = request.size // 2
        return [(0, request.offset, half), (1, request.offset + half, half)]


def test_a_policy_may_cut_a_read() -> None:
    """Protects the hook for policies that spread one read: both halves are read, and the read is over with the last."""
    engine = Engine()
    disks = [Recorder(engine, f"d{slot}", service_s=0.0, per_byte_s=1e-6) for slot in range(2)]
    array = MirrorArray(engine, "md0", disks, Halves(2))
    issuer = Issuer(engine, array)
    issuer.read(8 * KIB, 8 * KIB)
    engine.run()
    assert [disk.sent(READ) for disk in disks] == [[(8 * KIB, 4 * KIB)], [(12 * KIB, 4 * KIB)]]
    assert engine.now == pytest.approx(4 * KIB * 1e-6), "half the time of one mirror"
    assert array.member_reads == 2
    assert len(issuer.done) == 1


def test_a_check_reads_all_mirrors_and_writes_nothing() -> None:
    """Protects a check: it compares the mirrors there are, and finds nothing to correct."""
    bench = Bench(3, failed=(1,))
    bench.array.check(MIB, 64 * KIB, lambda: bench.resynced.append(bench.engine.now))
    bench.engine.run()
    assert [disk.log for disk in bench.disks] == [[(READ, MIB, 64 * KIB)], [], [(READ, MIB, 64 * KIB)]]
    assert bench.resynced == pytest.approx([0.001])
    assert bench.array.check_bytes == bench.array.capacity


def random_readers_per_second(balance: ReadBalance, readers: int, mirrors: int = 5) -> float:
    """4 KiB reads a second of so many random readers on disks that seek 0 to 8 ms by distance."""
    engine = Engine()
    disks = [Seeker(engine, f"d{slot}") for slot in range(mirrors)]
    array = MirrorArray(engine, "md0", disks, balance)
    loads = [ClosedLoad(engine, array, size=4 * KIB, name=f"reader{n}", issuer=n) for n in range(readers)]
    engine.run(until=2.0)
    return sum(load.reads for load in loads) / 2.0


class Seeker(FixedServiceDevice):
    """A disk that takes 1 ms and the time its head needs, 1 ms per 8 MiB."""

    def __init__(self, engine: Engine, name: str) -> None:
        super().__init__(engine, name, 64 * MIB, self._serve_s)
        self._offset = self._head = 0

    def submit(self, request: Request) -> None:
        self._offset = request.offset
        super().submit(request)

    def _serve_s(self, size: int, op: int) -> float:
        way = abs(self._offset - self._head)
        self._head = self._offset + size
        return 0.001 + 0.001 * way / (8 * MIB)


def test_five_mirrors_win_only_under_many_readers() -> None:
    """Protects the five-way mirror: one reader gets one disk's rate, ten readers get more than four disks' rate.

    With all reads on the first mirror, the counter-test, ten readers get no more than that one disk gives.
    """
    one = random_readers_per_second(PrimaryOnly(5), 1)
    assert random_readers_per_second(Md61(5), 1) == pytest.approx(one, rel=0.1)
    assert random_readers_per_second(Md61(5), 10) > 4 * one
    assert random_readers_per_second(PrimaryOnly(5), 10) == pytest.approx(one, rel=0.1)


def test_one_stream_is_no_faster_on_five_mirrors() -> None:
    """Protects the other half: a stream that keeps eight reads outstanding is on one mirror; on a stripe it is not."""
    rates = []
    for mirrors in (1, 5):
        engine = Engine()
        array = MirrorArray(engine, "md0", recorders(engine, mirrors), Md61(mirrors))
        load = ClosedLoad(engine, array, size=64 * KIB, depth=8, sequential=True)
        engine.run(until=0.5)
        rates.append(load.reads)
    assert rates[0] == pytest.approx(rates[1], abs=2)


def test_write_mostly_members_of_an_array_get_no_reads() -> None:
    """Protects a slow member behind a fast one: it takes the writes and not the reads; the counter-test is without."""
    for write_mostly, reads in ((frozenset({0}), 0), (frozenset[int](), 10)):
        engine = Engine()
        disks = recorders(engine, 2)
        array = MirrorArray(engine, "md0", disks, Md61(2, write_mostly=write_mostly))
        for number in range(20):
            Issuer(engine, array).write(number * MIB, 4 * KIB)
            engine.run()
            Issuer(engine, array).read(number * MIB + 64 * KIB, 4 * KIB)
            if number % 2:
                Issuer(engine, array).read(number * MIB + 128 * KIB, 4 * KIB)
            engine.run()
        assert len(disks[0].sent(WRITE)) == 20
        assert (len(disks[0].sent(READ)) >= reads) if reads else not disks[0].sent(READ)
