"""Whether a box does what was predicted of it, and if not, what explains the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .loads import Measured
from .posterior import Posterior, Prediction, learn

_STEPS = 500
"""Of each walker that learns the new measurements alone: only medians and spreads are asked for."""
_MOVED = 2.0
"""Standard deviations by which a parameter has to move to explain anything."""


class Check(NamedTuple):
    """A load that was measured after it was predicted.

    Attributes
    ----------
    measured, predicted
        Both.
    inside
        Whether the measured rate is in its range.
    error
        Logarithm of measured over predicted rate.
    """

    measured: Measured
    predicted: Prediction
    inside: bool
    error: float


class Moved(NamedTuple):
    """A parameter that has another value according to the new measurements.

    Attributes
    ----------
    name
        Of the model's parameters.
    factor
        New over old median.
    sds
        The same in standard deviations of what was known before.
    """

    name: str
    factor: float
    sds: float


class Verified(NamedTuple):
    """All loads, and parameters that explain what is outside, the one that moved most first."""

    checks: tuple[Check, ...]
    moved: tuple[Moved, ...]

    @property
    def inside(self) -> float:
        """Share of the loads inside their range."""
        return sum(check.inside for check in self.checks) / len(self.checks)


def verify(posterior: Posterior, measured: Sequence[Measured], seed: int = 0) -> Verified:
    """Compare new measurements with what was expected of them.

    Where any is outside, the box is learnt again from the new measurements alone; parameters that are then far from
    what was known explain the difference.
    """
    predictions = posterior.predict([each.load for each in measured], seed)
    checks = tuple(
        Check(each, known, known.rate_range[0] <= each.rate <= known.rate_range[1], math.log(each.rate / known.rate))
        for each, known in zip(measured, predictions, strict=True)
    )
    if all(check.inside for check in checks):
        return Verified(checks, ())
    model = posterior.observed.model
    before = posterior.samples[:, :-2]
    after = learn(measured, model=model, seed=seed, steps=_STEPS).samples[:, :-2]
    shift = np.median(after, 0) - np.median(before, 0)
    sds = shift / np.hypot(np.std(before, 0), np.std(after, 0))
    moved = [
        Moved(parameter.name, math.exp(shift[k]), float(sds[k]))
        for k, parameter in enumerate(model.parameters)
        if abs(sds[k]) > _MOVED
    ]
    return Verified(checks, tuple(sorted(moved, key=lambda each: -abs(each.sds))))
