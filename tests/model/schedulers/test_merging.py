"""What every I/O scheduler shares: merging of neighbors. Shown on the plainest one, noop."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Call, Request
from raidsim.model.schedulers import Noop, QueuedRequest
from raidsim.tests.model.recording import KIB

Piece = tuple[int, int, int]


def queue(pieces: list[Piece], max_bytes: int = 128 * KIB) -> Noop:
    """A scheduler with (op, offset, size) requests added in order."""
    scheduler = Noop(max_bytes)
    scheduler.done = Call(lambda _: None)
    for op, offset, size in pieces:
        scheduler.add(Request(op, offset, size, lambda request: None), Engine().now)
    return scheduler


def drained(scheduler: Noop) -> list[QueuedRequest]:
    """Everything that the driver would get, in order."""
    taken = []
    while (queued := scheduler.next(0.0)) is not None:
        taken.append(queued)
    return taken


def sent(pieces: list[Piece], max_bytes: int = 128 * KIB) -> list[Piece]:
    """(op, offset, size) of what the driver gets."""
    return [(queued.op, queued.offset, queued.size) for queued in drained(queue(pieces, max_bytes))]


def test_back_and_front_merge() -> None:
    """Protects merging in both directions: 4-8 KiB, then what follows, then what precedes it, are one command."""
    pieces = [(READ, 4 * KIB, 4 * KIB), (READ, 8 * KIB, 4 * KIB), (READ, 0, 4 * KIB)]
    scheduler = queue(pieces)
    assert scheduler.merges == 2
    assert scheduler.queued == [1, 0]
    (queued,) = drained(scheduler)
    assert (queued.offset, queued.size) == (0, 12 * KIB)
    assert len(queued.parts) == 3


def test_neither_gaps_nor_directions_merge() -> None:
    """The counter-test: a hole of one sector, or a write beside a read, are commands of their own."""
    assert len(sent([(READ, 0, 4 * KIB), (READ, 4 * KIB + 512, 4 * KIB)])) == 2
    assert len(sent([(READ, 0, 4 * KIB), (WRITE, 4 * KIB, 4 * KIB)])) == 2


@pytest.mark.parametrize("backwards", [False, True])
def test_merging_stops_at_the_largest_command(backwards: bool) -> None:
    """Protects max_sectors: ten neighbors of 4 KiB under a limit of 16 KiB are 16 + 16 + 8 KiB either way."""
    order = range(9, -1, -1) if backwards else range(10)
    sizes = [size for _, _, size in sent([(WRITE, at * 4 * KIB, 4 * KIB) for at in order], 16 * KIB)]
    assert sorted(sizes) == [8 * KIB, 16 * KIB, 16 * KIB]


def test_nothing_merges_with_what_the_driver_has() -> None:
    """Protects a command on its way to the drive from growing under it."""
    scheduler = queue([(READ, 0, 4 * KIB)])
    first = scheduler.next(0.0)
    assert first is not None
    scheduler.add(Request(READ, 4 * KIB, 4 * KIB, lambda request: None), 0.0)
    assert scheduler.merges == 0
    assert first.size == 4 * KIB
    assert scheduler.queued == [1, 0]


def test_a_merged_command_is_waited_for_if_a_part_is() -> None:
    """Protects `sync`: a write nobody waits for becomes one that somebody waits for."""
    scheduler = Noop(128 * KIB)
    scheduler.done = Call(lambda _: None)
    scheduler.add(Request(WRITE, 0, 4 * KIB, lambda request: None, sync=False), 0.0)
    scheduler.add(Request(WRITE, 4 * KIB, 4 * KIB, lambda request: None, sync=True), 0.0)
    (queued,) = drained(scheduler)
    assert queued.sync


def test_noop_is_first_come_first_served() -> None:
    """Protects the baseline of all schedulers: no sorting."""
    offsets = [9, 1, 5, 3]
    assert [offset for _, offset, _ in sent([(READ, at * 64 * KIB, 512) for at in offsets])] == [
        at * 64 * KIB for at in offsets
    ]


def test_a_scheduler_without_a_queue_says_so() -> None:
    """Protects from a completion that gets lost because nobody set where it goes."""
    scheduler = Noop(4096)
    scheduler.add(Request(READ, 0, 512, lambda request: None), 0.0)
    (queued,) = drained(scheduler)
    with pytest.raises(RuntimeError, match="set by its block queue"):
        queued.complete()


def test_a_request_of_a_plug_is_only_appended() -> None:
    """Protects elv_attempt_insert_merge: what was plugged goes behind what is queued; an I/O also goes before it."""

    def at(offset: int) -> Request:
        return Request(WRITE, offset, 4 * KIB, lambda request: None)

    for first, second, merges in ((0, 4 * KIB, True), (4 * KIB, 0, False)):
        scheduler = queue([(WRITE, first, 4 * KIB)])
        assert scheduler.merge(QueuedRequest(at(second), 0.0, lambda request: None), 0.0) is merges
    assert queue([(WRITE, 4 * KIB, 4 * KIB)]).merge(at(0), 0.0)
