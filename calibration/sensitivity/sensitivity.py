"""Which of many inputs moves an answer most: Morris screening, and Sobol's shares of the variance of a few.

Inputs are in standard deviations, independent of each other. Screening changes one input after the other along random
trajectories on a grid (Morris, Technometrics 33, 1991; mu* after Campolongo, Cariboni and Saltelli, Environmental
Modeling & Software 22, 2007): with k inputs it costs k + 1 answers a trajectory, and says which ones matter at all.
The shares say how much of the answer's variance an input explains alone (first order) and together with others (total;
Saltelli et al., Computer Physics Communications 181, 2010); they cost k + 2 answers a sample and need many samples.
Samples and estimators are SALib's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ...model.core.errors import InputError
from ...model.files.extras import how_to_install

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Response = Callable[[Matrix], Vector]
"""Answers to rows of inputs; NaN where there is none."""

LEVELS = 4
"""Of Morris' grid."""
REACH_SD = math.sqrt(3.0)
"""The grid goes as far to both sides: an even distribution so wide has a standard deviation of 1."""
MOST_SD = 3.0
"""Beyond it the normal distribution of the shares' inputs is cut off."""
CONFIDENCE = 0.9
_LEAST_KEPT = 2


@dataclass(frozen=True, slots=True)
class Effect:
    """What an input does to the answer, per standard deviation of the input.

    Attributes
    ----------
    mu_star, mu_star_error
        Mean size of the effect, whatever its sign, and half its 90 % interval.
    mu, sigma
        Mean and standard deviation of the effect. A large sigma tells that it depends on where one stands: the input
        acts not in proportion, or together with others.
    """

    mu_star: float
    mu_star_error: float
    mu: float
    sigma: float


@dataclass(frozen=True, slots=True)
class Screening:
    """Effects in the order of the inputs, and how many trajectories they are from, without the incomplete ones."""

    effects: tuple[Effect, ...]
    trajectories: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Share:
    """What an input explains of the answer's variance, with half the 90 % intervals.

    Attributes
    ----------
    first, first_error
        Alone.
    total, total_error
        Together with all others.
    """

    first: float
    first_error: float
    total: float
    total_error: float


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares in the order of the inputs, and how many samples they are from, without the incomplete ones."""

    shares: tuple[Share, ...]
    samples: int
    left_out: int


def check_salib() -> None:
    """Refuse to begin without SALib.

    Raises
    ------
    InputError
        Saying how it is installed.
    """
    try:
        import SALib  # noqa: F401
    except ModuleNotFoundError:
        found, allowed = "SALib is not installed", how_to_install("sensitivity")
        raise InputError("sensitivity", found, allowed) from None


def screen(response: Response, inputs: int, trajectories: int, seed: int) -> Screening:
    """Morris screening.

    Parameters
    ----------
    response
        Called once, with rows of `inputs` numbers of standard deviations.
    inputs
        How many there are.
    trajectories
        Changes of every input.
    seed
        The same one gives the same bits.

    Raises
    ------
    InputError
        If fewer than two trajectories have all answers.
    """
    from SALib.analyze import morris as analysis
    from SALib.sample import morris as sampling

    problem = _problem(inputs, -REACH_SD, REACH_SD)
    rows = sampling.sample(problem, trajectories, num_levels=LEVELS, seed=seed)
    rows, answers, kept = _complete(rows, response, inputs + 1)
    found = analysis.analyze(problem, rows, answers, conf_level=CONFIDENCE, num_levels=LEVELS, seed=seed)
    keys = ("mu_star", "mu_star_conf", "mu", "sigma")
    effects = np.array([np.asarray(found[key], dtype=float) for key in keys]) / (2 * REACH_SD)
    return Screening(tuple(Effect(*map(float, column)) for column in effects.T), kept, trajectories - kept)


def variance_shares(response: Response, inputs: int, samples: int, seed: int) -> Shares:
    """Sobol's indices of normal inputs.

    Parameters
    ----------
    response, inputs, seed
        As of :func:`screen`.
    samples
        A power of two.

    Raises
    ------
    InputError
        If fewer than two samples have all answers.
    """
    from SALib.analyze import sobol as analysis
    from SALib.sample import sobol as sampling

    problem = _problem(inputs, 0.0, 1.0)
    even = sampling.sample(problem, samples, calc_second_order=False, seed=seed)
    low, high = ndtr(-MOST_SD), ndtr(MOST_SD)
    _, answers, kept = _complete(ndtri(low + (high - low) * even), response, inputs + 2)
    if not np.ptp(answers):
        return Shares((Share(0.0, 0.0, 0.0, 0.0),) * inputs, kept, samples - kept)
    # SALib takes a seed of 0 for none.
    found = analysis.analyze(problem, answers, calc_second_order=False, conf_level=CONFIDENCE, seed=seed + 1)
    keys = ("S1", "S1_conf", "ST", "ST_conf")
    columns = np.array([np.asarray(found[key], dtype=float) for key in keys])
    return Shares(tuple(Share(*map(float, column)) for column in columns.T), kept, samples - kept)


def _problem(inputs: int, low: float, high: float) -> dict[str, Any]:
    """What SALib wants to know."""
    names = [f"x{i}" for i in range(inputs)]
    return {"num_vars": inputs, "names": names, "bounds": [[low, high] for _ in names]}


def _complete(rows: Matrix, response: Response, block: int) -> tuple[Matrix, Vector, int]:
    """Rows and answers of the blocks all of whose rows have an answer, and how many blocks these are."""
    answers = np.asarray(response(rows), dtype=float).reshape(-1, block)
    kept = np.isfinite(answers).all(axis=1)
    if kept.sum() < _LEAST_KEPT:
        found = f"only {int(kept.sum())} of {len(kept)} samples have an answer for every machine in them"
        raise InputError("--parameter", found, "expected: parameters, or SDs, that leave machines which can be")
    return rows[np.repeat(kept, block)], answers[kept].ravel(), int(kept.sum())
