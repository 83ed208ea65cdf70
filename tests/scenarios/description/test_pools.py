"""Pools of ZFS as data: vdevs in words and one by one, what is refused and warned of, and how much a pool holds."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.files.quantities import parse_size
from raidsim.model.zfs.intent_log.records import LogRules
from raidsim.model.zfs.map.capacity import metaslab_shift, pool_capacity
from raidsim.model.zfs.map.kinds import vdevs_for
from raidsim.model.zfs.map.pool import PoolMap
from raidsim.scenarios.description.devices import Devices
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

EIGHT = "machine: {drives: {model: WD5000AAKS, count: 8}}\n"


def spec_of(pool: str, rest: str = "") -> ScenarioSpec:
    """A scenario with the pool `tank` of eight drives of 500 GB."""
    return document_from(f"{EIGHT}pools:\n  tank: {pool}\n{rest}").spec()


def test_the_words_of_zpool_create() -> None:
    """Vdevs follow each other as on the command line; what is not named is data."""
    words = "raidz2 disk0 disk1 disk2 disk3 log mirror disk4 disk5 cache disk6 spare disk7"
    pool = spec_of(f"{{vdevs: {words}, datasets: {{vm: {{volume: 10GB}}}}}}").pools["tank"]
    assert [(vdev.use, vdev.kind, len(vdev.members)) for vdev in pool.vdevs] == [
        ("data", "raidz2", 4),
        ("log", "mirror", 2),
        ("cache", "stripe", 1),
        ("spare", "stripe", 1),
    ]
    assert pool.leaves() == tuple(f"disk{number}" for number in range(6))
    assert pool.map().roles == ["normal", "log"]
    two = spec_of("{vdevs: mirror disk0 disk1 mirror disk2 disk3, datasets: {vm: {volume: 10GB}}}").pools["tank"]
    assert len(two.map().vdevs) == 2


def test_a_kind_alone_takes_all_drives() -> None:
    """The shortest pool: one vdev of the machine's drives; its volume is what the load goes to."""
    spec = spec_of("{vdevs: raidz2, datasets: {vm: {volume: 10GB}}}")
    assert len(spec.pools["tank"].vdevs[0].members) == 8
    assert spec.workload.kind == "load"
    assert spec.workload.targets == ("tank/vm",)
    assert spec.capacity("tank/vm") == -(-10 * 10**9 // 16384) * 16384


def test_members_of_pools_are_not_free_for_arrays() -> None:
    """An array that names no members gets the drives that no pool has."""
    spec = spec_of("{vdevs: raidz1 disk0 disk1 disk2}", "arrays: {md0: raid5}")
    assert spec.arrays["md0"].members == ("disk3", "disk4", "disk5", "disk6", "disk7")


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        ("{vdevs: raidz2 disk0 disk1}", "vdevs.kind: found raidz2 with 2 members; expected: at least 3"),
        ("{vdevs: mirror disk0 disk1 mirror disk1 disk2}", "disk1 twice"),
        ("raidz2", "no volume and no file for the load; expected: datasets"),
        ("{vdevs: log disk0}", "no vdev for data"),
        ("{vdevs: mirror log disk0}", "found mirror for data without members"),
        ("{vdevs: raidz1 disk0 disk1 disk2 log raidz1 disk3 disk4 disk5}", "raidz1 for log"),
        ("{vdevs: raidz1 disk0 disk1 disk2 cache mirror disk3 disk4}", "mirror for cache"),
        ("{vdevs: raidz1 disk0 disk1 ssd}", "unknown device 'ssd'"),
        ("{vdevs: raidz1 disk0 disk1 disk2, datasets: {vm: {}}}", "neither volume nor file"),
        ("{vdevs: raidz1 disk0 disk1 disk2, datasets: {vm: {volume: 2TB}}}", "volumes and files that take"),
        ("{vdevs: raidz1 disk0 disk1 disk2, datasets: {vm: {volume: 1GB, volblocksize: 12KiB}}}", "a power of two"),
        ("{vdevs: raidz1 disk0 disk1 disk2, datasets: {vm: {volume: 1GB, volblocksize: 2KiB}}}", "below the smallest"),
        ("{vdevs: raidz1 disk0 disk1 disk2, failed: [disk0, disk1]}", "disk0, disk1 of one vdev failed"),
        ("{vdevs: raidz1 disk0 disk1 disk2, failed: [disk4]}", "disk4 is not in a vdev"),
    ],
)
def test_what_a_pool_cannot_be(pool: str, said: str) -> None:
    """Each mistake has a message that names the field and what is possible."""
    with pytest.raises(InputError, match=said):
        spec_of(pool)


