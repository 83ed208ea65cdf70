"""dm-writecache over devices of known service time."""

from __future__ import annotations

import pytest

from raidsim.model.cache.settings import WritecacheSettings
from raidsim.model.cache.writecache.entries import WritecacheEntries, places_in
from raidsim.model.cache.writecache.target import Writecache

from ..laboratory import FAST_S, KIB, MIB, READ, SLOW_S, WRITE, Laboratory

BLOCK = 4 * KIB


def cached(laboratory: Laboratory, settings: WritecacheSettings | None = None) -> Writecache:
    """An empty cache."""
    members = [laboratory.origin, laboratory.fast]
    return Writecache(laboratory.engine, "c0", members, laboratory.host, settings or WritecacheSettings())


def test_metadata_leave_room_for_the_blocks() -> None:
    """Protects the size: a cache of 48 MiB has 12,240 blocks of 4 KiB behind 192 KiB of metadata, as recorded."""
    assert places_in(48 * MIB, BLOCK) == (12_240, 192 * KIB)


def test_writes_take_the_time_of_the_cache_and_reads_that_of_where_the_block_is() -> None:
    """Protects what it is for: writes; a read finds in it only what has been written."""
    laboratory = Laboratory()
    device = cached(laboratory)
    assert laboratory.run(device, WRITE, [0]) == [pytest.approx(FAST_S)]
    assert laboratory.run(device, READ, [0]) == [pytest.approx(FAST_S)]
    assert laboratory.run(device, READ, [BLOCK] * 2) == [pytest.approx(SLOW_S)] * 2


def test_a_stream_lies_in_one_piece() -> None:
    """Protects large writes: one request of the cache, however many blocks; reads are a request a block."""
    laboratory = Laboratory()
    device = cached(laboratory)
    laboratory.run(device, WRITE, [0], 64 * BLOCK)
    assert laboratory.log == [("fast", "write")]
    laboratory.run(device, READ, [0], 64 * BLOCK)
    assert laboratory.count("fast", "read") == 64


def test_a_flush_commits_before_it_reaches_the_origin() -> None:
    """Protects fsync: metadata, flush, superblock, then the flush of the origin; without new blocks only flushes."""
    laboratory = Laboratory()
    device = cached(laboratory)
    laboratory.run(device, WRITE, [0])
    laboratory.log.clear()
    laboratory.flush(device)
    assert laboratory.log == [("fast", "write"), ("fast", "flush"), ("fast", "write"), ("origin", "flush")]
    laboratory.run(device, WRITE, [0])
    laboratory.log.clear()
    laboratory.flush(device)
    assert laboratory.log == [("fast", "flush"), ("origin", "flush")]


def test_a_second_without_a_flush_commits() -> None:
    """Protects from a loss of more than a second of writes, and idle devices from commits of nothing."""
    laboratory = Laboratory()
    device = cached(laboratory)
    laboratory.run(device, WRITE, [0])
    laboratory.rest(0.9)
    assert device.commits.count == 0
    laboratory.rest(5.0)
    assert device.commits.count == 1


def test_writeback_goes_from_the_high_to_the_low_watermark() -> None:
    """Protects the watermarks: nothing is written back below the high one, and the cache is left at the low one."""
    laboratory = Laboratory()
    device = cached(laboratory, WritecacheSettings(autocommit_s=1e9))
    half = device.places // 2
    laboratory.run(device, WRITE, [2 * BLOCK * number for number in range(half - 1)])
    laboratory.rest(10.0)
    assert device.writebacks == 0
    laboratory.run(device, WRITE, [2 * BLOCK * number for number in range(half - 1, half + 1)])
    laboratory.rest(60.0)
    assert device.entries.free == pytest.approx(0.55 * device.places, abs=64)


def test_a_full_cache_writes_to_the_origin() -> None:
    """Protects from a dead end: what finds no free block goes past the cache."""
    laboratory = Laboratory(cache=1 * MIB)
    device = cached(laboratory, WritecacheSettings(high_watermark=1.0, low_watermark=1.0, pause_s=1e9))
    times = laboratory.run(device, WRITE, [2 * BLOCK * number for number in range(device.places + 1)])
    assert times[-3] == pytest.approx(FAST_S)
    assert times[-1] >= SLOW_S


def test_entries_are_taken_around_the_cache() -> None:
    """Protects the order of free blocks, in which freed ones come again last."""
    entries = WritecacheEntries(4)
    assert [entries.take(block) for block in (10, 11, 12)] == [0, 1, 2]
    entries.commit()
    entries.release(0)
    assert entries.take(20) == 3
    assert entries.take(21) == 0
    assert entries.take(22) == -1


def test_an_older_copy_is_freed_by_the_commit() -> None:
    """Protects data: until a newer copy is committed, the older one stays."""
    entries = WritecacheEntries(4)
    entries.take(10)
    entries.commit()
    entries.take(10)
    assert entries.free == 2
    assert entries.commit() == [0]
    entries.release(0)
    assert entries.find(10) == 1


def test_a_pause_ends_whatever_rounding_does_to_times() -> None:
    """Protects from a run without an end: the sum of a time and what is left of a pause may be that time again."""
    laboratory = Laboratory()
    device = cached(laboratory, WritecacheSettings(pause_s=0.01))
    laboratory.engine.run_to(2.5)
    for number in range(1000):
        device._origin_idle_since = laboratory.engine.now - 1e-5 * number / 7
        events = laboratory.engine.scheduled_events
        device._look()
        laboratory.engine.run_to(laboratory.engine.now + 0.0123)
        assert laboratory.engine.scheduled_events < events + 10
