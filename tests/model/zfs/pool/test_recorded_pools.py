"""Tests of pools against recorded requests and rates of OpenZFS 2.3.2 (members of a known service time)."""

from __future__ import annotations

from functools import partial

import pytest

from raidsim.model.core.request import READ, WRITE, WRITE_THROUGH, Request
from raidsim.model.zfs.map.pool import LOG, NORMAL
from raidsim.model.zfs.pool.settings import DatasetSettings, DirtySettings, PoolSettings
from raidsim.tests.model.zfs.pool.lab import KIB, MIB, MIRROR, RAIDZ1, Lab

RECORD = DatasetSettings("file", 16 * MIB, 128 * KIB, primarycache="metadata")
OVERWRITES = [
    # pool, record, size of the file, size of the writes, offsets, bytes written per member at the sync that follows
    (RAIDZ1, 128 * KIB, 16 * MIB, 4 * KIB, 12, (2736 * KIB) // 4),
    (RAIDZ1, 1 * MIB, 24 * MIB, 1 * MIB, 6, (8832 * KIB) // 4),
    (MIRROR, 128 * KIB, 16 * MIB, 128 * KIB, 12, 457 * 4 * KIB + 16 * KIB),
]


def _send(lab: Lab, request: Request, _: object) -> None:
    lab.data.submit(request)


def test_small_reads_read_whole_records() -> None:
    """4 KiB reads of 128 KiB records by one, 8 and 32 threads, in this order: within 20 % of the recorded rates.

    Though the dataset keeps metadata only, ever more records stay in memory, as their beginning was read.
    """
    lab = Lab(MIRROR, [RECORD], hard_disks=True)
    found = [lab.threads(READ, threads, 4 * KIB, 1.5) for threads in (1, 8, 32)]
    assert found == pytest.approx([126.2, 250.0, 406.7], rel=0.2)
    assert Lab(MIRROR, [RECORD], hard_disks=True).threads(READ, 32, 4 * KIB, 1.5) < 0.85 * found[-1]


def test_commits_of_several_processes_share_log_blocks() -> None:
    """Commits 20 us after each other share blocks, each flushed once; those 20 ms apart have one each."""
    flushes = []
    for apart_s in (20e-6, 20e-3):
        lab = Lab((*RAIDZ1, ("stripe", 1, LOG)), [DatasetSettings("file", 16 * MIB, 4 * KIB)], hard_disks=True)
        for _ in range(3):
            lab.request(WRITE, 0, 4 * KIB, WRITE_THROUGH)
        lab.forget()
        for number in range(16):
            request = Request(WRITE, number * 4 * KIB, 4 * KIB, lambda _: None, 1, WRITE_THROUGH)
            lab.engine.call_at(lab.engine.now + number * apart_s, partial(_send, lab, request))
        lab.engine.run(until=lab.engine.now + 1.0)
        flushes.append(lab.members[-1].flushes)
    assert flushes == [9, 16]


def test_reads_of_small_records() -> None:
    """With records as large as the reads the rate doubles, as recorded."""
    data = DatasetSettings("file", 8 * MIB, 16 * KIB, primarycache="metadata")
    assert Lab(MIRROR, [data], hard_disks=True).threads(READ, 8, 16 * KIB, 1.5) == pytest.approx(503.6, rel=0.2)


@pytest.mark.parametrize(
    ("log", "threads", "recorded"), [(False, 1, 67.9), (False, 8, 171.7), (True, 1, 83.6), (True, 8, 176.8)]
)
def test_synchronous_writes(log: bool, threads: int, recorded: float) -> None:
    """4 KiB writes with O_DSYNC into cold records, without and with a log device: within 20 % of the recorded rates."""
    vdevs = (*RAIDZ1, ("stripe", 1, LOG)) if log else MIRROR
    lab = Lab(vdevs, [RECORD], hard_disks=True)
    lab.engine.run(until=1.0)
    lab.threads(WRITE, 1, 4 * KIB, 1.5, WRITE_THROUGH)
    found = lab.threads(WRITE, threads, 4 * KIB, 1.5, WRITE_THROUGH)
    if threads == 1:
        lab = Lab(vdevs, [RECORD], hard_disks=True)
        lab.engine.run(until=1.0)
        found = lab.threads(WRITE, 1, 4 * KIB, 1.5, WRITE_THROUGH)
    assert found == pytest.approx(recorded, rel=0.2)


@pytest.mark.parametrize(("vdevs", "record", "size", "write", "count", "recorded"), OVERWRITES)
def test_bytes_of_a_transaction_group(
    vdevs: tuple[tuple[str, int, str], ...], record: int, size: int, write: int, count: int, recorded: int
) -> None:
    """Overwritten records are written whole, with their metadata: within 3 % of the recorded bytes of each member."""
    lab = Lab(vdevs, [DatasetSettings("file", size, record)])
    for number in range(count):
        lab.request(WRITE, number * record, write)
    lab.forget()
    lab.sync()
    assert sum(lab.moved(WRITE)) / len(lab.members) == pytest.approx(recorded, rel=0.03)
    assert [member.flushes for member in lab.members] == [2] * len(lab.members)


def test_writers_are_throttled_as_recorded() -> None:
    """Buffered writes with 64 MiB of dirty data: 40 MiB at once, then what raidz1 of four hard disks takes."""
    settings = PoolSettings(dirty=DirtySettings(zfs_dirty_data_max=64 * MIB))
    lab = Lab(RAIDZ1, [DatasetSettings("file", 1024 * MIB, 128 * KIB)], hard_disks=True, settings=settings)
    began = lab.engine.now
    moved: list[float] = []
    offset = 0
    while lab.engine.now < began + 8.0:
        lab.data.write_bytes = 0
        lab.request(WRITE, offset % (1024 * MIB), 128 * KIB)
        lab.engine.run(until=lab.engine.now + 0.0003)
        moved.append(lab.engine.now - began)
        offset += 128 * KIB
    early = sum(at < 0.2 for at in moved) / 8
    late = sum(at > 2.0 for at in moved) / 8 / (moved[-1] - 2.0)
    assert early == pytest.approx(54.6, rel=0.15)
    assert late == pytest.approx(27.2, rel=0.2)


def test_normal_role_is_the_only_one_without_a_log() -> None:
    """Counter-test: without a log device log blocks go to the pool, and every member is flushed."""
    lab = Lab(MIRROR, [RECORD])
    assert lab.pool.members.pool.of_role(LOG) == []
    assert lab.pool.members.pool.of_role(NORMAL) == [0]
    lab.request(WRITE, 0, 4 * KIB, WRITE_THROUGH)
    lab.forget()
    lab.request(WRITE, 4 * KIB, 4 * KIB, WRITE_THROUGH)
    assert [member.flushes for member in lab.members] == [1, 1]
    assert lab.moved(WRITE) == [8 * KIB, 8 * KIB]
