"""What can be built, under which names, and what is refused with the field that is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.layouts import ALGORITHMS, LEVELS, NestedLayout, ParityLayout, layout_for, level_name

KIB = 1024
MEMBER = 64 * 64 * KIB


@pytest.mark.parametrize(
    ("written", "level"),
    [
        *(("raid5", "raid5"), ("RAID-5", "raid5"), ("5", "raid5"), (5, "raid5"), ("raid 10", "raid10")),
        *(("1+0", "raid10"), ("0+1", "raid01"), ("01", "raid01"), ("50", "raid50"), ("Linear", "linear"), (0, "raid0")),
    ],
)
def test_spellings_of_a_level(written: str | int, level: str) -> None:
    """People write a level in several ways; all mean the same."""
    assert level_name(written) == level


@pytest.mark.parametrize("level", LEVELS)
def test_smallest_array_of_each_level(level: str) -> None:
    """The least number of disks builds an array, one disk less is refused and names the disks."""
    least = LEVELS[level].least
    assert layout_for(level, least, 64 * KIB, MEMBER).members == least
    with pytest.raises(InputError) as refused:
        layout_for(level, least - 1, 64 * KIB, MEMBER)
    assert refused.value.place == "disks"
    assert str(least) in refused.value.expected


@pytest.mark.parametrize(
    ("level", "disks", "capacity"),
    [
        *(("linear", 3, 3), ("raid0", 3, 3), ("raid1", 3, 1), ("raid3", 3, 2), ("raid4", 5, 4), ("raid5", 5, 4)),
        *(("raid6", 5, 3), ("raid10", 3, 1.5), ("raid01", 6, 3), ("raid50", 8, 6), ("raid60", 10, 6)),
    ],
)
def test_capacity_in_disks(level: str, disks: int, capacity: float) -> None:
    """Usable space is what the level leaves of the disks."""
    assert layout_for(level, disks, 64 * KIB, MEMBER).capacity == capacity * MEMBER


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("level", ("raid7", 4, 64 * KIB, MEMBER)),
        ("level", ("", 4, 64 * KIB, MEMBER)),
        ("disks", ("raid5", 2, 64 * KIB, MEMBER)),
        ("disks", ("raid6", 3, 64 * KIB, MEMBER)),
        ("disks", ("raid5", -1, 64 * KIB, MEMBER)),
        ("disks", ("raid50", 7, 64 * KIB, MEMBER)),
        ("disks", ("raid10", 5, 64 * KIB, MEMBER, "striped-mirrors")),
        ("chunk", ("raid5", 4, 3 * KIB, MEMBER)),
        ("chunk", ("raid5", 4, 12 * KIB, MEMBER)),
        ("chunk", ("raid0", 4, 2 * KIB, MEMBER)),
        ("chunk", ("raid0", 4, 0, MEMBER)),
        ("chunk", ("raid1", 2, -4096, MEMBER)),
        ("members", ("raid5", 3, 64 * KIB, [MEMBER, MEMBER])),
        ("members", ("raid5", 3, 64 * KIB, [MEMBER, MEMBER, MEMBER + 1])),
        ("members", ("raid1", 2, 64 * KIB, [MEMBER, 2 * MEMBER])),
        ("members", ("raid10", 2, 64 * KIB, [MEMBER, 2 * MEMBER])),
        ("members", ("raid0", 2, 64 * KIB, [MEMBER, 0])),
        ("members", ("raid0", 2, 64 * KIB, [MEMBER, 63 * KIB])),
        ("members", ("raid6", 4, 64 * KIB, 63 * KIB)),
        ("members", ("raid10", 4, 64 * KIB, 64 * KIB, "f2")),
        ("members", ("raid50", 6, 64 * KIB, 63 * KIB)),
        ("members", ("raid01", 4, 64 * KIB, 63 * KIB)),
        ("members", ("raid10", 4, 64 * KIB, 63 * KIB, "striped-mirrors")),
        ("members", ("raid50", 12, 64 * KIB, 64 * KIB - 1)),
        ("members", ("raid3", 3, None, 500)),
        ("algorithm", ("raid5", 4, 64 * KIB, MEMBER, "near")),
        ("algorithm", ("raid5", 4, 64 * KIB, MEMBER, "ddf-N-restart")),
        ("algorithm", ("raid4", 4, 64 * KIB, MEMBER, "left-symmetric")),
        ("algorithm", ("raid1", 4, 64 * KIB, MEMBER, "near")),
        ("algorithm", ("raid10", 4, 64 * KIB, MEMBER, "left-symmetric")),
        ("algorithm", ("raid0", 4, 64 * KIB, MEMBER, "n2")),
        ("copies", ("raid10", 4, 64 * KIB, MEMBER, "n5")),
        ("copies", ("raid10", 4, 64 * KIB, MEMBER, "n1")),
        ("copies", ("raid10", 4, 64 * KIB, MEMBER, "n0")),
    ],
)
def test_refused(place: str, arguments: tuple[Any, ...]) -> None:
    """Each impossible array is refused with the field that is wrong, what was found, and what is expected."""
    with pytest.raises(InputError) as refused:
        layout_for(*arguments)
    assert refused.value.place == place
    assert refused.value.found
    assert refused.value.expected


@pytest.mark.parametrize(
    ("place", "level", "disks", "more"),
    [
        ("copies", "raid10", 4, {"copies": 5}),
        ("copies", "raid10", 4, {"copies": 0}),
        ("copies", "raid10", 4, {"copies": 3, "algorithm": "n2"}),
        ("copies", "raid5", 4, {"copies": 2}),
        ("groups", "raid50", 12, {"groups": 5}),
        ("groups", "raid50", 12, {"groups": 6}),
        ("groups", "raid60", 12, {"groups": 4}),
        ("groups", "raid01", 6, {"groups": 6}),
        ("groups", "raid50", 12, {"groups": 1}),
        ("groups", "raid5", 12, {"groups": 2}),
        ("outer_chunk", "raid50", 6, {"outer_chunk_bytes": 65 * KIB}),
        ("outer_chunk", "raid50", 6, {"outer_chunk_bytes": 0}),
        ("outer_chunk", "raid0", 6, {"outer_chunk_bytes": 64 * KIB}),
    ],
)
def test_refused_options(place: str, level: str, disks: int, more: dict[str, Any]) -> None:
    """Options that do not fit the level, or each other, are refused and not ignored."""
    with pytest.raises(InputError) as refused:
        layout_for(level, disks, 64 * KIB, MEMBER, **more)
    assert refused.value.place == place


def test_refused_algorithm_lists_the_allowed_ones() -> None:
    """Who mistypes an algorithm sees all names of that level, and only of that level."""
    with pytest.raises(InputError) as refused:
        layout_for("raid5", 4, 64 * KIB, MEMBER, "left-simmetric")
    assert all(name in refused.value.expected for name in ALGORITHMS["raid5"])
    assert "near" not in refused.value.expected


@pytest.mark.parametrize("level", ALGORITHMS)
def test_every_algorithm_has_its_own_map(level: str) -> None:
    """All listed algorithms build, keep their name, and differ from each other where the members do."""
    maps = set()
    for name in ALGORITHMS[level]:
        sizes: Any = [MEMBER, MEMBER // 2, MEMBER // 4 + 64 * KIB, MEMBER] * 2 if level == "raid0" else MEMBER
        layout = layout_for(level, 16 if level == "raid60" else 8, 64 * KIB, sizes, name.upper())
        assert layout.algorithm == name
        layout = layout.groups[0] if isinstance(layout, NestedLayout) and level != "raid10" else layout
        parity = [layout.row(r) for r in range(8)] if hasattr(layout, "row") else []
        powers = [layout.exponents(r) for r in range(8)] if hasattr(layout, "exponents") else []
        maps.add(repr(([layout.map_copies(chunk) for chunk in range(layout.chunks)], parity, powers)))
    alike = 1 if level == "raid10" else 0  # near and striped mirrors keep the same map on an even number of disks
    assert len(maps) == len(ALGORITHMS[level]) - alike


@pytest.mark.parametrize(("short", "name"), [("ls", "left-symmetric"), ("ra", "right-asymmetric")])
def test_short_names(short: str, name: str) -> None:
    """mdadm's short names of the RAID 5 algorithms are taken."""
    assert layout_for("raid5", 4, 64 * KIB, MEMBER, short).algorithm == name


