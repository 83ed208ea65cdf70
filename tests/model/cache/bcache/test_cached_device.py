"""bcache over devices of known service time."""

from __future__ import annotations

import pytest

from raidsim.model.cache.bcache.buckets import Buckets
from raidsim.model.cache.bcache.bypass import Bypass, Congestion
from raidsim.model.cache.bcache.cached_device import DATA_OFFSET, Bcache
from raidsim.model.cache.settings import BcacheMode, BcacheSettings
from raidsim.model.core.request import ASYNC, DIRECT

from ..laboratory import FAST_S, KIB, MIB, READ, SLOW_S, WRITE, Laboratory

BLOCK = 4 * KIB


def cached(laboratory: Laboratory, mode: BcacheMode = "writethrough") -> Bcache:
    """A cold cache."""
    members = [laboratory.origin, laboratory.fast]
    settings = BcacheSettings(bucket_bytes=64 * KIB, mode=mode)
    return Bcache(laboratory.engine, "c0", members, laboratory.host, settings)


def test_a_missed_read_is_cached_at_once() -> None:
    """Protects bcache's rule: the second read of a block is a hit, whatever else was read."""
    laboratory = Laboratory()
    device = cached(laboratory)
    offsets = [number * MIB for number in range(10)]
    assert laboratory.run(device, READ, offsets) == [pytest.approx(SLOW_S)] * 10
    laboratory.rest(0.2)
    assert laboratory.run(device, READ, offsets) == [pytest.approx(FAST_S)] * 10
    assert device.capacity == laboratory.origin.capacity - DATA_OFFSET


def test_a_stream_passes_by_after_four_mib() -> None:
    """Protects the cutoff: the first 4 MiB of a stream come into the cache, the rest does not."""
    laboratory = Laboratory()
    device = cached(laboratory)
    laboratory.run(device, READ, range(0, 8 * MIB, 64 * KIB), 64 * KIB)
    assert sum(device.buckets.find(block) >= 0 for block in range(2048)) == pytest.approx(1024, abs=16)


