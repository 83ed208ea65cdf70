"""A run that is asked for, and the hashes by which runs that give the same result are recognized.

Of a sample only the part counts that the run goes by, of a kernel what it does, not what it is called. A mechanism that
is switched off (:mod:`raidsim.model.files.switches`) counts where the run has anything to do with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...model.kernels import KernelName
from ...model.kernels.catalogue import whole_kernel
from ...model.tasks.prices import Prices
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import DdSpec
from ...scenarios.running.base.sample import Sample, scale_for
from ...scenarios.workers.process_setup import interrupts_postponed
from .touched_runs import touched_by


@dataclass(frozen=True, slots=True)
class Asked:
    """A scenario to simulate, and how much of it.

    Attributes
    ----------
    besides
        Hash of all that its result follows from, but for the prices of work.
    prices
        These.
    key
        Hash of everything.
    """

    scenario: ScenarioSpec
    sample: Sample
    besides: str
    prices: Prices
    key: str

    @classmethod
    def of(cls, scenario: ScenarioSpec, sample: Sample) -> Asked:
        """A scenario and what its result follows from."""
        without: dict[str, Any] = {"name": True, "kernel": True, "machine": {"cpu": {"prices": True}}}
        with interrupts_postponed():
            text = scenario.model_dump_json(exclude=without) + _kernel_text(scenario.kernel)
        touched = touched_by(scenario)
        besides = _hashed(text + repr(_sampled(scenario, sample)) + (repr(touched) if touched else ""))
        prices = scenario.machine.cpu.prices.prices()
        return cls(scenario, sample, besides, prices, _hashed(besides + repr(prices)))

    def paid(self, read: Iterable[str]) -> tuple[float, ...]:
        """Some of its prices."""
        return tuple(getattr(self.prices, name) for name in sorted(read))


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _kernel_text(name: KernelName) -> str:
    return whole_kernel(name).model_dump_json(exclude={"version"})


def _sampled(scenario: ScenarioSpec, sample: Sample) -> tuple[float, ...]:
    """What a scenario's kind of run takes from a sample."""
    workload = scenario.workload
    if isinstance(workload, ProgramsSpec):
        return (scale_for(scenario, sample),)
    if not isinstance(workload, DdSpec):
        return ()
    if workload.direction == "read":
        return (sample.read_bytes, sample.warm_up)
    return (sample.write_bytes, sample.cycles, sample.warm_up, sample.dirty_swing_bytes)
