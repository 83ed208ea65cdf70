"""Tests of the check of what members have outstanding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.validation.conformance.base import TruthFile
from raidsim.validation.conformance.pools.pools import check
from raidsim.validation.conformance.pools.queues import Transfer, levels


def _phase(name: str, level: int) -> dict[str, Any]:
    """Reads of members of 10 ms, with this many outstanding."""
    requests = [[10_000 * (number // level), 10_000, 0, "R", 1000 * number, 64] for number in range(level * 50)]
    return {"phase": name, "requests": requests}


def _transfers(count: int, size: int, op: int = READ, member: int = 0) -> list[Transfer]:
    return [Transfer(member, op, 0.01 * at, 0.01 * (at + 1), size) for at in range(30) for _ in range(count)]


@pytest.mark.parametrize(("level", "matched"), [(3, 1), (5, 0)])
def test_a_scrub_has_three_requests_outstanding(level: int, matched: int) -> None:
    """A recording with three outstanding matches; counter-test: one with five does not."""
    member = {"completion_us": 10000, "depth": 64, "rotational": 1, "max_kib": 1280}
    content = {"pool": "q_mirror2_10ms", "member": member, "notation": "", "phases": [_phase("q_scrub", level)]}
    found = check([TruthFile(Path("q_mirror2_10ms.json.gz"), content)], lambda _: None)
    assert (found.cases, found.matched) == (1, matched)


def test_levels_beside_a_load() -> None:
    """The reads of a scan are told from those of the load by their size, and counted while the load has some."""
    alone = [each._replace(begin=each.begin + 1.0, end=each.end + 1.0) for each in _transfers(3, 128 << 10)]
    beside = _transfers(1, 128 << 10) + _transfers(2, 16 << 10)
    assert levels(alone + beside, "scrub", loaded=True) == {"reads": 3, "reads with a load": 1}
    assert levels(_transfers(3, 16 << 10), "scrub", loaded=False) == {"reads": 3}


def test_writes_of_a_resilver_are_those_of_the_new_member() -> None:
    """The member that is written most is new; metadata that the others write do not count."""
    found = levels(_transfers(3, 128 << 10) + _transfers(2, 128 << 10, WRITE, 1), "resilver", loaded=False)
    assert found == {"writes": 2, "reads": 3}
