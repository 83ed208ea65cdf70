"""The order of what happens: by time, then by priority, then as it was scheduled."""

from __future__ import annotations

import random

import simpy
from simpy.events import NORMAL, URGENT, Event

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, Call, Request


def _order(environment: Engine | simpy.Environment, requests: bool) -> list[tuple[float, int]]:
    """When a thousand events happen, a third of them scheduled by others, and their numbers."""
    draw = random.Random(7)
    seen: list[tuple[float, int]] = []
    left = 1000

    def schedule(number: int) -> None:
        delay = draw.choice((0.0, 0.25, 0.25, 0.5, draw.random(), 40.0))
        priority = draw.choice((NORMAL, NORMAL, NORMAL, URGENT, -1))
        if requests and isinstance(environment, Engine) and priority == NORMAL:
            request = Request(READ, number, 512, lambda _: None)
            environment.complete(request, Call(lambda request: happen(request.offset)), environment.now + delay)
            return
        event = Event(environment)  # type: ignore[arg-type]
        event._ok, event._value = True, None
        assert event.callbacks is not None
        event.callbacks.append(lambda _: happen(number))
        environment.schedule(event, priority, delay)  # type: ignore[arg-type]

    def happen(number: int) -> None:
        nonlocal left
        seen.append((environment.now, number))
        for _ in range(draw.choice((0, 1, 2))):
            if left:
                left -= 1
                schedule(left)

    for number in range(2000, 2100):
        schedule(number)
    environment.run()
    return seen


def test_what_happens_keeps_simpys_order() -> None:
    """Protects every result: events of all priorities and requests, many at one time, happen as SimPy has them."""
    expected = _order(simpy.Environment(), requests=False)
    assert len(expected) > 800
    assert _order(Engine(), requests=False) == expected
    assert _order(Engine(), requests=True) == expected


def test_the_clock_says_what_is_to_happen() -> None:
    """Protects who looks ahead: all that is to happen in order, and nothing of what has happened."""
    engine = Engine()
    assert engine.peek() == float("inf")
    for at in (3.0, 1.0, 2.0, 1.0):
        engine.call_at(at, lambda _: None)
    assert (engine.pending(), engine.peek()) == ([1.0, 1.0, 2.0, 3.0], 1.0)
    engine.run_to(2.0)
    assert engine.pending() == [2.0, 3.0]
    for _ in range(1000):  # more than are kept of what has happened
        engine.call_at(2.5, lambda _: None)
    engine.run_to(2.75)
    assert engine.pending() == [3.0]
