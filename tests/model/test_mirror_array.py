"""RAID 1 in time: 1 ms a member request, one at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.model.block_queue import BlockQueue, PlugSettings
from raidsim.model.cpu import Cpu
from raidsim.model.engine import Engine
from raidsim.model.errors import ArrayFailed, ModelError
from raidsim.model.host import FREE, Host
from raidsim.model.mirror_array import MirrorArray
from raidsim.model.read_balance import Md26, PrimaryOnly
from raidsim.model.request import READ, WRITE
from raidsim.model.schedulers import Noop
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
    ) -> None:
        self.engine = Engine()
        self.cpu = Cpu(self.engine)
        self.disks = recorders(self.engine, mirrors, servers=servers)
        host = Host(self.cpu, replace(FREE, clone_s=clone_s))
        self.array = MirrorArray(self.engine, "md0", self.disks, Md26(mirrors), host, failed, resync_depth)
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


def test_mirrors_are_equal_and_one_is_left() -> None:
    """Protects from mirrors of different size and from an array without a mirror."""
    engine = Engine()
    with pytest.raises(ModelError, match="different size"):
        MirrorArray(engine, "md0", [Recorder(engine, "a", MIB), Recorder(engine, "b", 2 * MIB)], Md26(2))
    with pytest.raises(ArrayFailed, match="all 2 mirrors"):
        MirrorArray(engine, "md0", recorders(engine, 2), Md26(2), failed=[0, 1])
