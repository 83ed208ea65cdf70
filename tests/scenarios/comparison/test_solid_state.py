"""Solid-state drives in scenarios: ports, states, read balance of mixed mirrors, what limits, bounds, rebuilds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidsim.calibration.uncertainty.model_interval import scenario_interval
from raidsim.model.core.errors import InputError
from raidsim.model.statistics import Usage
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.without_bottleneck import remove_bottleneck
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.timeline.recorder import Recorder

SATA, NVME, DISK = "Samsung-870-EVO-1TB", "Samsung-PM9A3-3840GB", "WD5000AAKS"


def scenario(
    drives: dict[str, str], array: dict[str, Any], load: dict[str, Any] | None = None, **machine: Any
) -> ScenarioSpec:
    """A load on md0 of some drives; all but "log" are members."""
    members = [name for name in drives if name != "log"]
    short = {"kind": "load", "targets": ["md0"], "depth": 4, "warm_up": "1ms", "duration": "100ms", "read_share": "50%"}
    document = {
        "machine": {**machine, "drives": {name: {"model": model} for name, model in drives.items()}},
        "arrays": {"md0": {"members": members, **array}},
        "workload": {**short, **(load or {})},
    }
    return document_from(json.dumps(document)).spec()


def usage(prediction: Prediction, name: str) -> Usage:
    """What a part did."""
    return next(each for each in prediction.usages if each.name == name)


def test_nvme_drives_are_on_lanes_of_their_own() -> None:
    """On the usual server a SATA drive is behind the adapter, and an NVMe drive is not, unless its port says so."""
    spec = scenario({"a": SATA, "b": NVME}, {"level": "raid1"}).machine
    ports = {name: spec.channels[spec.drives[name].channel] for name in ("a", "b")}
    assert (ports["a"].kind, ports["b"].kind) == ("sata", "pcie")
    assert ports["a"].links
    assert not ports["b"].links
    own = scenario({"a": NVME, "b": NVME}, {"level": "raid1"}, port={"links": ["hba"]}).machine
    assert own.channels[own.drives["a"].channel].links == ("hba",)


def test_state_is_of_solid_state_drives_alone() -> None:
    """A hard disk has no state to choose; a fresh drive writes at random faster than one long in use."""
    with pytest.raises(InputError, match=r"state fresh of the hard disk .*; expected: with solid-state drives"):
        document_from(f"machine: {{drives: {{a: {{model: {DISK}, state: fresh}}}}}}").spec()
    rates = {}
    for state in ("fresh", "steady"):
        spec = document_from(
            f"machine: {{model: nvme-server, drives: {{model: Intel-S4510-960GB, count: 1, state: {state}}}}}\n"
            "workload: {kind: load, targets: [disk0], read_share: 0%, depth: 32,\n"
            "           precision: 5%, warm_up: 0s, duration: 1s}"
        ).spec()
        rates[state] = simulate(spec).rate
    assert rates["fresh"] > 2 * rates["steady"]


def test_a_mixed_mirror_reads_where_less_is_pending() -> None:
    """With one member that does not turn md goes by what is pending (raid1.c), so beside writes the disk
    reads hardly anything.

    The counter-test: two hard disks share the reads by distance, although writes are pending on both.
    """
    mixed = simulate(scenario({"a": DISK, "b": SATA}, {"level": "raid1", "bitmap": "none"}))
    assert usage(mixed, "a").reads <= 0.05 * usage(mixed, "b").reads
    assert usage(mixed, "a").writes == pytest.approx(usage(mixed, "b").writes, abs=4)
    alike = simulate(scenario({"a": DISK, "b": DISK}, {"level": "raid1", "bitmap": "none"}, {"duration": "1s"}))
    assert usage(alike, "a").reads > 0.2 * usage(alike, "b").reads > 0


def test_write_mostly_keeps_reads_off_a_disk() -> None:
    """Without writes less is pending on a disk that is first in line; marked write-mostly it is not read at all."""
    reads = {}
    for marked in ([], ["a"]):
        array = {"level": "raid1", "write_mostly": marked}
        found = simulate(
            scenario({"a": DISK, "b": SATA}, array, {"read_share": "100%", "depth": 1, "duration": "200ms"})
        )
        reads[bool(marked)] = usage(found, "a").reads, found.rate
    assert reads[True][0] == 0 < reads[False][0]
    assert reads[True][1] > 10 * reads[False][1]


def test_a_journal_of_flash_takes_every_write_first() -> None:
    """Data and parity of each write go to the journal; without it the drive is not there."""
    disks = dict.fromkeys("abcd", DISK)
    load = {"read_share": "0%", "duration": "1s"}
    with_log = simulate(scenario({**disks, "log": NVME}, {"level": "raid5", "journal": "log"}, load))
    log = usage(with_log, "log")
    assert log.writes > 0
    assert log.bytes > with_log.rate * with_log.measured_s
    assert log.utilization < 0.1


def test_members_of_unequal_size_and_kind() -> None:
    """A mirror is as large as its smallest member; raid0 uses all of both."""
    drives = {"a": DISK, "b": SATA}
    sizes = [
        document.machine.drives[name].spec().capacity
        for document in [scenario(drives, {"level": "raid1"})]
        for name in "ab"
    ]
    for level, size in (("raid1", min(sizes)), ("raid0", sum(sizes))):
        array = scenario(drives, {"level": level}).arrays["md0"]
        assert array.layout(sizes).capacity == pytest.approx(size, rel=1e-3)


def test_what_limits_a_drive_is_named() -> None:
    """A saturated drive names its busiest part; with one command at a time nothing in it is busy."""
    spec = scenario({"a": SATA}, {"level": "linear"}, {"read_share": "100%", "depth": 64, "duration": "10ms"})
    found = simulate(spec)
    drive = usage(found, "a")
    assert drive.kind == "SSD"
    assert drive.utilization == max(way.utilization for way in drive.ways) > 0.95
    assert found.bottleneck.startswith("SSD a: controller")
    idle = simulate(scenario({"a": SATA}, {"level": "linear"}, {"read_share": "100%", "depth": 1, "duration": "10ms"}))
    assert idle.bottleneck.startswith("flash: ")
    changed = remove_bottleneck(spec, found.usages)
    assert changed is not None
    assert changed.what == "drives ten times as fast (dies, channels, commands)"
    faster = simulate(changed.scenario)
    assert faster.rate > 1.2 * found.rate
    assert faster.bottleneck.startswith(("SSD a: interface", "link"))


def test_timelines_know_them() -> None:
    """Commands of a solid-state drive stand in a timeline like those of a hard disk."""
    recorder = Recorder(20)
    simulate(scenario({"a": NVME, "b": NVME}, {"level": "raid1"}, {"duration": "1ms"}), observer=recorder)
    assert {command.drive for command in recorder.commands} == {"a", "b"}
    assert all(command.ended_s > command.started_s for command in recorder.commands)


def test_a_mixed_array_counts_as_hard_disks() -> None:
    """Reports of hard disks speak for an array with one, and reports of flash for one of flash alone."""
    mixed = scenario_interval(scenario({"a": DISK, "b": SATA}, {"level": "raid1"}))
    disks = scenario_interval(scenario({"a": DISK, "b": DISK}, {"level": "raid1"}))
    flash = scenario_interval(scenario({"a": SATA, "b": SATA}, {"level": "raid1"}))
    assert mixed == disks
    assert disks is not None
    assert flash is not None
    assert (disks.asked[0], flash.asked[0]) == ("disk", "flash")
