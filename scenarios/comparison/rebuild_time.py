"""How long a rebuild takes beside the load: measured at three places of a hard disk, and integrated over all of it."""

from __future__ import annotations

from collections.abc import Callable

from ...model.layouts import LEVELS
from ..description.arrays import ResyncSpec
from ..description.scenario import ScenarioSpec
from ..description.workloads import LoadSpec
from ..machine.machine import BuiltMachine
from ..questions.load_curve import without_phases
from ..running.base.prediction import RebuildProgress
from ..running.base.run import Run
from ..running.base.sample import Sample
from ..running.load_run import LoadRun
from ..running.simulate import simulate
from .redundancy import Part, separate_parts

_PLACES = ((0.5 - 0.15**0.5, 5 / 18), (0.5, 8 / 18), (0.5 + 0.15**0.5, 5 / 18))
"""Shares of the way from the rim to the hub, and the weight of each (Gauss and Legendre, three points)."""
_WARM_UP_S = 0.5
_WRITTEN = 128 << 20
"""Bytes that a dd writes meanwhile: on old kernels the thread comes to its turn every few seconds only."""
_MEASURED_S = 3.0
"""md looks at its speed over windows of 3 s (SYNC_MARK_STEP in drivers/md/md.c)."""


def rebuild_time(spec: ScenarioSpec, watch: Callable[[Run], None] | None = None) -> float | None:
    """Time to rebuild one member beside the scenario's load (s), by simulation.

    A failed drive has been replaced, all others are well. Hard disks are faster outside than inside, so the rebuild is
    looked at in three places. Of several arrays the slowest counts.

    Parameters
    ----------
    spec
        The scenario; which members have failed in it, or will, makes no difference.
    watch
        Called with every run before it begins.

    Returns
    -------
    float or None
        Infinite if the rebuild stands still beside the load; None if no array has redundancy.
    """
    times = [_time(spec, name, watch) for name in rebuilt_arrays(spec)]
    return max(times, default=None)


def without_failures(spec: ScenarioSpec) -> ScenarioSpec:
    """The scenario with all members at work and no rebuild or check."""
    state: dict[str, object] = {"failed": (), "rebuilding": (), "resync": None}
    arrays = {name: array.model_copy(update=state) for name, array in spec.arrays.items()}
    return spec.model_copy(update={"arrays": arrays, "failures": ()})


def with_rebuild(spec: ScenarioSpec, name: str, position: int = 0) -> ScenarioSpec:
    """The scenario with only the last member of an array being rebuilt, `position` bytes from its beginning.

    Limits of the rebuild's speed that are set by hand stay.
    """
    limits = spec.arrays[name].resync or ResyncSpec()
    whole = without_failures(spec)
    array = whole.arrays[name]
    lost = array.members[-1:]
    resync = limits.model_copy(update={"action": "recover", "position": position})
    changed = array.model_copy(update={"failed": lost, "rebuilding": lost, "resync": resync})
    return whole.model_copy(update={"arrays": {**whole.arrays, name: changed}})


def rebuilt_arrays(spec: ScenarioSpec) -> list[str]:
    """Arrays that rebuild a drive, or an array without redundancy of its own."""
    return [
        name
        for name, array in spec.arrays.items()
        if LEVELS[array.level].is_redundant and not any(_redundant(member, spec) for member in array.members)
    ]


def _redundant(name: str, spec: ScenarioSpec) -> bool:
    if name in spec.volumes:
        return any(_redundant(device, spec) for device in spec.volumes[name].on)
    while name in spec.encrypted:
        name = spec.encrypted[name].on
    array = spec.arrays.get(name)
    return array is not None and (
        LEVELS[array.level].is_redundant or any(_redundant(member, spec) for member in array.members)
    )


def _time(spec: ScenarioSpec, name: str, watch: Callable[[Run], None] | None) -> float:
    """Integral of the time per byte over the member."""
    member = member_bytes(spec, name)
    # What is no steady load takes long until it shows the rebuild's pace, so one place must do; and flash has no zones.
    zoned = any(part.layout is None and spec.machine.drives[part.name].entry().rotational for part in _parts(spec))
    places = _PLACES if zoned and isinstance(spec.workload, LoadSpec) else ((0.5, 1.0),)
    total = 0.0
    for share, weight in places:
        progress = _progress(with_rebuild(spec, name, int(share * member)), watch)
        # What is over before it is measured took less than the warm-up.
        over = progress.position >= progress.total_bytes and not progress.rate
        total += weight * (_WARM_UP_S if over else progress.duration_s)
    return total


def _progress(spec: ScenarioSpec, watch: Callable[[Run], None] | None) -> RebuildProgress:
    """The rebuild of a scenario; a load is run only for as long as that takes to see."""
    workload = spec.workload
    if not isinstance(workload, LoadSpec):
        found = simulate(spec, Sample(write_bytes=_WRITTEN), watch).rebuilds
    else:
        brief = {"precision": None, "warm_up": _WARM_UP_S, "duration": _MEASURED_S}
        load = without_phases(workload).model_copy(update=brief)
        # Unlike simulate(), this does not mind if none of the load's I/Os comes in that time.
        run = LoadRun(BuiltMachine(spec.model_copy(update={"workload": load})), Sample())
        if watch is not None:
            watch(run)
        run.run()
        found = run.rebuilds()
    return next(each for each in found if each.action == "recover")


def member_bytes(spec: ScenarioSpec, name: str) -> int:
    """Bytes of a member that a rebuild of this array writes."""
    return int([part for part in _parts(spec) if part.name == name and part.is_redundant][-1].used_bytes)


def _parts(spec: ScenarioSpec) -> list[Part]:
    """Everything that the data are on, drives too."""
    return [part for top in separate_parts(spec) for part in top.all_parts()]
