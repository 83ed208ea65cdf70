"""Many simulations at once: in parallel, each distinct scenario only once, with progress.

Runs with the same scenario and sample give the same bits, so results are remembered by their content (:mod:`.asked`):
a fit that moves one parameter only repeats the runs that use it. Of the prices of work those count that the simulation
has read.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from types import TracebackType
from typing import Self

from ...model.core.errors import InputError
from ...model.files.switches import now_off, switched_off
from ...model.tasks.prices import Prices
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample
from ...scenarios.running.simulate import simulate
from ...scenarios.workers.process_setup import forget_finished
from ...scenarios.workers.worker_pool import WorkerPool
from .asked import Asked
from .kept_results import Failed, KeptResults, Outcome, Timed

Progress = Callable[[int, int], None]
_Task = tuple[ScenarioSpec, Sample, frozenset[str]]
ALL_PRICES = frozenset(each.name for each in fields(Prices))


class _Results:
    """What is known of scenarios that differ in their prices only."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[tuple[frozenset[str], tuple[float, ...], Outcome]] = []

    @property
    def read(self) -> frozenset[str]:
        """Prices that any of them has read."""
        return frozenset().union(*(read for read, _, _ in self._found))

    def add(self, asked: Asked, outcome: Outcome) -> None:
        """A result; a refusal may be due to any price."""
        read = frozenset(outcome.prices_read) if isinstance(outcome, Prediction) else ALL_PRICES
        self._found.append((read, asked.paid(read), outcome))

    def of(self, asked: Asked) -> Outcome | None:
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

    Attributes
    ----------
    simulated, events
        How many simulations there were, and of how many events.
    """

    def __init__(self, workers: int | None = None, kept: KeptResults | None = None) -> None:
        self.workers = (os.cpu_count() or 1) if workers is None else max(1, workers)
        self._pool: WorkerPool[str] | None = None
        self._known: dict[str, _Results] = {}
        self._kept = kept
        self._events: dict[str, int] = {}
        self.simulated = 0
        self.events = 0

    def forget(self) -> None:
        """Release all results, before scenarios that have nothing in common with those so far."""
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
        return results_of(self.outcomes(scenarios, sample, progress))

    def outcomes(
        self, scenarios: Iterable[ScenarioSpec], sample: Sample, progress: Progress | None = None
    ) -> list[Outcome]:
        """The same, with the model's refusal in the place of a result that there is none of."""
        return self.answers([Asked.of(scenario, sample) for scenario in scenarios], progress)

    def answers(self, wanted: Sequence[Asked], progress: Progress | None = None) -> list[Outcome]:
        """The same, of runs that may each have a sample of its own."""
        while fresh := self._fresh(wanted):
            done = sum(self._known_outcome(asked) is not None for asked in wanted)
            if progress is not None:
                progress(done, len(wanted))
            for key, timed in self._attempted(fresh, _attempt):
                assert not isinstance(timed.outcome, Failed)
                self._learn(fresh[key], timed.outcome)
                if isinstance(timed.outcome, Prediction):
                    self._events[fresh[key].scenario.name] = timed.outcome.events
                done += 1
                if progress is not None:
                    progress(min(done, len(wanted) - 1), len(wanted))
        if progress is not None:
            progress(len(wanted), len(wanted))
        outcomes = [self._known_outcome(asked) for asked in wanted]
        return [outcome for outcome in outcomes if outcome is not None]

    def each(self, wanted: Iterable[Asked]) -> Iterator[tuple[str, Timed]]:
        """Simulate runs, begun in their order, and yield the key and the result of each as it gets done.

        Equal runs are simulated once, and nothing is remembered. What ends one run, a fault of the model too, leaves
        the others alone.
        """
        fresh: dict[str, Asked] = {}
        for asked in {each.key: each for each in wanted}.values():
            timed = None if self._kept is None else self._kept.timed(asked.key)
            if timed is None:
                fresh[asked.key] = asked
            else:
                yield asked.key, timed
        yield from self._attempted(fresh, _attempt_or_failure)

    def _fresh(self, wanted: Sequence[Asked]) -> dict[str, Asked]:
        """What to simulate next, by key: of those that should give the same, one.

        Which prices a run reads is known once it was simulated. So of scenarios that differ in their prices only, the
        first one goes ahead; then those in whose prices it has read something else.
        """
        first: dict[tuple[str, tuple[float, ...]], Asked] = {}
        for asked in wanted:
            if not self._has(asked):
                known = self._known.get(asked.besides)
                first.setdefault((asked.besides, asked.paid(known.read if known is not None else ())), asked)
        return {asked.key: asked for asked in sorted(first.values(), key=lambda asked: self._place(asked.scenario))}

    def _known_outcome(self, asked: Asked) -> Outcome | None:
        known = self._known.get(asked.besides)
        return None if known is None else known.of(asked)

    def _learn(self, asked: Asked, outcome: Outcome) -> None:
        self._known.setdefault(asked.besides, _Results()).add(asked, outcome)
        self.simulated += 1
        self.events += outcome.events if isinstance(outcome, Prediction) else 0

    def _place(self, scenario: ScenarioSpec) -> tuple[bool, float]:
        """Where a scenario stands among those to be simulated.

        What takes longest is begun first, so that no core waits for the last of them: programs, and of these, and the
        others, those that had the most events before.
        """
        return not isinstance(scenario.workload, ProgramsSpec), -self._events.get(scenario.name, math.inf)

    def _has(self, asked: Asked) -> bool:
        """Whether a result is known; one that is kept counts as simulated, as it does where nothing was interrupted."""
        if self._known_outcome(asked) is not None:
            return True
        if self._kept is None or (outcome := self._kept.get(asked.key)) is None:
            return False
        self._learn(asked, outcome)
        return True

    def _attempted(self, runs: dict[str, Asked], attempt: Callable[[_Task], Timed]) -> Iterator[tuple[str, Timed]]:
        """What each gives, as it gets done."""
        off = now_off()
        tasks = {key: (asked.scenario, asked.sample, off) for key, asked in runs.items()}
        results: Iterator[tuple[str, Timed]]
        if self.workers <= 1 or len(tasks) < 2:
            results = ((key, attempt(task)) for key, task in tasks.items())
        else:
            if self._pool is None:
                self._pool = WorkerPool(self.workers)
            for key, task in tasks.items():
                self._pool.submit(key, attempt, task, (Timed,))
            results = self._pool.results()
        for key, timed in results:
            if self._kept is not None:
                self._kept.add(key, timed)
            yield key, timed


