"""Tests of a volume as a device."""

from __future__ import annotations

from functools import partial

import pytest

from raidsim.model.core.request import READ, WRITE, WRITE_THROUGH
from raidsim.model.zfs.arc.settings import PrefetchSettings
from raidsim.model.zfs.pool.settings import DatasetSettings, PoolSettings
from raidsim.tests.model.zfs.pool.lab import KIB, MIB, MIRROR, RAIDZ1, Lab

FILE = DatasetSettings("file", 64 * MIB, 128 * KIB)


def test_a_second_read_comes_from_memory() -> None:
    """A read brings its record into the ARC; with primarycache=metadata it does not stay there."""
    for caches, again in ((True, 0), (False, 128 * KIB)):
        lab = Lab(RAIDZ1, [DatasetSettings("file", 64 * MIB, 128 * KIB, primarycache="all" if caches else "metadata")])
        lab.request(READ, 20 * MIB + 32 * KIB, 4 * KIB)
        lab.forget()
        lab.request(READ, 20 * MIB + 64 * KIB, 4 * KIB)
        assert sum(lab.moved(READ)) == again


def test_an_uncached_record_stays_from_its_beginning_to_its_end() -> None:
    """With primarycache=metadata sequential small reads read each record once; a record read to its end is gone."""
    lab = Lab(RAIDZ1, [DatasetSettings("file", 64 * MIB, 128 * KIB, primarycache="metadata")])
    lab.request(READ, 30 * MIB, 4 * KIB)
    lab.forget()
    for at in range(20 * MIB, 21 * MIB, 4 * KIB):
        lab.request(READ, at, 4 * KIB)
    assert sum(lab.moved(READ)) == MIB
    lab.request(READ, 20 * MIB + 4 * KIB, 4 * KIB)
    assert sum(lab.moved(READ)) == MIB + 128 * KIB
    # A read over two records leaves the second one, of which it does not reach the end.
    lab.request(READ, 24 * MIB, 130 * KIB)
    lab.forget()
    lab.request(READ, 24 * MIB + 200 * KIB, 4 * KIB)
    assert sum(lab.moved(READ)) == 0
    lab.request(WRITE, 24 * MIB + 200 * KIB, 4 * KIB)
    lab.sync()
    lab.forget()
    lab.request(READ, 24 * MIB + 200 * KIB, 4 * KIB)
    assert sum(lab.moved(READ)) == 128 * KIB


def test_partial_write_reads_its_record_once() -> None:
    """A 4 KiB write into a record that is not in memory reads it at once; a whole record reads nothing."""
    lab = Lab(RAIDZ1, [FILE])
    lab.request(READ, 0, 4 * KIB)
    lab.forget()
    lab.request(WRITE, 20 * MIB, 4 * KIB)
    assert sum(lab.moved(READ)) == 128 * KIB
    lab.request(WRITE, 20 * MIB + 8 * KIB, 4 * KIB)
    lab.request(WRITE, 30 * MIB, 128 * KIB)
    assert sum(lab.moved(READ)) == 128 * KIB
    assert sum(lab.moved(WRITE)) == 0


def test_sequential_reads_are_read_ahead() -> None:
    """Sequential reads wait for fewer records with prefetch than without."""
    took = []
    for disabled in (False, True):
        settings = PoolSettings(prefetch=PrefetchSettings(disabled=disabled))
        lab = Lab(MIRROR, [FILE], hard_disks=True, settings=settings)
        took.append(sum(lab.request(READ, at * 128 * KIB, 128 * KIB) for at in range(128)))
    assert took[0] < 0.7 * took[1]


