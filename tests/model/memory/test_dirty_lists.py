"""Lists of dirty blocks by age (Linux 2.4), and what write-back and fsync make of them. A request takes 1 ms."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from raidsim.model.core.request import WRITE
from raidsim.model.memory.dirty_lists import DirtyLists
from raidsim.model.memory.dirty_memory import DirtyLimits
from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB, NO_LIMITS, Bench, Program

BLOCK = 4 * KIB
LISTS = PageCacheSettings(block_lists=True)
PLAIN = PageCacheSettings(by_age=True)


def sent(bench: Bench) -> list[int]:
    """Addresses of what was written, in blocks."""
    return [address // BLOCK for address, _ in bench.disk.sent(WRITE)]


def dirtied(file: PagedFile, lists: DirtyLists, *blocks: int, now: float = 0.0) -> None:
    """Make blocks of a file dirty, one after the other."""
    for block in blocks:
        file.dirty.add(block * BLOCK, (block + 1) * BLOCK)
        lists.add(file, block * BLOCK, (block + 1) * BLOCK, now)


def test_the_oldest_of_all_and_the_newest_of_one() -> None:
    """Protects both orders, and that blocks written meanwhile are passed over in either."""
    one, other, lists = PagedFile("one", MIB), PagedFile("other", MIB), DirtyLists()
    dirtied(one, lists, 9, 3)
    dirtied(other, lists, 5)
    dirtied(one, lists, 7)
    one.dirty.remove(9 * BLOCK, 10 * BLOCK)
    assert lists.oldest(MIB) == (one, 3 * BLOCK, 4 * BLOCK)
    one.dirty.remove(3 * BLOCK, 4 * BLOCK)
    assert lists.oldest(MIB) == (other, 5 * BLOCK, 6 * BLOCK)
    dirtied(one, lists, 1)
    assert [lists.newest(one, MIB)[0] // BLOCK for _ in range(2)] == [1, 7]


def test_long_runs_are_cut_from_their_ends() -> None:
    """Protects the size of I/O: a run of 6 blocks in pieces of 4 that begin at a multiple, from either end."""
    file, lists = PagedFile("f", MIB), DirtyLists()
    dirtied(file, lists, 2, 3, 4, 5, 6, 7)
    assert lists.oldest(4 * BLOCK) == (file, 2 * BLOCK, 4 * BLOCK)
    assert lists.newest(file, 4 * BLOCK) == (4 * BLOCK, 8 * BLOCK)
    file.dirty.remove(4 * BLOCK, 8 * BLOCK)
    assert lists.newest(file, 4 * BLOCK) == (2 * BLOCK, 4 * BLOCK)


def test_only_what_is_old_is_due() -> None:
    """Protects kupdate: of one file what became dirty ten seconds ago is due, what did five seconds ago is not."""
    file, lists = PagedFile("f", MIB), DirtyLists()
    dirtied(file, lists, 1, now=0.0)
    dirtied(file, lists, 2, now=5.0)
    assert [lists.due(before) for before in (-1.0, 0.0)] == [False, True]
    file.dirty.remove(BLOCK, 2 * BLOCK)
    assert not lists.due(4.0)
    assert lists.due(5.0)


@pytest.mark.parametrize(("settings", "order"), [(LISTS, [6, 2, 8, 4]), (PLAIN, [2, 4, 6, 8])])
def test_fsync_writes_the_newest_first(settings: PageCacheSettings, order: list[int]) -> None:
    """Protects fsync of random writes: in the reverse of the order in which they were made, so that only the queue
    sorts. The counter-test: without the lists a file is written in order of address.
    """
    bench = Bench(settings=settings, limits=NO_LIMITS)
    file = bench.file(MIB)
    for block in (4, 8, 2, 6):
        bench.cache.mark_dirty(file, block * BLOCK, (block + 1) * BLOCK)
    bench.do(bench.cache.write_back(file, 1))
    assert sent(bench) == order
    assert not bench.cache.is_dirty()


def interleaved(settings: PageCacheSettings) -> list[int]:
    """Two files dirtied in turns, which lie between each other on the disk; what a writer above the limit writes."""
    limits = DirtyLimits(1 << 40, 1 << 40, limit=2 * BLOCK, duty=6 * BLOCK, pass_bytes=64 * KIB, counts_writeback=False)
    bench = Bench(settings=settings, limits=limits)
    files = [PagedFile("one", MIB), PagedFile("other", MIB)]
    for turn in range(8):
        files[turn % 2].extents.append(turn * BLOCK, BLOCK)
    for turn in range(8):
        at = turn // 2 * BLOCK
        bench.cache.mark_dirty(files[turn % 2], at, at + BLOCK)

    def throttled() -> Generator[Any, Any, None]:
        yield from bench.cache.throttle(bench.program, BLOCK)

    bench.do(throttled())
    return sent(bench)


def test_write_back_follows_all_files_at_once() -> None:
    """Protects several writers at a time: what they wrote in turns is written as it lies, in one sweep. The
    counter-test: file by file, every second block is left for another one.
    """
    assert interleaved(LISTS) == [0, 1, 2, 3, 4, 5]
    assert interleaved(PLAIN)[:5] == [0, 2, 4, 6, 1]


def test_a_file_that_is_gone_is_on_no_list() -> None:
    """Protects from writing what was deleted: the lists are empty, and what comes next is written."""
    bench = Bench(settings=LISTS, limits=NO_LIMITS)
    gone, kept = bench.file(MIB), bench.file(MIB, 8 * MIB, "kept")
    bench.cache.mark_dirty(gone, 0, BLOCK)
    bench.cache.mark_dirty(kept, 0, BLOCK)
    bench.cache.forget(gone)
    bench.do(bench.cache.sync(Program()))
    assert bench.disk.sent(WRITE) == [(8 * MIB, BLOCK)]


def test_blocks_are_written_when_they_are_old_not_their_file() -> None:
    """Protects kupdate of a file that is written all the time: of two blocks the one that is old goes, and later the
    other one. The counter-test: without the lists both go when the file has been dirty for that long.
    """
    found = []
    for settings in (LISTS, PLAIN):
        bench = Bench(settings=settings, limits=NO_LIMITS)
        file = bench.file(MIB)
        bench.cache.mark_dirty(file, 0, BLOCK)
        bench.engine.run(until=20.0)
        bench.cache.mark_dirty(file, 8 * BLOCK, 9 * BLOCK)
        bench.engine.run(until=36.0)
        found.append(sent(bench))
    assert found == [[0], [0, 8]]
