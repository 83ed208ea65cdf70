"""Who waits for whom while an array is resynced: 1 ms a member request, one at a time."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.raid.mirrors.barrier import AlternatingBarrier, BucketBarrier, ResyncBarrier
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import PrimaryOnly
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder

PIECE = 4 * KIB


class Bench:
    """A mirror with its second member being rebuilt; members serve any number of requests at once."""

    def __init__(self, barrier: type[ResyncBarrier], depth: int = 32, per_byte_s: float = 0.0) -> None:
        self.engine = Engine()
        self.disks = [
            Recorder(self.engine, f"d{slot}", 256 * MIB, servers=100, per_byte_s=per_byte_s) for slot in range(2)
        ]
        self.array = MirrorArray(self.engine, "md0", self.disks, PrimaryOnly(2), None, [1], depth, barrier)
        self.array.rebuild_onto(1)
        self.issuer = Issuer(self.engine, self.array)
        self.resynced: list[float] = []

    def resync(self, offset: int, size: int = PIECE) -> None:
        """Ask for a range to be resynced now: 2 ms, a read and a write."""
        self.array.resync(offset, size, lambda: self.resynced.append(self.engine.now))

    def done_ms(self) -> list[float]:
        """Run to the end; when the normal requests were complete (ms)."""
        self.engine.run()
        return [now * 1000 for now, _, _ in self.issuer.done]


def test_2_6_keeps_everything_out() -> None:
    """Protects the barrier of 2.6: writes anywhere wait for a resync request, which begins when none is under way."""
    bench = Bench(AlternatingBarrier)
    bench.resync(64 * MIB)
    for offset in (MIB, 128 * MIB, 64 * MIB):
        bench.issuer.write(offset, PIECE)
    assert bench.done_ms() == pytest.approx([3.0, 3.0, 3.0])


def test_6_1_keeps_out_writes_to_the_same_64_mib() -> None:
    """Protects the buckets: a write into the 64 MiB being resynced waits, one elsewhere does not; a read never does."""
    bench = Bench(BucketBarrier)
    bench.resync(0)
    bench.issuer.write(32 * MIB, PIECE)
    bench.issuer.write(64 * MIB, PIECE)
    bench.issuer.read(32 * MIB, PIECE)
    assert bench.done_ms() == pytest.approx([1.0, 1.0, 3.0])


def test_6_1_resync_waits_for_what_is_under_way_in_its_bucket() -> None:
    """Protects the other direction: a resync waits for a read in its own 64 MiB and not for one in the next."""
    for offset, over in ((32 * MIB, 0.003), (64 * MIB, 0.002)):
        bench = Bench(BucketBarrier)
        bench.issuer.read(offset, PIECE)
        bench.resync(0)
        bench.engine.run()
        assert bench.resynced == pytest.approx([over])


def test_6_1_resync_sleeps_a_tick_while_a_write_waits() -> None:
    """Protects the politeness: with a write waiting, the next resync request comes 4 ms later; without one at once."""
    for writes, second in ((0, 0.003), (1, 0.007)):
        bench = Bench(BucketBarrier)
        bench.resync(0)
        bench.engine.run(until=0.001)
        if writes:
            bench.issuer.write(MIB, PIECE)
        bench.resync(PIECE)
        bench.engine.run()
        assert bench.resynced == pytest.approx([0.002, second])


def test_6_1_limits_what_is_under_way() -> None:
    """Protects the depth: with 2 requests at most the third starts when one is over."""
    bench = Bench(BucketBarrier, depth=2)
    for number in range(3):
        bench.resync(number * PIECE)
    bench.engine.run()
    assert bench.resynced == pytest.approx([0.002, 0.002, 0.004])
