"""A machine that is described, but for numbers that nobody has measured: simulated, and emulated between simulations.

Its parameters are those of a sensitivity analysis, with the same priors. Every load is simulated once as long as the
scenario says, and shortly on machines that fill the prior evenly; emulators of these give what any machine would do.
What a short run leaves out, such as a buffer that fills, is corrected by what one machine does in a long run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from scipy.special import ndtri

from ...model.core.errors import InputError
from ...model.files.description_errors import changed
from ...scenarios.description.scenario import ScenarioSpec, target_of
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample
from ...scenarios.sweeps.figure_values import figure_values
from ..sensitivity.parameters import default_parameters, with_factors
from ..simulation.evaluator import Evaluator, Progress
from ..simulation.kept_results import Outcome
from ..uncertainty.discrepancy import device_of, size_of_errors, with_queue
from ..uncertainty.model_interval import figure_kind
from .emulator import Emulator, design
from .loads import Array, BoxLoad, Columns
from .model import Parameter
from .network import Means
from .table import words

POINTS = 64
"""Machines that are simulated for each load: a power of two."""
_LEAST_LEFT = 3 / 8
"""Share of them that have to have an answer."""
_IOS, _SETTLING_IOS = 1500, 500
"""I/Os of a short run, and before it."""
_ROUNDS, _SETTLING_ROUNDS = 6, 2
"""The same as I/Os of each that is outstanding, if that is more."""
_MOST_SD = 2.5
"""Beyond it machines are not simulated."""
_KEPT = {"start", "span", "align", "engine", "independent", "warm_up", "duration", "precision"}
"""Fields of the scenario's own load that are kept: where it goes, how it asks, and how long it is measured."""

Evaluating = Callable[[], AbstractContextManager[tuple[Evaluator, Progress]]]
"""Opens what runs simulations, and shows how far they are."""


