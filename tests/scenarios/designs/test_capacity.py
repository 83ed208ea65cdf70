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


def test_a_size_without_its_unit_is_refused_with_an_example() -> None:
    """Protects a user who writes 18 for 18TB: the message shows how a size is written."""
    with pytest.raises(InputError, match=r"size: found 18 B; expected: a size with its unit, such as 18TB, above"):
        capacity_plan("raid6", 12, 18)
