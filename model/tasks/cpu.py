"""The CPU: cores that programs and kernel threads compete for.

Programs ask for a run of CPU time and wait until they have had it. Interrupts and kernel threads
(block completions, raid5d) run ahead of programs, as the kernels modeled here do for a thread that
wakes up after sleeping; what they take delays the programs after them. Kernel work waits for the kernel
work before it on its core: a core never does more than a second of work in a second. A core is a server
that knows when it is free, so a run costs one event and an interrupt none.

A core without work falls into an idle state, the deeper the longer it has none, and takes time to wake up. An interrupt
for a program that stays on a core wakes that core (drivers/cpuidle/governors/menu.c: the deepest state whose target
residency is not above the time expected until the next interrupt; here that is the time until it comes). Waking up
uses no CPU time. Other work goes to a core that is awake.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapreplace
from typing import Any, Final

from mypy_extensions import mypyc_attr

from ..core.engine import Engine
from ..core.timed import Pause

QUANTUM_S: Final = 0.001
"""CPU time that a process may owe before it is charged: short calls are charged together."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Account:
    """Whoever CPU time is spent for: a process of the simulated machine.

    Parameters
    ----------
    issuer
        By which I/O schedulers know it.

    Attributes
    ----------
    cpu_s
        CPU time spent so far (s).
    owed_s
        The part of it that the CPU has not been asked for yet; whoever waits for a device pays it first.
    """

    __slots__ = ("cpu_s", "issuer", "owed_s")

    def __init__(self, issuer: int) -> None:
        self.issuer = issuer
        self.cpu_s = 0.0
        self.owed_s = 0.0


class Cpu:
    """One or more cores.

    Parameters
    ----------
    engine
        The clock.
    cores
        Number of cores.
    idle_states
        For each state the time (s) without work from which a core is in it, rising, and the time (s) it takes to wake
        up from it; none: a core wakes up in no time.

    Attributes
    ----------
    busy_s, kernel_s
        Time (s) used on all cores, and by the kernel alone.
    pinned_s
        Time used on each core by what stays on it.
    """

    __slots__ = ("_engine", "_free", "_idle_states", "_kernel", "_order", "busy_s", "kernel_s", "name", "pinned_s")

    def __init__(
        self, engine: Engine, cores: int = 1, name: str = "cpu", idle_states: tuple[tuple[float, float], ...] = ()
    ) -> None:
        if cores < 1:
            raise ValueError(f"{name}: {cores} cores; at least 1")
        self._engine = engine
        self.name = name
        self._free = [0.0] * cores
        self._idle_states = idle_states
        # When each core is through with its kernel work; not after `_free`.
        self._kernel = [0.0] * cores
        # The cores by when they are free, as a heap, as long as no work stays on one; None for a single core.
        self._order: list[tuple[float, int]] | None = [(0.0, core) for core in range(cores)] if cores > 1 else None
        self.start_statistics()

    def start_statistics(self) -> None:
        """Forget what was counted so far."""
        self.busy_s = self.kernel_s = 0.0
        self.pinned_s = [0.0] * len(self._free)

    @property
    def cores(self) -> int:
        """Number of cores."""
        return len(self._free)

    @property
    def free_from(self) -> float:
        """When the first core is free (s); not after now if one is."""
        return min(self._free)

    @property
    def free_for_kernel_from(self) -> float:
        """When the first core is through with its kernel work (s); not after now if one is."""
        return min(self._kernel)

    def free_on(self, core: int | None) -> float:
        """When that core is free (s), or the first of all."""
        return self.free_from if core is None else self._free[core]

    def run(self, seconds: float, core: int | None = None) -> Pause:
        """Use `seconds` of one core on behalf of a program; the event fires when it has had them.

        Kernel work that interrupts the run is paid for by the next run on that core. A program that stays on a
        `core` waits for that one, others take the first that is free.
        """
        self.busy_s += seconds
        now = self._engine._now
        return self._engine.pause(self._free[self._use(seconds, core, now)] - now)

    def run_then(self, seconds: float, core: int | None, then: Callable[[Any], object]) -> None:
        """Use `seconds` of one core as :meth:`run` does, and call ``then(event)`` after them."""
        self.busy_s += seconds
        now = self._engine._now
        # Added to now again, as the clock does for a timeout: that may round.
        self._engine.call_at(now + (self._free[self._use(seconds, core, now)] - now), then)

    def _use(self, seconds: float, core: int | None, now: float) -> int:
        """Keep a `core`, or the one that is free first, busy for so long from when it is; returns which."""
        free, order = self._free, self._order
        if core is not None:
            self._order = None
            self.pinned_s[core] += seconds
        elif order is not None:
            # The first in the heap is the one that min() and index() find.
            at, core = order[0]
            finish = free[core] = (at if at > now else now) + seconds
            heapreplace(order, (finish, core))
            return core
        else:
            core = free.index(min(free)) if len(free) > 1 else 0
        at = free[core]
        free[core] = (at if at > now else now) + seconds
        return core

    def spend(self, seconds: float, core: int | None = None) -> float:
        """Work of a program as :meth:`run` does it, without an event; returns when (s) it is over."""
        self.busy_s += seconds
        return self._free[self._use(seconds, core, self._engine._now)]

    def _awake_from(self, core: int, now: float) -> float:
        """When (s) a core that an interrupt reaches now can work."""
        idle_s = now - self._free[core]
        wakes_s = 0.0
        for after_s, wakes_in_s in self._idle_states:
            if idle_s < after_s:
                break
            wakes_s = wakes_in_s
        return now + wakes_s

    def book(self, seconds: float, core: int | None = None) -> float:
        """Work of a kernel thread that takes its turn as programs do, without an event; returns when (s) it is over.

        A thread that stays on a `core` waits for that one.
        """
        self.kernel_s += seconds
        return self.spend(seconds, core)

    def interrupt(self, seconds: float, core: int | None = None) -> float:
        """Kernel work ahead of programs, on a `core` or the one with least to do; returns the time (s) it is over.

        It begins at once, or when the core is through with the kernel work before it.
        """
        self.busy_s += seconds
        self.kernel_s += seconds
        now = self._engine._now
        if core is not None and self._idle_states:
            now = self._awake_from(core, now)
        core = self._use(seconds, core, now)
        begin = self._kernel[core]
        finish = self._kernel[core] = (begin if begin > now else now) + seconds
        return finish
