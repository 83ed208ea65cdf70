"""What a scenario does as its load varies, in milliseconds: emulated between simulations, with the error of that.

The black box of :mod:`.box` that is nearest to the simulations is the mean; a Gaussian process over loads is what is
left. Loads of which it is least sure are simulated next, until all are known well enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from ...model.core.errors import InputError
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample
from ..simulation.evaluator import Evaluator, Progress
from .box import BLACK_BOX
from .emulator import Emulator, design
from .loads import Array, BoxLoad, Columns

FIELDS = ("depth", "jobs", "read_share", "block_size")
"""Of a load, that may vary."""
_SECTOR = 4096
_REACH = 6.0
"""Lengths of an emulator that a range has: figures bend several times between its ends."""


_CANDIDATES = 512
"""Loads of which the next ones are chosen: a power of two."""
_AT_ONCE = 8
_APART = 1.0
"""Lengths between loads that are simulated at once."""
_NEAR = 0.03
"""What the black box may be off (ln) where that is as likely as parameters one standard deviation from the usual."""


_MEDIANS = np.log([each.median for each in BLACK_BOX.parameters])
_SDS = np.array([each.sd for each in BLACK_BOX.parameters])


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
        How many there are at first: a power of two.
    within
        Simulate more until the error is no more than this share of the rate at any load.
    most
        Simulations at most.
    seed
        Of the loads that are simulated.

    Attributes
    ----------
    simulated_loads
        How many there are.
    error
        Largest error of any load, as a share.

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
        points: int = 64,
        within: float = 0.03,
        most: int = 192,
        seed: int = 0,
    ) -> None:
        if not isinstance(scenario.workload, LoadSpec):
            raise InputError("workload", f"kind {scenario.workload.kind}", "expected: a load")
        if not ranges:
            raise InputError("ranges", "none", f"expected: a range of {', '.join(FIELDS)}")
        for name, (low, high) in ranges.items():
            if name not in FIELDS or not low < high:
                raise InputError(name, f"{low:g} to {high:g}", f"expected: a range of {', '.join(FIELDS)}")
        self._scenario = scenario
        self._ranges = dict(ranges)
        self._loads: list[dict[str, float]] = []
        self._logarithms: list[float] = []
        self._add([self._at(row) for row in design(len(ranges), points, seed)], evaluator, progress)
        others = [self._at(row) for row in design(len(ranges), _CANDIDATES, seed + 1)]
        while True:
            spreads = self._rate.spread(np.array([self._row(load) for load in others]))
            self.error = math.expm1(float(np.max(spreads)))
            if self.error <= within or len(self._loads) >= most:
                break
            more = self._least_known(others, spreads, min(_AT_ONCE, most - len(self._loads)))
            self._add(more, evaluator, progress)

    @property
    def simulated_loads(self) -> int:
        """How many there are."""
        return len(self._loads)

    def _add(self, loads: list[dict[str, float]], evaluator: Evaluator, progress: Progress) -> None:
        """Simulate loads, and fit the box and what is left."""
        found = evaluator.run([self._with(load) for load in loads], Sample(), progress)
        self._loads += loads
        self._logarithms += [math.log(each.served_iops) for each in found]
        rates, columns = np.array(self._logarithms), self._columns(self._loads)

        def off(deviations: Array) -> Array:
            return np.concatenate([(rates - self._mean(deviations, columns)) / _NEAR, deviations])

        self._box = least_squares(off, np.zeros(len(_SDS))).x
        rows = np.array([self._row(load) for load in self._loads])
        self._rate = Emulator(rows, rates - self._mean(self._box, columns))

    @staticmethod
    def _mean(deviations: Array, loads: Columns) -> Array:
        """Logarithms of rates of a black box, of parameters in standard deviations from the usual."""
        return np.asarray(np.log(BLACK_BOX.means(_MEDIANS + _SDS * deviations, loads).rate))

    def _columns(self, loads: list[dict[str, float]]) -> Columns:
        own = self._scenario.workload
        assert isinstance(own, LoadSpec)
        size = own.block_size if isinstance(own.block_size, int) else _SECTOR
        fixed = {"block_size": size, "jobs": own.jobs, "depth": own.depth, "read_share": own.read_share}
        each = [fixed | load for load in loads]
        order = own.pattern == "sequential"
        return Columns.of(
            [
                BoxLoad(load["block_size"], int(load["jobs"]), int(load["depth"]), load["read_share"], order)
                for load in each
            ]
        )

    def _least_known(self, loads: list[dict[str, float]], spreads: Array, count: int) -> list[dict[str, float]]:
        """Those with the largest error that are not close to each other."""
        chosen: list[int] = []
        rows = np.array([self._row(load) for load in loads])
        for at in np.argsort(-spreads).tolist():
            if all(np.linalg.norm(rows[at] - rows[other]) >= _APART for other in chosen):
                chosen.append(at)
            if len(chosen) == count:
                break
        return [loads[at] for at in chosen]

    def rate(self, **load: float) -> Emulated:
        """I/Os a second of a load, by milliseconds of work; fields that vary have to be given.

        Raises
        ------
        InputError
            If a field is missing, does not vary, or is out of its range.
        """
        row = self._row(load)[np.newaxis]
        value = self._mean(self._box, self._columns([load])) + self._rate(row)
        return Emulated(float(np.exp(value[0])), math.expm1(float(self._rate.spread(row)[0])))

    def simulated(self, evaluator: Evaluator, **load: float) -> Prediction:
        """The same load simulated, to verify an answer."""
        self._row(load)
        return evaluator.run([self._with(load)], Sample())[0]

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
        if set(load) != set(self._ranges):
            raise InputError("load", f"found {', '.join(load) or 'nothing'}", f"expected: {', '.join(self._ranges)}")
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
