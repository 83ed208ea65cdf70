"""Several threads for the stripes of one parity array (md's group_thread_cnt).

They take heads from one list, eight at a time, and compute on cores of their own at the same time. The first is woken
by the first head; a further one for every eight heads that wait. Source: drivers/md/raid5.c
since 3.12, raid5_wakeup_stripe_thread and raid5_do_work, with one group: a machine with one memory node. Neutral: they
do not get into each other's way at the lock of the array's list, which many of them do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence, Sized
from typing import Any

from ...core.device import Device
from ...core.engine import Engine
from ...core.request import Request
from ...tasks.host import Host
from ..stripes.stripe_cache import StripeCache
from .thread import STRIPE_BATCH, ParityThread


class _Worker(ParityThread):
    """One of them: while it works, it sends the requests."""

    __slots__ = ("_group",)

    def __init__(
        self, group: ParityWorkers, engine: Engine, host: Host | None, members: Sequence[Device], cache: StripeCache
    ) -> None:
        super().__init__(engine, host, members, cache)
        self._group = group
        self._work = group.waiting

    def _run(self, flushed: bool = False) -> None:
        self._group.current = self
        super()._run(flushed)

    def _go_on(self, _: Any = None) -> None:
        self._group.current = self
        super()._go_on()


class ParityWorkers:
    """The threads of one array, to whom one gives work as to a single one (:class:`ParityThread`).

    Parameters
    ----------
    engine, host, members, cache
        As of one thread.
    count
        How many there are.

    Attributes
    ----------
    current
        The one that is at work.
    waiting
        What is to be done.
    ready
        The rows of heads that one piece of it takes, and another one the rest.
    """

    __slots__ = ("_workers", "current", "ready", "waiting")

    def __init__(
        self, engine: Engine, host: Host | None, members: Sequence[Device], cache: StripeCache, count: int
    ) -> None:
        self.waiting: deque[Callable[[], float]] = deque()
        self.ready: Sized = ()
        self._workers = [_Worker(self, engine, host, members, cache) for _ in range(count)]
        self.current = self._workers[0]

    @property
    def heads(self) -> int:
        """Of the one that is at work."""
        return self.current.heads

    @heads.setter
    def heads(self, heads: int) -> None:
        self.current.heads = heads

    @property
    def issuer(self) -> int:
        """Of the one that is at work."""
        return self.current.issuer

    @property
    def threads(self) -> list[ParityThread]:
        """All of them."""
        return [*self._workers]

    def add(self, work: Callable[[], float]) -> None:
        """See :meth:`ParityThread.add`."""
        self.waiting.append(work)
        wanted = max(1, (len(self.waiting) + len(self.ready)) // STRIPE_BATCH)
        awake = sum([worker.awake for worker in self._workers])
        if awake < wanted and awake < len(self._workers):
            next(worker for worker in self._workers if not worker.awake).wake()

    def filled(self, heads: int) -> None:
        """See :meth:`ParityThread.filled`."""
        self.current.filled(heads)

    def send(self, slot: int, request: Request) -> None:
        """See :meth:`ParityThread.send`."""
        self.current.send(slot, request)

    def then(self, callback: Callable[[], None]) -> None:
        """See :meth:`ParityThread.then`."""
        self.current.then(callback)
