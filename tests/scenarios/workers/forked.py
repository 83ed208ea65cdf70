"""Work for workers that says how they began; a module of its own, which the server imports."""

from __future__ import annotations

import os
import signal
import time

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

IMPORTED_BY = os.getpid()
"""The process that has imported this module."""


def origin(_: int) -> tuple[int, int, int]:
    """The process that does it, its parent, and the process that has imported this module."""
    return os.getpid(), os.getppid(), IMPORTED_BY


def holds_interrupts_back(_: int) -> bool:
    """Whether Ctrl-C is left to the parent."""
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def busy(seconds: float) -> float:
    """Use processor time (s)."""
    end_s = time.process_time() + seconds
    while time.process_time() < end_s:
        pass
    return seconds


def simulated(spec: ScenarioSpec) -> Prediction:
    """What a scenario's run gives."""
    return simulate(spec)
