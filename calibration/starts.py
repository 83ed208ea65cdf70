"""Several searches from different places: whether a fit ends at the same parameters wherever it begins.

The first begins at the study's own values, the others at draws from the priors. With a fixed seed the draws are the
same every time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.errors import InputError
from .discrepancy import NORMAL_QUANTILE
from .fit import Fit, Optimum
from .profile import BOUND_SD, Profile

_INSIDE = 0.9
"""How much of the way to a bound a draw may go: a search that begins at one seldom leaves it."""
_MOST_HALVINGS = 6
SEED = 2004


@dataclass(frozen=True, slots=True)
class Searches:
    """What several searches have found.

    Attributes
    ----------
    optima
        In the order of their beginnings.
    refused
        Beginnings that the model refused however close to the study's values, with what it said.
    """

    optima: tuple[Optimum, ...]
    refused: tuple[str, ...] = ()

    @property
    def best(self) -> Optimum:
        """The one of least cost."""
        return min(self.optima, key=lambda optimum: optimum.cost)

    def apart(self, profile: Profile) -> list[list[str]]:
        """Of each search the parameters that it has left outside the 90 % intervals of the best one's profile."""
        errors = np.array([parameter.standard_error for parameter in profile.parameters])
        found = []
        for optimum in self.optima:
            away = np.abs(optimum.theta - self.best.theta) > NORMAL_QUANTILE * errors
            found.append([p.name for p, outside in zip(profile.parameters, away, strict=True) if outside])
        return found


def search_from(fit: Fit, starts: int, seed: int = SEED) -> Searches:
    """Search from the study's own values, and from draws of the priors until there are so many `starts`."""
    optima, refused = [fit.optimum()], []
    streams = np.random.SeedSequence(seed).spawn(max(0, starts - 1))
    for stream in streams:
        try:
            optima.append(_from_draw(fit, np.random.default_rng(stream)))
        except InputError as refusal:
            refused.append(str(refusal))
    return Searches(tuple(optima), tuple(refused))


def _from_draw(fit: Fit, random: np.random.Generator) -> Optimum:
    """Search from a draw; where the machine there is impossible, from closer to the study's values."""
    furthest = _INSIDE * BOUND_SD * fit.prior_sd
    start = np.clip(random.standard_normal(len(furthest)) * fit.prior_sd, -furthest, furthest)
    for _ in range(_MOST_HALVINGS):
        try:
            return fit.optimum(start)
        except InputError:
            start = start / 2
    return fit.optimum(start)


def differences(searches: Searches, profile: Profile) -> list[str]:
    """In words: which searches ended elsewhere, and in which parameters."""
    apart = enumerate(searches.apart(profile), 1)
    return [f"start {number} ended elsewhere in {', '.join(names)}" for number, names in apart if names]
