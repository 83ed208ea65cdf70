"""Which parameter of a scenario moves a figure of its prediction most.

Every simulation has the scenario's seed, so two of them differ by their parameters and not by chance, and programs
keep the scale of the scenario as it is written. Changes of a figure are 100 times differences of its logarithm: percent
while they are small, and the same up and down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, get_args

import numpy as np

from ...model.core.errors import InputError
from ...scenarios.description.programs import ProgramsSpec
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.programs.step import Dimension
from ...scenarios.running.base.prediction import Prediction
from ...scenarios.running.base.sample import Sample, scale_for
from ...scenarios.sweeps.figure_values import figure_values
from ..simulation.evaluator import Evaluator, Progress
from ..study.figures import figures_of
from .parameters import UncertainParameter, with_factors
from .sensitivity import Matrix, Screening, Shares, Vector, screen, variance_shares

Method = Literal["morris", "sobol"]
MATTERS = 0.05
"""A parameter matters if it has so large a share of the effect of the first one."""
LEAST_EFFECT = 0.01
"""Percent of change per standard deviation below which nothing matters."""
MATTERS_TOTAL = 0.01
"""The same of the variance, where nothing was screened."""
_DIGITS = 6
"""Decimal places of a size that count for the order: behind them it is a matter of the processor."""
TRAJECTORIES = 8
SAMPLES = 64
"""Of Sobol's indices of all parameters."""
MOST_SHARED = 4
"""After screening, parameters whose share of the variance is asked for."""
SHARE_RUNS = 400
"""After screening, simulations for that at most, unless the samples are given."""

ProgressOf = Callable[[str], AbstractContextManager[Progress]]
"""Shows how far something, in words, is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How it is found out."""

    method: str | None = None
    """"morris" or "sobol"; None: Morris' screening of all parameters, then Sobol's indices of the few that matter."""
    trajectories: int = TRAJECTORIES
    """Of the screening."""
    samples: int | None = None
    """Of Sobol's indices: a power of two."""
    seed: int = 0
    """Of trajectories and samples; the scenario's own is left alone."""

    def __post_init__(self) -> None:
        if self.method is not None and self.method not in get_args(Method):
            allowed = f"expected: {', '.join(get_args(Method))}; without --method one after the other"
            raise InputError("--method", f"unknown method {self.method!r}", allowed)
        if self.trajectories < 2:
            raise InputError("--trajectories", f"found {self.trajectories}", "expected: 2 or more")
        if self.samples is not None and (self.samples < 4 or self.samples & (self.samples - 1)):
            raise InputError("--samples", f"found {self.samples}", "expected: a power of two, 4 or more")
        if self.seed < 0:
            raise InputError("--seed", f"found {self.seed}", "expected: 0 or more")


def figure_dimension(scenario: ScenarioSpec, figure: str) -> Dimension:
    """What a figure of :func:`figure_values` measures."""
    known = figures_of(scenario.workload)
    if figure in known:
        return known[figure]
    if figure.endswith("iops"):
        return "1/s"
    return "bytes/s" if figure.endswith("rate") else "s"


def _sample(scenario: ScenarioSpec) -> Sample:
    programs = isinstance(scenario.workload, ProgramsSpec)
    return Sample(scale=scale_for(scenario, Sample())) if programs else Sample()


def nominal(scenario: ScenarioSpec, evaluator: Evaluator) -> Prediction:
    """What a scenario gives as it is.

    Raises
    ------
    InputError
        If the model refuses it.
    """
    return evaluator.run([scenario], _sample(scenario))[0]


