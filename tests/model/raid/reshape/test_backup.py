"""mdadm's backup file: what is copied, when md may go on, and what waits."""

from __future__ import annotations

from math import lcm
from typing import Any

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.layouts import ParityLayout
from raidsim.model.raid.reshape.parity import ReshapingParityArray
from raidsim.tests.model.raid.reshape_bench import CHUNK, MEMBER, Bench, Watched, geometry
from raidsim.tests.model.recording import KIB

SAME = [
    (("raid5", 4, None), ("raid6", 5, None), (CHUNK, CHUNK)),
    (("raid5", 4, None), ("raid5", 4, None), (CHUNK, 2 * CHUNK)),
    (("raid5", 4, "left-symmetric"), ("raid5", 4, "right-asymmetric"), (CHUNK, CHUNK)),
]
GROWN = [
    (("raid5", 3, None), ("raid5", 4, None), (CHUNK, CHUNK)),
    (("raid6", 5, None), ("raid6", 7, None), (CHUNK, CHUNK)),
]


def bench(old: Any, new: Any, chunks: tuple[int, int], moved: int | None = 0) -> tuple[Bench, Watched]:
    """An array that is reshaped in place, and the disk that its backup file is on."""
    made = Bench(geometry(old, new, chunks, moved))
    disk = Watched(made.engine, "file", 64 * MEMBER)
    assert isinstance(made.array, ReshapingParityArray)
    made.array.keep_backup(disk)
    return made, disk


@pytest.mark.parametrize(("old", "new", "chunks"), SAME)
def test_without_growing_all_data_are_copied(old: Any, new: Any, chunks: tuple[int, int]) -> None:
    """Conservation: the file gets all data once, and the members are read once more than without it."""
    made, disk = bench(old, new, chunks)
    made.run()
    data = made.array.geometry.old.capacity
    assert made.array.finished
    assert sum(size for _, size in disk.sent(WRITE) if size > 4096) == data
    assert sum(made.moved(READ)) == data + MEMBER * old[1]
    assert made.moved(WRITE) == [MEMBER] * new[1]


@pytest.mark.parametrize(("old", "new", "chunks"), GROWN)
def test_of_a_growing_array_only_the_critical_section_is_copied(old: Any, new: Any, chunks: tuple[int, int]) -> None:
    """What lies before the first place where md reads ahead of what it writes."""
    made, disk = bench(old, new, chunks)
    made.run()
    layouts = made.array.geometry.old, made.array.geometry.new
    assert isinstance(layouts[0], ParityLayout)
    assert isinstance(layouts[1], ParityLayout)
    assert made.array.finished
    section = lcm(layouts[0].stripe_bytes, layouts[1].stripe_bytes)
    assert sum(size for _, size in disk.sent(WRITE) if size > 4096) == section


@pytest.mark.parametrize(("old", "new", "chunks"), [*SAME, *GROWN])
def test_nothing_is_overwritten_that_is_not_safe(old: Any, new: Any, chunks: tuple[int, int]) -> None:
    """Law: what a row is written over is in the file, or md has moved it and says so in the superblocks."""
    made, _ = bench(old, new, chunks)
    array = made.array
    plan, backup = array.geometry.old, array.backup
    assert isinstance(plan, ParityLayout)
    assert backup is not None

    def watch(offset: int, size: int) -> None:
        if size > 512 and not array.finished:
            over = min((offset + size) // CHUNK * plan.stripe_bytes, plan.capacity)
            assert over <= max(backup.covered, array.safe)

    for disk in made.disks[: old[1]]:
        disk.watch = watch
    made.run()
    assert array.finished


def test_a_reshape_with_a_backup_file_takes_longer() -> None:
    """Phenomenon with its counter-test: one chunk at a time is read for the copy; with a data offset nothing is."""
    slow, _ = bench(*SAME[0])
    fast = Bench(geometry(SAME[0][0], SAME[0][1]))
    for made in (slow, fast):
        made.run()
    rates = [made.resync.report.average_rate for made in (slow, fast)]
    assert 2 * rates[0] < rates[1]


def test_writes_wait_for_their_window_and_reads_do_not() -> None:
    """md suspends writes to what has been copied until it has moved; behind it they go on as ever."""
    made, _ = bench(*SAME[0])
    backup = made.array.backup
    assert backup is not None
    behind = backup.suspended + CHUNK
    made.issuer.send(READ, 0, 4 * KIB)
    made.issuer.send(WRITE, 0, 4 * KIB)
    if behind < made.array.capacity:
        made.issuer.send(WRITE, behind // CHUNK * CHUNK, 4 * KIB)
    made.engine.run(until=0.05)
    assert len(made.issuer.done) == 1 + (behind < made.array.capacity), "the write into the window waits"
    made.run()
    assert len(made.issuer.done) == 2 + (behind < made.array.capacity)


def test_a_data_offset_needs_none() -> None:
    """Counter-test: with room to move the data offset, a backup file is refused."""
    with pytest.raises(ModelError, match="data offset moves"):
        bench(*GROWN[0], moved=None)
