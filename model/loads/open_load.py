"""I/Os at a given rate, however fast the device is: from one program (fio's rate_iops) or from independent users."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..core.request import Request
from ..tasks.cpu import Cpu
from ..tasks.io_call_price import NO_PAGES, PageCosts
from .direct_load import BLOCK, DirectLoad, LoadIo, core_of


class OpenLoad(DirectLoad):
    """I/Os at a given rate, however fast the device is (fio's rate_iops).

    An I/O that is due waits while all cores are busy; if one thread submits all of them (`independent` is false), also
    while that submits another one and until it is awake. Its response time is that from when it is due.

    Parameters
    ----------
    iops
        I/Os a second.
    poisson
        Whether the times between them are exponential, or all the same.
    gaps
        The times between them (s) instead (:mod:`raidsim.model.loads.arrivals`); the first is that before the first
        I/O.
    submit_s, complete_s
        CPU time (s) of the thread to submit an I/O, and to be woken for its completion and take it.
    pages
        What the size of an I/O adds to both.
    cpu
        What that time is spent on. None if an I/O costs no CPU time.
    begin_s
        When the first I/O may come, from now (s).

    Attributes
    ----------
    arrived
        I/Os that have come since the load exists; those that are not complete are its backlog.
    """

    __slots__ = (
        "_complete_s",
        "_core",
        "_cpu",
        "_due",
        "_pauses",
        "_submit_s",
        "_works",
        "arrived",
        "iops",
    )

    def __init__(
        self,
        engine: Engine,
        device: Device,
        *,
        size: int,
        iops: float,
        poisson: bool = True,
        read_share: float = 1.0,
        sequential: bool = False,
        start: int = 0,
        span: int | None = None,
        issuer: int = 0,
        name: str = "load",
        ios: Iterator[tuple[int, int, int]] | None = None,
        gaps: Iterator[float] | None = None,
        submit_s: float = 0.0,
        complete_s: float = 0.0,
        cpu: Cpu | None = None,
        fsync: int = 0,
        independent: bool = False,
        begin_s: float = 0.0,
        pages: PageCosts = NO_PAGES,
    ) -> None:
        super().__init__(
            engine,
            device,
            size=size,
            read_share=read_share,
            sequential=sequential,
            start=start,
            span=span,
            issuer=issuer,
            name=name,
            ios=ios,
            fsync=fsync,
            independent=independent,
            pages=pages,
        )
        if not iops > 0:
            raise ModelError(f"{name}: {iops} I/Os a second; more than 0")
        self.iops = iops
        self._submit_s = submit_s
        self._complete_s = complete_s
        self._cpu = cpu if submit_s or complete_s else None
        self._core = core_of(issuer, device, cpu)
        self._works = False
        # When (s) the I/Os were due that have come and are not submitted.
        self._due: deque[float] = deque()
        self.arrived = 0
        self._pauses = self._draw_pauses(poisson) if gaps is None else gaps
        engine.call_at(engine._now + begin_s + next(self._pauses), self._arrive)

    def _draw_pauses(self, poisson: bool) -> Iterator[float]:
        pause_s = 1.0 / self.iops
        while True:
            if poisson:
                yield from self._random.exponential(pause_s, BLOCK).tolist()
            else:
                yield pause_s

    def _arrive(self, _: Any) -> None:
        if self._stopped:
            return
        self._engine.call_at(self._engine._now + next(self._pauses), self._arrive)
        self._due.append(self._engine._now)
        self.arrived += 1
        self._send_due()

    def _send_due(self) -> None:
        while self._due and not self._asleep:
            if self._cpu is not None and self._submit_s:
                if not self._works:
                    self._works = self._users is None
                    self._cpu.run_then(self._submit_s + self._pages_ahead_s(1), self._core, self._submits)
                return
            self._send()

    def _submits(self, _: Any) -> None:
        """A thread has had the CPU time for an I/O."""
        self._works = False
        if self._due and not self._asleep:
            self._send()
        if self._users is None:
            self._send_due()

    def _send(self) -> None:
        self._submit(self._due.popleft())
        if self._plugs:
            self._device.unplug()

    def _awake(self) -> None:
        super()._awake()
        self._send_due()

    def done(self, request: Request) -> None:
        """Count an I/O that is complete, when the program has it."""
        assert isinstance(request, LoadIo)
        now = self._engine._now
        if self._cpu is not None and self._complete_s:
            seconds = self._complete_s + self._pages.completion_s(request.op, request.size)
            now = self._cpu.spend(seconds, self._core)
        self._count(request, now)
