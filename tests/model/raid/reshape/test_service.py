"""What programs get of an array that is being reshaped."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.request import READ, WRITE
from raidsim.tests.model.raid.reshape_bench import CHUNK, Bench, geometry
from raidsim.tests.model.recording import KIB

GROW = geometry(("raid5", 3, None), ("raid5", 4, None))
MIRROR = geometry(("raid10", 4, "n2"), ("raid10", 6, "n2"))


def sent(bench: Bench, op: int, offset: int, size: int = 4 * KIB) -> list[tuple[int, int, int, int]]:
    """(member, direction, offset, size) of what one I/O makes the members do."""
    before = [len(disk.log) for disk in bench.disks]
    bench.issuer.send(op, offset, size)
    bench.engine.run(until=bench.engine.now + 1.0)
    return [
        (slot, *entry)
        for slot, (disk, count) in enumerate(zip(bench.disks, before, strict=True))
        for entry in disk.log[count:]
    ]


@pytest.mark.parametrize("plan", [GROW, MIRROR])
def test_reads_follow_the_layout_of_their_side(plan: Any) -> None:
    """Before the position data lie as in the new layout, behind it as in the old one, further down by the move."""
    bench = Bench(plan, position=12 * CHUNK)
    new = sent(bench, READ, 2 * CHUNK)
    old = sent(bench, READ, 14 * CHUNK)
    slot, row = plan.new.map_chunk(2)
    behind, further = plan.old.map_chunk(14)
    places = plan.new.map_copies(2), plan.old.map_copies(14)
    assert len(new) == len(old) == 1
    assert (new[0][0], new[0][2] // CHUNK) in places[0]
    assert (old[0][0], (old[0][2] - plan.moved) // CHUNK) in places[1]
    assert (slot, row) in places[0]
    assert (behind, further) in places[1]


def test_a_request_across_the_position_is_served_by_both_layouts() -> None:
    """One I/O, two sides: it completes once, with a piece from each."""
    bench = Bench(GROW, position=12 * CHUNK)
    found = sent(bench, READ, 12 * CHUNK - 4 * KIB, 8 * KIB)
    assert sorted(size for _, _, _, size in found) == [4 * KIB, 4 * KIB]
    assert len(bench.issuer.done) == 1


def test_io_between_the_positions_waits_for_superblocks() -> None:
    """Phenomenon: what has moved since the superblocks were last written is not served before they are again."""
    bench = Bench(GROW, position=12 * CHUNK)
    bench.array.safe = 6 * CHUNK
    assert sent(bench, READ, 8 * CHUNK) == []
    bench.begin()
    bench.engine.run(until=bench.engine.now + 5.0)
    assert len(bench.issuer.done) == 1


def test_io_before_them_does_not() -> None:
    """Counter-test."""
    bench = Bench(GROW, position=12 * CHUNK)
    bench.array.safe = 6 * CHUNK
    assert len(sent(bench, READ, 2 * CHUNK)) == 1


def test_mirrors_make_a_write_between_them_safe_at_once() -> None:
    """RAID 10: such a write has the superblocks written; a read needs none."""
    bench = Bench(MIRROR, position=12 * CHUNK)
    bench.array.safe = 6 * CHUNK
    assert len(sent(bench, READ, 8 * CHUNK)) == 1
    assert bench.array.checkpoints == 0
    assert len([entry for entry in sent(bench, WRITE, 8 * CHUNK) if entry[3] == 4 * KIB]) == 2
    assert bench.array.checkpoints == 1


def test_reads_go_through_the_stripe_cache_meanwhile() -> None:
    """Phenomenon: a chunk is read in one request of an array at rest, and in whole heads of one that is reshaped."""
    bench = Bench(GROW, position=12 * CHUNK)
    assert sent(bench, READ, 2 * CHUNK + 512, 512)[0][3] == 4 * KIB
    bench.run()
    assert sent(bench, READ, 2 * CHUNK + 512, 512)[0][3] == 512


@pytest.mark.parametrize("plan", [GROW, MIRROR])
def test_a_stopped_reshape_leaves_an_array_that_serves(plan: Any) -> None:
    """Interruption: the thread ends what is under way; both sides go on being served."""
    bench = Bench(plan)
    bench.begin()
    bench.engine.run(until=0.05)
    bench.resync.stopped = True
    bench.engine.run(until=1.0)
    at = bench.array.progress
    assert 0 < at < bench.array.capacity
    assert sent(bench, READ, at)
    bench.engine.run(until=5.0)
    assert bench.array.progress == at


@pytest.mark.parametrize("plan", [GROW, MIRROR])
def test_reads_and_writes_at_every_moment_complete(plan: Any) -> None:
    """Law: whatever the position, each I/O is told complete exactly once."""
    bench = Bench(plan)
    bench.begin()
    count = 0
    for step in range(60):
        for op in (READ, WRITE):
            bench.issuer.send(op, (step * 7 * CHUNK + step * 4 * KIB) % (bench.array.capacity - CHUNK), 8 * KIB)
            count += 1
        bench.engine.run(until=0.01 * (step + 1))
    bench.engine.run(until=600.0)
    assert bench.array.finished
    assert len(bench.issuer.done) == count
