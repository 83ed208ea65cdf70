"""Many simulations at once: in parallel, each distinct scenario only once, with progress.

Runs with the same scenario and sample give the same bits, so results are remembered by their content: a fit that
moves one parameter only repeats the runs that use it. Of a sample only the part counts that the run goes by, of a
kernel what it does, not what it is called, and of the prices of work those that the simulation has read. A mechanism
that is switched off (:mod:`raidsim.model.files.switches`) counts where the run has anything to do with it.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from types import TracebackType
from typing import Any, Self

from ...model.core.errors import InputError
from ...model.files.switches import now_off, switched_off
from ...model.kernels import KernelName
from ...model.kernels.catalogue import whole_kernel
from ...model.tasks.prices import Prices
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import DdSpec
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample, scale_for
from ...scenarios.running.simulate import simulate
from ...scenarios.workers.process_setup import interrupts_postponed
from ...scenarios.workers.worker_pool import WorkerPool
from .kept_results import KeptResults, Outcome
from .touched_runs import touched_by

Progress = Callable[[int, int], None]
ALL_PRICES = frozenset(each.name for each in fields(Prices))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A scenario to simulate.

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
    besides: str
    prices: Prices
    key: str

    @classmethod
    def of(cls, scenario: ScenarioSpec, sample: Sample) -> _Asked:
        """A scenario and what its result follows from."""
        without: dict[str, Any] = {"name": True, "kernel": True, "machine": {"cpu": {"prices": True}}}
        with interrupts_postponed():
            text = scenario.model_dump_json(exclude=without) + _kernel_text(scenario.kernel)
        touched = touched_by(scenario)
        besides = _hashed(text + repr(_sampled(scenario, sample)) + (repr(touched) if touched else ""))
        prices = scenario.machine.cpu.prices.prices()
        return cls(scenario, besides, prices, _hashed(besides + repr(prices)))

    def paid(self, read: Iterable[str]) -> tuple[float, ...]:
        """Some of its prices."""
        return tuple(getattr(self.prices, name) for name in sorted(read))


class _Results:
    """What is known of scenarios that differ in their prices only."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[tuple[frozenset[str], tuple[float, ...], Outcome]] = []

    @property
    def read(self) -> frozenset[str]:
        """Prices that any of them has read."""
        return frozenset().union(*(read for read, _, _ in self._found))

    def add(self, asked: _Asked, outcome: Outcome) -> None:
        """A result; a refusal may be due to any price."""
        read = frozenset(outcome.prices_read) if isinstance(outcome, Prediction) else ALL_PRICES
        self._found.append((read, asked.paid(read), outcome))

    def of(self, asked: _Asked) -> Outcome | None:
        """The result of a scenario: that of another one which has read the same prices, whatever the rest is."""
        return next((outcome for read, paid, outcome in self._found if asked.paid(read) == paid), None)


