"""Scales of errors in a study that is new: shrinkage, its limits, and the spreads that are learnt."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from raidsim.calibration.uncertainty.intervals import interval_score
from raidsim.calibration.uncertainty.scales import Group, Spreads, fitted_spreads, half_width

NEW = Group("", "disk", "raw", "raw")
NONE = Spreads(device=1e-6, kind=1e-6, family=1e-6, both=1e-6, study=1e-6, group=1e-6)


def groups(scales: list[float], kind: str = "raw", independent: float = 1e9) -> list[Group]:
    """Studies with one class each, known as well as `independent` cells tell."""
    return [Group(f"{n}", "disk", kind, kind, scale**2, independent) for n, scale in enumerate(scales)]


def test_without_differences_the_interval_is_that_of_a_normal_distribution() -> None:
    """The limit: studies that are all alike give 1.645 times their scale."""
    found = half_width(groups([0.3] * 10), NONE, NEW, 0.9)
    assert found == pytest.approx(norm.ppf(0.95) * math.hypot(0.3, 0.02), rel=1e-4)


def test_studies_that_differ_widen_the_interval() -> None:
    """A new study may be one of the bad ones: the more studies differ, the wider; few studies leave more open."""
    spreads = [Spreads(study=each, group=0.01) for each in (0.05, 0.5, 1.0)]
    widths = [half_width(groups([0.3] * 20), each, NEW, 0.9) for each in spreads]
    assert widths == sorted(widths)
    few, many = (half_width(groups([0.3] * count), Spreads(), NEW, 0.9) for count in (2, 40))
    assert few > many


def test_a_class_without_cells_lies_between_its_relatives_and_all() -> None:
    """It is drawn to the same family, and is never as narrow as the class that is known."""
    near = [Group(f"n{n}", "disk", "latency", "times", 0.1**2, 20) for n in range(10)]
    far = [Group(f"f{n}", "disk", "programs", "programs", 1.0**2, 20) for n in range(10)]
    known, relative, other = (
        half_width([*near, *far], Spreads(), Group("", "disk", kind, family), 0.9)
        for kind, family in (("latency", "times"), ("tail", "times"), ("cpu", "cpu"))
    )
    assert known < relative < other


def test_spreads_are_found_again() -> None:
    """Made-up studies that differ by a factor have about that spread; studies that are alike have a small one."""
    random = np.random.default_rng(5)

    def learnt(spread: float) -> float:
        found = fitted_spreads(groups([0.2 * math.exp(spread * z) for z in random.standard_normal(60)], independent=50))
        return math.hypot(found.study, found.group)

    assert learnt(0.8) == pytest.approx(0.8, rel=0.25)
    assert learnt(0.0) < 0.3


def test_the_score_is_least_for_the_true_interval() -> None:
    """A proper score: of normal errors, neither half nor twice the width scores better than the true 90 % interval."""
    errors = np.random.default_rng(2).standard_normal(20_000)
    half, true, twice = (float(np.mean([interval_score(-h, h, each) for each in errors])) for h in (0.82, 1.645, 3.29))
    assert true < half
    assert true < twice
