"""How far predictions are off besides their parameters and the noise: learnt from the predicted cells of other studies.

A model lacks mechanisms, and which ones matter is only seen where it predicts what it was not fitted to. The table
``discrepancy.yaml`` holds what that came to per study and class of figure. An interval for a study takes all others:
never its own predicted cells, so that those tell whether intervals of this kind hold.

Each class of figures in each study has a scale of errors, which :mod:`.scales` predicts for a study that is new: from
the class where many studies have it, and from what is near it where few do. Cells of one study have mechanisms in
common, so that each counts less the more there are, by the design effect of a cluster sample (Kish, Survey Sampling,
1965).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import yaml
from pydantic import Field

from ...model.files.atomic_file import write_whole
from ...model.files.description import Spec
from ...model.files.description_errors import load_spec
from ...model.solid_state.spec import SolidStateSpec
from ...scenarios.comparison.redundancy import top_parts
from ...scenarios.description.fio_jobs import FioSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec
from ..fit.quantile import NORMAL_QUANTILE
from .scales import Group, Spreads, half_width, new_scale

# Intervals of a scenario need no study, and every run has intervals.
if TYPE_CHECKING:
    from ..study.cell import Cell
    from ..study.study import StudySpec

TABLE = Path(__file__).parent / "discrepancy.yaml"

COVERED = 0.90
"""The share of measured values that an interval is to hold."""
CORRELATION = 0.2
"""Between cells of a study. Assumed: five cells of one study say as much as two and a half studies of one cell."""
POINTS = 20
"""Quantiles kept of a class, equally likely each."""
ENOUGH = 12.0
"""Independent cells from which on a class is evidence alone."""
_DECIMALS = 6
_SHOWN_PERCENT = (50.0, 68.3, 90.0)
_RANDOM = ("seeks_", "rand_", "random_", "backward_", "stride_")
_TAILS = ("p90_seconds", "p99_seconds", "p999_seconds")
_LATENCIES = ("mean_seconds", "p50_seconds")

Device = Literal["disk", "flash", "memory"]
"""What the data are on: the slowest kind that is part of it decides. "memory" is a RAM disk or a null block device."""
_DRIVES: tuple[Device, ...] = ("disk", "flash")
"""Their errors also count for block devices in memory, but not the other way round."""
Kind = Literal[
    "raw", "programs", "cpu", "random", "latency", "tail", "queued random", "queued latency", "queued tail", "resync"
]
"""Times and rates of raw devices, those of programs on files, shares of the CPU, random access, mean or median
latencies, the higher percentiles of latencies, these three with deep queues, and rates of resyncs, checks and rebuilds
and of loads during them."""
FigureClass = tuple[Device, Kind]
QUEUED = 4.0
"""I/Os outstanding per drive, beyond which queues decide a figure rather than the service of a single I/O."""
_QUEUED: dict[Kind, Kind] = {"random": "queued random", "latency": "queued latency", "tail": "queued tail"}
_FAMILIES: dict[Kind, tuple[Kind, ...]] = {
    "random": ("random", "queued random"),
    "queued random": ("queued random", "random"),
    "latency": ("latency", "tail", "queued latency", "queued tail"),
    "tail": ("tail", "latency", "queued tail", "queued latency"),
    "queued latency": ("queued latency", "queued tail", "latency", "tail"),
    "queued tail": ("queued tail", "queued latency", "tail", "latency"),
}
"""Kinds that are nearer to each other than to others, with their mechanisms in common."""


class ClassErrors(Spec):
    """How far the cells of one class in one study are off that nothing was fitted to."""

    cells: int = Field(ge=1)
    """How many there are."""
    errors: tuple[float, float, float]
    """What half, 68.3 % and 90 % of them are off by at most: |ln(predicted / measured)|."""
    excess: tuple[float, ...] = Field(min_length=POINTS, max_length=POINTS)
    """Quantiles of :func:`excess`, equally likely each."""


StudyErrors = dict[Device, dict[Kind, ClassErrors]]


class DiscrepancyTable(Spec):
    """What the predictions of studies came to."""

    date: str
    source: str
    """When and from what it was made."""
    spreads: Spreads = Spreads()
    """Of the scales of errors between devices, kinds of figures and studies."""
    studies: dict[str, StudyErrors]
    """By id, and by class of figure; those with predicted cells."""

    def save(self, path: Path) -> None:
        """Write the table."""
        head = "# Made by `raidsim calibrate --learn-discrepancy`; docs/studies.md says from what.\n"
        body = yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, width=120, default_flow_style=None)
        write_whole(path, head + body)


@dataclass(frozen=True, slots=True)
class CellError:
    """How far a cell is off that nothing was fitted to.

    Attributes
    ----------
    error
        ln(predicted / measured).
    expected_sd
        What parameters and noise make of it (ln, one standard deviation).
    """

    figure_class: FigureClass
    error: float
    expected_sd: float


def figure_classes(study: StudySpec) -> dict[str, FigureClass]:
    """The class of every cell of a study, by the cell's id: by its run's drives and workload, and by its figure."""
    from ..study.runs import RunBuilder

    builder = RunBuilder(study, {})
    scenarios = {run: builder.scenario(run) for run in {cell.run for cell in study.all_cells}}
    devices = {run: device_of(spec) for run, spec in scenarios.items()}
    resynced = {run for run, spec in scenarios.items() if is_resynced(spec)}
    found: dict[str, FigureClass] = {}
    for cell in study.all_cells:
        kind = _kind(study, cell, cell.run in resynced)
        found[cell.id] = devices[cell.run], with_queue(kind, scenarios[cell.run], cell.figure)
    return found


def with_queue(kind: Kind, spec: ScenarioSpec, figure: str = "") -> Kind:
    """The kind of a figure, which may be told apart by how deep the load's queues are."""
    return _QUEUED.get(kind, kind) if _outstanding_per_drive(spec, figure) > QUEUED else kind


