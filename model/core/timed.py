"""What happens at a time: a request that is complete, a function that is called, or an event of SimPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simpy.core import StopSimulation


class Timed:
    """Something that happens at a time.

    Attributes
    ----------
    finish
        What the clock calls with it then.
    """

    __slots__ = ("finish",)

    finish: Callable[[Any], object]


class TimedCall(Timed):
    """A function that is called at its time."""

    __slots__ = ()

    def __init__(self, function: Callable[[Any], object]) -> None:
        self.finish = function


class TimedEvent(Timed):
    """An event of SimPy that has been triggered: a timeout, the start or end of a process, a condition.

    Parameters
    ----------
    event
        It.
    priority
        Events of one time happen in the order of their priorities; all that is no event of SimPy has the normal one.
    """

    __slots__ = ("event", "priority")

    def __init__(self, event: Any, priority: int) -> None:
        self.finish = _happen
        self.event = event
        self.priority = priority


def _happen(timed: TimedEvent) -> None:
    """Call what waits for the event, as :meth:`simpy.Environment.step` does."""
    event = timed.event
    callbacks, event.callbacks = event.callbacks, None
    try:
        for callback in callbacks:
            callback(event)
    except StopSimulation:
        # What else waits for the event comes first when the run goes on.
        event.callbacks = callbacks[callbacks.index(callback) + 1 :]
        event.env.schedule(event, -1)
        raise
    if not event._ok and not hasattr(event, "_defused"):
        failure = type(event._value)(*event._value.args)
        raise failure from event._value


def nothing(_: object) -> None:
    """What a canceled call does."""
