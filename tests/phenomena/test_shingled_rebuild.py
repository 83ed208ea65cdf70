"""A RAID rebuild onto a shingled drive: alone it takes its normal time, with small writes it takes many times as long.

Blocks and Files and ServeTheHome reported it of WD Red drives in 2020: arrays rejected such spares, or took days. It is
not the stream of the rebuild that is slow, but the small writes of the programs, each of which costs a band.
"""

from __future__ import annotations

from functools import cache

import pytest

from raidsim.model.core.device import Device
from raidsim.model.core.engine import Engine
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.raid.mirrors.mirror import MirrorArray
from raidsim.model.raid.read_balance import Md61
from raidsim.model.raid.resync.spares import HotSpares, MemberSlot, StartRebuild
from raidsim.model.raid.resync.thread import Resync, ResyncSettings

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SMALL = hard_disk("WD Red 6TB").with_values(capacity=4 * GIB, media_cache=GIB, media_cache_entries=500)
"""A drive of 4 GiB with the tracks of one of 6 TB, and a map that fills in ten seconds instead of in an hour."""
LONG_S = 600.0


def _rebuilder(engine: Engine, array: MirrorArray) -> StartRebuild:
    limits = ResyncSettings(1000 * KIB, 200_000 * KIB, 64 * KIB, 128 * KIB, 8, 0.5, when_busy="drain")
    return lambda finished: Resync(engine, array, limits, warm=False, finished=finished)


@cache
def rebuild_s(shingled: bool, iops: float) -> float:
    """Seconds that the rebuild of a mirror takes while random writes come; `LONG_S` if it takes longer."""
    engine = Engine(seed=1)
    spec = SMALL if shingled else SMALL.with_values(band_size=0, media_cache=0)
    disks: list[Device] = [
        HardDisk(engine, SMALL.with_values(band_size=0, media_cache=0), "sda"),
        HardDisk(engine, spec, "sdb"),
        HardDisk(engine, spec, "sdc"),
    ]
    array = MirrorArray(engine, "md0", [MemberSlot(disk) for disk in disks[:2]], Md61(2))
    hot = HotSpares(engine, array, disks[2:], _rebuilder(engine, array))
    if iops:
        OpenLoad(engine, array, size=4 * KIB, iops=iops, read_share=0.0, issuer=1)
    hot.fail_at(0.0, 1)
    while engine.now < LONG_S:
        engine.run(until=engine.now + 1.0)
        report = hot.rebuilds[0].report
        if report.finished_s is not None:
            return report.finished_s - report.started_s
    return LONG_S


def test_small_writes_stop_a_rebuild_onto_a_shingled_drive() -> None:
    """Fifty random writes a second: more than ten times as long as alone."""
    assert rebuild_s(shingled=True, iops=50.0) > 10 * rebuild_s(shingled=True, iops=0.0)


def test_without_small_writes_the_rebuild_takes_its_normal_time() -> None:
    """The counter-test of the load: a rebuild writes in order, which fills bands as fast as the media allow."""
    assert rebuild_s(shingled=True, iops=0.0) == pytest.approx(rebuild_s(shingled=False, iops=0.0), rel=0.15)


def test_without_bands_small_writes_only_slow_the_rebuild() -> None:
    """The counter-test of the bands: the same drive without shingled tracks takes a few times as long."""
    assert rebuild_s(shingled=False, iops=50.0) < 4 * rebuild_s(shingled=False, iops=0.0)
