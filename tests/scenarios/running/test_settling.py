"""Runs that say nothing of how long they take find their steady state; runs of a given time say if they have not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.any_workload import LoadsSpec
from raidsim.scenarios.description.workloads import LONGEST_S, USUAL_PRECISION, LoadSpec
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

ROOT = Path(raidsim.__file__).parent
DISKS = "{model: server, drives: {model: Exos-15E900-900GB, count: 4}}"
FLASH = "{model: server, drives: {model: Samsung-PM9A3-3840GB, count: 4}}"
LOAD = {"kind": "load", "targets": ["sda"]}


def run(machine: str, array: str, load: str) -> Prediction:
    """An array under a load."""
    return simulate(document_from(f"machine: {machine}\narrays: {{md0: {array}}}\nworkload: {{{load}}}").spec())


@pytest.mark.parametrize("given", [{"warm_up": "1s"}, {"duration": "5s"}, {"precision": None}], ids=str)
def test_a_load_with_times_of_its_own_is_measured_for_these(given: dict[str, Any]) -> None:
    """Protects files that say how long: one word of it, and nothing is decided by the run."""
    assert validate(LoadSpec, {**LOAD, **given}).precision is None


def test_a_load_without_times_is_measured_until_it_is_known() -> None:
    """Protects the default, of one load and of several; a phase with a time, or a load with an end, has decided."""
    known = validate(LoadSpec, LOAD)
    assert (known.precision, known.warm_up, known.duration) == (USUAL_PRECISION, 0.0, LONGEST_S)
    loads = [{**LOAD, "name": "a"}, {**LOAD, "name": "b"}]
    several = {"kind": "several", "loads": loads}
    assert validate(LoadsSpec, several).precision == USUAL_PRECISION
    assert all(load.precision is None for load in validate(LoadsSpec, several).loads)
    ends = {"kind": "several", "loads": [{**loads[0], "end": "2s"}, loads[1]]}
    assert validate(LoadsSpec, ends).precision is None
    day = {"phases": [{"name": "day", "lasts": "9h", "duration": "3s"}]}
    assert validate(LoadSpec, {**LOAD, **day}).precision is None


def test_a_start_is_not_told_as_an_answer() -> None:
    """A controller takes writes at once while its cache fills; a run that saw that says so, and has no interval."""
    sets = ["workload.precision=null", "workload.duration=20s"]
    example = ROOT / "docs" / "examples" / "hardware-raid50.yaml"
    started = simulate(read_document(example, [*sets, "workload.warm_up=0s"]).spec())
    assert started.drift is not None
    assert not started.settled
    assert started.drift.figure == "iops"
    assert started.drift.first > 5 * started.drift.last
    assert "not settled: IOPS" in started.drift.words()
    assert started.estimates["iops"].half_width == float("inf")
    later = simulate(read_document(example, [*sets, "workload.warm_up=30s"]).spec())
    assert later.drift is None
    assert later.settled
    assert sum(later.iops.values()) == pytest.approx(started.drift.last, rel=0.1)


def test_chance_is_no_drift() -> None:
    """Random I/Os that come at the same rate all the while have not drifted, whatever the seed."""
    load = "read_share: 70%, jobs: 2, warm_up: 500ms, duration: 1s"
    array = "{level: raid10, chunk: 64KiB, bitmap: none}"
    found = [run(f"{DISKS}\nseed: {seed}", array, load).drift for seed in range(20)]
    assert sum(each is not None for each in found) <= 1


def test_the_bits_of_a_bitmap_are_set_as_after_long() -> None:
    """An array written all over many times a second has its bits set; one written now and then sets them as it does."""
    load = "read_share: 0%, jobs: 8, depth: 8, span: 64GiB"
    fast = run(FLASH, "{level: raid10, chunk: 64KiB, bitmap: 64MiB}", load)
    never = run(FLASH, "{level: raid10, chunk: 64KiB, bitmap: none}", load)
    assert fast.settled
    assert sum(fast.iops.values()) == pytest.approx(sum(never.iops.values()), rel=0.1)
    slow = run(DISKS, "{level: raid5, chunk: 64KiB, bitmap: 64MiB}", "read_share: 0%, depth: 1")
    clean = run(DISKS, "{level: raid5, chunk: 64KiB, bitmap: none}", "read_share: 0%, depth: 1")
    assert sum(slow.iops.values()) < 0.9 * sum(clean.iops.values())


@pytest.mark.parametrize(
    "load",
    [
        "read_share: 70%, iops: 300",
        "read_share: 70%, depth: 8, block_size: 8KiB",
        "pattern: sequential, read_share: 0%, block_size: 1MiB, jobs: 4",
    ],
)
def test_the_answer_is_that_of_a_run_twenty_times_as_long(load: str) -> None:
    """Protects the default: what it finds is within its interval, and a little, of what a long run finds."""
    array = "{level: raid10, chunk: 64KiB, bitmap: 64MiB}"
    found = run(DISKS, array, load)
    long = run(DISKS, array, f"{load}, warm_up: 30s, duration: {20 * found.measured_s:g}s")
    figure = "mean_seconds" if "iops" in load else "iops"
    known = found.estimates[figure]
    assert known.mean == pytest.approx(long.estimates[figure].mean, abs=2 * known.half_width)
