"""Several searches from different places: whether a fit ends at the same parameters wherever it begins.

The first begins at the study's own values or those of a profile, the others at draws from the priors. With a fixed
seed the draws are the same every time. A search that stops before its end goes on from there, once, with slopes that
are taken there, or, where these are expensive, with those that it has learnt. Where searches end in different places
that fit about as well, the errors are widened until they hold these too: the curvature at one of them knows nothing of
another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ...model.core.errors import InputError
from ..simulation.responses import Matrix, Vector
from .fit import Fit
from .other_minima import widened
from .profile import Profile
from .quantile import AS_GOOD, NORMAL_QUANTILE
from .search import Optimum

_MOST_HALVINGS = 6
SEED = 2004


@dataclass(frozen=True, slots=True)
class Start:
    """What became of one search.

    Attributes
    ----------
    optimum
        Where it ended.
    worse, allowed
        Its cost above the best one's (ln likelihood), over how much larger than expected the cells' variance is; up to
        which it fits as well.
    distances
        Of its parameters from the best one's, in standard errors.
    differs_in
        The parameters that lie outside the best one's 90 % intervals.
    """

    optimum: Optimum
    worse: float
    allowed: float
    distances: Vector
    differs_in: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """In words."""
        if not self.differs_in:
            return "the same" if self.optimum.converged else "the same, not at its end"
        kind = "in another minimum, fits " + ("as well" if self.worse <= self.allowed else "worse")
        return kind if self.optimum.converged else f"{kind}, not at its end"


@dataclass(frozen=True, slots=True)
class Searches:
    """What several searches have found.

    Attributes
    ----------
    optima
        In the order of their beginnings.
    worse
        Cost of each above the best one's (ln likelihood), over how much larger than expected the cells' variance is.
    allowed
        Up to which of that it fits as well: what parameters inside their intervals are worse by, and what chance makes
        of the difference of two costs, which nine in ten stay within.
    refused
        Beginnings that the model refused however close to the study's values, with what it said.
    """

    optima: tuple[Optimum, ...]
    worse: tuple[float, ...]
    allowed: tuple[float, ...]
    refused: tuple[str, ...] = ()

    @property
    def best(self) -> Optimum:
        """The one of least cost."""
        return min(self.optima, key=lambda optimum: optimum.cost)

    def widened(self, covariance: Matrix) -> Matrix:
        """The best one's covariance, wide enough for the places that fit as well.

        A place that fits no worse than those inside the intervals do belongs inside them. One that is not is put on
        their edge, by a variance along the way there.
        """
        ends = sorted(zip(self.worse, self.allowed, self.optima, strict=True), key=lambda end: end[0])
        away = [optimum.theta - self.best.theta for worse, allowed, optimum in ends if worse <= allowed]
        return widened(covariance, away)

    def of(self, profile: Profile) -> list[Start]:
        """How each ended, and the profile of the best one."""
        errors = np.array([parameter.standard_error for parameter in profile.parameters])
        names = [parameter.name for parameter in profile.parameters]
        found = []
        for optimum, worse, allowed in zip(self.optima, self.worse, self.allowed, strict=True):
            distances = np.abs(optimum.theta - self.best.theta) / errors
            outside = tuple(
                name for name, far in zip(names, distances, strict=True) if far > NORMAL_QUANTILE * (1 + 1e-9)
            )
            found.append(Start(optimum, worse, allowed, distances, outside))
        return found


def search_from(fit: Fit, starts: int, seed: int = SEED, begin: Vector | None = None) -> Searches:
    """Search from the study's own values or from `begin`, and from draws of the priors until this number is reached."""
    fit.searches = starts
    optima, refused = [_to_its_end(fit, begin)], []
    streams = np.random.SeedSequence(seed).spawn(max(0, starts - 1))
    for stream in streams:
        try:
            optima.append(_from_draw(fit, np.random.default_rng(stream)))
        except InputError as refusal:
            refused.append(str(refusal))
    return searches_of(fit, optima, refused)


def searches_of(fit: Fit, optima: Sequence[Optimum], refused: Sequence[str] = ()) -> Searches:
    """Some searches, compared."""
    best = min(optima, key=lambda optimum: optimum.cost)
    inflation, by_chance = fit.inflation(best), fit.chance_of_cost(best)
    worse = tuple((each.cost - best.cost) / inflation for each in optima)
    chances = [NORMAL_QUANTILE * math.hypot(by_chance, fit.chance_of_cost(each)) / inflation for each in optima]
    return Searches(tuple(optima), worse, tuple(AS_GOOD + chance for chance in chances), tuple(refused))


def _from_draw(fit: Fit, random: np.random.Generator) -> Optimum:
    """Search from a draw; where the machine there is impossible, from closer to the study's values."""
    start = fit.draw(random)
    for _ in range(_MOST_HALVINGS):
        try:
            return _to_its_end(fit, start, random)
        except InputError:
            start = start / 2
    return _to_its_end(fit, start, random)


def _to_its_end(fit: Fit, start: Vector | None, random: np.random.Generator | None = None) -> Optimum:
    """Search, and go on if that came to no end."""
    found = fit.optimum(start, random)
    if not found.converged:
        with suppress(InputError):  # an impossible machine on the way: there is nothing to compare
            more = fit.optimum(found.theta, random, found)
            tried = found.evaluations + more.evaluations
            better = more if more.cost < found.cost else found
            found = replace(better, start=found.start, evaluations=tried)
    return found


def differences(searches: Searches, profile: Profile) -> list[str]:
    """In words: which searches ended in another minimum, and in which parameters it differs."""
    return [
        f"start {number} ended {start.verdict}: {', '.join(start.differs_in)}"
        for number, start in enumerate(searches.of(profile), 1)
        if start.differs_in
    ]
