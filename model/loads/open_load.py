"""I/Os at a given rate, however fast the device is: from one program (fio's rate_iops) or from independent users."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..tasks.cpu import Cpu
from .direct_load import BLOCK, DirectLoad, core_of

_THREADS_APART: Final = 1 << 20
"""Distance between the issuer numbers of a load's threads; larger than the number of jobs."""


class OpenLoad(DirectLoad):
    """I/Os at a given rate, however fast the device is (fio's rate_iops).

    An I/O that is due waits while a thread submits another one, or while all cores are busy.

    Parameters
    ----------
    iops
        I/Os a second.
    independent
        If true, the I/Os come from independent users: while the block layer or md blocks the thread that submits one
        I/O, another thread submits the next. If false, one thread submits all of them, as in fio, and I/Os that are due
        wait until it is awake.
    poisson
        Whether the times between them are exponential, or all the same.
    gaps
        The times between them (s) instead (:mod:`raidsim.model.loads.arrivals`); the first is that before the first
        I/O.
    call_s
        CPU time (s) of the thread for an I/O: to submit it and to take its completion.
    cpu
        What that time is spent on. None if an I/O costs no CPU time.

    Attributes
    ----------
    arrived
        I/Os that have come since the load exists; those that are not complete are its backlog.
    """

    __slots__ = (
        "_awake_threads",
        "_call_s",
        "_core",
        "_cpu",
        "_due",
        "_first_issuer",
        "_free_s",
        "_independent",
        "_pauses",
        "_threads",
        "_waits",
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
        independent: bool = False,
        poisson: bool = True,
        read_share: float = 1.0,
        sequential: bool = False,
        start: int = 0,
        span: int | None = None,
        issuer: int = 0,
        name: str = "load",
        ios: Iterator[tuple[int, int, int]] | None = None,
        gaps: Iterator[float] | None = None,
        call_s: float = 0.0,
        cpu: Cpu | None = None,
        fsync: int = 0,
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
        )
        if not iops > 0:
            raise ModelError(f"{name}: {iops} I/Os a second; more than 0")
        self.iops = iops
        self._call_s = call_s
        self._cpu = cpu
        self._core = core_of(issuer, device, cpu)
        self._free_s = 0.0
        self._waits = False
        self._due = 0
        self._independent = independent
        self._threads = 1
        self._first_issuer = issuer
        self._awake_threads = [issuer]
        self.arrived = 0
        self._pauses = self._draw_pauses(poisson) if gaps is None else gaps
        engine.call_at(engine._now + next(self._pauses), self._arrive)

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
        self._due += 1
        self.arrived += 1
        self._send_due()

    def _send_due(self) -> None:
        cpu = self._cpu
        while self._due and not self._asleep:
            if cpu is not None:
                if self._waits:
                    return
                free_s = max(self._free_s, cpu.free_on(self._core))
                if free_s > self._engine._now:
                    self._waits = True
                    self._engine.call_at(free_s, self._may_go_on)
                    return
                self._free_s = cpu.spend(self._call_s, self._core)
            self._due -= 1
            self._submit()
            self._unplug()

    def _submit(self) -> None:
        if not self._independent:
            super()._submit()
            return
        awake = self._awake_threads
        while awake and self._falls_asleep(awake[-1]):
            awake.pop()
        if not awake:
            awake.append(self._first_issuer + self._threads * _THREADS_APART)
            self._threads += 1
        self._stream = awake[-1]
        self._device.submit(self._next())
        if self._falls_asleep(self._stream):
            awake.pop()

    def _falls_asleep(self, issuer: int) -> bool:
        """Whether the thread sleeps; it is used again when it is awake."""
        thread = self._sleepers.get(issuer) if self._sleepers else None
        if thread is None or not thread.sleeps:
            return False
        thread.backlog.append(partial(self._awake_threads.append, issuer))
        return True

    def _may_go_on(self, _: Any) -> None:
        """A core was to be free now, for a thread that has done its work."""
        self._waits = False
        self._send_due()

    def _awake(self) -> None:
        self._asleep = False
        self._send_due()
