"""Two ways to guess without a simulator, to compare raidsim with: a rule of thumb, and the nearest measured layout.

Both know the study's calibrate cells and nothing else that was measured; of a predicted cell they see its scenario.
A value is a geometric mean where several calibrate cells are as near, so that a rate and the time it follows from are
guessed alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ...calibration.study.cell import Cell
from ...calibration.study.study import StudySpec
from ...model.core.exact_sums import sum_in_order
from ...scenarios.comparison.rules_of_thumb import mixed_speed_up
from .cell_classes import CellClass

Distance = tuple[float, ...]
Classes = Mapping[str, CellClass]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a baseline says of a cell.

    Attributes
    ----------
    value
        In SI units.
    sources
        Ids of the calibrate cells it is from.
    """

    value: float
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A way to guess.

    Attributes
    ----------
    name, title
        In documents, and in reports.
    guesses
        From a study and the classes of its cells by id, the guesses for its predict cells by id; the reason in words in
        the place of one that cannot be made.
    """

    name: str
    title: str
    guesses: Callable[[StudySpec, Classes], dict[str, Guess | str]]


def per_drive(cell: CellClass) -> float:
    """What a figure is to be multiplied by to become that of one process on a single drive, by the rule of thumb.

    A rate is divided by the speed-up, and a time multiplied; shares of the CPU, and the rates of loops over characters,
    stay. Of N processes with work of their own each takes N times as long, at 1/N of the rate; a rate that is the
    total of all stays.
    """
    if cell.dimension == "share":
        return 1.0
    faster = mixed_speed_up(cell.stack, cell.kind.mix)
    if cell.dimension == "s":
        return faster / cell.shares_time
    return (1.0 if cell.figure in ("rate", "iops") else cell.shares_time) / faster


def rule_of_thumb(study: StudySpec, classes: Classes) -> dict[str, Guess | str]:
    """For each predict cell: a single drive's figure times what the rule says of the level.

    The single drive's figure is from calibrate cells of the same figure of the same program, nearest in this order:
    drives in common, the same workload but for processes and devices, the same file system and encryption, a single
    drive, the same kernel, fewest processes. One that was measured on an array is divided by the array's own factor. A
    time is of no use for another workload.
    """

    def distance(wanted: CellClass, known: CellClass) -> Distance:
        return (
            not wanted.drives & known.drives,
            wanted.work != known.work,
            wanted.setting != known.setting,
            known.stack.level != "drive",
            wanted.kernel != known.kernel,
            known.processes,
        )

    def usable(wanted: CellClass, known: CellClass) -> bool:
        return _same_figure(wanted, known) and (wanted.dimension != "s" or wanted.work == known.work)

    def value(wanted: CellClass, known: CellClass, measured: float) -> float:
        return measured * per_drive(known) / per_drive(wanted)

    return _guesses(study, classes, usable, distance, value)


def nearest_measured(study: StudySpec, classes: Classes) -> dict[str, Guess | str]:
    """For each predict cell: what was measured for the same figure of the same program, in the nearest calibrate cell.

    Nearest in this order: the same workload but for processes and devices, the same kernel, the ratio of the numbers
    of processes, the same level and state, the ratio of the numbers of drives, drives in common, the same file system
    and encryption.
    """

    def distance(wanted: CellClass, known: CellClass) -> Distance:
        return (
            wanted.work != known.work,
            wanted.kernel != known.kernel,
            abs(math.log(wanted.processes / known.processes)),
            wanted.level != known.level,
            abs(math.log(len(wanted.drives) / len(known.drives))),
            -len(wanted.drives & known.drives),
            wanted.setting != known.setting,
        )

    return _guesses(study, classes, _same_figure, distance, lambda _, __, measured: measured)


RULE_OF_THUMB = Baseline("rule_of_thumb", "rule of thumb", rule_of_thumb)
NEAREST = Baseline("nearest", "nearest measured layout", nearest_measured)
BASELINES = (RULE_OF_THUMB, NEAREST)


def _same_figure(wanted: CellClass, known: CellClass) -> bool:
    return (wanted.load, wanted.figure) == (known.load, known.figure)


def _guesses(
    study: StudySpec,
    classes: Classes,
    usable: Callable[[CellClass, CellClass], bool],
    distance: Callable[[CellClass, CellClass], Distance],
    value: Callable[[CellClass, CellClass, float], float],
) -> dict[str, Guess | str]:
    known = study.calibrate_cells
    return {
        cell.id: _guess(classes[cell.id], known, classes, usable, distance, value)
        for cell in study.all_cells
        if cell.use == "predict"
    }


def _guess(
    wanted: CellClass,
    known: Iterable[Cell],
    classes: Classes,
    usable: Callable[[CellClass, CellClass], bool],
    distance: Callable[[CellClass, CellClass], Distance],
    value: Callable[[CellClass, CellClass, float], float],
) -> Guess | str:
    far = [(distance(wanted, classes[cell.id]), cell) for cell in known if usable(wanted, classes[cell.id])]
    if not far:
        return f"no calibrate cell has {wanted.figure} of {wanted.load}" + (
            " for the same work" if wanted.dimension == "s" else ""
        )
    least = min(each for each, _ in far)
    nearest = [cell for each, cell in far if each == least]
    logs = [math.log(value(wanted, classes[cell.id], cell.value)) for cell in nearest]
    return Guess(math.exp(sum_in_order(logs) / len(logs)), tuple(cell.id for cell in nearest))
