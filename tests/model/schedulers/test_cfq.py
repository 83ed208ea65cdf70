"""CFQ: slices by turns, idling for a process, write-back in a queue of its own. The disk serves a request in 1 ms."""

from __future__ import annotations

from collections.abc import Generator
from itertools import groupby, pairwise
from typing import Any

import pytest

from raidsim.model.block.single_queue import BlockQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import ASYNC, DIRECT, READ, WRITE, Request
from raidsim.model.core.signal import Signal
from raidsim.model.schedulers import Cfq, CfqSettings
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder

GIB = 1 << 30
NEAR, FAR, BETWEEN = 0, 32 * MIB, 16 * MIB
SETTINGS = CfqSettings(slice_sync=0.02, slice_async=0.01, read_expire=10.0, write_expire=10.0)


class Bench:
    """A disk behind a CFQ queue that never plugs."""

    def __init__(self, settings: CfqSettings = SETTINGS, depth: int = 1, capacity: int = 64 * MIB) -> None:
        self.engine = Engine()
        self.disk = Recorder(self.engine, servers=depth, capacity=capacity)
        self.scheduler = Cfq(4 * KIB, settings)
        self.queue = BlockQueue(
            self.engine, Host(Cpu(self.engine)), self.disk, self.scheduler, depth, 1 << 40, 1 << 30, None
        )
        self.issuer = Issuer(self.engine, self.queue)

    def reader(self, start: int, count: int, think_s: float, issuer: int, step: int = 4 * KIB) -> None:
        """A process that reads, waits, thinks, and reads the next block."""

        def process() -> Generator[Any, Any, None]:
            for number in range(count):
                signal = Signal()
                self.queue.submit(Request(READ, start + number * step, 4 * KIB, signal.fire, issuer))
                yield signal
                yield self.engine.timeout(think_s)

        self.engine.spawn(process())

    def read_at(self, now: float, offset: int, issuer: int) -> None:
        """A process sends one read."""
        self.engine.call_at(now, lambda _: self.issuer.read(offset, 4 * KIB, issuer=issuer))

    def streaks(self) -> list[tuple[str, int]]:
        """Who was served how many times in a row: n(ear) and f(ar) reads, w(rites)."""
        served = ("w" if op == WRITE else "n" if offset < BETWEEN else "f" for op, offset, _ in self.disk.log)
        return [(who, len(list(streak))) for who, streak in groupby(served)]


def _done(_: Request) -> None:
    """Nobody asks when."""


def _two_readers(settings: CfqSettings, think_s: float = 0.0005) -> list[tuple[str, int]]:
    bench = Bench(settings)
    bench.reader(NEAR, 60, think_s, issuer=1)
    bench.reader(FAR, 60, think_s, issuer=2)
    bench.engine.run()
    return bench.streaks()


