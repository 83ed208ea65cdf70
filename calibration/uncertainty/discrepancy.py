"""How far predictions are off besides their parameters and the noise: learnt from the predicted cells of other studies.

A model lacks mechanisms, and which ones matter is only seen where it predicts what it was not fitted to. The table
``discrepancy.yaml`` holds what that came to per study and class of figure. An interval for a study takes all others:
never its own predicted cells, so that those tell whether intervals of this kind hold.

The quantile is that of split conformal prediction (Vovk, Gammerman, Shafer, Algorithmic Learning in a Random World,
2005) on two levels, cells within studies (Dunn, Wasserman, Ramdas, JASA 118, 2023): cells of one study have mechanisms
in common, so that each counts less the more there are, by the design effect of a cluster sample (Kish, Survey Sampling,
1965). Nothing is assumed of the errors' distribution.
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
"""Independent cells from which on a class needs no others; the quantile of fewer than ten lies beyond what was seen."""
_SHOWN_PERCENT = (50.0, 68.3, 90.0)
_RANDOM = ("seeks_", "rand_", "random_", "backward_", "stride_")
_TAILS = ("p90_seconds", "p99_seconds", "p999_seconds")
_LATENCIES = ("mean_seconds", "p50_seconds")

Device = Literal["disk", "flash", "memory"]
"""What the data are on: the slowest kind that is part of it decides. "memory" is a RAM disk or a null block device."""
_DRIVES: tuple[Device, ...] = ("disk", "flash")
"""Their errors also count for block devices in memory, but not the other way round."""
Kind = Literal["raw", "programs", "cpu", "random", "latency", "tail", "resync"]
"""Times and rates of raw devices, those of programs on files, shares of the CPU, random access, mean or median
latencies, the higher percentiles of latencies, and rates of resyncs, checks and rebuilds and of loads during them."""
FigureClass = tuple[Device, Kind]
_TIMES: tuple[Kind, ...] = ("latency", "tail")
"""Kinds that are nearer to each other than to rates."""


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
    return {cell.id: (devices[cell.run], _kind(study, cell, cell.run in resynced)) for cell in study.all_cells}


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


def learnt(studies: Iterable[StudyErrors], figure_class: FigureClass) -> Learnt | None:
    """What studies say of a class of figures.

    A class with few cells is completed by cells of the classes next to it, as many as it lacks: of latencies by their
    percentiles, then of the same kind of figure on the other kind of drive, of other kinds on such drives, and of all
    drives.

    Parameters
    ----------
    studies
        What predictions came to: of other studies, and of the calibrated cells of the one at hand, each left out.
    figure_class
        Class of the figure.

    Returns
    -------
    Learnt or None
        None if there are too few cells even so.
    """
    known = list(studies)
    pool = _Pool()
    for classes in _next_to(figure_class):
        pool.add(known, classes)
        if pool.effective >= ENOUGH:
            break
    return Learnt(pool.quantile(), tuple(pool.classes)) if pool.level < 1 else None


def _next_to(figure_class: FigureClass) -> Iterator[set[FigureClass]]:
    """The class itself, and wider ones."""
    device, kind = figure_class
    devices, kinds = {device, *_DRIVES}, get_args(Kind)
    yield {figure_class}
    if kind in _TIMES:
        yield {(device, each) for each in _TIMES}
        yield {(each, other) for each in devices for other in _TIMES}
    yield {(each, kind) for each in devices}
    yield {(device, each) for each in kinds}
    yield {(each, other) for each in devices for other in kinds}


def model_half_width(studies: Iterable[StudyErrors], figure_class: FigureClass) -> float | None:
    """Half of a 90 % interval (ln) for what the model lacks, as :func:`learnt`; None where that is None."""
    found = learnt(studies, figure_class)
    return None if found is None else found.half_width


class _Pool:
    """Cells of some classes in several studies, with their weights."""

    def __init__(self) -> None:
        self.effective = 0.0
        """Independent cells that are as much evidence as all of them."""
        self.classes: list[FigureClass] = []
        self._values: list[float] = []
        self._weights: list[float] = []

    def add(self, studies: Iterable[StudyErrors], classes: set[FigureClass]) -> None:
        """Take cells of some classes, with all their weight or as much as is lacking."""
        wanted = classes - set(self.classes)
        found = [
            [((device, kind), errors) for device, kinds in study.items() for kind, errors in kinds.items()]
            for study in studies
        ]
        chosen = [[(each, errors) for each, errors in study if each in wanted] for study in found]
        cells = [sum(errors.cells for _, errors in study) for study in chosen]
        worth = [number / (1 + (number - 1) * CORRELATION) if number else 0.0 for number in cells]
        more = math.fsum(worth)
        if not more:
            return
        share = 1.0 if not self.classes else min(1.0, (ENOUGH - self.effective) / more)
        for study, number, value in zip(chosen, cells, worth, strict=True):
            for each, errors in study:
                self._values += errors.excess
                self._weights += [share * value * errors.cells / number / POINTS] * POINTS
                if each not in self.classes:
                    self.classes.append(each)
        self.effective += share * more

    @property
    def level(self) -> float:
        """Which quantile covers one further cell as often as wanted; it lies beyond what was seen where this is 1."""
        return COVERED * (1 + 1 / self.effective) if self.effective else 1.0

    def quantile(self) -> float:
        """The smallest value that this share of the weight does not exceed."""
        values, weights = np.array(self._values), np.array(self._weights)
        order = np.argsort(values)
        shares = np.cumsum(weights[order]) / weights.sum()
        return float(values[order][min(int(np.searchsorted(shares, self.level)), len(order) - 1)])


@lru_cache(maxsize=1)
def load_table() -> DiscrepancyTable:
    """The table that comes with raidsim, read once."""
    return load_spec(DiscrepancyTable, TABLE)
