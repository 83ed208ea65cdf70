"""The ARC as loads leave it in the long run: from a miniature, without an object for each block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from raidsim.model.loads.locality import Hot, Places, Uniform, Zipf
from raidsim.model.zfs.arc.buffers import GHOST, KEY_SHIFT, MFU, MRU
from raidsim.model.zfs.arc.cache import Arc
from raidsim.model.zfs.arc.miniature import settle
from raidsim.model.zfs.arc.second_level import SecondLevel
from raidsim.model.zfs.arc.settings import FeedSettings
from raidsim.model.zfs.arc.settled import SettledFile, Shares, uniform
from raidsim.model.zfs.arc.visits import RandomVisits, SequentialVisits, VisitedFile

BLOCK = 128 << 10
TARGET = 1 << 30
BLOCKS = 80_000
"""Ten times what the ARC holds."""
BASE = 1 << KEY_SHIFT


def visited(places: Places, blocks: int = BLOCKS, write_share: float = 0.0) -> VisitedFile:
    """A file with a random load."""
    load = RandomVisits(places, 0, blocks * BLOCK, 1.0, write_share, [(BLOCK, 1.0)])
    return VisitedFile(1, blocks, BLOCK, BLOCK, [load], [])


def hits(arc: Arc, blocks: Sequence[int], now: float) -> float:
    """Share of reads of these blocks that find them, one after the other each second."""
    found = 0
    for number, block in enumerate(blocks):
        if arc.use(BASE + block, now + number):
            found += 1
        else:
            arc.add(BASE + block, BLOCK, False, now + number)
    return found / len(blocks)


def drawn(places: Places, count: int, seed: int) -> list[int]:
    """Blocks that a load asks for."""
    drawn_places = places.draw(np.random.default_rng(seed), count)
    return [int(place * BLOCKS) for place in drawn_places.tolist()]


@pytest.mark.parametrize(
    "places", [Uniform(), Hot(0.8, 0.1, BLOCKS), Zipf(BLOCKS, 0.9)], ids=["uniform", "hot", "zipf"]
)
def test_a_settled_arc_hits_as_often_as_after_a_long_run(places: Places) -> None:
    """From the first reads on, and still when all of the settled blocks are replaced; a cold one does not."""
    settled, cold = Arc(TARGET), Arc(TARGET)
    settle(settled, [visited(places)])
    first = hits(settled, drawn(places, 4_000, 1), 0.0)
    hits(settled, drawn(places, 40_000, 2), 1e5)
    later = hits(settled, drawn(places, 20_000, 3), 2e5)
    assert first == pytest.approx(later, abs=0.03)
    assert hits(cold, drawn(places, 4_000, 1), 0.0) < first - 0.05
    hits(cold, drawn(places, 80_000, 2), 1e5)
    assert hits(cold, drawn(places, 20_000, 3), 2e5) == pytest.approx(later, abs=0.03)


@pytest.mark.parametrize(("blocks", "share"), [(5_000, 1.0), (20_000, 0.0)])
def test_a_file_that_is_read_in_order_hits_if_it_fits(blocks: int, share: float) -> None:
    """All of a file below the ARC's size, nothing of one above it."""
    arc = Arc(TARGET)
    settle(arc, [VisitedFile(1, blocks, BLOCK, BLOCK, [], [SequentialVisits(0, blocks * BLOCK, 1, 1.0, 0.0)])])
    assert hits(arc, range(4_000), 0.0) == pytest.approx(share, abs=0.01)


def test_the_end_of_what_was_read_in_order_is_in_memory() -> None:
    """Counter-test: of a file twice as large as the ARC, the last part was read last."""
    arc, blocks = Arc(TARGET), 16_000
    settle(arc, [VisitedFile(1, blocks, BLOCK, BLOCK, [], [SequentialVisits(0, blocks * BLOCK, 1, 1.0, 0.0)])])
    assert sum(arc.holds(BASE + block) for block in range(blocks - 2_000, blocks)) > 1_900
    assert sum(arc.holds(BASE + block) for block in range(2_000)) == 0


