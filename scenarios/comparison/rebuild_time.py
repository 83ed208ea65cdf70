"""How long a rebuild takes under the load: measured at three places of a hard disk, and integrated over all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ...model.core.exact_sums import sum_in_order
from ...model.files.quantities import format_rate
from ...model.kernels import kernel
from ...model.layouts import LEVELS
from ...model.statistics.batch_means import ratio_estimate
from ...model.statistics.usage import Usage, limit
from ..description.any_workload import IdleSpec, LoadsSpec, Workload
from ..description.scenario import ScenarioSpec
from ..description.tuning import ResyncSpec
from ..description.workloads import LoadSpec
from ..machine.machine import BuiltMachine
from ..running.base.flash_state import with_states, writers
from ..running.base.prediction import RebuildProgress
from ..running.base.run import Run
from ..running.base.sample import Sample
from ..running.full_load import as_much_as_it_takes, kept_busy, without_phases
from ..running.idle_run import IdleRun
from ..running.load_run import LoadRun
from ..running.several_loads import SeveralLoadsRun
from ..running.simulate import simulate
from .redundancy import Part, separate_parts

_PLACES = ((0.5 - 0.15**0.5, 5 / 18), (0.5, 8 / 18), (0.5 + 0.15**0.5, 5 / 18))
"""Shares of the way from the rim to the hub, and the weight of each (Gauss and Legendre, three points)."""
_WARM_UP_S = 0.5
_WRITTEN = 128 << 20
"""Bytes that a dd writes meanwhile: on old kernels the thread comes to its turn every few seconds only."""
_MEASURED_S = 3.0
"""md looks at its speed over windows of 3 s (SYNC_MARK_STEP in drivers/md/md.c)."""
_LEAST_WINDOWS = 12
_MANY_IOS = 20_000
"""I/Os of the load before which a run does not end early: only those of fast drives do."""
_ABOUT_IOS = 25_000
"""I/Os of the load that show about how fast a rebuild is; at 100,000 IOPS that is a quarter of a second."""
_WELL_KNOWN = 0.02
"""Half-width of the 90 % interval of a pace that is known, as a share of it."""
_AT_LIMIT = 0.15
"""Share within which a rebuild is as fast as a md's limits: md naps for half a second, and a run is 3 s long."""
_AT_MOST = 0.25
"""The same for the upper limit: md naps each time it is reached, and a run of 3 s sees few naps."""
_SLOWED = 0.9
"""Share of the idle array's pace below which the load is what slows a rebuild down."""


@dataclass(frozen=True, slots=True)
class RebuildTimes:
    """The rebuild of one member: how long it takes, and what sets its pace.

    Attributes
    ----------
    idle_s, loaded_s
        Without any load, and under the scenario's load (s); the second is infinite if the rebuild stands still.
    idle_limit, loaded_limit
        What sets the pace of each, in words.
    starves
        Whether the load leaves the rebuild less than the least that md grants it (speed_limit_min), so that it does not
        finish under this load.
    means_s
        Mean latency (s) of the load's I/Os during the rebuild, by "read" and "write"; empty if more is sent than the
        devices take, and of other workloads than a load.
    reshape_s
        What is left of a reshape under the load (s); None of arrays that are not being reshaped.
    """

    idle_s: float
    loaded_s: float
    idle_limit: str
    loaded_limit: str
    starves: bool
    means_s: dict[str, float]
    reshape_s: float | None = None


def rebuild_times(spec: ScenarioSpec, watch: Callable[[Run], None] | None = None) -> RebuildTimes | None:
    """Rebuild one member without load and under the scenario's; parameters as of :func:`rebuild_time`.

    Returns
    -------
    RebuildTimes or None
        Of several arrays those of the slowest under the load; None if no array has redundancy.
    """
    found = [_times(spec, name, watch) for name in rebuilt_arrays(spec)]
    slowest = max(found, key=lambda each: each.loaded_s, default=None)
    reshaped = [name for name, array in spec.arrays.items() if array.resync is not None and array.resync.reshapes]
    left = [_reshape_s(spec, name, watch) for name in reshaped]
    return slowest if slowest is None or not left else replace(slowest, reshape_s=max(left))


