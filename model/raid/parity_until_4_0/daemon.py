"""md's thread of RAID 4, 5 and 6 as the kernels of 2004 run it: woken by what the members complete.

The submitter handles a stripe head at once; what comes back from the members waits for the thread, also a read that
somebody waits for. To wake it takes a switch of processes, unless it is at work already. It writes the superblocks that
mark an array clean as well, one member after the other, and does nothing else meanwhile (drivers/md/raid5.c:
raid5_end_read_request, raid5d; md.c: md_handle_safemode, md_update_sb).

It is one thread: what comes back while it computes waits until it is through, so parity and the passes over the heads
limit what an array reads up, rebuilds and checks. The firmware of a controller is no such thread, but its cores are
kept busy alike.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from ...core.engine import Engine
from ...core.request import Request
from ...tasks.host import Host
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

    __slots__ = ("_array", "_at_work", "_engine", "_until", "_waiting")

    def __init__(self, engine: Engine, array: Array) -> None:
        self._engine = engine
        self._array = array
        self._until = 0.0
        self._at_work = False
        self._waiting: deque[tuple[Callable[..., None], tuple[Request, ...]]] = deque()

    def takes(self, work: Callable[..., None]) -> Callable[..., None]:
        """What a member, or the last of several, calls when it is done: `work` that the thread does then."""
        if self._array.host is None and self._array.metadata is None:
            return work
        return _Work(self, self._array, work).wake

    def do(self, work: Callable[..., None], done: tuple[Request, ...]) -> None:
        """The thread does `work`, of what is `done`, after the work that came before."""
        host = self._array.host
        if host is None:
            work(*done)
            return
        waiting, now = self._waiting, self._engine._now
        if waiting or self._at_work or self._free_from(host) > now:
            waiting.append((work, done))
            if len(waiting) == 1 and not self._at_work:
                self._engine.call_at(self._free_from(host), self._go_on)
            return
        self._work(host, work, done)
        self._wait(host)

    def compute(self, seconds: float, then: Callable[[], None]) -> None:
        """The thread computes for so long (s) as part of its work, and goes on with `then`."""
        host = self._array.host
        if host is None or not seconds:
            then()
            return
        finish = host.cpu.interrupt(seconds)
        if host.thread_an_array:
            self._until = max(self._until, finish)
        self._engine.call_at(finish, lambda _: then())

    def _free_from(self, host: Host) -> float:
        """When the thread takes its next work (s): the last one is done, and no other kernel work keeps all cores."""
        return max(self._until, host.cpu.free_for_kernel_from)

    def _work(self, host: Host, work: Callable[..., None], done: tuple[Request, ...]) -> None:
        cpu, now = host.cpu, self._engine._now
        before = cpu.kernel_s
        if now > self._until:
            cpu.interrupt(host.prices.switch_s)
        self._at_work = True
        work(*done)
        self._at_work = False
        if host.thread_an_array:
            self._until = max(self._until, now + cpu.kernel_s - before)

    def _go_on(self, _: object) -> None:
        host = self._array.host
        assert host is not None
        waiting, now = self._waiting, self._engine._now
        while waiting and self._free_from(host) <= now:
            work, done = waiting.popleft()
            self._work(host, work, done)
        self._wait(host)

    def _wait(self, host: Host) -> None:
        """Have the thread go on with what waits when it is free."""
        if self._waiting:
            self._engine.call_at(self._free_from(host), self._go_on)


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