def test_flush_commits_what_was_written_before() -> None:
    """A flush writes the log once, and again only after a write; with sync=disabled it writes nothing."""
    for sync, logged in (("standard", 1), ("disabled", 0)):
        lab = Lab(MIRROR, [DatasetSettings("file", 64 * MIB, 128 * KIB, sync=sync)])
        lab.request(WRITE, 0, 4 * KIB, WRITE_THROUGH)
        lab.forget()
        lab.request(WRITE, 128 * KIB, 128 * KIB // 8)
        assert sum(lab.moved(WRITE)) == 0
        for _ in range(2):
            done: list[int] = []
            lab.data.flush(partial(done.append, 1))
            lab.engine.run(until=lab.engine.now + 0.01)
            assert done == [1]
        assert lab.members[0].flushes == logged
        assert bool(sum(lab.moved(WRITE))) == bool(logged)


def test_sync_always_logs_every_write() -> None:
    """With sync=always an ordinary write waits for the log."""
    lab = Lab(MIRROR, [DatasetSettings("file", 64 * MIB, 128 * KIB, sync="always")])
    lab.request(WRITE, 0, 4 * KIB)
    lab.forget()
    lab.request(WRITE, 0, 4 * KIB)
    assert lab.moved(WRITE) == [8 * KIB, 8 * KIB]


def test_record_written_in_place_is_not_written_again() -> None:
    """A synchronous write of a whole record goes to its place at once; its group writes only what points to it."""
    lab = Lab(MIRROR, [FILE])
    lab.request(WRITE, 0, 4 * KIB, WRITE_THROUGH)
    lab.sync()
    lab.forget()
    lab.request(WRITE, 10 * MIB, 128 * KIB, WRITE_THROUGH)
    assert lab.moved(WRITE) == [132 * KIB, 132 * KIB]
    lab.forget()
    lab.sync()
    in_place = sum(lab.moved(WRITE))
    lab.request(WRITE, 20 * MIB, 128 * KIB)
    lab.forget()
    lab.sync()
    assert sum(lab.moved(WRITE)) == in_place + 2 * 128 * KIB


def test_degraded_reads_take_all_columns() -> None:
    """With a member lost a record is read from all others, parity too; writes leave the lost member out."""
    lab = Lab(RAIDZ1, [FILE], lost=frozenset({1}))
    lab.request(READ, 0, 4 * KIB)
    lab.request(READ, 20 * MIB, 4 * KIB)
    assert lab.moved(READ)[1] == 0
    lab.request(WRITE, 0, 128 * KIB)
    lab.sync()
    assert lab.moved(WRITE)[1] == 0
    assert min(lab.moved(WRITE)[member] for member in (0, 2, 3)) > 0


def test_dirty_limit_stops_writers() -> None:
    """Writers wait at the dirty limit, and go on as the group is written."""
    lab = Lab(MIRROR, [FILE], settings=PoolSettings(memory=80 * MIB), hard_disks=True)
    took = [lab.request(WRITE, at * 128 * KIB, 128 * KIB) for at in range(200)]
    assert max(took[1:20]) < 0.001
    assert lab.pool.dirty.delays > 0
    assert max(took[60:]) > 0.004
    assert lab.pool.dirty.total <= lab.pool.dirty.limit + 128 * KIB


def test_nothing_is_dirty_after_a_sync() -> None:
    """A transaction group writes all that was dirty, and the ARC keeps it."""
    lab = Lab(RAIDZ1, [FILE])
    for at in range(50):
        lab.request(WRITE, at * 128 * KIB, 128 * KIB)
    lab.sync()
    assert lab.pool.dirty.total == lab.pool.arc.dirty == 0
    lab.forget()
    lab.request(READ, 10 * 128 * KIB, 128 * KIB)
    assert sum(lab.moved(READ)) == 0


def test_group_is_written_after_5_s() -> None:
    """A write is on the members five seconds later without any sync, and nothing is written while nothing is dirty."""
    lab = Lab(MIRROR, [FILE])
    lab.engine.run(until=20.0)
    assert sum(lab.moved(WRITE)) == 0
    lab.request(WRITE, 0, 128 * KIB)
    lab.engine.run(until=26.0)
    assert sum(lab.moved(WRITE)) > 2 * 128 * KIB
    assert lab.pool.dirty.total == 0


@pytest.mark.parametrize("psize", [0, 64 * KIB])
def test_compressed_records_take_less(psize: int) -> None:
    """What is read and written of a record is its compressed size."""
    lab = Lab(MIRROR, [DatasetSettings("file", 64 * MIB, 128 * KIB, psize)])
    lab.request(READ, 20 * MIB, 4 * KIB)
    lab.forget()
    lab.request(READ, 30 * MIB, 4 * KIB)
    assert sum(lab.moved(READ)) == (psize or 128 * KIB)
