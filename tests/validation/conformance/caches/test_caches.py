"""SSD caches against recordings with the requests of every device."""

from __future__ import annotations

import pytest

from raidsim.model.cache.bcache.bypass import Congestion
from raidsim.model.cache.dm_cache.smq import Smq
from raidsim.validation.conformance.base import KindResult
from raidsim.validation.conformance.caches.caches import check
from raidsim.validation.conformance.run import check_all
from raidsim.validation.conformance.truth_files import load_truth

FILES = load_truth().by_kind["cache"]


def checked(name: str) -> KindResult:
    """The phases of the recordings whose names begin so."""
    return check([file for file in FILES if file.path.name.startswith(name)], lambda _: None)


def test_the_aim_is_reached() -> None:
    """Protects the caches from drifting away from the real drivers; each miss is explained."""
    (result,) = check_all(["cache"])
    assert (result.cases, result.matched) == (97, 78)
    assert all(miss.why for miss in result.misses)


def test_every_request_of_a_write_cache_is_the_recorded_one() -> None:
    """Protects dm-writecache: in 13 phases of 14 all sectors and lengths of both devices are the same."""
    result = checked("dmwritecache_0")
    assert [miss.case for miss in result.misses] == ["dmwritecache_0 idle"]
    assert result.cases == 14


def test_passthrough_matches_in_all_phases() -> None:
    """Protects the mode without promotions, where nothing depends on time."""
    result = checked("dmcache_smq_passthrough")
    assert (result.cases, result.misses) == (14, [])


def test_bcache_writearound_matches_in_all_phases() -> None:
    """Protects bcache's reads: all that is missed comes into the cache at once, but while it is congested."""
    result = checked("bcache_writearound")
    assert (result.cases, result.misses) == (13, [])


def test_without_congestion_streams_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: if late answers of the cache did not count, parts of the recorded stream would be cached."""
    monkeypatch.setattr(Congestion, "cutoff", lambda self, now: 0)
    result = checked("bcache_writearound")
    assert [miss.case for miss in result.misses] == ["bcache_writearound seq_read"]


def test_another_rule_of_promotion_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: a policy that promotes what is read for the first time does not match."""
    tick = Smq.tick

    def eager(self: Smq, now: float) -> None:
        tick(self, now)
        self._promote_level = 0

    monkeypatch.setattr(Smq, "tick", eager)
    result = checked("dmcache_smq_writethrough")
    assert any(miss.case.endswith("cold_read") for miss in result.misses)
