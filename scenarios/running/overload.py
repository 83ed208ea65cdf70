"""Open loads of which hardly anything is served: seen after a moment, so that nobody waits for the end of the run."""

from __future__ import annotations

from ..machine.machine import BuiltMachine
from ..machine.observer import UNOBSERVED
from .load_windows import LoadWindows

LOOK_S = 0.05
"""Simulated time between two looks during the warm-up."""
_HOPELESS_S = 0.1
"""Time after which an open load may be hopeless: no I/O that an idle machine serves takes longer."""
_HOPELESS_IOS = 4000
"""Backlog from which it may be."""
_HOPELESS_SHARE = 0.2
"""A load of which less than this share is served is hopeless. What makes the beginning slow, as bits of a bitmap that
are not yet set, costs a smaller factor."""


def may_end_early(machine: BuiltMachine) -> bool:
    """Whether there is no more to see than the loads: no rebuild, no drive that fails, no timeline."""
    beside = machine.resyncs or machine.delayed_resyncs or machine.spares or machine.scenario.failures
    return not beside and machine.observer is UNOBSERVED


def is_hopeless(windows: LoadWindows, now: float) -> bool:
    """Whether hardly any of the I/Os of an open load that have come were served.

    Parameters
    ----------
    windows
        Of the load.
    now
        Simulated time (s) since it began.
    """
    if not windows.is_open:
        return False
    backlog = windows.backlog
    served = windows.arrived - backlog
    return now >= _HOPELESS_S and backlog >= _HOPELESS_IOS and served < _HOPELESS_SHARE * windows.arrived
