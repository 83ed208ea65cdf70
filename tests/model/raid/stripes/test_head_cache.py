"""Stripe heads as units: in use, blank, or with what they hold."""

from __future__ import annotations

import random
from collections import OrderedDict

from raidsim.model.raid.stripes.head_cache import HeadCache
from raidsim.model.raid.stripes.head_contents import HeadContents

HEAD = 4096


def test_contents_are_those_of_single_heads() -> None:
    """Protects the runs: what is put, added and forgotten in ranges is what a table of heads holds, in its order."""
    draw, contents, expected = random.Random(3), HeadContents(), OrderedDict[tuple[int, int], int]()
    for _ in range(4000):
        row, first = draw.randrange(4), draw.randrange(12)
        end, known = first + draw.randint(1, 6), draw.randint(1, 3)
        kind = draw.randrange(4)
        for head in range(first, end):
            before = expected.pop((row, head), 0)
            if kind < 3:
                expected[row, head] = known if kind == 0 else before | known
        if kind == 0:
            contents.put(row, first, end, known)
        elif kind < 3:
            contents.add(row, first, end, known)
        else:
            contents.forget(row, first, end)
        assert contents.kept == len(expected)
        assert (row in contents) == any(each == row for each, _ in expected)
        assert contents.mask(row) == sum(1 << head for each, head in expected if each == row)
        for low, high, bits in contents.parts(row, 0, 20):
            assert [expected.get((row, head), 0) for head in range(low, high)] == [bits] * (high - low)
        if len(expected) > 25:
            oldest = contents.oldest()
            assert (oldest.row, oldest.first) == next(iter(expected))
            expected.popitem(last=False)
            contents.forget(oldest.row, oldest.first, oldest.first + 1)


def test_heads_in_use_and_kept_ones_are_no_more_than_there_are() -> None:
    """Protects the limit: a head that is taken for another row forgets what it held, the one used longest ago first."""
    cache = HeadCache(4, HEAD)
    for row in range(4):
        cache.keep(row, 0, HEAD, 1)
    assert cache.take(9, 0, 2 * HEAD)
    assert [cache.knows(row) for row in range(4)] == [False, False, True, True]
    assert cache.take(3, 0, HEAD)
    assert [cache.knows(row) for row in range(4)] == [False, False, True, True], "it is the one that holds it"
    assert cache.take(8, 0, HEAD)
    assert [cache.knows(row) for row in range(4)] == [False, False, False, True], "it is in use"
    assert not cache.take(7, 0, HEAD)


def test_a_head_is_in_use_until_the_last_one_gives_it_back() -> None:
    """Protects overlapping ranges: each head counts once, and is free when nobody has it any more."""
    cache = HeadCache(8, HEAD)
    assert cache.take(0, 0, 4 * HEAD)
    assert cache.take(0, 2 * HEAD, 6 * HEAD)
    assert cache.in_use == 6
    cache.release(0, 0, 4 * HEAD)
    assert cache.in_use == 4
    assert cache.take(0, 0, HEAD)
    cache.release(0, 2 * HEAD, 6 * HEAD)
    assert cache.in_use == 1
    cache.release(0, 0, HEAD)
    assert (cache.in_use, cache.most_in_use) == (0, 6)


def test_more_heads_than_there_are() -> None:
    """Protects I/O that is larger than the cache: it gets its heads if no other is in use, and nothing else is kept."""
    cache = HeadCache(4, HEAD)
    cache.keep(1, 0, HEAD, 1)
    assert cache.take(0, 0, 8 * HEAD)
    assert (cache.in_use, cache.free_heads, cache.knows(1)) == (4, 0, False)
    cache.keep(0, 0, 8 * HEAD, 3)
    cache.release(0, 0, 8 * HEAD)
    assert (cache.in_use, cache.free_heads) == (0, 4)
    cache.keep(2, 0, HEAD, 1)
    assert cache.parts(0, 0, 8 * HEAD) == [(0, 5 * HEAD, 0), (5 * HEAD, 8 * HEAD, 3)]


def test_a_smaller_cache_keeps_the_newest() -> None:
    """Protects the shrinker: what the cache has grown by is given back, the heads used longest ago first."""
    cache = HeadCache(2, HEAD, 8)
    cache.grow_to(6)
    cache.keep(0, 0, 6 * HEAD, 5)
    cache.shrink()
    assert cache.heads == 2
    assert cache.parts(0, 0, 6 * HEAD) == [(0, 4 * HEAD, 0), (4 * HEAD, 6 * HEAD, 5)]
