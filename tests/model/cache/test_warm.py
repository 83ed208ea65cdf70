"""What past loads leave in a cache."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.model.cache.warm import PastLoad, full_blocks, warm_blocks
from raidsim.model.loads.locality import Hot, Uniform

GIB = 1 << 30
BLOCK = 64 << 10


def test_the_hot_part_is_in_the_cache() -> None:
    """Protects the warm state: of 10 % of the span that get 90 % of the I/Os, a cache of that size holds nearly all."""
    hot = Hot(0.9, 0.1, GIB // BLOCK, clustered=True)
    found = warm_blocks(np.random.default_rng(1), [PastLoad(hot, 0, GIB, 0.5)], GIB // BLOCK // 10, BLOCK)
    assert np.mean(np.array(found.blocks) < GIB // BLOCK // 10) > 0.95


def test_of_a_uniform_load_any_blocks_are_there() -> None:
    """The counter-test: without locality the cache holds its share of the span and no particular part."""
    found = warm_blocks(np.random.default_rng(1), [PastLoad(Uniform(), 0, GIB, 1.0)], 1000, BLOCK)
    assert len(found.blocks) == 1000
    assert np.mean(found.blocks) == pytest.approx(GIB / BLOCK / 2, rel=0.1)
    assert not any(found.written)


def test_what_was_written_is_dirty() -> None:
    """Protects writeback caches from a clean start: of a load that only writes all is dirty."""
    assert all(warm_blocks(np.random.default_rng(1), [PastLoad(Uniform(), 0, GIB, 0.0)], 1000, BLOCK).written)


def test_no_load_leaves_nothing() -> None:
    """Protects caches under file systems, whose places nobody knows beforehand: they are cold."""
    assert warm_blocks(np.random.default_rng(1), [], 1000, BLOCK).blocks == []


def test_a_full_cache_has_each_block_once() -> None:
    """Protects the state `full`."""
    found = full_blocks(np.random.default_rng(1), 100, 1000)
    assert len(set(found)) == 100
    assert max(found) < 1000
