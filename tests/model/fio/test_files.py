"""Files of fio's jobs: which thread waits for another one, and which pages stay in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE
from raidsim.model.fio.files import CachedFile, LockedFile
from raidsim.tests.model.memory.page_cache_bench import Bench
from raidsim.tests.model.recording import KIB, Recorder


def _whole(start: int, end: int) -> Iterator[tuple[int, int, int]]:
    yield start, start, end - start


@pytest.mark.parametrize(
    ("op", "offset", "size", "alone"),
    [
        (WRITE, 0, 4096, False),
        (WRITE, 8192, 8192, False),
        (WRITE, 0, 512, True),
        (WRITE, 512, 4096, True),
        (WRITE, 512, 512, True),
        (READ, 512, 512, False),
    ],
)
def test_a_write_of_a_part_of_a_block_is_alone(op: int, offset: int, size: int, alone: bool) -> None:
    """Protects O_DIRECT on ext4 and XFS: on a device that serves all I/Os at once in 1 ms, three such writes between
    two reads are served one by one, in 5 ms. Counter-test: three whole writes, or reads, take 1 ms with these.
    """
    engine = Engine(1)
    file = LockedFile(Recorder(engine, servers=8), _whole, True, None, 4096)
    ends: list[float] = []
    for each, at, length in [(READ, 0, 4096), *[(op, offset, size)] * 3, (READ, 0, 4096)]:
        file.submit(each, at, length, lambda _: ends.append(engine.now), 1, None)
    engine.run(until=1.0)
    assert ends == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.005] if alone else [0.001] * 5)


def test_only_what_is_clean_is_dropped() -> None:
    """Protects `invalidate`: a file that was read is read from the disk again, one that was written is not."""
    bench = Bench()
    file = bench.file(64 * KIB)
    opened = CachedFile(bench.host, bench.cache, file, None, "none")

    def read() -> int:
        bench.disk.log.clear()
        bench.read(file)
        return sum(size for _, size in bench.disk.sent(READ))

    assert [read(), read()] == [64 * KIB, 0]
    opened.drop()
    assert read() == 64 * KIB
    bench.do(opened.write(0, 64 * KIB, bench.program))
    assert file.dirty
    opened.drop()
    assert read() == 0
