"""Pools of ZFS among the designs of a requirement: the same ones as `layout` makes of an array."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.comparison.array_facts import array_facts
from raidsim.scenarios.designs.designs import Design, families, impossible, left_out
from raidsim.scenarios.documents.document import Document
from raidsim.tests.scenarios.designs.test_requirement import DRIVE, wanted

LAYOUTS = (
    *("stripe", "mirror", "mirrors", "2 x mirror", "raidz1", "raidz2", "raidz3", "2 x raidz1", "3 x raidz2"),
    *("draid1", "draid2:4d:1s", "draid2:4d:12c:1s", "2 x draid1:3d:6c", "2 x draid2:2d:1s"),
)
"""Every kind of layout that `compare` takes, on twelve drives."""


def designs_of(level: Any, count: Any = 12, **changes: Any) -> list[Design]:
    """All designs of a level, or of vdevs."""
    spec = wanted(drives=[{"model": DRIVE, "count": count}], levels=[level], **changes)
    return [Design(family, each, spec.hot_spares) for family, counts in families(spec) for each in counts]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spares", [0, 1])
def test_a_pool_is_the_one_that_layout_makes(layout: str, spares: int) -> None:
    """Every layout of `compare` is among the designs, with the same pool, drives and load: so all figures are alike."""
    spec = wanted(drives=[{"model": DRIVE, "count": 12 + spares}], levels=[layout], hot_spares=spares)
    array = Design(families(wanted(drives=[{"model": DRIVE, "count": 12 + spares}], levels=["raid10"],
                                   hot_spares=spares))[0][0], 12 + spares, spares)  # fmt: skip
    data = {**array.document(spec).data}
    data["workload"] = {**data["workload"], "targets": ["md0"]}
    made = Document(layout, data, array.document(spec).positions).changed({"layout": layout}, "--vary").spec()
    found = [each.scenario(spec) for each in designs_of(layout, 12 + spares, hot_spares=spares)]
    assert made.pools in [each.pools for each in found]
    same = found[[each.pools for each in found].index(made.pools)]
    assert same.model_copy(update={"name": made.name}) == made
    assert array_facts(same) == array_facts(made)


def test_a_raidz_is_tried_in_every_width() -> None:
    """Twelve drives are one raidz2 or several of equal width; a number in front or `group_drives` chooses."""
    assert [each.name.partition(",")[0] for each in designs_of("raidz2")] == [
        "raidz2 in vdevs of 4",
        "raidz2 in vdevs of 6",
        "raidz2 in vdevs of 12",
    ]
    assert [each.family.group_drives for each in designs_of("2 x raidz2")] == [6]
    assert [each.family.group_drives for each in designs_of({"level": "raidz1", "group_drives": 4})] == [4]
    assert [each.drives for each in designs_of({"level": "raidz1", "group_drives": 4}, "3-13")] == [4, 8, 12]
    assert [each.drives for each in designs_of("mirrors", "3-8")] == [4, 6, 8]
    assert [each.name for each in designs_of({"level": "mirrors", "group_drives": 3})] == [
        f"ZFS mirrors of 3, 12 x {DRIVE}"
    ]


def test_usable_space_counts_padding() -> None:
    """Blocks of 8 KiB on a raidz1 take as much as on mirrors, and hold less than blocks of 128 KiB do.

    Counter-test: mirrors hold the same of both, but for the pointers to them.
    """
    held = {
        (level, block): array_facts(design.scenario(spec)).usable_bytes
        for level in ("raidz1", "mirrors")
        for block in ("8KiB", "128KiB")
        for spec in [wanted(drives=[{"model": DRIVE, "count": 12}], levels=[level], dataset={"volblocksize": block})]
        for design in [Design(*[(family, counts[0]) for family, counts in families(spec)][-1])]
    }
    assert held["raidz1", "8KiB"] == pytest.approx(held["mirrors", "8KiB"], rel=0.05)
    assert held["raidz1", "128KiB"] > 1.6 * held["raidz1", "8KiB"]
    assert held["mirrors", "128KiB"] == pytest.approx(held["mirrors", "8KiB"], rel=0.05)


def test_pools_that_cannot_be_have_a_reason() -> None:
    """Numbers of drives that make no vdevs, kinds that need more, and controllers, which run no pools."""

    def reason(level: Any, count: Any, **changes: Any) -> str:
        (found,) = left_out(wanted(drives=[{"model": DRIVE, "count": count}], levels=[level], **changes))
        return found.reason

    assert reason("raidz2", 17) == "17 members make no equal vdevs of 4 to 16 drives"
    assert reason("raidz2", 18, hot_spares=1) == "17 members make no equal vdevs of 4 to 16 drives, with 1 standing by"
    assert reason("raidz3", 4) == "needs at least 5 members"
    assert reason("mirrors", 5) == "5 members make no equal vdevs of 2 drives"
    assert reason("2 x raidz1", 5) == "5 members make no 2 vdevs"
    assert reason("draid2:4d:8c:1s", 12) == "12 members make no equal vdevs of 8 drives"
    assert "expected: a data column at least" in reason("draid2:4d:1s", 6)
    (design,) = designs_of("mirrors", 4, controllers=["LSI-9361-8i"])
    assert (impossible(design) or "").startswith("LSI MegaRAID SAS 9361-8i offers raid0")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels": ["raidz4"]}, "levels[0]: found 'raidz4'; expected: linear, raid0"),
        ({"levels": ["draid2:40d:8c"]}, "levels[0]: found draid2:40d:8c of 8 members has"),
        ({"levels": [{"level": "raidz1", "copies": 3}]}, "levels[0].copies: found copies of raidz1"),
        ({"levels": [{"level": "draid1:3d:8c", "group_drives": 4}]}, "levels[0].group_drives"),
        ({"levels": ["raidz1"], "dataset": {"volblocksize": "3KiB"}}, "dataset.volblocksize"),
        ({"levels": ["raidz1"], "kernel": "linux-3.10"}, "kernel: found linux-3.10 with pools"),
        ({"levels": ["raidz1"], "kernel": "freebsd-6.2"}, "kernel: found freebsd-6.2 with pools"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    """Each is one message with the field."""
    with pytest.raises(InputError) as caught:
        wanted(**changes)
    assert message in str(caught.value)


def test_pairs_of_two_kinds_of_drives_are_mirrors_of_zfs_too() -> None:
    """Each mirror has one drive of both kinds; a raidz has none."""
    pair = {"model": DRIVE, "count": 4, "mirror": {"model": "Exos-10E2400-2400GB"}}
    spec = wanted(drives=[pair], levels=["mirrors", "raidz1"])
    ((family, counts),) = families(spec)
    made = Design(family, counts[0]).scenario(spec)
    models = [[made.machine.drives[name].model for name in vdev.members] for vdev in made.pools["tank"].vdevs]
    assert models == [[DRIVE, "Exos-10E2400-2400GB"]] * 2
    assert len(left_out(spec)) == 1
