"""What would happen without the bottleneck: the same scenario with what limits taken away.

A link, a CPU or a controller's processor is made a thousand times as fast. That cannot be done to drives, which would
be no drives any more: they get mechanics ten times as fast (seeks, rotation, media rate), or flash and controller
(dies, channels, commands), and keep buffer and interface. Where no part limits and a load keeps its I/Os
outstanding, these are what limits, so there are four times as many of them. A load with its own pace (open) or does
one thing after the other (dd, programs) waits for its busiest part even so, and that is taken away. Of a lock of md the
answer is the next kernel that does not take it, or, as long as none does so, memory that cores share without delay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...model.kernels import kernel, kernel_names
from ...model.kernels.releases import later
from ...model.statistics.usage import (
    BITMAP,
    BITMAP_OF,
    CORE,
    DRIVES,
    HOST_MEMORY,
    LOCK,
    PLACES,
    PROGRAM,
    THREAD,
    Limit,
    Usage,
    limit,
)
from ..description.any_workload import LoadsSpec
from ..description.machine import DriveInstance
from ..description.network import CLIENTS_CPU, REQUESTS, THREADS
from ..description.scenario import ScenarioSpec
from ..description.workloads import MOST_OUTSTANDING, LoadSpec
from ..machine.lock_plan import POOL, LocksPlan
from ..machine.plan import machine_plan
from ..running.base.prediction import Prediction
from ..running.base.run import WRITER, Run
from ..running.base.sample import Sample
from ..running.simulate import simulate
from .without_limit import WITHOUT_LIMIT, owner, without_limit

FASTER_DRIVES = 10.0
"""How much faster the drives' mechanics get."""
MORE_OUTSTANDING = 4
"""How many times as many I/Os are outstanding where no part limits."""
SHORTER = 5.0
"""With faster drives the same number of I/Os takes less time; so much shorter is the run of a closed load."""

_MECHANICS_S = (
    "seek_track_to_track",
    "seek_average",
    "seek_full_stroke",
    "write_settle",
    "head_switch",
    "head_skew",
    "cylinder_skew",
)
_MECHANICS_RATES = ("rotation", "outer_media_rate", "inner_media_rate")
_FLASH_S = ("read_time", "program_time", "erase_time", "slc_read_time", "slc_program_time", "suspend_time")
_FLASH_RATES = ("channel_rate", "command_rate")
_PLACES = {"threads": THREADS, "depth": f"{REQUESTS} of each client"}
_CPUS = {"cpu": "the CPU", CLIENTS_CPU: "the clients' CPUs"}

MORE_THREADS = 8
"""Threads for the stripes of an array whose one thread limits."""

ChangeKind = Literal["limit", "busiest", "outstanding"]


@dataclass(frozen=True, slots=True)
class BottleneckRemoved:
    """A scenario without its bottleneck.

    Attributes
    ----------
    what
        What is other than before, in words: "link pci without limit".
    kind
        Whether that was saturated ("limit"), only the busiest part ("busiest"), or the I/Os outstanding.
    scenario
        The scenario with it.
    """

    what: str
    kind: ChangeKind
    scenario: ScenarioSpec


@dataclass(frozen=True, slots=True)
class WithoutBottleneck:
    """What happens without the bottleneck.

    Attributes
    ----------
    what, kind
        As in :class:`BottleneckRemoved`.
    prediction
        What the scenario gives without it.
    """

    what: str
    kind: ChangeKind
    prediction: Prediction

    @property
    def then(self) -> str:
        """What limits then, in words."""
        found = limit(busiest_phase(self.prediction).usages)
        if found is None:
            return "then nothing is busy"
        if found.saturated:
            return f"then limited by {found.words}"
        return f"then limited by {self.prediction.bottleneck}"


def run_without_bottleneck(
    scenario: ScenarioSpec,
    prediction: Prediction,
    sample: Sample | None = None,
    watch: Callable[[Run], None] | None = None,
) -> WithoutBottleneck | None:
    """Run a scenario without what limited it.

    Parameters
    ----------
    scenario, prediction
        What was run, and what it gave.
    sample, watch
        As for :func:`~raidsim.scenarios.running.simulate.simulate`.

    Returns
    -------
    WithoutBottleneck or None
        None if nothing was busy, or there cannot be more I/Os outstanding.
    """
    changed = remove_bottleneck(scenario, busiest_phase(prediction).usages)
    if changed is None:
        return None
    return WithoutBottleneck(changed.what, changed.kind, simulate(changed.scenario, sample, watch))


def busiest_phase(prediction: Prediction) -> Prediction:
    """Of a load with phases the one in which something was busiest; else the prediction itself."""

    def most(phase: Prediction) -> float:
        return max((usage.utilization for usage in phase.usages), default=0.0)

    return max(prediction.phases.values(), key=most, default=prediction)


