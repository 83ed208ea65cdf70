"""What a trim tells the members: free ranges of 32 KiB and more, by metaslab."""

from __future__ import annotations

import pytest

from raidsim.model.core.discard_limits import DiscardLimits
from raidsim.model.core.errors import InputError
from raidsim.model.core.request import TRIM, WRITE
from raidsim.model.zfs.allocation.fill import Fill
from raidsim.model.zfs.map.kinds import vdevs_for
from raidsim.model.zfs.map.pool import NORMAL
from raidsim.model.zfs.pool.settings import DatasetSettings, DirtySettings, PoolSettings
from raidsim.model.zfs.scan.begin import begin_autotrim, begin_scan
from raidsim.model.zfs.scan.settings import ScanSettings, TrimSettings
from raidsim.model.zfs.scan.trim import trimmed_ranges
from raidsim.tests.model.zfs.pool.lab import KIB, MIB, Lab, Member

KINDS = (("mirror", 2), ("raidz1", 3), ("raidz2", 5), ("draid2:4d:8c:1s", 8))


@pytest.mark.parametrize(("kind", "members"), KINDS)
def test_the_ranges_of_a_freed_block_are_its_columns(kind: str, members: int) -> None:
    """A range of vdev space holds on each member what the blocks in it hold there, and nothing of its neighbors."""
    (vdev,) = vdevs_for(kind, members, 12)
    psize = 128 * KIB
    size = vdev.asize(psize)
    freed = {(piece.member, piece.sector, piece.sectors) for piece in vdev.trims(7 * size, 8 * size)}
    sectors = {
        (member, sector) for member, first, count in freed for sector in range(first, first + count, vdev.unit_sectors)
    }
    for number in (6, 7, 8):
        for piece in vdev.columns(number * size, psize):
            for sector in range(piece.sector, piece.sector + piece.sectors, vdev.unit_sectors):
                assert ((piece.member, sector) in sectors) == (number == 7)


def test_small_ranges_and_those_behind_a_metaslab_are_left_out() -> None:
    """Free ranges below 32 KiB are not trimmed; nor is what begins within 4 MiB behind the metaslab before."""
    (mirror,) = vdevs_for("mirror", 2, 12)
    size = 1 << 30
    ranges = list(trimmed_ranges(mirror, Fill(size, 70 * MIB), 0))
    assert [(each.sector // 2048, each.sectors // 2048) for each in ranges[:3]] == [(70, 58), (132, 124), (260, 124)]
    (late,) = trimmed_ranges(mirror, Fill(size, size - 64 * KIB), 0)
    assert late.sectors == 64 * KIB // 512
    assert not list(trimmed_ranges(mirror, Fill(size, size - 28 * KIB), 0))


def test_drives_without_discards_are_not_trimmed() -> None:
    """As `zpool trim` says, a pool of such drives cannot be trimmed."""
    lab = Lab([("mirror", 2, NORMAL)], [DatasetSettings("data", 32 * MIB, 128 * KIB)])
    with pytest.raises(InputError, match="found trim, but"):
        begin_scan(lab.engine, None, lab.pool, "trim", 0.0, ScanSettings())


def autotrimmed(
    monkeypatch: pytest.MonkeyPatch, autotrim: bool, settings: TrimSettings, record: int = 128 * KIB
) -> Lab:
    """A mirror whose file is written twice, and what its members are told in the 60 groups after that."""
    monkeypatch.setattr(Member, "discard_limits", DiscardLimits(4 * KIB, 128 * MIB))
    lab = Lab(
        [("mirror", 2, NORMAL)],
        [DatasetSettings("file", 32 * MIB, record)],
        settings=PoolSettings(autotrim=autotrim, dirty=DirtySettings(zfs_txg_timeout=0.1)),
    )
    if autotrim:
        begin_autotrim(lab.engine, lab.pool, settings)
    for _ in range(2):
        for at in range(0, 32 * MIB, MIB):
            lab.request(WRITE, at, MIB)
        lab.sync()
    lab.forget()
    lab.engine.run(until=lab.engine.now + 6.0)
    return lab


def test_what_is_freed_is_trimmed_some_groups_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides are told the space of the file's first two versions, in large ranges; without autotrim nothing."""
    lab = autotrimmed(monkeypatch, True, TrimSettings())
    assert lab.moved(TRIM) == pytest.approx([64 * MIB] * 2, rel=0.05)
    sizes = [size for _, op, _, size in lab.members[0].log if op == TRIM]
    assert min(sizes) >= 32 * KIB
    assert max(sizes) > MIB
    assert autotrimmed(monkeypatch, False, TrimSettings()).moved(TRIM) == [0, 0]


def test_small_freed_ranges_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges below zfs_trim_extent_bytes_min are not trimmed, now or later."""
    lab = autotrimmed(monkeypatch, True, TrimSettings(extent_min=256 * MIB))
    assert lab.moved(TRIM) == [0, 0]


def test_a_metaslab_has_its_turn_once_in_a_batch_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a batch of 1,000 groups most metaslabs have had no turn."""
    lab = autotrimmed(monkeypatch, True, TrimSettings(txg_batch=1000))
    assert sum(lab.moved(TRIM)) < 64 * MIB