def _reshape_s(spec: ScenarioSpec, name: str, watch: Callable[[Run], None] | None) -> float:
    """What is left of a reshape (s): looked at in three places of what holds data, and of what the array grows by.

    Behind the old data nothing is read, so the pace is another one there.
    """
    array = spec.arrays[name]
    tuned = array.resync
    assert tuned is not None
    begin = tuned.at if tuned.at is not None else tuned.position / max(1, member_bytes(spec, name))
    old, new = array.layouts([spec.capacity(member) for member in array.members])
    grows = min(1.0, old.capacity / new.capacity) if LEVELS[array.level].has_parity else 1.0
    total = 0.0
    for start, end in ((begin, grows), (max(begin, grows), 1.0)):
        for share, weight in _places(spec, (LoadSpec, LoadsSpec, IdleSpec)) if end > start else ():
            resync = tuned.model_copy(update={"at": start + share * (end - start), "position": 0})
            moved = array.model_copy(update={"resync": resync})
            here = spec.model_copy(update={"arrays": {**spec.arrays, name: moved}, "failures": ()})
            progress, _, _ = _progress(here, watch, None, "reshape")
            total += weight * (end - start) * progress.duration_s
    return total


def _times(spec: ScenarioSpec, name: str, watch: Callable[[Run], None] | None) -> RebuildTimes:
    idle = spec.model_copy(update={"workload": IdleSpec(kind="idle", targets=(name,)), "network": None})
    quiet, loaded = _time(idle, name, watch), _time(spec, name, watch)
    array, known = spec.arrays.get(name), kernel(spec.kernel).resync
    if array is None or array.controller is not None:
        slowed = loaded.seconds * _SLOWED > quiet.seconds
        limit_s = "the load" if slowed else quiet.pace
        return RebuildTimes(quiet.seconds, loaded.seconds, quiet.pace, limit_s, False, loaded.means_s)
    tuned = array.resync or ResyncSpec()
    least = known.speed_min if tuned.speed_min is None else tuned.speed_min
    most = known.speed_max if tuned.speed_max is None else tuned.speed_max
    member = member_bytes(spec, name)
    idle_rate, rate = member / quiet.seconds, member / loaded.seconds
    idle_limit = quiet.pace
    if idle_rate >= (1.0 - _AT_MOST) * most:
        idle_limit = f"speed_limit_max ({format_rate(most)})"
    loaded_limit = idle_limit
    starves = rate < (1.0 - _AT_LIMIT) * least
    if starves:
        loaded_limit = f"the load: less than speed_limit_min ({format_rate(least)}) is left"
    elif known.when_busy == "nap" and rate <= (1.0 + _AT_LIMIT) * least:
        # Since Linux 4.2 the thread waits for its own I/O instead, however slow it is then.
        loaded_limit = f"speed_limit_min ({format_rate(least)}), to which md slows it down beside a load"
    elif rate < _SLOWED * idle_rate:
        loaded_limit = "the load"
    return RebuildTimes(quiet.seconds, loaded.seconds, idle_limit, loaded_limit, starves, loaded.means_s)


def rebuild_time(
    spec: ScenarioSpec, watch: Callable[[Run], None] | None = None, *, about: bool = False
) -> float | None:
    """Time to rebuild one member under the scenario's load (s), by simulation.

    A failed drive has been replaced, all others are well. Hard disks are faster outside than inside, so the rebuild is
    looked at in three places. Of several arrays the slowest counts.

    Parameters
    ----------
    spec
        The scenario; which members have failed in it, or will, makes no difference.
    watch
        Called with every run before it begins.
    about
        If true, no more than 25,000 I/Os of the load are simulated for each array, and several loads at one place only:
        with eight NVMe drives at 100,000 IOPS the time is within a factor of two of the other.

    Returns
    -------
    float or None
        Infinite if the rebuild makes no progress under the load; None if no array has redundancy.
    """
    times = [_time(spec, name, watch, about).seconds for name in rebuilt_arrays(spec)]
    return max(times, default=None)


def without_failures(spec: ScenarioSpec) -> ScenarioSpec:
    """The scenario with all members at work and no rebuild or check."""
    return spec.with_each(lambda each: each.whole()).model_copy(update={"failures": ()})