def test_random_reads_do_not_pass_by() -> None:
    """The counter-test: as many bytes at random places all come into the cache."""
    laboratory = Laboratory()
    device = cached(laboratory)
    offsets = [number * 37 % 128 * MIB for number in range(128)]
    laboratory.run(device, READ, offsets, 64 * KIB)
    laboratory.rest(0.1)
    assert all(device.buckets.find(offset // BLOCK) >= 0 for offset in offsets)


@pytest.mark.parametrize(
    ("mode", "seconds", "hits"),
    [("writeback", FAST_S, 1), ("writethrough", SLOW_S, 1), ("writearound", SLOW_S, 0), ("none", SLOW_S, 0)],
)
def test_where_a_write_goes(mode: BcacheMode, seconds: float, hits: int) -> None:
    """Protects the modes: what a write takes, and whether the block is cached then."""
    laboratory = Laboratory()
    device = cached(laboratory, mode)
    assert laboratory.run(device, WRITE, [0]) == [pytest.approx(seconds, rel=0.1)]
    laboratory.run(device, READ, [0])
    assert device.read_hits == hits
    assert device.dirty_bytes == (BLOCK if mode == "writeback" else 0)


def test_a_write_that_passes_by_leaves_no_old_copy() -> None:
    """Protects from old data: the key of the block is taken out."""
    laboratory = Laboratory()
    device = cached(laboratory, "writearound")
    laboratory.run(device, READ, [0])
    laboratory.run(device, WRITE, [0])
    laboratory.run(device, READ, [0])
    assert device.read_hits == 0


def test_the_journal_is_written_within_100_ms_and_at_once_with_a_flush() -> None:
    """Protects what a write costs the cache: an entry for all keys of a tenth of a second, one for each fsync."""
    laboratory = Laboratory()
    device = cached(laboratory, "writeback")
    laboratory.run(device, WRITE, [number * MIB for number in range(5)])
    assert device.journal.writes == 0
    laboratory.rest(0.11)
    assert device.journal.writes == 1
    laboratory.flush(device)
    assert device.journal.writes == 2
    assert laboratory.log[-1] == ("origin", "flush")


def test_writeback_is_slow_at_first_and_fast_after_thirty_seconds_without_io() -> None:
    """Protects the controller: 4 KiB a second while little is dirty, all of it when nobody else needs the origin."""
    laboratory = Laboratory()
    device = cached(laboratory, "writeback")
    laboratory.run(device, WRITE, [number * MIB for number in range(100)])
    laboratory.rest(29.0)
    assert device.writeback.blocks <= 35
    laboratory.rest(60.0)
    assert device.dirty_bytes == 0


def test_the_least_recently_used_bucket_is_taken_again() -> None:
    """Protects replacement: a bucket that was read stays, the other one goes, with all that is in it."""
    buckets = Buckets(3, 2, BLOCK)
    for block in range(0, 6, 2):
        buckets.take_bucket()
        for each in (block, block + 1):
            buckets.insert(each, buckets.append(1), False)
    buckets.touch(buckets.find(0))
    buckets.take_bucket()
    assert [buckets.find(block) >= 0 for block in range(6)] == [True, True, False, False, True, True]


def test_a_bucket_with_dirty_blocks_is_kept() -> None:
    """Protects data: what is only in the cache is not thrown away."""
    buckets = Buckets(2, 1, BLOCK)
    buckets.take_bucket()
    buckets.insert(7, buckets.append(1), True)
    buckets.take_bucket()
    buckets.insert(8, buckets.append(1), True)
    assert not buckets.take_bucket()
    buckets.clean(7)
    assert buckets.take_bucket()


def test_buckets_in_use_are_counted_by_the_garbage_collection() -> None:
    """Protects the cutoff of writeback: a bucket with a single dirty block is in use, and a clean one is not any more
    once the garbage has been collected.
    """
    buckets = Buckets(100, 2, BLOCK)
    for block in range(10):
        buckets.take_bucket()
        buckets.insert(block, buckets.append(1), block < 3)
    assert buckets.in_use == pytest.approx(0.1)
    buckets.collect_garbage()
    assert buckets.in_use == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("in_use", "sync", "seconds"),
    [(0.35, ASYNC, FAST_S), (0.45, ASYNC, SLOW_S), (0.45, DIRECT, FAST_S), (0.75, DIRECT, SLOW_S)],
)
def test_writes_go_to_both_devices_once_too_many_buckets_are_dirty(in_use: float, sync: int, seconds: float) -> None:
    """Protects the two cutoffs: write-back of the page cache stops at 40 % of the buckets, direct writes at 70 %."""
    laboratory = Laboratory()
    device = cached(laboratory, "writeback")
    laboratory.run(device, WRITE, [0])
    laboratory.rest(2 * SLOW_S)  # the origin's superblock says that there is dirty data
    device.buckets.available = round((1.0 - in_use) * device.buckets.count)
    assert laboratory.run(device, WRITE, [BLOCK * 50], sync=sync) == [pytest.approx(seconds, rel=0.1)]


def test_a_thread_of_streams_passes_by_for_a_while() -> None:
    """Protects the mean of a thread: after a long stream its next few random I/Os pass by, then no more."""
    bypass = Bypass(4 * MIB)
    for number in range(160):
        bypass.passes(1, number * 256 * KIB, 256 * KIB, 0.0)
    passed = [bypass.passes(1, number * 999 * MIB, BLOCK, 1.0) for number in range(1, 9)]
    assert passed == sorted(passed, reverse=True)
    assert passed[0]
    assert not passed[-1]


def test_late_answers_lower_the_cutoff() -> None:
    """Protects a slow cache: a second of late reads, and everything passes by; a second later it is over."""
    congestion = Congestion()
    assert congestion.cutoff(0.0) == 0
    congestion.note(1.1, 2e-3, 10.0)
    assert 0 < congestion.cutoff(10.0) < BLOCK
    assert congestion.cutoff(12.0) == 0


def test_a_warm_piece_loses_its_blocks_one_by_one() -> None:
    """Protects the warm state of large caches: what is written elsewhere is not in its piece any more, the rest is."""
    buckets = Buckets(8, 16, BLOCK)
    buckets.fill([5, 9], 4)
    assert [buckets.find(block) for block in (19, 20, 23, 24, 36)] == [-1, 0, 3, -1, 4]
    buckets.forget(21)
    assert buckets.find(21) < 0 <= buckets.find(22)
