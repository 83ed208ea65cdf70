"""Tests of the check of pools at work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raidsim.validation.conformance.base import KindResult, NotSupported, TruthFile
from raidsim.validation.conformance.pools.laboratory import pool_created, pool_named
from raidsim.validation.conformance.pools.pools import check

MEMBER = {"completion_us": 4000, "depth": 1, "max_kib": 64, "scheduler": "mq-deadline", "flush_us": 4000}


def result_of(content: dict[str, Any]) -> KindResult:
    """What the check says of a recording."""
    return check([TruthFile(Path("recording.json"), content)], lambda _: None)


@pytest.mark.parametrize(
    ("name", "members", "roles"),
    [
        ("raidz2_n6", 6, ["normal"]),
        ("thr_raidz1_n4_hdd4ms", 4, ["normal"]),
        ("mirror2x2", 4, ["normal", "normal"]),
        ("mirror_n2_slogmirror", 4, ["normal", "log"]),
        ("raidz1_n4_special", 6, ["normal", "special"]),
        ("stripe_n2", 2, ["normal", "normal"]),
    ],
)
def test_pools_by_their_names(name: str, members: int, roles: list[str]) -> None:
    """The names of recordings say which vdevs there were."""
    pool = pool_named(name)
    assert (pool.members, pool.roles) == (members, roles)


def test_an_unknown_pool_is_not_checked() -> None:
    """A name or command that says nothing of the vdevs is not supported; its cases are not checked."""
    with pytest.raises(NotSupported, match="a pool called"):
        pool_named("tank")
    with pytest.raises(NotSupported, match="zpool create"):
        pool_created("file", "zpool list")
    found = result_of({"member": MEMBER, "results": {"tank": {"randread_4k_r128_j1": {"read": {"iops": 1.0}}}}})
    assert (found.cases, found.cases_not_checked) == (0, 1)


def test_a_rate_that_is_far_off_is_a_miss() -> None:
    """Counter-test: a recorded rate matches within 20 %, one that is twice as large does not."""
    jobs = {"randread_4k_r128_j1": {"read": {"iops": 125.0}}, "randread_16k_r16_j1": {"read": {"iops": 500.0}}}
    found = result_of({"member": MEMBER, "results": {"mirror_n2": jobs}})
    assert (found.cases, found.matched) == (2, 1)
    assert "recorded 500.0 I/Os per second; the model has 24" in found.misses[0].difference
