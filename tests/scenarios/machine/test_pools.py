"""Tests of pools of ZFS in a machine: what a scenario becomes, and that loads run on it."""

from __future__ import annotations

import pytest

from raidsim.scenarios.comparison.array_facts import array_facts
from raidsim.scenarios.comparison.redundancy import top_parts
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.machine.plan import machine_plan
from raidsim.scenarios.machine.pool_plan import DatasetPlan, PoolPlan
from raidsim.scenarios.running.simulate import simulate

MACHINE = "machine: {drives: {model: WD5000AAKS, count: 8}}\nkernel: linux-6.1\n"


def scenario(pool: str, load: str = "block_size: 16KiB", rest: str = "") -> ScenarioSpec:
    """A load for two seconds on the pool `tank`, which has the volume `vm`."""
    text = f"{MACHINE}pools:\n  tank: {pool}\n{rest}\n"
    return document_from(f"{text}workload: {{kind: load, pattern: random, duration: 2s, depth: 16, {load}}}\n").spec()


RAIDZ2 = "{vdevs: raidz2, datasets: {vm: {volume: 100GB}, db: {file: 1GB, recordsize: 128KiB}}}"


def test_a_pool_is_planned_after_its_members_and_once() -> None:
    """Two volumes of a pool are two devices on one pool, which stands on the queues of its drives."""
    spec = scenario(RAIDZ2, "block_size: 16KiB, targets: [tank/vm, tank/db]")
    parts = machine_plan(spec).parts
    pools = [part for part in parts if isinstance(part, PoolPlan)]
    assert [part.name for part in parts if isinstance(part, DatasetPlan)] == ["tank/vm", "tank/db"]
    assert len(pools) == 1
    assert pools[0].leaves == tuple(f"disk{number}" for number in range(8))
    assert pools[0].rotating == (True,) * 8
    assert parts.index(pools[0]) == 16


def test_parameters_reach_the_pool() -> None:
    """Module parameters, memory, compression and properties of a volume are those of the simulated one."""
    pool = (
        "{vdevs: mirror disk0 disk1, used: 0.5, datasets: {vm: {volume: 10GB, compression: 2, primarycache: metadata}}}"
    )
    rest = "zfs_parameters: {zfs_arc_max: 1GiB, zfs_dirty_data_max: 64MiB, zfs_vdev_sync_read_max_active: 20}"
    machine = BuiltMachine(scenario(pool, rest=rest))
    made = machine.pools["tank"]
    assert made.arc.target == 1 << 30
    assert made.dirty.limit == 64 << 20
    assert made.settings.queue.sync_read_max_active == 20
    assert made.datasets["tank/vm"].psize == 8192
    assert machine.targets == [made.datasets["tank/vm"]]


def test_small_random_reads_of_raidz_and_mirrors() -> None:
    """A record of a raidz is on all drives, one of a mirror on one side: mirrors serve several times as many reads."""
    read = "block_size: 4KiB, read_share: 1"
    rates = {}
    for name, vdevs in (
        ("raidz2", "raidz2"),
        ("mirrors", "mirror disk0 disk1 mirror disk2 disk3 mirror disk4 disk5 mirror disk6 disk7"),
    ):
        pool = f"{{vdevs: {vdevs}, datasets: {{vm: {{file: 200GB, recordsize: 128KiB}}}}}}"
        rates[name] = simulate(scenario(pool, read)).iops["read"]
    assert rates["mirrors"] > 3 * rates["raidz2"]


def test_log_device_shortens_synchronous_writes() -> None:
    """Synchronous writes to a raidz of hard disks take less time with a log device on flash."""
    drives = ", ".join(f"disk{number}: {{model: WD5000AAKS}}" for number in range(4))
    latency = []
    for log in ("", " log ssd0"):
        text = f"""
machine: {{drives: {{{drives}, ssd0: {{model: Samsung-PM9A3-3840GB}}}}}}
kernel: linux-6.1
pools:
  tank:
    vdevs: raidz1 disk0 disk1 disk2 disk3{log}
    datasets: {{vm: {{volume: 10GB, sync: always}}}}
workload: {{kind: load, pattern: random, block_size: 16KiB, read_share: 0, duration: 2s, targets: [tank/vm]}}
"""
        latency.append(simulate(document_from(text).spec()).latencies["write"]["mean_s"])
    assert latency[1] < latency[0] / 4


