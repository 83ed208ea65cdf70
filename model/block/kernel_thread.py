"""A kernel thread that submits I/O: one request after another under a plug, asleep where a device has no tag for it.

Linux's block layer puts the submitter to sleep when a device has no free tag, so one busy member holds up a thread's
I/O to all others. A thread unplugs when it sleeps, for this or any other reason; one that
computes does not, so a member whose tag a plugged request has taken is idle meanwhile.
Source: block/blk-mq-tag.c, blk_mq_get_tag; block/blk-core.c, blk_flush_plug; drivers/md/md.c, md_do_sync.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.request import RESYNC_ISSUER, RESYNC_THREADS, Request
from ..tasks.host import Host
from ..tasks.task_plug import TaskPlug


def compute(host: Host | None, seconds: float, then: Callable[[], None]) -> None:
    """Have a kernel thread of `host` compute for so long (s) when it gets the CPU, and go on with `then`."""
    if host is None or not seconds:
        then()
        return
    host.cpu.run_then(seconds, None, lambda _: then())


class KernelThread:
    """A thread that submits resync I/O to the members of one array.

    Parameters
    ----------
    engine
        The clock.
    members
        What it submits to.
    host
        Whose CPU it computes on, and where its plug is known; None for a thread that needs no time and plugs the
        members themselves.

    Attributes
    ----------
    ranges
        Ranges of resync it was given so far.
    slept
        Whether it has slept for room in the array, at a barrier or for stripe heads, since this was last set to False.
    issuer
        Its own, which all its requests have.
    """

    __slots__ = (
        "_asleep",
        "_backlog",
        "_computing",
        "_engine",
        "_host",
        "_members",
        "_open",
        "_plug",
        "_pluggable",
        "_plugged",
        "_unpluggable",
        "_wakers",
        "_waking",
        "issuer",
        "ranges",
        "slept",
    )

    def __init__(self, engine: Engine, members: Sequence[Device], host: Host | None = None) -> None:
        self._engine = engine
        self._host = host
        self._members = members
        self._plug = TaskPlug(limits=None if host is None else host.plug_limits)
        self._pluggable: list[Callable[[], None]] = [member.plug for member in members]
        self._unpluggable: list[Callable[[], None]] = [member.unplug for member in members]
        self._backlog: deque[tuple[int, Request]] = deque()
        self._asleep = 0  # tags it waits for
        self._waking = self._computing = self._open = self._plugged = False
        self._wakers: list[Callable[[], None]] = []
        self.ranges = 0
        self.slept = False
        self.issuer = RESYNC_ISSUER if host is None else engine.thread_issuer(RESYNC_THREADS)

    @property
    def awake(self) -> bool:
        """Whether it does not sleep over what it was given, and has computed what it had to."""
        return not (self._asleep or self._waking or self._computing)

    def when_awake(self, callback: Callable[[], None]) -> None:
        """Call `callback` once when it has submitted the range it was or will be given, and is awake."""
        self._wakers.append(callback)

    def compute(self, seconds: float, then: Callable[[], None]) -> None:
        """Compute for so long (s) when it gets the CPU, and go on with `then`; what it has plugged stays so."""
        before = self.ranges

        def over() -> None:
            self._computing = False
            then()
            if self.ranges == before:  # it sleeps at a barrier or for a stripe head
                self.slept = True
                self.rest()

        self._computing = True
        compute(self._host, seconds, over)

    def submit(self, slot: int, request: Request) -> None:
        """Submit `request` to a member now, or after what waits already."""
        request.issuer = self.issuer
        self._open = True
        if self._asleep or self._waking:
            self._backlog.append((slot, request))
            return
        if not self._plugged:
            self._start_plug()
        self._pass_on(slot, request)

    def end_range(self) -> None:
        """The range is complete."""
        self.ranges += 1
        self._open = False
        if not (self._asleep or self._waking):
            self._tell()

    def rest(self) -> None:
        """It goes to sleep for another reason than a tag, or has nothing more to do: what it has plugged goes."""
        if not self._plugged or self._asleep or self._waking or self._computing:
            return
        self._plugged = False
        if self._host is not None:
            self._host.thread_plugs.pop(self.issuer).flush()
            return
        for unplug in self._unpluggable:
            unplug()

    def _start_plug(self) -> None:
        self._plugged = True
        if self._host is not None:
            self._plug.start()
            self._host.thread_plugs[self.issuer] = self._plug
            return
        for plug in self._pluggable:
            plug()

    def _pass_on(self, slot: int, request: Request) -> None:
        member = self._members[slot]
        member.submit(request)
        computes = self._host is not None and self.issuer in self._host.computing
        for queue in member.queues():
            if (computes or not queue.has_room) and queue.sleeps(self.issuer):
                if self._host is None:
                    self.rest()
                self._asleep += 1
                queue.when_awake(self.issuer, self._awake)

    def _awake(self) -> None:
        """It has a tag; with the last it goes on, after the others that are woken at this moment have theirs."""
        self._asleep -= 1
        if not self._asleep:
            self._waking = True
            self._engine.call_at(self._engine._now, self._go_on)

    def _go_on(self, _: Any) -> None:
        self._waking = False
        if not self._plugged:
            self._start_plug()
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