def test_the_sizes_are_those_of_the_blocks() -> None:
    """A run that evicts all settled blocks leaves exactly what it has added, and never more than the ARC holds."""
    arc = Arc(TARGET)
    settle(arc, [visited(Uniform())])
    assert arc.size == pytest.approx(TARGET, rel=0.02)
    for block in range(3 * BLOCKS // 4):
        arc.add(BASE + (1 << 30) + block, BLOCK, False, float(block))
        assert arc.size <= TARGET + (9 << 20)
    sizes = [arc.lists[place].size for place in (MRU, MFU, GHOST + MRU, GHOST + MFU)]
    counts = [0, 0, 0, 0]
    for block in range(3 * BLOCKS // 4):
        place = arc.place(BASE + (1 << 30) + block)
        if place >= 0:
            counts[(MRU, MFU, GHOST + MRU, GHOST + MFU).index(place)] += BLOCK
    settled = [size - count for size, count in zip(sizes, counts, strict=True)]
    assert settled[0] == settled[2] == 0
    assert min(settled) >= 0


def test_a_block_is_settled_until_the_run_uses_it() -> None:
    """A block that the run has forgotten does not come back."""
    arc = Arc(TARGET)
    settle(arc, [visited(Uniform(), blocks=1_000)])
    assert arc.holds(BASE + 7)
    arc.remove(BASE + 7)
    assert not arc.holds(BASE + 7)
    assert not arc.use(BASE + 7, 1.0)
    assert arc.holds(BASE + 8)


def test_blocks_of_one_io_are_as_old_as_each_other() -> None:
    """A load of 1 MiB leaves all blocks of an I/O or none; counter-test: one of 128 KiB does not."""
    shares = {0: Shares(0.5, 1.0, 0.0, 0.0)}
    found = []
    for size in (8 * BLOCK, BLOCK):
        load = RandomVisits(Uniform(), 0, 8_000 * BLOCK, 1.0, 0.0, [(size, 1.0)])
        file = SettledFile(VisitedFile(1, 8_000, BLOCK, BLOCK, [load], []), shares)
        held = np.array([file.position(block)[1] < 1.0 for block in range(8_000)]).reshape(1_000, 8).sum(axis=1)
        assert held.sum() == pytest.approx(4_000, rel=0.1)
        found.append(float(((held == 0) | (held == 8)).mean()))
    assert found[0] == 1.0
    assert found[1] < 0.05


def test_numbers_of_blocks_are_uniform() -> None:
    """Numbers of neighbors, and of blocks far away, fill all tenths alike and do not depend on each other."""
    for step in (1, 1024, 1 << 31):
        numbers = np.array([uniform(block * step, 0) for block in range(20_000)])
        counts, _ = np.histogram(numbers, 10, (0.0, 1.0))
        assert counts.min() > 1_850
        assert counts.max() < 2_150
        assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.03


def test_the_second_level_holds_what_the_arc_has_evicted() -> None:
    """With room for half of the file it serves half of the misses, and all with room for the whole file."""
    for capacity, share in ((BLOCKS * BLOCK // 2, 0.5), (2 * BLOCKS * BLOCK, 1.0)):
        arc = Arc(TARGET)
        level = SecondLevel(arc, [capacity], FeedSettings())
        settle(arc, [visited(Uniform())], level)
        misses = [block for block in range(0, BLOCKS, 7) if not arc.use(BASE + block, 0.0)]
        served = sum(level.find(BASE + block) is not None for block in misses) / len(misses)
        assert served == pytest.approx(share, abs=0.08)
        level.drop(BASE + misses[0])
        assert level.find(BASE + misses[0]) is None


def test_feeds_take_blocks_before_they_are_evicted() -> None:
    """Up to the most at once, the oldest first, none twice, over the oldest when the device is full."""
    arc = Arc(TARGET)
    level = SecondLevel(arc, [128 << 20], FeedSettings(write_max=16 << 20, write_boost=0))
    for block in range(2 * TARGET // BLOCK):
        arc.add(BASE + block, BLOCK, False, float(block))
    fed: list[tuple[int, int]] = []
    for _ in range(8):
        _, written, much = level.feed()
        assert much
        assert sum(size for _, size in written) == 16 << 20
        fed += written
    assert len(set(fed)) == len(fed) == 1024
    held = [block for block in range(2 * TARGET // BLOCK) if level.find(BASE + block) is not None]
    assert len(held) == 1024
    assert held == list(range(held[0], held[0] + 1024))
    assert arc.holds(BASE + held[0])
    assert not arc.holds(BASE + held[0] - 1)
    level.feed()
    assert level.find(BASE + held[0]) is None
    assert level.find(BASE + held[-1] + 1) is not None


def test_prefetched_blocks_are_not_fed() -> None:
    """What nobody has read does not go to the second level; counter-test: it does once it was read."""
    arc = Arc(TARGET)
    level = SecondLevel(arc, [128 << 20], FeedSettings())
    arc.add(BASE, BLOCK, False, 0.0, prefetched=True)
    assert level.feed()[1] == []
    assert arc.use(BASE, 1.0)
    assert level.feed()[1] == [(0, BLOCK)]