def test_a_device_has_one_user() -> None:
    """A drive of a pool is no array's member, and an array may be a pool's."""
    with pytest.raises(InputError, match="disk2 is part of"):
        spec_of("{vdevs: raidz1 disk0 disk1 disk2}", "arrays: {md0: {level: raid1, members: [disk2, disk3]}}")
    spec = spec_of(
        "{vdevs: stripe md0, datasets: {vm: {volume: 1GB}}}",
        "arrays: {md0: {level: raid1, members: [disk2, disk3]}}",
    )
    assert Devices.of(spec).below("tank/vm") == {"tank/vm", "md0", "disk2", "disk3"}


def test_warnings() -> None:
    """Space lost to small blocks is told in percent, and metadata on a single device; a sound pool has none."""
    pool = spec_of("{vdevs: raidz1 disk0 disk1 disk2 special disk3, datasets: {vm: {volume: 1GB, volblocksize: 8KiB}}}")
    special, waste = pool.pools["tank"].warnings()
    assert "special vdev without redundancy" in special
    assert waste == "vm: a volblocksize of 8 KiB takes 33 % more space than blocks of 128 KiB"
    sound = spec_of("{vdevs: raidz1 disk0 disk1 disk2, datasets: {vm: {volume: 1GB, volblocksize: 64KiB}}}")
    assert not list(sound.pools["tank"].warnings())
    assert not list(spec_of("{vdevs: mirror disk0 disk1, datasets: {a: {file: 1GB}}}").pools["tank"].warnings())


def test_log_rules_of_a_dataset() -> None:
    """Module parameters, log device and properties come together in what the intent log goes by."""
    spec = spec_of(
        "{vdevs: mirror disk0 disk1 log disk2, datasets: {a: {file: 1GB, recordsize: 16KiB, logbias: throughput}}}",
        "zfs_parameters: {zfs_immediate_write_sz: 64KiB}",
    )
    pool = spec.pools["tank"]
    rules = spec.zfs_parameters.log_rules(pool, pool.datasets["a"])
    assert rules == LogRules(16384, log_device=True, throughput=True, immediate_bytes=65536)


def test_capacity_of_a_mirror_of_1_tb() -> None:
    """928 GiB of `zpool list` and 899 GiB of `zfs list`, as administrators of such pools know them."""
    found = pool_capacity(PoolMap(vdevs_for("mirror", 2, 12)), [1000204886016 - (9 << 20)] * 2)
    assert found.size == parse_size("928GiB")
    assert round(found.usable / 2**30) == 899


def test_capacity_counts_blocks_of_128_kib() -> None:
    """raidz1 of 4 keeps 8 of 11 parts of a block, whatever the data columns' share of 3 in 4."""
    members = [4000787030016] * 4
    found = pool_capacity(PoolMap(vdevs_for("raidz1", 4, 12)), members, 31)
    assert found.usable / found.size == pytest.approx(8 / 11, rel=0.02)
    kept = pool_capacity(PoolMap(vdevs_for("raidz1", 4, 12)), members)
    # 128 GiB at most are kept back, less the metaslab that is the intent log's already.
    assert 64 << 30 <= found.usable - kept.usable <= 128 << 30


def test_capacity_of_draid_is_whole_groups() -> None:
    """Two rows of every member stay free, and a spare's space is not counted."""
    (vdev,) = vdevs_for("draid2:4d:8c:1s", 8, 12)
    rows = 100
    member = (4 << 20) + (512 << 10) + (rows + 2) * (16 << 20)
    assert vdev.size(member) == rows * 7 // 6 * 6 * (16 << 20)


@pytest.mark.parametrize(
    ("size", "shift"), [(1 << 27, 24), (1 << 32, 29), (100 << 30, 29), (1 << 40, 33), (1 << 44, 34), (1 << 52, 36)]
)
def test_metaslab_sizes(size: int, shift: int) -> None:
    """At least 16 MiB; 512 MiB up to 100 GiB; then about 200 a vdev, of 16 GiB at most; never over 131,072."""
    assert metaslab_shift(size) == shift
