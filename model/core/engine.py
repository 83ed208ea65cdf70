"""The clock: it takes one entry after the other from a queue in order of time, and lets it happen.

Below the page cache the simulator runs on callbacks, because that path runs millions of times; a
component that knows when it will next be free needs no event for queueing. Workloads, flushers and
resync are SimPy processes. The engine is the environment of their events, with SimPy's rules of order: by time,
then by priority, then as events were scheduled.

The queue is two lists. Each of its searches, insertions and removals is one operation of Python, fast from source and
compiled, and no entry needs a tuple or a number in it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from math import inf
from typing import Any, Final

from mypy_extensions import i64
from simpy.core import EmptySchedule, StopSimulation
from simpy.events import NORMAL, URGENT, AllOf, AnyOf, Event, Process, Timeout

from .random_streams import RandomStreams
from .request import Completion, Request
from .search import left_of_float, right_of_float
from .timed import Pause, Timed, TimedCall, TimedEvent, nothing

_KEPT: Final = 256
"""Entries of the queue that have happened are removed when there are this many of them."""
_PAST: Final = TimedCall(nothing)
"""Stands where an entry was that has happened."""


def _stop(_: object) -> None:
    raise StopSimulation(None)


class _Resumption:
    """Goes on with a process when what it waits for has happened.

    It does what ``Process._resume`` of SimPy does: compiled, in less time than most steps of a process take.

    Parameters
    ----------
    engine
        The clock.
    process, generator
        The process, and what it does.
    """

    __slots__ = ("_engine", "_process", "_send")

    def __init__(self, engine: Engine, process: Any, generator: Generator[Any, Any, Any]) -> None:
        self._engine = engine
        self._process = process
        self._send = generator.send

    def resume(self, event: Any) -> None:
        """Take the process to the next event that it has to wait for, or to its end."""
        engine, process = self._engine, self._process
        engine._active_proc = process
        while event._ok:
            try:
                event = self._send(event._value)
            except StopIteration as end:
                self._end(True, end.value)
                return
            except BaseException as failure:
                self._end(False, failure)
                return
            callbacks = event.callbacks
            if callbacks is not None:
                callbacks.append(process._resume)
                process._target = event
                engine._active_proc = None
                return
        Process._resume(process, event)  # the process is told that the event has failed

    def _end(self, ok: bool, value: Any) -> None:
        """The process is over: whoever waits for it has its value, or its failure."""
        engine, process = self._engine, self._process
        del process._resume  # which holds the process
        process._ok, process._value, process._target = ok, value, None
        engine.schedule(process)
        engine._active_proc = None


class Engine:
    """The clock of a run, with named random streams and a count of scheduled events.

    It has what SimPy's events and processes ask their environment for, and nothing else of :class:`simpy.Environment`.

    Parameters
    ----------
    seed
        Seed of the run; every component draws from its own stream, spawned by name.
    """

    def __init__(self, seed: int = 0) -> None:
        self._now: float = 0.0
        self._times: list[float] = []
        self._entries: list[Timed] = []
        self._head: i64 = 0  # where the queue begins: what is before has happened
        self._removed: i64 = 0  # entries that have happened and are in the lists no more
        self._active_proc: Process | None = None  # SimPy's processes set it
        self.streams = RandomStreams(seed)
        self._threads: dict[int, int] = {}

    @property
    def now(self) -> float:
        """The current time (s)."""
        return self._now

    @property
    def scheduled_events(self) -> int:
        """How many events have been scheduled so far."""
        return self._removed + len(self._entries)

    def thread_issuer(self, first: int) -> int:
        """The issuer of one more kernel thread of the machine, of a kind whose issuers count down from `first`."""
        issuer = self._threads.get(first, first)
        self._threads[first] = issuer - 1
        return issuer

    # What happens when.

    def complete(self, request: Request, stage: Completion, at: float) -> None:
        """Tell `stage` at absolute time `at` (s) that the request has got there: the request is its own event."""
        request.stage = stage
        times = self._times
        if not times or at >= times[-1]:
            times.append(at)
            self._entries.append(request)
        else:
            index = right_of_float(times, at, self._head)
            times.insert(index, at)
            self._entries.insert(index, request)

    def call_at(self, at: float, function: Callable[[Any], object]) -> Any:
        """Call ``function(event)`` at absolute time `at` (s); returns the event, which :meth:`cancel` takes."""
        call = TimedCall(function)
        self.insert(at, call)
        return call

    @staticmethod
    def cancel(event: Any) -> None:
        """Make a pending :meth:`call_at` event do nothing when its time comes."""
        event.function = nothing

    def insert(self, at: float, entry: Timed) -> None:
        """Let an entry of normal priority happen at absolute time `at` (s)."""
        times = self._times
        index = len(times) if not times or at >= times[-1] else right_of_float(times, at, self._head)
        times.insert(index, at)
        self._entries.insert(index, entry)

    def pending(self) -> list[float]:
        """Times (s) of all that is to happen, in order."""
        return self._times[self._head :]

    # What SimPy's events and processes ask their environment for.

    @property
    def active_process(self) -> Process | None:
        """The process that runs now."""
        return self._active_proc

    def schedule(self, event: Event, priority: int = NORMAL, delay: float = 0.0) -> None:
        """Let an event of SimPy happen after `delay` (s)."""
        at, timed = self._now + delay, TimedEvent(event, priority)
        if priority == NORMAL:
            self.insert(at, timed)
            return
        times, entries = self._times, self._entries
        index = left_of_float(times, at, self._head)
        while index < len(times) and times[index] == at:
            entry = entries[index]
            if not isinstance(entry, TimedEvent) or entry.priority > priority:
                break
            index += 1
        times.insert(index, at)
        entries.insert(index, timed)

    def peek(self) -> float:
        """When the next event happens (s); infinite if there is none."""
        head = self._head
        return self._times[head] if head < len(self._times) else inf

    def event(self) -> Event:
        """An event that somebody triggers."""
        environment: Any = self
        return Event(environment)

    def timeout(self, delay: float = 0.0, value: Any = None) -> Timeout:
        """An event that happens after `delay` (s)."""
        environment: Any = self
        return Timeout(environment, delay, value)

    def pause(self, delay: float) -> Pause:
        """What a process waits for during `delay` (s), in the order in which a timeout would happen."""
        pause = Pause()
        self.insert(self._now + delay, pause)
        return pause

    def process(self, generator: Generator[Any, Any, Any]) -> Process:
        """Start a SimPy process."""
        environment: Any = self
        process: Any = Process(environment, generator)
        process._resume = _Resumption(self, process, generator).resume
        return process  # type: ignore[no-any-return]

    def spawn(self, generator: Generator[Any, Any, Any]) -> Process:
        """Start a SimPy process."""
        return self.process(generator)

    def all_of(self, events: Iterable[Event]) -> AllOf:
        """An event that happens when all of `events` have."""
        environment: Any = self
        return AllOf(environment, events)

    def any_of(self, events: Iterable[Event]) -> AnyOf:
        """An event that happens when one of `events` has."""
        environment: Any = self
        return AnyOf(environment, events)

    # Runs.

    def step(self) -> None:
        """Let the next event happen."""
        head = self._head
        if head == len(self._entries):
            raise EmptySchedule
        entry = self._entries[head]
        self._now = self._times[head]
        self._entries[head] = _PAST
        self._head = head + 1
        entry.happen()

    def run(self, until: float | Event | Pause | None = None) -> Any:
        """Run until no event is left, until the event `until` has happened (its value is returned), or to that time.

        It does what SimPy's does.
        """
        if isinstance(until, Pause):
            if until.callbacks is None:
                return None
            until.callbacks.append(_stop)
        elif until is not None:
            if not isinstance(until, Event):
                at = float(until)
                if at <= self._now:
                    raise ValueError(f"until ({at}) must be greater than the current simulation time")
                until = self.event()
                until._ok = True
                until._value = None
                self.schedule(until, URGENT, at - self._now)
            elif until.callbacks is None:
                return until.value  # type: ignore[unreachable]
            until.callbacks.append(StopSimulation.callback)
        try:
            self._run(None)
        except StopSimulation as stop:
            return stop.args[0]
        if until is not None:
            raise RuntimeError(f'No scheduled events left but "until" event was not triggered: {until}')
        return None

    def run_to(self, at: float) -> None:
        """Run up to the time `at` (s) and stop in front of what happens then, as ``run(until=at)`` does.

        It takes no number of an event, so a run that is looked at on its way counts as many events as one that is not.
        """
        stop = TimedCall(nothing)
        index = left_of_float(self._times, at, self._head)
        self._times.insert(index, at)
        self._entries.insert(index, stop)
        self._removed -= 1
        self._run(stop)

    def _run(self, stop: Timed | None) -> None:
        """Let one event happen after the other until none is left, or it is `stop`."""
        times, entries = self._times, self._entries
        while True:
            head = self._head
            if head == len(entries):
                return
            entry = entries[head]
            self._now = times[head]
            if head >= _KEPT:
                del entries[: head + 1]
                del times[: head + 1]
                self._head = 0
                self._removed += head + 1
            else:
                entries[head] = _PAST
                self._head = head + 1
            if entry is stop:
                return
            entry.happen()
