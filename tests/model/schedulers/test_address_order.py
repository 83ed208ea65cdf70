"""Orders by address and by arrival beside plain sorted lists."""

from __future__ import annotations

import random

import pytest

from raidsim.model.core.request import READ, Call, Request
from raidsim.model.schedulers import QueuedRequest
from raidsim.model.schedulers.address_order import AddressOrder, ArrivalOrder

FINISHED = Call(lambda _: None)
BLOCK = 512


def queued(offset: int, number: int) -> QueuedRequest:
    """A request of one block."""
    made = QueuedRequest(Request(READ, offset, BLOCK, FINISHED), 0.0, FINISHED)
    made.number = number
    return made


@pytest.mark.parametrize("places", [3, 100, 1_000_000])
def test_it_is_a_sorted_list(places: int) -> None:
    """Protects every question from the blocks: many requests at few places, and few at many, up to 2,000 of them."""
    draw = random.Random(places)
    order, plain = AddressOrder(), list[QueuedRequest]()
    assert order.first() is order.from_position(0) is order.below(1 << 40) is None
    for number in range(6000):
        if draw.random() < (0.75 if number < 4000 else 0.2):
            one = queued(BLOCK * draw.randrange(places), number)
            order.add(one)
            plain.append(one)
            plain.sort(key=lambda each: (each.position, each.number))
        elif plain:
            at = draw.randrange(len(plain))
            one = plain.pop(at)
            assert order.remove(one) is (plain[at] if at < len(plain) else None)
        assert order.count == len(plain)
        position = BLOCK * draw.randrange(places) + draw.choice((0, 1))
        above = [each for each in plain[-50:] if each.position >= position]
        if plain and plain[max(0, len(plain) - 50)].position < position:
            assert order.from_position(position) is (above[0] if above else None)
        below = [each for each in plain[:50] if each.position < position]
        if plain and plain[min(49, len(plain) - 1)].position >= position:
            assert order.below(position) is (below[-1] if below else None)
        assert order.first() is (plain[0] if plain else None)


def test_a_short_step_back_counts_double() -> None:
    """as_choose_req: 30 back is 60, more than 40 ahead; what lies too far back waits for the next sweep."""
    order = AddressOrder()
    behind, ahead = queued(70 * BLOCK, 0), queued(140 * BLOCK, 1)
    order.add(ahead)
    order.add(behind)
    assert order.nearest(100 * BLOCK, 100 * BLOCK) is ahead
    assert order.nearest(80 * BLOCK, 100 * BLOCK) is behind
    assert order.nearest(80 * BLOCK, 9 * BLOCK) is ahead
    assert order.nearest(141 * BLOCK, 0) is behind


def test_of_equal_positions_the_first_that_came_is_nearest() -> None:
    """A step back to a place where several wait goes to the oldest of them."""
    order = AddressOrder()
    first, second = queued(0, 0), queued(0, 1)
    order.add(first)
    order.add(second)
    assert order.nearest(BLOCK, 1 << 20) is first
    assert order.below(BLOCK) is second


def test_arrivals_leave_no_holes() -> None:
    """The oldest is known whatever has been taken out, and requests that were taken out do not hold each other."""
    order, draw = ArrivalOrder(), random.Random(1)
    assert order.oldest is None
    waiting = [queued(0, number) for number in range(100)]
    for one in waiting:
        order.add(one)
    while waiting:
        one = waiting.pop(draw.randrange(len(waiting)))
        order.remove(one)
        assert one.older is one.younger is None
        assert order.oldest is (waiting[0] if waiting else None)
