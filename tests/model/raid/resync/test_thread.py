"""The resync thread against an array that moves a known number of bytes a second, one request at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, pairwise

import pytest

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import Request
from raidsim.model.raid.base.array_load import ArrayLoad
from raidsim.model.raid.base.submitter import Submitter
from raidsim.model.raid.resync.thread import Resync, ResyncSettings

KIB = 1024
MB = 1_000_000
ARRAY_SPEED = 50 * MB
REQUEST = 64 * KIB


class Member(Device):
    """A member that has completed other I/O at a given rate."""

    def __init__(self, engine: Engine, load: float) -> None:
        self.name, self.capacity = "d0", 1 << 50
        self.engine = engine
        self.load = load

    @property
    def foreground_bytes(self) -> int:
        return int(self.load * self.engine.now)

    def submit(self, request: Request) -> None:
        raise AssertionError(request)


class Copier:
    """An array of 50 MB/s with a foreground load of a given rate."""

    def __init__(self, engine: Engine, size: int, load: float = 0.0) -> None:
        self.engine = engine
        self.resync_bytes = self.check_bytes = self.reshape_bytes = size
        self.rebuilding: frozenset[int] = frozenset({1})
        self.members: list[Device] = [Member(engine, load)]
        self.resync_thread: Submitter | None = None
        self.daemon_resync_bytes = [0]
        self.resync_under_way = [0]
        self.own_load = ArrayLoad()
        self.load = load
        self.free_at = 0.0
        self.under_way = 0
        self.most = 0
        self.copied = 0
        self.rebuilt_at: list[tuple[int, float]] = []

    @property
    def foreground_bytes(self) -> int:
        return int(self.load * self.engine.now)

    def reshape(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """As a resync."""
        self.resync(offset, size, done)

    def resync(self, offset: int, size: int, done: Callable[[], None]) -> None:
        assert offset == self.copied + self.under_way_bytes()
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.free_at = max(self.free_at, self.engine.now) + size / ARRAY_SPEED

        def over(_: object) -> None:
            self.under_way -= 1
            self.copied += size
            done()

        self.engine.call_at(self.free_at, over)

    def watch_load(self) -> ArrayLoad:
        return self.own_load

    check = synchronise = resync
    daemon_submits = False

    def under_way_bytes(self) -> int:
        return self.under_way * REQUEST

    def rebuilt(self, slot: int) -> None:
        assert not self.under_way
        self.rebuilt_at.append((slot, self.engine.now))


def settings(speed_min: float, speed_max: float, sees_load: bool = True, depth: int = 4) -> ResyncSettings:
    """A thread that looks every 128 KiB and naps for a quarter of a second."""
    return ResyncSettings(speed_min, speed_max, REQUEST, 2 * REQUEST, depth, 0.25, sees_load)


def pauses(engine: Engine, array: Copier, seconds: float, grain_s: float = 0.05) -> int:
    """Run up to a time (s); in how many grains of it nothing was copied."""
    moved = [array.copied]
    while engine.now < seconds - grain_s / 2:
        engine.run(until=min(seconds, engine.now + grain_s))
        moved.append(array.copied)
    return sum(before == after for before, after in pairwise(moved))


def speed(limits: ResyncSettings, load: float = 0.0, warm: bool = True, seconds: float = 120.0) -> tuple[float, int]:
    """Bytes per second over a run that does not end, and how often it did nothing for a while."""
    engine = Engine()
    array = Copier(engine, 1 << 50, load)
    resync = Resync(engine, array, limits, warm=warm)
    engine.spawn(resync.run())
    still = pauses(engine, array, seconds)
    assert resync.done_bytes == array.copied
    return array.copied / seconds, still


def test_an_idle_array_runs_up_to_its_own_speed() -> None:
    """Protects a rebuild on an idle array: without load and with a maximum out of reach it never naps."""
    reached, naps = speed(settings(1 * MB, 200 * MB))
    assert reached == pytest.approx(ARRAY_SPEED, rel=0.01)
    assert naps == 0


@pytest.mark.parametrize("limit", [2 * MB, 10 * MB, 30 * MB])
@pytest.mark.parametrize("warm", [True, False])
def test_the_maximum_holds(limit: int, warm: bool) -> None:
    """Protects speed_limit_max: held within 20 %, from a fresh start and in the middle of a long rebuild."""
    reached, naps = speed(settings(1 * MB, limit), warm=warm)
    assert reached == pytest.approx(limit, rel=0.2)
    assert naps > 0


@pytest.mark.parametrize("limit", [1 * MB, 5 * MB])
def test_the_minimum_holds_under_load(limit: int) -> None:
    """Protects speed_limit_min: with other I/O the thread is held down to it, and is not held further."""
    reached, naps = speed(settings(limit, 200 * MB), load=10 * MB)
    assert reached == pytest.approx(limit, rel=0.2)
    assert naps > 0


def test_little_load_is_no_load() -> None:
    """Protects idleness as md sees it: 32 sectors since it was last found busy do not make an array busy."""
    idle, _ = speed(settings(1 * MB, 200 * MB), load=100.0, seconds=60.0)
    assert idle == pytest.approx(ARRAY_SPEED, rel=0.02), "6 KB in a minute"


def test_unseen_disks_make_it_rude() -> None:
    """Protects the 2.4 oddity: on majors without statistics the same load holds nothing back, only the maximum does."""
    reached, naps = speed(settings(1 * MB, 200 * MB, sees_load=False), load=10 * MB)
    assert reached == pytest.approx(ARRAY_SPEED, rel=0.01)
    assert naps == 0
    limited, _ = speed(settings(1 * MB, 10 * MB, sees_load=False), load=10 * MB)
    assert limited == pytest.approx(10 * MB, rel=0.2)


def test_a_nap_is_a_quarter_of_a_second() -> None:
    """Protects the grain of politeness: a thread over its speed does nothing for 250 ms, and then looks again."""
    engine = Engine()
    array = Copier(engine, 1 << 40, load=10 * MB)
    resync = Resync(engine, array, settings(1 * MB, 200 * MB))
    engine.spawn(resync.run())
    moved = []
    for _ in range(2000):
        engine.run(until=engine.now + 0.01)
        moved.append(array.copied)
    still = [before == after for before, after in pairwise(moved)]
    naps = [0.01 * len(list(run)) for same, run in groupby(still) if same]
    assert sum(still) >= 0.5 * len(still)
    assert len(naps) > 10
    short_of_whole = [round(nap / 0.25) * 0.25 - nap for nap in naps[:-1]]
    assert all(0 < short < 0.025 for short in short_of_whole), "whole naps, but for the looks in which it copied"


@pytest.mark.parametrize("depth", [1, 4])
def test_no_more_than_its_depth_is_under_way(depth: int) -> None:
    """Protects the depth of the resync's own queue."""
    engine = Engine()
    array = Copier(engine, 100 * REQUEST)
    engine.spawn(Resync(engine, array, settings(1 * MB, 200 * MB, depth=depth)).run())
    engine.run()
    assert array.most == depth


