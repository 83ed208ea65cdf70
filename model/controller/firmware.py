"""The processor of a hardware RAID controller.

Firmware has no programs that interrupts overtake: commands, parity and drive completions are taken in the order in
which they come, so work waits for the work before it. A controller whose XOR keeps its processor busy therefore
answers commands late, which is how a slow processor caps the commands per second.
"""

from __future__ import annotations

from typing import ClassVar

from ..core.engine import Engine
from ..tasks.cpu import Cpu
from ..tasks.host import Host
from ..tasks.prices import FREE, Prices


class FirmwareCpu(Cpu):
    """Cores that serve firmware work first come, first served."""

    __slots__ = ()

    @property
    def free_for_kernel_from(self) -> float:
        """When the first core is free (s): all work is the firmware's."""
        return min(self._free)

    def interrupt(self, seconds: float, core: int | None = None) -> float:
        """Work of the firmware; returns the time (s) it is over, after what was asked of that core before."""
        self.busy_s += seconds
        self.kernel_s += seconds
        free = self._free
        if core is None:
            core = free.index(min(free)) if len(free) > 1 else 0
        now = self._engine._now
        finish = free[core] = (free[core] if free[core] > now else now) + seconds
        return finish


class Firmware(Host):
    """A controller's processor with its price list; the arrays behind the controller take it as their host.

    Parameters
    ----------
    engine
        The clock.
    name
        Shown in results ("controller cpu").
    prices
        What parity, member commands and copies cost; free by default.
    cores
        Cores that take commands, and parity work, side by side.
    """

    __slots__ = ()

    thread_an_array: ClassVar[bool] = False

    def __init__(self, engine: Engine, name: str, prices: Prices = FREE, cores: int = 1) -> None:
        super().__init__(FirmwareCpu(engine, cores, name), prices)
