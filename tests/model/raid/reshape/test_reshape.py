"""Reshapes of whole small arrays: what they move, in which order, and what they leave behind."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE
from raidsim.model.layouts import ParityLayout
from raidsim.tests.model.raid.reshape_bench import CHUNK, MEMBER, Bench, fresh, geometry, ios
from raidsim.tests.model.recording import KIB

PARITY = [
    (("raid5", 3, None), ("raid5", 4, None)),
    (("raid5", 4, None), ("raid5", 6, None)),
    (("raid4", 3, None), ("raid4", 5, None)),
    (("raid5", 4, None), ("raid6", 5, None)),
    (("raid6", 5, None), ("raid6", 7, None)),
    (("raid5", 4, "left-symmetric"), ("raid5", 4, "right-asymmetric")),
]
MIRRORS = [
    (("raid10", 4, "n2"), ("raid10", 6, "n2")),
    (("raid10", 4, "n2"), ("raid10", 5, "n2")),
    (("raid10", 3, "o2"), ("raid10", 4, "o2")),
]


@pytest.mark.parametrize(("old", "new"), PARITY)
def test_parity_rows_are_read_once_and_all_new_rows_written(old: Any, new: Any) -> None:
    """Conservation: every byte of every old member, parity too, is read once, and every byte of a new one written."""
    bench = Bench(geometry(old, new))
    bench.run()
    assert bench.array.finished
    assert bench.moved(READ) == [MEMBER] * old[1] + [0] * (new[1] - old[1])
    assert bench.moved(WRITE) == [MEMBER] * new[1]
    assert bench.array.new.cache.in_use == bench.array.new.cache.parked == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(("old", "new"), MIRRORS)
def test_mirrors_read_each_chunk_once_and_write_its_copies(old: Any, new: Any) -> None:
    """Conservation: of RAID 10 only the old data are moved, read from one copy and written to all."""
    bench = Bench(geometry(old, new))
    bench.run()
    data = bench.array.geometry.old.capacity
    assert bench.array.finished
    assert sum(bench.moved(READ)) == data
    assert sum(bench.moved(WRITE)) == 2 * data


@pytest.mark.parametrize(("old", "new"), [*PARITY, *MIRRORS])
def test_afterwards_it_is_an_array_of_the_new_layout(old: Any, new: Any) -> None:
    """Law: after the reshape each I/O takes as long, and sends the members the same, as on an array made so."""
    plan = geometry(old, new)
    bench = Bench(plan)
    bench.run()
    disks, issuer = fresh(plan)
    assert bench.array.capacity == plan.new.capacity
    for op, offset, size in ios(plan.new.capacity):
        before = [len(disk.log) for disk in bench.disks], [len(disk.log) for disk in disks]
        took = []
        for sender in (bench.issuer, issuer):
            began = sender.engine.now
            sender.send(op, offset, size)
            sender.engine.run(until=began + 1.0)
            took.append(round(sender.done[-1][0] - began, 9))
        sent = [
            [sorted(disk.log[count:]) for disk, count in zip(list(group), counts, strict=True)]
            for group, counts in ((bench.disks, before[0]), (disks, before[1]))
        ]
        assert sent[0] == sent[1], (op, offset, size)
        assert took[0] == took[1], (op, offset, size)


def test_superblocks_are_written_before_old_rows_are_overwritten() -> None:
    """Recorded of RAID 5 from 3 to 4 members: superblocks after 5, 1, 2, 3, 4, 6, 9, 14, 22 and 33 rows."""
    bench = Bench(geometry(*PARITY[0]))
    bench.run()
    rows, found = 0, []
    for _, _, size in (entry for entry in bench.disks[0].log if entry[0] == WRITE):
        if size > 512:
            rows += size
        else:
            found.append(rows // CHUNK)
            rows = 0
    assert found[:7] == [5, 1, 2, 3, 4, 6, 9]


def test_without_growing_no_superblock_can_help() -> None:
    """Counter-test: where reads never get ahead of writes, only the end is written down: the data offset protects."""
    bench = Bench(geometry(*PARITY[3]))
    bench.run()
    assert bench.array.checkpoints == 1


def test_nothing_is_written_over_what_is_still_needed() -> None:
    """Law: after the first superblocks a row is written only where nothing is that md would read after a crash.

    Before, Linux 6.1 was recorded to rely on nobody: it forgets that the data offset moves (min_offset_diff is 0).
    """
    plan = geometry(*PARITY[0])
    bench = Bench(plan)
    array, old = bench.array, plan.old
    assert isinstance(old, ParityLayout)
    seen = []

    def watch(offset: int, size: int) -> None:
        if array.checkpoints and size > 512 and not array.finished:
            seen.append(offset)
            assert offset + size <= array.safe // old.stripe_bytes * CHUNK + plan.moved

    for disk in bench.disks[:3]:
        disk.watch = watch
    bench.run()
    assert array.finished
    assert seen


@pytest.mark.parametrize("chunks", [(CHUNK, 2 * CHUNK), (2 * CHUNK, CHUNK)])
def test_chunks_may_change(chunks: tuple[int, int]) -> None:
    """A piece is as long as the longer chunk; all is moved whichever that is."""
    bench = Bench(geometry(("raid5", 4, None), ("raid5", 4, None), chunks))
    bench.run()
    assert bench.array.finished
    assert bench.moved(READ) == bench.moved(WRITE) == [MEMBER] * 4


def test_units_do_not_change_what_is_moved() -> None:
    """A run by whole chunks moves what one by stripe heads does."""
    whole, heads = (Bench(geometry(*PARITY[1]), unit=unit) for unit in (None, 4 * KIB))
    whole.run()
    heads.run()
    for op in (READ, WRITE):
        assert whole.moved(op) == heads.moved(op)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (("raid5", 5, None), ("raid5", 4, None), "no array that shrinks"),
        (("raid10", 6, "n2"), ("raid10", 4, "n2"), "no array that shrinks"),
        (("raid10", 4, "f2"), ("raid10", 6, "f2"), "far copies"),
        (("raid10", 4, "n2"), ("raid5", 4, None), "raid10 into raid5"),
    ],
)
def test_what_md_or_raidsim_does_not_do_is_refused(old: Any, new: Any, said: str) -> None:
    """Bad plans are told apart from those that run."""
    with pytest.raises(ModelError, match=said):
        geometry(old, new)
