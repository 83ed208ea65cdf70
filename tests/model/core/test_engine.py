"""The clock: order, completion, canceling, and the count of events."""

from __future__ import annotations

import gc
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


def test_a_pause_happens_where_a_timeout_would() -> None:
    """Protects the order of what is due at one time: a pause comes between timeouts as it was asked for, one event."""
    engine, seen = Engine(), []

    def waits(name: str, event: Any) -> Generator[Any, Any, None]:
        yield event
        seen.append((engine.now, name))

    before = engine.scheduled_events
    events = [engine.timeout(1.0), engine.pause(1.0), engine.timeout(1.0), engine.pause(0.5)]
    assert engine.scheduled_events == before + len(events)
    for number, event in enumerate(events):
        engine.spawn(waits(str(number), event))
    engine.run()
    assert seen == [(0.5, "3"), (1.0, "0"), (1.0, "1"), (1.0, "2")]


def test_a_run_ends_with_a_pause() -> None:
    """Protects whoever waits from outside for CPU time: the run stops there, and at once if it is over."""
    engine, seen = Engine(), list[Any]()
    engine.call_at(2.0, seen.append)
    pause = engine.pause(1.0)
    assert engine.run(pause) is None
    assert (engine.now, seen) == (1.0, [])
    assert engine.run(pause) is None
    assert engine.now == 1.0


def test_a_process_ends_as_one_of_simpy_does() -> None:
    """Protects those who wait for a process: they have its value, or its failure, and it goes on past what is over."""
    engine = Engine()

    def answer() -> Generator[Any, Any, int]:
        over = engine.pause(1.0)
        yield over
        yield over
        return 42

    def fails() -> Generator[Any, Any, None]:
        yield engine.pause(1.0)
        raise KeyError("broken")

    def waits(other: Any) -> Generator[Any, Any, str]:
        try:
            yield other
        except KeyError as error:
            return str(error)
        return "nothing"

    assert engine.run(engine.spawn(answer())) == 42
    assert engine.run(engine.spawn(waits(engine.spawn(fails())))) == "'broken'"
    with pytest.raises(KeyError, match="broken"):
        engine.run(engine.spawn(fails()))


def test_a_process_that_is_over_holds_nothing() -> None:
    """Protects memory: a process and what resumes it hold each other only while it runs."""
    engine, there = Engine(), []

    class Held:
        """What a process has."""

        def __del__(self) -> None:
            there.append("gone")

    def short(held: Held) -> Generator[Any, Any, None]:
        yield engine.pause(1.0)

    gc.collect()
    gc.disable()
    try:
        engine.spawn(short(Held()))
        engine.run(2.0)
        assert there == ["gone"]
    finally:
        gc.enable()
