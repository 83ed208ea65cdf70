"""What a comparison and advice say first: which design, by how much, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.api.tables.decision import advice_decision, comparison_decision
from raidsim.model.statistics.batch_means import Estimate
from raidsim.scenarios.advice.advice import advise
from raidsim.scenarios.comparison.alternatives import Design
from raidsim.scenarios.comparison.array_facts import ArrayFacts
from raidsim.scenarios.comparison.side_by_side import Comparison, Measured
from raidsim.scenarios.designs.requirement import RequirementSpec, read_requirement

DISKS = "drives: [{model: Exos-15E900-900GB, count: 8}]\nlevels: [raid10, raid6]\nbitmap: none\n"


def known(mean: float) -> Estimate:
    """A figure that is known to a hundredth."""
    return Estimate(mean, 0.01 * mean, 0.9, 20, 0.0, 0.0, False)


def design(
    layout: str,
    *,
    iops: float,
    p99_s: float = 0.01,
    offered: float | None = None,
    commands: float = 1.0,
    usable: float = 4e12,
) -> Measured:
    """A design as it comes out of a comparison."""
    return Measured(
        Design(1, {"layout": layout}, None),
        ArrayFacts(int(usable), int(8e12), 1, 1, None, 8),
        estimates={"iops": known(iops), "write_p99_seconds": known(p99_s)},
        saturated=offered is not None and iops < 0.99 * offered,
        offered_iops=offered,
        commands_per_io=commands,
    )


def decision(*designs: Measured) -> str:
    """What a comparison of these designs says first."""
    return comparison_decision(Comparison(designs, 1, 5, True))


def test_the_fastest_design_is_named_with_its_lead_and_the_cause() -> None:
    """Protects the first line of a comparison: who serves most, how many times as many, and commands for each I/O."""
    told = decision(design("raid5", iops=500, commands=4.0), design("raid10", iops=1000, commands=2.0))
    assert told.startswith("Most served: raid10, 1,000 IOPS, 2 times raid5. ")
    assert "Each I/O takes 4 drive commands on raid5 and 2 on raid10." in told


def test_a_cause_that_is_none_is_not_told() -> None:
    """The counter-test: with as many commands for each I/O, they are not why."""
    assert "commands" not in decision(design("raid5", iops=500), design("raid10", iops=1000))


def test_who_serves_an_offered_load_comes_first() -> None:
    """A design that does not serve the load is named with what it serves; of those that do, the latencies."""
    late, fit = design("raid6", iops=309, offered=1600), design("raid10", iops=1600, offered=1600)
    assert decision(late, fit).startswith("All 1,600 IOPS are served by raid10; raid6 309.")
    assert decision(late, late).startswith("None serves all 1,600 IOPS: raid6 309 and raid6 309.")
    slow = design("raid1", iops=1600, offered=1600, p99_s=0.05)
    assert decision(fit, slow).startswith("99 % of writes are within 10 ms on raid10, and 50 ms on raid1, 5 times as")


def test_what_is_not_told_apart_is_said_to_be_alike() -> None:
    """Protects from a winner by chance, and from a sentence about a single design."""
    assert decision(design("raid5", iops=1000), design("raid6", iops=1010)) == "All serve about as many I/Os."
    assert not decision(design("raid5", iops=1000))


def test_the_largest_design_is_named() -> None:
    """Speed is not all that is chosen by."""
    larger = design("raid5", iops=1000, usable=6e12)
    assert decision(design("raid10", iops=1000), larger).endswith("Most space: raid5, 6.00 TB.")


@pytest.fixture(scope="module")
def requirement(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What RAID 10 of eight disks meets."""
    path = tmp_path_factory.mktemp("advice") / "wanted.yaml"
    load = "load: {total_iops: 300, read_share: 50%, block_size: 8KiB, span: 100GB}\n"
    path.write_text(f"{load}limits: {{p99: 60ms}}\n{DISKS}", encoding="utf-8")
    return path


def advised(path: Path, *changes: str) -> str:
    """What advice says first of a requirement with changes."""
    wanted: RequirementSpec = read_requirement(path, list(changes))
    return advice_decision(advise(wanted, workers=1))


def test_advice_begins_with_the_design_and_its_spare_room(requirement: Path) -> None:
    """Protects the sentence that people act on: the latency, its limit, and how near saturation is."""
    told = advised(requirement)
    assert " meets it: write p99 " in told.partition(".")[0]
    assert "of 60 ms" in told
    assert told.count("% of the load at which it saturates") == 1


def test_advice_says_by_how_much_a_limit_is_missed(requirement: Path) -> None:
    """The counter-test: with a limit that no design keeps, none meets it, and the nearest one is named."""
    told = advised(requirement, "limits.p99=8ms")
    assert "meets it" not in told
    assert told.startswith("RAID 10, 8 x Exos-15E900-900GB, 64 KiB does not: write p99 ")
    assert "times the limit, with " in told