class DescribedMachine:
    """A model of a box whose description is known; see :class:`raidsim.calibration.learning.model.Model`.

    Parameters
    ----------
    scenario
        The machine. Of its workload, the target counts, and how long it is measured.
    loads
        That are simulated at once; others are when they are asked for.
    evaluating
        Runs simulations.
    seed
        Of the machines that fill the prior.
    points
        How many of these are simulated for each load: a power of two.

    Attributes
    ----------
    parameters
        Factors on the scenario's numbers.
    error
        What such machines were off in all studies, besides their parameters.
    own_error
        Of the emulators of `loads`, root mean square of logarithms.

    Raises
    ------
    InputError
        If the scenario goes to several devices, or cannot do a load.
    """

    def __init__(
        self,
        scenario: ScenarioSpec,
        loads: Sequence[BoxLoad],
        evaluating: Evaluating,
        seed: int = 0,
        points: int = POINTS,
    ) -> None:
        self._scenario = scenario
        self._target = target_of(scenario)
        self._evaluating = evaluating
        self._emulators: dict[BoxLoad, tuple[Emulator, Emulator | None]] = {}
        with evaluating() as (evaluator, progress):
            long = self._long(loads, evaluator)
            read = frozenset().union(*(each.prices_read for each in long.values()))
            self._uncertain = default_parameters(scenario, read)
            under = self._under(loads[0])
            kind = with_queue(figure_kind(under.workload), under)
            self.error = size_of_errors((device_of(under), kind))
            self.parameters = tuple(Parameter(each.words, 1.0, each.sd, "") for each in self._uncertain)
            self._sds: Array = np.array([each.sd for each in self._uncertain])
            even = np.clip(design(len(self._sds), points, seed), 1e-9, 1 - 1e-9)
            self._rows: Array = np.clip(ndtri(even), -_MOST_SD, _MOST_SD)
            self._emulate(long, evaluator, progress)
        errors = [each.error for pair in self._emulators.values() for each in pair if each is not None]
        self.own_error = float(np.sqrt(np.mean(np.square(errors))))

    def means(self, parameters: Array, loads: Columns) -> Means:
        """What the machine does; loads that have not been simulated are now."""
        wanted = loads.each()
        if new := [load for load in wanted if load not in self._emulators]:
            with self._evaluating() as (evaluator, progress):
                self._emulate(self._long(new, evaluator), evaluator, progress)
        rows = parameters / self._sds
        pairs = [self._emulators[load] for load in wanted]
        rate: Array = np.exp(np.stack([of_rate(rows) for of_rate, _ in pairs], -1))
        none = np.zeros(rows.shape[:-1])
        ratio: Array = np.exp(np.stack([none if of_ratio is None else of_ratio(rows) for _, of_ratio in pairs], -1))
        # Little's law: outstanding = rate * (share * read + (1 - share) * write).
        write = loads.outstanding / rate / (loads.read_share * ratio + 1 - loads.read_share)
        return Means(rate, write * ratio, write)

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of its hardware controllers."""
        return tuple(self._scenario.machine.controllers)

    def with_factors(self, factors: Sequence[float]) -> ScenarioSpec:
        """The scenario with the numbers of each parameter multiplied by its factor."""
        return with_factors(self._scenario, self._uncertain, factors)

    def _long(self, loads: Sequence[BoxLoad], evaluator: Evaluator) -> dict[BoxLoad, Prediction]:
        """The machine as it is described, as long as its scenario says."""
        distinct = list(dict.fromkeys(loads))
        found = evaluator.run([self._under(load) for load in distinct], Sample())
        return dict(zip(distinct, found, strict=True))

    def _under(self, load: BoxLoad, seconds: tuple[float, float] | None = None) -> ScenarioSpec:
        """The scenario with a load, and with the given times to settle and to measure, if any."""
        own = self._scenario.workload
        fields: dict[str, Any] = own.model_dump(include=_KEPT, exclude_none=True) if isinstance(own, LoadSpec) else {}
        fields |= {"kind": "load", "targets": [self._target], "pattern": "sequential" if load.sequential else "random"}
        fields |= {"block_size": int(load.block_size), "jobs": load.jobs, "depth": load.depth}
        fields |= {"read_share": load.read_share}
        if seconds is not None:
            fields.pop("precision", None)
            fields["warm_up"], fields["duration"] = seconds
        return changed(self._scenario, {"workload": fields})

    def _emulate(self, long: dict[BoxLoad, Prediction], evaluator: Evaluator, progress: Progress) -> None:
        """Simulate loads on all machines, and emulate what they give."""
        tasks: list[ScenarioSpec] = []
        at: list[tuple[BoxLoad, int]] = []
        machines = self._machines()
        for load, prediction in long.items():
            under = self._under(load, _seconds(load, prediction)).workload
            for row, machine in machines.items():
                tasks.append(machine.model_copy(update={"workload": under}))
                at.append((load, row))
        found: dict[BoxLoad, dict[int, Outcome]] = {load: {} for load in long}
        for (load, row), outcome in zip(at, evaluator.outcomes(tasks, Sample(), progress), strict=True):
            found[load][row] = outcome
        for load, prediction in long.items():
            self._emulators[load] = self._emulated(load, prediction, found[load])

    def _machines(self) -> dict[int, ScenarioSpec]:
        """Machines that can be by their row of the design; -1 is the one that is described."""
        found = {-1: self._scenario}
        for row, factors in enumerate(np.exp(self._rows * self._sds)):
            try:
                found[row] = with_factors(self._scenario, self._uncertain, factors.tolist())
            except InputError:  # there can be no such machine; too few are refused below
                continue
        return found

    def _emulated(
        self, load: BoxLoad, long: Prediction, outcomes: dict[int, Outcome]
    ) -> tuple[Emulator, Emulator | None]:
        given = {row: _logarithms(load, each) for row, each in outcomes.items() if isinstance(each, Prediction)}
        known = {row: values for row, values in given.items() if values is not None}
        whole, short = _logarithms(load, long), known.pop(-1, None)
        if whole is None or short is None or len(known) < _LEAST_LEFT * len(self._rows):
            found = f"{len(known)} of {len(self._rows)} machines have an answer for {words(load)}"
            expected = f"expected: {100 * _LEAST_LEFT:.0f} % of them, and the machine as it is described"
            raise InputError(self._scenario.name, found, expected)
        rows = self._rows[list(known)]
        values = np.array(list(known.values())) + (np.array(whole) - np.array(short))
        both = 0.0 < load.read_share < 1.0
        return Emulator(rows, values[:, 0]), Emulator(rows, values[:, 1]) if both else None


def _seconds(load: BoxLoad, long: Prediction) -> tuple[float, float]:
    """How long a short run settles and is measured: never longer than the long one was."""
    rate = long.served_iops
    settling = max(_SETTLING_IOS, _SETTLING_ROUNDS * load.outstanding) / rate
    return settling, min(long.seconds, max(_IOS, _ROUNDS * load.outstanding) / rate)


def _logarithms(load: BoxLoad, prediction: Prediction) -> tuple[float, float] | None:
    """Of the rate, and of the latency of reads over that of writes; None without any I/O of a kind that there is."""
    values = figure_values(prediction)
    rate = prediction.served_iops
    if not rate > 0:
        return None
    if not 0.0 < load.read_share < 1.0:
        return float(np.log(rate)), 0.0
    ends = [values.get(f"{op}_mean_seconds", 0.0) for op in ("read", "write")]
    if not min(ends) > 0:
        return None
    return float(np.log(rate)), float(np.log(ends[0] / ends[1]))
