"""The journal of a parity array: a ring of batches, and what waits for what."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import WRITE
from raidsim.model.raid.metadata.journal import Journal
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench
from raidsim.tests.model.recording import KIB, MIB, Recorder


class Log:
    """A journal on a recorder that takes 1 ms a write."""

    def __init__(self, capacity: int = MIB) -> None:
        self.engine = Engine()
        self.disk = Recorder(self.engine, "journal")
        self.journal = Journal(self.disk, capacity)
        self.logged: list[int] = []

    def append(self, blocks: int) -> None:
        """One head with so many blocks."""
        self.journal.append(1, blocks, self.logged.append)


def test_a_batch_is_one_write() -> None:
    """Protects the I/O unit: three heads of two blocks are one write of 3 x (2 + metadata) blocks from the start."""
    log = Log()
    for _ in range(3):
        log.append(2)
    log.journal.submit()
    log.engine.run()
    assert log.disk.log == [(WRITE, 0, 9 * PAGE)]
    assert log.logged == [1, 2, 3]


def test_what_comes_during_a_write_goes_with_the_next() -> None:
    """Protects group commit: four heads that come while the log is flushed are one more write, behind the first."""
    log = Log()
    log.append(2)
    log.journal.submit()
    for _ in range(4):
        log.append(2)
        log.journal.submit()
    log.engine.run()
    assert log.disk.log == [(WRITE, 0, 3 * PAGE), (WRITE, 3 * PAGE, 12 * PAGE)]
    assert log.engine.now == pytest.approx(0.002)


def test_a_full_log_waits_for_the_members() -> None:
    """Protects the limit: a log of four blocks takes one head of three; the next goes when the first is written."""
    log = Log(4 * PAGE)
    for _ in range(2):
        log.append(2)
    log.journal.submit()
    log.engine.run()
    assert log.logged == [1]
    assert (log.journal.waits, log.journal.used) == (1, 3 * PAGE)
    log.journal.written(1)
    log.engine.run()
    assert log.logged == [1, 2]


def test_the_log_is_a_ring() -> None:
    """Protects the end of the device: what does not fit before it goes on at the start."""
    log = Log(4 * PAGE)
    log.append(2)
    log.journal.submit()
    log.engine.run()
    log.journal.written(1)
    log.append(2)
    log.journal.submit()
    log.engine.run()
    assert log.disk.log[1:] == [(WRITE, 3 * PAGE, PAGE), (WRITE, 0, 2 * PAGE)]


def test_space_is_free_up_to_the_oldest() -> None:
    """Protects the order of reclaim: the second head's space is not free before the first one's."""
    log = Log()
    for _ in range(2):
        log.append(2)
    log.journal.submit()
    log.engine.run()
    log.journal.written(2)
    assert log.journal.used == 6 * PAGE
    log.journal.written(1)
    assert log.journal.used == 0


def test_what_cannot_be_is_refused() -> None:
    """Protects from a mode that is not modeled, sizes that cannot be, and kernels that have no journal."""
    disk = Recorder(Engine(), "journal")
    with pytest.raises(ModelError, match="write-back"):
        Journal(disk, mode="write-back")
    with pytest.raises(ModelError, match="4096"):
        Journal(disk, 100)
    with pytest.raises(ModelError, match="to log"):
        Log(PAGE).append(2)
    bench = Bench()
    with pytest.raises(ModelError, match="journal"):
        ParityArray(
            bench.engine, "md0", bench.disks, bench.array.layout, ParitySettings(), journal=Journal(bench.disks[0])
        )


def journalled(capacity: int = MIB) -> tuple[Bench, Recorder]:
    """A RAID 5 of four with a journal."""
    bench = Bench(hold=None, direct_reads=True)
    disk = Recorder(bench.engine, "journal")
    bench.use_members(bench.disks, Journal(disk, capacity))
    return bench, disk


@pytest.mark.parametrize(("size", "seconds", "logged"), [(PAGE, 0.003, 3), (3 * CHUNK, 0.002, 66)])
def test_a_write_goes_to_the_log_first(size: int, seconds: float, logged: int) -> None:
    """Protects the order: (reads,) log, members, each 1 ms; data, parity and a block per 8 heads are logged."""
    bench, disk = journalled()
    bench.issuer.write(0, size, sync=True)
    bench.engine.run()
    assert bench.times() == pytest.approx([seconds])
    assert disk.log == [(WRITE, 0, logged * PAGE)]


def test_without_a_journal_it_does_not() -> None:
    """The counter-test: the same writes are a millisecond faster."""
    for size, seconds in ((PAGE, 0.002), (3 * CHUNK, 0.001)):
        bench = Bench(hold=None, direct_reads=True)
        bench.issuer.write(0, size, sync=True)
        bench.engine.run()
        assert bench.times() == pytest.approx([seconds])


def test_a_small_log_serves_all() -> None:
    """Protects from a standstill: forty writes through a log that holds two of them."""
    bench, disk = journalled(40 * KIB)
    for row in range(40):
        bench.issuer.write(row * 3 * CHUNK, 2 * PAGE, sync=row % 2 == 0)
    bench.engine.run()
    assert len(bench.issuer.done) == 40
    assert sum(size for _, _, size in disk.log) == 40 * 5 * PAGE
    assert bench.array.cache.in_use == 0
