"""The clock: order, completion, canceling, and the count of events."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

import pytest
from simpy.events import Event

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import CRYPT_THREADS, PARITY_THREADS, READ, WRITE, Request


def _arrive(arrived: Event, _: Any) -> None:
    arrived.succeed()


def test_a_request_is_its_own_completion_event() -> None:
    """Protects the price of a member I/O: one event, and the clock stands at the completion."""
    engine, seen = Engine(), []
    first = Request(READ, 0, 4096, done=lambda request: seen.append((engine.now, request)))
    second = Request(WRITE, 0, 4096, done=lambda request: seen.append((engine.now, request)))
    before = engine.scheduled_events
    engine.complete(first, first.completion, 2.0)
    engine.complete(second, second.completion, 1.0)
    assert engine.scheduled_events == before + 2
    engine.run()
    assert seen == [(1.0, second), (2.0, first)]


def test_calls_at_the_same_time_keep_their_order() -> None:
    """Protects reproducibility: what was asked first happens first when times are equal."""
    engine, seen = Engine(), []

    def note(number: int) -> None:
        engine.call_at(1.0, lambda _: seen.append(number))

    for number in range(5):
        note(number)
    engine.run()
    assert seen == [0, 1, 2, 3, 4]


def test_a_cancelled_call_does_nothing() -> None:
    """Protects timers that are no longer wanted (unplugging, anticipation) from firing."""
    engine, seen = Engine(), []
    kept = engine.call_at(1.0, lambda _: seen.append("kept"))
    engine.cancel(engine.call_at(1.0, lambda _: seen.append("cancelled")))
    engine.run()
    assert seen == ["kept"]
    engine.cancel(kept)
    assert engine.now == 1.0


def test_processes_and_callbacks_share_the_clock() -> None:
    """Protects workloads (SimPy processes) waiting for devices (callbacks)."""
    engine, seen = Engine(), []

    def workload() -> Generator[Any, Any, None]:
        for _ in range(2):
            arrived = engine.event()
            engine.call_at(engine.now + 3.0, partial(_arrive, arrived))
            yield arrived
            seen.append(engine.now)

    engine.spawn(workload())
    engine.run()
    assert seen == [3.0, 6.0]
    engine.run(until=10.0)
    assert engine.now == 10.0


def test_running_to_a_time_is_running_until_it() -> None:
    """Protects runs that are looked at on their way: same order and time, no event more, failures raised."""

    def ticks(engine: Engine, seen: list[float]) -> Any:
        while True:
            yield engine.timeout(0.1)
            seen.append(engine.now)

    whole, parts = Engine(), Engine()
    one: list[float] = []
    other: list[float] = []
    whole.spawn(ticks(whole, one))
    parts.spawn(ticks(parts, other))
    before = parts.scheduled_events
    parts.run_to(0.05)
    assert parts.scheduled_events == before + 1, "the process's first timeout"
    for at in (0.1, 0.31, 0.9, 1.0):
        parts.run_to(at)
        assert parts.now == at
    whole.run(until=1.0)
    assert one == other

    def fails(engine: Engine) -> Any:
        yield engine.timeout(0.5)
        raise RuntimeError("broken")

    parts.spawn(fails(parts))
    with pytest.raises(RuntimeError, match="broken"):
        parts.run_to(2.0)


def test_threads_of_a_machine_have_numbers_of_their_own() -> None:
    """Protects threads that sleep alone: two of a kind never share an issuer, and another machine counts afresh."""
    engine, other = Engine(), Engine()
    assert [engine.thread_issuer(PARITY_THREADS) for _ in range(3)] == [-16, -17, -18]
    assert engine.thread_issuer(CRYPT_THREADS) == CRYPT_THREADS
    assert other.thread_issuer(PARITY_THREADS) == PARITY_THREADS
