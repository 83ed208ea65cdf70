"""Durable writes of fio: what a new file costs at a sync, and which direct writes carry FUA."""

from __future__ import annotations

import pytest

from raidsim.scenarios.fio.result import LatencySeries

from .fio_runs import only

FLASH = """
name: flash
machine: {model: nvme-server, drives: {model: Samsung-980-PRO-1TB, count: 1, overrides: {fua_time: 4ms}}}
kernel: KERNEL
file_systems: {/data: {kind: KIND, on: disk0}}
workload: {kind: programs, steps: [{program: dd, size: 1MiB}]}
"""
DISK = FLASH.replace("nvme-server", "nas").replace("Samsung-980-PRO-1TB", "WD-Red-8TB")
DISK = DISK.replace("fua_time: 4ms", "heads: 12")
ETCD = "[a] filename=/data/f rw=write bs=2300 size=1m ioengine=sync fdatasync=1 number_ios=200 "


def _synced(job: str, on: str, kernel: str = "linux-6.1", kind: str = "ext4") -> LatencySeries:
    return only(job, on.replace("KERNEL", kernel).replace("KIND", kind)).sync


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_the_first_sync_of_a_block_takes_a_commit(kind: str) -> None:
    """Writes of 2,300 bytes begin a new block in 56 % of all cases: these syncs take a commit and the others a flush.

    Measured on an 870 EVO: 0.73 to 0.85 ms of 44 %, 1.65 to 1.86 of the others. Counter-test: not if the file had been
    written before.
    """
    new, before = _synced(ETCD, FLASH, kind=kind), _synced(ETCD + "overwrite=1", FLASH, kind=kind)
    assert new.percentile_ns(90) > 1.8 * new.percentile_ns(30)
    assert before.percentile_ns(90) < 1.2 * before.percentile_ns(30)
    assert before.percentile_ns(30) == pytest.approx(new.percentile_ns(30), rel=0.1)


def test_a_disk_turns_four_times_for_a_commit() -> None:
    """45 ms (5,400 rpm) and 34 ms (7,200 rpm) were measured, four turns.

    Counter-test: one or two turns if it was written before.
    """
    turn_s = 60 / 5400
    new, before = _synced(ETCD, DISK), _synced(ETCD + "overwrite=1", DISK)
    assert 3 * turn_s < 1e-9 * new.percentile_ns(60) < 6 * turn_s
    assert 1e-9 * before.percentile_ns(60) < 2.1 * turn_s


@pytest.mark.parametrize(
    ("kind", "kernel", "fua"),
    [("xfs-v5", "linux-4.18", True), ("ext4", "linux-5.4", False), ("ext4", "linux-5.10", True)],
)
def test_direct_writes_of_o_dsync_carry_fua_where_the_kernel_sends_it(kind: str, kernel: str, fua: bool) -> None:
    """XFS since Linux 4.18, ext4 since 5.5. Counter-tests: earlier ext4 flushes, and so does every fdatasync."""
    job = "[a] filename=/data/f rw=write bs=4k size=1m direct=1 ioengine=psync number_ios=50 overwrite=1 "
    text = FLASH.replace("KERNEL", kernel).replace("KIND", kind)
    through = only(job + "sync=dsync", text).write.clat.mean
    flushed = only(job + "fdatasync=1", text)
    assert (through > 4e-3) == fua
    assert flushed.sync.mean < 3e-3


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_direct_writes_of_o_sync_commit_the_times_of_the_file(kind: str) -> None:
    """Measured with pg_test_fsync on five drives: O_SYNC takes as long as fsync, and O_DSYNC as fdatasync.

    Counter-tests: O_DSYNC and fdatasync commit no times, and a file on a device has none.
    """
    text = FLASH.replace("KERNEL", "linux-3.10").replace("KIND", kind)
    job = "[a] filename=FILE rw=write bs=8k size=1m ioengine=psync number_ios=60 overwrite=1 "
    on_file, on_device = job.replace("FILE", "/data/f"), job.replace("FILE", "/dev/disk0") + "direct=1 "
    fsync, fdatasync = (only(on_file + sync, text).sync.mean for sync in ("fsync=1", "fdatasync=1"))
    o_sync, o_dsync = (only(f"{on_file}direct=1 sync={how}", text).write.clat.mean for how in ("sync", "dsync"))
    direct = only(on_file + "direct=1 fsync=1", text).sync.mean
    assert fsync > 2 * fdatasync
    assert o_sync == pytest.approx(fsync, rel=0.15)
    assert direct == pytest.approx(fsync, rel=0.15)
    assert o_dsync == pytest.approx(fdatasync, rel=0.15)
    assert only(on_device + "sync=sync", text).write.clat.mean == pytest.approx(o_dsync, rel=0.05)
