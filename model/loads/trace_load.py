"""Loads that send the I/Os of a recorded trace, at the recorded times or as fast as a number of outstanding I/Os
allows.

Both take their records from an iterator, some at a time, and hold only those, so a trace of any length needs no
memory. What has come and cannot be sent yet is held too, but no more than :data:`MOST_BEHIND`: then the trace stands
still until something is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from simpy import Event

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import ASYNC, DIRECT, FLUSH, READ, TRIM, WAITED, WRITE, Request
from ..tasks.cpu import Cpu
from .direct_load import ClosedLoad, DirectLoad
from .trace_ios import TraceCursor, TraceIos

SECTOR: Final = 512
MOST_BEHIND: Final = 1 << 16
"""I/Os that have come and are not complete, above which a trace waits: no host has more outstanding."""

Sent = Callable[[Request, float], None]
"""Takes an I/O that is about to be sent, and when it came (s)."""
Ended = Callable[[Request], None]
"""Takes an I/O that is complete."""

_SYNC = {READ: WAITED, WRITE: DIRECT, TRIM: ASYNC, FLUSH: WAITED}


class TimedTrace(DirectLoad):
    """The I/Os of a trace at their own times, whatever the device does.

    They are those of independent users: each is sent when it comes, also while the threads of others sleep.

    Parameters
    ----------
    engine, device, issuer, name
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
    stood_still
        Whether the trace ever had to wait because too many I/Os were outstanding.
    last_arrival_s
        When the last I/O so far came (s).
    finished
        Happens when the last I/O is complete.
    on_sent, on_ended
        Called with each I/O when it is sent and when it is complete, if given.
    """

    __slots__ = (
        "_began",
        "_counted",
        "_cursor",
        "_most_behind",
        "_offset",
        "_op",
        "_size",
        "_speedup",
        "_still",
        "_when_warm",
        "arrived",
        "completed",
        "finished",
        "last_arrival_s",
        "on_ended",
        "on_sent",
        "stood_still",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        records: Iterator[TraceIos],
        *,
        speedup: float = 1.0,
        issuer: int = 0,
        name: str = "trace",
        most_behind: int = MOST_BEHIND,
        counted: int = 0,
        when_warm: Callable[[], None] | None = None,
    ) -> None:
        if not speedup > 0 or most_behind < 1:
            raise ModelError(f"{name}: speedup {speedup}, most_behind {most_behind}; more than 0")
        super().__init__(engine, device, size=SECTOR, issuer=issuer, name=name, ios=iter(()), independent=True)
        self._cursor = TraceCursor(records)
        self._speedup = speedup
        self._most_behind = most_behind
        self._counted = counted
        self._when_warm = when_warm
        self._began = engine._now
        self._still = False
        self._op, self._offset, self._size = READ, 0, SECTOR
        self.on_sent: Sent | None = None
        self.on_ended: Ended | None = None
        self.arrived = self.completed = 0
        self.last_arrival_s = engine._now
        self.stood_still = False
        self.finished: Event = engine.event()
        self._look_ahead()
        self._finish()

    @property
    def all_arrived(self) -> bool:
        """Whether no I/O is to come."""
        return self._cursor.ended

    def stop(self) -> None:
        """Send no more I/Os; those under way complete, and then it is finished."""
        super().stop()
        self._cursor.ended = True
        self._finish()

    def _look_ahead(self) -> None:
        """Let the next record come in its time."""
        if self._cursor.ended:
            return
        if self.arrived - self.completed >= self._most_behind:
            self._still = self.stood_still = True
        else:
            self._await()

    def _await(self) -> None:
        at = self._began + self._cursor.time_s / self._speedup
        now = self._engine._now
        self._engine.call_at(at if at > now else now, self._arrive)

    def _arrive(self, _: Any) -> None:
        cursor = self._cursor
        if cursor.ended:
            return
        self._op, self._offset, self._size = cursor.op, cursor.offset, cursor.size
        cursor.go_on()
        self.arrived += 1
        self.last_arrival_s = self._engine._now
        self._look_ahead()
        self._submit()
        if self._plugs:
            self._device.unplug()

    def _next(self) -> Request:
        op = self._op
        request = Request(op, self._offset, self._size, self, self._stream, _SYNC[op])
        if self.on_sent is not None:
            self.on_sent(request, self._engine._now)
        return request

    def done(self, request: Request) -> None:
        """Count an I/O that is complete; with the last one the trace is finished."""
        super().done(request)
        self.completed += 1
        if self.on_ended is not None:
            self.on_ended(request)
        if self.completed == self._counted and self._when_warm is not None:
            self._when_warm()
        if self._still and not self._cursor.ended and self.arrived - self.completed < self._most_behind:
            self._still = False
            self._await()
        if self._cursor.ended:
            self._finish()

    def _finish(self) -> None:
        if self._cursor.ended and self.completed == self.arrived and not self.finished.triggered:
            self.finished.succeed()


class ClosedTrace(ClosedLoad):
    """The I/Os of a trace in their order, with a fixed number outstanding, without their recorded times.

    Parameters
    ----------
    engine, device, depth, issuer, name, submit_s, complete_s, cpu
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
    on_sent, on_ended
        As of :class:`TimedTrace`.
    """

    __slots__ = ("_counted", "_cursor", "_when_warm", "completed", "finished", "on_ended", "on_sent")

    def __init__(
        self,
        engine: Engine,
        device: Device,
        records: Iterator[TraceIos],
        *,
        depth: int = 1,
        issuer: int = 0,
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
            issuer=issuer,
            name=name,
            ios=iter(()),
            submit_s=submit_s,
            complete_s=complete_s,
            cpu=cpu,
        )
        self._cursor = TraceCursor(records)
        self._counted = counted
        self._when_warm = when_warm
        self.on_sent: Sent | None = None
        self.on_ended: Ended | None = None
        self.completed = 0
        self.finished: Event = engine.event()
        if self._cursor.ended:
            self.stop()

    def stop(self) -> None:
        """Send no more I/Os; those under way complete, and then it is finished."""
        super().stop()
        self._finish()

    def _next(self) -> Request:
        cursor = self._cursor
        op = cursor.op
        offset, size = cursor.offset, cursor.size
        cursor.go_on()
        if cursor.ended:
            self._stopped = True
        request = Request(op, offset, size, self, self._stream, _SYNC[op])
        if self.on_sent is not None:
            self.on_sent(request, self._engine._now)
        return request

    def done(self, request: Request) -> None:
        """Count an I/O that is complete, and send the next."""
        self.completed += 1
        if self.on_ended is not None:
            self.on_ended(request)
        super().done(request)
        if self.completed == self._counted and self._when_warm is not None:
            self._when_warm()
        self._finish()

    def _finish(self) -> None:
        if self._stopped and not self._outstanding and not self.finished.triggered:
            self.finished.succeed()


class ThinkingTrace(ClosedTrace):
    """The I/Os of a trace one by one, each when the one before is complete and its recorded think time is over.

    Parameters
    ----------
    engine, device, records, issuer, name, counted, when_warm
        As of :class:`ClosedTrace`.
    thinks
        The think time (s) after each I/O, in the order of the records.
    """

    __slots__ = ("_thinking", "_thinks")

    def __init__(
        self,
        engine: Engine,
        device: Device,
        records: Iterator[TraceIos],
        thinks: Iterator[float],
        *,
        issuer: int = 0,
        name: str = "trace",
        counted: int = 0,
        when_warm: Callable[[], None] | None = None,
    ) -> None:
        self._thinks = thinks
        self._thinking = False
        super().__init__(
            engine, device, records, depth=1, issuer=issuer, name=name, counted=counted, when_warm=when_warm
        )

    def _may_submit(self) -> bool:
        return not self._thinking and super()._may_submit()

    def done(self, request: Request) -> None:
        """Begin to think."""
        think_s = next(self._thinks, 0.0)
        self._thinking = True
        super().done(request)
        self._engine.call_at(self._engine._now + think_s, self._thought)

    def _thought(self, _: Any) -> None:
        self._thinking = False
        self._run()
