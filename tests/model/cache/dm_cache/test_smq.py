"""The policy smq."""

from __future__ import annotations

from raidsim.model.cache.dm_cache.smq import DEMOTE, PROMOTE, WRITE_BACK, Smq


def promoted(policy: Smq, block: int) -> int:
    """Miss a block until it is promoted, and let it come in; how many misses that took."""
    for misses in range(1, 200):
        policy.lookup(block)
        policy.tick(10.0 + misses * 0.01)
        work = policy.next_work(False)
        if work is not None:
            assert (work.kind, work.block) == (PROMOTE, block)
            policy.complete(work)
            return misses
    raise AssertionError("never promoted")


def test_one_visit_promotes_nothing() -> None:
    """Protects a scan from filling the cache: blocks that are read once stay on the origin."""
    policy = Smq(256, 100_000)
    for block in range(0, 100_000, 64):
        policy.lookup(block)
        policy.tick(block * 1e-5)
    assert policy.resident == 0


def test_visits_in_a_row_promote() -> None:
    """The counter-test: a block that is missed again and again climbs above all others, and is promoted."""
    policy = Smq(256, 100_000)
    for block in range(0, 100_000, 64):
        policy.lookup(block)
        policy.tick(block * 1e-5)
    assert 2 <= promoted(policy, 50_007) <= 16


def test_nothing_is_promoted_before_the_first_tick() -> None:
    """Protects a fresh cache: the threshold is above all levels until it is first set."""
    policy = Smq(256, 100_000)
    for _ in range(50):
        policy.lookup(7)
    assert policy.next_work(False) is None


def test_a_whole_write_is_promoted_at_once_while_there_is_room() -> None:
    """Protects writes of whole blocks, which need no read; a part of a block waits for its second visits."""
    policy = Smq(4, 1000)
    policy.lookup(3, whole_write=True)
    assert [work.block for work in policy.waiting] == [3]
    policy.lookup(5)
    assert len(policy.waiting) == 1


def test_a_full_cache_demotes_a_clean_block() -> None:
    """Protects a full cache from standing still: the oldest of its lower half makes room, a quarter at most."""
    policy = Smq(8, 1000)
    for block in range(8):
        policy.fill(block, 0)
    for _ in range(4):
        policy.lookup(100, whole_write=False)
        policy.tick(0.1)
        policy._promote(100)
    kinds = [work.kind for work in policy.waiting]
    assert kinds == [DEMOTE, DEMOTE]


def test_a_full_dirty_cache_writes_back_what_is_older_than_ten_seconds() -> None:
    """Protects from a cache that no block leaves any more since all are dirty."""
    policy = Smq(8, 1000)
    for block in range(8):
        policy.fill(block, 0, dirty=True)
    policy._promote(100)
    assert [work.kind for work in policy.waiting] == [WRITE_BACK]


def test_dirty_blocks_are_written_back_while_the_origin_is_idle() -> None:
    """Protects the origin under load from writeback, which waits until nothing else is to be done."""
    policy = Smq(8, 1000)
    policy.fill(3, 0, dirty=True)
    assert policy.next_work(False) is None
    work = policy.next_work(True)
    assert work is not None
    assert work.kind == WRITE_BACK
    policy.set_dirty(work.place, False)
    policy.complete(work)
    assert policy.next_work(True) is None


def test_passthrough_promotes_nothing() -> None:
    """Protects the mode that only reads old caches out."""
    policy = Smq(256, 1000, promotes=False)
    for tick in range(100):
        policy.lookup(7)
        policy.tick(tick * 0.01)
    assert policy.next_work(False) is None
