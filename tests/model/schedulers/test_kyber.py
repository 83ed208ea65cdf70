"""kyber by hand: turns, tokens, and how these are scaled."""

from __future__ import annotations

from raidsim.model.core.request import READ, WRITE, Call, Request
from raidsim.model.schedulers import Kyber, KyberSettings, QueuedRequest

KIB = 1024


def queue(settings: KyberSettings | None = None, reads: int = 0, writes: int = 0) -> Kyber:
    """A scheduler with so many reads and writes, far apart, all arrived at 0."""
    scheduler = Kyber(1 << 20, settings)
    scheduler.done = Call(lambda _: None)
    for op, count in ((READ, reads), (WRITE, writes)):
        for i in range(count):
            scheduler.add(Request(op, (1000 * op + i) * 64 * KIB, 4 * KIB, lambda _: None), 0.0)
    return scheduler


def dispatched(scheduler: Kyber, now: float = 0.0, count: int = 1000) -> list[QueuedRequest]:
    """What goes out at `now`."""
    found: list[QueuedRequest] = []
    while len(found) < count and (queued := scheduler.next(now)) is not None:
        queued.submitted = now
        found.append(queued)
    return found


def test_sixteen_reads_and_eight_writes_by_turns() -> None:
    """Batches of both kinds, first come first served in each; alone, a kind goes on."""
    order = [queued.op for queued in dispatched(queue(reads=20, writes=20))]
    assert order == [READ] * 16 + [WRITE] * 8 + [READ] * 4 + [WRITE] * 12


def test_a_kind_without_tokens_waits_for_one() -> None:
    """Two tokens for writes: the third write goes when the first is done, and reads go meanwhile."""
    scheduler = queue(KyberSettings(depth=(256, 2)), reads=3, writes=3)
    out = dispatched(scheduler)
    assert [queued.op for queued in out] == [READ] * 3 + [WRITE] * 2
    assert scheduler.next(0.001) is None
    scheduler.completed(out[-1], 0.002)
    assert [queued.op for queued in dispatched(scheduler, 0.002)] == [WRITE]


def run(read_s: float, write_s: float, seconds: float = 3.0) -> Kyber:
    """The scheduler after seconds in which a read and a write a millisecond took so long."""
    scheduler = queue()
    for ms in range(int(seconds * 1000)):
        now = ms * 1e-3
        for op, latency_s in ((READ, read_s), (WRITE, write_s)):
            scheduler.add(Request(op, (op * 50_000 + ms) * 64 * KIB, 4 * KIB, lambda _: None), now - latency_s)
            queued = scheduler.next(now - latency_s)
            assert queued is not None
            queued.submitted = now - latency_s
            scheduler.completed(queued, now)
    return scheduler


def test_slow_reads_take_tokens_from_fast_writes() -> None:
    """Reads of 3 ms and writes of 2: after each half second writes have a quarter of their tokens, at last one."""
    scheduler = run(0.003, 0.002, 4.0)
    assert scheduler.depth == [256, 1, 64]
    assert run(0.003, 0.002, 0.8).depth == [256, 32, 64]


def test_what_is_fast_enough_is_let_alone() -> None:
    """The counter-test: below both targets nothing changes; writes that are slow themselves keep what they have."""
    assert run(0.0015, 0.002).depth == [256, 128, 64]
    assert run(0.003, 0.020).depth == [256, 128, 64]
