"""Puts parameters that the cells do not determine back to their priors, at the end of a search.

A search stops where the next step would gain no more than chance. On its way it also moves parameters that no cell
determines, because its slopes have learnt from the noise of earlier steps. So all parameters whose error is nearly
their prior's are put back together, and stay there if the cost, priors included, is no larger then. If it is larger,
each half of them is tried, and so on. A run that does not depend on them is not simulated again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...model.core.errors import InputError
from ...scenarios.running.base.sample import Sample
from ..simulation.responses import Matrix, Responses
from .problem import Problem, cost
from .profile import UNDETERMINED
from .search import Optimum


def settle_undetermined(problem: Problem, responses: Responses, found: Optimum, covariance: Matrix) -> Optimum:
    """Return the end of a search with undetermined parameters at their priors, where that costs nothing.

    Parameters
    ----------
    problem, responses
        What was minimized, and who simulates, for as long as predictions are.
    found
        Where the search ended.
    covariance
        Of ln(factor), there.
    """
    errors = np.sqrt(np.diag(covariance))
    untold = (errors > UNDETERMINED * problem.prior_sd) & (found.theta != 0.0)
    return _settled(problem, responses, found, np.flatnonzero(untold))


def _settled(problem: Problem, responses: Responses, found: Optimum, group: NDArray[np.int_]) -> Optimum:
    """The end with a group of parameters at their priors, or those of its parts that fit no worse there."""
    if not len(group):
        return found
    theta = found.theta.copy()
    theta[group] = 0.0
    logs = responses.at([theta], problem.near, Sample())[0]
    if not isinstance(logs, InputError):
        by_id = {cell.id: float(log) for cell, log in zip(problem.near, logs, strict=True)}
        there = cost(problem.residuals(problem.levels(by_id, theta)))
        found = replace(found, evaluations=found.evaluations + 1)
        if there <= found.cost:
            return replace(found, theta=theta, cost=there, logs=by_id)
    if len(group) > 1:
        for half in np.array_split(group, 2):
            found = _settled(problem, responses, found, half)
    return found
