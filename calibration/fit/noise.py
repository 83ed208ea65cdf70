"""How much of a cell is chance: what another seed, or another sample of the same length, would have given.

Common random streams keep chance out of differences between parameters. They do not keep it out of what is compared
with a measurement, nor out of what a fit believes to know.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from statistics import NormalDist

import numpy as np

from ...model.core.errors import InputError
from ...model.statistics import Estimate
from ...scenarios.running.base.sample import Sample
from ..simulation.responses import Responses, Vector
from ..study.cell import Cell
from .problem import Problem

_MOST = 1.0
"""Taken where a run was too short for its figure to have an interval (ln): such a cell says next to nothing."""
_NUDGE = 0.001
"""What parameters are moved by (ln) to see what of a run on raw devices is rhythm."""
_OTHERS = 3.0
"""Weight of what two seeds differ by in all cells of a kind of run, where that of the cell itself is 1."""


def chance(
    problem: Problem, responses: Responses, theta: Vector, sample: Sample, runs: Collection[str] | None = None
) -> dict[str, float]:
    """Standard deviation of ln(figure), by id of the cells of fitted runs, or of some of these, that have any.

    A load that is drawn at random has batch means to tell. Its measurement was drawn like that as well, for about as
    long, so their variance counts twice. Of dd and programs, where chance is in how a drive stands and where files lie,
    two runs tell, with two seeds; a difference of two says little of its own cell, so it is averaged with those of all
    of its kind. A dd on raw devices draws next to nothing, but falls into one rhythm or another as any time in it
    changes, so parameters are moved by next to nothing as well.

    Raises
    ------
    InputError
        If the model refuses the machine.
    """
    near = [cell for cell in problem.near if runs is None or cell.run in runs]
    drawn = [cell for cell in near if cell.run in problem.drawn]
    estimates = responses.estimates(theta, drawn, sample)
    found = {cell.id: math.sqrt(2) * _spread(each) for cell, each in zip(drawn, estimates, strict=True)}
    for programs in (False, True):
        alike = [cell for cell in near if cell.run not in problem.drawn and (cell.run in problem.programs) == programs]
        nudge = 0.0 if programs else _NUDGE
        found |= _between_runs(responses, theta, nudge, alike, sample)
    return {name: sd for name, sd in found.items() if sd}


def _between_runs(
    responses: Responses, theta: Vector, nudge: float, cells: Sequence[Cell], sample: Sample
) -> dict[str, float]:
    if not cells:
        return {}
    nudged = theta + nudge * np.where(np.arange(len(theta)) % 2, -1.0, 1.0)
    first, second = responses.at([theta, nudged], cells, sample, seeds=(0, 1))
    for logs in (first, second):
        if isinstance(logs, InputError):
            raise logs
    squares = (np.asarray(second) - np.asarray(first)) ** 2 / 2
    mean = float(np.mean(squares))
    return {
        cell.id: math.sqrt((float(square) + _OTHERS * mean) / (1 + _OTHERS))
        for cell, square in zip(cells, squares, strict=True)
    }


def _spread(estimate: Estimate | None) -> float:
    """Standard deviation of the logarithm of an estimate; 0 of what has none."""
    if estimate is None:
        return 0.0
    relative = estimate.half_width / (NormalDist().inv_cdf((1 + estimate.confidence) / 2) * estimate.mean)
    return min(relative, _MOST)
