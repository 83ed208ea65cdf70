"""Whom CPU time is charged to."""

from __future__ import annotations

from typing import Protocol

QUANTUM_S = 0.001
"""CPU time that a process may owe before it is charged: short calls are charged together."""


class Account(Protocol):
    """Whoever CPU time is spent for: a process of the simulated machine.

    Attributes
    ----------
    stream
        By which I/O schedulers know it.
    cpu_s
        CPU time spent so far (s).
    owed_s
        The part of it that the CPU has not been asked for yet; whoever waits for a device pays it first.
    """

    stream: int
    cpu_s: float
    owed_s: float
