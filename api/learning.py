"""Other loads in no time: of a box, from a few measurements of it, and of a scenario, from a few simulations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..calibration.learning.box import BLACK_BOX
from ..calibration.learning.described import DescribedMachine
from ..calibration.learning.load_emulator import Emulated, LoadEmulator
from ..calibration.learning.loads import BoxLoad, Measured
from ..calibration.learning.model import Model
from ..calibration.learning.next_job import CANDIDATES, FEW_CANDIDATES, NextJobs, next_jobs
from ..calibration.learning.posterior import SPREADS, Posterior, Prediction
from ..calibration.learning.posterior import learn as learn_box
from ..calibration.learning.reading import load_from, measurements
from ..calibration.learning.table import words
from ..calibration.learning.verify import Verified, verify
from ..calibration.simulation.evaluator import Evaluator, Progress
from ..model.core.errors import InputError
from ..scenarios.description.scenario import ScenarioSpec
from ..scenarios.documents.text import plain_text
from ..scenarios.documents.written import written
from .answer.tree import Answer
from .base import Value, within
from .scenario import Source, scenario_of
from .support.progress import progress_bar, progress_text
from .support.unfinished import evaluating
from .tables.learn import learned_answer

__all__ = ["BoxLoad", "EmulatedScenario", "LearnedBox", "emulate", "learn"]
MOST_NEXT = 20
_FIRST = 64
"""Simulations of an emulator at first."""
USUAL_LOADS = (
    *(BoxLoad(4096, 1, 1, share) for share in (1.0, 0.0)),
    *(BoxLoad(4096, 4, 32, share) for share in (1.0, 0.7, 0.0)),
    *(BoxLoad(1 << 20, 1, 8, share, sequential=True) for share in (1.0, 0.0)),
)
"""What data sheets of drives state, and a mix."""


class LearnedBox(Value):
    """What some measurements of a box tell of it.

    Attributes
    ----------
    measured
        The measurements: name, load, rate (I/Os a second), mean latencies (s).
    posterior
        Samples of all that the box may be.
    notes
        Measurements that were left out.
    machine
        The simulated machine, if the box was described.
    """

    schema = "raidsim.learned"

    def __init__(self, measured: Sequence[Measured], posterior: Posterior, notes: Sequence[str]) -> None:
        self.measured = tuple(measured)
        self.posterior = posterior
        self.notes = tuple(notes)
        model = posterior.observed.model
        self.machine = model if isinstance(model, DescribedMachine) else None

    def predict(self, *loads: str | BoxLoad) -> tuple[Prediction, ...]:
        """What is expected of loads.

        Parameters
        ----------
        *loads
            As ``"block_size=4KiB,jobs=16,depth=8,read_share=70%"`` or :class:`BoxLoad`.

        Returns
        -------
        tuple of Prediction
            ``rate`` (I/Os a second), ``read_mean`` and ``write_mean`` (s). Each lies with a probability of 90 % in
            ``rate_range``, ``read_range`` and ``write_range``. What a load does not do is None.

        Raises
        ------
        InputError
            If a load cannot be read.
        """
        return tuple(self.posterior.predict([_load(each) for each in loads])) if loads else ()

    def next_jobs(self, *asked: str | BoxLoad, count: int = 3) -> NextJobs:
        """The jobs that, measured next, would tell most.

        Parameters
        ----------
        *asked
            Loads whose rates are wanted; default: a grid of block sizes, depths and mixes.
        count
            How many jobs.
        """
        candidates = usual_candidates(self.machine is not None)
        loads = [_load(each) for each in asked] or candidates
        return next_jobs(self.posterior, loads, candidates, within("count", count, 1, MOST_NEXT))

    def verify(self, *files: str | PathLike[str]) -> Verified:
        """Compare new measurements with what was expected of them.

        Parameters
        ----------
        *files
            As :func:`learn` takes them.

        Returns
        -------
        Verified
            ``checks`` (each measured, predicted, inside or not), ``inside`` (their share) and ``moved``: parameters
            that explain what is outside.
        """
        return verify(self.posterior, measurements([Path(each) for each in files])[0])

    def parameters(self) -> tuple[dict[str, Any], ...]:
        """Every parameter: name, unit, median, and the factor between the median and an end of its 90 % range."""
        return tuple(
            {"name": name, "unit": unit, "median": float(np.exp(middle)), "factor": float(np.exp((high - low) / 2))}
            for (name, unit), low, middle, high in zip(
                [(each.name, each.unit) for each in self.posterior.observed.model.parameters]
                + [(name, "") for name in SPREADS],
                *np.quantile(self.posterior.samples, (0.05, 0.5, 0.95), axis=0),
                strict=True,
            )
        )

    def cards(self) -> str:
        """The controllers of a described machine with what was learnt of them, as the text of a file.

        A scenario that says ``extends: FILE`` has them. Every number that was learnt is its median.

        Raises
        ------
        InputError
            If no machine was described, or it has no hardware controller.
        """
        if self.machine is None or not self.machine.controllers:
            found = "no --machine" if self.machine is None else "a machine without a hardware controller"
            raise InputError("--card", found, "expected: --machine SCENARIO, with the card under machine.controllers")
        middle = np.exp(np.median(self.posterior.samples[:, : len(self.machine.parameters)], axis=0))
        cards = {}
        for name, instance in self.machine.with_factors(middle.tolist()).machine.controllers.items():
            numbers = written(instance.spec())
            cards[name] = written(instance) | {"overrides": {field: numbers[field] for field in instance.overrides}}
        return plain_text({"machine": {"controllers": cards}})

    def answer(
        self, asked: Sequence[str | BoxLoad] = (), jobs: NextJobs | None = None, verified: Verified | None = None
    ) -> Answer:
        """The answer as a tree.

        Parameters
        ----------
        asked
            Loads to predict; default: usual ones, unless they would have to be simulated.
        jobs
            Those to measure next, of :meth:`next_jobs`.
        verified
            A comparison with new measurements, of :meth:`verify`.
        """
        loads: list[BoxLoad] = [_load(each) for each in asked]
        if not loads and self.machine is None and verified is None:
            loads = list(USUAL_LOADS)
        return learned_answer(
            len(self.measured),
            None if self.machine is None else self.machine.own_error,
            self.parameters(),
            list(zip(map(words, loads), self.predict(*loads), strict=True)),
            jobs,
            verified,
            self.notes,
        )

    def _document(self) -> Mapping[str, Any]:
        return {
            "measured": [_shown(each) for each in self.measured],
            "parameters": self.parameters(),
            "notes": self.notes,
        }

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        return self.parameters()

    def __repr__(self) -> str:
        return f"LearnedBox(of {len(self.measured)} measurements)"


def _load(load: str | BoxLoad) -> BoxLoad:
    return load_from(load, "load") if isinstance(load, str) else load


def _shown(measured: Measured) -> dict[str, Any]:
    return {
        "name": measured.name,
        **measured.load._asdict(),
        **dict(zip(measured._fields[2:], measured[2:], strict=True)),
    }


def usual_candidates(described: bool) -> tuple[BoxLoad, ...]:
    """Jobs of which the next ones are chosen; each has to be simulated many times if the machine is described."""
    return FEW_CANDIDATES if described else CANDIDATES


def loads_in(*files: str | PathLike[str]) -> tuple[BoxLoad, ...]:
    """The loads of measurements, which :func:`learn` takes as `loads` before they are compared."""
    return tuple(each.load for each in measurements([Path(file) for file in files])[0])


def learn(
    *files: str | PathLike[str],
    machine: Source | None = None,
    loads: Sequence[str | BoxLoad] = (),
    seed: int = 0,
    workers: int | None = None,
    progress: bool = True,
) -> LearnedBox:
    """Learn from a few measurements what a box does with other loads.

    Nothing else needs to be known of it. Ten measurements of different block sizes, mixes, depths and jobs are a good
    start.

    Parameters
    ----------
    *files
        Tables in CSV (columns ``block_kib``, ``jobs``, ``depth``, ``read_percent``, ``direction``, ``iops``,
        ``mean_latency_us``), reports of fio in JSON, and folders of such reports.
    machine
        What is known of it: a :class:`Scenario`, a name of the library or a scenario file. Then its uncertain numbers
        are learnt, and simulations predict.
    loads
        That will be asked for: with a `machine` it takes less time to simulate them together.
    seed
        Of the samples.
    workers
        Processes that simulate; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress after a second.

    Returns
    -------
    LearnedBox
        Asked for more with `LearnedBox.predict`, `LearnedBox.next_jobs` and `LearnedBox.verify`.

    Raises
    ------
    InputError
        If a file is damaged, nothing was measured, the machine cannot be simulated, or emcee is not installed.
    """
    if not files:
        raise InputError(
            "MEASUREMENTS", "none", "expected: a table (.csv), a report of fio in JSON, or a folder of them"
        )
    measured, notes = measurements([Path(each) for each in files])
    model: Model = BLACK_BOX
    if machine is not None:
        wanted = [*(each.load for each in measured), *(_load(each) for each in loads)]
        spec = scenario_of(machine).spec
        model = DescribedMachine(spec, wanted, lambda: _simulating(spec, seed, workers, progress), seed)
    with progress_text("learning", progress):
        return LearnedBox(measured, learn_box(measured, model=model, seed=seed), notes)


class EmulatedScenario:
    """A scenario whose rate is known in milliseconds as its load varies.

    Attributes
    ----------
    simulations
        How many were run.
    error
        Largest error of the rate of any load, as a share (one standard deviation).
    """

    def __init__(self, emulator: LoadEmulator) -> None:
        self._emulator = emulator
        self.simulations = emulator.simulated_loads
        self.error = emulator.error

    def rate(self, **load: float) -> Emulated:
        """I/Os a second of a load.

        Parameters
        ----------
        **load
            A value of each field that varies: block size in bytes, share of reads as a fraction.

        Returns
        -------
        Emulated
            ``value``, and its ``error`` as a share (one standard deviation).

        Raises
        ------
        InputError
            If a field is missing, does not vary, or is out of its range.
        """
        return self._emulator.rate(**load)

    def simulated(self, **load: float) -> float:
        """I/Os a second of a load by simulation, to verify what :meth:`rate` says."""
        return self._emulator.simulated(Evaluator(0), **load).served_iops

    def __repr__(self) -> str:
        return f"EmulatedScenario({self.simulations} simulations, error {100 * self.error:.1f} %)"


def emulate(
    scenario: Source,
    ranges: Mapping[str, tuple[float, float]],
    *,
    within: float = 0.03,
    most: int = 192,
    seed: int = 0,
    workers: int | None = None,
    progress: bool = True,
) -> EmulatedScenario:
    """Simulate a scenario under some loads, to know its rate under all others in milliseconds.

    Parameters
    ----------
    scenario
        A :class:`Scenario` with a load, a name of the library or a scenario file. Its load says how long each
        simulation lasts, which should be long enough for a steady rate.
    ranges
        Least and most of each field that varies: ``depth``, ``jobs``, ``read_share`` (0 to 1), ``block_size`` (bytes).
    within
        Simulate more loads until the rate of each is known to this share (one standard deviation).
    most
        Simulations at most.
    seed
        Of the loads that are simulated.
    workers
        Processes that simulate; 0 is this one. Default: one per core. They make no difference to the results.
    progress
        If true, show progress after a second.

    Returns
    -------
    EmulatedScenario
        Asked with `EmulatedScenario.rate`, and verified with `EmulatedScenario.simulated`.

    Raises
    ------
    InputError
        If the scenario has no load, a field cannot vary, or scikit-learn is not installed.
    """
    spec, first = scenario_of(scenario).spec, min(_FIRST, most)
    with _simulating(spec, seed, workers, progress, "emulate") as (evaluator, follow):
        return EmulatedScenario(LoadEmulator(spec, ranges, evaluator, follow, first, within, most, seed))


@contextmanager
def _simulating(
    spec: ScenarioSpec, seed: int, workers: int | None, progress: bool, command: str = "learn"
) -> Iterator[tuple[Evaluator, Progress]]:
    with (
        evaluating(workers, command, spec.model_dump_json(), seed) as evaluator,
        progress_bar("simulating", shown=progress) as follow,
    ):
        yield evaluator, follow
