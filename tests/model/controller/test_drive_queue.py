"""A controller's queue of a drive: neighbors in one command, the host's reads before destaging."""

from __future__ import annotations

from typing import Any

from raidsim.model.controller.drive_queue import FAST_PATH, DriveOrder
from raidsim.model.core.request import ASYNC, PREREAD_ISSUER, READ, WAITED, WRITE, Call, Request
from raidsim.tests.model.recording import KIB, MIB

WAIT_S = 0.1


def queue() -> DriveOrder:
    """An empty one with commands of up to 256 KiB."""
    order = DriveOrder(256 * KIB, WAIT_S)
    order.done = Call(lambda _: None)
    return order


def add(order: DriveOrder, op: int, *places: int, size: int = 64 * KIB, now: float = 0.0, **fields: Any) -> None:
    """Queue requests at so many times 64 KiB; writes are destaging unless they say otherwise."""
    fields.setdefault("sync", ASYNC if op == WRITE else WAITED)
    for place in places:
        order.add(Request(op, place * 64 * KIB, size, lambda _: None, **fields), now)


def commands(order: DriveOrder, now: float = 0.0) -> list[tuple[int, int, int]]:
    """All that is queued, in the order of service: direction, place and KiB."""
    out = []
    while (queued := order.next(now)) is not None:
        out.append((queued.op, queued.offset // (64 * KIB), queued.size // KIB))
    return out


def test_neighbours_become_one_command() -> None:
    """Protects the length of destaging: a drive without a write cache misses a revolution between two commands."""
    order = queue()
    add(order, WRITE, 4, 1, 3, 2, 9)
    assert commands(order) == [(WRITE, 1, 256), (WRITE, 9, 64)]
    assert order.queued == [0, 0]


def test_no_command_is_longer_than_the_drive_takes() -> None:
    """Protects the cut: a request longer than a command is several, and is done with the last of them."""
    order = queue()
    done: list[Request] = []
    order.add(Request(WRITE, 0, MIB, done.append, sync=ASYNC), 0.0)
    parts: list[Request] = []
    while (queued := order.next(0.0)) is not None:
        parts += queued.parts
        assert queued.size == 256 * KIB
    for part in parts[:-1]:
        part.complete()
    assert not done
    parts[-1].complete()
    assert len(done) == 1


def test_reads_of_the_host_go_before_destaging() -> None:
    """Protects readers of a controller that writes back: emptying the cache is background work."""
    order = queue()
    add(order, WRITE, 1, 3)
    add(order, READ, 100, 50)
    assert commands(order) == [(READ, 50, 64), (READ, 100, 64), (WRITE, 1, 64), (WRITE, 3, 64)]


def test_destaging_does_not_wait_for_ever() -> None:
    """Counter-test: what has waited longer than the limit goes first, so that the cache is emptied under any load."""
    order = queue()
    add(order, WRITE, 1)
    add(order, READ, 100, 50, now=WAIT_S)
    first = order.next(1.5 * WAIT_S)
    assert first is not None
    assert first.op == WRITE


def test_overdue_destaging_and_the_host_take_turns() -> None:
    """Protects readers of a full cache: with much to destage, a read waits for one overdue command and not for all."""
    order = queue()
    add(order, WRITE, 1, 3, 5)
    add(order, READ, 100, 50, now=WAIT_S)
    overdue = commands(order, 1.5 * WAIT_S)
    assert overdue == [(WRITE, 1, 64), (READ, 50, 64), (WRITE, 3, 64), (READ, 100, 64), (WRITE, 5, 64)]


def test_destaging_that_is_not_overdue_has_no_turn() -> None:
    """Counter-test: before the limit the host's commands go one after the other."""
    order = queue()
    add(order, WRITE, 1, 3, 5)
    add(order, READ, 100, 50, now=WAIT_S)
    assert [op for op, _, _ in commands(order, 0.5 * WAIT_S)] == [READ, READ, WRITE, WRITE, WRITE]


def test_what_is_read_for_parity_is_destaging_until_the_host_wants_it() -> None:
    """Protects the order under RAID 5: reads for a partial stripe wait as its writes do, merged with a reader's not."""
    order = queue()
    add(order, READ, 1, 7, issuer=PREREAD_ISSUER)
    add(order, READ, 20)
    add(order, READ, 8)
    assert commands(order) == [(READ, 7, 128), (READ, 20, 64), (READ, 1, 64)]


def test_the_scan_goes_up_and_round_again() -> None:
    """Protects the order of addresses: behind the head waits for the next sweep."""
    order = queue()
    add(order, WRITE, 10, 30)
    first = order.next(0.0)
    assert first is not None
    add(order, WRITE, 5, 20)
    assert [place for _, place, _ in commands(order)] == [20, 30, 5]


def test_commands_on_the_fast_path_are_left_as_they_are() -> None:
    """Protects what bypasses the firmware from its elevator: nothing is merged, and the first comes first."""
    order = queue()
    add(order, READ, 4, 1, 3, 2, issuer=FAST_PATH + 1)
    assert order.queued == [4, 0]
    assert commands(order) == [(READ, 4, 64), (READ, 1, 64), (READ, 3, 64), (READ, 2, 64)]
    assert order.queued == [0, 0]


def test_the_two_paths_take_turns_by_arrival() -> None:
    """Counter-test: what the firmware sends is merged, and goes before what has come later on the fast path."""
    order = queue()
    add(order, READ, 8, now=1.0, issuer=FAST_PATH + 1)
    add(order, READ, 2, 1, now=2.0)
    add(order, WRITE, 9, now=3.0, issuer=FAST_PATH + 1, sync=WAITED)
    assert commands(order, 3.0) == [(READ, 8, 64), (READ, 1, 128), (WRITE, 9, 64)]
