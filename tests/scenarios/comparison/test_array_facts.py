"""What arrays hold, survive and cost, against trying every set of lost drives."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pydantic import ValidationError

from raidsim.model.layouts import layout_for
from raidsim.scenarios.comparison.array_facts import array_facts
from raidsim.scenarios.comparison.reliability import data_loss
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.tests.scenarios.advice.sample_designs import design
from raidsim.tests.scenarios.random_documents import documents

CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("linear", 3, {}),
    ("raid0", 3, {}),
    ("raid1", 3, {}),
    ("raid3", 4, {}),
    ("raid4", 4, {}),
    ("raid5", 5, {}),
    ("raid6", 6, {}),
    ("raid01", 6, {"groups": 2}),
    ("raid01", 6, {"groups": 3}),
    ("raid50", 6, {}),
    ("raid50", 8, {"groups": 2}),
    ("raid60", 8, {}),
    *[
        ("raid10", disks, {"algorithm": algorithm, "copies": copies})
        for algorithm in ("near", "far", "offset")
        for copies in (2, 3, 4)
        for disks in range(copies, 9)
    ],
    ("raid10", 6, {"algorithm": "striped-mirrors", "copies": 3}),
]


@pytest.mark.parametrize(("level", "disks", "options"), CASES)
def test_losses_survived_are_those_that_trying_all_of_them_finds(
    level: str, disks: int, options: dict[str, Any]
) -> None:
    """`survives_any` and `survives_at_most` of every level and kind of RAID 10 agree with the layouts themselves."""
    layout = layout_for(level, disks, 65536, 1 << 30, **options)
    survived = [
        {layout.tolerates(frozenset(lost)) for lost in combinations(range(disks), count)} for count in range(disks + 1)
    ]
    facts = array_facts(design(level, disks, **options))
    assert facts.survives_any == max(count for count, found in enumerate(survived) if found == {True})
    assert facts.survives_at_most == max(count for count, found in enumerate(survived) if True in found)
    assert facts.drives == disks


def test_usable_and_raw_bytes() -> None:
    """RAID 5 of four keeps three drives' worth, RAID 10 two."""
    for level, share in (("raid5", 0.75), ("raid10", 0.5), ("raid0", 1.0)):
        facts = array_facts(design(level, 4))
        assert facts.usable_bytes == pytest.approx(share * facts.raw_bytes, rel=1e-4)


def test_a_stack_by_hand_is_what_the_level_is() -> None:
    """RAID 0 over two RAID 6 survives what RAID 60 does; a mirror over parity arrays more."""
    stack = {
        "a": {"level": "raid6", "members": ["d0", "d1", "d2", "d3"]},
        "b": {"level": "raid6", "members": ["d4", "d5", "d6", "d7"]},
    }
    outer = {"level": "raid0", "members": ["a", "b"]}
    by_hand = array_facts(design("raid60", 8, arrays={**stack, "md0": outer}))
    assert (by_hand.survives_any, by_hand.survives_at_most) == (2, 4)
    mirrored = array_facts(design("raid60", 8, arrays={**stack, "md0": {**outer, "level": "raid1"}}))
    assert (mirrored.survives_any, mirrored.survives_at_most) == (5, 6)


def test_a_failed_member_counts_as_lost() -> None:
    """A degraded RAID 6 survives one more; a degraded RAID 10 none for sure, but still others' partners."""
    assert array_facts(design("raid6", 6, failed=["d1"])).survives_any == 1
    pairs = array_facts(design("raid10", 6, failed=["d1"]))
    assert (pairs.survives_any, pairs.survives_at_most) == (0, 2)
    far = array_facts(design("raid10", 5, algorithm="far", failed=["d1"]))
    assert (far.survives_any, far.survives_at_most) == (0, 1)


def test_stripes_of_a_mirror_fail_as_a_whole() -> None:
    """A stripe of RAID 01 that has lost one drive may lose the rest for nothing."""
    facts = array_facts(design("raid01", 8, groups=2, failed=["d0"]))
    assert (facts.survives_any, facts.survives_at_most) == (0, 3)


def test_cost_is_the_sum_of_prices() -> None:
    """Drives and the machine; unknown as soon as one drive has no price."""
    assert array_facts(design("raid5", 4)).cost is None
    spec = design("raid5", 4, price=100.0)
    facts = array_facts(spec)
    assert facts.cost == 400.0
    assert facts.cost_per_tb == pytest.approx(400.0 / (facts.usable_bytes / 1e12))
    assert array_facts(_priced(spec, 1000.0)).cost == 1400.0
    assert [array_facts(design("raid5", 4, price=price)).cost for price in (0.0, 0.25)] == [0.0, 1.0]
    drives = {**spec.machine.drives, "d0": spec.machine.drives["d0"].model_copy(update={"price": None})}
    machine = spec.machine.model_copy(update={"drives": drives})
    assert array_facts(spec.model_copy(update={"machine": machine})).cost is None


def _priced(spec: ScenarioSpec, price: float) -> ScenarioSpec:
    return spec.model_copy(update={"machine": spec.machine.model_copy(update={"price": price})})


def test_a_drive_alone_survives_nothing() -> None:
    """Without arrays the loaded drives are what there is."""
    facts = array_facts(design("raid0", 2, arrays={}))
    assert (facts.survives_any, facts.survives_at_most) == (0, 0)
    assert facts.usable_bytes == facts.raw_bytes // 2


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(documents())
def test_facts_and_risks_of_anything_are_within_bounds(document: dict[str, Any]) -> None:
    """Whatever can be stacked has facts and probabilities that can be, and slower rebuilds are no safer."""
    try:
        spec = ScenarioSpec.model_validate(document)
    except ValidationError:
        return
    known = {"afr": "2%", "bits_per_unrecoverable_error": 1e14}
    drives = {
        name: drive.model_copy(update={"overrides": {**drive.overrides, **known}})
        for name, drive in spec.machine.drives.items()
    }
    spec = spec.model_copy(update={"machine": spec.machine.model_copy(update={"drives": drives})})
    facts = array_facts(spec)
    assert 0 <= facts.survives_any <= facts.survives_at_most <= facts.drives
    assert 0 < facts.usable_bytes <= facts.raw_bytes
    risks = [data_loss(spec, rebuild_s) for rebuild_s in (3600.0, 1e7, math.inf)]
    failures = []
    for risk in risks:
        assert risk is not None
        assert risk.from_read_errors is not None
        assert 0 <= risk.from_failures <= risk.per_year <= 1
        failures.append(risk.from_failures)
    assert failures[0] <= failures[1] * (1 + 1e-9)