def test_readers_take_turns_of_a_slice() -> None:
    """Protects the slices: of two sequential readers each has the disk for 20 ms, that is about 14 reads and pauses."""
    streaks = _two_readers(SETTINGS)
    assert [who for who, _ in streaks] == ["n", "f"] * (len(streaks) // 2)
    assert {count for _, count in streaks[:-2]} <= {13, 14, 15}


def test_without_idling_readers_send_the_disk_back_and_forth() -> None:
    """The counter-test: with slice_idle 0 nobody is waited for, and every read is somewhere else."""
    assert max(count for _, count in _two_readers(SETTINGS.model_copy(update={"slice_idle": 0.0}))) == 1


def test_slow_thinkers_are_not_waited_for() -> None:
    """Protects the disk from idling for nothing: who thinks longer than slice_idle loses the disk with every read."""
    bench = Bench()
    bench.reader(NEAR, 20, 0.02, issuer=1)
    bench.reader(FAR, 600, 0.0, issuer=2)
    bench.engine.run()
    quick = Bench()
    quick.reader(NEAR, 20, 0.005, issuer=1)
    quick.reader(FAR, 600, 0.0, issuer=2)
    quick.engine.run()
    lengths = [max(count for who, count in each.streaks() if who == "n") for each in (bench, quick)]
    assert lengths[0] == 1
    assert lengths[1] > 1, "the counter-test: 5 ms are waited for"


def test_idling_has_an_end() -> None:
    """Protects the others from a process that does not come back: 8 ms after its only read the next is served."""
    bench = Bench()
    bench.issuer.read(NEAR, 4 * KIB, issuer=1)
    bench.issuer.read(FAR, 4 * KIB, issuer=2)
    bench.engine.run()
    assert [now for now, _, _ in bench.issuer.done] == pytest.approx([0.001, 0.001 + 0.008 + 0.001])


@pytest.mark.parametrize("others", [(0.002,), (0.002, 0.004, 0.006)])
def test_others_neither_end_nor_prolong_the_idling(others: tuple[float, ...]) -> None:
    """Protects the end of the wait from the requests of other processes: they are served 8 ms after the only read of
    the process that has the disk, whenever they come.
    """
    bench = Bench()
    bench.issuer.read(NEAR, 4 * KIB, issuer=1)
    for number, at in enumerate(others):
        bench.read_at(at, FAR, issuer=2 + number)
    bench.engine.run()
    assert bench.issuer.done[1][0] == pytest.approx(0.001 + 0.008 + 0.001)


def test_only_what_the_disk_idled_for_is_served_after_the_slice() -> None:
    """Protects the end of a slice: a process that reads every 0.7 ms loses the disk with the first read that comes
    after its 20 ms, though an earlier one is not done yet.
    """
    bench = Bench(depth=2)
    for number in range(60):
        bench.read_at(number * 0.0007, NEAR + number * 4 * KIB, issuer=1)
    bench.read_at(0.0002, FAR, issuer=2)
    bench.engine.run()
    assert [now for now, _, offset in bench.issuer.done if offset == FAR] == pytest.approx([29 * 0.0007 + 0.001])


@pytest.mark.parametrize(("step", "wait_s"), [(4 * KIB, 0.008), (GIB, 0.002)])
def test_seekers_are_waited_for_a_shorter_time(step: int, wait_s: float) -> None:
    """Protects the wait for who seeks far: 2 ms; the counter-test is the sequential reader's 8 ms."""
    bench = Bench(capacity=64 * GIB)
    bench.reader(0, 6, 0.0, issuer=1, step=step)
    bench.engine.call_at(0.0055, lambda _: bench.issuer.read(60 * GIB, 4 * KIB, issuer=2))
    bench.engine.run()
    assert bench.issuer.done[0][0] == pytest.approx(0.006 + wait_s + 0.001)


def test_write_back_waits_for_the_slice_and_is_limited() -> None:
    """Protects readers from write-back: it gets its turn after a slice, and no more than 16 requests at a time."""
    bench = Bench(SETTINGS.model_copy(update={"slice_async": 1.0}))
    bench.reader(NEAR, 60, 0.0005, issuer=1)
    bench.engine.call_at(0.0002, lambda _: [bench.issuer.write(FAR + n * 64 * KIB, 4 * KIB) for n in range(40)])
    bench.engine.run()
    streaks = bench.streaks()
    assert streaks[0][0] == "n"
    assert 13 <= streaks[0][1] <= 15
    assert [count for who, count in streaks if who == "w"][:2] == [16, 16]


def test_a_write_back_slice_ends_with_its_time() -> None:
    """Protects slice_async: of 10 ms, in which one write goes out at once and then four at a time, so thirteen."""
    bench = Bench()
    bench.engine.call_at(0.0, lambda _: [bench.issuer.write(FAR + n * 64 * KIB, 4 * KIB) for n in range(40)])
    bench.engine.call_at(0.0005, lambda _: bench.issuer.read(NEAR, 4 * KIB))
    bench.engine.run()
    assert bench.streaks()[0] == ("w", 13)


@pytest.mark.parametrize(("sync", "by_turns"), [(DIRECT, True), (ASYNC, False)])
def test_direct_writes_belong_to_their_process(sync: int, by_turns: bool) -> None:
    """Protects the queues: two writers with O_DIRECT take turns; write-back is one queue, whoever made the pages."""
    bench = Bench()
    for number in range(40):
        for issuer, start in ((1, NEAR), (2, FAR)):
            bench.queue.submit(Request(WRITE, start + number * 64 * KIB, 4 * KIB, _done, issuer, sync))
    bench.engine.run()
    sides = ["n" if offset < BETWEEN else "f" for _, offset, _ in bench.disk.log]
    changes = sum(before != after for before, after in pairwise(sides))
    assert (changes > 1) is by_turns


def test_within_a_process_the_disk_goes_upwards_and_a_little_back() -> None:
    """Protects the elevator: from 20 MiB on upwards; back to 19 MiB rather than on to 30; what is more than 16 MiB back
    comes last, from the lowest on.
    """
    bench = Bench(SETTINGS.model_copy(update={"quantum": 1}))
    for block in (20, 30, 19, 2, 1):
        bench.issuer.read(block * MIB, 4 * KIB)
    bench.engine.run()
    assert [offset // MIB for offset in bench.issuer.order] == [20, 19, 30, 1, 2]


def test_an_expired_request_goes_first_once_in_a_slice() -> None:
    """Protects what lies behind the disk: it comes last of 21, with reads expiring after 5 ms soon after that."""

    def place(expire_s: float) -> int:
        bench = Bench(SETTINGS.model_copy(update={"slice_sync": 1.0, "read_expire": expire_s}))
        bench.issuer.read(40 * MIB, 4 * KIB)
        bench.issuer.read(0, 4 * KIB)
        for block in range(1, 20):
            bench.issuer.read(40 * MIB + block * 64 * KIB, 4 * KIB)
        bench.engine.run()
        return bench.issuer.order.index(0)

    assert place(10.0) == 20
    assert 5 <= place(0.005) <= 12


def test_a_drive_with_a_queue_gets_a_quantum() -> None:
    """Protects the driver's queue: of ten reads a process has sent, a drive that takes 32 has them all at once."""
    bench = Bench(depth=32)
    for block in range(10):
        bench.issuer.read(block * MIB, 4 * KIB)
    bench.engine.run()
    assert bench.engine.now == pytest.approx(0.001)
