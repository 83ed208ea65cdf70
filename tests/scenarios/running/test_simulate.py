"""Running scenarios: rates against the parts' own, what limits, and what else a run reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import DRIVES, MIB, QUICK, scenario, scenario_document

MEDIA = hard_disk("WD2500JB").outer_media_rate
FREE_CPU = dict.fromkeys(("write_call", "read_call", "page", "bio", "command", "switch", "clone", "stripe"), "0us")
FREE_CPU |= {"copy_rate": "1000GB/s", "xor_rate": "1000GB/s"}


def run(**changes: Any) -> Prediction:
    """A quick run."""
    return simulate(scenario(**changes), QUICK)


def test_a_drive_reads_at_its_media_rate() -> None:
    """Protects the whole chain: a sequential read on a free CPU is the outer zone less head and cylinder switches."""
    prediction = run(machine_changes=FREE_CPU)
    assert 0.85 * MEDIA < prediction.rate <= 1.01 * MEDIA
    assert prediction.bottleneck.startswith("disk sda")
    assert prediction.seconds == pytest.approx(5 * 1024 * MIB / prediction.rate)


def test_two_drives_read_twice_as_fast_until_the_bus_is_full() -> None:
    """Protects links: on a bus of 1 GB/s two drives read twice as fast, on one of 80 MB/s they share those, by name."""
    one = run(machine_changes=FREE_CPU)
    two = run(machine_changes=FREE_CPU, targets=("sda", "sdb"))
    assert two.rate == pytest.approx(2 * one.rate, rel=0.02)
    narrow = run(machine_changes={**FREE_CPU, "bus": "80MB/s"}, targets=("sda", "sdb"))
    assert narrow.rate == pytest.approx(80e6, rel=0.02)
    assert narrow.bottleneck.startswith("link pci")


def test_a_slow_cpu_is_the_bottleneck() -> None:
    """Protects CPU prices: 512 bytes in 20 us are 25.6 MB/s at most; larger blocks make that irrelevant."""
    slow = {**FREE_CPU, "read_call": "20us"}
    small = run(machine_changes=slow)
    assert small.rate == pytest.approx(512 / 20e-6, rel=0.02)
    assert small.bottleneck.startswith("cpu")
    assert small.figures["cpu"] == pytest.approx(1.0, abs=0.02)
    large = run(machine_changes=slow, block_size="64KiB")
    assert large.rate > 0.85 * MEDIA
    assert large.figures["cpu"] == pytest.approx(large.rate / 65536 * 20e-6, rel=0.05)


@pytest.mark.parametrize(("level", "members", "share"), [("raid0", 4, 4), ("raid1", 2, 1), ("linear", 4, 1)])
def test_arrays_read_as_many_drives_as_they_use(level: str, members: int, share: int) -> None:
    """Protects layouts in time: one sequential reader has all drives of a stripe, one of a mirror or a linear array.
    Read-ahead of 128 KiB keeps only two chunks of 64 KiB under way, so a stripe of four gives between two and four.
    """
    one = run(machine_changes=FREE_CPU).rate
    array = {"level": level, "members": list(DRIVES[:members])}
    rate = run(machine_changes=FREE_CPU, array=array, targets=("md0",)).rate
    if share == 1:
        assert rate == pytest.approx(one, rel=0.03)
    else:
        assert 1.5 * one < rate < share * one


def test_a_failed_member_slows_reads_of_parity() -> None:
    """Protects degraded arrays: with a failed member every row is read as a whole, and computed."""
    array: dict[str, Any] = {"level": "raid5", "members": list(DRIVES)}
    clean = run(array=array, targets=("md0",))
    degraded = run(array={**array, "failed": ["sdb"]}, targets=("md0",))
    assert degraded.rate < clean.rate
    assert {usage.name for usage in degraded.usages if usage.kind == "disk" and usage.reads} <= {"sda", "sdc", "sdd"}


def test_a_rebuild_takes_from_readers() -> None:
    """Protects rebuilding: with a minimum of 40 MB/s the spare is written, not read, and the reader gets less than with
    a failed member alone, over a second or two because the thread naps for a quarter of one.
    """
    long = replace(QUICK, read_bytes=128 * MIB)
    array: dict[str, Any] = {"level": "raid5", "members": list(DRIVES), "failed": ["sdb"]}
    failed = simulate(scenario(array=array, targets=("md0",)), long)
    array |= {"rebuilding": ["sdb"], "resync": {"speed_min": "40MB/s"}}
    rebuilding = simulate(scenario(array=array, targets=("md0",)), long)
    assert rebuilding.rate < 0.9 * failed.rate
    spare = next(usage for usage in rebuilding.usages if (usage.kind, usage.name) == ("disk", "sdb"))
    assert spare.writes > 0
    assert spare.reads == 0


def test_a_write_beside_a_rebuild_is_measured_for_longer() -> None:
    """Protects the sample: four times as much as without one, so that a nap of the thread weighs little."""
    array: dict[str, Any] = {"level": "raid1", "members": ["sda", "sdb"], "failed": ["sdb"]}
    failed = simulate(scenario(direction="write", array=array, targets=("md0",)), QUICK)
    array |= {"rebuilding": ["sdb"], "resync": {"speed_min": "1MB/s"}}
    rebuilding = simulate(scenario(direction="write", array=array, targets=("md0",)), QUICK)
    assert rebuilding.measured_s * rebuilding.rate > 2 * failed.measured_s * failed.rate


@pytest.mark.parametrize(("kernel", "block"), [("linux-2.4.26", 1024), ("linux-2.6.8", 4096)])
def test_small_writes_are_slower_than_whole_blocks(kernel: str, block: int) -> None:
    """Protects the secret of dd bs=512, end to end: the reads of blocks cost most of the rate, whole blocks none."""
    small = run(direction="write", kernel=kernel)
    whole = run(direction="write", kernel=kernel, block_size=block)
    assert small.rate < 0.6 * whole.rate
    assert small.latencies["read"]["n"] > 0
    assert "read" not in whole.latencies


def test_runs_repeat_bit_by_bit() -> None:
    """Protects comparisons: the same scenario and seed give the same bits, another seed another run."""
    array = {"level": "raid1", "members": list(DRIVES[:2])}

    def written(seed: int) -> Prediction:
        spec = scenario(direction="write", array=array, targets=("md0",), seed=seed)
        return simulate(spec, replace(QUICK, write_bytes=MIB // 2))

    first = written(1)
    assert written(1) == first
    assert written(2) != first


def test_the_sample_does_not_decide() -> None:
    """Protects from short measurements: four times as much of a steady read gives the same rate within a percent."""
    spec = scenario(machine_changes=FREE_CPU)
    longer = replace(QUICK, read_bytes=4 * QUICK.read_bytes)
    assert simulate(spec, longer).rate == pytest.approx(simulate(spec, QUICK).rate, rel=0.01)


def test_an_open_load_has_the_rate_it_is_given() -> None:
    """Protects rates: 50 I/Os a second arrive whatever the device does, and a busy device answers them late."""

    def spec(iops: float) -> ScenarioSpec:
        document = scenario_document()
        document["workload"] = {"kind": "load", "targets": ["sda"], "iops": iops, "warm_up": "1s", "duration": "20s"}
        return validate(ScenarioSpec, document)

    calm, busy = simulate(spec(10)), simulate(spec(60))
    assert calm.iops["read"] == pytest.approx(10, rel=0.2)
    assert busy.iops["read"] == pytest.approx(60, rel=0.1)
    assert busy.latencies["read"]["mean_s"] > 1.5 * calm.latencies["read"]["mean_s"]


def test_two_rebuilds_on_one_host() -> None:
    """Protects threads from each other: both mirrors of a stripe are rebuilt, each by a thread of its own."""
    document = scenario_document(targets=("md0",), kernel="linux-6.1")
    lost = ["sda", "sdc"]
    raid10 = {"level": "raid10", "algorithm": "striped-mirrors", "members": list(DRIVES)}
    document["arrays"] = {"md0": {**raid10, "failed": lost, "rebuilding": lost}}
    document["workload"] = {"kind": "load", "targets": ["md0"], "depth": 2, "warm_up": "0s", "duration": "1s"}
    prediction = simulate(validate(ScenarioSpec, document))
    assert [rebuild.array for rebuild in prediction.rebuilds] == ["md0.0", "md0.1"]
    assert all(rebuild.rate > 1e6 for rebuild in prediction.rebuilds)


def test_the_latency_of_a_split_read_is_that_of_its_pieces() -> None:
    """Protects latencies where the block layer cuts an I/O: twice as much takes somewhat longer, not for ever."""

    def mean_s(block_size: str) -> float:
        document = scenario_document(targets=("md0",), kernel="linux-6.1")
        document["arrays"] = {"md0": {"level": "raid0", "members": list(DRIVES), "chunk": "64KiB"}}
        load = {"kind": "load", "targets": ["md0"], "block_size": block_size, "warm_up": "2s", "duration": "4s"}
        document["workload"] = load
        return simulate(validate(ScenarioSpec, document)).latencies["read"]["mean_s"]

    assert mean_s("64KiB") < mean_s("128KiB") < 2.5 * mean_s("64KiB")
