"""Loads that send the I/Os of a recorded trace, at the recorded times or as fast as a number of outstanding I/Os
allows.

Both take their records from an iterator, some at a time, and hold only those, so a trace of any length needs no
memory. What has come and cannot be sent yet is held too, but no more than :data:`MOST_BEHIND`: then the trace stands
still until something is complete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from simpy import Event

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import ASYNC, DIRECT, FLUSH, READ, TRIM, WAITED, WRITE, Request
from ..tasks.cpu import Cpu
from ..tasks.host import Host
from ..tasks.io_call_price import NO_PAGES, PageCosts
from .closed_load import ClosedLoad
from .direct_load import DirectLoad, LoadIo, core_of
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
        "_coming",
        "_complete_s",
        "_core",
        "_counted",
        "_cpu",
        "_cursor",
        "_most_behind",
        "_offset",
        "_op",
        "_size",
        "_speedup",
        "_still",
        "_submit_s",
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
        submit_s: float = 0.0,
        complete_s: float = 0.0,
        cpu: Cpu | None = None,
        pages: PageCosts = NO_PAGES,
    ) -> None:
        if not speedup > 0 or most_behind < 1:
            raise ModelError(f"{name}: speedup {speedup}, most_behind {most_behind}; more than 0")
        super().__init__(
            engine, device, size=SECTOR, issuer=issuer, name=name, ios=iter(()), independent=True, pages=pages
        )
        self._cursor = TraceCursor(records)
        self._speedup = speedup
        self._most_behind = most_behind
        self._counted = counted
        self._when_warm = when_warm
        self._submit_s = submit_s
        self._complete_s = complete_s
        self._cpu = cpu if submit_s or complete_s else None
        self._core = core_of(issuer, device, cpu)
        # I/Os that have come and that the CPU has not submitted yet.
        self._coming: deque[LoadIo] = deque()
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
        due = self._began + cursor.time_s / self._speedup
        cursor.go_on()
        self.arrived += 1
        now = self.last_arrival_s = self._engine._now
        self._look_ahead()
        if self._cpu is None:
            self._submit(due if due < now else now)
            if self._plugs:
                self._device.unplug()
            return
        users = self._users
        assert users is not None
        self._stream = users.take()
        io = self._next()
        io.wanted = due if due < now else now
        self._coming.append(io)
        self._cpu.run_then(self._submit_s + self._pages.submission_s(io.op, io.size), self._core, self._send)

    def _send(self, _: Any) -> None:
        """The CPU has submitted an I/O."""
        io = self._coming.popleft()
        self._begin(io, io.wanted)
        self._device.submit(io)
        if self._plugs:
            self._device.unplug()

    def _next(self) -> LoadIo:
        op = self._op
        request = LoadIo(op, self._offset, self._size, self, self._stream, _SYNC[op])
        if self.on_sent is not None:
            self.on_sent(request, self._engine._now)
        return request

    def done(self, request: Request) -> None:
        """Count an I/O that is complete; with the last one the trace is finished."""
        assert isinstance(request, LoadIo)
        now = self._engine._now
        if self._cpu is not None and self._complete_s:
            seconds = self._complete_s + self._pages.completion_s(request.op, request.size)
            now = self._cpu.spend(seconds, self._core)
        self._count(request, now)
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
    engine, device, depth, issuer, name, submit_s, wake_s, cpu, host, pages
        As of :class:`.closed_load.ClosedLoad`.
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

    __slots__ = ("_counted", "_cursor", "_untaken", "_when_warm", "completed", "finished", "on_ended", "on_sent")

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
        wake_s: float = 0.0,
        cpu: Cpu | None = None,
        host: Host | None = None,
        pages: PageCosts = NO_PAGES,
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
            wake_s=wake_s,
            cpu=cpu,
            host=host,
            pages=pages,
        )
        self._cursor = TraceCursor(records)
        self._counted = counted
        self._when_warm = when_warm
        self._untaken = 0
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

    def _pages_ahead_s(self, count: int) -> float:
        """Of the I/O at which the trace stands: one is submitted at a time."""
        cursor = self._cursor
        return 0.0 if cursor.ended else self._pages.submission_s(cursor.op, cursor.size)

    def _next(self) -> LoadIo:
        cursor = self._cursor
        op = cursor.op
        offset, size = cursor.offset, cursor.size
        cursor.go_on()
        if cursor.ended:
            self._stopped = True
        request = LoadIo(op, offset, size, self, self._stream, _SYNC[op])
        self._untaken += 1
        if self.on_sent is not None:
            self.on_sent(request, self._engine._now)
        return request

    def _take(self, io: LoadIo, now: float) -> None:
        """Count an I/O that the program has; with the last one the trace is finished."""
        self._untaken -= 1
        self.completed += 1
        if self.on_ended is not None:
            self.on_ended(io)
        super()._take(io, now)
        if self.completed == self._counted and self._when_warm is not None:
            self._when_warm()
        self._finish()

    def _finish(self) -> None:
        if self._stopped and not self._untaken and not self.finished.triggered:
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

    __slots__ = ("_think_times",)

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
        self._think_times = thinks
        super().__init__(
            engine, device, records, depth=1, issuer=issuer, name=name, counted=counted, when_warm=when_warm
        )

    def _next_wanted(self, now: float) -> None:
        """Think, and then want the next."""
        self._engine.call_at(now + next(self._think_times, 0.0), self._thought)

    def _thought(self, _: Any) -> None:
        self._wanted.append(self._engine._now)
        self._run()
