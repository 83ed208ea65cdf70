"""Partitions and logical volumes as a scenario describes them: short forms, sizes, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from raidsim.model.core.errors import InputError
from raidsim.scenarios.comparison.array_facts import array_facts
from raidsim.scenarios.comparison.redundancy import top_parts
from raidsim.scenarios.description.devices import Devices
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import document_from

DRIVE = 500107862016


def spec_of(**document: Any) -> ScenarioSpec:
    """A scenario of two drives of 500 GB."""
    whole = {"machine": {"model": "server", "drives": {"model": "WD5000AAKS", "count": 2}}, **document}
    return document_from(yaml.safe_dump(whole, sort_keys=False)).spec()


def test_a_number_means_equal_partitions() -> None:
    """Protects the short form: partitions of one size, in a row, whole MiB, called as Linux calls them."""
    spec = spec_of(
        volumes={"disk0": 3, "disk1": 3}, arrays={"md0": {"level": "raid1", "members": ["disk0p2", "disk1p2"]}}
    )
    devices = Devices.of(spec)
    assert list(spec.volumes)[:3] == ["disk0p1", "disk0p2", "disk0p3"]
    size = DRIVE // 3 // 2**20 * 2**20
    assert [spec.volumes[f"disk0p{number}"].range(DRIVE) for number in (1, 2, 3)] == [
        (0, size),
        (size, size),
        (2 * size, size),
    ]
    assert devices.capacity("md0") == size
    assert spec.arrays["md0"].bitmap == 64 << 20  # mdadm's, for more than 100 GiB
    unused = [name for name in spec.volumes if not name.endswith("p2")]
    assert isinstance(spec.workload, LoadSpec)
    assert spec.workload.targets == ("md0", *unused)


def test_names_without_a_digit_get_no_p() -> None:
    """Protects sda1 from being called sdap1."""
    machine = {"model": "server", "drives": {"sda": {"model": "WD5000AAKS"}}}
    assert list(spec_of(machine=machine, volumes={"sda": 2}).volumes) == ["sda1", "sda2"]


def test_what_is_resolved_means_the_same() -> None:
    """Protects a scenario that is written out in full: volumes keep their ranges."""
    spec = spec_of(volumes={"disk0": 2, "lv": {"kind": "linear", "on": ["disk0p1", "disk1"]}})
    again = ScenarioSpec.model_validate(spec.model_dump())
    assert again == spec
    assert Devices.of(again).capacity("lv") == DRIVE // 2 // 2**20 * 2**20 + DRIVE


def test_striped_volumes_use_as_much_of_each() -> None:
    """Protects the size of a striped volume: whole stripes of the smallest range on every device."""
    volumes = {"lv": {"kind": "striped", "on": ["disk0", "disk1"], "size": "100MiB", "stripe": "64KiB"}}
    assert Devices.of(spec_of(volumes=volumes)).capacity("lv") == 200 << 20


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"volumes": {"disk0": 0}}, "volumes.disk0: found 0; expected: a volume, or from 1 to 128 partitions"),
        ({"volumes": {"p": {"on": "disk7"}}}, "unknown device 'disk7'"),
        ({"volumes": {"p": {"on": "p"}}, "workload": {"targets": ["disk0"]}}, "p is built of itself"),
        ({"volumes": {"p": {"on": ["disk0", "disk1"]}}}, "a partition of 2 devices"),
        ({"volumes": {"p": {"kind": "striped", "on": "disk0"}}}, "a striped volume on one device"),
        ({"volumes": {"p": {"on": "disk0", "stripe": "128KiB"}}}, "stripe of a partition volume"),
        (
            {"volumes": {"p": {"on": "disk0", "start": "499GB", "size": "10GB"}}},
            "bytes from byte 499000000000 of disk0",
        ),
        ({"volumes": {"p": {"on": "disk0", "start": "1GiB", "part": [1, 2]}}}, "part beside start or size"),
        ({"volumes": {"p": {"on": "disk0", "part": [3, 2]}}}, "part 3 of 2"),
        (
            {"volumes": {"p": {"on": "disk0", "size": "2GiB"}, "q": {"on": "disk0", "start": "1GiB"}}},
            "q over p on disk0; expected: `start` and `size` apart",
        ),
        (
            {"volumes": {"disk0": 2}, "arrays": {"md0": {"level": "raid1", "members": ["disk0", "disk1"]}}},
            "disk0 is part of md0 already",
        ),
        (
            {
                "volumes": {"disk0": 2},
                "arrays": {"md0": {"level": "raid1", "members": ["disk0p1", "disk1"]}},
                "encrypted": {"c": {"on": "disk0p1", "cipher": "aes-xts"}},
            },
            "disk0p1 is part of md0 already",
        ),
        ({"volumes": {"disk1": {"on": "disk0"}}}, "another device has the same name"),
    ],
)
def test_volumes_that_cannot_be_are_refused(document: dict[str, Any], told: str) -> None:
    """Protects the user from volumes over each other, beyond their device, or of what something else uses."""
    with pytest.raises(InputError) as caught:
        spec_of(**document)
    assert told in str(caught.value)


def test_losses_of_arrays_that_share_drives_are_not_made_up() -> None:
    """Protects facts from two arrays whose losses come together; an array on partitions of its own drives has them."""
    members = [["disk0p1", "disk1p1"], ["disk0p2", "disk1p2"]]
    both = {name: {"level": "raid1", "members": slots} for name, slots in zip("ab", members, strict=True)}
    shared = spec_of(volumes={"disk0": 2, "disk1": 2}, arrays=both)
    assert {leaf for part in top_parts(shared) for leaf in part.leaves} == {"disk0", "disk1"}
    with pytest.raises(InputError, match="volumes: disk0 in b and in a"):
        array_facts(shared)
    halves = {drive: {"on": drive[:5], "size": "100GB"} for drive in ("disk0p1", "disk1p1")}
    alone = array_facts(spec_of(volumes=halves, arrays={"a": both["a"]}))
    assert (alone.survives_any, alone.usable_bytes) == (1, 100_000_000_000)


def test_volumes_do_not_multiply_without_end() -> None:
    """Protects against a short file whose volumes lead to the same drive in millions of ways."""
    volumes: dict[str, Any] = {}
    below = "disk0"
    for level in range(12):
        parts = [f"v{level}-{number}" for number in range(8)]
        volumes |= {name: {"on": below, "part": [number + 1, 8]} for number, name in enumerate(parts)}
        below = f"all{level}"
        volumes[below] = {"kind": "linear", "on": parts}
    with pytest.raises(InputError, match="reaches its drives in 262,144 ways"):
        spec_of(volumes=volumes)
