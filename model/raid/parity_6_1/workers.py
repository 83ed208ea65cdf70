"""Several threads for the stripes of one parity array (md's group_thread_cnt).

They and md's own thread take heads from one list, eight at a time, and compute on cores of their own at the same time.
The first worker is woken by the first head, and a further one for every eight heads that wait. What members complete is
put on the list by md's thread. So while that sleeps until the bitmap is written, only workers that are awake take it.
Source: drivers/md/raid5.c since 3.12, raid5_wakeup_stripe_thread, raid5_do_work, raid5_release_stripe and raid5d (which
handles heads of ANY_GROUP), with one group: a machine with one memory node. Neutral: they do not get into each other's
way at the lock of the array's list, which many of them do. Simpler than md: neighboring heads that are handled alike
stay with one worker, also where they are more than eight, and new heads wake md's thread, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
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

    def _next_work(self) -> Callable[[], float]:
        self._group.heads_waiting -= self._group.heads_of.popleft()
        return super()._next_work()

    def _run(self, flushed: bool = False) -> None:
        self._group.current = self
        super()._run(flushed)

    def _run_on(self, _: Any) -> None:
        self.flushing = False
        self._group.wake()
        super()._run_on(None)

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
        How many workers there are besides md's thread.

    Attributes
    ----------
    current
        The one that is at work.
    waiting, heads_of
        What is to be done, and how many heads each piece of it handles.
    heads_waiting
        How many these are together.
    ready
        Counts the heads on the list of the stripe handler, up to a number: one piece of work takes the first of them,
        and another one the rest.
    """

    __slots__ = ("_threads", "current", "heads_of", "heads_waiting", "ready", "waiting")

    def __init__(
        self, engine: Engine, host: Host | None, members: Sequence[Device], cache: StripeCache, count: int
    ) -> None:
        self.waiting: deque[Callable[[], float]] = deque()
        self.heads_of: deque[int] = deque()
        self.heads_waiting = 0
        self.ready: Callable[[int], int] = _none
        self._threads = [_Worker(self, engine, host, members, cache) for _ in range(count + 1)]
        self.current = self._threads[0]

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
    def slept_until(self) -> float:
        """See :attr:`ParityThread.slept_until`; md's own thread writes the bitmap."""
        return self._threads[0].slept_until

    @property
    def threads(self) -> list[ParityThread]:
        """All of them."""
        return [*self._threads]

    def add(self, work: Callable[[], float], heads: int = 1) -> None:
        """See :meth:`ParityThread.add`."""
        self.waiting.append(work)
        self.heads_of.append(heads)
        self.heads_waiting += heads
        self.wake()

    def wake(self) -> None:
        """Wake md's thread and the first worker, and a further one for every eight heads that wait."""
        thread = self._threads[0]
        if thread.flushing:
            return
        if not thread.awake:
            thread.wake()
        asleep = [worker for worker in self._threads[1:] if not worker.awake]
        if not asleep:
            return
        if asleep[0] is self._threads[1]:
            asleep[0].wake()
            del asleep[0]
        most = (len(asleep) + 1) * STRIPE_BATCH
        heads = self.heads_waiting + self.ready(most - self.heads_waiting)
        for worker in asleep[: max(0, heads // STRIPE_BATCH - 1)]:
            worker.wake()

    def filled(self, heads: int, issuer: int) -> None:
        """See :meth:`ParityThread.filled`."""
        self.current.filled(heads, issuer)

    def finishes(self, heads: int) -> None:
        """See :meth:`ParityThread.finishes`."""
        self.current.finishes(heads)

    def send(self, slot: int, request: Request) -> None:
        """See :meth:`ParityThread.send`."""
        self.current.send(slot, request)

    def then(self, callback: Callable[[], None]) -> None:
        """See :meth:`ParityThread.then`."""
        self.current.then(callback)


def _none(_: int) -> int:
    return 0
