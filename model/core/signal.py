"""A wake-up without a scheduled event.

A process that waits for a request's completion is resumed inside that completion: the completion is
already an event at the right time, so a second one (what ``Event.succeed`` would schedule) buys nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

Waits = Iterable[Any]
"""What a process of the simulation waits for, one after the other, with ``yield from``."""
NOTHING: Final[Waits] = ()
"""Returned by what may have to wait and need not: who calls it often looks for this, and makes no generator."""


class Signal:
    """Something a SimPy process can ``yield`` once; :meth:`fire` resumes it at once."""

    __slots__ = ("_ok", "_value", "callbacks")

    def __init__(self) -> None:
        self.callbacks: list[Callable[[Any], None]] | None = []
        self._ok = True
        self._value: Any = None

    @property
    def fired(self) -> bool:
        """Whether :meth:`fire` was called."""
        return self.callbacks is None

    def fire(self, _: Any = None) -> None:
        """Resume whoever waits. Firing twice does nothing."""
        callbacks = self.callbacks
        if callbacks is not None:
            self.callbacks = None
            for callback in callbacks:
                callback(self)


def fire_all(waiting: list[Signal]) -> None:
    """Resume all who wait; who begins to wait meanwhile does so for the next time."""
    due = waiting[:]
    waiting.clear()
    for signal in due:
        signal.fire()
