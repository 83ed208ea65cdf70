"""Tests of free segments."""

from __future__ import annotations

import random

from raidsim.model.zfs.allocation.free_space import FreeSpace

KIB, MIB = 1 << 10, 1 << 20


def test_first_fit_goes_on_behind_the_last_block_of_an_alignment() -> None:
    """Blocks of one alignment follow each other; freed holes before the cursor wait."""
    space = FreeSpace(0, 64 * MIB, [(0, 64 * MIB)])
    places = [space.take(128 * KIB) for _ in range(4)]
    assert places == [0, 128 * KIB, 256 * KIB, 384 * KIB]
    space.give_back(0, 128 * KIB)
    assert space.take(128 * KIB) == 512 * KIB
    assert space.take(64 * KIB) == 0


def test_best_fit_when_space_is_scarce() -> None:
    """With little free space the smallest segment that is large enough is taken."""
    space = FreeSpace(0, 64 * MIB, [(0, 96 * KIB), (MIB, MIB + 32 * KIB), (2 * MIB, 2 * MIB + 40 * KIB)])
    assert space.take(32 * KIB) == MIB
    assert space.take(40 * KIB) == 2 * MIB
    assert space.take(128 * KIB) == -1


def test_everything_taken_is_given_back() -> None:
    """Random takes and returns keep the sum, never overlap, and end as one segment."""
    space, drawn = FreeSpace(0, 4 * MIB, [(0, 4 * MIB)]), random.Random(1)
    held: list[tuple[int, int]] = []
    for _ in range(2000):
        size = 4 * KIB * drawn.randint(1, 32)
        place = space.take(size) if drawn.random() < 0.6 else -1
        if place >= 0:
            assert all(place + size <= start or place >= start + length for start, length in held)
            held.append((place, size))
        elif held:
            space.give_back(*held.pop(drawn.randrange(len(held))))
        assert space.free == 4 * MIB - sum(size for _, size in held)
    for start, size in held:
        space.give_back(start, size)
    assert space.largest == space.free == 4 * MIB
    assert space.take(4 * MIB) == 0
