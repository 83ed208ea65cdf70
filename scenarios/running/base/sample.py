"""How much of a long, steady run is simulated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...description.devices import Devices
from ...description.file_systems import LEAST_BYTES
from ...description.machine import LEAST_MEMORY
from ...description.programs import ProgramsSpec
from ...description.scenario import ScenarioSpec
from .supply import supply

_CACHES = 16
"""The caches of drives and controllers are not scaled. The files of each step are at least this many times their sum,
so that what caches take in or give again is as small a part of them."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How much of a long, steady run is simulated.

    Attributes
    ----------
    read_bytes
        Bytes per reading program that are measured.
    write_bytes
        Bytes per writing program that are measured at least; more where caches below are larger (:mod:`.dd_run`).
    cycles
        Cycles of the I/O scheduler that a write is measured over at least.
    warm_up
        What comes before the measurement, as a share of it.
    dirty_swing_bytes
        Where a kernel writes back in large swings (2.4 from 30 down to 20 % of memory), they are cut to this. It
        sets how long one swing takes, not the mean, as long as it is several times the drives' buffers.
    scale
        Programs on files run at this fraction of their sizes, counts and memory; None: as `program_bytes` says.
    scales
        The scales of workloads that are compared on several machines: see :func:`with_common_scales`.
    program_bytes, least_memory_bytes
        Programs are simulated at the smallest scale (a power of two) at which they move no more than the first, unless
        memory would get smaller than the second, or memory or files too small compared with the caches of drives.
    """

    read_bytes: int = 64 << 20
    write_bytes: int = 12 << 20
    cycles: int = 3
    warm_up: float = 0.25
    dirty_swing_bytes: int = 16 << 20
    scale: int | None = None
    scales: tuple[tuple[str, int], ...] = ()
    program_bytes: int = 2 << 30
    least_memory_bytes: int = 48 << 20


def most_scale(scenario: ScenarioSpec) -> int:
    """The largest scale that leaves memory and file systems large enough to work."""
    machine = scenario.machine
    devices = Devices.of(scenario)
    rooms = [spec.size or devices.capacity(spec.on) - spec.start for spec in scenario.file_systems.values()]
    return min((machine.memory - machine.resident) // LEAST_MEMORY, *(room // LEAST_BYTES for room in rooms))


def scale_for(scenario: ScenarioSpec, sample: Sample) -> int:
    """The scale of a run of programs: 1, or the power of two that keeps it within what `sample` allows."""
    if sample.scale is not None:
        return sample.scale
    given = dict(sample.scales).get(_programs(scenario))
    return given if given is not None else _scale(sample, [scenario])


def with_common_scales(sample: Sample, scenarios: Iterable[ScenarioSpec]) -> Sample:
    """The sample with one scale for all `scenarios` that run the same programs, whatever they run on.

    So no machine is better or worse than another one because of its scale. Of the machines, the one with the most bytes
    to move says how large the scale should be, and the one with the least memory or the largest caches how large it may
    be.
    """
    groups: dict[str, list[ScenarioSpec]] = {}
    for scenario in scenarios:
        if isinstance(scenario.workload, ProgramsSpec):
            groups.setdefault(_programs(scenario), []).append(scenario)
    return replace(sample, scales=tuple((programs, _scale(sample, group)) for programs, group in groups.items()))


def _programs(scenario: ScenarioSpec) -> str:
    """What tells the programs of a workload from others; not how many processes run them."""
    assert isinstance(scenario.workload, ProgramsSpec)
    return repr(scenario.workload.steps)


def _scale(sample: Sample, scenarios: Iterable[ScenarioSpec]) -> int:
    wanted, most = 1.0, float("inf")
    for scenario in scenarios:
        workload, machine = scenario.workload, scenario.machine
        assert isinstance(workload, ProgramsSpec)
        moved = workload.processes * sum(step.moved_bytes(machine.memory) for step in workload.steps)
        wanted = max(wanted, moved / sample.program_bytes)
        memory = machine.memory - machine.resident
        most = min(most, most_scale(scenario), memory // sample.least_memory_bytes, _most_beside_caches(scenario))
        most = min(most, *(step.most_scale for step in workload.steps))
    scale = 1
    while scale < wanted and 2 * scale <= most:
        scale *= 2
    return scale


def _most_beside_caches(scenario: ScenarioSpec) -> float:
    """The largest scale at which the data of each step are large compared with the caches below their file system."""
    workload = scenario.workload
    assert isinstance(workload, ProgramsSpec)
    most = float("inf")
    for step in workload.steps:
        system = scenario.file_systems.get(step.on or next(iter(scenario.file_systems)))
        data = workload.processes * step.data_bytes(scenario.machine.memory)
        caches = 0.0 if system is None else supply(scenario, [system.on], "write").cache_bytes
        if caches and data:
            most = min(most, data / (_CACHES * caches))
    return most
