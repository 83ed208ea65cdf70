"""Members that fail while I/O is under way, and hot spares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ArrayFailed, ModelError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.layouts import ParityLayout, Raid10Layout, layout_for
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.mirrors.raid10 import Raid10Array
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61, Md61Raid10
from raidsim.model.raid.resync.spares import HotSpares, MemberSlot
from raidsim.model.raid.resync.thread import Resync, ResyncSettings
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder, recorders

CAPACITY = 8 * MIB
SETTINGS = ResyncSettings(1000 * KIB, 200_000 * KIB, 64 * KIB, 128 * KIB, 16, 0.5, when_busy="drain")
LEVELS = ["raid1", "raid5", "raid6", "raid10"]


class Bench:
    """Four members in slots, of 1 ms a request."""

    def __init__(self, level: str, spares: int = 1) -> None:
        self.engine = Engine()
        self.disks = recorders(self.engine, 4, CAPACITY)
        slots: list[Device] = [MemberSlot(disk) for disk in self.disks]
        self.array: Any
        if level == "raid1":
            self.array = MirrorArray(self.engine, "md0", slots, Md61(4))
        else:
            layout = layout_for(level, 4, 64 * KIB, [CAPACITY] * 4)
            if isinstance(layout, Raid10Layout):
                self.array = Raid10Array(self.engine, "md0", slots, layout, Md61Raid10(4))
            else:
                assert isinstance(layout, ParityLayout)
                self.array = ParityArray(self.engine, "md0", slots, layout, ParitySettings(heads=0))
        self.spares: list[Any] = [Recorder(self.engine, f"spare{number}", CAPACITY) for number in range(spares)]
        self.hot = HotSpares(self.engine, self.array, list(self.spares), self.rebuild)
        self.issuer = Issuer(self.engine, self.array)

    def rebuild(self, finished: Callable[[], None]) -> Resync:
        """The thread that rebuilds."""
        return Resync(self.engine, self.array, SETTINGS, warm=False, finished=finished)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("op", [READ, WRITE])
def test_nothing_under_way_is_lost(level: str, op: int) -> None:
    """Protects requests at the moment of a failure: each is complete once, reads from the others, writes without it."""
    bench = Bench(level, spares=0)
    for number in range(64):
        bench.issuer.send(op, number * 64 * KIB, 4 * KIB)
    bench.engine.run(until=0.0035)
    bench.hot.fail(1)
    at_failure = len(bench.disks[1].log)
    bench.engine.run()
    assert sorted(bench.issuer.order) == [number * 64 * KIB for number in range(64)]
    assert len(bench.disks[1].log) == at_failure


@pytest.mark.parametrize("level", LEVELS)
def test_after_a_failure_reads_come_from_the_others(level: str) -> None:
    """Protects degraded service: the failed device is not asked again, and all data can be read."""
    bench = Bench(level, spares=0)
    bench.hot.fail(0)
    for number in range(48):
        bench.issuer.read(number * 64 * KIB, 64 * KIB)
    bench.array.unplug()
    bench.engine.run()
    assert len(bench.issuer.done) == 48
    assert not bench.disks[0].log


@pytest.mark.parametrize("level", LEVELS)
def test_the_spare_is_rebuilt_and_then_read(level: str) -> None:
    """Protects the hot spare: it is written whole, is read only afterwards, and then takes part again."""
    bench = Bench(level)
    bench.hot.fail_at(0.01, 2)
    bench.engine.run()
    (rebuild,) = bench.hot.rebuilds
    (spare,) = bench.spares
    report = rebuild.report
    assert report.finished_s is not None
    assert report.started_s == 0.01
    assert report.remaining_s == 0.0
    assert report.done_bytes == report.total_bytes == bench.array.resync_bytes
    assert spare.covered(WRITE) == [(0, bench.array.resync_bytes)]
    assert not spare.sent(READ)
    assert not bench.array.failed
    for number in range(4 * 16):
        bench.issuer.read(number * 37 % 64 * 64 * KIB, 64 * KIB)
    bench.array.unplug()
    bench.engine.run()
    assert spare.sent(READ)


def test_writes_during_the_rebuild_go_to_the_spare_too() -> None:
    """Protects consistency: what is written while the rebuild runs is on the spare."""
    bench = Bench("raid1")
    bench.hot.fail(1)
    bench.engine.run(until=0.01)
    bench.issuer.write(7 * MIB, 4 * KIB, sync=True)
    bench.engine.run(until=0.1)
    assert (7 * MIB, 4 * KIB) in bench.spares[0].sent(WRITE)


def test_the_second_spare_follows_the_first() -> None:
    """Protects two failures of RAID 6: one rebuild after the other, each with its own spare."""
    bench = Bench("raid6", spares=2)
    bench.hot.fail(0)
    bench.hot.fail(3)
    assert bench.hot.left == 1
    bench.engine.run()
    assert not bench.array.failed
    first, second = bench.hot.rebuilds
    assert first.report.finished_s == second.report.started_s
    assert bench.hot.left == 0


@pytest.mark.parametrize(("level", "slots"), [("raid5", (0, 1)), ("raid6", (0, 1, 2)), ("raid1", (0, 1, 2, 3))])
def test_too_many_failures_are_refused(level: str, slots: tuple[int, ...]) -> None:
    """Protects the tolerance of each level."""
    bench = Bench(level, spares=0)
    for slot in slots[:-1]:
        bench.hot.fail(slot)
    with pytest.raises(ArrayFailed, match="data is lost"):
        bench.hot.fail(slots[-1])


def test_bad_spares_are_refused() -> None:
    """Protects the input: too small a spare, members without slots, a slot that has failed."""
    bench = Bench("raid5")
    with pytest.raises(ModelError, match="at least"):
        HotSpares(bench.engine, bench.array, [Recorder(bench.engine, "s", MIB)], bench.rebuild)
    plain = MirrorArray(bench.engine, "md1", list(bench.disks), Md61(4))
    with pytest.raises(ModelError, match="slots"):
        HotSpares(bench.engine, plain, bench.spares, bench.rebuild)
    bench.array.fail(1)
    with pytest.raises(ArrayFailed, match="again"):
        bench.array.fail(1)
