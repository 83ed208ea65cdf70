"""Sets of byte ranges against a plain set of bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.core import extents as module
from raidsim.model.core.extents import ExtentSet, FlatExtentSet

LAST = 40
SHORT = 3
"""Extents of a flat set, so that sets of a few dozen bytes are made of several."""
RANGES = st.tuples(st.booleans(), st.integers(0, LAST), st.integers(0, LAST))


@pytest.fixture(autouse=True, scope="module")
def _short_lists() -> Iterator[None]:
    """Split lists early: what is compared here are sets of several flat ones."""
    most, module.MOST_EXTENTS = module.MOST_EXTENTS, SHORT
    yield
    module.MOST_EXTENTS = most


@given(st.lists(RANGES, max_size=40))
def test_adding_and_removing_is_what_it_is_for_sets(steps: list[tuple[bool, int, int]]) -> None:
    """Protects every count of dirty and cached bytes: results, totals and extents equal those of a set of bytes."""
    extents, oracle = ExtentSet(), set[int]()
    for adds, first, second in steps:
        start, end = min(first, second), max(first, second)
        piece = set(range(start, end))
        if adds:
            assert extents.add(start, end) == len(piece - oracle)
            oracle |= piece
        else:
            assert extents.remove(start, end) == len(piece & oracle)
            oracle -= piece
        runs = list(extents)
        assert {byte for low, high in runs for byte in range(low, high)} == oracle
        assert extents.total == len(oracle)
        assert bool(extents) == bool(oracle)
        assert all(low < high for low, high in runs), "no empty extent"
        assert all(here[1] < after[0] for here, after in pairwise(runs)), "sorted, not touching"
        for byte in range(LAST + 1):
            run = byte
            while run in oracle:
                run += 1
            assert extents.run_from(byte) == run
            run = byte
            while run - 1 in oracle:
                run -= 1
            assert extents.run_to(byte) == run
            later = [low for low, _ in runs if low >= byte]
            assert extents.next_start(byte) == (later[0] if later else None)


def test_appending_keeps_one_extent() -> None:
    """Protects the sequential case from growing a list: a thousand neighbors are one extent."""
    extents = ExtentSet()
    for at in range(1000):
        extents.add(at * 4096, (at + 1) * 4096)
    assert list(extents) == [(0, 1000 * 4096)]
    assert extents.first() == (0, 1000 * 4096)
    extents.remove(4096, 8192)
    assert list(extents) == [(0, 4096), (8192, 1000 * 4096)], "and a hole makes it two"


def test_nothing_is_nothing() -> None:
    """Protects from empty extents, which a flusher would write back for ever."""
    extents = ExtentSet()
    assert extents.add(5, 5) == 0
    assert not extents
    extents.add(0, 10)
    assert extents.remove(5, 5) == 0
    assert list(extents) == [(0, 10)]


def test_a_range_is_cut_where_the_set_begins_and_ends() -> None:
    """Protects who treats bytes in a set and others differently: no byte is left out, none comes twice."""
    extents = ExtentSet()
    for start, end in ((10, 20), (30, 40)):
        extents.add(start, end)
    assert extents.parts(15, 35) == [(15, 20, True), (20, 30, False), (30, 35, True)]
    assert extents.parts(0, 10) == [(0, 10, False)]
    assert extents.parts(12, 18) == [(12, 18, True)]
    assert extents.parts(40, 50) == [(40, 50, False)]
    assert extents.parts(5, 5) == []


@given(st.lists(RANGES, min_size=10, max_size=60), RANGES)
def test_a_set_of_several_lists_answers_as_one_list_does(
    steps: list[tuple[bool, int, int]], asked: tuple[bool, int, int]
) -> None:
    """Protects large sets of pages: where lists are split shows in no answer."""
    split, flat = ExtentSet(), FlatExtentSet()
    low, high = min(asked[1:]), max(asked[1:])
    for adds, first, second in steps:
        start, end = min(first, second), min(first, second) + second % 4
        if adds:
            assert split.add(start, end) == flat.add(start, end)
        else:
            assert split.remove(start, end) == flat.remove(start, end)
        assert split.parts(low, high) == flat.parts(low, high)
        assert split.overlaps(low, high) == flat.overlaps(low, high)
        if flat:
            assert split.first() == flat.first()


def test_no_list_grows_with_the_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the time of a write: an insertion moves no more than a list that is split at its limit."""
    monkeypatch.setattr(module, "MOST_EXTENTS", 64)
    pages, places = ExtentSet(), random.Random(1)
    for _ in range(20_000):
        at = places.randrange(1 << 24) * 4096
        pages.add(at, at + 4096)
    assert pages._many is not None
    lengths = [len(flat.starts) for flat in pages._many._flat]
    assert max(lengths) <= 64
    assert sum(lengths) / len(lengths) > 64 / 3, "and the lists are well filled, so there are few"
    pages.remove(0, 1 << 40)
    assert not pages
    assert pages._many is None, "none is left over"
