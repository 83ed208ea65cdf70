"""How busy a disk is: what its mechanics do for commands and caches, whatever the host sees of it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import hard_disk

SATA = hard_disk("Exos-X18-16TB")
PATA = hard_disk("WD2500JB")
THROUGH = SATA.with_values(write_cache=False)
SIZE = 4096
TURN_S = 60 / 7200


def _random_offset(rng: random.Random, disk: HardDisk) -> int:
    return rng.randrange(disk.capacity // SIZE) * SIZE


def _open_load(spec: DriveSpec, op: int, rate: float, seconds: float) -> HardDisk:
    """A disk that random I/Os have reached at a constant rate for `seconds`, after as long a warm-up."""
    engine, rng = Engine(3), random.Random(7)
    disk = HardDisk(engine, spec, "disk")
    times = (number / rate for number in range(int(2 * seconds * rate)))

    def issue(_: object = None) -> None:
        disk.submit(Request(op, _random_offset(rng, disk), SIZE, lambda _: None))
        at = next(times, None)
        if at is not None:
            engine.call_at(max(at, engine.now), issue)

    issue()
    engine.call_at(seconds, lambda _: disk.start_statistics(engine.now))
    engine.run(2 * seconds)
    return disk


def _closed_load(spec: DriveSpec, op: int, outstanding: int, warm_up: float, seconds: float) -> HardDisk:
    """A disk that has had some random I/Os outstanding."""
    engine, rng = Engine(3), random.Random(7)
    disk = HardDisk(engine, spec, "disk")

    def issue(_: object = None) -> None:
        disk.submit(Request(op, _random_offset(rng, disk), SIZE, issue))

    for _ in range(outstanding):
        issue()
    engine.call_at(warm_up, lambda _: disk.start_statistics(engine.now))
    engine.run(warm_up + seconds)
    return disk


def test_reads_make_a_disk_busy_for_their_mechanics() -> None:
    """Protects the utilization law: busy is the rate times the mean seek, half a turn and the transfer."""
    disk = _open_load(SATA, READ, 20.0, 50.0)
    each = SATA.read_overhead + SIZE / SATA.interface_rate
    assert disk.mechanics_s / disk.reads == pytest.approx(disk.latency_s / disk.reads - each, rel=0.003)
    assert disk.working_s / 50.0 == pytest.approx(20.0 * (SATA.seek_average + TURN_S / 2), rel=0.05)


def test_uncached_writes_settle_besides() -> None:
    """Protects the law for writes without the cache."""
    disk = _open_load(THROUGH, WRITE, 20.0, 50.0)
    expected = SATA.seek_average + SATA.write_settle + TURN_S / 2
    assert disk.mechanics_s / disk.writes == pytest.approx(expected, rel=0.05)


def test_cached_writes_make_a_disk_busy_though_the_host_sees_nothing() -> None:
    """Protects the bottleneck and the power of a disk that destages all day: 1 % to the host, a third to the arm."""
    cached, through = _open_load(SATA, WRITE, 20.0, 50.0), _open_load(THROUGH, WRITE, 20.0, 50.0)
    assert cached.inside_s / 50.0 < 0.01
    assert cached.working_s == pytest.approx(through.working_s, rel=0.1)
    # The counter-test: without the cache both views agree.
    assert through.inside_s == pytest.approx(through.working_s, rel=0.05)


@pytest.mark.parametrize("spec", [SATA, THROUGH, PATA, PATA.with_values(write_cache=False)])
def test_a_disk_at_its_write_ceiling_is_busy(spec: DriveSpec) -> None:
    """Protects "saturated": a disk that takes no more writes has its arm at work for at least 90 % of the time."""
    disk = _closed_load(spec, WRITE, 32, 20.0, 5.0)
    assert 0.9 < disk.working_s / 5.0 < 1.001


def test_a_disk_that_serves_its_buffer_rests_its_arm() -> None:
    """The counter-test: commands inside all the time, and the mechanics at rest, as all are hits."""
    engine = Engine(1)
    disk = HardDisk(engine, SATA, "disk")

    def again(_: object = None) -> None:
        disk.submit(Request(READ, 0, SIZE, again))

    again()
    engine.call_at(1.0, lambda _: disk.start_statistics(engine.now))
    engine.run(2.0)
    assert disk.inside_s == pytest.approx(1.0, rel=1e-3)
    assert disk.mechanics_s < 0.01


def test_look_ahead_is_work_once_it_is_asked_for() -> None:
    """Protects power and bottleneck of paced readers: half the media rate takes half of the arm's time."""

    def paced(step: int) -> float:
        engine = Engine(1)
        disk = HardDisk(engine, SATA, "disk")
        rate = disk.media.geometry.media_rate(0)

        def read(number: int) -> None:
            disk.submit(Request(READ, number * step, 64 * 1024, lambda _: None))
            engine.call_at((number + 1) * 2 * 64 * 1024 / rate, lambda _: read(number + 1))

        read(0)
        engine.run(2.0)
        return disk.mechanics_s / 2.0

    assert paced(64 * 1024) == pytest.approx(0.5, abs=0.03)
    # With gaps of the same size the head passes over them too.
    assert paced(128 * 1024) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("ends", ["end", "restart"])
def test_a_long_piece_of_work_counts_where_it_lies(ends: str) -> None:
    """Protects short windows: a flush that is worked out in advance counts in the window in which the arm does it."""
    engine, rng = Engine(1), random.Random(5)
    disk = HardDisk(engine, SATA, "disk")
    for _ in range(60):
        disk.submit(Request(WRITE, _random_offset(rng, disk), SIZE, lambda _: None))
    flushed: list[float] = []
    engine.call_at(0.001, lambda _: disk.flush(lambda: flushed.append(engine.now)))
    engine.run(0.1)
    if ends == "restart":
        disk.start_statistics(engine.now)
    assert not flushed
    worked: Callable[[], float] = lambda: disk.mechanics_s  # noqa: E731
    assert worked() == pytest.approx(0.1 if ends == "end" else 0.0, abs=0.005)
    engine.run(0.2)
    assert worked() == pytest.approx(0.2 if ends == "end" else 0.1, abs=0.005)
