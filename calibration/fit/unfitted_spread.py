"""How far the parameters leave open what cells come out as that nothing was fitted to and no slopes are known of.

An interval is a range of what comes out when parameters are drawn from what the fit has left open. So they are drawn,
and the cell is simulated there. A move of one standard deviation along a direction, and that times the root of the
number of directions, is the same thing where figures are powers of the factors; at a cliff it is not: of 22 parameters
any one that a queue's rhythm hangs on would make of a step of 0.5 one of 2.3. Draws are simulated where parameters may
be, so what comes out is no further away than what was seen.

The draws of a set are orthogonal, each as long as draws are on the mean (root mean square), in the parameters' own
standard deviations. Of figures that are powers of the factors the mean square of their changes is the variance, on the
mean over draws, and exactly so with as many as there are parameters. The three that are affordable know it about as
badly as any three numbers, so the interval is that of Student: a half-width of 2.35 times the root mean square, in the
place of 1.64 times.
"""

from __future__ import annotations

import math

import numpy as np

from ..simulation.responses import Matrix, Vector
from .quantile import NORMAL_QUANTILE

DRAWS = 3
"""Simulations of every run; as many as there are parameters if these are fewer."""
STUDENT_QUANTILE = 2.3533634348018264
"""95 % quantile of Student's t with :data:`DRAWS` degrees of freedom."""
_SEED = 0


def draws(covariance: Matrix) -> list[Vector]:
    """Moves of the parameters to draws from a normal distribution, the same every time."""
    size = len(covariance)
    basis = np.linalg.qr(np.random.default_rng(_SEED).standard_normal((size, size)))[0]
    moves = (np.linalg.cholesky(covariance) @ basis).T * math.sqrt(size)
    return list(moves[:DRAWS])


def spread(changes: Matrix, size: int) -> Vector:
    """Standard deviations of which the normal 90 % interval is that of Student for these changes.

    Parameters
    ----------
    changes
        Of ln(figure), by draw and cell.
    size
        How many parameters were drawn.
    """
    factor = STUDENT_QUANTILE / NORMAL_QUANTILE if size > DRAWS else 1.0
    return np.asarray(factor * np.sqrt(np.mean(changes**2, axis=0)))
