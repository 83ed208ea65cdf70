"""What happens without the bottleneck: the right part is taken away, and physics says what that gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidsim.model.files.description_errors import validate
from raidsim.model.statistics.usage import Usage
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.without_bottleneck import (
    FASTER_DRIVES,
    MORE_OUTSTANDING,
    remove_bottleneck,
    run_without_bottleneck,
)
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import DRIVES, QUICK, scenario_document


def spec(machine: dict[str, Any] | None = None, array: dict[str, Any] | None = None, **workload: Any) -> ScenarioSpec:
    """Random reads of a RAID 0 of four drives."""
    made = scenario_document(
        kernel="linux-6.1",
        array=array or {"level": "raid0", "members": list(DRIVES)},
        targets=("md0",),
        machine_changes=machine,
    )
    made["workload"] = {"kind": "load", "targets": ["md0"], "warm_up": "200ms", "duration": "2s", **workload}
    return validate(ScenarioSpec, made)


def sequential(**machine: str) -> ScenarioSpec:
    """A sequential reader: 240 MB/s of drives behind a bus of 100 MB/s, unless told otherwise."""
    return spec({"bus": "100MB/s", **machine}, pattern="sequential", block_size="2MiB", depth=8)


def test_without_the_bus_the_drives_limit() -> None:
    """A slow bus is named as the bottleneck; without it the rate is what the drives give, and they are named then."""
    scenario = sequential()
    prediction = simulate(scenario)
    assert prediction.bottleneck.startswith("link pci")
    assert prediction.rate == pytest.approx(100e6, rel=0.02)
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert (without.what, without.kind) == ("link pci without limit", "limit")
    assert without.prediction.rate > 1.5 * prediction.rate
    assert "disk" in without.then
    fast = simulate(sequential(bus="100GB/s"))
    assert without.prediction.rate == pytest.approx(fast.rate, rel=0.02)


def test_memory_that_limits_is_taken_away() -> None:
    """Protects copies of RAM disks: cores that wait for memory are busy, but memory is named and taken away."""
    load = {"kind": "load", "pattern": "sequential", "block_size": "128KiB", "read_share": 1.0, "jobs": 32}
    scenario = document_from(
        json.dumps(
            {
                "kernel": "linux-6.1",
                "machine": {"model": "nvme-server", "drives": {"model": "RAM-disk", "count": 4}},
                "arrays": {"md0": {"level": "raid0"}},
                "workload": {**load, "warm_up": "500us", "duration": "1ms"},
            }
        )
    ).spec()
    prediction = simulate(scenario)
    assert prediction.bottleneck == "host memory (100 % busy)"
    assert prediction.rate == pytest.approx(150e9 / 3, rel=0.05)
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert (without.what, without.kind) == ("host memory without limit", "limit")
    assert without.prediction.rate > 2 * prediction.rate


def test_without_a_bottleneck_elsewhere_the_bus_changes_nothing() -> None:
    """The counter-test: where the drives limit, it is they that are taken away, not the bus."""
    scenario = sequential(bus="10GB/s")
    prediction = simulate(scenario)
    assert "disk" in prediction.bottleneck
    changed = remove_bottleneck(scenario, prediction.usages)
    assert changed is not None
    assert changed.scenario.machine.links == scenario.machine.links
    assert changed.scenario.machine.drives != scenario.machine.drives


def test_drives_ten_times_as_fast_serve_ten_times_as_much() -> None:
    """Mechanics scale in all times alike, so random reads that only they limit come ten times as often."""
    free = {"bus": "1TB/s", "command": "0s", "bio": "0s", "switch": "0s", "read_call": "0s"}
    scenario = spec(free, read_share="100%", jobs=32)
    prediction = simulate(scenario)
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert without.what.startswith("drives ten times as fast")
    # Firmware, buffer and interface are as they were, so it is a little less.
    assert 0.75 * FASTER_DRIVES < without.prediction.rate / prediction.rate < 1.1 * FASTER_DRIVES
    before = scenario.machine.drives["sda"].hard_disk()
    changed = remove_bottleneck(scenario, prediction.usages)
    assert changed is not None
    after = changed.scenario.machine.drives["sda"].hard_disk()
    assert after.rotation == FASTER_DRIVES * before.rotation
    assert after.seek_average == pytest.approx(before.seek_average / FASTER_DRIVES)
    assert after.read_overhead == before.read_overhead


def test_a_cpu_that_limits_is_taken_away() -> None:
    """Prices of the host go down a thousandfold; what limits then is another part."""
    scenario = spec({"bus": "10GB/s", "command": "8ms"}, jobs=32, read_share="100%")
    prediction = simulate(scenario)
    assert prediction.bottleneck.startswith("cpu")
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert without.what == "the CPU without limit"
    assert without.prediction.rate > 1.3 * prediction.rate
    assert "disk" in without.then


@pytest.mark.parametrize("level", ["raid5", "raid6"])
def test_a_bitmap_that_mds_thread_waits_for_is_taken_away(level: str) -> None:
    """Small random writes of disks: md's thread sleeps for bits; without a bitmap the disks limit, as they then do."""
    text = "{extends: 'library:database-server', machine: {drives: {count: 6}}, arrays: {md0: {level: %s, bitmap: %s}}}"
    scenario = document_from(text % (level, "64MiB")).spec()
    prediction = simulate(scenario)
    assert prediction.bottleneck.startswith("bitmap of md0 (md's thread waits for its bits 9")
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert (without.what, without.kind) == ("no write-intent bitmap for md0", "limit")
    assert without.prediction.iops["write"] > 1.5 * prediction.iops["write"]
    never = simulate(document_from(text % (level, "none")).spec())
    assert "bitmap" not in never.bottleneck
    assert without.prediction.iops == never.iops


