"""dm-cache over devices of known service time."""

from __future__ import annotations

import pytest

from raidsim.model.cache.dm_cache.target import DmCache
from raidsim.model.cache.settings import CacheMode, DmCacheSettings
from raidsim.model.cache.warm import WarmBlocks

from ..laboratory import FAST_S, KIB, MIB, READ, SLOW_S, WRITE, Laboratory

BLOCK = 64 * KIB


def cached(laboratory: Laboratory, mode: CacheMode = "writeback", blocks: int = 0, dirty: bool = False) -> DmCache:
    """A cache with its first blocks in it."""
    members = [laboratory.origin, laboratory.fast]
    device = DmCache(laboratory.engine, "c0", members, laboratory.metadata, laboratory.host, DmCacheSettings(mode=mode))
    device.warm(WarmBlocks(list(range(blocks)), [dirty] * blocks))
    return device


def test_a_hit_takes_the_time_of_the_cache_and_a_miss_that_of_the_origin() -> None:
    """Protects what a cache is for."""
    laboratory = Laboratory()
    device = cached(laboratory, blocks=4)
    assert laboratory.run(device, READ, [3 * BLOCK]) == [pytest.approx(FAST_S)]
    assert laboratory.run(device, READ, [4 * BLOCK]) == [pytest.approx(SLOW_S)]
    assert (device.read_hits, device.read_misses) == (1, 1)


def test_hot_blocks_come_into_the_cache() -> None:
    """Protects promotion from end to end: reads of two blocks become as fast as the cache."""
    laboratory = Laboratory()
    device = cached(laboratory)
    times = laboratory.run(device, READ, [0, 10 * BLOCK] * 40)
    assert times[0] == pytest.approx(SLOW_S)
    assert times[-1] == pytest.approx(FAST_S)
    assert device.promotions == 2


@pytest.mark.parametrize(
    ("mode", "seconds"), [("writeback", FAST_S), ("writethrough", SLOW_S), ("passthrough", SLOW_S)]
)
def test_where_a_write_goes(mode: CacheMode, seconds: float) -> None:
    """Protects the modes: only writeback spares the write the origin."""
    laboratory = Laboratory()
    device = cached(laboratory, mode, blocks=4)
    assert laboratory.run(device, WRITE, [0]) == [pytest.approx(seconds, rel=0.1)]
    assert laboratory.count("origin", "write") == (mode != "writeback")
    assert laboratory.count("fast", "write") == (mode != "passthrough")
    assert device.dirty_bytes == (BLOCK if mode == "writeback" else 0)


def test_passthrough_drops_what_is_written() -> None:
    """Protects from old data: a block that is written on the origin alone leaves the cache, with a commit."""
    laboratory = Laboratory()
    device = cached(laboratory, "passthrough", blocks=4)
    laboratory.run(device, WRITE, [0])
    laboratory.rest(0.1)
    assert device.policy.resident == 3
    assert device.commits.count == 1


def test_dirty_blocks_wait_for_an_idle_origin() -> None:
    """Protects the origin: nothing is written back for a second after its last I/O, then all of it."""
    laboratory = Laboratory()
    device = cached(laboratory, blocks=8, dirty=True)
    laboratory.run(device, READ, [100 * BLOCK])
    laboratory.rest(0.9)
    assert device.writebacks == 0
    laboratory.rest(2.0)
    assert device.writebacks == 8
    assert device.dirty_bytes == 0


def test_an_idle_clean_cache_schedules_nothing() -> None:
    """Protects long runs from an event a second: ticks that were missed are made up at the next I/O."""
    laboratory = Laboratory()
    device = cached(laboratory, blocks=8)
    laboratory.run(device, READ, [0])
    assert laboratory.engine.pending() == []
    laboratory.engine.call_at(10_000.0, lambda _: None)
    laboratory.engine.run()
    assert laboratory.run(device, READ, [0]) == [pytest.approx(FAST_S)]


def test_a_flush_commits_the_mappings_that_have_changed() -> None:
    """Protects fsync: metadata go first, and only if there is something new in them; both devices are flushed."""
    laboratory = Laboratory()
    device = cached(laboratory)
    laboratory.run(device, WRITE, [0], BLOCK)
    laboratory.flush(device)
    assert laboratory.count("metadata", "write") == 4
    assert laboratory.log[-2:] == [("origin", "flush"), ("fast", "flush")]
    laboratory.flush(device)
    assert laboratory.count("metadata", "write") == 4


def test_a_write_of_a_whole_block_goes_straight_into_the_cache() -> None:
    """Protects streams into a writeback cache with room; in writethrough the origin has them."""
    laboratory = Laboratory()
    device = cached(laboratory)
    laboratory.run(device, READ, [50 * BLOCK])
    laboratory.run(device, WRITE, [0, BLOCK], BLOCK)
    assert laboratory.count("origin", "write") == 0
    assert device.promotions == 2
    through = cached(laboratory, "writethrough")
    laboratory.run(through, WRITE, [0], BLOCK)
    assert laboratory.count("origin", "write") == 1


def test_a_block_that_moves_takes_no_write_and_loses_none() -> None:
    """Protects data: a write to a block that is being written back waits for it and leaves it dirty."""
    laboratory = Laboratory()
    device = cached(laboratory, blocks=1, dirty=True)
    laboratory.rest(1.026)
    assert laboratory.count("fast", "read") == 1
    times = laboratory.run(device, WRITE, [0])
    assert times[0] > FAST_S
    assert device.writebacks == 1
    assert device.dirty_bytes == BLOCK


def test_an_io_over_several_blocks_is_cut() -> None:
    """Protects reads across a hit and a miss: each block is served where it is."""
    laboratory = Laboratory(cache=16 * MIB)
    device = cached(laboratory, blocks=1)
    laboratory.run(device, READ, [0], 2 * BLOCK)
    assert laboratory.log == [("fast", "read"), ("origin", "read")]
