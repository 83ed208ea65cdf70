"""What kind of measurement a cell is: level, load, kind of figure, kernel and processes, from its run's scenario.

Errors are told apart by these, and the baselines look up by them what else was measured.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType

from ...calibration.study.cell import Cell
from ...calibration.study.figures import dimension_of_unit
from ...calibration.study.runs import RunBuilder
from ...calibration.study.study import StudySpec
from ...scenarios.comparison.rules_of_thumb import Access, Mix, Stack, stack_of
from ...scenarios.description.any_workload import IdleSpec, LoadsSpec
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import DdSpec, LoadSpec
from ...scenarios.programs import Step
from ...scenarios.programs.remount import DropCacheStep
from ...scenarios.programs.step import Dimension
from ...scenarios.programs.tiobench import TiobenchStep

_CPU_FIGURES = "_cpu"
_WHOLE = ("seconds", "mean_seconds", "rate", "cpu")
"""Figures of a program as a whole."""


@dataclass(frozen=True, slots=True)
class FigureKind:
    """What a figure measures.

    Attributes
    ----------
    name
        In reports.
    mix
        Shares of the bytes by how the disks are accessed; none where the CPU sets the pace, or is what is measured.
    """

    name: str
    mix: Mix = field(default_factory=lambda: MappingProxyType({}))


def _kind(name: str, **mix: float) -> FigureKind:
    names: dict[str, Access] = {
        "read": "sequential read",
        "write": "sequential write",
        "rand_read": "random read",
        "rand_write": "random write",
    }
    return FigureKind(name, MappingProxyType({names[key]: share for key, share in mix.items()}))


SEQUENTIAL_READ = _kind("sequential read", read=1.0)
SEQUENTIAL_WRITE = _kind("sequential write", write=1.0)
RANDOM_READ = _kind("random read", rand_read=1.0)
RANDOM_WRITE = _kind("random write", rand_write=1.0)
REWRITE = _kind("rewrite", read=0.5, write=0.5)
WHOLE_BENCHMARK = _kind("whole benchmark", read=0.5, write=0.5)
CHARACTERS = FigureKind("characters")
CPU_SHARE = FigureKind("CPU share")
RESYNC = FigureKind("resync")
MEMBERS = FigureKind("drives of the array")
READ_FILES = _kind("files, reading", read=1.0)
WRITE_FILES = _kind("files, writing", write=1.0)
COPY_FILES = _kind("files, copying", read=0.5, write=0.5)
CHANGE_FILES = _kind("files, changing", rand_read=0.5, rand_write=0.5)
CREATE_FILES = _kind("files, creating and deleting", rand_write=1.0)

_KINDS = {
    kind.name: kind
    for kind in (
        *(SEQUENTIAL_READ, SEQUENTIAL_WRITE, RANDOM_READ, RANDOM_WRITE, REWRITE, WHOLE_BENCHMARK, CHARACTERS),
        *(READ_FILES, WRITE_FILES, COPY_FILES, CHANGE_FILES, CREATE_FILES),
    )
}
"""Kinds by what a program says that it does."""


@dataclass(frozen=True, slots=True)
class CellClass:
    """What kind of measurement a cell is.

    Attributes
    ----------
    stack
        The device that the figure is about.
    load, figure
        Program and the name of its figure.
    kind
        What the figure measures.
    kernel
        Of the run.
    processes
        How many work at the same time: processes, threads, devices of raw dd, or I/Os outstanding.
    shares_time
        How many processes have work of their own and report how they fared each.
    work
        The workload in all but processes, threads and devices, as text to compare.
    setting
        File system and encryption, as text to compare.
    drives
        Machine and name of every drive below.
    dimension
        Of the figure.
    """

    stack: Stack
    load: str
    figure: str
    kind: FigureKind
    kernel: str
    processes: int
    shares_time: int
    work: str
    setting: str
    drives: frozenset[tuple[str, str]]
    dimension: Dimension

    @property
    def level(self) -> str:
        """Level of the device, in reports."""
        return self.stack.name


def cell_classes(study: StudySpec) -> dict[str, CellClass]:
    """The class of every cell of a study, by the cell's id."""
    builder = RunBuilder(study, {})
    scenarios = {run: builder.scenario(run) for run in {cell.run for cell in study.all_cells}}
    machines = {name: run.machine or "" for name, run in study.runs.items()}
    return {cell.id: cell_class(cell, scenarios[cell.run], machines.get(cell.run, "")) for cell in study.all_cells}


