"""The anticipatory scheduler: batches, waiting for the next read, and expiry. The disk serves a request in 1 ms."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from itertools import groupby, pairwise
from typing import Any

import pytest

from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.core.signal import Signal
from raidsim.model.schedulers import Anticipatory, AnticipatorySettings, QueuedRequest
from raidsim.model.schedulers.anticipatory import Reader
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder

SETTINGS = AnticipatorySettings(
    read_batch=0.05, write_batch=0.01, anticipation=0.006, read_expire=10.0, write_expire=10.0
)
WRITES_AT = 32 * MIB
APART = 64 * KIB


class Bench:
    """A disk behind an anticipatory queue that never plugs."""

    def __init__(
        self,
        settings: AnticipatorySettings = SETTINGS,
        phase: float = 0.0,
        depth: int = 1,
        capacity: int = 64 * MIB,
        engine: Engine | None = None,
        processes: dict[int, Reader] | None = None,
    ) -> None:
        self.engine = engine or Engine()
        self.disk = Recorder(self.engine, servers=depth, capacity=capacity)
        self.scheduler = Anticipatory(4 * KIB, settings, phase, processes)
        self.queue = BlockQueue(
            self.engine, Host(Cpu(self.engine)), self.disk, self.scheduler, depth, 1 << 40, 1 << 30, None
        )
        self.issuer = Issuer(self.engine, self.queue)

    def write_at(self, at: float, count: int) -> None:
        """Queue `count` separate writes at time `at`."""

        def go(_: Any) -> None:
            for number in range(count):
                self.issuer.write(WRITES_AT + number * APART, 4 * KIB)

        self.engine.call_at(at, go)

    def reader(
        self, count: int, think_s: float, issuer: int = 1, start: int = 0, step: int = 4 * KIB
    ) -> Generator[Any, Any, None]:
        """A process that reads, waits, thinks, and reads the next block."""
        for number in range(count):
            signal = Signal()
            self.queue.submit(Request(READ, start + number * step, 4 * KIB, signal.fire, issuer))
            yield signal
            yield self.engine.timeout(think_s)

    def ops(self) -> str:
        """What the disk was sent: r and w."""
        return "".join("rw"[op] for op, _, _ in self.disk.log)


def _write(bench: Bench, at: int, _: Any, issuer: int = 1) -> None:
    bench.issuer.write(at, 4 * KIB, issuer=issuer)


def _read(bench: Bench, _: Any) -> None:
    bench.issuer.read(0, 4 * KIB)


def test_a_reader_keeps_the_disk_for_its_batch() -> None:
    """Protects anticipation: the reader thinks 2 ms between reads and no waiting write gets in between."""
    bench = Bench()
    bench.engine.spawn(bench.reader(10, 0.002))
    bench.write_at(0.0005, 5)
    bench.engine.run()
    assert bench.ops() == "r" * 10 + "w" * 5
    last_read_at = 9 * 0.003 + 0.001
    first_write = min(now for now, op, _ in bench.issuer.done if op == WRITE)
    assert first_write == pytest.approx(last_read_at + 0.006 + 0.001), "only after the last read it waits in vain"


def test_without_anticipation_writes_come_in_between() -> None:
    """The counter-test: the same with anticipation 0; while the reader thinks, the writes are served."""
    bench = Bench(SETTINGS.model_copy(update={"anticipation": 0.0}))
    bench.engine.spawn(bench.reader(10, 0.002))
    bench.write_at(0.0005, 5)
    bench.engine.run()
    assert bench.ops() == "r" + "w" * 5 + "r" * 9
    assert next(now for now, op, _ in bench.issuer.done if op == WRITE) == pytest.approx(0.002)


def test_anticipation_has_an_end() -> None:
    """Protects writes from a reader that does not come back: they start 6 ms after its last read."""
    bench = Bench()
    bench.engine.spawn(bench.reader(1, 0.0))
    bench.write_at(0.0005, 2)
    bench.engine.run()
    assert [now for now, op, _ in bench.issuer.done if op == WRITE] == pytest.approx([0.008, 0.009])


def test_slow_thinkers_are_not_waited_for() -> None:
    """Protects the disk from idling for nothing: after a few pauses of 60 ms no further one is waited for."""
    bench = Bench(SETTINGS.model_copy(update={"read_batch": 10.0}))
    bench.engine.spawn(bench.reader(12, 0.06))
    for number in range(12):
        at = WRITES_AT + number * APART
        bench.engine.call_at(0.0005 + number * 0.061, partial(_write, bench, at))
    bench.engine.run()
    written = [now for now, op, _ in bench.issuer.done if op == WRITE]
    waits = [now - 0.0005 - number * 0.061 for number, now in enumerate(written)]
    assert len(waits) == 12
    assert 1 <= sum(wait > 0.006 for wait in waits) < 6


def test_a_read_batch_ends_when_writes_wait() -> None:
    """Protects writes from an endless reader: after 50 ms of reads (1 ms each, no thinking) they have their turn."""
    bench = Bench()
    bench.engine.spawn(bench.reader(100, 0.0))
    bench.write_at(0.0005, 1)
    bench.engine.run()
    assert bench.ops().index("w") == 50


def test_a_read_batch_begins_again_while_no_write_waits() -> None:
    """Protects readers from batches that ended before anybody waited: a write that comes after 30 ms of reads has its
    turn 50 ms later, not 20. The counter-test is the one above, where it waits from the start.
    """
    bench = Bench()
    bench.engine.spawn(bench.reader(200, 0.0))
    bench.write_at(0.0305, 1)
    bench.engine.run()
    assert bench.ops().index("w") == 80


def test_the_first_batch_of_a_disk_may_be_partly_over() -> None:
    """Protects disks from running their batches in step: at phase 0.5 half the first one is over."""
    bench = Bench(phase=0.5)
    bench.engine.spawn(bench.reader(100, 0.0))
    bench.write_at(0.0005, 1)
    bench.engine.run()
    assert bench.ops().index("w") == 25


def test_a_write_batch_is_limited_while_reads_wait() -> None:
    """Protects readers from a long row of writes: 16 writes at first (of 10 ms' worth), then a read batch."""
    bench = Bench(SETTINGS.model_copy(update={"write_batch": 1.0}))
    bench.write_at(0.0, 40)
    bench.engine.call_at(0.0005, lambda _: bench.issuer.read(0, 4 * KIB))
    bench.engine.run()
    assert bench.ops() == "w" * 16 + "r" + "w" * 24


def test_a_write_batch_ends_with_its_time() -> None:
    """Protects the batch length: 10 ms are ten writes of 1 ms, and fewer than the sixteen it starts with."""
    bench = Bench()
    bench.write_at(0.0, 40)
    bench.engine.call_at(0.0005, lambda _: bench.issuer.read(0, 4 * KIB))
    bench.engine.run()
    assert bench.ops().index("r") == 10
    without_reader = Bench()
    without_reader.write_at(0.0, 40)
    without_reader.engine.run()
    assert without_reader.ops() == "w" * 40


def test_write_batches_adapt_to_their_time() -> None:
    """Protects the adaptation: of 0.1 ms writes 16 take far less than the batch, so the next batch may send 32."""
    bench = Bench(SETTINGS.model_copy(update={"read_batch": 0.0005, "write_batch": 1.0}))
    bench.write_at(0.0, 200)
    for at in (0.0005, 0.0305):
        bench.engine.call_at(at, lambda _: bench.issuer.read(0, 4 * KIB))
    bench.engine.run()
    first = bench.ops().index("r")
    assert (first, bench.ops().index("r", first + 1) - first - 1) == (16, 32)


@pytest.mark.parametrize(
    ("unit", "order"),
    [(MIB, [20, 25, 16, 3, 1]), (40 * MIB, [20, 25, 16, 1, 3])],
)
def test_reads_are_served_upwards_and_a_little_back(unit: int, order: list[int]) -> None:
    """Protects the order inside a batch: upwards; then back if it is at most 512 MiB, else from the lowest again."""
    bench = Bench(capacity=64 << 30)
    for block in (20, 3, 25, 16, 1):
        bench.issuer.read(block * unit, 4 * KIB)
    bench.engine.run()
    assert [offset // unit for offset in bench.issuer.order] == order


def test_short_ways_back_are_preferred_to_long_ways_on() -> None:
    """Protects the penalty of two: 1 MiB back goes before 3 MiB on, but not before 1.5 MiB on."""
    orders = []
    for ahead in (3 * MIB, 3 * MIB // 2):
        bench = Bench()
        for offset in (8 * MIB, 8 * MIB + ahead, 7 * MIB):
            bench.issuer.read(offset, 4 * KIB)
        bench.engine.run()
        orders.append(bench.issuer.order.index(7 * MIB))
    assert orders == [1, 2]


def test_equal_addresses_keep_their_order() -> None:
    """Protects reproducibility: requests for the same block are served as they came, whatever the memory layout."""
    bench = Bench()
    streams: list[int] = []
    bench.issuer.read(MIB, 4 * KIB)
    requests = [Request(WRITE, 0, 4 * KIB, lambda r: streams.append(r.issuer), issuer) for issuer in range(20)]
    gathers_per_head = [QueuedRequest(request, 0.0, lambda r: None) for request in requests]
    del gathers_per_head  # memory is given out again last freed first: from the top downwards
    for request in requests:
        bench.queue.submit(request)
    bench.engine.run()
    assert streams == list(range(20))


def test_an_expired_request_goes_first() -> None:
    """Protects the far reader: behind the disk it comes last of 21, with reads expiring after 5 ms after 5 to 11."""

    def place(expire_s: float) -> int:
        bench = Bench(SETTINGS.model_copy(update={"read_expire": expire_s}))
        bench.issuer.read(10 * MIB, 4 * KIB)
        bench.issuer.read(0, 4 * KIB, issuer=2)
        for block in range(1, 20):
            bench.issuer.read(10 * MIB + block * APART, 4 * KIB)
        bench.engine.run()
        return bench.issuer.order.index(0)

    assert place(10.0) == 20
    assert 5 <= place(0.005) <= 11, "looked at every 5 ms; at 5 ms it is not older than that yet"


def test_expiry_is_looked_at_once_an_expiry_time() -> None:
    """Protects from a storm of seeks: of forty reads that came from both ends by turns, all of them soon expired, only
    one in 5 ms is served out of order.
    """
    bench = Bench(SETTINGS.model_copy(update={"read_expire": 0.005}))
    for near in range(20):
        for block in (near, 39 - near):
            bench.issuer.read(10 * MIB + block * APART, 4 * KIB)
    bench.engine.run()
    order = [(offset - 10 * MIB) // APART for offset in bench.issuer.order]
    jumps = sum(abs(after - before) > 2 for before, after in pairwise(order))
    assert 1 <= jumps <= 1 + 2 * (40 // 5)


def test_reads_wait_until_the_last_write_is_done() -> None:
    """Protects batches at a drive with a queue: two commands under way, a batch of one write ends, and the read does
    not start beside it; without the write it starts at once.
    """
    starts = []
    for writes in (1, 0):
        bench = Bench(SETTINGS.model_copy(update={"write_batch": 0.0}), depth=2)
        bench.write_at(0.0, writes)
        bench.engine.call_at(0.0005, partial(_read, bench))
        bench.engine.run()
        starts.append(next(now for now, op, _ in bench.issuer.done if op == READ) - 0.001)
    assert starts == pytest.approx([0.001, 0.0005])


def _streaks_of_two_readers(settings: AnticipatorySettings) -> list[int]:
    """How many reads in a row each of two sequential readers gets, who think 0.5 ms between them."""
    bench = Bench(settings)
    bench.engine.spawn(bench.reader(100, 0.0005, issuer=1))
    bench.engine.spawn(bench.reader(100, 0.0005, issuer=2, start=WRITES_AT))
    bench.engine.run()
    return [len(list(streak)) for _, streak in groupby(offset < WRITES_AT for _, offset, _ in bench.disk.log)]


def test_two_readers_do_not_send_the_disk_back_and_forth() -> None:
    """Protects sequential reads beside others: each goes on until the other's read is older than 20 ms (14 reads),
    which is looked at every 20 ms.
    """
    streaks = _streaks_of_two_readers(SETTINGS.model_copy(update={"read_expire": 0.02}))
    assert len(streaks) > 4
    assert all(13 <= streak <= 28 for streak in streaks[:-1])


def test_without_anticipation_two_readers_do() -> None:
    """The counter-test: with anticipation 0 every read is somewhere else."""
    assert max(_streaks_of_two_readers(SETTINGS.model_copy(update={"read_expire": 0.02, "anticipation": 0.0}))) == 1


def _served_at(offset: int, at: float, step: int = 4 * KIB, count: int = 1) -> float:
    """When a read of another process, which comes at `at`, is done, if the last of `count` reads was done at 1 ms
    times that and the disk waits for the next of its process, near 0.
    """
    bench = Bench(capacity=64 << 30)
    bench.engine.spawn(bench.reader(count, 0.0, start=0, step=step))
    bench.engine.call_at(at, lambda _: bench.issuer.read(offset, 4 * KIB, issuer=2))
    bench.engine.run()
    return bench.issuer.done[0][0]


def test_a_near_read_of_another_process_is_served_at_once() -> None:
    """Protects processes that read the same place: within 32 KiB at once, otherwise when 6 ms are over."""
    assert _served_at(16 * KIB, 0.0005) == pytest.approx(0.002)
    assert _served_at(64 * KIB, 0.0005) == pytest.approx(0.001 + 0.006 + 0.001)


def test_what_counts_as_near_grows_while_the_disk_waits() -> None:
    """Protects the other process from waiting for too little: while a write makes the disk wait for the next read near
    0, a read at 300 KiB is too far 1.5 ms after the last one, and near enough after 5.2.
    """

    def served(at: float) -> float:
        bench = Bench()
        bench.engine.spawn(bench.reader(1, 0.0))
        bench.write_at(0.0005, 1)
        bench.engine.call_at(at, lambda _: bench.issuer.read(300 * KIB, 4 * KIB, issuer=2))
        bench.engine.run()
        return next(now for now, op, _ in bench.issuer.done if op == READ)

    assert served(0.0025) == pytest.approx(0.001 + 0.006 + 0.001)
    assert served(0.0062) == pytest.approx(0.0062 + 0.001)


def test_a_reader_that_seeks_is_not_waited_for() -> None:
    """Protects the disk from idling for a read that will be far away: who seeks 1 GiB with every read is not waited for
    if another read is 1 MiB away; the counter-test reads in order.
    """
    at = 0.0055
    ends = 5 * (1 << 30)
    assert _served_at(ends + MIB, at, step=1 << 30, count=6) == pytest.approx(0.007)
    assert _served_at(6 * 4 * KIB + MIB, at, count=6) == pytest.approx(0.006 + 0.006 + 0.001)


def test_a_process_that_writes_is_not_waited_for() -> None:
    """Protects a read from waiting for a process that has gone on to write: its write ends the waiting."""
    bench = Bench()
    bench.engine.spawn(bench.reader(1, 0.0))
    bench.engine.call_at(0.0005, lambda _: bench.issuer.read(WRITES_AT, 4 * KIB, issuer=2))
    bench.engine.call_at(0.003, lambda _: bench.issuer.write(2 * WRITES_AT - APART, 4 * KIB, issuer=1))
    bench.engine.run()
    assert [now for now, op, _ in bench.issuer.done if op == READ] == pytest.approx([0.004])


def test_a_reader_that_was_away_is_soon_waited_for_again() -> None:
    """Protects readers from one long pause: it counts as 20 ms, so that after some quick reads the disk waits again."""

    def gap_s(pause_s: float) -> int:
        """Reads after a pause until one is waited for."""
        bench = Bench(SETTINGS.model_copy(update={"read_batch": 10.0, "write_batch": 0.001}))
        waited: list[bool] = []

        def process() -> Generator[Any, Any, None]:
            yield from bench.reader(20, 0.0)
            yield bench.engine.timeout(pause_s)
            for number in range(20):
                yield from bench.reader(1, 0.002, start=MIB + number * 4 * KIB)
                before = len(bench.disk.sent(WRITE))
                bench.issuer.write(WRITES_AT + number * APART, 4 * KIB, issuer=9)
                waited.append(len(bench.disk.sent(WRITE)) == before)

        bench.engine.spawn(process())
        bench.engine.run()
        return waited.index(True)

    assert gap_s(0.02) == gap_s(10.0) <= 2


def test_a_near_write_ends_the_waiting_for_a_reader_that_seeks() -> None:
    """Protects writes beside a reader that seeks far: a near one ends the waiting; the counter-test reads in order."""

    def served(step: int) -> float:
        bench = Bench(capacity=16 << 30)
        bench.engine.spawn(bench.reader(5, 0.0, step=step))
        for at, offset in ((0.0052, 15 << 30), (0.0055, 4 * step + MIB)):
            bench.engine.call_at(at, partial(_write, bench, offset, issuer=9))
        bench.engine.run()
        return next(now for now, op, _ in bench.issuer.done if op == WRITE)

    assert served(1 << 30) == pytest.approx(0.0065)
    assert served(4 * KIB) == pytest.approx(0.005 + 0.006 + 0.001)


def _submit(bench: Bench, request: Request, _: Any) -> None:
    bench.queue.submit(request)


def _two_disks(processes: dict[int, Reader] | None) -> list[float]:
    """When a second process's read of the first disk is over; the first process has one there and two on another."""
    first = Bench(processes=processes)
    second = Bench(engine=first.engine, processes=processes)
    done: list[float] = []
    for bench, places in ((first, (0,)), (second, (0, MIB))):
        for place in places:
            bench.queue.submit(Request(READ, place, 4 * KIB, lambda _: None, 1))
    first.engine.call_at(
        0.0005,
        lambda _: first.queue.submit(Request(READ, WRITES_AT, 4 * KIB, lambda _: done.append(first.engine.now), 2)),
    )
    first.engine.run()
    return done


def test_nobody_waits_for_a_process_with_a_read_in_another_queue() -> None:
    """Protects arrays from too much anticipation: who has a read on another disk is not waited for on this one."""
    assert _two_disks({}) == pytest.approx([0.002])


def test_a_queue_that_remembers_for_itself_waits() -> None:
    """The counter-test: with a memory of its own each queue waits out its 6 ms."""
    assert _two_disks(None) == pytest.approx([0.008])


@pytest.mark.parametrize(("shared", "pause"), [(True, 0.004), (False, 0.006)])
def test_a_read_close_by_begins_the_pause_anew(shared: bool, pause: float) -> None:
    """Protects two that read side by side: the pause counts from the other's read, where the kernel has it so."""
    processes: dict[int, Reader] | None = {} if shared else None
    bench = Bench(SETTINGS.model_copy(update={"anticipation": 0.02}), processes=processes)
    for at, place, issuer in ((0.0, 0, 1), (0.0, WRITES_AT, 3), (0.003, 4 * KIB, 2), (0.007, 8 * KIB, 1)):
        bench.engine.call_at(at, partial(_submit, bench, Request(READ, place, 4 * KIB, lambda _: None, issuer)))
    bench.engine.run()
    reader = bench.scheduler._readers[1]
    assert reader.think_s == pytest.approx(pause)
