"""Tests of the ARC against recorded counters of OpenZFS 2.3.2."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from raidsim.model.zfs.arc.buffers import GHOST, MFU, MRU
from raidsim.model.zfs.arc.cache import HEADER_BYTES, Arc
from raidsim.model.zfs.arc.prefetch import Prefetch
from raidsim.model.zfs.arc.settings import PrefetchSettings

MIB = 1 << 20
RECORDED_METADATA = 3_885_056
"""Bytes of metadata that the recorded ARC held besides."""


class File:
    """A file that is read through the ARC, with prefetch."""

    def __init__(self, arc: Arc, key: int, block: int, size: int) -> None:
        self.arc, self.key, self.block, self.size = arc, key, block, size
        self.prefetch = Prefetch(PrefetchSettings(), size // block, block)
        self.now = 0.0

    def read(self, offset: int, size: int, step_s: float) -> bool:
        """Read and return whether all was cached."""
        first, end = offset // self.block, (offset + size - 1) // self.block + 1
        stream = self.prefetch.read(first, end - first, self.now)
        cached = True
        for number in range(first, end):
            self.now += step_s
            if not self.arc.use(self.key + number, self.now):
                cached = False
                self.arc.add(self.key + number, self.block, False, self.now)
        if stream is not None:
            for number in range(*self.prefetch.run(stream, not cached)):
                if not self.arc.holds(self.key + number):
                    self.arc.add(self.key + number, self.block, False, self.now, prefetched=True)
        return cached


@pytest.fixture
def arc() -> Arc:
    """An ARC of 96 MiB with the metadata that the recorded one held."""
    made = Arc(96 * MIB)
    made.add(1 << 50, RECORDED_METADATA, True, 0.0)
    return made


def passes(file: File, seeds: Iterator[int]) -> list[int]:
    """Hits of passes of 6,144 random reads each."""
    found = []
    for seed in seeds:
        places = np.random.default_rng(seed).integers(0, file.size // file.block, 6144)
        found.append(sum(file.read(int(place) * file.block, file.block, 1e-4) for place in places))
    return found


def test_random_passes_hit_as_often_as_recorded(arc: Arc) -> None:
    """Four passes over a file as large as the ARC hit within three points of the recorded share."""
    found = passes(File(arc, 0, 16384, 96 * MIB), iter(range(1, 5)))
    for hits, recorded in zip(found, (2242, 4720, 5648, 5951), strict=True):
        assert hits / 6144 == pytest.approx(recorded / 6144, abs=0.03)


def test_scan_keeps_the_hot_set_and_balances_the_lists(arc: Arc) -> None:
    """A scan as large as the ARC leaves blocks that were read twice, and its lists and ghosts as recorded."""
    small = File(arc, 0, 16384, 96 * MIB)
    passes(small, iter(range(1, 5)))
    hot = [int(place) for place in np.random.default_rng(9).integers(0, 1024, 2000)]
    for _ in range(2):
        for place in hot:
            small.read(place * 16384, 16384, 1e-4)
    large = File(arc, 1 << 32, 131072, 96 * MIB)
    large.now = small.now
    assert sum(large.read(place * 131072, 131072, 3e-4) for place in range(768)) == 766
    small.now = large.now
    assert sum(small.read(place * 16384, 16384, 1e-4) for place in hot) == 2000
    sizes = [arc.lists[place].size for place in (MRU, MFU, GHOST + MRU, GHOST + MFU)]
    assert sizes == pytest.approx([53_110_784, 51_609_600, 25_559_040, 25_542_656], rel=0.08)


def test_scan_evicts_a_set_that_was_read_once(arc: Arc) -> None:
    """Counter-test: blocks that were read once are recently used, and the scan takes their place."""
    small = File(arc, 0, 16384, 96 * MIB)
    for place in range(0, 1024, 2):
        small.read(place * 16384, 16384, 1e-4)
    large = File(arc, 1 << 32, 131072, 96 * MIB)
    for _ in range(2):
        large.now += 10.0
        for place in range(768):
            large.read(place * 131072, 131072, 3e-4)
    small.now = large.now
    assert sum(small.read(place * 16384, 16384, 1e-4) for place in range(0, 1024, 2)) < 100


def test_second_access_within_62_ms_counts_as_one() -> None:
    """A block moves to the frequently used ones only at an access later than 62 ms after the first."""
    arc = Arc(MIB)
    arc.add(1, 4096, False, 0.0)
    assert arc.use(1, 0.06)
    assert (arc.lists[MRU].size, arc.lists[MFU].size) == (4096, 0)
    assert arc.use(1, 0.07)
    assert (arc.lists[MRU].size, arc.lists[MFU].size) == (0, 4096)


def test_ghost_hit_shifts_the_balance() -> None:
    """A block that was evicted from the recently used ones is no hit, comes back as frequently used, and counts."""
    arc = Arc(16 * MIB)
    for key in range(1000, 1064):
        arc.add(key, 131072, False, 0.0)
        arc.use(key, 0.1)
    for key in range(200):
        arc.add(key, 131072, False, float(key))
    frequent = arc.lists[MFU].size
    ghost = arc.lists[GHOST + MRU].ends.older.key
    assert not arc.use(ghost, 300.0)
    arc.add(ghost, 131072, False, 300.0)
    assert arc.lists[MFU].size == frequent + 131072
    assert arc.lists[GHOST + MRU].hits == 131072


def test_size_counts_data_headers_and_dirty_bytes() -> None:
    """The size is what blocks, their headers and dirty data take; a removed block takes nothing."""
    arc = Arc(MIB)
    arc.add(1, 8192, False, 0.0)
    arc.dirty += 4096
    assert arc.size == 8192 + HEADER_BYTES + 4096
    arc.remove(1)
    assert arc.size == 4096
    assert not arc.holds(1)
