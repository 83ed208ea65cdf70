"""I/Os at a given rate, however fast the device is: from one program (fio's rate_iops) or from independent users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.device import Device
from ..core.engine import Engine
from ..core.errors import ModelError
from ..tasks.cpu import Cpu
from .direct_load import BLOCK, DirectLoad, core_of


class OpenLoad(DirectLoad):
    """I/Os at a given rate, however fast the device is (fio's rate_iops).

    An I/O that is due waits while a thread submits another one, or while all cores are busy; if one thread submits all
    of them (`independent` is false), also until it is awake.

    Parameters
    ----------
    iops
        I/Os a second.
    poisson
        Whether the times between them are exponential, or all the same.
    gaps
        The times between them (s) instead (:mod:`raidsim.model.loads.arrivals`); the first is that before the first
        I/O.
    call_s
        CPU time (s) of the thread for an I/O: to submit it and to take its completion.
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
        "_call_s",
        "_core",
        "_cpu",
        "_due",
        "_free_s",
        "_pauses",
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
        independent: bool = False,
        begin_s: float = 0.0,
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
            if self._plugs:
                self._device.unplug()

    def _may_go_on(self, _: Any) -> None:
        """A core was to be free now, for a thread that has done its work."""
        self._waits = False
        self._send_due()

    def _awake(self) -> None:
        self._asleep = False
        self._send_due()
