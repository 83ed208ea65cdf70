"""The thread that rebuilds a member or checks an array: md's speed limits and its requests.

After every window (124 or 128 KiB) the thread looks at its average speed over the last half minute. Below
``speed_limit_min`` it goes on at once; above ``speed_limit_max`` it sleeps and looks again; in between it depends on
the kernel what it does while the array is not idle (:mod:`raidsim.model.raid.resync.politeness`). Linux 2.4 kept disk
statistics only for block majors below 16, so for a disk on a later IDE interface (hde is major 33) it saw an idle array
whatever happened, and only the maximum held it back. Source: drivers/md/md.c, md_do_sync and is_mddev_idle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from ...block.kernel_thread import KernelThread
from ...core.engine import Engine
from ...core.errors import ModelError
from ...core.signal import Signal
from ...statistics.rebuild_report import RebuildReport
from .politeness import POLITENESS
from .resyncable import Resyncable
from .settings import Action, ResyncSettings

__all__ = ["Action", "Resync", "ResyncSettings"]

_MARKS = 10
_MARK_STEP_S = 3.0


class Resync:
    """The resync thread of one array.

    Parameters
    ----------
    engine
        The clock.
    array
        What is rebuilt or checked.
    settings
        The kernel's.
    start
        Where the thread stands at the beginning of the run (bytes of the address space it counts in).
    warm
        Whether the thread has already been running at its minimum speed (a run that looks at a moment of a long
        rebuild), or starts afresh.
    action
        What it does; "recover" needs a member being rebuilt, and "repair" finds nothing to repair.
    finished
        Called when it is over.
    thread
        What submits, where the thread may fall asleep over it: for want of a tag (a mirror on blk-mq) or of a stripe
        head. None: submitting takes no time, and only `depth` limits it.

    Attributes
    ----------
    position
        Up to where requests have been issued.
    done_bytes
        Done in this run.
    drains
        How often it waited for its own I/O because the array was busy.
    stopped
        If true, it issues nothing more, and is over when what is under way is complete (md's MD_RECOVERY_INTR).
    """

    __slots__ = (
        "_done",
        "_engine",
        "_finished",
        "_finished_s",
        "_issue",
        "_marks",
        "_md_thread",
        "_outstanding",
        "_politeness",
        "_room",
        "_room_at",
        "_started_s",
        "action",
        "array",
        "done_bytes",
        "drains",
        "outstanding_bytes",
        "position",
        "settings",
        "start",
        "stopped",
        "total_bytes",
    )

    def __init__(
        self,
        engine: Engine,
        array: Resyncable,
        settings: ResyncSettings,
        start: int = 0,
        warm: bool = True,
        action: Action = "recover",
        finished: Callable[[], None] | None = None,
        thread: KernelThread | None = None,
    ) -> None:
        if action == "recover" and not array.rebuilding:
            raise ModelError("recover: no member of the array is being rebuilt")
        self._engine = engine
        self.array = array
        self.settings = settings
        self.action = action
        self.start = self.position = start
        if action == "recover":
            self._issue = array.resync
            self.total_bytes = array.resync_bytes
        elif action == "reshape":
            self._issue = array.reshape
            self.total_bytes = array.reshape_bytes
        else:
            self._issue = array.synchronise if action == "resync" else array.check
            self.total_bytes = array.check_bytes
        self.done_bytes = self.outstanding_bytes = 0
        self.drains = 0
        self.stopped = False
        self._finished = finished
        self._started_s = engine.now
        self._finished_s: float | None = None
        self._outstanding = 0
        self._room: Signal | None = None
        self._room_at = 0
        self._md_thread = thread
        if thread is not None:
            array.resync_thread = thread
        self._politeness = POLITENESS[settings.when_busy, settings.busy_by](self)
        span = _MARKS * _MARK_STEP_S if warm else 0.0
        speed = settings.speed_min if settings.sees_load else settings.speed_max
        self._marks: deque[tuple[float, float]] = deque(maxlen=_MARKS)
        for i in range(_MARKS if warm else 1):
            at = engine.now - span + i * _MARK_STEP_S
            self._marks.append((at, (at - engine.now) * speed))

    @property
    def member_bytes(self) -> int:
        """Bytes of each member from beginning to end."""
        return self.array.resync_bytes

    @property
    def report(self) -> RebuildReport:
        """Where it stands now."""
        now = self._engine.now
        until = now if self._finished_s is None else self._finished_s
        average = self.done_bytes / (until - self._started_s) if until > self._started_s else 0.0
        mark, done_then = self._marks[0]
        since = max(mark, self._started_s)
        current = (self.done_bytes - max(done_then, 0.0)) / (until - since) if until > since else average
        left = self.total_bytes - self.start - self.done_bytes
        return RebuildReport(
            started_s=self._started_s,
            finished_s=self._finished_s,
            total_bytes=self.total_bytes,
            position_bytes=self.start + self.done_bytes,
            done_bytes=self.done_bytes,
            average_rate=average,
            current_rate=current,
            remaining_s=(0.0 if not left else left / current if current else None),
        )

    def speed(self) -> float:
        """Average over the marks, as md computes it: whole seconds plus one."""
        now = self._engine.now
        if now >= self._marks[-1][0] + _MARK_STEP_S:
            self._marks.append((now, self.done_bytes))
        mark, bytes_then = self._marks[0]
        return (self.done_bytes - bytes_then) / (int(now - mark) + 1)

    def _over(self, size: int) -> None:
        self._outstanding -= 1
        self.outstanding_bytes -= size
        self.done_bytes += size
        if self._room is not None and self._outstanding <= self._room_at:
            room, self._room = self._room, None
            room.fire()

    def run(self) -> Generator[Any, Any, None]:
        """The thread: a SimPy process, over when the array is whole again."""
        settings, end = self.settings, self.total_bytes
        resume = settings.depth - 1 if settings.resume_depth is None else settings.resume_depth
        waits_for_heads = self._md_thread is not None and settings.resume_delay_s > 0
        window = 0
        while self.position < end and not self.stopped:
            size = min(settings.request_bytes, end - self.position)
            self._outstanding += 1
            self.outstanding_bytes += size
            sleeps = self._submit(self.position, size)
            self.position += size
            window += size
            if sleeps is not None:
                yield sleeps
                if waits_for_heads and self._md_thread is not None and self._md_thread.slept:
                    yield self._engine.timeout(settings.resume_delay_s)
            if self._outstanding >= settings.depth:
                self._rest()
                while self._outstanding > resume:
                    yield self.at_most(resume)
                if settings.resume_delay_s:
                    yield self._engine.timeout(settings.resume_delay_s)
            if window >= settings.window_bytes:
                window = 0
                yield from self._politeness.look()
        self._rest()
        while self._outstanding:
            yield self.at_most(0)
        self._finished_s = self._engine.now
        if self.action == "recover":
            for slot in sorted(self.array.rebuilding):
                self.array.rebuilt(slot)
        if self._finished is not None:
            self._finished()

    def _submit(self, offset: int, size: int) -> Signal | None:
        """Issue one request; a signal to wait for if the thread computes or falls asleep over it."""
        thread = self._md_thread
        if thread is None:
            self._issue(offset, size, partial(self._over, size))
            return None
        before = thread.ranges
        thread.slept = False
        self._issue(offset, size, partial(self._over, size))
        if thread.awake:
            if thread.ranges > before:
                return None
            thread.slept = True  # at a barrier or for a stripe head
            thread.rest()
        awake = Signal()
        thread.when_awake(awake.fire)
        return awake

    def _rest(self) -> None:
        if self._md_thread is not None:
            self._md_thread.rest()

    def at_most(self, requests: int) -> Signal:
        """A signal that fires when no more than `depth` requests are under way (there are more now)."""
        self._room_at = requests
        self._room = Signal()
        return self._room

    def drain(self) -> Signal:
        """A signal that fires when none is under way (some are now), because the array is busy."""
        self.drains += 1
        self._rest()
        return self.at_most(0)

    @property
    def now(self) -> float:
        """The time (s)."""
        return self._engine.now

    @property
    def outstanding(self) -> int:
        """Requests under way."""
        return self._outstanding

    def sleep(self) -> Any:
        """Sleep once, because it is too fast."""
        return self.rest(self.settings.nap_s)

    def rest(self, seconds: float) -> Any:
        """Submit nothing for a time (s)."""
        self._rest()
        return self._engine.timeout(seconds)
