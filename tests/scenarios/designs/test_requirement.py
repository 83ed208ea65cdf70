"""Requirement files: what they may say, and how mistakes are answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.designs.designs import Design, LeftOut, families, impossible, left_out
from raidsim.scenarios.designs.required_load import RequiredLoad
from raidsim.scenarios.designs.requirement import RequirementSpec, read_requirement

DRIVE = "Exos-15E900-900GB"


def wanted(**changes: Any) -> RequirementSpec:
    """A small requirement with some fields changed."""
    data: dict[str, Any] = {
        "load": {"total_iops": 500, "read_share": "70%", "block_size": "8KiB"},
        "limits": {"p99": "20ms"},
        "drives": [{"model": DRIVE, "count": 4}],
    }
    return validate(RequirementSpec, {**data, **changes})


def test_numbers_of_drives() -> None:
    """A number, a range and a list of both mean every number in them, in rising order."""
    spec = wanted(drives=[{"model": DRIVE, "count": [12, "4-6", 8]}])
    assert spec.drives[0].count == (4, 5, 6, 8, 12)


def test_a_load_that_is_wanted_is_that_of_a_scenario() -> None:
    """Protects requirements from another meaning of what they leave out than a scenario's load has."""
    usual = {name: field.default for name, field in RequiredLoad.model_fields.items() if not field.is_required()}
    assert usual == {name: LoadSpec.model_fields[name].default for name in usual}


