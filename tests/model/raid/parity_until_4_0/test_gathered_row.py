"""Rows being gathered: what is covered, and into which ranges they split. Three data blocks, heads of 4 KiB."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raidsim.model.core.request import WRITE, Request
from raidsim.model.raid.parity_until_4_0.gathered_row import GatheredRow
from raidsim.model.raid.stripes.owner import Owner
from raidsim.tests.model.recording import KIB

HEAD = 4 * KIB


def row(*pieces: tuple[int, int, int], sync: bool = False) -> GatheredRow:
    """A row with (data index, low, high) pieces."""
    gathered = GatheredRow(0, 3, 0.0)
    owner = Owner(Request(WRITE, 0, HEAD, lambda _: None, sync=sync), len(pieces))
    for index, low, high in pieces:
        gathered.add(index, low, high, owner)
    return gathered


def test_pieces_grow_together() -> None:
    """Protects gathering: neighbors become one piece of their block, and bytes, owners and heads are counted."""
    gathered = row((1, 8 * KIB, 12 * KIB), (1, 12 * KIB, 16 * KIB), (1, 4 * KIB, 8 * KIB), (0, 0, KIB))
    assert gathered.cover == [(0, KIB), (4 * KIB, 16 * KIB), None]
    assert (gathered.low, gathered.high, gathered.covered) == (0, 16 * KIB, 13 * KIB)
    assert (gathered.acquired, len(gathered.owners)) == (4, 4)


def test_only_neighbours_and_firsts_touch() -> None:
    """Protects one run per block: a gap or an overlap does not go into the same row."""
    gathered = row((1, 8 * KIB, 12 * KIB))
    assert gathered.touches(1, 12 * KIB, 13 * KIB)
    assert gathered.touches(1, 4 * KIB, 8 * KIB)
    assert gathered.touches(0, 0, HEAD)
    assert not gathered.touches(1, 13 * KIB, 16 * KIB)
    assert not gathered.touches(1, 8 * KIB, 12 * KIB)


def test_pieces_with_holes_between_them_stay_apart_until_they_touch() -> None:
    """Protects rows of two files: a block's pieces are counted in order, what closes the hole makes them one."""
    pieces = (1, 8 * KIB, 12 * KIB), (1, 0, HEAD), (1, 14 * KIB, 16 * KIB)
    gathered = row(*pieces)
    assert gathered.spans(1) == [(0, HEAD), (8 * KIB, 12 * KIB), (14 * KIB, 16 * KIB)]
    assert (gathered.low, gathered.high, gathered.covered) == (0, 16 * KIB, 10 * KIB)
    assert gathered.ranges(HEAD) == [
        (0, 4 * KIB, [1], []),
        (8 * KIB, 12 * KIB, [1], []),
        (12 * KIB, 16 * KIB, [], [1]),
    ]
    assert gathered.overlaps(1, 3 * KIB, 5 * KIB)
    assert not gathered.overlaps(1, HEAD, 8 * KIB)
    assert row(*pieces, (1, HEAD, 8 * KIB)).spans(1) == [(0, 12 * KIB), (14 * KIB, 16 * KIB)]
    assert not row(*pieces, (1, HEAD, 8 * KIB), (1, 12 * KIB, 14 * KIB)).apart


def test_somebody_waits_if_anybody_does() -> None:
    """Protects sync writes in a row with others."""
    assert not row((0, 0, HEAD)).sync
    assert row((0, 0, HEAD), sync=True).sync


def test_ranges_split_where_the_blocks_change() -> None:
    """Protects the plan by range: 2-14 KiB of block 0 and 8-12 KiB of block 1 are four ranges."""
    assert row((0, 2 * KIB, 14 * KIB), (1, 8 * KIB, 12 * KIB)).ranges(HEAD) == [
        (0, 4 * KIB, [], [0]),
        (4 * KIB, 8 * KIB, [0], []),
        (8 * KIB, 12 * KIB, [0, 1], []),
        (12 * KIB, 16 * KIB, [], [0]),
    ]


def test_a_gap_is_no_range() -> None:
    """Protects what lies between two blocks' pieces from being written."""
    assert row((0, 0, HEAD), (2, 12 * KIB, 16 * KIB)).ranges(HEAD) == [
        (0, 4 * KIB, [0], []),
        (12 * KIB, 16 * KIB, [2], []),
    ]


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(1, 32)), min_size=3, max_size=3))
def test_ranges_cover_what_is_written(pieces: list[tuple[int, int]]) -> None:
    """Protects every byte: ranges are disjoint, aligned to heads of 8 bytes, and say what is written of each block."""
    cover = [(low, min(32, low + size)) for low, size in pieces]
    gathered = row(*((index, low, high) for index, (low, high) in enumerate(cover)))
    last = 0
    for low, high, full, partial in gathered.ranges(8):
        assert last <= low < high
        assert low % 8 == high % 8 == 0
        last = high
        for index, (start, end) in enumerate(cover):
            written = set(range(start, end)) & set(range(low, high))
            assert (index in full) == (len(written) == high - low)
            assert (index in partial) == (0 < len(written) < high - low)
    heads = {at // 8 for start, end in cover for at in range(start, end)}
    assert heads == {head for low, high, _, _ in gathered.ranges(8) for head in range(low // 8, high // 8)}
