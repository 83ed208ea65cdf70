"""Scenarios as data: references are checked, and what is written can be read again."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.description_errors import validate
from raidsim.model.kernels import kernel_names
from raidsim.scenarios.description.any_workload import IdleSpec, LoadsSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import DdSpec, LoadSpec
from raidsim.tests.scenarios.small_machine import scenario, scenario_document

RAID5 = {"level": "raid5", "members": ["sda", "sdb", "sdc"]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kernel": "linux-9"}, ["kernel", "'linux-9'", *kernel_names()]),
        ({"targets": ("md0",)}, ["workload.targets", "'md0'", "sda"]),
        ({"block_size": 1000}, ["workload.block_size", "1000", "512"]),
        ({"direction": "sideways"}, ["workload.direction", "sideways"]),
        ({"targets": ()}, ["workload.targets"]),
        ({"size": "0B"}, ["workload.size"]),
        ({"array": {**RAID5, "members": ["sda", "sdb", "sdx"]}}, ["md0", "'sdx'", "sdd"]),
        ({"array": {**RAID5, "failed": ["sda", "sdb"]}}, ["arrays.md0.failed", "2 of 3"]),
        ({"array": {"level": "raid0", "members": ["sda", "sdb"], "failed": ["sda"]}}, ["1 of 2"]),
        ({"array": {"level": "raid10", "members": ["sda", "sdb"]}}, ["arrays.md0.level", "raid10", "striped-mirrors"]),
        ({"array": {**RAID5, "controller": "ctl0"}}, ["arrays.md0.controller", "'ctl0'", "none"]),
        ({"array": {**RAID5, "spares": ["sdx"]}}, ["arrays.md0.spares", "'sdx'", "sdd"]),
        ({"array": {**RAID5, "spares": ["sda"]}}, ["sda is part of md0 already"]),
    ],
)
def test_what_a_scenario_cannot_be(changes: dict[str, Any], words: list[str]) -> None:
    """Protects the message: field, what was found, what there is."""
    with pytest.raises(InputError) as caught:
        scenario(**changes)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_an_array_is_no_drive() -> None:
    """Protects names: an array called like a drive could not be told from it."""
    document = scenario_document()
    document["arrays"] = {"sda": RAID5}
    with pytest.raises(InputError, match="another device has the same name"):
        validate(ScenarioSpec, document)


def test_a_scenario_survives_its_own_file() -> None:
    """Protects storing and sending to other processes: written out and read in again it is equal."""
    spec = scenario(array={**RAID5, "failed": ["sdb"], "rebuilding": ["sdb"]}, targets=("md0",), block_size="4KiB")
    assert ScenarioSpec.model_validate_json(spec.model_dump_json()) == spec
    assert isinstance(spec.workload, DdSpec)
    assert spec.workload.block_size == 4096


def test_arrays_of_arrays_are_checked() -> None:
    """Protects stacks: an array may stand on arrays, but not on itself, and each device stands in one place."""
    document = scenario_document(targets=("md0",))
    pairs = {
        "md1": {"level": "raid1", "members": ["sda", "sdb"]},
        "md2": {"level": "raid1", "members": ["sdc", "sdd"]},
    }
    document["arrays"] = {"md0": {"level": "raid0", "members": ["md1", "md2"]}, **pairs}
    assert validate(ScenarioSpec, document).arrays["md0"].members == ("md1", "md2")
    document["arrays"]["md2"] = {"level": "raid1", "members": ["sda", "sdd"]}
    with pytest.raises(InputError, match="sda is part of md1 already"):
        validate(ScenarioSpec, document)
    document["arrays"]["md2"] = {"level": "raid1", "members": ["md0", "sdd"]}
    with pytest.raises(InputError, match="built of itself"):
        validate(ScenarioSpec, document)


def test_a_workload_says_what_it_is() -> None:
    """Protects the union: a load is a load, without a kind it is dd, and another kind is refused by name."""
    document = scenario_document()
    document["workload"] = {"kind": "load", "targets": ["sda"], "depth": 4, "pattern": "sequential"}
    assert validate(ScenarioSpec, document).workload.kind == "load"
    assert scenario().workload.kind == "dd"
    document["workload"] = {"kind": "sql", "targets": ["sda"]}
    with pytest.raises(InputError, match="unknown kind 'sql'; expected: dd, load"):
        validate(ScenarioSpec, document)


def test_a_failure_hits_a_member() -> None:
    """Protects failures during the run: only a member of an array can be lost to it."""
    document = scenario_document(array=RAID5, targets=("md0",))
    document["failures"] = [{"member": "sdd", "at": "1s"}]
    with pytest.raises(InputError, match="'sdd', which is in no array"):
        validate(ScenarioSpec, document)


def test_a_target_named_twice_has_two_programs_apart() -> None:
    """Protects several dd on one device: they begin at equal distances, and each has its share of the device."""
    spec = scenario(targets=("sda", "sda", "sdb"), size="5GiB")
    capacity = spec.machine.drives["sda"].spec().capacity
    assert isinstance(spec.workload, DdSpec)
    starts = [spec.workload.start_of(number, capacity) for number in range(3)]
    assert starts[0] == starts[2] == 0
    assert starts[1] == pytest.approx(capacity / 2, abs=1 << 20)
    with pytest.raises(InputError, match="2 x "):
        scenario(targets=("sda", "sda"), size="150GB")


@pytest.mark.parametrize(
    ("load", "field"),
    [
        ({"block_size": 512}, "block_size"),
        ({"read_size": {4096: 0.5, 6144: 0.5}}, "read_size"),
        ({"align": 512}, "align"),
        ({"start": 512}, "start"),
        ({"phases": [{"name": "day", "lasts": "60s", "write_size": 1024}]}, "write_size"),
    ],
)
def test_direct_ios_are_whole_logical_sectors(load: dict[str, object], field: str) -> None:
    """Protects drives with sectors of 4 KiB, below an array as well; drives of 512 bytes take all of it."""
    for size in (512, 4096):
        document = scenario_document(array=RAID5, targets=("md0",))
        for each in document["machine"]["drives"].values():
            each["overrides"] = {"logical_sector": size, "physical_sector": 4096, "capacity": 249999998976}
        document["workload"] = {"kind": "load", "targets": ["md0"], **load}
        if size == 512:
            validate(ScenarioSpec, document)
            continue
        with pytest.raises(InputError, match=rf"{field}: found .* multiples of 4096 bytes, the logical sector of md0"):
            validate(ScenarioSpec, document)


def test_every_kind_of_load_has_the_same_usual_times() -> None:
    """Protects comparisons of a rebuild that is alone with one under a load: both are measured for 10 s after 1 s."""
    for kind in (LoadSpec, LoadsSpec, IdleSpec):
        assert [kind.model_fields[name].default for name in ("warm_up", "duration")] == [1.0, 10.0]
