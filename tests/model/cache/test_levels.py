"""Stacked LRU lists."""

from __future__ import annotations

from raidsim.model.cache.levels import LEVELS, NONE, Entries, LevelQueue


def test_a_hit_swaps_places_with_the_oldest_above() -> None:
    """Protects the size of the levels: an entry that rises sends another one down."""
    entries = Entries(3)
    queue = LevelQueue(entries)
    entries.level[:] = [0, 4, 4]
    for entry in range(3):
        queue.push(entry)
    queue.requeue(0, 4)
    assert entries.level == [4, 0, 4]
    assert queue.peek(LEVELS, True) == 1


def test_redistribution_gives_each_level_its_share() -> None:
    """Protects the promotion threshold, which is a level: 128 entries are two in each of 64 levels."""
    entries = Entries(128)
    queue = LevelQueue(entries)
    for entry in range(128):
        queue.push(entry)
    queue.redistribute()
    assert sorted(entries.level) == sorted(list(range(LEVELS)) * 2)
    assert queue.size == 128


def test_few_entries_share_the_top_levels() -> None:
    """Protects that only few hotspots are above the threshold: the top eight levels have 16 entries between them."""
    entries = Entries(576)
    queue = LevelQueue(entries, 8, 16)
    for entry in range(576):
        queue.push(entry)
    queue.redistribute()
    assert sum(level >= LEVELS - 8 for level in entries.level) == 16


def test_what_stands_behind_a_sentinel_is_younger() -> None:
    """Protects that a block hit a moment ago is not written back at once, unless nothing else is asked for."""
    entries = Entries(1, sentinels=1)
    queue = LevelQueue(entries)
    queue.push(1)
    queue.push(0)
    assert queue.peek(LEVELS, False) == NONE
    assert queue.peek(LEVELS, True) == 0
