"""What a calibration has found, parameter by parameter, with units: for people and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..study.document import ParameterSpec
from ..study.parameters import unit_at, value_at
from ..study.study import StudySpec
from .choices import Combination
from .problem import OUTLIER_SD, Problem
from .profile import BOUND_SD, FittedParameter, Profile
from .profile_likelihood import Limits
from .starts import Searches, differences

_TELLING = 2.0
"""Difference in cost (ln likelihood) from which on one of two alternatives is said to be the better one: a likelihood
ratio of seven."""


_SHOWN = 3
"""Cells that are named of those that are further off than noise explains."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A study's fit with all that was asked about it.

    Attributes
    ----------
    limits
        90 % intervals of factors by their profile likelihood, by parameter.
    tried
        Alternatives, the best one first; `study` has that.
    """

    study: StudySpec
    profile: Profile
    searches: Searches
    limits: Mapping[str, Limits]
    tried: tuple[Combination, ...] = ()

    @property
    def failures(self) -> list[str]:
        """What makes this fit one that should not be used unseen, in words; none if it is sound."""
        return self.profile.failures() + differences(self.searches, self.profile)

    @property
    def misfits(self) -> list[str]:
        """Which calibrated cells are further off than noise explains, in words with what to do; none if none is."""
        logs = self.searches.best.logs
        ratios = {
            cell.id: logs[cell.id] - math.log(cell.value) for cell in self.study.calibrate_cells if cell.id in logs
        }
        return misfits(self.study, ratios)

    @property
    def doubts(self) -> list[str]:
        """What the data do not tell, in words."""
        lines = []
        cells = len(self.study.calibrate_cells)
        claims = any(claim.use == "calibrate" for claim in self.study.claims)
        if not cells and not claims:
            lines.append("No number was measured to calibrate on: the priors stand.")
        elif self.profile.undetermined():
            numbers = "The measured number says" if cells == 1 else f"The {cells} measured numbers say"
            data = "What was measured says" if claims else numbers
            lines.append(f"{data} next to nothing beyond the prior about {', '.join(self.profile.undetermined())}.")
        for first, second, value in self.profile.inseparable():
            way = "together" if value > 0 else "against each other"
            lines.append(
                f"{first} and {second} cannot be told apart: moved {way} they change little (correlation {value:.2f})."
            )
        return lines + [f"A start is left out: {refusal}." for refusal in self.searches.refused]

    def noted(self) -> Profile:
        """The profile, with all of this in words."""
        return self.profile.model_copy(update={"notes": (*self.failures, *self.misfits, *self.doubts)})

    @property
    def choices(self) -> list[str]:
        """What the data say of alternatives, in words."""
        lines = []
        for each in self.tried:
            told = f"cannot be: {each.refusal}" if each.optimum is None else f"cost {each.cost:.3g}"
            lines.append(f"{each.words}: {told}")
        if len(self.tried) > 1 and self.tried[1].cost - self.tried[0].cost < _TELLING:
            lines.append("The measured numbers do not tell the first two apart.")
        return lines

    def parameters(self) -> list[dict[str, Any]]:
        """Every parameter: its value with its unit, prior, bounds, and what the fit says."""
        return [
            self._parameter(spec, fitted)
            for spec, fitted in zip(self.study.parameters, self.profile.parameters, strict=True)
        ]

    def _parameter(self, spec: ParameterSpec, fitted: FittedParameter) -> dict[str, Any]:
        bound = math.exp(BOUND_SD * fitted.prior_sd)
        limits = self.limits.get(spec.name)
        document: dict[str, Any] = {
            "name": spec.name,
            "factor": fitted.factor,
            "standard_error": fitted.standard_error,
            "prior_sd": fitted.prior_sd,
            "reason": spec.reason,
            "bounds": [1 / bound, bound],
            "at_bound": spec.name in self.profile.at_bounds(),
            "values": [
                {
                    "path": path,
                    "unit": unit_at(self.study, path),
                    "prior": value_at(self.study, path),
                    "value": value_at(self.study, path, fitted.factor),
                }
                for path in spec.paths
            ],
        }
        if limits is not None:
            document["interval"] = [limits.low, limits.high]
        return document

    def document(self) -> dict[str, Any]:
        """The object that ``raidsim calibrate --json`` prints."""
        profile = self.profile
        return {
            "study": self.study.id,
            "cells": len(self.study.calibrate_cells),
            "parameters": self.parameters(),
            "correlation": profile.correlation,
            "inseparable": [list(pair) for pair in profile.inseparable()],
            "undetermined": profile.undetermined(),
            "discrepancy": profile.discrepancy,
            "cost": profile.cost,
            "evaluations": profile.evaluations,
            "simulations": profile.simulations,
            "converged": profile.converged,
            "message": profile.message,
            "starts": [
                {
                    "start": [math.exp(x) for x in start.optimum.start],
                    "factors": [math.exp(x) for x in start.optimum.theta],
                    "cost": start.optimum.cost,
                    "worse": start.worse,
                    "converged": start.optimum.converged,
                    "distances": [float(distance) for distance in start.distances],
                    "differs_in": list(start.differs_in),
                    "verdict": start.verdict,
                }
                for start in self.searches.of(profile)
            ],
            "choices": [
                {**each.chosen, "cost": None if each.optimum is None else each.cost, "refusal": each.refusal}
                for each in self.tried
            ],
            "failures": self.failures,
            "misfits": self.misfits,
        }


def misfits(study: StudySpec, ratios: Mapping[str, float]) -> list[str]:
    """Say which calibrated cells of a fit are further off than noise explains, with what to do.

    Parameters
    ----------
    study
        The study.
    ratios
        ln(predicted / measured) after the fit, by the cell's id; of calibrate cells.

    Returns
    -------
    list
        No line, or one.
    """
    problem = Problem(study)
    cells = [cell for cell in problem.cells if cell.id in ratios]
    limits = {cell.id: OUTLIER_SD * problem.cell_sd(cell) for cell in cells}
    far = sorted(
        (cell.id for cell in cells if abs(ratios[cell.id]) > limits[cell.id]), key=lambda name: -abs(ratios[name])
    )
    if not far:
        return []
    worst = ", ".join(f"{name} by {100 * ratios[name]:+.0f} %" for name in far[:_SHOWN])
    more = ", ..." if len(far) > _SHOWN else ""
    noise = " or ".join(f"{100 * limit:.0f} %" for limit in sorted({limits[name] for name in far}))
    cells_are = f"{len(far)} of {len(cells)} calibrated cells {'is' if len(far) == 1 else 'are'}"
    todo = "check the machine's description and these measurements, or a mechanism is missing"
    return [f"{cells_are} off by more than noise explains ({noise}): {worst}{more}; {todo}"]
