"""What I/Os cost besides the drives' time: CPU time and power."""

from __future__ import annotations

from collections.abc import Iterator

from ...scenarios.running.base.power import drive_power
from .law import Law, Violation
from .steps import larger_blocks
from .trial import Trial

GROWS = 0.9
"""Least CPU time of an I/O of twice the size, as a share of that of a single one."""
_LEAST_IOS = 200
_ROUNDING = 1e-6


def _cpu_s(trial: Trial) -> float:
    """CPU time (s) of one I/O."""
    run = trial.outcome.run
    return float(run.machine.cpu.busy_s) / max(1.0, trial.outcome.ios)


def _counts(trial: Trial) -> bool:
    return trial.load is not None and trial.outcome.ios > 0 and trial.spec.network is None


def _positive(trial: Trial) -> Iterator[Violation]:
    if _cpu_s(trial) <= 0:
        yield Violation("free", "an I/O costs no CPU time", "more than none")


def _grows_where(trial: Trial) -> bool:
    busy = any(array.resync or array.rebuilding for array in trial.spec.arrays.values())
    return _counts(trial) and not busy and not trial.spec.failures and larger_blocks(trial) is not None


def _grows(trial: Trial) -> Iterator[Violation]:
    other = trial.varied(larger_blocks(trial) or {})
    if other is None or min(trial.outcome.ios, other.outcome.ios) < _LEAST_IOS:
        return
    small, large = _cpu_s(trial), _cpu_s(other)
    if large < GROWS * small:
        yield Violation(
            "size", f"{1e6 * large:.4g} us of CPU time for an I/O of twice the size", f"{1e6 * small:.4g} us or more"
        )


def _power(trial: Trial) -> Iterator[Violation]:
    found = drive_power(trial.spec, trial.outcome.prediction.usages)
    if found.watts is None or found.idle_watts is None or found.active_watts is None:
        return
    slack = _ROUNDING * found.active_watts
    if not found.idle_watts - slack <= found.watts <= found.active_watts + slack:
        yield Violation(
            "power", f"the drives take {found.watts:.4g} W", f"{found.idle_watts:.4g} to {found.active_watts:.4g} W"
        )


CPU_TIME = Law(
    "cpu-time",
    "Every I/O costs CPU time.",
    "loads of direct I/O, without a network",
    "none",
    _positive,
    _counts,
)
CPU_GROWS = Law(
    "cpu-grows",
    "An I/O of twice the size costs as much CPU time or more.",
    "loads of direct I/O with a depth and blocks of one size, without a network",
    f"{1 - GROWS:.0%}: a thread that is always awake is woken less often",
    _grows,
    _grows_where,
    runs=1,
)
POWER = Law(
    "power",
    "The drives take no less power than idle ones and no more than busy ones.",
    "all scenarios",
    "rounding",
    _power,
    lambda trial: trial.outcome.run.span > 0,
)
