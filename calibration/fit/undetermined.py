"""Puts parameters that the cells do not determine back to their priors, at the end of a search.

A search stops where the next step would gain no more than chance. On its way it also moves parameters that no cell
determines, because its slopes have learnt from the noise of earlier steps. So each parameter whose error is nearly its
prior's is put back, one after the other, and stays there if the cost, priors included, is no larger then. A run that
does not depend on it is not simulated again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.core.errors import InputError
from ...scenarios.running.base.sample import Sample
from ..simulation.responses import Matrix, Responses
from .problem import Problem, cost
from .profile import UNDETERMINED
from .search import Optimum


def settle_undetermined(problem: Problem, responses: Responses, found: Optimum, covariance: Matrix) -> Optimum:
    """Return the end of a search with undetermined parameters at their priors, each if that costs nothing.

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
    for parameter in np.flatnonzero(untold):
        theta = found.theta.copy()
        theta[parameter] = 0.0
        logs = responses.at([theta], problem.near, Sample())[0]
        if isinstance(logs, InputError):
            continue
        by_id = {cell.id: float(log) for cell, log in zip(problem.near, logs, strict=True)}
        there = cost(problem.residuals(problem.levels(by_id, theta)))
        found = replace(found, evaluations=found.evaluations + 1)
        if there <= found.cost:
            found = replace(found, theta=theta, cost=there, logs=by_id)
    return found
