"""What happens at a time: a request's time has come, a function is called, or an event of SimPy happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mypy_extensions import mypyc_attr
from simpy.core import StopSimulation


@mypyc_attr(allow_interpreted_subclasses=True)
class Timed:
    """An entry of the clock's queue. Compiled code calls :meth:`happen` directly, without an object of Python."""

    __slots__ = ()

    def happen(self) -> None:
        """Do what is due; the clock stands at the time that was asked for."""
        raise NotImplementedError


class TimedCall(Timed):
    """A function that is called with this object at its time."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Any], object]) -> None:
        self.function = function

    def happen(self) -> None:
        """Call the function."""
        self.function(self)


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
        self.event = event
        self.priority = priority

    def happen(self) -> None:
        """Call what waits for the event, as :meth:`simpy.Environment.step` does."""
        event = self.event
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


class Pause(Timed):
    """What a process waits for with ``yield`` until some time: a timeout of SimPy without a value, but one object."""

    __slots__ = ("_ok", "_value", "callbacks")

    def __init__(self) -> None:
        self.callbacks: list[Callable[[Any], object]] | None = []
        self._ok = True
        self._value: Any = None

    def happen(self) -> None:
        """Resume whoever waits."""
        callbacks, self.callbacks = self.callbacks, None
        if callbacks is not None:
            for callback in callbacks:
                callback(self)


def nothing(_: object) -> None:
    """What a canceled call does."""
