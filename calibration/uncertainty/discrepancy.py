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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import yaml
from pydantic import Field

from ...model.files.atomic_file import write_whole
from ...model.files.description import Spec
from ...model.files.description_errors import load_spec
from ..fit.quantile import NORMAL_QUANTILE

if TYPE_CHECKING:
    from ..study.cell import Cell
    from ..study.study import StudySpec

TABLE = Path(__file__).parent / "discrepancy.yaml"

COVERED = 0.90
"""How many measured values an interval is to hold."""
CORRELATION = 0.2
"""Between cells of a study. Assumed: five cells of one study say as much as two and a half studies of one cell."""
POINTS = 20
"""Quantiles kept of a class, equally likely each."""
_SHOWN_PERCENT = (50.0, 68.3, 90.0)
_RANDOM = ("seeks_", "rand_", "random_", "backward_", "stride_")

FigureClass = Literal["raw", "programs", "cpu", "random"]
"""Times and rates of raw devices, those of programs on files, shares of the CPU, and random access."""


class ClassErrors(Spec):
    """How far the cells of one class in one study are off that nothing was fitted to.

    Attributes
    ----------
    cells
        How many there are.
    errors
        What half, 68.3 % and 90 % of them are off by at most: |ln(predicted / measured)|.
    excess
        Quantiles of :func:`excess`, equally likely each.
    """

    cells: int = Field(ge=1)
    errors: tuple[float, float, float]
    excess: tuple[float, ...] = Field(min_length=POINTS, max_length=POINTS)


StudyErrors = dict[FigureClass, ClassErrors]


class DiscrepancyTable(Spec):
    """What the predictions of studies came to.

    Attributes
    ----------
    date, source
        When and from what it was made.
    studies
        By id, and by class of figure; those with predicted cells.
    """

    date: str
    source: str
    studies: dict[str, StudyErrors]

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

    kind: FigureClass
    error: float
    expected_sd: float


def figure_class(study: StudySpec, cell: Cell) -> FigureClass:
    """The class of a cell, by its run's workload and its figure."""
    if is_random(study, cell):
        return "random"
    if not on_files(study, cell):
        return "raw"
    return "cpu" if cell.unit == "%" else "programs"


def on_files(study: StudySpec, cell: Cell) -> bool:
    """Whether a cell is of programs on files."""
    return cell.run in study.runs and study.runs[cell.run].workload.kind == "programs"


def is_random(study: StudySpec, cell: Cell) -> bool:
    """Whether a cell says how fast a device is accessed at random."""
    if not on_files(study, cell):
        workload = study.runs[cell.run].workload if cell.run in study.runs else None
        return workload is not None and workload.kind == "load" and workload.pattern == "random"
    return cell.unit != "%" and cell.figure.rpartition(".")[2].startswith(_RANDOM)


def excess(error: float, expected_sd: float) -> float:
    """How much wider (ln) than parameters and noise alone a 90 % interval must be to reach an error.

    Widths add as those of independent errors do, by their squares.
    """
    return math.sqrt(max(0.0, error**2 - (NORMAL_QUANTILE * expected_sd) ** 2))


def study_errors(cells: Iterable[CellError]) -> StudyErrors:
    """A study's line of the table."""
    kinds: dict[FigureClass, list[CellError]] = {}
    for cell in cells:
        kinds.setdefault(cell.kind, []).append(cell)
    return {kind: _class_errors(found) for kind, found in sorted(kinds.items())}


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
    kinds
        The classes whose cells say so: the one asked for, or all where there are too few of it.
    """

    half_width: float
    kinds: tuple[FigureClass, ...]


def learnt(studies: Iterable[StudyErrors], kind: FigureClass) -> Learnt | None:
    """What studies say of a class of figures; arguments as for :func:`model_half_width`, None where that is None."""
    known = list(studies)
    for kinds in ((kind,), get_args(FigureClass)):
        pool = _Pool(known, kinds)
        if pool.level < 1:
            return Learnt(pool.quantile(), kinds)
    return None


def model_half_width(studies: Iterable[StudyErrors], kind: FigureClass) -> float | None:
    """Half of a 90 % interval (ln) for what the model lacks.

    Parameters
    ----------
    studies
        What predictions came to: of other studies, and of the calibrated cells of the one at hand, each left out.
    kind
        Class of the figure; where there are too few cells of it, those of all classes are taken.

    Returns
    -------
    float or None
        None if there are too few even so.
    """
    found = learnt(studies, kind)
    return None if found is None else found.half_width


class _Pool:
    """The cells of some classes in several studies."""

    def __init__(self, studies: Iterable[StudyErrors], kinds: Iterable[FigureClass]) -> None:
        self._values: list[float] = []
        self._weights: list[float] = []
        effective = 0.0
        wanted = set(kinds)
        for study in studies:
            found = [errors for kind, errors in study.items() if kind in wanted]
            cells = sum(each.cells for each in found)
            worth = cells / (1 + (cells - 1) * CORRELATION)
            for each in found:
                self._values += each.excess
                self._weights += [worth * each.cells / cells / POINTS] * POINTS
            effective += worth
        self.level = COVERED * (1 + 1 / effective) if effective else 1.0
        """Which quantile covers one further cell as often as wanted; it lies beyond what was seen where this is 1."""

    def quantile(self) -> float:
        """The least value that so much of the weight does not exceed."""
        values, weights = np.array(self._values), np.array(self._weights)
        order = np.argsort(values)
        shares = np.cumsum(weights[order]) / weights.sum()
        return float(values[order][min(int(np.searchsorted(shares, self.level)), len(order) - 1)])


def load_table() -> DiscrepancyTable:
    """The table that comes with raidsim."""
    return load_spec(DiscrepancyTable, TABLE)
