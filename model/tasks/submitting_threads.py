"""The threads that submit to a device's queue: what their plugs hold back, and who of them sleeps.

Linux has a plug for each task (:mod:`raidsim.model.tasks.task_plug`), and a thread that finds no tag, or is held back
by write-back throttling, sleeps in the middle of its submission: what it would have submitted after that, to whichever
device, waits until it is awake again. Source: block/blk-mq.c (blk_mq_submit_bio, blk_mq_get_tag), block/blk-core.c
(blk_start_plug, blk_finish_plug).
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ..core.device import Device, SubmissionQueue, Wrapper
from ..core.engine import Engine
from .host import Host, SleepingThread
from .task_plug import TaskPlug


class SubmittingThreads(Wrapper):
    """The side of a queue that faces the threads of the host.

    Parameters
    ----------
    engine, host
        The clock; whose threads they are.
    device
        What the queue stands on.
    """

    __slots__ = ("_clock", "_plugged", "_sleepers", "_task_plug", "_thread_plugs", "_waiters")

    spreads: bool

    def __init__(self, engine: Engine, host: Host, device: Device) -> None:
        super().__init__(device)
        self._clock = engine
        self._plugged = False
        self._task_plug = host.plug
        self._thread_plugs = host.thread_plugs
        self._sleepers = host.sleepers
        self._waiters: list[Callable[[], None]] = []

    @property
    @abstractmethod
    def has_room(self) -> bool:
        """Whether nobody sleeps for want of a tag or held back by the throttle."""

    @property
    @abstractmethod
    def has_write_tag(self) -> bool:
        """Whether a write that merges with nothing gets a tag at once."""

    @property
    def task_plug(self) -> TaskPlug:
        """What the host's tasks hold back here; :meth:`unplug` does nothing while no queue has it plugged."""
        return self._task_plug

    @property
    def sleepers(self) -> dict[int, SleepingThread]:
        """The host's threads that sleep, in their submission to this or another device of it, by stream."""
        return self._sleepers

    def sleeps(self, issuer: int) -> bool:
        """Whether the thread that issues `issuer` sleeps, in its submission to this or another device of the host."""
        thread = self._sleepers.get(issuer)
        return thread is not None and thread.sleeps > 0

    def when_room(self, callback: Callable[[], None]) -> None:
        """Call `callback` once nobody sleeps here."""
        self._waiters.append(callback)

    def when_awake(self, issuer: int, callback: Callable[[], None]) -> None:
        """Call `callback` once the thread that issues `issuer`, which sleeps, does not sleep any more."""
        self._sleepers[issuer].backlog.append(callback)

    @property
    def plugs(self) -> bool:
        """It does: see :meth:`plug`."""
        return True

    def queues(self) -> tuple[SubmissionQueue, ...]:
        """The queue itself."""
        return (self,)

    def plug(self) -> None:
        """Collect and merge what the task submits, here and at the host's other queues, until :meth:`unplug`."""
        if not self._plugged:
            self._plugged = True
            self._task_plug.queues += 1
        self._task_plug.start()

    def unplug(self) -> None:
        """Send what the task's plug holds, of this queue and of others."""
        if self._plugged:
            self._plugged = False
            self._task_plug.queues -= 1
            self._task_plug.flush()

    def _open_plug(self, issuer: int) -> TaskPlug | None:
        """The plug of the thread that issues `issuer`, or of the task that has plugged this queue."""
        return self._thread_plugs.get(issuer, self._task_plug if self._plugged else None)

    def _fall_asleep(self, issuer: int, cause: int) -> None:
        thread = self._sleepers.setdefault(issuer, SleepingThread())
        thread.sleeps += 1
        thread.cause = cause
        plug = self._open_plug(issuer)
        if plug is not None:
            plug.flush()
            if plug is self._task_plug and issuer not in self._thread_plugs:
                self._thread_plugs[issuer] = TaskPlug()
                thread.plugged = True

    def _wake_thread(self, issuer: int) -> None:
        """The thread sleeps for one I/O less; once awake it goes on where it was."""
        wake_thread(self._clock, self._sleepers, self._thread_plugs, issuer)

    def _tell_waiters(self) -> None:
        if self._waiters and self.has_room:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                waiter()


def wake_thread(
    engine: Engine, sleepers: dict[int, SleepingThread], thread_plugs: dict[int, TaskPlug], issuer: int
) -> None:
    """An I/O that a thread sleeps for is complete; after the last one the thread goes on where it was."""
    sleepers[issuer].sleeps -= 1
    go_on(engine, sleepers, thread_plugs, issuer)


def go_on(engine: Engine, sleepers: dict[int, SleepingThread], thread_plugs: dict[int, TaskPlug], issuer: int) -> None:
    """A thread that may be awake submits its backlog, and then what is in a plug with which it fell asleep."""
    thread = sleepers[issuer]
    thread.go_on()
    if not thread.sleeps:
        sleepers.pop(issuer, None)
        if thread.plugged:
            engine.call_at(engine._now, functools.partial(_finish_plug, sleepers, thread_plugs, issuer))


def _finish_plug(sleepers: dict[int, SleepingThread], thread_plugs: dict[int, TaskPlug], issuer: int, _: Any) -> None:
    """A thread that slept with an open plug has submitted what it had, unless it sleeps again."""
    thread = sleepers.get(issuer)
    if thread is not None:
        thread.plugged = True
    elif issuer in thread_plugs:
        thread_plugs.pop(issuer).flush()