def _outstanding_per_drive(spec: ScenarioSpec, figure: str) -> float:
    """I/Os that a load keeps outstanding for each of its drives; 0 of programs, and of I/Os that come by themselves."""
    workload = spec.workload
    drives = len({name for part in top_parts(spec) for name in part.leaves})
    if isinstance(workload, FioSpec):
        job = figure.rpartition(".")[0]
        return sum(workload.outstanding(name) for name in ([job] if job else workload.job_names)) / drives
    if isinstance(workload, LoadSpec) and workload.arrivals is None:
        return len(workload.targets or ("",)) * workload.jobs * workload.depth / drives
    return 0.0


def device_of(spec: ScenarioSpec) -> Device:
    """What the data of a scenario are on."""
    drives = [spec.machine.drives[name].entry() for part in top_parts(spec) for name in part.leaves]
    if any(drive.rotational for drive in drives):
        return "disk"
    in_memory = all(isinstance(drive, SolidStateSpec) and drive.interface.startswith("memory") for drive in drives)
    return "memory" if in_memory else "flash"


def is_resynced(spec: ScenarioSpec) -> bool:
    """Whether an array of a scenario is checked, repaired or rebuilt: then little else decides the rates of a load."""
    return any(array.resync is not None or array.rebuilding for array in spec.arrays.values())


def _kind(study: StudySpec, cell: Cell, resynced: bool) -> Kind:
    figure = cell.figure.rpartition(".")[2]
    if cell.unit == "%":
        return "cpu"
    if resynced:
        return "resync"
    if on_files(study, cell):
        return "random" if figure.startswith(_RANDOM) else "programs"
    if figure.endswith(_TAILS):
        return "tail"
    if figure.endswith(_LATENCIES):
        return "latency"
    return "random" if _is_random(study, cell) else "raw"


def on_files(study: StudySpec, cell: Cell) -> bool:
    """Whether a cell is of programs on files."""
    return cell.run in study.runs and study.runs[cell.run].workload.kind == "programs"


def _is_random(study: StudySpec, cell: Cell) -> bool:
    """Whether a cell of a raw device says how fast it is accessed at random."""
    workload = study.runs[cell.run].workload if cell.run in study.runs else None
    if isinstance(workload, FioSpec):
        job = cell.figure.rpartition(".")[0]
        return any(workload.is_random(name) for name in ([job] if job else workload.job_names))
    return isinstance(workload, LoadSpec) and workload.pattern != "sequential"


def excess(error: float, expected_sd: float) -> float:
    """How much wider (ln) than parameters and noise alone a 90 % interval must be to reach an error.

    Widths add as those of independent errors do, by their squares.
    """
    return math.sqrt(max(0.0, error**2 - (NORMAL_QUANTILE * expected_sd) ** 2))


def study_errors(cells: Iterable[CellError]) -> StudyErrors:
    """A study's line of the table."""
    found: dict[FigureClass, list[CellError]] = {}
    for cell in cells:
        found.setdefault(cell.figure_class, []).append(cell)
    line: StudyErrors = {}
    for (device, kind), alike in sorted(found.items()):
        line.setdefault(device, {})[kind] = _class_errors(alike)
    return line


def _class_errors(cells: Sequence[CellError]) -> ClassErrors:
    half, most, nearly_all = np.percentile([abs(cell.error) for cell in cells], _SHOWN_PERCENT)
    excesses = np.quantile([excess(cell.error, cell.expected_sd) for cell in cells], (np.arange(POINTS) + 0.5) / POINTS)
    return ClassErrors(
        cells=len(cells),
        errors=(round(float(half), 4), round(float(most), 4), round(float(nearly_all), 4)),
        excess=tuple(round(float(x), 4) for x in excesses),
    )


