"""A drive that gets slow, or stops to retry a sector: what stands between it and its queue while somebody may hurt it.

A healthy drive is passed everything at once. A slow one, and one that retries, takes one command at a time, since its
head is where the trouble is: each command takes `slowness` times as long as it takes alone, and while a sector is
retried nothing else is served. Drives that become slow without failing are common enough to be a kind of fault of their
own (Gunawi et al., Fail-Slow at Scale, FAST 2018). One command at a time is assumed.

Limits: commands that are in the drive when it gets slow are complete as fast as before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from ..core.device import Device, Wrapper
from ..core.engine import Engine
from ..core.request import FLUSH, Call, Completion, Request


class _Job:
    """What a slow drive does next: a command, or (without one) a pause; `then` is called when it is over."""

    __slots__ = ("hold_s", "request", "then")

    def __init__(self, request: Request | None, hold_s: float, then: Callable[[], None]) -> None:
        self.request = request
        self.hold_s = hold_s
        self.then = then


class FaultyDrive(Wrapper):
    """A drive in front of which faults can be switched on and off.

    Parameters
    ----------
    engine
        The clock.
    drive
        The drive.

    Attributes
    ----------
    slowness
        How many times as long each command takes; 1: as long as the drive needs.
    held_s
        Time (s) that commands have taken longer because of faults.
    """

    __slots__ = ("_busy", "_engine", "_jobs", "held_s", "slowness")

    def __init__(self, engine: Engine, drive: Device) -> None:
        super().__init__(drive)
        self._engine = engine
        self._jobs: deque[_Job] = deque()
        self._busy = False
        self.slowness = 1.0
        self.held_s = 0.0

    def submit(self, request: Request) -> None:
        """Pass a command on, at once or when those before it are complete."""
        if self.slowness == 1.0 and not self._busy:
            self.device.submit(request)
            return
        self._add(_Job(request, 0.0, request.complete))

    def flush(self, done: Callable[[], None]) -> None:
        """See :meth:`raidsim.model.core.device.Device.flush`."""
        if self.slowness == 1.0 and not self._busy:
            self.device.flush(done)
            return
        self._add(_Job(Request(FLUSH, 0, 0, _nobody), 0.0, done))

    def retry(self, seconds: float, then: Callable[[], None]) -> None:
        """Serve nothing for `seconds`, after the commands that wait already; then call `then`."""
        self._add(_Job(None, seconds, then))

    def _add(self, job: _Job) -> None:
        self._jobs.append(job)
        if not self._busy:
            self._next()

    def _next(self) -> None:
        self._busy = bool(self._jobs)
        if not self._busy:
            return
        job, now = self._jobs.popleft(), self._engine._now
        request = job.request
        if request is None:
            self._hold(job, job.hold_s)
        elif request.op == FLUSH:
            self.device.flush(partial(self._served, job, now))
        else:
            request.completion = Call(partial(self._restore, job, now, request.completion))
            self.device.submit(request)

    def _restore(self, job: _Job, began: float, completion: Completion, request: Request) -> None:
        request.completion = completion
        self._served(job, began)

    def _served(self, job: _Job, began: float) -> None:
        self._hold(job, (self.slowness - 1.0) * (self._engine._now - began))

    def _hold(self, job: _Job, seconds: float) -> None:
        self.held_s += seconds
        self._engine.call_at(self._engine._now + seconds, partial(self._end, job))

    def _end(self, job: _Job, _: Any) -> None:
        job.then()
        self._next()


def _nobody(_: Request) -> None:
    """Nobody waits for the pseudo-request of a flush."""
