"""BFQ by hand: turns, budgets, idling, and for whom it does not idle."""

from __future__ import annotations

from itertools import groupby

import pytest

from raidsim.model.core.request import ASYNC, READ, WAITED, WRITE, Call, Request
from raidsim.model.schedulers import Bfq, BfqSettings, QueuedRequest
from raidsim.model.schedulers.bfq_process import BfqProcess
from raidsim.model.schedulers.peak_rate import PeakRate

KIB = 1024
MIB = 1 << 20


class Rig:
    """A scheduler over a drive that takes one request at a time, `rate` bytes/s."""

    def __init__(self, rotational: bool = True, settings: BfqSettings | None = None, rate: float = 100e6) -> None:
        self.scheduler = Bfq(1 << 20, rotational, settings)
        self.scheduler.done = Call(lambda _: None)
        self.now = 0.0
        self.rate = rate

    def add(self, offset: int, size: int, issuer: int, op: int = READ, sync: int = WAITED) -> None:
        """One request."""
        self.scheduler.add(Request(op, offset, size, lambda _: None, issuer, sync), self.now)

    def serve(self) -> QueuedRequest | None:
        """The next request, from dispatch to completion; None while the drive is kept idle."""
        queued = self.scheduler.next(self.now)
        if queued is not None:
            size: int = queued.size
            self.now += size / self.rate
            self.scheduler.completed(queued, self.now)
        return queued


def test_a_turn_lasts_for_a_budget_and_not_for_a_request() -> None:
    """Two processes with much queued: each has megabytes at a time, and both have the same in the long run."""
    rig = Rig()
    served = [0, 0]
    changes, last, at = 0, -1, [0, 1 << 40]
    for issuer in (0, 1):
        for _ in range(4):
            rig.add(at[issuer], 512 * KIB, issuer)
            at[issuer] += 2 * MIB
    for _ in range(1000):
        queued = rig.serve()
        assert queued is not None
        served[queued.issuer] += 1
        changes += queued.issuer != last
        last = queued.issuer
        rig.add(at[last], 512 * KIB, last)
        at[last] += 2 * MIB
    assert abs(served[0] - served[1]) < 40
    assert 20 < changes < 120


def test_a_turn_is_8_mib_before_the_drive_is_known() -> None:
    """Protects bfq_default_max_budget: a drive of 1 GB/s has not shown its rate in a tenth of a second, so all turns
    but the first of each process are 16 requests of 512 KiB.
    """
    rig, at, order = Rig(rate=1e9), [0, 1 << 40], []

    def add(issuer: int) -> None:
        rig.add(at[issuer], 512 * KIB, issuer)
        at[issuer] += 512 * KIB

    for issuer in (0, 1) * 4:
        add(issuer)
    for _ in range(200):
        queued = rig.serve()
        assert queued is not None
        order.append(queued.issuer)
        add(queued.issuer)
    turns = [len(list(turn)) for _, turn in groupby(order)]
    assert turns[2:-1] == [16] * 11


def after_a_read(rotational: bool, gap: int, others: bool = True, settings: BfqSettings | None = None) -> int | None:
    """Whose request is next when a process of 64 reads has just had its last one and another waits."""
    rig = Rig(rotational, settings)
    for i in range(64):
        rig.add(i * gap, 64 * KIB, 1)
        rig.serve()
        rig.now += 1e-4
    rig.add(64 * gap, 64 * KIB, 1)
    if others:
        rig.add(1 << 40, 4 * KIB, 2)
    queued = rig.serve()
    assert queued is not None
    if not others or queued.issuer == 2:
        return None
    following = rig.serve()
    return None if following is None else following.issuer


def test_the_disk_idles_for_who_reads_on() -> None:
    """The other's request waits while the next of the reader is expected, until that is late."""
    assert after_a_read(True, 64 * KIB) is None
    assert after_a_read(True, 64 * KIB, settings=BfqSettings(slice_idle_s=0.0)) == 2


