"""What a scenario does as its load varies, in milliseconds: emulated between simulations, with the error of that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...model.core.errors import InputError
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample
from ..simulation.evaluator import Evaluator, Progress
from .emulator import Emulator, design
from .loads import Array

FIELDS = ("depth", "jobs", "read_share", "block_size")
"""Of a load, that may vary."""
_SECTOR = 4096
_REACH = 6.0
"""Lengths of an emulator that a range has: figures bend several times between its ends."""


class Emulated(NamedTuple):
    """A figure, and its error as a share (one standard deviation)."""

    value: float
    error: float


class LoadEmulator:
    """Rate of a scenario with another load.

    Parameters
    ----------
    scenario
        With a load.
    ranges
        Of :data:`FIELDS`, the least and the most.
    evaluator, progress
        Run the simulations.
    points
        How many there are: a power of two.
    seed
        Of the loads that are simulated.

    Raises
    ------
    InputError
        If the scenario has no load, or a field cannot vary or has no range.
    """

    def __init__(
        self,
        scenario: ScenarioSpec,
        ranges: Mapping[str, tuple[float, float]],
        evaluator: Evaluator,
        progress: Progress,
        points: int = 128,
        seed: int = 0,
    ) -> None:
        if not isinstance(scenario.workload, LoadSpec):
            raise InputError("workload", f"kind {scenario.workload.kind}", "expected: a load")
        for name, (low, high) in ranges.items():
            if name not in FIELDS or not low < high:
                raise InputError(name, f"{low:g} to {high:g}", f"expected: a range of {', '.join(FIELDS)}")
        self._scenario, self._evaluator = scenario, evaluator
        self._ranges = dict(ranges)
        loads = [self._at(row) for row in design(len(ranges), points, seed)]
        found = evaluator.run([self._with(load) for load in loads], Sample(), progress)
        rows = np.array([self._row(load) for load in loads])
        self._rate = Emulator(rows, np.log([each.served_iops for each in found]))

    @property
    def error(self) -> float:
        """Of the rate, at simulations that are left out of the fit."""
        return math.expm1(self._rate.error)

    def rate(self, **load: float) -> Emulated:
        """I/Os a second of a load; fields that vary have to be given."""
        return Emulated(float(np.exp(self._rate(self._row(load)[np.newaxis]))[0]), self.error)

    def simulated(self, **load: float) -> Prediction:
        """The same load simulated, to verify an answer."""
        return self._evaluator.run([self._with(load)], Sample())[0]

    def _at(self, row: Array) -> dict[str, float]:
        """The load at a point of the unit cube."""
        found = {}
        for share, (name, (low, high)) in zip(row.tolist(), self._ranges.items(), strict=True):
            if name == "read_share":
                found[name] = low + share * (high - low)
                continue
            step = _SECTOR if name == "block_size" else 1
            found[name] = min(max(round(low * (high / low) ** share / step) * step, low), high)
        return found

    def _row(self, load: Mapping[str, float]) -> Array:
        """Where a load is, in lengths of the emulator."""
        found = []
        for name, (low, high) in self._ranges.items():
            value = load[name]
            if not low <= value <= high:
                raise InputError(name, f"{value:g}", f"expected: {low:g} to {high:g}")
            even = (value - low) / (high - low) if name == "read_share" else math.log(value / low, high / low)
            found.append(_REACH * even)
        return np.array(found)

    def _with(self, load: Mapping[str, float]) -> ScenarioSpec:
        fields = {name: value if name == "read_share" else int(value) for name, value in load.items()}
        assert isinstance(self._scenario.workload, LoadSpec)
        workload = self._scenario.workload.model_copy(update=fields)
        return self._scenario.model_copy(update={"workload": workload})
