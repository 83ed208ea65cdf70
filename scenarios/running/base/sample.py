"""How much of a long, steady run is simulated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ....model.programs.iozone import Iozone
from ...description.devices import Devices
from ...description.file_systems import LEAST_BYTES
from ...description.machine import LEAST_MEMORY
from ...description.program_steps import (
    BonniePlusPlusStep,
    BonnieStep,
    DropCacheStep,
    IozoneStep,
    PostMarkStep,
    Step,
    TiobenchStep,
    TreeSpec,
    WriteFileStep,
)
from ...description.programs import ProgramsSpec
from ...description.scenario import ScenarioSpec
from .supply import supply

_FILE_BYTES = 32 * 1024
"""A small file is as much to simulate as this many bytes of a large one."""
_RECORD_BYTES = 32 * 1024
"""The same of a record that does not follow the one before."""
_CACHES = 16
"""The caches of drives and controllers are not scaled. The files of each step are at least this many times their sum,
so that what caches take in or give again is as small a part of them."""
_MOST_POSTMARK = 8
"""With fewer files the metadata of all of them stay in memory, which those of the whole pool do not."""
_PASSES = 6
"""A bonnie writes its file three times and reads it three times."""


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
        moved = workload.processes * sum(step_bytes(step, machine.memory) for step in workload.steps)
        wanted = max(wanted, moved / sample.program_bytes)
        memory = machine.memory - machine.resident
        most = min(most, most_scale(scenario), memory // sample.least_memory_bytes, _most_beside_caches(scenario))
        if any(isinstance(step, PostMarkStep) for step in workload.steps):
            most = min(most, _MOST_POSTMARK)
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
        data = workload.processes * _data(step, scenario.machine.memory)
        caches = 0.0 if system is None else supply(scenario, [system.on], "write").cache_bytes
        if caches and data:
            most = min(most, data / (_CACHES * caches))
    return most


def _data(step: Step, memory: int) -> int:
    """Bytes of the files that a process of a step writes or reads, each once."""
    if isinstance(step, DropCacheStep):
        return 0
    if isinstance(step, PostMarkStep):
        return step.number * (step.low + step.high) // 2
    if isinstance(step, BonniePlusPlusStep):
        return step.size or 2 * memory
    if isinstance(step, BonnieStep):
        return step.size * step.files
    size = getattr(step, "size", None)
    return int(size) if size is not None else int(getattr(step, "tree", TreeSpec()).bytes)


def step_bytes(step: Step, memory: int) -> int:
    """What a process of a step moves, about."""
    if isinstance(step, BonnieStep):
        return _PASSES * step.size * step.files
    if isinstance(step, BonniePlusPlusStep):
        return _PASSES * (step.size or 2 * memory)
    if isinstance(step, PostMarkStep):
        return (step.number + step.transactions) * (step.low + step.high) // 2
    if isinstance(step, TiobenchStep):
        return 2 * step.size
    if isinstance(step, IozoneStep):
        scattered = len(Iozone.scattered)
        each = max(step.record, _RECORD_BYTES)
        return (len(Iozone.phases) - scattered) * step.size + scattered * step.size // step.record * each
    if isinstance(step, DropCacheStep):
        return 0
    if isinstance(step, WriteFileStep) and step.oflag is not None:
        return step.size // step.block_size * max(step.block_size, _RECORD_BYTES)
    size = getattr(step, "size", None)
    if size is not None:
        return int(size)
    tree = getattr(step, "tree", TreeSpec())
    return int(tree.bytes + tree.files * _FILE_BYTES)
