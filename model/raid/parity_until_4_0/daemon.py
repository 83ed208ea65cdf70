"""md's thread of RAID 4, 5 and 6 as the kernels of 2004 run it: woken by what the members complete.

Who submits handles a stripe head at once; what comes back from the members waits for the thread, also a read that
somebody waits for. To wake it takes a switch of processes, unless it is at work already. It writes the superblocks that
mark an array clean as well, one member after the other, and does nothing else meanwhile (drivers/md/raid5.c:
raid5_end_read_request, raid5d; md.c: md_handle_safemode, md_update_sb).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...core.engine import Engine
from ...core.request import Request
from ..base.array import Array


class ParityDaemon:
    """The thread of one array.

    Parameters
    ----------
    engine
        The clock.
    array
        Whose members wake it.
    """

    __slots__ = ("_array", "_engine", "_until")

    def __init__(self, engine: Engine, array: Array) -> None:
        self._engine = engine
        self._array = array
        self._until = 0.0

    def takes(self, work: Callable[..., None]) -> Callable[..., None]:
        """What a member, or the last of several, calls when it is done: `work` that the thread does then."""
        if self._array.host is None and self._array.metadata is None:
            return work
        return _Work(self, self._array, work).wake

    def do(self, work: Callable[..., None], done: tuple[Request, ...]) -> None:
        """The thread does `work`, of what is `done`."""
        host = self._array.host
        if host is None:
            work(*done)
            return
        cpu, now = host.cpu, self._engine._now
        before = cpu.kernel_s
        if now >= self._until:
            self._until = now
            cpu.interrupt(host.prices.switch_s)
        work(*done)
        self._until += cpu.kernel_s - before


class _Work:
    """What the thread does when a member, or the last of several, is done."""

    __slots__ = ("_array", "_daemon", "_work")

    def __init__(self, daemon: ParityDaemon, array: Array, work: Callable[..., None]) -> None:
        self._daemon = daemon
        self._array = array
        self._work = work

    def wake(self, *done: Request) -> None:
        metadata = self._array.metadata
        if metadata is not None and metadata.holds_thread:
            metadata.when_written(partial(self.wake, *done))
            return
        self._daemon.do(self._work, done)
