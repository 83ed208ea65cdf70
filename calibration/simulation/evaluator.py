"""Many simulations at once: in parallel, each distinct scenario only once, with progress.

Runs with the same scenario and sample give the same bits, so results are remembered by their content: a fit that
moves one parameter only repeats the runs that use it. Of a sample only the part counts that the run goes by, and of a
kernel what it does, not what it is called.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import TracebackType
from typing import Self

from ...model.core.errors import InputError
from ...model.kernels import KernelName, kernel
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.running.prediction import Prediction
from ...scenarios.running.program_run import scale_for
from ...scenarios.running.sample import Sample
from ...scenarios.running.simulate import simulate
from ...scenarios.workers.process_setup import interrupts_postponed
from ...scenarios.workers.worker_pool import WorkerPool
from .kept_results import KeptResults, Outcome

Progress = Callable[[int, int], None]


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
        self._known: dict[str, Outcome] = {}
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
        wanted = list(scenarios)
        keys = [_key(scenario, sample) for scenario in wanted]
        fresh = {key: scenario for key, scenario in zip(keys, wanted, strict=True) if not self._has(key)}
        fresh = dict(sorted(fresh.items(), key=lambda item: self._place(item[1])))
        done = len(wanted) - len(fresh)
        if progress is not None:
            progress(done, len(wanted))
        for key, outcome in self._simulated(fresh, sample):
            self._known[key] = outcome
            self.simulated += 1
            if isinstance(outcome, Prediction):
                self._events[fresh[key].name] = outcome.events
            if self._kept is not None:
                self._kept.add(key, outcome)
            done += 1
            if progress is not None:
                progress(min(done, len(wanted)), len(wanted))
        return [self._known[key] for key in keys]

    def _place(self, scenario: ScenarioSpec) -> tuple[bool, float]:
        """Where a scenario stands among those to be simulated.

        What takes longest is begun first, so that no core waits for the last of them: programs, and of these, and the
        others, those that had the most events before.
        """
        return not isinstance(scenario.workload, ProgramsSpec), -self._events.get(scenario.name, math.inf)

    def _has(self, key: str) -> bool:
        """Whether a result is known; one that is kept counts as simulated, as it does where nothing was interrupted."""
        if key not in self._known and self._kept is not None and (outcome := self._kept.get(key)) is not None:
            self._known[key] = outcome
            self.simulated += 1
        return key in self._known

    def _simulated(self, scenarios: dict[str, ScenarioSpec], sample: Sample) -> Iterator[tuple[str, Outcome]]:
        """What each gives, as it gets done."""
        tasks = {key: (scenario, sample) for key, scenario in scenarios.items()}
        if self.workers <= 1 or len(tasks) < 2:
            return ((key, _attempt(task)) for key, task in tasks.items())
        if self._pool is None:
            self._pool = WorkerPool(self.workers)
        for key, task in tasks.items():
            self._pool.submit(key, _attempt, task, (Prediction, InputError))
        return self._pool.results()


def _attempt(task: tuple[ScenarioSpec, Sample]) -> Outcome:
    scenario, sample = task
    try:
        return simulate(scenario, sample)
    except InputError as refusal:
        return refusal


def _key(scenario: ScenarioSpec, sample: Sample) -> str:
    """Hash of all that a simulation's result follows from."""
    with interrupts_postponed():
        text = scenario.model_dump_json(exclude={"name", "kernel"}) + _kernel_text(scenario.kernel)
    return hashlib.sha256((text + repr(_sampled(scenario, sample))).encode()).hexdigest()


@cache
def _kernel_text(name: KernelName) -> str:
    return kernel(name).model_dump_json(exclude={"version"})


def _sampled(scenario: ScenarioSpec, sample: Sample) -> tuple[float, ...]:
    """What a scenario's kind of run takes from a sample."""
    workload = scenario.workload
    if isinstance(workload, ProgramsSpec):
        return (scale_for(scenario, sample),)
    if isinstance(workload, LoadSpec):
        return ()
    if workload.direction == "read":
        return (sample.read_bytes, sample.warm_up)
    return (sample.write_bytes, sample.cycles, sample.warm_up, sample.dirty_swing_bytes)
