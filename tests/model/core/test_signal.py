"""Waking a process without an event."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from raidsim.model.core.engine import Engine
from raidsim.model.core.signal import Signal


def waiting(engine: Engine, signal: Any) -> list[float]:
    """Start a process that waits for `signal`; the list gets the time at which it goes on."""
    woken: list[float] = []

    def process() -> Generator[Any, Any, None]:
        yield signal
        woken.append(engine.now)

    engine.spawn(process())
    return woken


def test_fire_resumes_at_once_and_schedules_nothing() -> None:
    """Protects the event budget: a completion that wakes a process is one event, an Event.succeed makes it two."""
    engine = Engine()
    signal = Signal()
    woken = waiting(engine, signal)
    engine.call_at(2.0, signal.fire)
    engine.run(until=1.0)
    before = engine.scheduled_events
    signal_events = []
    engine.call_at(2.0, lambda _: signal_events.append(list(woken)))
    engine.run()
    assert woken == [2.0]
    assert signal_events == [[2.0]], "the process has gone on before the next event of the same time"
    # the call above, and the end of the process: nothing for the waking itself
    assert engine.scheduled_events == before + 2


def test_an_event_costs_one_more() -> None:
    """The counter-test: the same with SimPy's own event takes one event more."""
    engine = Engine()
    event = engine.event()
    woken = waiting(engine, event)
    engine.call_at(2.0, lambda _: event.succeed())
    engine.run(until=1.0)
    before = engine.scheduled_events
    engine.call_at(2.0, lambda _: None)
    engine.run()
    assert woken == [2.0]
    assert engine.scheduled_events == before + 3


def test_a_fired_signal_does_not_stop_anybody() -> None:
    """Protects against a lost wake-up: who comes after the firing goes on at once."""
    engine = Engine()
    signal = Signal()
    fired = [signal.fired]
    signal.fire()
    assert [*fired, signal.fired] == [False, True]
    woken = waiting(engine, signal)
    engine.run()
    assert woken == [0.0]


def test_firing_twice_resumes_once() -> None:
    """Protects from a process being driven by a signal it no longer waits for."""
    engine = Engine()
    signal = Signal()
    woken = waiting(engine, signal)
    engine.call_at(1.0, signal.fire)
    engine.call_at(2.0, signal.fire)
    engine.run()
    assert woken == [1.0]
