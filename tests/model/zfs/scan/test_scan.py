"""Scrub and resilver of pools of known content: which members are read and written, in which order, and how fast."""

from __future__ import annotations

from itertools import pairwise

import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.model.statistics.rebuild_report import Rebuild
from raidsim.model.zfs.map.pool import NORMAL
from raidsim.model.zfs.pool.settings import DatasetSettings, PoolSettings
from raidsim.model.zfs.scan.begin import begin_scan
from raidsim.model.zfs.scan.settings import ScanAction, ScanSettings
from raidsim.tests.model.zfs.pool.lab import KIB, MIB, Lab

_SIZE = 32 * MIB


def _scan(
    kind: str,
    members: int,
    action: ScanAction,
    rebuilding: frozenset[int] = frozenset(),
    *,
    settings: ScanSettings | None = None,
    hard_disks: bool = False,
    done: float = 0.0,
    size: int = _SIZE,
) -> tuple[Lab, Rebuild]:
    lab = Lab(
        [(kind, members, NORMAL)],
        [DatasetSettings("data", size, 128 * KIB)],
        rebuilding=rebuilding,
        hard_disks=hard_disks,
        settings=PoolSettings(),
    )
    scan = begin_scan(lab.engine, None, lab.pool, action, done, settings or ScanSettings())
    lab.engine.spawn(scan.run())
    return lab, scan


def test_a_scrub_reads_all_columns_in_order() -> None:
    """Data and parity of every member are read once, ascending; a scrub writes no block."""
    lab, scan = _scan("raidz1", 4, "scrub")
    lab.engine.run(until=10.0)
    assert scan.report.finished_s is not None
    assert sum(lab.moved(READ)) == pytest.approx(_SIZE * 4 / 3, rel=0.03)
    assert max(lab.moved(WRITE)) < 400 * KIB
    for member in lab.members:
        reads = [offset for _, op, offset, _ in member.log if op == READ]
        assert sum(after > before for before, after in pairwise(reads)) >= 0.98 * (len(reads) - 1)


def test_a_scrub_of_a_mirror_reads_all_sides() -> None:
    """A resilver reads one side only."""
    lab, _ = _scan("mirror", 3, "scrub")
    lab.engine.run(until=10.0)
    assert lab.moved(READ) == pytest.approx([_SIZE] * 3, rel=0.01)
    lab, _ = _scan("mirror", 3, "resilver", frozenset([1]))
    lab.engine.run(until=10.0)
    assert sum(lab.moved(READ)) == pytest.approx(_SIZE, rel=0.01)


def test_a_resilver_writes_only_the_new_member() -> None:
    """The others are read, parity too; the new member gets its columns, and is whole afterwards."""
    lab, scan = _scan("raidz2", 6, "resilver", frozenset([2]))
    assert lab.pool.members.lost == {2}
    lab.engine.run(until=10.0)
    reads, writes = lab.moved(READ), lab.moved(WRITE)
    column = _SIZE // 4
    assert reads[2] == 0
    assert reads[:2] + reads[3:] == pytest.approx([column] * 5, rel=0.01)
    assert writes[2] - writes[0] == pytest.approx(column, rel=0.01)
    assert scan.done_bytes == scan.report.total_bytes
    assert scan.member_bytes == pytest.approx(column, rel=0.02)
    assert not lab.pool.members.lost


def test_a_load_makes_a_resilver_leave_the_group() -> None:
    """A write that waits for the open group waits twice for a resilver's least time; the resilver goes on then."""
    for least_s in (3.0, 0.5):
        settings = ScanSettings(resilver_min_time_s=least_s)
        lab, scan = _scan(
            "mirror", 2, "resilver", frozenset([0]), settings=settings, hard_disks=True, done=0.01, size=4 * _SIZE
        )
        lab.engine.run(until=0.1)
        lab.sync()
        assert scan.report.finished_s is None
        assert 2 * least_s < lab.engine.now < 2 * least_s + 2.5
        lab.engine.run(until=60.0)
        assert scan.report.finished_s is not None


def test_a_scan_ends_a_group_after_the_timeout_of_groups() -> None:
    """Without a load a group with a scan takes five seconds."""
    lab, scan = _scan("mirror", 2, "scrub", hard_disks=True, done=0.01, size=4 * _SIZE)
    lab.engine.run(until=4.9)
    assert lab.pool.groups.synced == 0
    lab.engine.run(until=7.0)
    assert lab.pool.groups.synced > 0
    assert scan.report.finished_s is None


def test_the_limit_holds_bytes_under_way() -> None:
    """With little under way members of a deep queue wait; 16 MiB a data member keeps them busy."""
    few, many = ScanSettings(vdev_limit=1 << 20), ScanSettings()
    times = []
    for settings in (few, many):
        lab, scan = _scan("mirror", 2, "scrub", settings=settings, done=0.01)
        lab.engine.run(until=10.0)
        assert scan.report.finished_s is not None
        times.append(scan.report.finished_s)
    assert times[0] >= times[1]


def test_blocks_written_during_a_scrub_are_left_out() -> None:
    """A block that is overwritten before the scrub comes to it is born later, and is not read."""
    lab, _ = _scan("mirror", 2, "scrub", hard_disks=True)
    for number in range(128):
        lab.request(WRITE, _SIZE - (number + 1) * 128 * KIB, 128 * KIB)
    lab.engine.run(until=60.0)
    written = 128 * 128 * KIB
    assert max(lab.moved(READ)) == pytest.approx(_SIZE - written, rel=0.1)


def test_a_scan_goes_on_where_it_stands() -> None:
    """Of a scrub that has done three quarters the rest is read."""
    lab, scan = _scan("mirror", 2, "scrub", done=0.75)
    lab.engine.run(until=10.0)
    assert lab.moved(READ) == pytest.approx([_SIZE // 4] * 2, rel=0.02)
    assert scan.report.position_bytes == scan.report.total_bytes


def test_a_sequential_rebuild_copies_space_in_large_pieces() -> None:
    """A rebuild reads the used space of the other side once, a mebibyte at a time, outside of transaction groups."""
    lab, scan = _scan("mirror", 2, "rebuild", frozenset([0]))
    lab.engine.run(until=10.0)
    assert scan.report.finished_s is not None
    assert lab.moved(READ)[0] == 0
    assert lab.moved(READ)[1] == lab.moved(WRITE)[0] == pytest.approx(_SIZE, rel=0.01)
    assert max(size for _, _, _, size in lab.members[0].log) == MIB
    assert {op for _, op, _, _ in lab.members[1].log} == {READ}


def test_a_rebuild_onto_a_distributed_spare_writes_to_its_members() -> None:
    """The columns of a lost member of a dRAID are on its spare afterwards, and are written there meanwhile."""
    lab, scan = _scan("draid2:4d:8c:1s", 8, "rebuild", frozenset([5]))
    vdev = lab.pool.members.pool.vdevs[0]
    spare = vdev.spare(0, 0)  # type: ignore[attr-defined]
    vdev.spared = {5: 0}  # type: ignore[attr-defined]
    lab.engine.run(until=10.0)
    assert scan.report.finished_s is not None
    assert lab.moved(WRITE)[spare] == pytest.approx(_SIZE // 4, rel=0.02)
    assert sum(lab.moved(WRITE)) == lab.moved(WRITE)[spare]
    assert {piece.member for piece in vdev.writes(0, 128 * KIB)} & {5, spare} == {spare}
    assert {piece.member for piece in vdev.reads(0, 128 * KIB)} <= set(range(8)) - {5}
