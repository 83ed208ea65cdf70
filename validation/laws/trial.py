"""A scenario that laws are checked on: it is simulated once, and so is each variant that a law needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.statistics.batch_means import Estimate
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.documents.changes.positions import DocumentPositions
from ...scenarios.documents.document import Document
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.run import Run
from ...scenarios.running.load_run import LoadRun
from ...scenarios.running.simulate import simulate
from .times import measured_times

NAME = "<scenario>"
MOST_EVENTS = 40_000
"""A measurement ends after this many events of the simulator: the laws need some hundred I/Os."""
LEAST_WINDOWS = 16
"""An interval needs batches."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a simulation gave.

    Attributes
    ----------
    prediction
        Its figures.
    run
        The run with the machine, after its end; the last one of several.
    """

    prediction: Prediction
    run: Run

    @property
    def ios(self) -> float:
        """I/Os that were complete within the measurement."""
        return sum_in_order(each["n"] for each in self.prediction.latencies.values())

    @property
    def iops(self) -> float:
        """I/Os per second."""
        return sum_in_order(self.prediction.iops.values())

    @property
    def longest_s(self) -> float:
        """The longest latency (s)."""
        return max((each["max_s"] for each in self.prediction.latencies.values()), default=0.0)

    @property
    def rate(self) -> Estimate:
        """Bytes per second, with the 90 % interval."""
        unknown = Estimate(self.prediction.rate, 0.0, 0.9, 0, 0.0, 0.0, False)
        return self.prediction.estimates.get("rate", unknown)


class _Enough:
    """Ends a measurement after `LEAST_WINDOWS` of its 64 windows and `MOST_EVENTS` events."""

    def __init__(self) -> None:
        self._windows = 0

    def __call__(self, run: Run) -> bool:
        self._windows += 1
        return self._windows >= LEAST_WINDOWS and run.machine.engine.scheduled_events > MOST_EVENTS


class Trial:
    """A scenario as a user writes it, and what it gives.

    Parameters
    ----------
    data
        The scenario as plain data. It is not changed.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.document = Document(NAME, dict(data), DocumentPositions(NAME, {}))

    @property
    def data(self) -> dict[str, Any]:
        """The scenario as plain data."""
        return self.document.data

    @cached_property
    def spec(self) -> ScenarioSpec:
        """The scenario with everything filled in; `InputError` if it is refused."""
        return self.document.spec()

    @property
    def load(self) -> LoadSpec | None:
        """The load of direct I/O; None if the workload is another one, or one with phases."""
        workload = self.spec.workload
        return workload if isinstance(workload, LoadSpec) and not workload.phases else None

    @property
    def closed(self) -> LoadSpec | None:
        """The load, if it keeps a number of I/Os outstanding."""
        load = self.load
        return load if load is not None and load.job_iops is None else None

    @cached_property
    def outcome(self) -> Outcome:
        """What the simulation gives; `InputError` if it is refused."""
        runs: list[Run] = []

        def begun(run: Run) -> None:
            runs.append(run)
            if isinstance(run, LoadRun):
                run.end_when(_Enough())

        prediction = simulate(self.spec, watch=begun)
        return Outcome(prediction, runs[-1])

    def varied(self, values: Mapping[str, Any]) -> Trial | None:
        """The scenario with other values by their dotted paths, None removes one; None if it is refused.

        It is measured as long as the laws need, and at least as long as this one.
        """
        try:
            changed = Trial(self.document.changed(values).data)
            load, mine = changed.load, self.load
            if load is None:
                return changed
            warm_up, duration = measured_times(changed.spec)
            if mine is not None and mine.precision is None:
                warm_up, duration = max(warm_up, mine.warm_up), max(duration, mine.duration)
            times = {"workload.warm_up": f"{warm_up:g}s", "workload.duration": f"{duration:g}s"}
            return Trial(changed.document.changed(times).data)
        except InputError:
            return None


def clearly_below(less: Estimate, more: Estimate, share: float) -> bool:
    """Whether a mean is below `share` of another one, and their 90 % intervals, doubled, do not explain it.

    Doubled intervals (about 3.3 standard deviations) leave one false alarm in a thousand comparisons or fewer. Without
    an interval nothing is clear.
    """
    spread = 2 * (less.half_width**2 + (share * more.half_width) ** 2) ** 0.5
    return bool(less.mean + spread < share * more.mean)
