"""The locks that md takes for each I/O of an array, in front of it.

Whoever submits spins until it has had each of them, in order, and only then is its I/O on its way. A core that spins
does nothing else: what other threads of it submit waits for it. What md takes when an I/O is complete (a counter that
goes down again, wake_up) is taken here, too: it is the same core that spins, and as often. An I/O that finds all of
them free costs no event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.device import Device, Wrapper
from ...core.engine import Engine
from ...core.request import READ, Request
from ...tasks.host import Host
from ...tasks.lock import Lock
from ...waits.causes import ARRAY_LOCK

Taken = tuple[Lock, float, int]
"""A lock, the time (s) that its holder computes, and the cache lines that move to it."""

SHORT_S = 1e-6
"""An I/O whose thread waits for less (s) is sent on at once, and only the thread pays. So a few cores that meet now and
then cost no event. At a ceiling waits are longer."""


class LockedArray(Wrapper):
    """An array behind its locks.

    Parameters
    ----------
    engine, host
        The clock, and whose threads submit.
    array
        What the I/Os go to.
    reads, writes
        What each read takes, and each write and discard, in order.

    Attributes
    ----------
    locks
        All of them.
    own
        If true, no other code takes them, so that a core that had them last and finds them free has them in its
        cache: it goes on without a look at each.
    """

    __slots__ = (
        "_behind",
        "_core",
        "_cores",
        "_engine",
        "_host",
        "_quiet_from",
        "_reads",
        "_spins_until",
        "_writes",
        "locks",
        "own",
    )

    def __init__(
        self, engine: Engine, host: Host, array: Device, reads: Sequence[Taken], writes: Sequence[Taken]
    ) -> None:
        super().__init__(array)
        self._engine = engine
        self._host = host
        self._cores = host.cpu.cores
        self._reads = list(reads)
        self._writes = list(writes)
        self.locks: list[Lock] = list(dict.fromkeys(lock for lock, _, _ in (*reads, *writes)))
        self.own = True
        self._core = -1
        self._quiet_from = 0.0
        # Until when (s) each core spins, and what waits behind that, with the time (s) at which it came.
        self._spins_until = [0.0] * self._cores
        self._behind: dict[int, deque[tuple[Request, float]]] = {}

    def submit(self, request: Request) -> None:
        """Pass a request on when its thread has had the locks."""
        now, issuer = self._engine._now, request.issuer
        core = issuer % self._cores
        if core == self._core and now >= self._quiet_from and self.own:
            self.device.submit(request)
            return
        if self._spins_until[core] > now:
            request.submitted = now
            self._behind.setdefault(core, deque()).append((request, now))
            return
        at = self._take(request, core, now)
        if at == now:
            self.device.submit(request)
            return
        self._host.stalled_issuer = issuer
        self._host.stalled_until = at
        if at - now < SHORT_S:
            self.device.submit(request)
            return
        request.submitted = now
        self._spin(request, core, now, at)

    def _take(self, request: Request, core: int, now: float) -> float:
        """Take the locks from `now` (s) on; returns when the core has had them all."""
        for lock, hold_s, lines in self._reads if request.op == READ else self._writes:
            now = lock.take(core, now, hold_s, lines)
            free = lock.free_from
            if free > self._quiet_from:
                self._quiet_from = free
        self._core = core
        return now

    def _spin(self, request: Request, core: int, came: float, until: float) -> None:
        self._spins_until[core] = until
        self._engine.call_at(until, partial(self._spun, request, core, came))

    def _spun(self, request: Request, core: int, came: float, _: Any) -> None:
        """The core has had the locks for a request that came at `came` (s), and turns to those behind it."""
        self._pass_on(request)
        request.submitted = came
        behind = self._behind.get(core)
        if behind is None:
            return
        now = self._engine._now
        while behind:
            request, came = behind.popleft()
            at = self._take(request, core, now)
            if at > now:
                self._host.cpu.spend(at - now, core)
                self._spin(request, core, came, at)
                return
            self._pass_on(request)
            request.submitted = came
        del self._behind[core]

    def _pass_on(self, request: Request) -> None:
        """Submit a request whose thread has waited for the locks."""
        request.mark(ARRAY_LOCK, self._engine._now)
        self.device.submit(request)
