"""Many simulations at once: in parallel, each distinct scenario only once, with progress.

Runs with the same scenario and sample give the same bits, so results are remembered by their content: a fit that
moves one parameter only repeats the runs that use it.
"""

from __future__ import annotations

import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self

from ..scenarios.prediction import Prediction
from ..scenarios.run import simulate
from ..scenarios.sample import Sample
from ..scenarios.scenario import ScenarioSpec

Progress = Callable[[int, int], None]


class Evaluator:
    """Runs scenarios on all cores.

    Parameters
    ----------
    workers
        Processes; 1 runs in this one. Default: the number of cores.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._pool: Executor | None = None
        self._known: dict[str, Prediction] = {}
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
            if kind is not None and issubclass(kind, KeyboardInterrupt):
                for child in active_children():  # what they simulate may take half a minute, and nobody wants it
                    child.terminate()
            self._pool.shutdown(wait=True, cancel_futures=True)

    def run(
        self, scenarios: Iterable[ScenarioSpec], sample: Sample, progress: Progress | None = None
    ) -> list[Prediction]:
        """Simulate all `scenarios`; results in their order."""
        wanted = list(scenarios)
        keys = [_key(scenario, sample) for scenario in wanted]
        fresh = {key: scenario for key, scenario in zip(keys, wanted, strict=True) if key not in self._known}
        done = len(wanted) - len(fresh)
        if progress is not None:
            progress(done, len(wanted))
        try:
            for key, prediction in zip(fresh, self._simulate(list(fresh.values()), sample), strict=True):
                self._known[key] = prediction
                self.simulated += 1
                done += 1
                if progress is not None:
                    progress(min(done, len(wanted)), len(wanted))
        except BrokenExecutor:
            self._pool = None  # a worker was killed; the next runs get new ones
            raise
        return [self._known[key] for key in keys]

    def _simulate(self, scenarios: list[ScenarioSpec], sample: Sample) -> Iterable[Prediction]:
        if self.workers == 1 or len(scenarios) < 2:
            return (simulate(scenario, sample) for scenario in scenarios)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _end_with_parent)
            with _interrupts_left_to_parent():
                return self._pool.map(simulate, scenarios, [sample] * len(scenarios))
        return self._pool.map(simulate, scenarios, [sample] * len(scenarios))


def _end_with_parent() -> None:
    """Begin a worker: it ends when its parent is gone, however that ended, also in the middle of a simulation."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), name="parent watch", daemon=True).start()


def _wait_and_end(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


@contextmanager
def _interrupts_left_to_parent() -> Iterator[None]:
    """Ctrl-C reaches the whole process group, but the parent alone acts on it.

    It is held back while processes are started: they are born with it held back, and stay so, also while they import.
    One that comes meanwhile reaches the parent when that is over.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _key(scenario: ScenarioSpec, sample: Sample) -> str:
    text = scenario.model_dump_json(exclude={"name"}) + repr(astuple(sample))
    return hashlib.sha256(text.encode()).hexdigest()
