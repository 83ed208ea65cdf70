"""gmirror's four algorithms, by sequences one can follow by hand. Positions and sizes in sectors of 512 bytes."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import (
    READ_BALANCE,
    GmirrorLoad,
    GmirrorPrefer,
    GmirrorRoundRobin,
    GmirrorSplit,
    ReadBalance,
)
from raidsim.tests.model.recording import KIB, Issuer, Recorder, recorders

SECTOR = 512


def request(sector: int, sectors: int = 8, op: int = READ) -> Request:
    """A request nobody waits for."""
    return Request(op, sector * SECTOR, sectors * SECTOR, lambda _: None)


def slots(balance: ReadBalance, count: int, candidates: tuple[int, ...]) -> list[int]:
    """Where a sequential reader's next reads go."""
    return [balance.choose(request(8 * number), candidates) for number in range(count)]


class Bench:
    """A mirror of recorders of different speed (s per request)."""

    def __init__(self, balance: ReadBalance, *service_s: float) -> None:
        self.engine = Engine()
        self.disks = [Recorder(self.engine, f"ad{slot}", service_s=s) for slot, s in enumerate(service_s)]
        self.array = MirrorArray(self.engine, "gm0", self.disks, balance)
        self.issuer = Issuer(self.engine, self.array)

    def one_by_one(self, reads: int) -> list[int]:
        """Sequential reads, each after the one before; which mirror served them."""
        served = []
        for number in range(reads):
            before = [disk.reads for disk in self.disks]
            self.issuer.read(number * 64 * KIB, 64 * KIB)
            self.engine.run()
            served += [slot for slot, disk in enumerate(self.disks) if disk.reads > before[slot]]
        return served


def test_round_robin_takes_the_next_whatever_is_read() -> None:
    """Protects why gmirror tears a sequential reader apart: reads go to 0, 1, 2, 0 ... in order of arrival."""
    assert slots(GmirrorRoundRobin(3), 7, (0, 1, 2)) == [0, 1, 2, 0, 1, 2, 0]


def test_round_robin_skips_a_lost_mirror() -> None:
    """Protects degraded mirrors: the hint may stand on a slot that is lost, the next one is taken."""
    balance = GmirrorRoundRobin(3)
    assert slots(balance, 2, (0, 1, 2)) == [0, 1]
    assert slots(balance, 4, (0, 1)) == [0, 1, 0, 1]
    assert slots(balance, 3, (1,)) == [1, 1, 1]


def test_split_cuts_a_read_into_one_part_a_mirror() -> None:
    """Protects split: equal parts in slot order, rounded up to sectors, the last one shorter."""
    assert GmirrorSplit(2).divide(request(100, 256), (0, 1)) == [
        (0, 100 * SECTOR, 128 * SECTOR),
        (1, 228 * SECTOR, 128 * SECTOR),
    ]
    assert [size // SECTOR for _, _, size in GmirrorSplit(3).divide(request(0, 128), (0, 1, 2))] == [43, 43, 42]
    assert [size // SECTOR for _, _, size in GmirrorSplit(3, 512).divide(request(0, 2), (0, 1, 2))] == [1, 1]


def test_split_leaves_a_slice_whole() -> None:
    """The counter-test: up to a slice, 4,096 bytes unless set, reads go round robin; so may 128 KiB."""
    small = GmirrorSplit(2)
    assert [small.divide(request(0, 8), (0, 1))[0][0] for _ in range(3)] == [0, 1, 0]
    large = GmirrorSplit(2, 128 * KIB)
    assert [large.divide(request(0, 256), (0, 1))[0] for _ in range(2)] == [(0, 0, 128 * KIB), (1, 0, 128 * KIB)]


def test_every_byte_of_a_split_read_is_read_once() -> None:
    """Protects the data: whatever the length and the number of mirrors, the parts follow each other without a gap."""
    for mirrors in (2, 3, 5):
        for sectors in (9, 64, 100, 255, 256):
            parts = GmirrorSplit(mirrors).divide(request(7, sectors), tuple(range(mirrors)))
            at = 7 * SECTOR
            for _, offset, size in parts:
                assert offset == at
                at += size
            assert at == (7 + sectors) * SECTOR


def test_a_split_read_is_complete_with_its_last_part() -> None:
    """Protects the array's side: two halves at 1 and 3 ms make a read of 3 ms."""
    bench = Bench(GmirrorSplit(2), 0.001, 0.003)
    bench.issuer.read(0, 128 * KIB)
    bench.engine.run()
    ((at, _, _),) = bench.issuer.done
    assert at == pytest.approx(0.003)
    assert [disk.sent(READ) for disk in bench.disks] == [[(0, 64 * KIB)], [(64 * KIB, 64 * KIB)]]


def test_load_goes_by_the_time_of_the_last_request() -> None:
    """Protects 6.2's load: both are tried while they have no time; then the one of 1 ms is kept."""
    assert Bench(GmirrorLoad(2), 0.001, 0.002).one_by_one(6) == [0, 1, 0, 0, 0, 0]
    assert Bench(GmirrorLoad(2), 0.002, 0.001).one_by_one(6) == [0, 1, 1, 1, 1, 1]


def test_load_tries_an_idle_mirror_after_two_seconds() -> None:
    """Protects the other mirror from being forgotten: it is read from again when the clock's whole seconds say so."""
    bench = Bench(GmirrorLoad(2), 0.25, 0.5)
    assert bench.one_by_one(9) == [0, 1, 0, 0, 0, 0, 0, 1, 0]


def test_load_counts_writes_as_well() -> None:
    """Protects mixed loads: a slow write makes its mirror the slower one for the next read."""
    now = [0.0]
    balance = GmirrorLoad(2)
    balance.use_clock(lambda: now[0])
    for slot in (0, 1):
        balance.started(slot, request(0, op=WRITE))
    now[0] = 0.001
    balance.ended(1, 8 * SECTOR)
    now[0] = 0.005
    balance.ended(0, 8 * SECTOR)
    assert balance.choose(request(500), (0, 1)) == 1


def test_load_is_for_raid_1() -> None:
    """Protects from a policy that would not know its own requests again at another address of the member."""
    with pytest.raises(ModelError, match="RAID 1 only"):
        GmirrorLoad(2).choose(request(0), (0, 1), (0, 4096))


def test_prefer_is_the_first_there_is() -> None:
    """Protects prefer: all reads to the highest priority; to the next one when that is lost."""
    assert slots(GmirrorPrefer(3), 3, (0, 1, 2)) == [0, 0, 0]
    assert slots(GmirrorPrefer(3), 3, (1, 2)) == [1, 1, 1]
    assert slots(GmirrorPrefer(3, 2), 3, (0, 1, 2)) == [2, 2, 2]
    assert slots(GmirrorPrefer(3, 2), 3, (0, 1)) == [0, 0, 0]


@pytest.mark.parametrize("name", ["gmirror-round-robin", "gmirror-split", "gmirror-load", "gmirror-prefer"])
def test_writes_go_to_all(name: str) -> None:
    """Protects the mirror: whatever the balance of reads, each member gets the whole write."""
    engine = Engine()
    disks = recorders(engine, 3)
    issuer = Issuer(engine, MirrorArray(engine, "gm0", disks, READ_BALANCE[name](3)))
    issuer.write(64 * KIB, 128 * KIB)
    engine.run()
    assert [disk.log for disk in disks] == [[(WRITE, 64 * KIB, 128 * KIB)]] * 3
