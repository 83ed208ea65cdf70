"""How far a kernel thread is ahead of the programs of its core in CPU time: which of them runs when both could.

Linux's scheduler of 2.6.23 to 6.5 (CFS) compares the CPU time that tasks have used. A program that is woken preempts a
thread that has used a millisecond more. A task that sleeps falls behind by three milliseconds at most. The preempted
thread gives way at its next cond_resched (PREEMPT_VOLUNTARY). So a program that uses less CPU time than md's thread
runs after each pass of the thread, and one that uses about the same time runs when the thread sleeps. Source: Linux
6.1 kernel/sched/fair.c (wakeup_preempt_entity, place_entity; sysctl_sched_wakeup_granularity is 1 ms and
sysctl_sched_latency 6 ms on one core, half of which counts with GENTLE_FAIR_SLEEPERS).

Not modeled: a thread that has used less preempts the program that wakes it. Recorded requests of md are larger than
that would make them. Since 6.6 the scheduler compares deadlines (EEVDF), for which the model has the same rule.
"""

from __future__ import annotations

from typing import Final

from .cpu import Cpu

WAKEUP_GRANULARITY_S: Final = 0.001
"""A task that is woken preempts one that has used this much more CPU time (s)."""

SLEEPER_CREDIT_S: Final = 0.003
"""A task is at most this far behind the others (s), however long it has slept."""

_ROUNDING_S: Final = 1e-9
"""The CPU time of programs is the difference of two sums, which may round to less than it was before (s)."""


class FairShare:
    """One kernel thread and the programs of its core.

    Parameters
    ----------
    cpu
        Its cores; with several, raidsim assumes that a program uses the time of the average core.

    Attributes
    ----------
    runs_at
        When the thread runs that has been woken (s), unless a program is before it; negative while it sleeps.
    busy_until
        Until when it works inside its submissions (s).
    """

    __slots__ = ("_ahead_s", "_cpu", "_programs_s", "busy_until", "runs_at")

    def __init__(self, cpu: Cpu) -> None:
        self._cpu = cpu
        self._programs_s = 0.0
        self._ahead_s = 0.0
        self.runs_at = -1.0
        self.busy_until = 0.0

    def ran(self, seconds: float) -> None:
        """The thread has used `seconds` of CPU time; negative for time that a program has used inside the kernel."""
        cpu = self._cpu
        programs_s = cpu.busy_s - cpu.kernel_s
        since = self._programs_s
        if programs_s < since - _ROUNDING_S:  # the CPU's statistics have started again
            since = 0.0
        self._programs_s = programs_s
        ahead_s = self._ahead_s + seconds - (programs_s - since) / cpu.cores
        self._ahead_s = min(SLEEPER_CREDIT_S, max(-SLEEPER_CREDIT_S, ahead_s))

    @property
    def gives_way(self) -> bool:
        """Whether a program that is woken preempts the thread."""
        return self._ahead_s > WAKEUP_GRANULARITY_S

    @property
    def is_ahead(self) -> bool:
        """Whether a program that is woken at the same time as the thread runs first."""
        self.ran(0.0)
        return self._ahead_s > 0.0