def with_rebuild(spec: ScenarioSpec, name: str, done: float) -> ScenarioSpec:
    """The scenario with only the last member of an array or a pool being rebuilt, of which a share is done.

    Limits of the rebuild's speed that are set by hand stay.
    """
    whole = without_failures(spec)
    if name in spec.pools:
        return whole.model_copy(update={"pools": {**whole.pools, name: spec.pools[name].with_last_rebuilding(done)}})
    array = spec.arrays[name].with_last_rebuilding(int(done * member_bytes(spec, name)))
    return whole.model_copy(update={"arrays": {**whole.arrays, name: array}})


def rebuilt_arrays(spec: ScenarioSpec) -> list[str]:
    """Pools and arrays whose members are drives, or arrays that have no redundancy themselves."""
    pools = [
        name
        for name, pool in spec.pools.items()
        if pool.is_redundant and not any(_redundant(member, spec) for member in pool.members)
    ]
    return pools + [
        name
        for name, array in spec.arrays.items()
        if LEVELS[array.level].is_redundant and not any(_redundant(member, spec) for member in array.members)
    ]


def _redundant(name: str, spec: ScenarioSpec) -> bool:
    if name in spec.volumes:
        return any(_redundant(device, spec) for device in spec.volumes[name].on)
    while name in spec.encrypted or name in spec.caches:
        name = spec.encrypted[name].on if name in spec.encrypted else spec.caches[name].on
    array = spec.arrays.get(name)
    return array is not None and (
        LEVELS[array.level].is_redundant or any(_redundant(member, spec) for member in array.members)
    )


@dataclass(frozen=True, slots=True)
class _Paced:
    """Seconds that a rebuild takes, the part of the machine that sets its pace, and mean latencies meanwhile."""

    seconds: float
    pace: str
    means_s: dict[str, float] = field(default_factory=dict)


def _places(spec: ScenarioSpec, varied: tuple[type, ...]) -> tuple[tuple[float, float], ...]:
    """Where a rebuild is looked at, and the weight of each place.

    What is no steady load takes long until it shows the rebuild's pace, so one place must do; and flash has no zones.
    """
    zoned = any(not part.parts and spec.machine.drives[part.name].entry().rotational for part in _parts(spec))
    return _PLACES if zoned and isinstance(spec.workload, varied) else ((0.5, 1.0),)


def _time(spec: ScenarioSpec, name: str, watch: Callable[[Run], None] | None, about: bool = False) -> _Paced:
    """Integral of the time per byte over the member."""
    places = _places(spec, (LoadSpec, IdleSpec) if about else (LoadSpec, LoadsSpec, IdleSpec))
    total = 0.0
    words = ""
    found: list[dict[str, float]] = []
    for share, weight in places:
        rebuilding = with_rebuild(spec, name, share)
        progress, words, means_s = _progress(rebuilding, watch, _ABOUT_IOS if about else None)
        found.append(means_s)
        # What is over before it is measured took less than the warm-up.
        over = progress.position >= progress.total_bytes and not progress.rate
        total += weight * (_WARM_UP_S if over else progress.duration_s)
    means_s = {
        op: sum_in_order(weight * each[op] for (_, weight), each in zip(places, found, strict=True))
        for op in ("read", "write")
        if all(op in each for each in found)
    }
    return _Paced(total, words, means_s)


def _progress(
    spec: ScenarioSpec, watch: Callable[[Run], None] | None, most_ios: int | None, action: str = "recover"
) -> tuple[RebuildProgress, str, dict[str, float]]:
    """The rebuild of a scenario, what sets its pace, and a load's mean latencies (s)."""
    workload, means_s = spec.workload, dict[str, float]()
    if isinstance(workload, LoadSpec | LoadsSpec | IdleSpec):
        times = _times_of(workload, most_ios)
        run = _brief(spec, workload, times)
        if watch is not None:
            watch(run)
        run.run()
        if not isinstance(run, IdleRun) and run.hopeless:
            # The backlog of a load that is far too much takes long to simulate and does not change what the drives do.
            busy = _all_busy(spec, run)
            run = _brief(busy, busy.workload, times)
            run.run()
        elif isinstance(run, LoadRun) and not run.saturated:
            means_s = _means_s(run)
        found, words = run.rebuilds(), _pace(run.usages())
    else:
        prediction = simulate(spec, Sample(write_bytes=_WRITTEN), watch)
        found, words = prediction.rebuilds, _pace(prediction.usages)
    return next(each for each in found if each.action == action), words, means_s


