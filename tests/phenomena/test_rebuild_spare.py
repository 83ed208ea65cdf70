"""What a rebuild onto a hot spare costs the programs, what they cost it, and what a bitmap costs.

Mirrors of two drives of 5 ms a request plus 20 ns a byte (50 MB/s), one request at a time, with random 4 KiB I/O.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.core.request import DIRECT, WRITE, Request
from raidsim.model.layouts import ParityLayout, layout_for
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.raid.metadata.array_metadata import ArrayMetadata
from raidsim.model.raid.metadata.bitmap import WriteIntentBitmap
from raidsim.model.raid.mirrors.barrier import BucketBarrier
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.resync.spares import HotSpares, MemberSlot, StartRebuild
from raidsim.model.raid.resync.thread import Resync, ResyncSettings
from raidsim.model.raid.stripes.settings import ParitySettings

KIB, MIB = 1 << 10, 1 << 20
CAPACITY = 24 * MIB
SATURATING = -1.0
"""A load of four random reads outstanding, as fast as they are served."""
DRIVE = linear_service(0.005, 20e-9)


def _rebuilder(engine: Engine, array: MirrorArray | ParityArray, limits: ResyncSettings) -> StartRebuild:
    return lambda finished: Resync(engine, array, limits, warm=False, finished=finished)


class Outcome(NamedTuple):
    """Seconds until the spare is whole (0: nothing failed), and reads a second during the first second."""

    rebuild_s: float
    iops: float


@cache
def outcome(iops: float, fails: bool, speed_max: int = 200_000, parity: bool = False, spares: int = 1) -> Outcome:
    """An array of which a member fails at the start, while `iops` random reads a second come."""
    engine = Engine()
    count = 4 if parity else 2
    disks = [FixedServiceDevice(engine, f"d{slot}", CAPACITY, DRIVE) for slot in range(count + 1)]
    slots = [MemberSlot(disk) for disk in disks[:count]]
    array: MirrorArray | ParityArray
    if parity:
        layout = layout_for("raid5", count, 64 * KIB, [CAPACITY] * count)
        assert isinstance(layout, ParityLayout)
        array = ParityArray(engine, "md0", slots, layout, ParitySettings(heads=0))
    else:
        array = MirrorArray(engine, "md0", slots, Md61(count))
    limits = ResyncSettings(1000 * KIB, speed_max * KIB, 64 * KIB, 128 * KIB, 8, 0.5, when_busy="drain")
    hot = HotSpares(engine, array, list[Device](disks[count : count + spares]), _rebuilder(engine, array, limits))
    load: OpenLoad | ClosedLoad | None = None
    if iops == SATURATING:
        load = ClosedLoad(engine, array, size=4 * KIB, depth=4, issuer=1)
    elif iops:
        load = OpenLoad(engine, array, size=4 * KIB, iops=iops, issuer=1)
    if fails:
        hot.fail_at(0.0, 1)
    engine.run(until=1.0)
    served = load.reads if load is not None else 0
    if load is not None and not (fails and spares):
        load.stop()
    if not (fails and spares):
        return Outcome(0.0, served)
    while hot.rebuilds[0].report.finished_s is None:
        engine.run(until=engine.now + 1.0)
    report = hot.rebuilds[0].report
    assert report.finished_s is not None
    return Outcome(report.finished_s - report.started_s, served)


@pytest.mark.parametrize("parity", [False, True])
def test_a_rebuild_takes_longer_under_load(parity: bool) -> None:
    """Protects the phenomenon: the more the programs read, the longer the rebuild."""
    quiet, some, much = (outcome(iops, True, parity=parity).rebuild_s for iops in (0.0, 40.0, 80.0))
    assert quiet < 0.9 * some
    assert some < 0.9 * much


def test_a_rebuild_costs_the_programs() -> None:
    """Protects the other side: what a degraded RAID 5 serves without a rebuild it does not serve with one."""
    degraded = outcome(SATURATING, True, parity=True, spares=0).iops
    assert outcome(SATURATING, True, parity=True).iops < 0.85 * degraded


def test_without_a_failure_nothing_is_lost() -> None:
    """Counter-test: the same load on the whole array is served the same with a spare beside it and without one."""
    whole = outcome(SATURATING, False, parity=True).iops
    assert whole == outcome(SATURATING, False, parity=True, spares=0).iops
    assert whole > outcome(SATURATING, True, parity=True, spares=0).iops


def test_a_maximum_bounds_the_rebuild_and_spares_the_programs() -> None:
    """Protects sync_speed_max: held within 20 %, and the programs get back what the rebuild leaves."""
    free = outcome(SATURATING, True, parity=True)
    limited = outcome(SATURATING, True, speed_max=1000, parity=True)
    alone = outcome(0.0, True, speed_max=2000)
    assert CAPACITY / alone.rebuild_s == pytest.approx(2000 * KIB, rel=0.2)
    assert limited.rebuild_s > 1.5 * free.rebuild_s
    assert limited.iops > 1.1 * free.iops


def small_writes(bitmap: bool, rounds: int) -> list[float]:
    """Mean latency (s) of each round of 64 writes, one at a time, to as many bitmap chunks of a mirror."""
    engine = Engine()
    disks = [FixedServiceDevice(engine, f"d{slot}", CAPACITY, DRIVE) for slot in range(2)]
    array = MirrorArray(engine, "md0", disks, Md61(2))
    marks = WriteIntentBitmap(engine, array, 256 * KIB) if bitmap else None
    array.keep_metadata(ArrayMetadata(engine, array, marks, 0.0))
    done: list[float] = []
    means = []
    for _ in range(rounds):
        began = engine.now
        for chunk in range(64):
            count = len(done)
            array.submit(Request(WRITE, chunk * 256 * KIB, 4096, lambda _: done.append(engine.now), 1, DIRECT))
            while len(done) == count:
                engine.step()
        means.append((engine.now - began) / 64)
    return means


def test_a_bitmap_costs_the_first_touch_only() -> None:
    """Protects the write-intent bitmap: a write to a clean chunk takes two writes' time, the next one does not."""
    first, second = small_writes(True, 2)
    assert first == pytest.approx(2 * second, rel=0.05)


def test_without_a_bitmap_the_first_touch_is_free() -> None:
    """Counter-test: but for marking the array dirty, the first round is as fast as the second."""
    first, second = small_writes(False, 2)
    assert first == pytest.approx(second, rel=0.02)


def test_a_busy_mirror_rebuilds_far_above_its_minimum() -> None:
    """Protects rule 9 of the driver: under one random reader sync_speed_min is not what the rebuild falls to."""
    engine = Engine()
    disks = [FixedServiceDevice(engine, f"d{slot}", 8 * CAPACITY, DRIVE) for slot in range(3)]
    array = MirrorArray(engine, "md0", [MemberSlot(disk) for disk in disks[:2]], Md61(2), barrier=BucketBarrier)
    limits = ResyncSettings(100 * KIB, 200_000 * KIB, 64 * KIB, 128 * KIB, 8, 0.5, when_busy="drain")
    hot = HotSpares(engine, array, list[Device](disks[2:]), _rebuilder(engine, array, limits))
    hot.fail_at(0.0, 0)
    ClosedLoad(engine, array, size=4 * KIB, issuer=1, start=6 * CAPACITY)  # not in the first 64 MiB
    engine.run(until=2.0)
    assert hot.rebuilds[0].report.average_rate > 10 * limits.speed_min
