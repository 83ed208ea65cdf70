"""Loads that send the I/Os of a recorded trace, at the recorded times or as fast as so many outstanding allow.

Both take their records one by one from an iterator and hold only the next one, so a trace of any length needs no
memory. What has come and cannot be sent yet is held too, but no more than :data:`MOST_BEHIND`: then the trace stands
still until something is complete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from simpy import Event

from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import ASYNC, DIRECT, READ, TRIM, WAITED, WRITE, Device, Request
from ..tasks.cpu import Cpu
from .direct_load import ClosedLoad, DirectLoad

SECTOR = 512
MOST_BEHIND = 1 << 16
"""I/Os that have come and are not complete, above which a trace waits: no host has more outstanding."""

TraceIo = tuple[float, int, int, int]
"""When (s, from the start of the trace), ``READ``, ``WRITE`` or ``TRIM``, offset and size (bytes)."""

_SYNC = {READ: WAITED, WRITE: DIRECT, TRIM: ASYNC}


class TimedTrace(DirectLoad):
    """The I/Os of a trace at their own times, whatever the device does.

    Parameters
    ----------
    engine, device, stream, name
        As of :class:`.direct_load.DirectLoad`.
    records
        The I/Os, in order of time, within the device. One that is earlier than the one before comes with it.
    speedup
        The times between I/Os are divided by this.
    most_behind
        I/Os that have come and are not complete, at most.
    counted
        How many I/Os must be complete before `when_warm` is called; 0 for never.
    when_warm
        What ends the warm-up.

    Attributes
    ----------
    arrived, completed
        I/Os that have come, and those that are complete, since the load exists.
    waited, longest_wait_s
        I/Os that were sent later than they came because the thread that sends them slept, and the longest such wait
        (s); latencies begin when an I/O is sent.
    stood_still
        Whether ever so many I/Os were behind that the trace had to wait.
    last_arrival_s
        When the last I/O so far came (s).
    finished
        Happens when the last I/O is complete.
    """

    __slots__ = (
        "_ahead",
        "_began",
        "_counted",
        "_due",
        "_most_behind",
        "_records",
        "_speedup",
        "_still",
        "_when_warm",
        "arrived",
        "completed",
        "finished",
        "last_arrival_s",
        "longest_wait_s",
        "stood_still",
        "waited",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        records: Iterator[TraceIo],
        *,
        speedup: float = 1.0,
        stream: int = 0,
        name: str = "trace",
        most_behind: int = MOST_BEHIND,
        counted: int = 0,
        when_warm: Callable[[], None] | None = None,
    ) -> None:
        if not speedup > 0 or most_behind < 1:
            raise ModelError(f"{name}: speedup {speedup}, most_behind {most_behind}; more than 0")
        super().__init__(engine, device, size=SECTOR, stream=stream, name=name, ios=iter(()))
        self._records = records
        self._speedup = speedup
        self._most_behind = most_behind
        self._counted = counted
        self._when_warm = when_warm
        self._began = engine._now
        self._due: deque[TraceIo] = deque()
        self._still = False
        self._ahead: TraceIo | None = None
        self.arrived = self.completed = self.waited = 0
        self.longest_wait_s = 0.0
        self.last_arrival_s = engine._now
        self.stood_still = False
        self.finished: Event = engine.event()
        self._look_ahead()
        self._finish()

    @property
    def all_arrived(self) -> bool:
        """Whether no I/O is to come."""
        return self._ahead is None

    def stop(self) -> None:
        """Send no more I/Os; those under way complete, and then it is finished."""
        super().stop()
        self._ahead = None
        self.arrived -= len(self._due)
        self._due.clear()
        self._finish()

    def _look_ahead(self) -> None:
        """Take the next record, and let it come in its time."""
        self._ahead = next(self._records, None)
        if self._ahead is None:
            return
        if self.arrived - self.completed >= self._most_behind:
            self._still = self.stood_still = True
        else:
            # The same as _await(), inlined.
            at, now = self._began + self._ahead[0] / self._speedup, self._engine._now
            self._engine.call_at(at if at > now else now, self._arrive)

    def _await(self) -> None:
        assert self._ahead is not None
        at = self._began + self._ahead[0] / self._speedup
        now = self._engine._now
        self._engine.call_at(at if at > now else now, self._arrive)

    def _arrive(self, _: Any) -> None:
        if self._ahead is None:
            return
        now = self._engine._now
        _, op, offset, size = self._ahead
        self._due.append((now, op, offset, size))
        self.arrived += 1
        self.last_arrival_s = now
        self._look_ahead()
        if not self._asleep:
            self._send_due()

    def _send_due(self) -> None:
        while self._due and not self._asleep:
            self._submit()
            self._unplug()

    def _next(self) -> Request:
        came, op, offset, size = self._due.popleft()
        wait_s = self._engine._now - came
        if wait_s > 0:
            self.waited += 1
            self.longest_wait_s = max(self.longest_wait_s, wait_s)
        return Request(op, offset, size, self._done, self._stream, _SYNC[op])

    def _awake(self) -> None:
        self._asleep = False
        self._send_due()

    def _done(self, request: Request) -> None:
        super()._done(request)
        self.completed += 1
        if self.completed == self._counted and self._when_warm is not None:
            self._when_warm()
        if self._still and self._ahead is not None and self.arrived - self.completed < self._most_behind:
            self._still = False
            self._await()
        if self._ahead is None:
            self._finish()

    def _finish(self) -> None:
        if self._ahead is None and self.completed == self.arrived and not self.finished.triggered:
            self.finished.succeed()


class ClosedTrace(ClosedLoad):
    """The I/Os of a trace in their order, so many outstanding, whenever they came.

    Parameters
    ----------
    engine, device, depth, stream, name, submit_s, complete_s, cpu
        As of :class:`.direct_load.ClosedLoad`.
    records
        The I/Os, within the device; their times have no say.
    counted, when_warm
        As of :class:`TimedTrace`.

    Attributes
    ----------
    completed
        I/Os that are complete, since the load exists.
    finished
        Happens when the last I/O is complete.
    """

    __slots__ = ("_ahead", "_counted", "_records", "_when_warm", "completed", "finished")

    def __init__(
        self,
        engine: Engine,
        device: Device,
        records: Iterator[TraceIo],
        *,
        depth: int = 1,
        stream: int = 0,
        name: str = "trace",
        counted: int = 0,
        when_warm: Callable[[], None] | None = None,
        submit_s: float = 0.0,
        complete_s: float = 0.0,
        cpu: Cpu | None = None,
    ) -> None:
        super().__init__(
            engine,
            device,
            size=SECTOR,
            depth=depth,
            stream=stream,
            name=name,
            ios=iter(()),
            submit_s=submit_s,
            complete_s=complete_s,
            cpu=cpu,
        )
        self._records = records
        self._counted = counted
        self._when_warm = when_warm
        self.completed = 0
        self.finished: Event = engine.event()
        self._ahead = next(records, None)
        if self._ahead is None:
            self.stop()

    def stop(self) -> None:
        """Send no more I/Os; those under way complete, and then it is finished."""
        super().stop()
        self._finish()

    def _next(self) -> Request:
        assert self._ahead is not None
        _, op, offset, size = self._ahead
        self._ahead = next(self._records, None)
        if self._ahead is None:
            self._stopped = True
        return Request(op, offset, size, self._done, self._stream, _SYNC[op])

    def _done(self, request: Request) -> None:
        self.completed += 1
        super()._done(request)
        if self.completed == self._counted and self._when_warm is not None:
            self._when_warm()
        self._finish()

    def _finish(self) -> None:
        if self._stopped and not self._outstanding and not self.finished.triggered:
            self.finished.succeed()
