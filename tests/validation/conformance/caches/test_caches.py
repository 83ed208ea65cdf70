"""SSD caches against recordings with the requests of every device."""

from __future__ import annotations

import pytest

from raidsim.model.cache.bcache.bypass import Congestion
from raidsim.model.cache.dm_cache.smq import Smq
from raidsim.model.tasks.fair_share import FairShare
from raidsim.validation.conformance.base import KindResult
from raidsim.validation.conformance.caches.caches import check, requests_of
from raidsim.validation.conformance.caches.laboratory import Laboratory
from raidsim.validation.conformance.caches.setup import build_of
from raidsim.validation.conformance.run import check_all
from raidsim.validation.conformance.truth_files import load_truth

FILES = load_truth().by_kind["cache"]


def checked(name: str) -> KindResult:
    """The phases of the recordings whose names begin so."""
    return check([file for file in FILES if file.path.name.startswith(name)], lambda _: None)


def test_the_aim_is_reached() -> None:
    """Protects the caches from drifting away from the real drivers; each miss is explained."""
    (result,) = check_all(["cache"])
    assert (result.cases, result.matched) == (109, 89)
    assert all(miss.why for miss in result.misses)


def promoted(name: str) -> tuple[list[int], list[int]]:
    """The blocks that are copied into the cache in the first three phases: recorded, and from the model."""
    file = next(file for file in FILES if file.path.name == f"{name}.json")
    recorded = [
        sector // 128
        for phase in requests_of(file.path, name).values()
        for _, _, member, _, sector, sectors in phase
        if member == 0 and sectors >= 128
    ]
    laboratory = Laboratory(file.content, build_of(file.content, name), name)
    for phase in ("cold_read", "hot_read1", "hot_read2"):
        laboratory.play(file.content["results"][name][phase]["op"])
    model = [each.offset // 65_536 for each in laboratory.noted if each.member == 0 and each.size >= 65_536]
    return recorded[:100], model[:100]


def test_blocks_are_promoted_in_the_recorded_order() -> None:
    """Protects smq, and who gets the origin's only tag: the first 100 copies are the recorded ones in order."""
    recorded, model = promoted("dmcache_smq_writeback")
    assert model == recorded


def test_without_a_fair_scheduler_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: if the thread that copies always ran before the program, other blocks would be promoted."""
    monkeypatch.setattr(FairShare, "is_ahead", property(lambda self: False))
    recorded, model = promoted("dmcache_smq_writeback")
    assert model != recorded


@pytest.mark.parametrize("name", ["dmcache_fio", "bcache_fio"])
def test_reads_of_a_skewed_load_find_what_the_recorded_ones_found(name: str) -> None:
    """Protects jobs of fio on a cache: rates of reads, and their share of hits."""
    result = checked(name)
    assert result.cases == 6
    assert [miss.case for miss in result.misses if "zipf_rw70_q4.0" in miss.case and name == "dmcache_fio"] == []


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
