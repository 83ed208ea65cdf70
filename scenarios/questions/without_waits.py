"""What I/Os spend most of their time on, and what a run gives without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...model.core.exact_sums import sum_in_order
from ..description.scenario import ScenarioSpec
from ..running.base.prediction import Prediction
from ..running.base.run import Run
from ..running.base.sample import Sample
from ..running.simulate import simulate
from .without_bottleneck import (
    BottleneckRemoved,
    WithoutBottleneck,
    faster_cpu,
    faster_drives,
    faster_words,
    without_bitmaps,
)

FIRST = 3
"""Causes that are taken away, one at a time."""
LEAST = 0.1
"""A cause with a smaller share of the time of all I/Os is not worth a run."""
_DRIVES = ("drive queue", "drive cache", "drive electronics", "seek", "rotational latency", "media transfer", "flash")
_CPU = ("CPU", "md thread")


@dataclass(frozen=True, slots=True)
class LongestWait:
    """What the I/Os spend much of their time on.

    Attributes
    ----------
    cause
        One of :data:`raidsim.model.waits.causes.CAUSES`.
    share
        Its share of the time of all I/Os, 0 to 1.
    """

    cause: str
    share: float


@dataclass(frozen=True, slots=True)
class WithoutWait:
    """What happens without a cause of waits.

    Attributes
    ----------
    waits
        The causes that the change takes away.
    without
        The change, and what the run gave.
    """

    waits: tuple[LongestWait, ...]
    without: WithoutBottleneck


def longest_waits(prediction: Prediction) -> list[LongestWait]:
    """What all I/Os together spend their time on, the longest first; empty if that is not known."""
    sums: dict[str, float] = {}
    for op, times in prediction.waits.items():
        for cause, seconds in times.items():
            sums[cause] = sums.get(cause, 0.0) + prediction.latencies[op]["n"] * seconds
    total = sum_in_order(sums.values())
    ranked = sorted(sums.items(), key=lambda each: -each[1])
    return [LongestWait(cause, seconds / total) for cause, seconds in ranked]


def run_without_waits(
    scenario: ScenarioSpec,
    prediction: Prediction,
    sample: Sample | None = None,
    watch: Callable[[Run], None] | None = None,
    known: WithoutBottleneck | None = None,
) -> list[WithoutWait]:
    """Run a scenario again without each of the `FIRST` causes of waits that can be taken away.

    Parameters
    ----------
    scenario, prediction
        What was run, and what it gave.
    sample, watch
        As for :func:`~raidsim.scenarios.running.simulate.simulate`.
    known
        The run without the bottleneck: where the change is the same, it is not simulated again.
    """
    together: dict[str, tuple[BottleneckRemoved, list[LongestWait]]] = {}
    for wait in longest_waits(prediction)[:FIRST]:
        changed = _without(scenario, wait.cause) if wait.share >= LEAST else None
        if changed is not None:
            together.setdefault(changed.what, (changed, []))[1].append(wait)
    found = []
    for each, waits in together.values():
        without = known
        if without is None or without.what != each.what:
            without = WithoutBottleneck(each.what, each.kind, simulate(each.scenario, sample, watch))
        found.append(WithoutWait(tuple(waits), without))
    return found


def _without(scenario: ScenarioSpec, cause: str) -> BottleneckRemoved | None:
    """The scenario without a cause of waits; None if it cannot be taken away alone."""
    if cause in _DRIVES:
        return BottleneckRemoved(faster_words(scenario), "busiest", faster_drives(scenario))
    if cause in _CPU:
        return BottleneckRemoved("the CPU without limit", "busiest", faster_cpu(scenario))
    arrays = scenario.arrays
    if cause == "write-intent bitmap":
        return without_bitmaps(scenario, sorted(name for name, array in arrays.items() if array.bitmap is not None))
    if cause == "journal":
        journaled = sorted(name for name, array in arrays.items() if array.journal is not None)
        return _changed(scenario, journaled, "no journal", {"journal": None})
    return None


def _changed(scenario: ScenarioSpec, names: list[str], words: str, values: dict[str, Any]) -> BottleneckRemoved:
    """The scenario with some arrays changed."""
    changed = {name: scenario.arrays[name].model_copy(update=values) for name in names}
    what = f"{words} for {' and '.join(names)}"
    return BottleneckRemoved(what, "busiest", scenario.model_copy(update={"arrays": {**scenario.arrays, **changed}}))
