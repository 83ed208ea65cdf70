"""`layout` turns an array into a pool of ZFS of the same drives, and back; `all` is what a volume may have."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from, read_document

EIGHT = "machine: {drives: {model: WD5000AAKS, count: 8}}\n"


def spec_of(text: str, *sets: str) -> ScenarioSpec:
    """The scenario of eight drives of 500 GB and `text`, with changes."""
    return document_from(EIGHT + text, sets=sets).spec()


def members(spec: ScenarioSpec) -> list[tuple[str, str, int]]:
    """(use, kind, number of members) of each vdev of the only pool."""
    (pool,) = spec.pools.values()
    return [(vdev.use, vdev.kind, len(vdev.members)) for vdev in pool.vdevs]


@pytest.mark.parametrize(
    ("layout", "vdevs"),
    [
        ("raidz2", [("data", "raidz2", 8)]),
        ("2 x raidz1", [("data", "raidz1", 4)] * 2),
        ("mirrors", [("data", "mirror", 2)] * 4),
        ("draid2:4d:8c:1s", [("data", "draid2:4d:8c:1s", 8)]),
        ("stripe", [("data", "stripe", 8)]),
    ],
)
def test_a_pool_takes_the_place_of_an_array(layout: str, vdevs: list[Any]) -> None:
    """The kinds that people compare with RAID 6, of the same drives, with one volume of all the space."""
    spec = spec_of("arrays: {md0: raid6}\nworkload: {targets: md0}", f"layout={layout}")
    assert not spec.arrays
    assert members(spec) == vdevs
    assert spec.workload.kind == "load"
    assert spec.workload.targets == ("tank/data",)
    assert 0.9 < spec.capacity("tank/data") / spec.pool_capacity("tank").usable <= 1.0


def test_what_was_on_the_array_is_on_the_volume() -> None:
    """File systems, ciphers, loads of several and a lost member move along; a spare stands by in the pool, too."""
    text = """
arrays: {md0: {level: raid6, members: [disk0, disk1, disk2, disk3, disk4], spares: [disk5], failed: [disk1]}}
encrypted: {secret: {on: md0, rate: 1GB/s, source: assumed}}
file_systems: {/data: {kind: ext4, on: secret}}
workloads:
  - {name: a, targets: [md0]}
  - {name: b, targets: md0}
"""
    spec = spec_of(text, "layout=raidz2")
    assert spec.encrypted["secret"].on == "tank/data"
    assert spec.workload.kind == "several"
    assert [load.targets for load in spec.workload.loads] == [("tank/data",)] * 2
    assert members(spec) == [("data", "raidz2", 5), ("spare", "stripe", 1)]
    assert spec.pools["tank"].failed == ("disk1",)


def test_an_array_takes_the_place_of_a_pool() -> None:
    """There and back gives the same members and the same load; a log is not in the array."""
    text = "arrays: {md0: raid6}\nworkload: {targets: md0, depth: 3}"
    there = document_from(EIGHT + text).changed({"layout": "raidz2"}).changed({"layout": "raid6"})
    assert there.spec() == spec_of(text)
    back = read_document("zfs-pool", ["layout=raid10", "chunk=64KiB"]).spec()
    assert back.arrays["md0"].members == tuple(f"disk{number}" for number in range(8))
    assert back.arrays["md0"].chunk == 64 << 10
    assert not back.pools


def test_failed_members_of_a_pool_by_number() -> None:
    """`state=degraded` loses the first member of a pool as of an array."""
    text = "pools: {tank: {vdevs: raidz2, datasets: {vm: {volume: 1GiB}}}}"
    assert spec_of(text, "state=degraded").pools["tank"].failed == ("disk0",)
    assert spec_of(text, "failed=2").pools["tank"].failed == ("disk0", "disk1")
    assert spec_of(text, "state=degraded", "state=whole").pools["tank"].failed == ()


@pytest.mark.parametrize(
    ("text", "sets", "said"),
    [
        ("arrays: {md0: raid6}", ["layout=3 x raidz1"], "found 3 x raidz1 of 8 members; expected: vdevs of equally"),
        ("arrays: {md0: {level: raid6, members: 5}}", ["layout=raidz1"], "5 members of md0.*expected: their names"),
        ("arrays: {md0: {level: raid6, spares: 1}}", ["layout=raidz1"], "1 spares of md0"),
        ("pools: {tank: {vdevs: raidz2, datasets: {a: {file: 1GB}, b: {file: 1GB}}}}", ["layout=raid6"], "has 2 vol"),
        ("pools: {tank: {vdevs: raidz2, datasets: {a: {file: 1GB}}}}", ["state=lost"], "whole, degraded"),
        ("pools: {tank: {vdevs: raidz2, datasets: {a: {file: 1GB}}}}", ["failed=9"], "from 0 to 8"),
        ("pools: {tank: {vdevs: raidz2, datasets: {a: {file: all}, b: {volume: all}}}}", [], "all for a and b"),
        (
            "pools: {tank: {vdevs: raidz2, datasets: {a: {file: 3TB}, b: {volume: all}}}}",
            [],
            "take 2.73 TiB; expected: up to 2.5 TiB",
        ),
    ],
)
def test_what_cannot_change_places(text: str, sets: list[str], said: str) -> None:
    """One clear message each, before anything is simulated."""
    with pytest.raises(InputError, match=said):
        spec_of(text, *sets)


def test_all_is_what_others_leave() -> None:
    """Other volumes, other data and the padding of small blocks are taken off; compression is added."""

    def size(datasets: str, more: str = "") -> float:
        return spec_of(f"pools: {{tank: {{vdevs: 2 x raidz1, datasets: {datasets}{more}}}}}").capacity("tank/vm")

    whole = size("{vm: {volume: all, volblocksize: 128KiB}}")
    assert whole == pytest.approx(
        spec_of("pools: {tank: {vdevs: 2 x raidz1, datasets: {vm: {file: all}}}}").pool_capacity("tank").usable,
        rel=2e-3,
    )
    assert size("{vm: {volume: all, volblocksize: 128KiB}}", ", used: 25%") == pytest.approx(0.75 * whole, rel=2e-3)
    beside = size("{vm: {volume: all, volblocksize: 128KiB}, a: {file: 1TB}}")
    assert beside == pytest.approx(whole - 1e12, rel=2e-3)
    assert size("{vm: {volume: all, volblocksize: 8KiB}}") == pytest.approx(whole * (11 / 8) / 2, rel=0.01)
    assert size("{vm: {volume: all, volblocksize: 128KiB, compression: 2}}") == pytest.approx(2 * whole, rel=2e-3)
