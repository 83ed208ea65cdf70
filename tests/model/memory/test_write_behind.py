"""A program that writes a file in order sends off what it has filled, and waits while too much is on its way."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.core.request import WRITE
from raidsim.model.kernels import kernel, kernel_names
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB, NO_LIMITS, Bench

CLUSTER = 128 * KIB
STEP = 64 * KIB


def written(pieces: Iterable[int], write_behind: int = CLUSTER, size: int = STEP) -> Bench:
    """A bench after a program has written pieces of a file that begin there."""
    limits = replace(NO_LIMITS, running_above=64 * MIB)
    bench = Bench(limits=limits, settings=PageCacheSettings(block=16 * KIB, write_behind=write_behind))
    file = bench.file(64 * MIB)

    def work() -> Generator[Any, Any, None]:
        for start in pieces:
            bench.cache.mark_dirty(file, start, start + size)
            bench.cache.mark_dirty(bench.cache.device_file, 1 << 39, (1 << 39) + 16 * KIB)
            if write_behind:
                yield from bench.cache.write_behind(file, start, start + size, bench.program)
        yield bench.engine.timeout(0.1)

    bench.do(work())
    return bench


def test_what_is_full_goes_out_at_once() -> None:
    """Protects FreeBSD's writers: clusters go out as they are filled, in order, and what is not full stays; the block
    of metadata that changes with every call is not written beside them. Counter-test: without it nothing goes out.
    """
    bench = written(range(0, MIB + STEP, STEP))
    assert bench.disk.sent(WRITE) == [(at, CLUSTER) for at in range(0, MIB, CLUSTER)]
    assert bench.memory.dirty_bytes == STEP + 16 * KIB
    assert written(range(0, MIB + STEP, STEP), write_behind=0).disk.sent(WRITE) == []


def test_what_is_written_out_of_order_is_left() -> None:
    """Protects the flusher's work: pieces with gaps between them fill nothing, nor do clusters backwards; in order the
    same bytes do.
    """
    assert written(range(0, 2 * MIB, CLUSTER)).disk.sent(WRITE) == []
    assert written(range(2 * MIB, 0, -CLUSTER), size=CLUSTER).disk.sent(WRITE) == []
    assert len(written(range(0, 2 * MIB, CLUSTER), size=CLUSTER).disk.sent(WRITE)) == 16


def test_a_sequence_may_begin_anywhere() -> None:
    """Protects files that are written again, and from the middle: from the second piece on the clusters go out."""
    again = written([*range(0, MIB, STEP), *range(0, MIB, STEP)])
    assert again.disk.sent(WRITE) == [(at, CLUSTER) for at in range(0, MIB, CLUSTER)] * 2
    middle = written(range(MIB + STEP, 2 * MIB, STEP))
    clusters = [(at, CLUSTER) for at in range(MIB + CLUSTER, 2 * MIB, CLUSTER)]
    assert middle.disk.sent(WRITE) == [(MIB + STEP, STEP), *clusters]


def test_a_long_write_sends_all_that_it_fills() -> None:
    """Protects large calls: one of 1 MiB fills eight clusters, and the one after a call that ended within a cluster
    goes on with that.
    """
    bench = written([0, MIB - STEP], size=MIB - STEP)
    assert bench.disk.sent(WRITE) == [(at, CLUSTER) for at in range(0, 2 * MIB - CLUSTER, CLUSTER)]


def test_the_writer_waits_for_what_is_on_its_way() -> None:
    """Protects hirunningspace: never more than 1 MiB and one cluster under write-back, and the writer goes on when half
    of that is left. So a disk of 1 ms a request sets the pace; where there is no limit (counter-test) it does not.
    """

    def run(above: int) -> tuple[int, float]:
        settings = PageCacheSettings(block=16 * KIB, write_behind=CLUSTER)
        bench = Bench(limits=replace(NO_LIMITS, running_above=above, running_below=above // 2), settings=settings)
        file = bench.file(64 * MIB)
        levels = []

        def work() -> Generator[Any, Any, None]:
            for start in range(0, file.size, STEP):
                bench.cache.mark_dirty(file, start, start + STEP)
                yield from bench.cache.write_behind(file, start, start + STEP, bench.program)
                levels.append(bench.memory.writeback_bytes)

        seconds = bench.do(work())
        return max(levels), seconds

    most, seconds = run(MIB)
    assert most <= MIB
    assert seconds == pytest.approx(0.001 * (64 * MIB - 512 * KIB) / CLUSTER, rel=0.01)
    assert run(1 << 40) == (64 * MIB, 0.0)


def test_only_freebsd_writes_behind() -> None:
    """Protects the catalogue: Linux leaves writing to its flushers and to writers over the limit."""
    assert {name for name in kernel_names() if kernel(name).cache.write_behind} == {"freebsd-6.2"}
    cache = kernel("freebsd-6.2").cache
    assert (cache.write_behind, cache.running_above, cache.running_below) == (CLUSTER, MIB, MIB // 2)