def test_a_lost_member_slows_reads_down() -> None:
    """A degraded raidz reads all other columns of a record, so that the same drives serve fewer reads."""
    whole, degraded = (
        simulate(scenario(f"{{vdevs: raidz1, failed: [{lost}], datasets: {{vm: {{volume: 100GB}}}}}}", "read_share: 1"))
        for lost in ("", "disk3")
    )
    assert degraded.iops["read"] < 0.9 * whole.iops["read"]


@pytest.mark.parametrize(
    ("vdevs", "fewest"), [("raidz2", 2), ("mirror disk0 disk1 mirror disk2 disk3", 1), ("stripe", 0)]
)
def test_losses_that_a_pool_survives(vdevs: str, fewest: int) -> None:
    """A pool survives what its weakest vdev survives, and holds what `zfs list` says, but for pointers."""
    spec = scenario(f"{{vdevs: {vdevs}, datasets: {{vm: {{volume: 10GB}}}}}}")
    facts = array_facts(spec)
    assert facts.survives_any == fewest
    assert facts.usable_bytes == pytest.approx(spec.pool_capacity("tank").usable, rel=1e-3)
    assert [part.name for part in top_parts(spec)] == ["tank"]


def test_checksums_limit_a_fast_pool() -> None:
    """SHA-256 of reads by one thread of two cores, and by six of eight; fletcher4 is faster than the flash."""
    rates = {}
    for cores, checksum in ((2, "sha256"), (8, "sha256"), (2, "fletcher4"), (8, "fletcher4")):
        dataset = f"{{volume: 1GiB, volblocksize: 128KiB, primarycache: metadata, checksum: {checksum}}}"
        text = f"""
machine: {{model: server, cpu: {{cores: {cores}}}, drives: {{model: Samsung-PM9A3-3840GB, count: 2}}}}
kernel: linux-6.1
pools: {{tank: {{vdevs: stripe disk0 disk1, datasets: {{vm: {dataset}}}}}}}
workload: {{kind: load, block_size: 128KiB, depth: 32, warm_up: 10ms, duration: 50ms}}
"""
        rates[cores, checksum] = simulate(document_from(text).spec()).rate
    assert rates[2, "sha256"] == pytest.approx(313 << 20, rel=0.1)
    assert rates[8, "sha256"] == pytest.approx(6 * rates[2, "sha256"], rel=0.1)
    assert rates[2, "fletcher4"] > 8 * rates[2, "sha256"]
    assert rates[8, "fletcher4"] < 1.5 * rates[2, "fletcher4"]


def test_a_cache_device_serves_misses() -> None:
    """Random reads of disks whose data do not fit into memory are faster with an L2ARC that holds them."""
    rates = {}
    for cache in ("", " cache ssd"):
        text = f"""
machine:
  memory: 4GiB
  drives: {{disk0: {{model: WD5000AAKS}}, disk1: {{model: WD5000AAKS}}, ssd: {{model: Samsung-PM9A3-3840GB}}}}
kernel: linux-6.1
pools: {{tank: {{vdevs: mirror disk0 disk1{cache}, datasets: {{vm: {{volume: 40GiB}}}}}}}}
workload: {{kind: load, targets: [tank/vm], block_size: 16KiB, depth: 8, warm_up: 0s, duration: 1s}}
"""
        rates[cache] = simulate(document_from(text).spec()).rate
    assert rates[" cache ssd"] > 10 * rates[""]


def test_autotrim_reaches_the_pool() -> None:
    """`autotrim: true` gathers what is freed, with the module parameters of trims; without it nothing is gathered."""
    pool = "{vdevs: mirrors, autotrim: true, datasets: {vm: {volume: 1GB}}}"
    spec = scenario(
        pool, "read_share: 50%", "zfs_parameters: {zfs_trim_txg_batch: 4, zfs_trim_extent_bytes_min: 64KiB}"
    )
    (planned,) = (part for part in machine_plan(spec).parts if isinstance(part, PoolPlan))
    assert planned.autotrim is not None
    assert (planned.autotrim.txg_batch, planned.autotrim.extent_min) == (4, 64 << 10)
    assert planned.settings.autotrim
    assert simulate(spec).iops["write"] > 0
    (without,) = (part for part in machine_plan(scenario(RAIDZ2)).parts if isinstance(part, PoolPlan))
    assert (without.autotrim, without.settings.autotrim) == (None, False)
