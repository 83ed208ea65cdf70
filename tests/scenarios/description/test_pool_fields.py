"""Every field of pools, vdevs, scans, volumes and files changes what a run gives: none is only there to be set."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.pools import DatasetSpec, PoolSpec, ScanSpec, VdevSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

Change = dict[str, Any]
VOLUME: Change = {"volume": "1GiB", "volblocksize": "16KiB"}
FILE: Change = {"file": "1GiB", "recordsize": "16KiB"}
RAIDZ, SPECIAL, CACHE = "raidz1 disk0 disk1 disk2", "mirror disk0 disk1 special disk2", "mirror disk0 disk1 cache disk2"

DATASETS: dict[str, tuple[Change, Change]] = {
    "volume": (VOLUME, {**VOLUME, "volume": "8GiB"}),
    "file": (FILE, {**FILE, "file": "8GiB"}),
    "recordsize": (FILE, {**FILE, "recordsize": "128KiB"}),
    "volblocksize": (VOLUME, {**VOLUME, "volblocksize": "64KiB"}),
    "sync": (VOLUME, {**VOLUME, "sync": "always"}),
    "logbias": ({**VOLUME, "sync": "always"}, {**VOLUME, "sync": "always", "logbias": "throughput"}),
    "primarycache": (VOLUME, {**VOLUME, "primarycache": "metadata"}),
    "compression": (VOLUME, {**VOLUME, "compression": 2.0}),
    "compressor": ({**VOLUME, "compression": 2.0}, {**VOLUME, "compression": 2.0, "compressor": "zstd"}),
    "checksum": (VOLUME, {**VOLUME, "checksum": "sha256"}),
    "special_small_blocks": (VOLUME, {**VOLUME, "special_small_blocks": "16KiB"}),
    "secondarycache": (VOLUME, {**VOLUME, "secondarycache": "none"}),
}
"""Of each field two datasets that differ in it alone."""
PARTS = {"special_small_blocks": SPECIAL, "secondarycache": CACHE}

_LOST: Change = {"failed": ["disk2"]}
_REBUILT: Change = {"vdevs": "mirror disk0 disk1 disk2", "rebuilding": ["disk2"], "used": 0.5, **_LOST}
POOLS: dict[str, tuple[Change, Change]] = {
    "vdevs": ({"vdevs": RAIDZ}, {"vdevs": "raidz1 disk0 disk1 disk2 disk3"}),
    "kind": ({"vdevs": RAIDZ}, {"vdevs": "mirror disk0 disk1 disk2"}),
    "members": ({"vdevs": RAIDZ}, {"vdevs": "raidz1 disk0 disk1 disk2 disk3"}),
    "use": ({"vdevs": "disk0 disk1"}, {"vdevs": "disk0 log disk1"}),
    "ashift": ({"ashift": 12}, {"ashift": 13}),
    "datasets": ({}, {"datasets": {"vm": VOLUME, "other": VOLUME}}),
    "failed": ({}, _LOST),
    "rebuilding": (_LOST, {**_LOST, "rebuilding": ["disk2"]}),
    "scan": ({}, {"scan": {"action": "scrub"}}),
    "action": ({**_REBUILT, "scan": {"action": "resilver"}}, {**_REBUILT, "scan": {"action": "rebuild"}}),
    "done": ({"used": 0.5, "scan": {"action": "scrub"}}, {"used": 0.5, "scan": {"action": "scrub", "done": 0.5}}),
    "used": ({}, {"used": 0.9}),
    "fragmentation": ({"used": 0.5}, {"used": 0.5, "fragmentation": 0.9}),
    "arc": ({}, {"arc": "cold"}),
}
"""The same of pools, with their vdevs and scans."""


def _figures(pool: Change) -> dict[str, float]:
    content = {
        "machine": {"drives": {"model": "Generic-20GB-ATA", "count": 4}, "memory": "2GiB"},
        "pools": {"tank": {"vdevs": RAIDZ, "datasets": {"vm": VOLUME}} | pool},
        "zfs_parameters": {"zfs_arc_max": "96MiB", "zfs_txg_timeout": 1},
        "workload": {
            "kind": "load",
            "targets": ["tank/vm"],
            "block_size": "8KiB",
            "read_share": 0.6,
            "depth": 8,
            "warm_up": "500ms",
            "duration": "2500ms",
        },
    }
    found = simulate(document_from(json.dumps(content)).spec())
    drives = {f"{usage.name}.{usage.kind}": usage.utilization for usage in found.usages}
    return found.figures | drives


@pytest.mark.parametrize("field", DATASETS)
def test_every_field_of_a_dataset_changes_a_result(field: str) -> None:
    """A run with the one value and a run with the other differ."""
    one, other = (
        _figures({"vdevs": PARTS.get(field, RAIDZ), "datasets": {"vm": dataset}}) for dataset in DATASETS[field]
    )
    assert one != other


@pytest.mark.parametrize("field", POOLS)
def test_every_field_of_a_pool_changes_a_result(field: str) -> None:
    """The same of the pool, its vdevs and what goes over its blocks."""
    one, other = (_figures(pool) for pool in POOLS[field])
    assert one != other


def test_no_field_is_forgotten() -> None:
    """A new field needs its two values here; `direct` decides what fio may do (below), and `autotrim` acts after half a
    minute (tests/model/zfs/scan).
    """
    assert set(DATASETS) | {"direct"} == set(DatasetSpec.model_fields)
    assert set(POOLS) | {"autotrim"} == {*PoolSpec.model_fields, *VdevSpec.model_fields, *ScanSpec.model_fields}


def test_the_same_again_is_the_same() -> None:
    """Counter-test: without a change nothing differs."""
    assert _figures({}) == _figures({})


def test_direct_io_goes_past_the_arc_of_a_file_only() -> None:
    """fio's direct=1 on a file of a pool is refused unless `direct` is disabled; volumes and direct=0 are not."""

    def run(dataset: Change, direct: int) -> float:
        job = f"[a]\nfilename=/dev/tank/vm\nrw=randread\nbs=16k\nsize=64m\nio_size=1m\ndirect={direct}"
        content = {
            "machine": {"drives": {"model": "Generic-20GB-ATA", "count": 3}},
            "pools": {"tank": {"vdevs": RAIDZ, "datasets": {"vm": dataset}}},
            "workload": {"kind": "fio", "job": job},
        }
        return sum(simulate(document_from(json.dumps(content)).spec()).figures.values())

    with pytest.raises(InputError) as caught:
        run(FILE, 1)
    assert "direct=1 on /dev/tank/vm, a file of ZFS" in str(caught.value)
    assert "expected: a volume, or direct: disabled" in str(caught.value)
    for dataset, direct in ((VOLUME, 1), (FILE, 0), ({**FILE, "direct": "disabled"}, 1)):
        assert run(dataset, direct) > 0
