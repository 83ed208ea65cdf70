"""Scenarios that were found to break a law: those that are mended keep it, those that are open still break it."""

from __future__ import annotations

import pytest

from raidsim.validation.laws.broken import ANSWERS, Kept, kept, violations
from raidsim.validation.laws.laws import LAWS
from raidsim.validation.laws.trial import Trial


def cases() -> list[object]:
    """Each kept scenario; one that is open is expected to break its law."""
    return [
        pytest.param(
            each, id=name, marks=[pytest.mark.xfail(strict=True, reason=each.reason)] if each.status == "open" else []
        )
        for name, each in kept().items()
    ]


@pytest.mark.parametrize("found", cases())
def test_a_kept_scenario_keeps_its_law(found: Kept) -> None:
    """Protects what was mended; who mends an open one takes it off the list by `status: mended`."""
    broken = [each.violation for each in violations(LAWS.get(found.law), found.scenario)]
    assert [each for each in broken if each.kind == found.kind] == []


def test_kept_scenarios_name_laws_and_can_be_run() -> None:
    """Protects the list itself: a law or a scenario that does not exist any more would be expected to fail for ever."""
    for name, found in kept().items():
        assert found.law in {*LAWS, ANSWERS}, name
        assert found.reason, name
        assert Trial(found.scenario).spec.machine.drives, name