def test_limits_of_one_kind_of_io_come_first() -> None:
    """`write_p99` replaces `p99` for writes only."""
    limits = wanted(limits={"p99": "20ms", "write_p99": "50ms"}).limits
    assert limits.of("read", "p99") == pytest.approx(0.02)
    assert limits.of("write", "p99") == pytest.approx(0.05)
    assert limits.of("read", "mean") is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limits": {"p99": 20}}, "limits.p99"),
        ({"load": {"read_share": "70%"}}, "load.total_iops"),
        ({"load": {"iops": 500}}, "load.iops: found iops, which is of one job in a load; expected: total_iops"),
        ({"load": {"total_iops": 500, "depth": 8}}, "load.depth"),
        ({"drives": [{"model": "Exos-99", "count": 4}]}, "drives[0].model"),
        ({"drives": [{"model": DRIVE, "count": "9-4"}]}, "drives[0].count"),
        ({"drives": [{"model": DRIVE, "count": True}]}, "drives[0].count"),
        ({"drives": [{"model": DRIVE}]}, "drives[0].count: it is missing; required"),
        ({"drives": []}, "drives: found nothing to choose from; expected: one or more"),
        ({"chunks": ["64KiB", 1000]}, "chunks[1]"),
        ({"budget": 1000}, "drives[0].price"),
        ({"controllers": ["LSI-1"]}, "controllers[0].model"),
        ({"levels": [{"level": "raid5", "group_drives": 3}]}, "levels[0].group_drives"),
        ({"machine": {"drives": {"model": DRIVE}}}, "machine.drives"),
        ({"precision": "0%"}, "precision"),
        ({"bitmap": "some"}, "bitmap"),
        ({"load": {"total_iops": 5, "pattern": "sequential", "locality": "zipf"}}, "load"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    """Each mistake is one message with the field."""
    with pytest.raises(InputError) as caught:
        wanted(**changes)
    assert message in str(caught.value)


def test_files_extend_and_options_change_them(tmp_path: Path) -> None:
    """A file may extend another one, and `--set` comes last; a mistake in it names the option."""
    base = "load: {total_iops: 500}\ndrives: [{model: Exos-15E900-900GB, count: 4}]\n"
    (tmp_path / "base.yaml").write_text(base, encoding="utf-8")
    (tmp_path / "more.yaml").write_text("extends: base.yaml\nsurvives: 1\n", encoding="utf-8")
    spec = read_requirement(tmp_path / "more.yaml", ["load.total_iops=700", "drives[0].count=6"])
    assert (spec.name, spec.survives, spec.load.total_iops, spec.drives[0].count) == ("more", 1, 700, (6,))
    with pytest.raises(InputError, match=r"--set load\.total_iops"):
        read_requirement(tmp_path / "more.yaml", ["load.total_iops=-1"])
    with pytest.raises(InputError, match="nothing inside"):
        read_requirement(tmp_path / "more.yaml", ["survives.more.still=1"])


def test_every_layout_that_the_drives_make() -> None:
    """Twelve drives make RAID 50 in groups of 3, 4 and 6; RAID 1 of more than three is not offered unless asked for."""
    spec = wanted(drives=[{"model": DRIVE, "count": 12}], chunks=["64KiB"])
    words = {family.layout_words for family, _ in families(spec)}
    grouped = {f"RAID 50 in groups of {size}" for size in (3, 4, 6)}
    assert words == {
        "RAID 0",
        "RAID 10",
        "RAID 5",
        "RAID 6",
        *grouped,
        "RAID 60 in groups of 4",
        "RAID 60 in groups of 6",
    }
    asked = wanted(drives=[{"model": DRIVE, "count": 12}], levels=["raid1"])
    assert [counts for _, counts in families(asked)] == [(12,)]


def test_nothing_disappears_without_its_reason() -> None:
    """Every level has a design or a reason: 23 members make no groups, and what has no spares takes none.

    Counter-test: of 24 drives without a spare only mirrors of 24 copies are left out.
    """
    drives = [{"model": DRIVE, "count": 24}]
    spare = wanted(drives=drives, hot_spares=1)
    built = {family.level.level for family, _ in families(spare)}
    reasons = {each.name.partition(" of 24 x ")[0]: each.reason for each in left_out(spare)}
    assert built == {"raid10", "raid5", "raid6"}
    assert reasons == {
        "RAID 0": "takes no hot spares",
        "RAID 1": "more than 3 copies of everything; ask for it by name in levels",
        "RAID 50": "23 members make no equal groups of 3 to 12 drives, with 1 standing by",
        "RAID 60": "23 members make no equal groups of 4 to 16 drives, with 1 standing by",
    }
    assert [each.name for each in left_out(wanted(drives=drives))] == [f"RAID 1 of 24 x {DRIVE}"]
    few = wanted(drives=[{"model": DRIVE, "count": "2-3"}], levels=["raid6"])
    assert left_out(few) == [LeftOut(f"RAID 6 of 2 to 3 x {DRIVE}", "needs at least 4 members")]


def test_rows_are_told_apart_by_their_names() -> None:
    """Groups, chunks and spares of a design are in its words."""
    spec = wanted(drives=[{"model": DRIVE, "count": 26}], hot_spares=2, levels=[{"level": "raid60", "group_drives": 8}])
    names = [Design(family, counts[0], 2).name for family, counts in families(spec)]
    assert names == [
        f"RAID 60 in groups of 8, 26 x {DRIVE} (2 spares), 64 KiB",
        f"RAID 60 in groups of 8, 26 x {DRIVE} (2 spares), 512 KiB",
    ]
    assert next(family.words for family, _ in families(spec)) == "RAID 60 in groups of 8, 64 KiB"


def test_a_requirement_takes_what_a_scenario_takes() -> None:
    """Network, dirty memory, CPU prices and array options come into every design that has them."""
    spec = wanted(
        network={"protocol": "nfs4", "port": "25GbE"},
        vm={"dirty_bytes": "64MiB"},
        path_length=2.0,
        array={"stripe_cache": 1024},
        service={"life": "7y", "scrub": "none"},
        levels=["raid5", "raid10"],
    )
    five, ten = (Design(family, counts[0]).scenario(spec) for family, counts in families(spec)[::2])
    assert five.network is not None
    assert five.network.protocol == "nfs4"
    assert five.vm is not None
    assert five.path_length == 2.0
    assert five.service == spec.service
    assert five.arrays["md0"].stripe_cache == 1024
    assert ten.arrays["md0"].level == "raid10"
    assert ten.arrays["md0"].stripe_cache is None
    with pytest.raises(InputError, match=r"array\.stripes: found unknown option 'stripes'; expected: "):
        wanted(array={"stripes": 4})


def test_a_load_that_grows_is_that_of_the_last_year() -> None:
    """30 % a year for three years are 2.197 times the I/Os and bytes; without years nothing grows."""
    spec = wanted(growth="30%", years=3, capacity="10TB")
    assert spec.grown().load.total_iops == pytest.approx(500 * 1.3**3)
    assert spec.grown().capacity == pytest.approx(10e12 * 1.3**3)
    assert wanted(growth=0.3).grown() == wanted(growth=0.3)


def test_pairs_of_raid10_are_whole_unless_only_odd_numbers_are_given() -> None:
    """A range gives RAID 10 its even numbers; an odd number by itself is md's to build."""
    levels = ["raid10"]
    even = wanted(drives=[{"model": DRIVE, "count": "4-7"}], levels=levels, chunks=["64KiB"])
    assert [counts for _, counts in families(even)] == [(4, 6)]
    odd = wanted(drives=[{"model": DRIVE, "count": 5}], levels=levels, chunks=["64KiB"])
    assert [counts for _, counts in families(odd)] == [(5,)]


def test_what_a_controller_cannot_take() -> None:
    """Ports, levels and plugs refuse a design before anything is simulated."""
    spec = wanted(
        drives=[{"model": DRIVE, "count": 12}],
        levels=["raid10"],
        controllers=["LSI-9260-8i", {"model": "LSI-9260-8i", "overrides": {"ports": 24}}, "Gateway-840"],
        chunks=["64KiB"],
    )
    reasons = [impossible(Design(family, counts[0])) for family, counts in families(spec)]
    assert reasons[0] is not None
    assert "8 ports" in reasons[0]
    assert reasons[1] is None
    assert reasons[2] is not None
    assert "do not plug" in reasons[2]


def test_a_design_is_a_scenario() -> None:
    """Spares, prices and the controller arrive in the scenario, and the load is all on the array."""
    spec = wanted(
        drives=[{"model": DRIVE, "count": 7, "price": 300}],
        levels=["raid6"],
        hot_spares=1,
        controllers=[{"model": "LSI-9260-8i", "price": 700}],
        chunks=["64KiB"],
    )
    family, counts = families(spec)[0]
    scenario = Design(family, counts[0], 1).scenario(spec)
    array = scenario.arrays["md0"]
    assert (len(array.members), array.spares) == (6, ("disk6",))
    assert scenario.machine.drives["disk0"].price == 300
    assert scenario.machine.controllers["raid"].price == 700
    assert scenario.workload.kind == "load"
    assert scenario.workload.total_iops == 500


@pytest.mark.parametrize(
    ("bitmap", "chunk"), [({}, 64 << 20), ({"bitmap": "1GiB"}, 1 << 30), ({"bitmap": "none"}, None)]
)
@pytest.mark.parametrize("level", ["raid1", "raid10", "raid5", "raid50", "raid0"])
def test_a_bitmap_is_asked_for_or_mdadm_s(bitmap: dict[str, str], chunk: int | None, level: str) -> None:
    """Protects a planner who compares: every array that can have one gets what the requirement says."""
    spec = wanted(
        drives=[{"model": DRIVE, "count": 2 if level == "raid1" else 6}], levels=[level], chunks=["64KiB"], **bitmap
    )
    family, counts = families(spec)[0]
    arrays = Design(family, counts[0]).scenario(spec).arrays.values()
    assert {array.bitmap for array in arrays if array.level != "raid0"} == ({chunk} if level != "raid0" else set())
    assert {array.bitmap for array in arrays if array.level == "raid0"} <= {None}


def test_a_controller_s_array_gets_no_bitmap() -> None:
    """Counter-test: its firmware has none."""
    spec = wanted(drives=[{"model": DRIVE, "count": 4}], levels=["raid5"], controllers=["LSI-9260-8i"], bitmap="1GiB")
    family, counts = families(spec)[0]
    assert {array.bitmap for array in Design(family, counts[0]).scenario(spec).arrays.values()} == {None}