def _means_s(run: LoadRun) -> dict[str, float]:
    """Mean latencies (s) of a load, by "read" and "write" where it has any."""
    known: dict[str, float] = {}
    for op in ("read", "write"):
        latencies = [getattr(load, f"{op}_latency") for load in run.machine.loads]
        count = sum([each.count for each in latencies])
        if count:
            known[op] = sum_in_order(each.count * each.mean for each in latencies if each.count) / count
    return known


def _pace(usages: Iterable[Usage]) -> str:
    """The part that sets the pace of a rebuild."""
    found = limit(usages)
    if found is None:
        return "nothing"
    return found.words if found.saturated else f"the latency of its own I/Os; busiest is {found.words}"


class _Known:
    """Sees when the pace of a rebuild beside many I/Os is known, long before the run's end.

    The thread's naps last half a second, so the pace of one that never pauses for a window of 47 ms is even.
    """

    def __init__(self) -> None:
        self._done = 0.0
        self._moved: list[float] = []

    def __call__(self, run: Run) -> bool:
        """Whether it is known; asked after every window."""
        span_s = run.machine.engine.now - run.began
        done = sum_in_order(each.rate * span_s for each in run.rebuilds() if each.action == "recover")
        self._moved.append(done - self._done)
        self._done = done
        if len(self._moved) < _LEAST_WINDOWS or min(self._moved) <= 0:
            return False
        if sum(load.reads + load.writes for load in run.machine.loads) < _MANY_IOS:
            return False
        return ratio_estimate(np.array(self._moved), np.ones(len(self._moved))).relative <= _WELL_KNOWN


def _all_busy(spec: ScenarioSpec, run: LoadRun | SeveralLoadsRun) -> ScenarioSpec:
    """The scenario with users who keep everything busy in place of the load that is far too much."""
    if isinstance(run, SeveralLoadsRun):
        return kept_busy(spec, run.workload, run.hopeless)
    return as_much_as_it_takes(spec)


def _times_of(workload: Workload, most_ios: int | None) -> dict[str, float]:
    """Warm-up and measurement of a few seconds, or of about `most_ios` of the load."""
    share = 1.0
    if most_ios is not None and isinstance(workload, LoadSpec) and workload.total_iops:
        share = min(1.0, most_ios / (workload.total_iops * (_WARM_UP_S + _MEASURED_S)))
    return {"warm_up": share * _WARM_UP_S, "duration": share * _MEASURED_S}


def _brief(spec: ScenarioSpec, workload: Workload, brief: dict[str, float]) -> LoadRun | SeveralLoadsRun | IdleRun:
    """A brief run; unlike simulate(), it does not mind if none of the load's I/Os comes in that time."""
    assert isinstance(workload, LoadSpec | LoadsSpec | IdleSpec)
    spec, _ = with_states(spec, writers(spec.workload))
    if isinstance(workload, IdleSpec):
        idle = workload.model_copy(update=brief)
        return IdleRun(BuiltMachine(spec.model_copy(update={"workload": idle})), idle)
    if isinstance(workload, LoadsSpec):
        # All of them at the same time: a rebuild takes longer than any load is there.
        loads = without_phases(workload).changed(begin=None, end=None)
        loads = loads.model_copy(update={**brief, "precision": None})
        return SeveralLoadsRun(
            BuiltMachine(spec.model_copy(update={"workload": loads})), loads, ends_early=True, enough=_Known()
        )
    load = without_phases(workload).model_copy(update={**brief, "precision": None})
    machine = BuiltMachine(spec.model_copy(update={"workload": load}))
    return LoadRun(machine, Sample(), ends_early=True, enough=_Known())


def member_bytes(spec: ScenarioSpec, name: str) -> int:
    """Bytes of a member that a rebuild of this array writes."""
    return int([part for part in _parts(spec) if part.name == name and part.is_redundant][-1].used_bytes)


def _parts(spec: ScenarioSpec) -> list[Part]:
    """Everything that the data are on, drives too."""
    return [part for top in separate_parts(spec) for part in top.all_parts()]