class FigureResponse:
    """How a figure follows parameters: answers to rows of ln(factor) in standard deviations.

    Parameters
    ----------
    scenario, parameters
        What moves, and in what.
    figure
        One of :func:`figure_values`.
    evaluator
        Runs the simulations.

    Attributes
    ----------
    nominal
        The figure of the scenario as it is, in SI units.
    refusals
        What was said of machines that cannot be.

    Raises
    ------
    InputError
        If the scenario has no such figure, or it is 0.
    """

    def __init__(
        self, scenario: ScenarioSpec, parameters: Sequence[UncertainParameter], figure: str, evaluator: Evaluator
    ) -> None:
        self._scenario = scenario
        self._parameters = parameters
        self._figure = figure
        self._evaluator = evaluator
        self._sd = np.array([parameter.sd for parameter in parameters])
        self._sample = _sample(scenario)
        self.refusals: list[str] = []
        values = figure_values(nominal(scenario, evaluator))
        if figure not in values:
            close = get_close_matches(figure, values, n=1)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise InputError("--figure", f"no figure {figure!r}{hint}", f"expected: {', '.join(values)}")
        self.nominal = values[figure]
        if not self.nominal > 0:
            positive = ", ".join(name for name, value in values.items() if value > 0)
            raise InputError("--figure", f"{figure} is 0", f"expected: {positive}")

    def of(self, chosen: Sequence[int], progress: Progress) -> Callable[[Matrix], Vector]:
        """The answers (percent of change, NaN without one) to rows of some parameters, the others as they are."""

        def response(rows: Matrix) -> Vector:
            points = np.zeros((len(rows), len(self._sd)))
            points[:, list(chosen)] = rows
            return self._answers(points, progress)

        return response

    def _answers(self, points: Matrix, progress: Progress) -> Vector:
        answers = np.full(len(points), math.nan)
        there: dict[int, ScenarioSpec] = {}
        for i, factors in enumerate(np.exp(points * self._sd)):
            try:
                there[i] = with_factors(self._scenario, self._parameters, factors.tolist())
            except InputError as refusal:
                self.refusals.append(str(refusal))
        outcomes = self._evaluator.outcomes(there.values(), self._sample, progress)
        for i, outcome in zip(there, outcomes, strict=True):
            if isinstance(outcome, InputError):
                self.refusals.append(str(outcome))
                continue
            value = figure_values(outcome).get(self._figure, 0.0)
            if value > 0:
                answers[i] = 100.0 * math.log(value / self.nominal)
            else:
                self.refusals.append(f"{self._figure} is 0")
        return answers


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What was found out about a figure.

    Attributes
    ----------
    scenario, figure, nominal
        Of what, and its value as it is (SI units).
    parameters
        All that moved.
    screening
        Effects in percent of the figure, in the order of `parameters`; None without screening.
    shared, shares
        Positions in `parameters` of those whose share of the variance was asked for, and the shares, None without.
    settings
        How it was found out.
    simulations
        What it cost.
    refusals
        What was said of machines that cannot be, and were left out.
    """

    scenario: ScenarioSpec
    figure: str
    nominal: float
    parameters: tuple[UncertainParameter, ...]
    screening: Screening | None
    shared: tuple[int, ...]
    shares: Shares | None
    settings: Settings
    simulations: int
    refusals: tuple[str, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """Positions of the parameters, the one first that moves the figure most; of equal ones as they came."""
        return tuple(sorted(range(len(self.parameters)), key=lambda i: -round(self._size(i), _DIGITS)))

    @property
    def matter(self) -> tuple[int, ...]:
        """Positions of those that matter, in order."""
        order = self.order
        if self.screening is None:
            return tuple(i for i in order if self._size(i) >= MATTERS_TOTAL)
        least = max(LEAST_EFFECT, MATTERS * self._size(order[0]))
        return tuple(i for i in order if self._size(i) >= least)

    @property
    def leading(self) -> tuple[int, ...]:
        """Positions of those that matter, the largest shares of the variance first, as far as they are known."""
        totals = {} if self.shares is None else dict(zip(self.shared, self.shares.shares, strict=True))
        known = sorted((i for i in self.matter if i in totals), key=lambda i: -totals[i].total)
        return (*known, *(i for i in self.matter if i not in totals))

    def _size(self, position: int) -> float:
        if self.screening is not None:
            return self.screening.effects[position].mu_star
        assert self.shares is not None
        return self.shares.shares[position].total

    def document(self) -> dict[str, Any]:
        """All of it as plain data: effects in percent of the figure per standard deviation, shares of 1."""
        shares = {} if self.shares is None else dict(zip(self.shared, self.shares.shares, strict=True))
        return {
            "scenario": self.scenario.name,
            "kernel": self.scenario.kernel,
            "figure": self.figure,
            "dimension": figure_dimension(self.scenario, self.figure),
            "nominal": self.nominal,
            "seed": self.settings.seed,
            "simulations": self.simulations,
            "trajectories": None if self.screening is None else self.screening.trajectories,
            "trajectories_left_out": None if self.screening is None else self.screening.left_out,
            "samples": None if self.shares is None else self.shares.samples,
            "samples_left_out": None if self.shares is None else self.shares.left_out,
            "refusals": sorted(set(self.refusals)),
            "parameters": [self._parameter_document(i, shares) for i in self.order],
            "matter": [self.parameters[i].path for i in self.leading],
        }

    def _parameter_document(self, position: int, shares: dict[int, Any]) -> dict[str, Any]:
        parameter = self.parameters[position]
        effect = None if self.screening is None else self.screening.effects[position]
        share = shares.get(position)
        return {
            "path": parameter.path,
            "kind": parameter.kind,
            "sd": parameter.sd,
            "moves": [".".join(address) for address in parameter.moves],
            "mu_star": None if effect is None else effect.mu_star,
            "mu_star_error": None if effect is None else effect.mu_star_error,
            "mu": None if effect is None else effect.mu,
            "sigma": None if effect is None else effect.sigma,
            "S1": None if share is None else share.first,
            "S1_error": None if share is None else share.first_error,
            "ST": None if share is None else share.total,
            "ST_error": None if share is None else share.total_error,
        }


def sensitivity(
    scenario: ScenarioSpec,
    parameters: Sequence[UncertainParameter],
    figure: str,
    evaluator: Evaluator,
    settings: Settings,
    progress_of: ProgressOf,
) -> Sensitivity:
    """Find out which of some parameters move a figure of a scenario.

    Parameters
    ----------
    scenario, parameters, figure
        Of what.
    evaluator
        Runs the simulations.
    settings
        How.
    progress_of
        Follows each part of the work.

    Raises
    ------
    InputError
        For a figure that there is none of, or if most machines cannot be.
    """
    before = evaluator.simulated
    response = FigureResponse(scenario, parameters, figure, evaluator)
    everything = tuple(range(len(parameters)))
    screening: Screening | None = None
    if settings.method != "sobol":
        with progress_of("screening") as progress:
            follow = response.of(everything, progress)
            with _with_refusals(response):
                screening = screen(follow, len(parameters), settings.trajectories, settings.seed)

    def found(shared: tuple[int, ...] = (), shares: Shares | None = None) -> Sensitivity:
        simulations, refusals = evaluator.simulated - before, tuple(response.refusals)
        return Sensitivity(
            scenario,
            figure,
            response.nominal,
            tuple(parameters),
            screening,
            shared,
            shares,
            settings,
            simulations,
            refusals,
        )

    shared = everything
    if screening is not None:
        if settings.method == "morris":
            return found()
        shared = found().matter[:MOST_SHARED]
        if len(shared) < 2:
            return found()
    samples = settings.samples or (SAMPLES if screening is None else _affordable(len(shared)))
    with progress_of("Sobol indices") as progress:
        follow = response.of(shared, progress)
        with _with_refusals(response):
            shares = variance_shares(follow, len(shared), samples, settings.seed)
    return found(shared, shares)


@contextmanager
def _with_refusals(response: FigureResponse) -> Iterator[None]:
    """Where too few machines can be, say of the first one that cannot why."""
    try:
        yield
    except InputError as error:
        why = response.refusals[0].replace(": ", " ", 1)
        raise InputError(error.place, f"{error.found} ({why})", error.expected) from None


def _affordable(inputs: int) -> int:
    """The power of two of samples that takes no more than :data:`SHARE_RUNS`."""
    return 1 << int(math.log2(SHARE_RUNS / (inputs + 2)))