def is_open(scenario: ScenarioSpec) -> bool:
    """Whether the load sends at its own pace, at least in one phase, so that a faster machine gives it no more."""
    workload = scenario.workload
    if isinstance(workload, LoadsSpec):
        return any(all(load.job_iops is not None for load in part.loads) for _, _, part in workload.parts())
    if not isinstance(workload, LoadSpec):
        return False
    return any(load.job_iops is not None for _, _, load in workload.parts())


def remove_bottleneck(scenario: ScenarioSpec, usages: Sequence[Usage]) -> BottleneckRemoved | None:
    """The scenario without what limits it, see :func:`run_without_bottleneck`."""
    found = limit(usages)
    if found is None:
        return None
    workload = scenario.workload
    if not found.saturated and isinstance(workload, LoadSpec) and not is_open(scenario):
        return _more_outstanding(scenario, workload)
    kind: ChangeKind = "limit" if found.saturated else "busiest"
    if found.parts[0].kind == PLACES:
        return _more_slots(scenario, found)
    layer = _encrypted_by(found.parts[0], scenario)
    if layer:
        return _without_workers(scenario, layer, found.parts[0])
    if found.parts[0].kind == LOCK:
        return _without_lock(scenario, found.parts[0])
    if found.parts[0].kind == BITMAP:
        # A part of a nested array has the bitmap of the whole.
        names = {part.name.removeprefix(BITMAP_OF).partition(".")[0] for part in found.parts}
        return without_bitmaps(scenario, sorted(names))
    if found.parts[0].kind in (CORE, PROGRAM):
        return BottleneckRemoved("the CPU without limit", "limit", faster_cpu(scenario))
    if found.parts[0].kind == THREAD:
        return _more_threads(scenario, found)
    if found.parts[0].kind in DRIVES:
        return BottleneckRemoved(faster_words(scenario), kind, faster_drives(scenario))
    return BottleneckRemoved(f"{_words(found)} without limit", kind, without_limit(scenario, found))


def _encrypted_by(part: Usage, scenario: ScenarioSpec) -> str:
    """The encrypted device of which a thread or a pool of workers limits; "" if none does."""
    if part.kind not in (LOCK, THREAD):
        return ""
    own = {name: (name, f"{WRITER} {name}", f"{POOL} {name}") for name in scenario.encrypted}
    return next((name for name, words in own.items() if part.name.partition(" on node ")[0] in words), "")


def _without_workers(scenario: ScenarioSpec, name: str, part: Usage) -> BottleneckRemoved:
    """Who else encrypts, or submits what is encrypted."""
    layer = scenario.encrypted[name]
    changes: dict[str, Any] = {"submit_from_crypt_cpus": True}
    if part.kind == LOCK:
        changes = {"same_cpu_crypt": True}
    elif layer.cipher is None:
        assert layer.rate is not None
        changes = {"rate": layer.rate * WITHOUT_LIMIT}
    words = f"{part.name} without limit" if "rate" in changes else f"{next(iter(changes))} of {name}"
    encrypted = {**scenario.encrypted, name: layer.model_copy(update=changes)}
    return BottleneckRemoved(words, "limit", scenario.model_copy(update={"encrypted": encrypted}))


def _words(found: Limit) -> str:
    names = sorted(part.name for part in found.parts)
    kind = found.parts[0].kind
    if kind == "cpu":
        return " and ".join(_CPUS[name] if name in _CPUS else f"the processor of {owner(name)}" for name in names)
    if kind == HOST_MEMORY:
        return kind
    return f"{kind} {names[0]}" if len(names) == 1 else f"{kind}s {', '.join(names)}"


def _more_outstanding(scenario: ScenarioSpec, workload: LoadSpec) -> BottleneckRemoved | None:
    factor = MORE_OUTSTANDING
    deepest = max([workload.depth, *(phase.depth or 1 for phase in workload.phases)])
    if factor * deepest * workload.jobs * len(workload.targets) > MOST_OUTSTANDING:
        return None
    phases = tuple(
        phase if phase.depth is None else phase.model_copy(update={"depth": factor * phase.depth})
        for phase in workload.phases
    )
    more = workload.model_copy(update={"depth": factor * workload.depth, "phases": phases})
    each = "" if workload.phases else f" (depth {more.depth:,})"
    what = f"{factor} times as many I/Os outstanding{each}"
    return BottleneckRemoved(what, "outstanding", scenario.model_copy(update={"workload": more}))


def without_bitmaps(scenario: ScenarioSpec, names: Sequence[str]) -> BottleneckRemoved:
    """The scenario without the bitmaps of these arrays."""
    arrays = {name: scenario.arrays[name].model_copy(update={"bitmap": None}) for name in names}
    what = f"no {BITMAP} for {' and '.join(names)}"
    return BottleneckRemoved(what, "limit", scenario.model_copy(update={"arrays": {**scenario.arrays, **arrays}}))


