"""md's own thread of a mirror (raid1d, raid10d), which writes what a resync has read.

Completions put what they have read on a list and wake the thread. It goes through the whole list under one plug: so
what the completion of one large read has brought is written as one large request again, or compared before the resync
thread runs, which finds room for as much. A thread that finds no tag sleeps in the middle of it, and what comes
meanwhile waits for the rest of the list. Source: Linux 6.1
drivers/md/raid1.c and raid10.c (raid1d, sync_request_write, recovery_request_write).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...block.kernel_thread import KernelThread, compute
from ...core.device import Device
from ...core.engine import Engine
from ...core.exact_sums import sum_in_order
from ...core.request import Request
from ...tasks.host import Host
from ..base.array import Array

Work = Callable[[], None]


class MirrorDaemon:
    """The thread of one array, as far as it serves a resync.

    Parameters
    ----------
    engine
        The clock.
    members
        What it writes to.
    host
        Whose CPU it computes on; None if that costs nothing.
    sleeps
        If true, it sleeps on its own for want of a tag, and has a plug of its own. If false, it plugs the members.
    """

    __slots__ = ("_awake", "_engine", "_host", "_left", "_submitter", "_work")

    def __init__(self, engine: Engine, members: Sequence[Device], host: Host | None, sleeps: bool) -> None:
        self._engine = engine
        self._host = host
        self._submitter = KernelThread(engine, members, host if sleeps else None)
        self._work: deque[tuple[float, Work]] = deque()
        self._left: deque[Work] = deque()
        self._awake = False

    def add(self, work: Work, seconds: float = 0.0) -> None:
        """Have `work` done in its turn, after `seconds` of CPU time; it may call :meth:`write`."""
        self._work.append((seconds, work))
        if not self._awake:
            self._awake = True
            self._engine.call_at(self._engine._now, self._begin)

    def write(self, slot: int, request: Request) -> None:
        """Send `request` to a member, when the thread is awake."""
        self._submitter.submit(slot, request)

    def _begin(self, _: Any) -> None:
        self._run()

    def _run(self) -> None:
        """Go through the list, pass by pass; the plug is open until nothing is left."""
        while self._work:
            works = [work for _, work in self._work]
            seconds = sum_in_order(each for each, _ in self._work)
            self._work.clear()
            self._left.extend(works)
            if seconds and self._host is not None:
                compute(self._host, seconds, self._go_on)
                return
            if not self._do():
                return
        self._awake = False
        self._submitter.rest()

    def _go_on(self) -> None:
        if self._do():
            self._run()

    def _do(self) -> bool:
        """Do what is left of the pass; whether the thread has not fallen asleep over it."""
        submitter, left = self._submitter, self._left
        while left:
            left.popleft()()
            submitter.end_range()
            if not submitter.awake:
                submitter.when_awake(self._go_on)
                return False
        return True


class ServedMirrors(Array):
    """An array whose own thread writes what a resync has read; see :class:`Array` for the parameters."""

    __slots__ = ("_daemon",)

    def __init__(
        self,
        engine: Engine,
        name: str,
        members: Sequence[Device],
        capacity: int,
        host: Host | None = None,
        failed: Iterable[int] = (),
    ) -> None:
        super().__init__(engine, name, members, capacity, host, failed)
        self._daemon: MirrorDaemon | None = None

    @property
    def daemon(self) -> MirrorDaemon:
        """md's thread, which sleeps on its own where the resync thread does."""
        if self._daemon is None:
            self._daemon = MirrorDaemon(self._engine, self._members, self.host, self.resync_thread is not None)
        return self._daemon

    def write_resynced(self, slot: int, request: Request) -> None:
        """Have md's thread write a part of what a resync has read, from inside a work of it."""
        self.count_resync(slot, request)
        self.daemon.write(slot, request)