def test_it_ends_with_a_whole_array() -> None:
    """Protects the end: the odd last piece is copied and counted, and then, not before, the member is whole."""
    engine = Engine()
    array = Copier(engine, 10 * REQUEST + 4 * KIB)
    resync = Resync(engine, array, settings(1 * MB, 200 * MB))
    engine.spawn(resync.run())
    engine.run()
    assert array.copied == resync.done_bytes == 10 * REQUEST + 4 * KIB
    ((slot, at),) = array.rebuilt_at
    assert slot == 1
    assert at == pytest.approx((10 * REQUEST + 4 * KIB) / ARRAY_SPEED)


def test_it_starts_where_the_rebuild_stands() -> None:
    """Protects runs in the middle of a rebuild: of ten requests four are done already."""
    engine = Engine()
    array = Copier(engine, 10 * REQUEST)
    array.copied = 4 * REQUEST
    engine.spawn(Resync(engine, array, settings(1 * MB, 200 * MB), start=4 * REQUEST).run())
    engine.run()
    assert array.copied == 10 * REQUEST
    assert engine.now == pytest.approx(6 * REQUEST / ARRAY_SPEED)


def drained(speed_min: float, speed_max: float) -> ResyncSettings:
    """A thread of Linux 6.1: it waits for its own I/O while the array is busy."""
    return ResyncSettings(speed_min, speed_max, REQUEST, 2 * REQUEST, 8, 0.5, when_busy="drain")


