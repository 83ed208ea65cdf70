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
        self.hot = HotSpares(self.engine, self.array, list(self.spares), self.rebuild, self.check)
        self.issuer = Issuer(self.engine, self.array)

    def rebuild(self, finished: Callable[[], None]) -> Resync:
        """The thread that rebuilds."""
        return Resync(self.engine, self.array, SETTINGS, warm=False, finished=finished)

    def check(self, finished: Callable[[], None]) -> Resync:
        """The thread that checks."""
        return Resync(self.engine, self.array, SETTINGS, warm=False, action="check", finished=finished)


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


@pytest.mark.parametrize("level", LEVELS)
def test_a_drive_that_is_inserted_later_is_rebuilt_onto(level: str) -> None:
    """Protects replacement by hand: a degraded array waits for the drive, and is whole after the rebuild."""
    bench = Bench(level, spares=0)
    bench.hot.fail(1)
    bench.engine.run()
    assert bench.array.failed == {1}
    drive = Recorder(bench.engine, "new", CAPACITY)
    bench.hot.insert(drive)
    bench.engine.run()
    assert not bench.array.failed
    assert drive.covered(WRITE) == [(0, bench.array.resync_bytes)]
    with pytest.raises(ModelError, match="at least"):
        bench.hot.insert(Recorder(bench.engine, "small", MIB))


@pytest.mark.parametrize("level", LEVELS)
def test_a_check_ends_when_a_member_fails(level: str) -> None:
    """Protects a failure during a scrub: the check stops where it is, and then the spare is rebuilt onto."""
    bench = Bench(level)
    check = bench.hot.scrub()
    with pytest.raises(ModelError, match="already"):
        bench.hot.scrub()
    bench.engine.run(until=0.02)
    bench.hot.fail(3)
    assert not bench.array.rebuilding
    bench.engine.run()
    assert 0 < check.report.done_bytes < check.total_bytes
    assert check.report.finished_s == bench.hot.rebuilds[-1].report.started_s
    assert not bench.array.failed


def test_a_check_reads_all_and_a_degraded_array_is_not_checked() -> None:
    """Protects the scrub: every byte of every member is read, and nothing is written."""
    bench = Bench("raid5")
    bench.hot.scrub()
    bench.engine.run()
    assert all(disk.covered(READ) == [(0, bench.array.resync_bytes)] for disk in bench.disks)
    assert not any(disk.sent(WRITE) for disk in bench.disks)
    bench.hot.scrub()  # once more
    bench.engine.run()
    bare = Bench("raid5", spares=0)
    bare.hot.fail(0)
    with pytest.raises(ModelError, match="degraded"):
        bare.hot.scrub()


@pytest.mark.parametrize("level", LEVELS)
def test_an_unreadable_sector_is_read_from_the_others_and_written_again(level: str) -> None:
    """Protects read errors: readers wait for the retries once, and the sector is written, read, and good again."""
    bench = Bench(level)
    for slot in range(4):
        bench.hot.spoil(slot, 0, 4 * KIB, lambda then: _after(bench.engine, 7.0, then))
    for _ in range(2):
        for number in range(16):
            bench.issuer.read(number * 64 * KIB, 4 * KIB)
    bench.array.unplug()
    bench.engine.run()
    assert len(bench.issuer.done) == 32
    # Of RAID 1 any member may serve a read; the errors that nobody has met are still there.
    met = [disk for disk in bench.disks if (0, 4 * KIB) in disk.sent(WRITE)]
    assert met
    assert max(at for at, _, _ in bench.issuer.done) > 7.0
    for disk in met:
        rewritten = disk.log.index((WRITE, 0, 4 * KIB))
        assert (READ, 0, 4 * KIB) in disk.log[rewritten:]
    left = sum(len(place.unreadable) for place in bench.array.members)
    assert left == 4 - len(met)
    began = bench.engine.now
    bench.issuer.read(0, 4 * KIB)
    bench.array.unplug()
    bench.engine.run()
    assert left or bench.engine.now - began < 1.0


def test_what_is_written_is_readable_again() -> None:
    """Protects the counter-test of a latent error: a write of the sector ends it without any retries."""
    bench = Bench("raid1")
    for slot in range(4):
        bench.hot.spoil(slot, 4 * KIB, 4 * KIB, lambda _: pytest.fail("the drive retried"))
    bench.issuer.write(0, 16 * KIB)
    bench.array.unplug()
    bench.engine.run()
    bench.issuer.read(0, 16 * KIB)
    bench.array.unplug()
    bench.engine.run()
    assert len(bench.issuer.done) == 2
    assert not any(place.unreadable for place in bench.array.members)


def test_reads_next_to_an_unreadable_sector_do_not_wait() -> None:
    """Protects the place of a latent error: reads that end where it begins, or begin where it ends, are not retried."""
    bench = Bench("raid1")
    for slot in range(4):
        bench.hot.spoil(slot, 8 * KIB, 4 * KIB, lambda _: pytest.fail("the drive retried"))
    for offset in (0, 4 * KIB, 12 * KIB, 16 * KIB):
        bench.issuer.read(offset, 4 * KIB)
    bench.array.unplug()
    bench.engine.run()
    assert len(bench.issuer.done) == 4
    assert all(len(place.unreadable) == 1 for place in bench.array.members)


def test_an_unreadable_sector_of_a_degraded_array_is_lost_data() -> None:
    """Protects from an answer that no array could give: RAID 5 without a member cannot make up for a read error."""
    bench = Bench("raid5", spares=0)
    bench.hot.spoil(0, 0, CAPACITY, lambda then: _after(bench.engine, 1.0, then))
    bench.hot.fail(1)
    for number in range(4):
        bench.issuer.read(number * 64 * KIB, 4 * KIB)
    bench.array.unplug()
    with pytest.raises(ArrayFailed, match="cannot read byte"):
        bench.engine.run()


def _after(engine: Engine, seconds: float, then: Callable[[], None]) -> None:
    engine.call_at(engine.now + seconds, lambda _: then())
