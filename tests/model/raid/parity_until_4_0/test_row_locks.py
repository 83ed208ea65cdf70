"""RAID 5 of the RAID patches for Linux 2.2: a stripe that is at work takes no other block."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.kernels import kernel
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench
from raidsim.tests.model.raid.parity_reader import reading

FREE: dict[str, Any] = {"hold": 5.0, "shared_plug": True, "copies_reads": False}
LOCKS: dict[str, Any] = {**FREE, "locks_rows": True}


@pytest.mark.parametrize(("settings", "seconds"), [(LOCKS, 0.003), (FREE, 0.001)])
def test_a_reader_in_order_has_a_chunk_at_a_time(settings: dict[str, Any], seconds: float) -> None:
    """Protects what a sole reader gets of RAID 5 under 2.2: three chunks of a row, one after the other from three
    members; without the locks (2.4) they are read at once.
    """
    bench = Bench(**settings)
    bench.issuer.read(0, 3 * CHUNK)
    bench.engine.run()
    assert bench.times() == pytest.approx([seconds])


def test_other_rows_do_not_wait_for_those_at_work() -> None:
    """The counter-test of the locks: blocks of different rows of one chunk, and of two chunk rows, go at once."""
    bench = Bench(**LOCKS)
    bench.issuer.read(0, PAGE)
    bench.issuer.read(CHUNK + PAGE, PAGE)
    bench.issuer.read(3 * CHUNK, PAGE)
    bench.engine.run()
    assert bench.times() == pytest.approx([0.001, 0.001, 0.001])


def test_who_waits_keeps_those_behind_waiting() -> None:
    """Protects the order: a process that waits for a stripe submits nothing else meanwhile."""
    bench = Bench(**LOCKS)
    bench.issuer.read(0, PAGE)
    bench.issuer.read(CHUNK, PAGE)
    bench.issuer.read(3 * CHUNK, PAGE)
    bench.engine.run()
    assert bench.times() == pytest.approx([0.001, 0.002, 0.002])


@pytest.mark.parametrize(("settings", "full"), [(LOCKS, 0), (FREE, 1)])
def test_a_row_is_not_gathered(settings: dict[str, Any], full: int) -> None:
    """Protects writes under 2.2: a whole row is written chunk by chunk, each with its parity, and read up only once;
    without the locks it is written at once and nothing is read.
    """
    bench = Bench(**settings)
    bench.issuer.write(0, 3 * CHUNK)
    bench.engine.run()
    assert bench.array.row_writes["full"] == full
    assert (bench.array.parity_reads > 0) is not bool(full)
    assert bench.array.member_writes == (4 if full else 6)


def test_writers_are_told_when_nothing_waits_any_more() -> None:
    """Protects write-back from queueing behind a locked row for ever, and from never being called again."""
    bench = Bench(**LOCKS)
    told: list[float] = []
    rooms: list[bool] = []
    for offset in (0, CHUNK):
        bench.issuer.read(offset, PAGE)
        rooms.append(bench.array.has_room)
    bench.array.when_room(lambda: told.append(bench.engine.now))
    bench.engine.run()
    assert told == pytest.approx([0.001])
    assert [*rooms, bench.array.has_room] == [True, False, True]


def test_a_reader_that_waits_for_rows_copies_nothing_meanwhile() -> None:
    """Protects what reads of RAID 5 lose under 2.2: the reader sleeps in its submission, so most of the copying adds to
    the time of the drives; without the locks what is read ahead comes while it copies, but for the first and the last.
    """
    copying = 12 * CHUNK * 5e-9
    assert reading(LOCKS, 5e-9) - reading(LOCKS, 0.0) > 0.4 * copying
    assert reading(FREE, 5e-9) - reading(FREE, 0.0) < 0.2 * copying


def test_only_drivers_that_gather_rows_lock_them() -> None:
    """Protects from a driver that never was: md's thread of today, or a cache without a limit."""
    with pytest.raises(ModelError, match="rows are locked"):
        Bench(hold=None, direct_reads=True, locks_rows=True)
    with pytest.raises(ModelError, match="rows are locked"):
        Bench(heads=0, locks_rows=True)


def test_2_2_locks_rows() -> None:
    """Protects the catalogue: 2.2.7 has 128 heads and locks, 2.4.18 neither; else md does the same."""
    old, new = kernel("linux-2.2.7"), kernel("linux-2.4.18")
    assert (old.raid5.locks_rows, old.raid5.heads) == (True, 128)
    assert (new.raid5.locks_rows, new.raid5.heads) == (False, 256)
    same = new.raid5.model_copy(
        update={"waiting_readers": False, "gathers_per_head": False, "locks_rows": True, "heads": 128}
    )
    assert old.raid5 == same.model_copy(update={"source": old.raid5.source})
    rest = {"version": new.version, "raid5": new.raid5}
    rest |= {
        name: getattr(new, name) for name in ("cache", "read_ahead", "queue", "goal_shift_by_process", "time_slice")
    }
    assert old.model_copy(update=rest) == new
