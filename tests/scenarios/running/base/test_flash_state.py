"""The state of flash that a run assumes: from what it writes, on the drives that it writes."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.flash_state import with_states, writers
from raidsim.scenarios.running.simulate import simulate

DRIVE = "Intel-P5510-7680GB"
RATED = 4194e6
IN_ORDER = "kind: load, targets: [disk0], pattern: sequential, read_share: 0%"
DAY = "[{name: day, lasts: 8h}, {name: night, lasts: 8h, pattern: random}]"
WRITE = "kind: load, pattern: sequential, block_size: 128KiB, depth: 32, read_share: 0%, warm_up: 20ms, duration: 50ms"


def scenario(workload: str, **drives: Any) -> ScenarioSpec:
    """Two drives with a load on them."""
    own = "".join(f", {field}: {value}" for field, value in drives.items())
    text = f"{{machine: {{model: server, drives: {{model: {DRIVE}, count: 2{own}}}}}, workload: {{{workload}}}}}"
    return document_from(text).spec()


def states(spec: ScenarioSpec) -> list[str | None]:
    """Of its drives, as the run has them."""
    known, _ = with_states(spec, writers(spec.workload))
    return [drive.state for drive in known.machine.drives.values()]


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        (IN_ORDER, ["sequential", None]),
        ("kind: load, targets: [disk0, disk1], read_share: 50%", ["steady", "steady"]),
        ("kind: load, targets: [disk0], pattern: mixed, read_share: 0%", ["steady", None]),
        ("kind: load, targets: [disk0], pattern: sequential", [None, None]),
        ("kind: dd, targets: [disk1], direction: write, size: 1GiB", [None, "sequential"]),
        ("kind: dd, targets: [disk1], direction: read, size: 1GiB", [None, None]),
        (
            f"{IN_ORDER}, phases: [{{name: day, lasts: 8h}}, {{name: night, lasts: 8h, pattern: random}}]",
            ["steady", None],
        ),
    ],
)
def test_the_state_follows_what_a_drive_is_written(workload: str, expected: list[str | None]) -> None:
    """Only writes in order, in all phases, mean a fill in order; a drive that is not written has no assumed state."""
    assert states(scenario(workload)) == expected


def test_a_state_that_is_given_stays() -> None:
    """The scenario's own state is neither replaced nor told again."""
    spec = scenario(f"targets: [disk0], {WRITE}", state="steady")
    known, told = with_states(spec, writers(spec.workload))
    assert known is spec
    assert told == ()


def test_members_of_an_array_have_the_state_of_its_writes() -> None:
    """The drives below an array are written as the array is."""
    text = f"{{machine: {{model: server, drives: {{model: {DRIVE}, count: 4}}}}, arrays: {{md0: {{level: raid5}}}}, "
    spec = document_from(text + "workload: {kind: load, targets: [md0], pattern: sequential, read_share: 0%}}").spec()
    assert states(spec) == ["sequential"] * 4


def test_writes_in_order_reach_the_data_sheet_and_worn_flash_does_not() -> None:
    """Wear of random writes is not charged to writes in order; of a drive that was written at random it is."""
    rates = []
    for drives in ({}, {"state": "steady"}):
        found = simulate(scenario(f"targets: [disk0], {WRITE}", **drives))
        rates.append(found.rate)
        assert any("state: sequential" in note for note in found.notes) == (not drives)
    assert rates[0] == pytest.approx(RATED, rel=0.15)
    assert rates[1] < 0.5 * rates[0]