def _attempt(task: _Task) -> Timed:
    scenario, sample, off = task
    begun, worked = time.perf_counter(), time.process_time()
    outcome: Outcome
    try:
        with switched_off(off):
            outcome = simulate(scenario, sample)
    except InputError as refusal:
        outcome = refusal
    forget_finished()
    return Timed(outcome, time.process_time() - worked, time.perf_counter() - begun)


def _attempt_or_failure(task: _Task) -> Timed:
    try:
        return _attempt(task)
    except Exception as error:  # whatever ends one run must not take the others along
        return Timed(Failed(f"{type(error).__name__}: {error}"), 0.0, 0.0)


def results_of(outcomes: Iterable[Outcome]) -> list[Prediction]:
    """The predictions among outcomes that are all predictions.

    Raises
    ------
    InputError
        The first refusal of the model, if there is one.
    """
    predictions = []
    for outcome in outcomes:
        if isinstance(outcome, InputError):
            raise outcome
        predictions.append(outcome)
    return predictions


def same_but_for(scenario: ScenarioSpec, other: ScenarioSpec, read: Iterable[str]) -> bool:
    """Whether two scenarios are alike in all but the prices that a simulation of one of them has not read."""
    one, another = scenario.machine.cpu.prices.prices(), other.machine.cpu.prices.prices()
    if any(getattr(one, name) != getattr(another, name) for name in read):
        return False
    cpu = other.machine.cpu.model_copy(update={"prices": scenario.machine.cpu.prices})
    return scenario == other.model_copy(update={"machine": other.machine.model_copy(update={"cpu": cpu})})