def test_truncate_uses_the_smallest() -> None:
    """Unequal members are refused unless it is asked to use them up to the end of the smallest."""
    sizes = [MEMBER, 2 * MEMBER, 3 * MEMBER]
    layout = layout_for("raid5", 3, 64 * KIB, sizes, truncate=True)
    assert layout.capacity == 2 * MEMBER
    assert layout.member_bytes == (MEMBER,) * 3
    assert layout_for("raid0", 3, 64 * KIB, sizes, truncate=True).capacity == 6 * MEMBER


def test_default_chunk_and_levels_without_chunks() -> None:
    """No chunk means 64 KiB; RAID 1 and linear have none whatever is given, so they can be compared with others."""
    assert layout_for("raid5", 3, None, MEMBER).chunk_bytes == 64 * KIB
    assert layout_for("raid1", 2, 64 * KIB, MEMBER + 1).capacity == MEMBER + 1
    assert layout_for("raid1", 2, 64 * KIB, MEMBER).chunk_bytes == 0
    assert layout_for("raid3", 3, 64 * KIB, MEMBER).chunk_bytes == 512


@pytest.mark.parametrize(
    ("algorithm", "most"), [("left-symmetric", 257), ("ddf-N-continue", 255), ("left-asymmetric-6", 257)]
)
def test_raid6_ends_where_its_field_does(algorithm: str, most: int) -> None:
    """Protects two failures: with more members Q would weigh two blocks alike, and not every pair could be recovered.

    H. Peter Anvin, The mathematics of RAID-6: 257 drives, of which 255 hold data.
    """
    layout = layout_for("raid6", most, 4 * KIB, MEMBER, algorithm)
    assert isinstance(layout, ParityLayout)
    assert all(len({each % 255 for each in row}) == most - 2 for row in layout.exponent_table)
    with pytest.raises(InputError, match=f"disks: raid6 .* of {most + 1} disks; at most {most}"):
        layout_for("raid6", most + 1, 4 * KIB, MEMBER, algorithm)
    too_wide = ParityLayout("raid6", [MEMBER] * (most + 1), 4 * KIB, algorithm)
    assert any(len({each % 255 for each in row}) < most - 1 for row in too_wide.exponent_table)


def test_groups_of_raid60_end_there_too() -> None:
    """Protects wide arrays: what is one group too wide is possible as several."""
    with pytest.raises(InputError, match="300 disks in each group; at most 257"):
        layout_for("raid60", 600, 4 * KIB, MEMBER, groups=2)
    assert layout_for("raid60", 600, 4 * KIB, MEMBER, groups=3).members == 600


@pytest.mark.parametrize("level", ["raid4", "raid5", "raid50"])
def test_parity_ends_where_mds_superblock_does(level: str) -> None:
    """Protects memory: the table of rows grows with the square of the members. drivers/md/md.c: 1,920 members."""
    groups = 2 if level == "raid50" else 1
    assert (
        layout_for(level, 1920 * groups, 4 * KIB, MEMBER, groups=groups if groups > 1 else None).members
        == 1920 * groups
    )
    with pytest.raises(InputError, match=f"disks: {level} .* of 1921 disks.*; at most 1920"):
        layout_for(level, 1921 * groups, 4 * KIB, MEMBER, groups=groups if groups > 1 else None)
