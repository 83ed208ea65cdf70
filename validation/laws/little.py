"""Little's law (J. D. C. Little, Operations Research 9, 1961): population = throughput x response time.

And what a response time is made of: waits and services that add up to it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...model.core.exact_sums import sum_in_order
from ...scenarios.running.base.starvation import starved
from .law import Law, Violation
from .trial import Trial

TOLERANCE = 0.03
MOST_EDGE = 0.15
"""Share of the measurement that its longest I/O takes, up to which the ends say little."""
NANOSECOND = 1e-9
"""How far (s) the parts of a response time may be off in sum: what a latency is counted in."""


def _applies(trial: Trial) -> bool:
    load = trial.closed
    return load is not None and not load.fsync and trial.outcome.longest_s > 0


def _check(trial: Trial) -> Iterator[Violation]:
    load, found = trial.closed, trial.outcome.prediction
    assert load is not None
    outstanding = load.depth * load.jobs * len(load.targets)
    edge = trial.outcome.longest_s / found.measured_s
    iops = trial.outcome.iops
    thinking = iops * load.think_time
    present = sum_in_order(each["n"] * each["mean_s"] for each in found.latencies.values()) / found.measured_s
    response_s = outstanding / iops - load.think_time
    run = trial.outcome.run
    if starved(run.machine.loads, run.machine.engine.now, found.measured_s)[0]:
        if not any("starve" in note for note in found.notes):
            yield Violation("starvation", "no note says that I/Os starve", "a note: latencies leave those I/Os out")
        return
    if max(edge, response_s / found.measured_s) > MOST_EDGE or outstanding - thinking < MOST_EDGE * outstanding:
        return
    if abs(present + thinking - outstanding) > (TOLERANCE + edge) * outstanding:
        yield Violation(
            "response",
            f"{iops:,.6g} IOPS x {1e3 * present / iops:.4g} ms mean response = {present:.4g} I/Os",
            f"{outstanding - thinking:.4g} I/Os outstanding, so {1e3 * response_s:.4g} ms",
        )


LITTLE = Law(
    "little",
    "The I/Os that a closed load keeps outstanding are its throughput times the mean response time; with users who "
    "think, times response and think time together.",
    "loads of direct I/O with a depth, without fsync, measured for 7 times their longest I/O or more; of those with a "
    "job whose I/Os starve, a note must say it",
    "3 %, and the share of the measurement that the longest I/O takes: an I/O that is under way at one end counts in "
    "the population there and not in the latencies",
    _check,
    _applies,
)


def _accounted(trial: Trial) -> bool:
    return bool(trial.outcome.prediction.waits)


def _parts(trial: Trial) -> Iterator[Violation]:
    outcome = trial.outcome
    for load in outcome.run.machine.loads:
        for op, waits in (("read", load.waits.reads), ("write", load.waits.writes)):
            if waits.off_s > NANOSECOND:
                yield Violation("io", f"a {op} of {load.name} is off by {waits.off_s:.3g} s", "within a nanosecond")
    for op, times in outcome.prediction.waits.items():
        mean_s = outcome.prediction.latencies[op]["mean_s"]
        if abs(sum_in_order(times.values()) - mean_s) > NANOSECOND:
            yield Violation("mean", f"{op}s wait {sum_in_order(times.values()):.9g} s", f"their mean, {mean_s:.9g} s")


WAITS = Law(
    "waits",
    "The waits and services of an I/O add up to its response time.",
    "loads of direct I/O",
    "a nanosecond, which is what latencies are counted in",
    _parts,
    _accounted,
)
