"""The fit: bounded least squares on log ratios of the calibrate cells, with priors.

A residual is ln(predicted / measured) over what a model of this kind can be expected to reach, or ln(factor) over its
prior's standard deviation. All simulations share their random streams, so finite differences see the parameter and
not the noise. The covariance is that of the linearised problem at the optimum (Gauss-Newton).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..model.errors import InputError
from ..scenarios.sample import Sample
from .evaluate import Evaluator, Progress
from .profile import FittedParameter, Profile, fingerprint
from .study import CaseBuilder, CaseSpec, StudySpec

CELL_SD = 0.02
"""What a cell is expected to be off by (ln): repeatability of the measurement and of the model together."""
BOUND_SD = 3.0
"""Parameters stay within as many prior standard deviations."""
STEP = 0.1
"""Finite difference in ln(factor): large against the noise of a short run, small against curvature."""
MOST_EVALUATIONS = 12
TOLERANCE = 0.03
"""Relative change of cost or parameters at which the fit stops; the simulations do not resolve less."""

FIT_SAMPLE = Sample()
SLOPE_SAMPLE = Sample(read_bytes=32 << 20, write_bytes=8 << 20, cycles=2)
"""For finite differences: shorter, because both ends share the random streams."""
Vector = NDArray[np.float64]


class Fit:
    """A calibration of one study.

    Parameters
    ----------
    study
        The study.
    evaluator
        Runs the simulations.
    progress
        Called with (steps done, steps expected).
    """

    def __init__(self, study: StudySpec, evaluator: Evaluator, progress: Progress | None = None) -> None:
        if not study.calibrate_cases:
            raise InputError(f"study {study.id}", "no case to calibrate on", "allowed: at least one `use: calibrate`")
        if not study.parameters:
            raise InputError(f"study {study.id}", "no parameters", "allowed: at least one to fit")
        self.study = study
        self._evaluator = evaluator
        self._progress = progress
        self._sd = np.array([parameter.sd for parameter in study.parameters])
        self._jacobians = 0
        self._steps = 0

    def run(self) -> Profile:
        """Fit, and evaluate the sensitivities of all cases at the optimum."""
        from scipy.optimize import least_squares

        cases = self.study.calibrate_cases
        bound = BOUND_SD * self._sd
        result = least_squares(
            lambda theta: self._residuals(theta, cases),
            np.zeros(len(self._sd)),
            jac=lambda theta: self._scaled(self._jacobian(theta, cases), cases),
            bounds=(-bound, bound),
            x_scale=self._sd,
            ftol=TOLERANCE,
            xtol=TOLERANCE,
            max_nfev=MOST_EVALUATIONS,
        )
        theta = np.asarray(result.x)
        sensitivities = self._jacobian(theta, list(self.study.cases))
        by_case = {case.id: row for case, row in zip(self.study.cases, sensitivities, strict=True)}
        jacobian = self._scaled(np.array([by_case[case.id] for case in cases]), cases)
        covariance = np.linalg.inv(jacobian.T @ jacobian)
        errors = np.sqrt(np.diag(covariance))
        ratios = self._ratios(theta, cases)
        self._report(done=True)
        return Profile(
            study=self.study.id,
            fingerprint=fingerprint(self.study),
            parameters=tuple(
                FittedParameter(
                    name=parameter.name,
                    factor=float(np.exp(value)),
                    standard_error=float(error),
                    prior_sd=parameter.sd,
                )
                for parameter, value, error in zip(self.study.parameters, theta, errors, strict=True)
            ),
            correlation=tuple(tuple(float(x) for x in row) for row in covariance / np.outer(errors, errors)),
            rms=float(np.sqrt(np.mean(ratios**2))),
            sensitivities={name: tuple(float(x) for x in row) for name, row in by_case.items()},
            simulations=self._evaluator.simulated,
            converged=bool(result.success) and result.status > 0,
            message=str(result.message),
        )

    def _factors(self, theta: Vector) -> dict[str, float]:
        return {p.name: float(np.exp(x)) for p, x in zip(self.study.parameters, theta, strict=True)}

    def _log_rates(self, theta: Vector, cases: list[CaseSpec], sample: Sample) -> Vector:
        """ln(rate) of every case."""
        builder = CaseBuilder(self.study, self._factors(theta))
        predictions = self._evaluator.run([builder.scenario(case) for case in cases], sample)
        return np.array([math.log(prediction.rate) for prediction in predictions])

    def _ratios(self, theta: Vector, cases: list[CaseSpec]) -> Vector:
        measured = np.array([case.rate * self.study.conventions.MB for case in cases])
        return np.asarray(self._log_rates(theta, cases, FIT_SAMPLE) - np.log(measured))

    def _residuals(self, theta: Vector, cases: list[CaseSpec]) -> Vector:
        self._report()
        return np.concatenate([self._ratios(theta, cases) / CELL_SD, theta / self._sd])

    def _jacobian(self, theta: Vector, cases: list[CaseSpec]) -> NDArray[np.float64]:
        """d ln(rate) / d ln(factor), cases by parameters."""
        self._report()
        here = self._log_rates(theta, cases, SLOPE_SAMPLE)
        columns = []
        for i in range(len(theta)):
            moved = theta.copy()
            step = STEP if theta[i] <= 0 else -STEP
            moved[i] += step
            columns.append((self._log_rates(moved, cases, SLOPE_SAMPLE) - here) / step)
            self._report()
        return np.array(columns).T

    def _scaled(self, jacobian: NDArray[np.float64], cases: list[CaseSpec]) -> NDArray[np.float64]:
        return np.vstack([jacobian[: len(cases)] / CELL_SD, np.diag(1.0 / self._sd)])

    def _report(self, done: bool = False) -> None:
        if self._progress is not None:
            expected = 5 * (len(self._sd) + 2)
            self._steps += 1
            self._progress(expected if done else min(self._steps, expected - 1), expected)


def calibrate(study: StudySpec, evaluator: Evaluator, progress: Progress | None = None) -> Profile:
    """Fit the study's parameters to its calibrate cells.

    Returns
    -------
    Profile
        Values, errors, correlations and sensitivities.
    """
    return Fit(study, evaluator, progress).run()