def cell_class(cell: Cell, scenario: ScenarioSpec, machine: str = "") -> CellClass:
    """The class of a cell that a run of this scenario, on a machine of this name, gives."""
    workload = scenario.workload
    if isinstance(workload, ProgramsSpec):
        if "." in cell.figure:
            return _of_program(cell, scenario, workload, machine)
        targets = tuple(dict.fromkeys(mounted.on for mounted in scenario.file_systems.values()))
    else:
        targets = tuple(dict.fromkeys(workload.targets)) or tuple(scenario.busy_arrays)
    stacks = [stack_of(scenario, target) for target in targets]
    stack = stacks[0] if len(stacks) == 1 else _side_by_side(stacks)
    if isinstance(workload, DdSpec):
        kind = SEQUENTIAL_READ if workload.direction == "read" else SEQUENTIAL_WRITE
        load, processes = f"dd, {workload.direction}, raw device", len(workload.targets)
    elif isinstance(workload, IdleSpec):
        kind, load, processes = RESYNC, "nothing", 1
    elif isinstance(workload, ProgramsSpec):
        kind, load, processes = WHOLE_BENCHMARK, "programs", workload.processes
    elif isinstance(workload, FioSpec):
        job = cell.figure.rpartition(".")[0]
        kind, load, processes = _fio_kind(workload, cell.figure), "fio", max(1, workload.outstanding(job))
    elif isinstance(workload, LoadsSpec):
        kind, load = _several_kind(workload), "several loads"
        processes = sum(len(each.targets) * each.jobs * each.depth for each in workload.loads)
    else:
        kind, load = _load_kind(workload), f"{workload.pattern} load"
        processes = len(workload.targets) * workload.jobs * workload.depth
    if cell.figure.rpartition(".")[2] in ("cpu", "user_cpu", "system_cpu"):
        kind = CPU_SHARE
    elif cell.figure == "resync_rate":
        kind = RESYNC
    elif "drive_" in cell.figure:
        kind = MEMBERS
    return CellClass(
        stack=stack,
        load=load,
        figure=cell.figure,
        kind=kind,
        kernel=scenario.kernel,
        processes=processes,
        shares_time=len(targets),
        work=workload.model_dump_json(exclude={"targets", "jobs", "depth"}),
        setting=_ciphers(scenario, targets),
        drives=frozenset((machine, drive) for drive in stack.drives),
        dimension=dimension_of_unit(cell.unit),
    )


def _of_program(cell: Cell, scenario: ScenarioSpec, workload: ProgramsSpec, machine: str) -> CellClass:
    title, _, figure = cell.figure.rpartition(".")
    step = next(s for s in workload.steps if not isinstance(s, DropCacheStep) and s.title == title)
    mounted = scenario.file_systems[step.on or next(iter(scenario.file_systems))]
    stack = stack_of(scenario, mounted.on)
    threads = step.threads if isinstance(step, TiobenchStep) else 1
    steps = [s.model_dump(mode="json", exclude={"name", "on", "threads"}) for s in workload.steps]
    return CellClass(
        stack=stack,
        load=step.program,
        figure=figure,
        kind=_figure_kind(step, figure),
        kernel=scenario.kernel,
        processes=workload.processes * threads,
        shares_time=workload.processes,
        work=json.dumps(steps),
        setting=f"{mounted.kind} {_ciphers(scenario, (mounted.on,))}".strip(),
        drives=frozenset((machine, drive) for drive in stack.drives),
        dimension=dimension_of_unit(cell.unit),
    )


def _figure_kind(step: Step, figure: str) -> FigureKind:
    if figure == "cpu" or figure.endswith(_CPU_FIGURES):
        return CPU_SHARE
    return _KINDS[step.access("" if figure in _WHOLE else figure.rpartition("_")[0])]


def _load_kind(load: LoadSpec) -> FigureKind:
    kinds = (SEQUENTIAL_READ, SEQUENTIAL_WRITE) if load.pattern == "sequential" else (RANDOM_READ, RANDOM_WRITE)
    if load.read_share in (0.0, 1.0):
        return kinds[0] if load.read_share else kinds[1]
    read, write = (next(iter(kind.mix)) for kind in kinds)
    mix = MappingProxyType({read: load.read_share, write: 1.0 - load.read_share})
    return FigureKind(f"{load.pattern}, reads and writes", mix)


def _several_kind(workload: LoadsSpec) -> FigureKind:
    """A mix of the kinds of all loads, in equal parts."""
    mix: dict[Access, float] = {}
    for load in workload.loads:
        for kind, share in _load_kind(load).mix.items():
            mix[kind] = mix.get(kind, 0.0) + share / len(workload.loads)
    return FigureKind("several loads", MappingProxyType(mix))


def _fio_kind(workload: FioSpec, figure: str) -> FigureKind:
    job, _, own = figure.rpartition(".")
    random = any(workload.is_random(name) for name in ([job] if job else workload.job_names))
    if own.startswith(("write", "sync", "trim")):
        return RANDOM_WRITE if random else SEQUENTIAL_WRITE
    return RANDOM_READ if random else SEQUENTIAL_READ


def _side_by_side(stacks: list[Stack]) -> Stack:
    drives = frozenset(drive for stack in stacks for drive in stack.drives)
    return Stack("side by side", tuple(stacks), len(stacks), drives=drives)


def _ciphers(scenario: ScenarioSpec, devices: tuple[str, ...]) -> str:
    return " ".join(sorted({scenario.encrypted[name].kind for name in devices if name in scenario.encrypted}))
