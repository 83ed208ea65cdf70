"""How many losses a RAID 10 survives whose copies do not lie on neighbors."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.layouts import CopyPlace, Raid10Layout
from raidsim.scenarios.comparison.redundancy import Part

CHUNK = 65536
PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), min_size=1)


class Scattered(Raid10Layout):
    """Each chunk on any two members, row by row."""

    __slots__ = ()
    pairs: tuple[tuple[int, int], ...] = ()

    def pattern(self) -> tuple[tuple[tuple[CopyPlace, ...], ...], int]:
        return tuple(((a, row), (b, row)) for row, (a, b) in enumerate(self.pairs)), len(self.pairs)


def part(pairs: list[tuple[int, int]], lost: frozenset[int] = frozenset()) -> Part:
    """Six drives with chunks on these pairs of them."""
    layout = type("Here", (Scattered,), {"__slots__": (), "pairs": tuple(pairs)})([CHUNK << 10] * 6, CHUNK, "any")
    drives = tuple(Part(f"disk{slot}", CHUNK << 10, lost=slot in lost) for slot in range(6))
    return Part("md0", layout.capacity, layout, drives)


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_the_most_that_is_survived_is_what_trying_all_finds(pairs: list[tuple[int, int]]) -> None:
    """Protects advice on layouts of any kind: the best and the worst losses agree with all sets of drives."""
    groups = {frozenset(pair) for pair in pairs}
    survived = [
        len(lost)
        for count in range(7)
        for lost in map(frozenset, combinations(range(6), count))
        if not any(group <= lost for group in groups)
    ]
    assert part(pairs).most_survived == max(survived)
    assert part(pairs).fewest_fatal == 2


def test_with_all_pairs_one_loss_is_the_end_of_redundancy() -> None:
    """Protects interleaved copies: one drive may go, and then none."""
    pairs = list(combinations(range(6), 2))
    assert part(pairs).most_survived == 1
    assert part(pairs, frozenset({3})).fewest_fatal == 1
    assert part(pairs, frozenset({3, 4})).dead


@pytest.mark.parametrize("drives", [24])
def test_many_pairs_are_quick(drives: int) -> None:
    """Protects comparisons from an answer that takes longer than the simulation."""
    pairs = tuple(combinations(range(drives), 2))
    layout = type("Many", (Scattered,), {"__slots__": (), "pairs": pairs})([CHUNK << 12] * drives, CHUNK, "any")
    parts = tuple(Part(f"disk{slot}", CHUNK << 12) for slot in range(drives))
    assert Part("md0", layout.capacity, layout, parts).most_survived == 1
