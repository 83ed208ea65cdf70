"""fio's random map, beside one flag a block in a row."""

from __future__ import annotations

import random
import tracemalloc

from raidsim.model.programs.fio.random_map import RandomMap


def test_every_block_comes_once() -> None:
    """Protects random jobs from blocks that come twice or never: the next free one upward, then from the start."""
    blocks, draw = 5000, random.Random(1)
    had, found = [False] * blocks, RandomMap(blocks)
    for _ in range(4000):
        block, count = draw.randrange(blocks), draw.choice((1, 1, 2, 700))
        free = next((at for at in (*range(block, blocks), *range(block)) if not had[at]), None)
        assert found.free_from(block) == free
        if free is None:
            break
        end = next((at for at in range(free, min(free + count, blocks)) if had[at]), min(free + count, blocks))
        assert found.take(free, count) == end - free
        had[free:end] = [True] * (end - free)
    assert all(had)
    assert found.free_from(17) is None
    found.clear()
    assert found.free_from(17) == 17


def test_a_large_device_takes_memory_for_what_is_touched() -> None:
    """Protects jobs on arrays of many terabytes from a flag for each of their thousands of millions of blocks."""
    tracemalloc.start()
    found, draw = RandomMap(1 << 35), random.Random(2)
    for _ in range(1000):
        found.take(draw.randrange(1 << 35), 2)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 << 20
