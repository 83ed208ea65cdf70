"""The clock: a thin layer over SimPy's ``Environment`` for callback-style components.

Below the page cache the simulator runs on callbacks, because that path runs millions of times; a
component that knows when it will next be free needs no event for queueing. Workloads, flushers and
resync are ordinary SimPy processes on the same clock.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from heapq import heappop, heappush
from itertools import count
from typing import Any

import simpy
from simpy.core import StopSimulation
from simpy.events import NORMAL, URGENT, Event

from .random_streams import RandomStreams
from .request import Request


class _Call:
    """A bare event: runs its callbacks at its time, allocates nothing else."""

    __slots__ = ("callbacks",)

    _ok = True

    def __init__(self, callbacks: tuple[Callable[[Any], object], ...]) -> None:
        self.callbacks: Any = callbacks


class Engine(simpy.Environment):
    """SimPy's environment with named random streams and a count of scheduled events.

    Parameters
    ----------
    seed
        Seed of the run; every component draws from its own stream, spawned by name.
    """

    # SimPy's own, declared again so that compiled code need not look for them by name.
    _now: float
    _queue: list[Any]
    _eid: count[int]

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.streams = RandomStreams(seed)
        self._threads: dict[int, int] = {}

    @property
    def scheduled_events(self) -> int:
        """How many events have been scheduled so far."""
        # SimPy numbers its events with an itertools.count, which shows where it stands only in its repr, "count(7)".
        return int(repr(self._eid)[6:-1])

    def thread_issuer(self, first: int) -> int:
        """The issuer of one more kernel thread of the machine, of a kind whose issuers count down from `first`."""
        issuer = self._threads.get(first, first)
        self._threads[first] = issuer - 1
        return issuer

    def complete(self, request: Any, callbacks: tuple[Callable[[Any], None], ...], at: float) -> None:
        """Schedule `request` as its own completion event at absolute time `at` (s)."""
        request.callbacks = callbacks
        heappush(self._queue, (at, NORMAL, next(self._eid), request))

    def call_at(self, at: float, function: Callable[[Any], object]) -> Any:
        """Call ``function(event)`` at absolute time `at` (s); returns the event, which :meth:`cancel` takes."""
        event = _Call((function,))
        heappush(self._queue, (at, NORMAL, next(self._eid), event))
        return event

    @staticmethod
    def cancel(event: Any) -> None:
        """Make a pending :meth:`call_at` event do nothing when its time comes."""
        event.callbacks = ()

    def run(self, until: float | Event | None = None) -> Any:
        """Run until no event is left, until the event `until` has happened (its value is returned), or to that time.

        It does what SimPy's does, without a call of :meth:`step` for each event.
        """
        if until is not None:
            if not isinstance(until, Event):
                at = until if isinstance(until, int) else float(until)
                if at <= self._now:
                    raise ValueError(f"until ({at}) must be greater than the current simulation time")
                until = Event(self)
                until._ok = True
                until._value = None
                self.schedule(until, URGENT, at - self._now)
            elif until.callbacks is None:
                return until.value  # type: ignore[unreachable]
            until.callbacks.append(StopSimulation.callback)
        queue: list[Any] = self._queue
        try:
            while queue:
                self._now, _, _, event = heappop(queue)
                if isinstance(event, Request):  # most are, and none has failed
                    finished: Any = event.callbacks
                    event.callbacks = None
                    for call in finished:
                        call(event)
                    continue
                callbacks, event.callbacks = event.callbacks, None
                for callback in callbacks:
                    callback(event)
                if not event._ok and not hasattr(event, "_defused"):
                    failure = type(event._value)(*event._value.args)
                    raise failure from event._value
        except StopSimulation as stop:
            # What else waits for the event comes first when the run goes on.
            event.callbacks = callbacks[callbacks.index(callback) + 1 :]
            self.schedule(event, -1)  # type: ignore[arg-type]
            return stop.args[0]
        if until is not None:
            raise RuntimeError(f'No scheduled events left but "until" event was not triggered: {until}')
        return None

    def run_to(self, at: float) -> None:
        """Run up to the time `at` (s) and stop in front of what happens then, as ``run(until=at)`` does.

        It takes no number of an event, so a run that is looked at on its way counts as many events as one that is not.
        """
        queue: list[Any] = self._queue
        stop = _Call(())
        heappush(queue, (at, URGENT, -1, stop))
        while True:
            self._now, _, _, event = heappop(queue)
            if isinstance(event, Request):
                finished: Any = event.callbacks
                event.callbacks = None
                for call in finished:
                    call(event)
                continue
            if event is stop:
                return
            callbacks, event.callbacks = event.callbacks, None
            for callback in callbacks:
                callback(event)
            if not event._ok and not hasattr(event, "_defused"):
                raise event._value

    def spawn(self, generator: Generator[Any, Any, Any]) -> simpy.Process:
        """Start a SimPy process."""
        return self.process(generator)
