"""A load with enough users to keep the devices always busy: what shows how much they serve of its mix of I/Os."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..description.any_workload import LoadsSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import MOST_OUTSTANDING, LoadSpec

_USERS_PER_DRIVE = 64
"""Users for every drive: twice the commands that a drive queues (NCQ), so that it always has some to choose from while
other users wait for md, and that users who wait for the bitmap share its writes as they do at a rate."""
_WARM_UP_S, _MEASURED_S = 3.0, 6.0
"""Of hard disks with so many users: at first all of them read, as writes take longer. A user's write takes 64 times the
6 commands of 8 ms that it is on RAID 6, about 3 s."""

_Loads = TypeVar("_Loads", LoadSpec, LoadsSpec)


def without_phases(load: _Loads) -> _Loads:
    """The load, or loads, of the longest part of the day, all day."""
    return max(load.parts(), key=lambda part: part[1])[2]


def as_much_as_it_takes(spec: ScenarioSpec, users_per_drive: int = _USERS_PER_DRIVE) -> ScenarioSpec:
    """The scenario's I/Os with enough users that no device is ever idle for lack of an I/O.

    The users are independent, as those of a load at a rate: a single thread would stop submitting whenever md blocks it
    for a write of its bitmap, and the array would be idle meanwhile. Of several loads the first one has these users.
    With fewer users than usual the run is shorter in the same proportion, as each of them waits for fewer others.
    """
    workload = spec.workload
    if isinstance(workload, LoadsSpec):
        workload = without_phases(workload)
        return kept_busy(spec, workload, (workload.loads[0].name,), users_per_drive)
    assert isinstance(workload, LoadSpec)
    load = without_phases(workload)
    return spec.model_copy(update={"workload": load.model_copy(update=_filled(load, spec, users_per_drive))})


def kept_busy(
    spec: ScenarioSpec, workload: LoadsSpec, names: Sequence[str], users_per_drive: int = _USERS_PER_DRIVE
) -> ScenarioSpec:
    """A scenario of several loads, in which the users of some of them (`names`) keep all devices busy."""
    loads = tuple(
        load.model_copy(update=_of_one(_filled(load, spec, users_per_drive))) if load.name in names else load
        for load in workload.loads
    )
    return spec.model_copy(update={"workload": workload.model_copy(update={"loads": loads})})


def _of_one(values: dict[str, object]) -> dict[str, object]:
    """The fields that one of several loads has; how long the run is, is said for all of them."""
    return {name: value for name, value in values.items() if name not in ("warm_up", "duration")}


def _filled(load: LoadSpec, spec: ScenarioSpec, users_per_drive: int) -> dict[str, object]:
    """The fields of a load that make it one of many users."""
    drives = spec.machine.drives.values()
    queues = load.jobs * len(load.targets)
    wanted = users_per_drive * max(1, len(drives))
    times: dict[str, object] = {}
    if load.precision is None and any(drive.entry().rotational for drive in drives):
        share = users_per_drive / _USERS_PER_DRIVE
        times = {
            "warm_up": max(load.warm_up, share * _WARM_UP_S),
            "duration": max(load.duration, share * _MEASURED_S),
        }
    depth = max(load.depth, min(-(-wanted // queues), MOST_OUTSTANDING // queues))
    return {
        "depth": depth,
        "independent": True,
        "think_time": 0.0,
        "iops": None,
        "total_iops": None,
        "arrivals": None,
        "phases": (),
        **times,
    }
