"""Laws that hold whatever is built: bytes are neither made nor lost, nothing is busier than always, Little's law."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.files.description_errors import validate
from raidsim.model.layouts import LEVELS
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.load_run import LoadRun
from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

ARRAYS: dict[str, dict[str, Any]] = {
    "linear": {"level": "linear"},
    "raid0": {"level": "raid0"},
    "raid1": {"level": "raid1"},
    "raid3": {"level": "raid3"},
    "raid4": {"level": "raid4"},
    "raid5": {"level": "raid5"},
    "raid6": {"level": "raid6"},
    "raid10 near": {"level": "raid10"},
    "raid10 far": {"level": "raid10", "algorithm": "f2"},
    "raid10 offset": {"level": "raid10", "algorithm": "o2"},
    "raid10 striped mirrors": {"level": "raid10", "algorithm": "striped-mirrors"},
    "raid01": {"level": "raid01"},
}
KERNELS = ("linux-2.4.26", "linux-2.6.8", "linux-6.1", "freebsd-6.2")


RUNS = {
    "name": st.sampled_from(sorted(ARRAYS)),
    "kernel": st.sampled_from(KERNELS),
    "read_share": st.sampled_from(("0%", "50%", "100%")),
    "pattern": st.sampled_from(("random", "sequential")),
    "depth": st.integers(1, 12),
    "blocks": st.integers(1, 40),
    "failed": st.booleans(),
    "seed": st.integers(0, 1000),
}
SHORT = {"warm_up": "50ms", "duration": "150ms"}
LONG = {"warm_up": "200ms", "duration": "500ms"}


def _run(array: dict[str, Any], kernel: str, seed: int = 0, **load: Any) -> LoadRun:
    document = scenario_document(targets=("md0",), kernel=kernel, seed=seed)
    document["arrays"] = {"md0": {"members": list(DRIVES), **array}}
    document["workload"] = {"kind": "load", "targets": ["md0"], **load}
    run = LoadRun(BuiltMachine(validate(ScenarioSpec, document)), Sample())
    run.run()
    return run


@settings(max_examples=40, deadline=None)
@given(**RUNS)
def test_bytes_and_time_are_conserved(**run: Any) -> None:
    """Every byte a drive moves crosses its cable and the bus once; nothing is busy for longer than the run lasted."""
    _check_conserved(SHORT, **run)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(**RUNS)
def test_bytes_and_time_are_conserved_for_longer(**run: Any) -> None:
    """The same over half a second, and more of them."""
    _check_conserved(LONG, **run)


def _check_conserved(
    times: dict[str, str],
    name: str,
    kernel: str,
    read_share: str,
    pattern: str,
    depth: int,
    blocks: int,
    failed: bool,
    seed: int,
) -> None:
    array = ARRAYS[name]
    parity_on_freebsd = LEVELS[array["level"]].has_parity and kernel.startswith("freebsd")
    if array == {"level": "raid10"} or array.get("algorithm") in ("f2", "o2") or parity_on_freebsd:
        kernel = "linux-6.1"
    if failed and name not in ("linear", "raid0"):
        array = {**array, "failed": [DRIVES[1]]}
    load = {"read_share": read_share, "pattern": pattern, "depth": depth, "block_size": f"{blocks * 1536}B", **times}
    run = _run(array, kernel, seed, **load)
    machine = run.machine
    for usage in run.usages():
        assert 0.0 <= usage.utilization <= 1.0
    moved = transfers = 0
    for drive, disk in machine.disks.items():
        cable, _ = machine.channels[drive]
        through = disk.read_bytes + disk.write_bytes
        # What was under way at either end of the measurement may count here and not there.
        slack = (disk.outstanding + 2 * depth + 64) * (blocks * 1536 + (512 << 10))
        assert abs(cable.bytes_moved - through) <= slack, drive
        moved += cable.bytes_moved
        transfers += cable.transfers
    bus = machine.links["pci"]
    assert (bus.bytes_moved, bus.transfers) == (moved, transfers)
    for link in (bus, *(cable for cable, _ in machine.channels.values())):
        # The utilization law: time in use = bytes over rate + transfers x the time that each one takes.
        assert link.rate == link.write_rate
        expected_s = link.bytes_moved / link.rate + link.transfers * link.per_transfer_s
        assert link.busy_s == pytest.approx(expected_s, rel=1e-6), link.name
    for disk in machine.disks.values():
        assert disk.busy_s <= run.span * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("name", [name for name in ARRAYS if name != "raid3"])
@pytest.mark.parametrize("depth", [1, 6])
def test_littles_law(name: str, depth: int) -> None:
    """I/Os under way = throughput x latency: a closed load of n I/Os on a CPU that costs nothing has n of them.

    The drives take 32 commands each, so that no queue is ever full and puts the program to sleep.
    """
    document = scenario_document(targets=("md0",), kernel="linux-6.1")
    for drive in document["machine"]["drives"].values():
        drive["overrides"] = {"queue_depth": 32}
    document["path_length"] = 1e-9
    document["arrays"] = {"md0": {"members": list(DRIVES), **ARRAYS[name]}}
    document["workload"] = {"kind": "load", "targets": ["md0"], "depth": depth, "warm_up": "1s", "duration": "10s"}
    run = LoadRun(BuiltMachine(validate(ScenarioSpec, document)), Sample())
    run.run()
    read = run.latencies()["read"]
    assert read["n"] / run.span * read["mean_s"] == pytest.approx(depth, rel=0.03)


@pytest.mark.parametrize("name", ["raid0", "raid5", "raid1"])
def test_littles_law_at_every_drive(name: str) -> None:
    """The mean number of requests in a drive, looked at from outside, is its throughput times its mean latency."""
    document = scenario_document(targets=("md0",), kernel="linux-6.1")
    document["arrays"] = {"md0": {"members": list(DRIVES), **ARRAYS[name]}}
    load = {"kind": "load", "targets": ["md0"], "depth": 8, "read_share": "70%", "warm_up": "1s", "duration": "20s"}
    document["workload"] = load
    run = LoadRun(BuiltMachine(validate(ScenarioSpec, document)), Sample())
    machine = run.machine
    seen = dict.fromkeys(DRIVES, 0)
    looks = 0

    def look(_: Any) -> None:
        nonlocal looks
        looks += 1
        for drive, disk in machine.disks.items():
            seen[drive] += disk.outstanding
        machine.engine.call_at(machine.engine.now + 0.0037, look)

    machine.engine.call_at(1.0, look)
    run.run()
    for drive, disk in machine.disks.items():
        assert seen[drive] / looks == pytest.approx(disk.latency_s / run.span, rel=0.05, abs=0.02)
