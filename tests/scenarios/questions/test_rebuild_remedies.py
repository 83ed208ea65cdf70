"""What helps next to a rebuild: which settings are tried, and what they do."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.changes.positions import DocumentPositions
from raidsim.scenarios.documents.document import Document
from raidsim.scenarios.machine.parts import QueuePlan
from raidsim.scenarios.machine.plan import machine_plan
from raidsim.scenarios.questions.rebuild_remedies import SLOWER, changed_settings, rebuild_remedies
from raidsim.scenarios.running.simulate import simulate


def spec(model: str = "WD5000AAKS", kernel: str = "linux-6.1", iops: int = 40, **array: Any) -> ScenarioSpec:
    """Two mirrors, one of which is rebuilt, and `iops` reads a second."""
    drives: dict[str, Any] = {"model": model, "count": 2}
    data = {
        "kernel": kernel,
        "machine": {"model": "server", "drives": drives},
        "arrays": {"md0": {"level": "raid1", "bitmap": "none", **(array or {"rebuilding": 1})}},
        "workload": {"kind": "load", "total_iops": iops, "warm_up": "1s", "duration": "3s"},
    }
    return Document("<test>", data, DocumentPositions("<test>", {})).spec()


def tried(scenario: ScenarioSpec) -> list[str]:
    """The settings in words."""
    return [what for what, _ in changed_settings(scenario, simulate(scenario))]


def test_a_limit_makes_reads_faster_and_the_rebuild_slower() -> None:
    """Protects the runs: an upper limit of a quarter holds, and reads take less; a lower limit does the opposite."""
    scenario = spec(iops=100)
    now = simulate(scenario)
    found = {each.what.split()[0]: each.prediction for each in rebuild_remedies(scenario, now)}
    slow, fast = found["sync_speed_max"], found["sync_speed_min"]
    assert slow.rebuilds[0].rate < 1.5 * now.rebuilds[0].rate / SLOWER
    assert slow.latencies["read"]["mean_s"] < 0.8 * now.latencies["read"]["mean_s"]
    assert fast.rebuilds[0].rate > 1.05 * now.rebuilds[0].rate
    assert fast.latencies["read"]["mean_s"] > now.latencies["read"]["mean_s"]


def test_a_disk_with_one_command_leaves_the_order_to_the_scheduler() -> None:
    """Protects queue_depth: reads wait less than where the drive goes on with the rebuild."""
    scenario = spec()
    now = simulate(scenario)
    found = {each.what: each.prediction for each in rebuild_remedies(scenario, now)}
    assert found["queue_depth 1"].latencies["read"]["mean_s"] < 0.8 * now.latencies["read"]["mean_s"]


@pytest.mark.parametrize("kernel", ["linux-2.6.32", "linux-3.10", "linux-4.18", "linux-6.1"])
def test_a_depth_of_one_leaves_the_scheduler_its_requests(kernel: str) -> None:
    """Protects the scheduler's choice: a drive that takes one command has as many requests queued before it."""
    scenario = spec(kernel=kernel)
    changed = dict(changed_settings(scenario, simulate(scenario)))["queue_depth 1"]
    now, then = (
        [part for part in machine_plan(each).parts if isinstance(part, QueuePlan)] for each in (scenario, changed)
    )
    assert [plan.requests for plan in then] == [plan.requests for plan in now]
    assert {plan.depth for plan in then} == {1}


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        (spec(), ["sync_speed_max", "sync_speed_min", "queue_depth 1", "none", "kyber", "bfq"]),
        (spec("Samsung-PM9A3-3840GB"), ["sync_speed_max", "sync_speed_min", "mq-deadline", "kyber", "bfq"]),
        (
            spec(rebuilding=1, resync={"speed_min": "200MB/s", "speed_max": "200MB/s"}),
            ["queue_depth 1", "none", "kyber", "bfq"],
        ),
    ],
)
def test_only_other_settings_are_tried(scenario: ScenarioSpec, expected: list[str]) -> None:
    """Protects the list: what is set already is not tried, and flash has no order of commands to take away."""
    words = [
        what if what.startswith("queue") else what.removeprefix("scheduler ").split()[0] for what in tried(scenario)
    ]
    assert words == expected


def test_nothing_is_tried_without_md() -> None:
    """The counter-test: no rebuild, one by GEOM, or one that was over before the measurement."""
    assert tried(spec(resync={"action": "check"})) == []
    assert tried(spec(kernel="freebsd-6.2")) == []
    assert tried(spec(rebuilding=1, resync={"position": "500.107GB"})) == []