class Evaluator:
    """Runs scenarios on all cores.

    Parameters
    ----------
    workers
        Processes; 1 or 0 runs in this one. Default: the number of cores.
    kept
        Where results outlive this process.
    """

    def __init__(self, workers: int | None = None, kept: KeptResults | None = None) -> None:
        self.workers = (os.cpu_count() or 1) if workers is None else max(1, workers)
        self._pool: WorkerPool[str] | None = None
        self._known: dict[str, _Results] = {}
        self._kept = kept
        self._events: dict[str, int] = {}
        self.simulated = 0

    def forget(self) -> None:
        """Let go of all results, before scenarios that have nothing in common with those so far."""
        self._known.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close(at_once=kind is not None)

    def run(
        self, scenarios: Iterable[ScenarioSpec], sample: Sample, progress: Progress | None = None
    ) -> list[Prediction]:
        """Simulate all `scenarios`; results in their order.

        Raises
        ------
        InputError
            If the model refuses one of them.
        """
        predictions = []
        for outcome in self.outcomes(scenarios, sample, progress):
            if isinstance(outcome, InputError):
                raise outcome
            predictions.append(outcome)
        return predictions

    def outcomes(
        self, scenarios: Iterable[ScenarioSpec], sample: Sample, progress: Progress | None = None
    ) -> list[Outcome]:
        """The same, with the model's refusal in the place of a result that there is none of."""
        wanted = [_Asked.of(scenario, sample) for scenario in scenarios]
        while fresh := self._fresh(wanted):
            done = sum(self._known_outcome(asked) is not None for asked in wanted)
            if progress is not None:
                progress(done, len(wanted))
            for key, outcome in self._simulated(fresh, sample):
                self._learn(fresh[key], outcome)
                if isinstance(outcome, Prediction):
                    self._events[fresh[key].scenario.name] = outcome.events
                if self._kept is not None:
                    self._kept.add(key, outcome)
                done += 1
                if progress is not None:
                    progress(min(done, len(wanted) - 1), len(wanted))
        if progress is not None:
            progress(len(wanted), len(wanted))
        outcomes = [self._known_outcome(asked) for asked in wanted]
        return [outcome for outcome in outcomes if outcome is not None]

    def _fresh(self, wanted: Sequence[_Asked]) -> dict[str, _Asked]:
        """What to simulate next, by key: of those that should give the same, one.

        Which prices a run reads is known once it was simulated. So of scenarios that differ in their prices only, the
        first one goes ahead; then those in whose prices it has read something else.
        """
        first: dict[tuple[str, tuple[float, ...]], _Asked] = {}
        for asked in wanted:
            if not self._has(asked):
                known = self._known.get(asked.besides)
                first.setdefault((asked.besides, asked.paid(known.read if known is not None else ())), asked)
        return {asked.key: asked for asked in sorted(first.values(), key=lambda asked: self._place(asked.scenario))}

    def _known_outcome(self, asked: _Asked) -> Outcome | None:
        known = self._known.get(asked.besides)
        return None if known is None else known.of(asked)

    def _learn(self, asked: _Asked, outcome: Outcome) -> None:
        self._known.setdefault(asked.besides, _Results()).add(asked, outcome)
        self.simulated += 1

    def _place(self, scenario: ScenarioSpec) -> tuple[bool, float]:
        """Where a scenario stands among those to be simulated.

        What takes longest is begun first, so that no core waits for the last of them: programs, and of these, and the
        others, those that had the most events before.
        """
        return not isinstance(scenario.workload, ProgramsSpec), -self._events.get(scenario.name, math.inf)

    def _has(self, asked: _Asked) -> bool:
        """Whether a result is known; one that is kept counts as simulated, as it does where nothing was interrupted."""
        if self._known_outcome(asked) is not None:
            return True
        if self._kept is None or (outcome := self._kept.get(asked.key)) is None:
            return False
        self._learn(asked, outcome)
        return True

    def _simulated(self, scenarios: dict[str, _Asked], sample: Sample) -> Iterator[tuple[str, Outcome]]:
        """What each gives, as it gets done."""
        off = now_off()
        tasks = {key: (asked.scenario, sample, off) for key, asked in scenarios.items()}
        if self.workers <= 1 or len(tasks) < 2:
            return ((key, _attempt(task)) for key, task in tasks.items())
        if self._pool is None:
            self._pool = WorkerPool(self.workers)
        for key, task in tasks.items():
            self._pool.submit(key, _attempt, task, (Prediction, InputError))
        return self._pool.results()


def _attempt(task: tuple[ScenarioSpec, Sample, frozenset[str]]) -> Outcome:
    scenario, sample, off = task
    try:
        with switched_off(off):
            return simulate(scenario, sample)
    except InputError as refusal:
        return refusal


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def same_but_for(scenario: ScenarioSpec, other: ScenarioSpec, read: Iterable[str]) -> bool:
    """Whether two scenarios are alike in all but the prices that a simulation of one of them has not read."""
    one, another = scenario.machine.cpu.prices.prices(), other.machine.cpu.prices.prices()
    if any(getattr(one, name) != getattr(another, name) for name in read):
        return False
    cpu = other.machine.cpu.model_copy(update={"prices": scenario.machine.cpu.prices})
    return scenario == other.model_copy(update={"machine": other.machine.model_copy(update={"cpu": cpu})})


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
