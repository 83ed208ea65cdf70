"""The step to the best point in a box, as the gradients predict it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..simulation.responses import Vector
from .problem import OUTLIER_SD, Problem, cost


def best_step(
    problem: Problem, rows: Mapping[str, Vector], logs: Mapping[str, float], theta: Vector, box: float | Vector
) -> tuple[Vector, float]:
    """Find the step that slopes predict to have the least cost.

    Parameters
    ----------
    problem
        What is minimized.
    rows
        Slopes, by id of the cells.
    logs
        ln(figure) at `theta`, the same way.
    theta
        Where the step begins.
    box
        How far it may go, in prior standard deviations; one number, or one for each parameter.

    Returns
    -------
    tuple
        The step, and by how much it should make the cost smaller.
    """
    from scipy.optimize import least_squares

    levels = problem.levels(logs, theta)
    slopes = problem.slopes(rows, logs)
    low = np.maximum(-box * problem.prior_sd, -problem.bound - theta)
    high = np.minimum(box * problem.prior_sd, problem.bound - theta)
    tight = 1e-9 * problem.prior_sd
    found = least_squares(
        lambda step: problem.residuals(levels + slopes @ step),
        np.zeros(len(theta)),
        jac=lambda step: problem.jacobian(slopes, levels + slopes @ step),
        bounds=(np.minimum(low, -tight), np.maximum(high, tight)),
        x_scale=problem.prior_sd,
        loss="soft_l1",
        f_scale=OUTLIER_SD,
    )
    return np.asarray(found.x), cost(problem.residuals(levels)) - float(found.cost)
