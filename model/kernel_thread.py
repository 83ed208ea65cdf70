"""A kernel thread that submits I/O: one request after another under a plug, asleep where a device has no tag for it.

Linux's block layer puts the submitter to sleep when a device has no free tag, so one busy member holds up a thread's
I/O to all others. A thread that goes to sleep, for that or any other reason, lets go what it has plugged.
Source: block/blk-mq-tag.c, blk_mq_get_tag; block/blk-core.c, blk_flush_plug; drivers/md/md.c, md_do_sync.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from .engine import Engine
from .request import RESYNC_STREAM, Device, Request


class KernelThread:
    """A thread that submits resync I/O to the members of one array.

    Parameters
    ----------
    engine
        The clock.
    members
        What it submits to.

    Attributes
    ----------
    ranges
        Ranges of resync it was given so far.
    """

    __slots__ = (
        "_asleep",
        "_backlog",
        "_engine",
        "_members",
        "_open",
        "_pluggable",
        "_plugged",
        "_sleepy",
        "_unpluggable",
        "_wakers",
        "ranges",
    )

    def __init__(self, engine: Engine, members: Sequence[Device]) -> None:
        self._engine = engine
        self._members = members
        self._pluggable: list[Callable[[], None]] = [m.plug for m in members if hasattr(m, "plug")]
        self._unpluggable: list[Callable[[], None]] = [m.unplug for m in members if hasattr(m, "unplug")]
        self._sleepy: list[Any] = [m if hasattr(m, "sleeps") else None for m in members]
        self._backlog: deque[tuple[int, Request]] = deque()
        self._asleep = self._open = self._plugged = False
        self._wakers: list[Callable[[], None]] = []
        self.ranges = 0

    @property
    def awake(self) -> bool:
        """Whether it does not sleep over what it was given."""
        return not self._asleep

    def when_awake(self, callback: Callable[[], None]) -> None:
        """Call `callback` once when it has submitted the range it was or will be given, and is awake."""
        self._wakers.append(callback)

    def submit(self, slot: int, request: Request) -> None:
        """Submit `request` to a member now, or after what waits already."""
        self._open = True
        if self._asleep:
            self._backlog.append((slot, request))
            return
        if not self._plugged:
            self._plug()
        self._pass_on(slot, request)

    def end_range(self) -> None:
        """The range is complete."""
        self.ranges += 1
        self._open = False
        if not self._asleep:
            self._tell()

    def _plug(self) -> None:
        """Plug until the thread goes to sleep: at the latest when it has no more to do at this moment."""
        self._plugged = True
        for plug in self._pluggable:
            plug()
        self._engine.call_at(self._engine._now, self._sleep)

    def _sleep(self, _: Any = None) -> None:
        if self._plugged:
            self._plugged = False
            for unplug in self._unpluggable:
                unplug()

    def _pass_on(self, slot: int, request: Request) -> None:
        self._members[slot].submit(request)
        member = self._sleepy[slot]
        if member is not None and not member.has_room and member.sleeps(RESYNC_STREAM):
            self._asleep = True
            self._sleep()
            member.when_awake(RESYNC_STREAM, self._awake)

    def _awake(self) -> None:
        """It has its tag; it goes on after the others that are woken at this moment have theirs."""
        self._engine.call_at(self._engine._now, self._go_on)

    def _go_on(self, _: Any) -> None:
        self._asleep = False
        self._plug()
        backlog = self._backlog
        while backlog:
            self._pass_on(*backlog.popleft())
            if self._asleep:
                return
        if not self._open:
            self._tell()

    def _tell(self) -> None:
        wakers, self._wakers = self._wakers, []
        for waker in wakers:
            waker()
