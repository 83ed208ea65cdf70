"""How long a dd on devices takes: its stages, from one moment to the next at which cells with one bit are full.

Cells with one bit (:mod:`raidsim.model.solid_state.bit_cache`) take far more than a measurement writes. How fast they
fill is measured; what is written once they are full is predicted from a drive on which they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...model.core.exact_sums import sum_in_order
from ..description.scenario import ScenarioSpec
from ..description.workloads import DdSpec
from ..machine.machine import BuiltMachine
from ..machine.observer import UNOBSERVED, Observer
from .base.bit_caches import fill, next_fill
from .base.run import Run
from .base.sample import Sample
from .base.supply import supply
from .dd_run import ReadRun, Write, WriteRun

_LONGER = 4
"""A sample that gives more than media and caches can give is repeated with this many times its bytes."""
_LONGER_SAMPLES = 2

Sampled = Callable[[Sample], tuple[Run, float]]
"""Predicts a dd from a sample: the run that takes longest, and how long (s) all of the dd takes."""


def dd_seconds(
    scenario: ScenarioSpec, dd: DdSpec, sample: Sample, watch: Callable[[Run], None], observer: Observer
) -> tuple[Run, float]:
    """Simulate a dd; the run of the part that takes longest, and how long (s) all of it takes."""
    total = dd.size * len(dd.targets)
    full: frozenset[str] = frozenset()
    stages: list[tuple[Run, float]] = []
    done = 0.0
    while True:
        stage, seconds = _possible(scenario, dd, sample, full, _sampled(scenario, dd, full, watch, observer))
        fills: dict[str, float] = {}
        if isinstance(stage, WriteRun):
            fills = stage.bit_caches.fill_after(stage.span * (stage.rate - stage.growth))
        following = next_fill({name: at for name, at in fills.items() if name not in full}, done, total)
        until = float(total) if following is None else following.at
        stages.append((stage, seconds * (until - done) / total))
        if following is None:
            return max(stages, key=lambda each: each[1])[0], sum_in_order(seconds for _, seconds in stages)
        done, full = until, full | following.drives


def _possible(
    scenario: ScenarioSpec, dd: DdSpec, sample: Sample, full: frozenset[str], sampled: Sampled
) -> tuple[Run, float]:
    """What a sample gives; of one that gives more than media and caches can give, what longer ones do."""
    bound, total = supply(scenario, dd.targets, dd.direction, full=full), dd.size * len(dd.targets)
    run, seconds = sampled(sample)
    for _ in range(_LONGER_SAMPLES):
        if bound.excess("dd", total, seconds) is None:
            break
        sample = replace(sample, read_bytes=_LONGER * sample.read_bytes, write_bytes=_LONGER * sample.write_bytes)
        run, seconds = sampled(sample)
    return run, seconds


def _sampled(
    scenario: ScenarioSpec, dd: DdSpec, full: frozenset[str], watch: Callable[[Run], None], observer: Observer
) -> Sampled:
    """Predicts the whole dd as if the cells with one bit of the drives in `full` were full from the start."""

    def built(closing: bool = False) -> BuiltMachine:
        machine = BuiltMachine(scenario, observer=UNOBSERVED if closing or full else observer)
        fill(machine, full)
        return machine

    def read(sample: Sample) -> tuple[Run, float]:
        run = ReadRun(built(), sample)
        watch(run)
        return run, run.run() * dd.size

    def write(sample: Sample) -> tuple[Run, float]:
        return Write(built, dd.size * len(dd.targets), sample, watch).seconds()

    return read if dd.direction == "read" else write
