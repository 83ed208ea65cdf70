"""Users who wait for an answer, think, and ask again: the interactive system of queueing theory.

N users each send an I/O, wait R seconds for it, think Z seconds and send the next, so that together they send
X = N / (R + Z) a second (the interactive response time law: Denning and Buzen, "The operational analysis of queueing
network models", ACM Computing Surveys 10, 1978). One user is what fio does with ``thinktime`` and one I/O outstanding;
with more outstanding fio puts the whole job to sleep, while here every user thinks alone and has a thread of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..tasks.cpu import Cpu
from ..tasks.host import Host
from ..tasks.io_call_price import NO_PAGES, PageCosts
from .closed_load import ClosedLoad


class ThinkingLoad(ClosedLoad):
    """One program with `depth` users; everything else is that of :class:`~raidsim.model.loads.closed_load.ClosedLoad`.

    Thinking costs one event per I/O.

    Parameters
    ----------
    think
        How long each user thinks after an I/O (s), in the order of their completions.
    """

    __slots__ = ("_think", "_thinking")

    # Every parameter by its name: where both are compiled, mypyc gives the whole of a **mapping to the first of them.
    def __init__(
        self,
        engine: Engine,
        device: Device,
        *,
        think: Iterator[float],
        size: int,
        depth: int = 1,
        read_share: float = 1.0,
        sequential: bool = False,
        start: int = 0,
        span: int | None = None,
        issuer: int = 0,
        name: str = "load",
        ios: Iterator[tuple[int, int, int]] | None = None,
        batch: int = 1,
        submit_s: float = 0.0,
        complete_s: float = 0.0,
        wake_s: float = 0.0,
        cpu: Cpu | None = None,
        host: Host | None = None,
        fsync: int = 0,
        independent: bool = True,
        begin_s: float = 0.0,
        pages: PageCosts = NO_PAGES,
    ) -> None:
        super().__init__(
            engine,
            device,
            size=size,
            depth=depth,
            read_share=read_share,
            sequential=sequential,
            start=start,
            span=span,
            issuer=issuer,
            name=name,
            ios=ios,
            batch=batch,
            submit_s=submit_s,
            complete_s=complete_s,
            wake_s=wake_s,
            cpu=cpu,
            host=host,
            fsync=fsync,
            independent=independent,
            begin_s=begin_s,
            pages=pages,
        )
        self._think = think
        self._thinks = True
        self._thinking = 0

    @property
    def thinking(self) -> int:
        """Users who are thinking now."""
        return self._thinking

    def _next_wanted(self, now: float) -> None:
        """A user who has a result since `now` (s) begins to think."""
        self._thinking += 1
        at = now + next(self._think)
        engine_now = self._engine._now
        self._engine.call_at(at if at > engine_now else engine_now, self._thought)

    def _thought(self, _: Any) -> None:
        self._thinking -= 1
        self._wanted.append(self._engine._now)
        self._run()
