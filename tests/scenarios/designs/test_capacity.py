"""Capacity as planners count it, against arithmetic by hand."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.designs.capacity import DATA_OFFSET, capacity_plan

TB = 10**12


@pytest.mark.parametrize(
    ("level", "spares", "groups", "data", "survives"),
    [("raid0", 0, None, 24, 0), ("raid5", 1, None, 22, 1), ("raid6", 2, None, 20, 2), ("raid60", 0, 2, 20, 2)],
)
def test_parity_and_spares(level: str, spares: int, groups: int | None, data: int, survives: int) -> None:
    """Of 24 drives those of parity and the spares hold no data; md's metadata and half a chunk a drive are lost too."""
    plan = capacity_plan(level, 24, 18 * TB, spares=spares, groups=groups, file_system="none", fill=1.0)
    assert plan.raw_bytes == 24 * 18 * TB
    assert plan.array_bytes == pytest.approx(data * (18 * TB - DATA_OFFSET), abs=data * 512 * 1024)
    assert plan.planned_bytes == plan.usable_bytes == plan.array_bytes
    assert plan.survives_any == survives


def test_file_systems_keep_what_their_defaults_say() -> None:
    """ext4 above 16 TiB: 256 bytes for 64 KiB, 5 % for root, a journal of 1 GiB; small ones have more inodes."""
    large = capacity_plan("raid0", 2, 18 * TB)
    kept = large.array_bytes * (256 / 65536 + 0.05) + (1 << 30)
    assert large.file_system_bytes == pytest.approx(kept, rel=1e-6)
    small = capacity_plan("raid0", 2, TB)
    assert small.file_system_bytes / small.array_bytes == pytest.approx(256 / 16384 + 0.05, rel=0.02)
    xfs = capacity_plan("raid0", 2, 18 * TB, file_system="xfs")
    assert xfs.file_system_bytes < large.file_system_bytes / 5
    assert xfs.planned_bytes == int(0.85 * xfs.usable_bytes)


def test_price_is_per_terabyte_that_is_planned_with() -> None:
    """Spares cost, and what the fill limit leaves empty is paid for as well; without a price nothing is said."""
    plan = capacity_plan("raid6", 8, 10 * TB, spares=1, price=200.0)
    assert plan.cost == 1600
    assert plan.cost_per_tb == pytest.approx(1600 / (plan.planned_bytes / 1e12))
    assert capacity_plan("raid6", 8, 10 * TB).cost_per_tb is None


def test_what_cannot_be_is_refused() -> None:
    """Spares of a level without them, more spares than drives, drives that md's metadata fill, and too few members."""
    for level, drives, size, spares, place in (
        ("raid0", 4, TB, 1, "spares"),
        ("raid6", 4, TB, 4, "spares"),
        ("raid6", 4, DATA_OFFSET, 0, "size"),
        ("raid6", 4, TB, 1, "disks"),
    ):
        with pytest.raises(InputError) as refused:
            capacity_plan(level, drives, size, spares=spares)
        assert refused.value.place == place


@pytest.mark.parametrize(
    ("vdevs", "drives", "share", "survives"),
    [
        ("raidz2", 8, 32 / 45, 2),
        ("2 x raidz1", 8, 32 / 44, 1),
        ("mirrors", 8, 1 / 2, 1),
        ("draid2:4d:8c:1s", 8, 7 / 12, 2),
    ],
)
def test_pools_by_hand(vdevs: str, drives: int, share: float, survives: int) -> None:
    """A block of 128 KiB and its parity say what a pool holds; 128 GiB are kept back, the log's metaslab among them."""
    plan = capacity_plan(vdevs, drives, 4 * TB, fill=1.0)
    assert plan.array_bytes / plan.raw_bytes == pytest.approx(share, rel=0.01)
    assert plan.usable_bytes == plan.array_bytes - plan.file_system_bytes
    assert 64 << 30 <= plan.file_system_bytes <= 128 << 30
    assert plan.survives_any == survives
    assert plan.metadata_bytes >= 0
    spare = capacity_plan(vdevs, drives + 1, 4 * TB, spares=1, fill=1.0)
    assert (spare.usable_bytes, spare.raw_bytes) == (plan.usable_bytes, (drives + 1) * 4 * TB)


def test_what_zpool_list_and_zfs_list_show() -> None:
    """A raidz2 of six drives of 4 TB has all of them as SIZE, 21.8T, and two thirds of it less 128G for files."""
    plan = capacity_plan("raidz2", 6, 4 * TB)
    assert plan.pool_size is not None
    assert round(plan.pool_size / 2**40, 1) == 21.8
    assert plan.usable_bytes == pytest.approx(plan.pool_size * 2 / 3 - (128 << 30), rel=1e-3)


def test_pools_have_their_own_file_system() -> None:
    """Options of md with a pool are refused by name, and drives too small for it."""
    for options, place in (({"file_system": "xfs"}, "file_system"), ({"groups": 2}, "groups")):
        with pytest.raises(InputError, match="a pool of ZFS; expected: with levels of md") as refused:
            capacity_plan("raidz2", 8, TB, **options)
        assert refused.value.place == place
    with pytest.raises(InputError, match=r"size: found 3.81 MiB; expected: a size with its unit"):
        capacity_plan("raidz2", 8, 4_000_000)


def test_a_size_without_its_unit_is_refused_with_an_example() -> None:
    """Protects a user who writes 18 for 18TB: the message shows how a size is written."""
    with pytest.raises(InputError, match=r"size: found 18 B; expected: a size with its unit, such as 18TB, above"):
        capacity_plan("raid6", 12, 18)