@dataclass(frozen=True, slots=True)
class Learnt:
    """What studies say of a class of figures.

    Attributes
    ----------
    half_width
        Half of a 90 % interval (ln) for what the model lacks.
    classes
        The classes whose cells say so: the one asked for, and where it has few, those next to it.
    """

    half_width: float
    classes: tuple[FigureClass, ...]


def learnt(studies: Iterable[StudyErrors], figure_class: FigureClass, spreads: Spreads | None = None) -> Learnt | None:
    """What studies say of a class of figures.

    Parameters
    ----------
    studies
        What predictions came to: of other studies, and of the calibrated cells of the one at hand, each left out.
    figure_class
        Class of the figure.
    spreads
        Of the scales; those of the table that comes with raidsim unless given.

    Returns
    -------
    Learnt or None
        None if there are too few cells, those of other classes included.
    """
    known = list(studies)
    classes = _evidence(known, figure_class)
    if classes is None:
        return None
    wanted, groups = _wanted_and_known(known, figure_class)
    chosen = load_table().spreads if spreads is None else spreads
    # Rounded, because the last bits of linear algebra depend on the processor.
    return Learnt(round(half_width(groups, chosen, wanted, COVERED), _DECIMALS), classes)


def size_of_errors(figure_class: FigureClass) -> tuple[float, float]:
    """How far the model is off besides its parameters, by all studies, in one that is new.

    Returns
    -------
    tuple of float
        Median of the standard deviation of errors (ln), and how far ln of that deviation spreads (standard deviation).
    """
    table = load_table()
    wanted, groups = _wanted_and_known(table.studies.values(), figure_class)
    middle, spread = new_scale(groups, table.spreads, wanted)
    return round(math.exp(middle), _DECIMALS), round(spread, _DECIMALS)


def _wanted_and_known(studies: Iterable[StudyErrors], figure_class: FigureClass) -> tuple[Group, list[Group]]:
    """The class in a new study, and all groups on its kind of device, or on drives."""
    device, kind = figure_class
    groups = [group for group in groups_of(studies) if group.device in {device, *_DRIVES}]
    return Group("", device, kind, _family(kind)), groups


def groups_of(studies: Iterable[StudyErrors]) -> list[Group]:
    """The scales of errors, by study and class."""
    return [
        Group(
            study=f"{number}",
            device=device,
            kind=kind,
            family=_family(kind),
            square=float(np.mean(np.square(errors.excess))),
            independent=_independent(errors.cells),
        )
        for number, study in enumerate(studies)
        for device, kinds in study.items()
        for kind, errors in kinds.items()
    ]


def _family(kind: Kind) -> str:
    return min(_FAMILIES.get(kind, (kind,)))


def _independent(cells: int) -> float:
    """Independent cells that are as much evidence as these of one study."""
    return cells / (1 + (cells - 1) * CORRELATION) if cells else 0.0


def _evidence(studies: Sequence[StudyErrors], figure_class: FigureClass) -> tuple[FigureClass, ...] | None:
    """The classes that say most: the one asked for, and wider ones until there are enough cells; None if too few.

    With fewer than ten independent cells, nine in ten lie beyond what was seen.
    """
    found: list[FigureClass] = []
    total = 0.0
    for classes in _next_to(figure_class):
        wanted = classes - set(found)
        more = 0.0
        for study in studies:
            alike = {
                (device, kind): errors.cells
                for device, kinds in study.items()
                for kind, errors in kinds.items()
                if (device, kind) in wanted
            }
            more += _independent(sum(alike.values()))
            found += [each for each in alike if each not in found]
        total += more
        if total >= ENOUGH:
            break
    return tuple(found) if total > COVERED / (1 - COVERED) else None


def _next_to(figure_class: FigureClass) -> Iterator[set[FigureClass]]:
    """The class itself, and wider ones."""
    device, kind = figure_class
    devices, kinds = {device, *_DRIVES}, get_args(Kind)
    yield {figure_class}
    if kind in _FAMILIES:
        yield {(device, each) for each in _FAMILIES[kind]}
        yield {(each, other) for each in devices for other in _FAMILIES[kind]}
    yield {(each, kind) for each in devices}
    yield {(device, each) for each in kinds}
    yield {(each, other) for each in devices for other in kinds}


def model_half_width(
    studies: Iterable[StudyErrors], figure_class: FigureClass, spreads: Spreads | None = None
) -> float | None:
    """Half of a 90 % interval (ln) for what the model lacks, as :func:`learnt`; None where that is None."""
    found = learnt(studies, figure_class, spreads)
    return None if found is None else found.half_width


@lru_cache(maxsize=1)
def load_table() -> DiscrepancyTable:
    """The table that comes with raidsim, read once."""
    return load_spec(DiscrepancyTable, TABLE)