def test_where_no_part_limits_more_are_outstanding() -> None:
    """One I/O at a time on four drives leaves each idle for three quarters of the time: four times as many help."""
    scenario = spec(depth=1)
    prediction = simulate(scenario)
    assert " of a read's time; busiest is" in prediction.bottleneck
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert (without.what, without.kind) == (
        f"{MORE_OUTSTANDING} times as many I/Os outstanding (depth 4)",
        "outstanding",
    )
    assert 1.5 * prediction.rate < without.prediction.rate < MORE_OUTSTANDING * prediction.rate
    same = simulate(spec(depth=4))
    assert without.prediction.rate == same.rate


def test_an_open_load_gets_no_more_but_sooner() -> None:
    """I/Os that come by themselves are as many as before; it is their latency that falls."""
    scenario = spec(iops=60, duration="5s")
    prediction = simulate(scenario)
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert without.kind == "busiest"
    assert without.prediction.rate == pytest.approx(prediction.rate, rel=0.2)
    assert without.prediction.latencies["read"]["mean_s"] < 0.3 * prediction.latencies["read"]["mean_s"]


def test_a_dd_runs_without_its_bus() -> None:
    """Also what is told in bytes and time."""
    scenario = validate(ScenarioSpec, scenario_document(block_size="64KiB", machine_changes={"bus": "30MB/s"}))
    prediction = simulate(scenario, QUICK)
    without = run_without_bottleneck(scenario, prediction, QUICK)
    assert without is not None
    assert without.what == "link pci without limit"
    assert without.prediction.seconds < 0.8 * prediction.seconds


CONTROLLER = {"level": "raid5", "members": list(DRIVES), "controller": "raid"}


def behind_controller() -> ScenarioSpec:
    """A RAID 5 that a controller runs."""
    made = scenario_document(kernel="linux-6.1", array=CONTROLLER, targets=("md0",))
    made["machine"]["controllers"] = {"raid": {"model": "LSI-9260-8i", "links": ["pci"]}}
    made["workload"] = {"kind": "load", "targets": ["md0"]}
    return validate(ScenarioSpec, made)


@pytest.mark.parametrize(
    ("busy", "what", "faster"),
    [
        (Usage("raid cpu", "cpu", 0.99), "the processor of raid without limit", "xor_rate"),
        (Usage("raid", "link", 0.99), "link raid without limit", "host_rate"),
    ],
)
def test_a_controllers_own_parts_are_taken_away(busy: Usage, what: str, faster: str) -> None:
    """Its processor and its link to the host are parts of it; the host's CPU and buses stay as they are."""
    scenario = behind_controller()
    changed = remove_bottleneck(scenario, [busy, Usage("sda", "disk", 0.5)])
    assert changed is not None
    assert changed.what == what
    before, after = (each.machine.controllers["raid"].spec() for each in (scenario, changed.scenario))
    assert getattr(after, faster) == 1000 * getattr(before, faster)
    assert changed.scenario.path_length == scenario.path_length
    assert changed.scenario.machine.links == scenario.machine.links
    assert simulate(changed.scenario).rate > 0


def test_a_cable_is_a_link() -> None:
    """Channels are shown as links, and are taken away like them."""
    scenario = spec()
    changed = remove_bottleneck(scenario, [Usage("sda", "link", 0.95), Usage("sdb", "link", 0.94)])
    assert changed is not None
    assert changed.what == "links sda, sdb without limit"
    before, after = scenario.machine.channels, changed.scenario.machine.channels
    assert [after[name].rate / before[name].rate for name in DRIVES] == [1000, 1000, 1, 1]


def test_nothing_busy_has_no_bottleneck() -> None:
    """Without a busiest part there is nothing to take away, nor room for more outstanding at the limit of it."""
    assert remove_bottleneck(spec(), []) is None
    most = spec(depth=65536)
    assert isinstance(most.workload, LoadSpec)
    assert remove_bottleneck(most, [Usage("sda", "disk", 0.2)]) is None


def test_phases_lose_the_bottleneck_where_they_are_busiest() -> None:
    """A day of two phases is limited where it is busiest; every phase then gets more outstanding."""
    phases = [
        {"name": "night", "lasts": "16h", "depth": 1},
        {"name": "day", "lasts": "8h", "depth": 2},
    ]
    scenario = spec(phases=phases, duration="500ms")
    prediction = simulate(scenario)
    without = run_without_bottleneck(scenario, prediction)
    assert without is not None
    assert without.kind == "outstanding"
    assert without.prediction.rate > 1.3 * prediction.rate
