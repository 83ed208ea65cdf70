"""How far off figures of a kind are in a study that is new: scales of errors, learnt from all that are near.

The logarithm of a group's scale (the cells of one class in one study) is a mean plus independent parts: of the device,
of the kind of figure, of its family, of both together, of the study, and of the group itself. So a class of which two
studies tell is drawn to its device's and kind's, and one of which ten tell speaks for itself (hierarchical shrinkage:
Gelman and Hill, Data Analysis Using Regression and Multilevel Models, 2006, chapter 12). The parts' spreads maximize
the likelihood of all groups; with them the scale in a new study is that of a Gaussian process (Rasmussen and Williams,
Gaussian Processes for Machine Learning, 2006, equations 2.25, 2.26 and 2.41).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ...model.files.description import Spec

LEAST = 0.02
"""Added to a scale (ln, by squares): as far as figures on raw devices scatter, so that a scale of 0 has a logarithm."""
_USUAL = 0.4
"""Median of a spread before anything is known: a factor of 1.5 between scales."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_HALVINGS = 50

Array = NDArray[np.float64]


class Spreads(Spec):
    """Standard deviations of the parts of ln(scale)."""

    device: float = Field(default=_USUAL, gt=0)
    """Between kinds of drives."""
    kind: float = Field(default=_USUAL, gt=0)
    """Between kinds of figures."""
    family: float = Field(default=_USUAL, gt=0)
    """Between families of kinds."""
    both: float = Field(default=_USUAL, gt=0)
    """Between classes: a kind of figure on a kind of drive."""
    study: float = Field(default=_USUAL, gt=0)
    """Between studies."""
    group: float = Field(default=_USUAL, gt=0)
    """Between classes of one study."""

    def array(self) -> Array:
        """In the order of the fields."""
        return np.array([getattr(self, name) for name in type(self).model_fields])


@dataclass(frozen=True, slots=True)
class Group:
    """The cells of one class in one study.

    Attributes
    ----------
    study, device, kind, family
        What it shares with other groups.
    square
        Mean square of how far its cells are off (ln).
    independent
        Independent cells that are as much evidence as all of its cells.
    """

    study: str
    device: str
    kind: str
    family: str
    square: float = 0.0
    independent: float = 1.0

    @property
    def scale(self) -> float:
        """ln of the scale."""
        return 0.5 * math.log(self.square + LEAST**2)

    @property
    def variance(self) -> float:
        """Of ln(scale), as it was measured: that of a normal sample's."""
        return 1 / (2 * self.independent)


def new_scale(groups: Sequence[Group], spreads: Spreads, wanted: Group) -> tuple[float, float]:
    """Mean and standard deviation of ln(scale) of a group in a study that is new."""
    between = covariance(groups, groups, spreads) + np.diag([each.variance for each in groups])
    inverse = np.linalg.inv(between)
    ones = np.ones(len(groups))
    scales = np.array([each.scale for each in groups])
    certain = float(ones @ inverse @ ones)
    mean = float(ones @ inverse @ scales) / certain
    near = covariance([wanted], groups, spreads)[0]
    expected = mean + float(near @ inverse @ (scales - mean))
    own = float(np.sum(spreads.array() ** 2))
    variance = own - float(near @ inverse @ near) + float(1 - near @ inverse @ ones) ** 2 / certain
    return expected, math.sqrt(max(variance, 0.0))


def half_width(groups: Sequence[Group], spreads: Spreads, wanted: Group, covered: float) -> float:
    """Half of the interval (ln) that holds a share `covered` of the errors of a group in a study that is new."""
    return _holding(*new_scale(groups, spreads, wanted), covered)


def covariance(rows: Sequence[Group], columns: Sequence[Group], spreads: Spreads) -> Array:
    """Of ln(scale) between groups."""
    found: Array = np.einsum("p,pij->ij", spreads.array() ** 2, _shared(rows, columns))
    return found


def _shared(rows: Sequence[Group], columns: Sequence[Group]) -> Array:
    """1 where two groups have a part in common, by part."""
    keys = (
        lambda each: each.device,
        lambda each: each.kind,
        lambda each: each.family,
        lambda each: (each.device, each.kind),
        lambda each: each.study,
        lambda each: (each.study, each.device, each.kind),
    )
    found = []
    for key in keys:
        numbers: dict[object, int] = {}
        own, others = (np.array([numbers.setdefault(key(each), len(numbers)) for each in of]) for of in (rows, columns))
        found.append(own[:, None] == others)
    return np.array(found, dtype=float)


def _holding(expected: float, spread: float, covered: float) -> float:
    """The h with P(|z| exp(y) <= h) = covered, for a standard normal z and a normal y."""
    low, high = expected - 8 * (1 + spread), expected + 8 * (1 + spread)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = [math.erf(math.exp(middle - expected - spread * node) / math.sqrt(2)) for node in _NODES]
        if float(np.dot(_WEIGHTS, inside)) < covered:
            low = middle
        else:
            high = middle
    return math.exp(high)


def fitted_spreads(groups: Sequence[Group]) -> Spreads:
    """The spreads that make the scales of these groups most likely, each with a wide prior around a factor of 1.5."""
    from scipy.optimize import minimize

    shared = _shared(groups, groups)
    scales = np.array([each.scale for each in groups])
    measured = np.diag([each.variance for each in groups])
    ones = np.ones(len(groups))

    def unlikely(logs: Array) -> float:
        root = np.linalg.cholesky(np.einsum("p,pij->ij", np.exp(2 * logs), shared) + measured)
        one, scale = np.linalg.solve(root, ones), np.linalg.solve(root, scales)
        rest = scale - one * (one @ scale) / (one @ one)
        prior = np.sum((logs - math.log(_USUAL)) ** 2) / 2
        return float(rest @ rest / 2 + np.log(np.diag(root)).sum() + prior)

    found = minimize(unlikely, np.full(len(shared), math.log(_USUAL)), method="L-BFGS-B")
    names = Spreads.model_fields
    return Spreads(**{name: round(float(math.exp(log)), 3) for name, log in zip(names, found.x, strict=True)})
