"""Arrays behind controllers: the seats of their drives tell spans and arms."""

from __future__ import annotations

import pytest

from raidsim.calibration.inspection.tools.controllers.hardware import connect
from raidsim.calibration.inspection.tools.facts import Fact
from raidsim.calibration.inspection.tools.findings import Findings, FoundArray, FoundController, FoundDrive
from raidsim.calibration.inspection.tools.seat import Seat


@pytest.mark.parametrize(
    ("level", "spans", "arms", "expected", "groups"),
    [
        ("raid0", 1, 4, "raid0", None),
        ("raid1", 1, 2, "raid1", None),
        ("raid1", 3, 2, "raid10", None),
        ("raid5", 1, 4, "raid5", None),
        ("raid5", 3, 3, "raid50", 3),
        ("raid6", 2, 4, "raid60", 2),
    ],
)
def test_the_spans_of_the_seats_are_the_groups_of_an_array(
    level: str, spans: int, arms: int, expected: str, groups: int | None
) -> None:
    """Protects nested levels: where no output tells the depth of spans, the spans that drives sit in are counted, and
    the members are in the order of their spans and arms.
    """
    found = Findings()
    found.controllers["c0"] = FoundController("c0", "test")
    found.arrays["c0v0"] = array = FoundArray("c0v0", "test", 1, Fact(level, "test"))
    array.controller, array.group = "c0", 0
    for number in range(spans * arms):
        name = f"d{number}"
        found.drives[name] = FoundDrive(name, "test")
        found.drives[name].seat = Seat("c0", "in use", 0, number % spans, number // spans)
    connect(found)
    assert array.level is not None
    assert (array.level.value, array.groups and array.groups.value) == (expected, groups)
    assert [member.device for member in array.members] == [
        f"d{n}" for span in range(spans) for n in range(span, spans * arms, spans)
    ]
