"""A scenario that laws are checked on: it is simulated once, and so is each variant that a law needs.

A load is simulated as long as a law needs to say something about it. All I/Os outstanding must be served several times
before the measurement, so that their beginning does not count, and some twenty times within it, so that what is under
way at its ends is a small part. The time for that is estimated from the drives' own data, generously, and a law looks
at what was really complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...model.core.errors import InputError
from ...model.core.exact_sums import sum_in_order
from ...model.disk.spec import DriveSpec
from ...model.statistics.batch_means import Estimate
from ...scenarios.description.devices import Devices
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.documents.changes.positions import DocumentPositions
from ...scenarios.documents.document import Document
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.run import Run
from ...scenarios.running.load_run import LoadRun
from ...scenarios.running.simulate import simulate

NAME = "<scenario>"
MOST_EVENTS = 40_000
"""A measurement ends after this many events of the simulator: the laws need some hundred I/Os."""
LEAST_WINDOWS = 16
"""An interval needs batches."""
_WARM, _MEASURED = 3, 12
"""Times that all outstanding I/Os are served before and within the measurement."""
_LEAST_S = {True: 0.3, False: 2e-3}
_MOST_S = {True: 12.0, False: 0.15}
"""Least and most time of a measurement on hard disks (true) and on solid-state drives (false)."""
_FLASH_S, _IN_MEMORY_S = 100e-6, 5e-6
"""Time of a random I/O of a solid-state drive, about, and of a block device in memory."""
_AT_ONCE = 16
"""I/Os that a solid-state drive works on at once, about."""
_AMPLIFICATION = 2
"""Commands and bytes of the members for each one of the load, about."""


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


def differ(one: Estimate, other: Estimate, share: float) -> bool:
    """Whether one of two throughputs is clearly below a share of the other."""
    return clearly_below(one, other, share) or clearly_below(other, one, share)


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

    def stopped(self) -> Run | None:
        """The same simulated once more, whose loads send nothing from its end on; None if it is refused."""
        again = self.varied({})
        if again is None:
            return None
        for load in again.outcome.run.machine.loads:
            load.stop()
        return again.outcome.run

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


def measured_times(spec: ScenarioSpec) -> tuple[float, float]:
    """Warm-up and measurement (s), with two digits."""
    load = spec.workload
    assert isinstance(load, LoadSpec)
    devices = Devices.of(spec)
    below = {name for target in load.targets for name in devices.below(target)}
    drives = [spec.machine.drives[name].spec() for name in sorted(below) if name in spec.machine.drives]
    disks = [each for each in drives if isinstance(each, DriveSpec)]
    if disks:
        each_s = max(each.seek_average + 60.0 / each.rotation for each in disks)
        rate, at_once = len(drives) * min(each.inner_media_rate for each in disks), len(drives)
    else:
        flash = [each for each in drives if not isinstance(each, DriveSpec)]
        each_s = _IN_MEMORY_S if all(each.in_place for each in flash) else _FLASH_S
        rate, at_once = len(drives) * min(each.interface_rate for each in flash) / 2, len(drives) * _AT_ONCE
    if load.job_iops is not None:
        cycle_s = max(each_s, 1.0 / (load.job_iops * load.jobs * len(load.targets)))
    else:
        outstanding = load.depth * load.jobs * len(load.targets)
        bytes_s = _AMPLIFICATION * outstanding * max(map(max, load.sizes)) / rate
        served = 1.0 if load.pattern == "sequential" else max(1.0, _AMPLIFICATION * outstanding / at_once)
        cycle_s = max(bytes_s, each_s * served) + load.think_time
    least, most = _LEAST_S[bool(disks)], _MOST_S[bool(disks)]
    warm_up = min(max(_WARM * cycle_s, least / 2), most / 2)
    return float(f"{warm_up:.2g}"), float(f"{min(max(_MEASURED * cycle_s, least), most):.2g}")
