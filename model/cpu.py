"""The CPU: cores that programs and kernel threads compete for.

Programs ask for a run of CPU time and wait until they have had it. Interrupts and kernel threads
(block completions, raid5d) run ahead of programs, as the kernels modelled here do for a thread that
wakes up after sleeping; what they take delays the programs after them. A core is a server that knows
when it is free, so a run costs one event and an interrupt none.
"""

from __future__ import annotations

from simpy.events import Event

from .engine import Engine


class Cpu:
    """One or more cores.

    Parameters
    ----------
    engine
        The clock.
    cores
        Number of cores.
    """

    __slots__ = ("_engine", "_free", "busy_s", "kernel_s", "name")

    def __init__(self, engine: Engine, cores: int = 1, name: str = "cpu") -> None:
        if cores < 1:
            raise ValueError(f"{name}: {cores} cores; at least 1")
        self._engine = engine
        self.name = name
        self._free = [0.0] * cores
        self.busy_s = 0.0
        self.kernel_s = 0.0

    @property
    def cores(self) -> int:
        """Number of cores."""
        return len(self._free)

    @property
    def free_from(self) -> float:
        """When the first core is free (s); not after now if one is."""
        return min(self._free)

    def run(self, seconds: float) -> Event:
        """Use `seconds` of one core on behalf of a program; the event fires when it has had them.

        Kernel work that interrupts the run is paid for by the next run on that core.
        """
        self.busy_s += seconds
        free = self._free
        core = free.index(min(free)) if len(free) > 1 else 0
        now = self._engine._now
        finish = (free[core] if free[core] > now else now) + seconds
        free[core] = finish
        return self._engine.timeout(finish - now)

    def interrupt(self, seconds: float) -> float:
        """Kernel work that runs at once, ahead of programs; returns the time (s) it is over."""
        self.busy_s += seconds
        self.kernel_s += seconds
        free = self._free
        core = free.index(min(free)) if len(free) > 1 else 0
        now = self._engine._now
        free[core] = (free[core] if free[core] > now else now) + seconds
        return now + seconds