def test_idling_ends() -> None:
    """After 8 ms the other has its turn."""
    rig = Rig()
    for i in range(64):
        rig.add(i * 64 * KIB, 64 * KIB, 1)
        rig.serve()
    rig.add(1 << 40, 4 * KIB, 2)
    assert rig.serve() is None
    until = rig.scheduler.wake_at()
    assert until is not None
    assert abs(until - rig.now - 0.008) < 1e-9
    rig.now = until
    queued = rig.serve()
    assert queued is not None
    assert queued.issuer == 2


def test_nobody_is_waited_for_on_a_drive_that_queues_and_does_not_turn() -> None:
    """With another waiting, a reader in order loses its turn when it has nothing queued."""
    rig = Rig(rotational=False)
    scheduler = rig.scheduler
    out: list[QueuedRequest] = []
    for i in range(200):
        rig.add(i * 64 * KIB * 20, 64 * KIB, 1)
    for _ in range(200):
        queued = scheduler.next(rig.now)
        assert queued is not None
        out.append(queued)
        if len(out) > 8:
            rig.now += 1e-4
            scheduler.completed(out.pop(0), rig.now)
    rig.add(1 << 40, 4 * KIB, 2)
    for queued in out:
        scheduler.completed(queued, rig.now)
    following = scheduler.next(rig.now)
    assert following is not None
    assert following.issuer == 2


@pytest.mark.parametrize(("idle_s", "bound"), [(0.01, True), (0.05, False)])
def test_a_process_is_bound_by_its_ios_if_it_idles_a_fifth_of_the_time(idle_s: float, bound: bool) -> None:
    """Protects the share of idle time over minutes: one that idles for 10 ms of 100 ms is bound by its I/Os all the
    time, and one that idles for half of the time never again.
    """
    process, now = BfqProcess(1, True, 8 * MIB, 0.0), 0.0

    def done(_: Request) -> None:
        """Nobody waits."""

    for number in range(1000):
        process.last_end = now
        now += idle_s
        queued = QueuedRequest(Request(READ, number * MIB, MIB, done, 1, WAITED), now, done)
        process.learn(queued, True, 0.008, now)
        if number > 1:
            assert process.io_bound == bound
        now += 0.1 - idle_s


def test_write_back_is_one_process_and_pays_three_times() -> None:
    """Writes nobody waits for, of two streams, get together a quarter of what a reader gets."""
    rig = Rig()
    served = [0, 0]
    at = [0, 1 << 40]
    for _ in range(4):
        rig.add(at[READ], 512 * KIB, 5)
        rig.add(at[WRITE], 512 * KIB, 6, WRITE, ASYNC)
        at = [at[0] + 2 * MIB, at[1] + 2 * MIB]
    for i in range(1200):
        queued = rig.serve()
        assert queued is not None
        op = queued.op
        served[op] += 1
        rig.add(at[op], 512 * KIB, 6 + i % 2 if op else 5, op, ASYNC if op else WAITED)
        at[op] += 2 * MIB
    assert 2.5 < served[READ] / served[WRITE] < 3.6


def test_the_peak_rate_is_that_of_sequential_seconds() -> None:
    """A drive of 200 MB/s is found out in a few seconds; small requests far apart tell nothing."""
    rate = PeakRate(True)
    now = 0.0
    for _ in range(2000):
        rate.dispatched(MIB, True, 1, now)
        now += MIB / 200e6
        rate.completed(now)
    assert abs(rate.rate / 200e6 - 1) < 0.02
    known = []
    for _ in range(2000):
        rate.dispatched(4 * KIB, False, 1, now)
        now += 0.01
        rate.completed(now)
        known.append(rate.rate)
    # The second that began with sequential requests still counts.
    assert len(set(known[200:])) == 1
    assert abs(rate.rate / 200e6 - 1) < 0.02
