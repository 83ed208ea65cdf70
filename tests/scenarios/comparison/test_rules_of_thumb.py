"""Rules of thumb for pools, against what planners say, and next to the prediction."""

from __future__ import annotations

import json

import pytest

from raidsim.scenarios.comparison.rules_of_thumb import Access, rule_of_thumb, speed_up, stack_of
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

ACCESSES: tuple[Access, ...] = ("sequential read", "sequential write", "random read", "random write")


def _spec(layout: str) -> ScenarioSpec:
    content = {
        "machine": {"model": "server", "drives": {"model": "Exos-15E900-900GB", "count": 12}},
        "arrays": {"md0": layout} if layout.startswith("raid") and "z" not in layout else {},
        "pools": {"tank": {"vdevs": layout, "datasets": {"vm": {"volume": "10GiB"}}}},
        "workload": {"kind": "load", "block_size": "16KiB", "depth": 16, "warm_up": "100ms", "duration": "500ms"},
    }
    content = {name: value for name, value in content.items() if name != ("pools" if content["arrays"] else "arrays")}
    return document_from(json.dumps(content)).spec()


@pytest.mark.parametrize(
    ("layout", "factors"),
    [
        ("raidz2", (10, 10, 1, 1)),
        ("2 x raidz1", (10, 10, 2, 2)),
        ("mirrors", (12, 6, 12, 6)),
        ("mirror", (12, 1, 12, 1)),
        ("stripe", (12, 12, 12, 12)),
        ("draid2:3d:12c:1s", (6, 6, 2, 2)),
    ],
)
def test_what_planners_say(layout: str, factors: tuple[float, ...]) -> None:
    """A raidz vdev has the IOPS of one disk, mirrors read like all and write like half of them, streams use the data
    disks.
    """
    stack = stack_of(_spec(layout), "tank/vm")
    assert tuple(speed_up(stack, access) for access in ACCESSES) == pytest.approx(factors)


def test_the_rule_is_of_pools_under_a_load() -> None:
    """One drive's I/Os per second times the factor; arrays have none here, and nothing else changes the prediction."""
    raidz, mirrors = rule_of_thumb(_spec("raidz2")), rule_of_thumb(_spec("mirrors"))
    assert raidz is not None
    assert mirrors is not None
    assert mirrors.drive_iops == raidz.drive_iops > 100
    assert (raidz.iops, mirrors.iops) == pytest.approx((raidz.drive_iops, 12 * raidz.drive_iops))
    assert rule_of_thumb(_spec("raid6")) is None
