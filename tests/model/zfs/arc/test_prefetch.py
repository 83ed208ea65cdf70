"""Tests of prefetch against recorded bursts of OpenZFS 2.3.2."""

from __future__ import annotations

import pytest

from raidsim.model.zfs.arc.prefetch import Prefetch
from raidsim.model.zfs.arc.settings import PrefetchSettings

KIB, MIB = 1 << 10, 1 << 20


def bursts(prefetch: Prefetch, reads: list[tuple[int, int]]) -> list[int]:
    """How many blocks each read makes prefetch read, if none is in memory."""
    found = []
    for block, blocks in reads:
        stream = prefetch.read(block, blocks, 0.0)
        start, end = (0, 0) if stream is None else prefetch.run(stream, True)
        found.append(end - start)
    return found


def test_distance_doubles_to_4_mib_and_then_follows_the_reader() -> None:
    """Reads of 128 KiB of a file with records of 16 KiB give the recorded bursts."""
    found = bursts(Prefetch(PrefetchSettings(), 4096, 16 * KIB), [(8 * at, 8) for at in range(12)])
    assert found == [0, 8, 16, 24, 40, 72, 136, 8, 8, 8, 8, 8]


@pytest.mark.parametrize("reads", [[(4 * at, 1) for at in range(24)], [(96 - at, 1) for at in range(24)]])
def test_strides_and_backward_reads_are_not_read_ahead(reads: list[tuple[int, int]]) -> None:
    """Counter-test: a stride of four blocks, and reads backward, as recorded."""
    assert sum(bursts(Prefetch(PrefetchSettings(), 128, 128 * KIB), reads)) == 0


def test_streams_by_the_size_of_the_file() -> None:
    """A file has a stream for each 64 MiB, at least one and at most eight."""
    readers = [(base + at, 1) for at in range(3) for base in (0, 1000, 2000, 3000)]
    assert sum(bursts(Prefetch(PrefetchSettings(), 4000, 128 * KIB), readers)) > 0
    assert sum(bursts(Prefetch(PrefetchSettings(), 24, 1 * MIB), [(b // 150, n) for b, n in readers])) == 0


def test_reordered_reads_belong_to_their_stream() -> None:
    """Blocks of a sequential reader that come out of order do not end its stream."""
    prefetch = Prefetch(PrefetchSettings(), 4096, 128 * KIB)
    bursts(prefetch, [(0, 1), (1, 1), (3, 1), (2, 1)])
    assert len(prefetch.streams) == 1
    assert prefetch.streams[0].position == 4


def test_nothing_is_read_ahead_of_what_is_in_memory() -> None:
    """A stream reads ahead only once one of its reads had to wait."""
    prefetch = Prefetch(PrefetchSettings(), 4096, 128 * KIB)
    prefetch.read(0, 1, 0.0)
    stream = prefetch.read(1, 1, 0.0)
    assert stream is not None
    assert prefetch.run(stream, False) == (0, 0)
    assert prefetch.run(stream, True) == (2, 3)


def test_overtaken_prefetch_reads_further_ahead() -> None:
    """The distance grows beyond 4 MiB by an eighth when a reader has overtaken a prefetch."""
    prefetch = Prefetch(PrefetchSettings(), 4096, 1 * MIB)
    for block in range(6):
        stream = prefetch.read(block, 1, 0.0)
    assert stream is not None
    assert stream.distance == 4 * MIB
    stream.overtaken = True
    prefetch.read(6, 1, 0.0)
    assert stream.distance == 4 * MIB * 9 // 8


def test_disabled_prefetch_reads_nothing() -> None:
    """zfs_prefetch_disable turns prefetch off."""
    prefetch = Prefetch(PrefetchSettings(disabled=True), 4096, 16 * KIB)
    assert sum(bursts(prefetch, [(at, 1) for at in range(20)])) == 0
