"""The same programs with another load offered: so many I/Os a second, or as many as the device takes."""

from __future__ import annotations

from ..description.scenario import ScenarioSpec
from ..description.workloads import LONGEST_S, MOST_OUTSTANDING, LoadSpec

LEAST_IOS = 3000

_DEPTH_PER_DRIVE = 32
"""Outstanding I/Os for every drive: as many as a drive queues (NCQ), so that it always has some to choose from."""


def without_phases(load: LoadSpec) -> LoadSpec:
    """The load of the longest part of the day, all day."""
    return max(load.parts(), key=lambda part: part[1])[2]


def at_rate(spec: ScenarioSpec, iops: float) -> ScenarioSpec:
    """The scenario's I/Os at so many a second in all, whatever the device does.

    It is measured for as long as the load says, or longer if that would be too few I/Os for a 99th percentile.
    """
    load = _load(spec)
    duration = max(load.duration, min(LEAST_IOS / iops, LONGEST_S))
    values = {"depth": 1, "think_time": 0.0, "iops": None, "total_iops": iops, "duration": duration, "phases": ()}
    return spec.model_copy(update={"workload": load.model_copy(update=values)})


def as_much_as_it_takes(spec: ScenarioSpec) -> ScenarioSpec:
    """The scenario's I/Os with so many of them outstanding that nothing is ever idle for want of one."""
    load = _load(spec)
    queues = load.jobs * len(load.targets)
    wanted = _DEPTH_PER_DRIVE * max(1, len(spec.machine.drives))
    depth = max(load.depth, min(-(-wanted // queues), MOST_OUTSTANDING // queues))
    values = {
        "depth": depth,
        "think_time": 0.0,
        "iops": None,
        "total_iops": None,
        "arrivals": None,
        "phases": (),
    }
    return spec.model_copy(update={"workload": load.model_copy(update=values)})


def _load(spec: ScenarioSpec) -> LoadSpec:
    assert isinstance(spec.workload, LoadSpec)
    return without_phases(spec.workload)