def _without_lock(scenario: ScenarioSpec, held: Usage) -> BottleneckRemoved:
    """The next kernel that does not take a lock of an array for the I/Os that take it now."""
    now = _taken_for(scenario, held)
    for name in later(scenario.kernel, [name for name in kernel_names() if name.startswith("linux-")]):
        newer = scenario.model_copy(update={"kernel": name})
        if not now & _taken_for(newer, held):
            return BottleneckRemoved(f"{name} instead of {scenario.kernel}", "limit", newer)
    cpu = scenario.machine.cpu
    times = {field: getattr(cpu, field) / WITHOUT_LIMIT for field in ("line_transfer", "far_line_transfer")}
    machine = scenario.machine.model_copy(update={"cpu": cpu.model_copy(update=times)})
    what = f"{held.name} without limit (cores that share memory without delay)"
    return BottleneckRemoved(what, "limit", scenario.model_copy(update={"machine": machine}))


def _taken_for(scenario: ScenarioSpec, held: Usage) -> set[str]:
    """What an array takes a lock of this name for: "reads", or else "writes" and "handles"."""
    found: set[str] = set()
    for plan in machine_plan(scenario).parts:
        if isinstance(plan, LocksPlan):
            taken = {"reads": plan.reads, "writes": plan.writes, "handles": plan.handles}
            found |= {use for use, specs in taken.items() if held.name in [plan.title(spec) for spec in specs]}
    return {"reads"} if "reads" in found else found


def _more_slots(scenario: ScenarioSpec, found: Limit) -> BottleneckRemoved | None:
    """More requests of each client, or more threads, for the load to use."""
    network = scenario.network
    assert network is not None
    known, more = network.spec(), {}
    for part in found.parts:
        if part.name.endswith(THREADS):
            more["threads"] = MORE_OUTSTANDING * (network.threads or known.threads)
        else:
            more["depth"] = MORE_OUTSTANDING * (network.depth or known.depth)
    if max(more.values()) > MOST_OUTSTANDING:
        return None
    what = " and ".join(f"{count:,} {_PLACES[field]}" for field, count in more.items())
    return BottleneckRemoved(what, "limit", scenario.model_copy(update={"network": network.model_copy(update=more)}))


def _more_threads(scenario: ScenarioSpec, found: Limit) -> BottleneckRemoved:
    """Several threads for arrays with a single one, or a CPU without limit where there are several already."""
    names = {_array_of(part.name, scenario) for part in found.parts}
    single = all(not scenario.arrays[name].group_thread_cnt for name in names)
    if not single or not kernel(scenario.kernel).raid5.worker_groups:
        return BottleneckRemoved("the CPU without limit", "limit", faster_cpu(scenario))
    more = {"group_thread_cnt": MORE_THREADS}
    arrays = {
        name: array.model_copy(update=more) if name in names else array for name, array in scenario.arrays.items()
    }
    what = f"{MORE_THREADS} threads for {' and '.join(sorted(names))} (group_thread_cnt)"
    return BottleneckRemoved(what, "limit", scenario.model_copy(update={"arrays": arrays}))


def _array_of(thread: str, scenario: ScenarioSpec) -> str:
    """The array whose stripes a thread handles: "md0" of "md0_raid5", and of "md0.1_raid5", a part of it."""
    part = thread.rpartition("_raid")[0]
    return max((name for name in scenario.arrays if part == name or part.startswith(f"{name}.")), key=len)


def faster_cpu(scenario: ScenarioSpec) -> ScenarioSpec:
    """The scenario with a CPU without limit."""
    return scenario.model_copy(update={"path_length": scenario.path_length / WITHOUT_LIMIT})


def faster_drives(scenario: ScenarioSpec) -> ScenarioSpec:
    """The scenario with drives that are `FASTER_DRIVES` times as fast."""
    machine = scenario.machine
    drives = {name: _faster(instance) for name, instance in machine.drives.items()}
    faster: dict[str, Any] = {"machine": machine.model_copy(update={"drives": drives})}
    workload = scenario.workload
    timed = scenario.failures or scenario.busy_arrays or is_open(scenario)
    if isinstance(workload, LoadSpec) and workload.precision is None and not timed:
        shorter = {"duration": workload.duration / SHORTER, "warm_up": workload.warm_up / SHORTER}
        faster["workload"] = workload.model_copy(update=shorter)
    return scenario.model_copy(update=faster)


def faster_words(scenario: ScenarioSpec) -> str:
    """What :func:`faster_drives` changes."""
    turn = {instance.entry().rotational for instance in scenario.machine.drives.values()}
    parts = {True: "seeks, rotation, media rate", False: "dies, channels, commands"}
    return f"drives ten times as fast ({'; '.join(parts[each] for each in sorted(turn, reverse=True))})"


def _faster(instance: DriveInstance) -> DriveInstance:
    spec = instance.spec()
    times, rates = (_MECHANICS_S, _MECHANICS_RATES) if spec.rotational else (_FLASH_S, _FLASH_RATES)
    values: dict[str, Any] = {name: getattr(spec, name) * FASTER_DRIVES for name in rates}
    for name in times:
        seconds = getattr(spec, name)
        if seconds is not None:
            values[name] = seconds / FASTER_DRIVES
    return instance.model_copy(update={"overrides": {**instance.overrides, **values}})
