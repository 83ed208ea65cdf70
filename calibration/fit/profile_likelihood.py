"""The interval of one parameter by its profile likelihood: how far it can be moved, the others following, until the
fit is worse by what 90 % of a chi-square with one degree of freedom are below.

Unlike the standard error it sees where the problem is curved: at a ceiling, say, which a faster part no longer moves
(Venzon and Moolgavkar, Applied Statistics 37, 1988). The others follow by the slopes at the optimum: to where these
expect them, and a Gauss-Newton step from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..simulation.responses import Vector
from .fit import Fit
from .problem import cost
from .profile import BOUND_SD
from .search import Optimum

_WORSE = 1.6448536269514722
"""Square root of what 90 % of a chi-square with one degree of freedom are below."""
_NEAR = 0.08
"""How near to it is near enough: five percent of an interval."""
_MOST_TRIALS = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """A 90 % interval of a factor; `None` where it is still inside at the bound."""

    low: float | None
    high: float | None


def profile_limits(fit: Fit, optimum: Optimum, parameter: int) -> Limits:
    """The interval of one parameter, by its place in the study.

    Parameters
    ----------
    fit, optimum
        A fit, and where it has ended.
    parameter
        Which parameter.
    """
    walk = _Walk(fit, optimum, parameter)
    low, high = walk.edge(-1.0), walk.edge(1.0)
    return Limits(None if low is None else math.exp(low), None if high is None else math.exp(high))


class _Walk:
    """Moves of one parameter away from the optimum."""

    def __init__(self, fit: Fit, optimum: Optimum, parameter: int) -> None:
        self._fit = fit
        self._theta = optimum.theta
        self._which = parameter
        self._sd = fit.discrepancy(optimum)
        covariance = fit.covariance(optimum)
        self._error = math.sqrt(covariance[parameter, parameter])
        self._follow = covariance[:, parameter] / covariance[parameter, parameter]
        self._jacobian = fit.jacobian(optimum, self._sd)
        self._others = np.arange(len(self._theta)) != parameter
        self._bound = BOUND_SD * fit.prior_sd
        self._least = self._cost(self._theta)

    def edge(self, direction: float) -> float | None:
        """ln(factor) where the fit is worse by as much; None beyond the bound."""
        centre = float(self._theta[self._which])
        room = float(self._bound[self._which]) - direction * centre
        inside, outside = 0.0, math.inf
        worse_inside, worse_outside = -_WORSE, math.inf
        length = _WORSE * self._error
        for _ in range(_MOST_TRIALS):
            length = min(length, room)
            worse = self._worse(direction * length) - _WORSE
            if abs(worse) < _NEAR:
                break
            if worse < 0:
                if length >= room:
                    return None
                inside, worse_inside = length, worse
            else:
                outside, worse_outside = length, worse
            if math.isinf(outside):
                length = length * min(3.0, _WORSE / max(worse + _WORSE, 0.2))
            elif math.isinf(worse_outside):
                length = (inside + outside) / 2
            else:
                length = inside - worse_inside * (outside - inside) / (worse_outside - worse_inside)
        return centre + direction * min(length, room)

    def _worse(self, move: float) -> float:
        """Square root of the deviance where the parameter has moved and the others have followed."""
        theta = np.clip(self._theta + move * self._follow, -self._bound, self._bound)
        theta[self._which] = self._theta[self._which] + move
        residuals = self._fit.residuals(theta, self._sd)
        if not np.all(np.isfinite(residuals)):
            return math.inf
        step = np.linalg.lstsq(self._jacobian[:, self._others], -residuals, rcond=None)[0]
        stepped = theta.copy()
        stepped[self._others] += step
        stepped = np.clip(stepped, -self._bound, self._bound)
        found = min(cost(residuals), self._cost(stepped))
        self._least = min(self._least, found)
        return math.sqrt(2 * (found - self._least))

    def _cost(self, theta: Vector) -> float:
        residuals = self._fit.residuals(theta, self._sd)
        return cost(residuals) if np.all(np.isfinite(residuals)) else math.inf