@pytest.mark.parametrize(("rate", "polite"), [(0.0, False), (10 * MB, True)])
def test_61_drains_under_load_and_does_not_fall_to_its_minimum(rate: float, polite: bool) -> None:
    """Protects the politeness of today: with load it drains at every look, yet stays far above the minimum."""
    engine = Engine()
    array = Copier(engine, 1 << 50, rate)
    resync = Resync(engine, array, drained(1 * MB, 200 * MB), warm=False)
    engine.spawn(resync.run())
    still = pauses(engine, array, 20.0)
    assert (resync.drains > 100) == polite
    assert still == 0
    assert resync.report.average_rate > 0.9 * ARRAY_SPEED, "the copier loses nothing by being drained"


def test_61_below_its_minimum_does_not_look_at_the_load() -> None:
    """Counter-test: with the minimum out of reach it never drains."""
    engine = Engine()
    array = Copier(engine, 1 << 50, 10 * MB)
    resync = Resync(engine, array, drained(100 * MB, 200 * MB), warm=False)
    engine.spawn(resync.run())
    engine.run(until=5.0)
    assert resync.drains == 0


@pytest.mark.parametrize("limit", [2 * MB, 20 * MB])
def test_61_keeps_to_its_maximum(limit: int) -> None:
    """Protects speed_limit_max of today: naps of half a second, held within 20 %."""
    engine = Engine()
    array = Copier(engine, 1 << 50)
    resync = Resync(engine, array, drained(1 * MB, limit), warm=False)
    engine.spawn(resync.run())
    still = pauses(engine, array, 30.0)
    assert array.copied / 30.0 == pytest.approx(limit, rel=0.2)
    assert still > 10 * 8, "ten naps of half a second"


def test_the_report_foretells_the_end() -> None:
    """Protects the estimate: of a rebuild seen in part, the rest at the current rate ends when it really does."""
    engine = Engine()
    array = Copier(engine, 10_000 * REQUEST)
    resync = Resync(engine, array, drained(1 * MB, 200 * MB), warm=False)
    engine.spawn(resync.run())
    engine.run(until=4.0)
    seen = resync.report
    assert seen.finished_s is None
    assert seen.remaining_s is not None
    assert seen.current_rate == pytest.approx(ARRAY_SPEED, rel=0.05)
    engine.run()
    end = resync.report
    assert end.finished_s == pytest.approx(4.0 + seen.remaining_s, rel=0.05)
    assert end.average_rate == pytest.approx(ARRAY_SPEED, rel=0.01)


def test_a_thread_that_took_the_last_stripe_waits_for_a_quarter() -> None:
    """Protects the stripe cache: after 8 requests it goes on when 6 are left, and a tick later."""
    engine = Engine()
    array = Copier(engine, 64 * REQUEST)
    settings_61 = ResyncSettings(1 * MB, 1e12, REQUEST, 2 * REQUEST, 8, 0.5, resume_depth=6, resume_delay_s=0.004)
    resync = Resync(engine, array, settings_61, warm=False)
    engine.spawn(resync.run())
    engine.run(until=2 * REQUEST / ARRAY_SPEED + 0.0035)
    assert resync.position == 8 * REQUEST
    engine.run(until=2 * REQUEST / ARRAY_SPEED + 0.0045)
    assert resync.position > 8 * REQUEST
    engine.run()
    assert array.copied == 64 * REQUEST


def test_a_check_rebuilds_nothing() -> None:
    """Protects the actions: a check reads to the end and declares no member rebuilt; a recover needs one to rebuild."""
    engine = Engine()
    array = Copier(engine, 10 * REQUEST)
    ended: list[float] = []
    resync = Resync(engine, array, drained(1 * MB, 200 * MB), action="check", finished=lambda: ended.append(engine.now))
    engine.spawn(resync.run())
    engine.run()
    assert ended == [resync.report.finished_s]
    assert not array.rebuilt_at
    array.rebuilding = frozenset()
    with pytest.raises(ModelError, match="rebuilt"):
        Resync(engine, array, drained(1 * MB, 200 * MB))
