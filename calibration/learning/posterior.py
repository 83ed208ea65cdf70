"""What is known of a box after some measurements: samples of its parameters, and predictions from them.

A measured rate is what the box of the parameters does, times the model's error, times noise; the sizes of both are
unknown too. By Little's law a load of a constant number of I/Os says two things: the rate, and, where both kinds were
timed, how much longer writes take than reads. The posterior is sampled by an ensemble of walkers (Goodman and Weare
2010; ter Braak 2006; emcee), which begin around the most probable parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from ...model.core.errors import InputError
from ...model.files.extras import how_to_install
from .errors_of_model import CorrelatedErrors
from .loads import Array, BoxLoad, Columns, Measured
from .model import BLACK_BOX, Model

SPREADS = ("the model's error", "noise")
_SPREAD_MEDIANS = np.log([0.1, 0.03])
_SPREAD_SDS = np.array([0.5, 0.5])
"""Assumed: the model is 10 % off where nothing was measured, and one run of a load 3 % off the mean of many."""
_FARTHEST = 6.0
"""Standard deviations from the prior's middle that are looked at."""
_WALKERS_EACH = 3
_STARTS = 4
_STEP = 1e-4
_INSIDE = 0.9


class Prediction(NamedTuple):
    """What is expected of one load.

    Attributes
    ----------
    rate, read_mean, write_mean
        Medians: I/Os a second; seconds.
    rate_range, read_range, write_range
        Between them it lies with a probability of 90 %.
    """

    rate: float
    read_mean: float
    write_mean: float
    rate_range: tuple[float, float]
    read_range: tuple[float, float]
    write_range: tuple[float, float]


class _Kind:
    """Logarithms of one kind of figure, and where among the loads they were measured."""

    def __init__(self, measured: Sequence[Measured], values: Sequence[float | None]) -> None:
        self.at = [k for k, value in enumerate(values) if value is not None]
        self.loads = Columns.of([measured[k].load for k in self.at])
        self.values: Array = np.log([value for value in values if value is not None])
        self.errors = CorrelatedErrors(self.loads)


class Observed:
    """Measurements as logarithms of rates, and of the latency of reads over that of writes where both are known.

    Parameters
    ----------
    measured
        The measurements.
    model
        What the box may be, before them.
    """

    def __init__(self, measured: Sequence[Measured], model: Model) -> None:
        self.measured = tuple(measured)
        self.model = model
        self.medians: Array = np.log([each.median for each in model.parameters])
        self.sds: Array = np.array([each.sd for each in model.parameters])
        middle = np.concatenate([self.medians, _SPREAD_MEDIANS])
        reach = _FARTHEST * np.concatenate([self.sds, _SPREAD_SDS])
        self.low, self.high = middle - reach, middle + reach
        self.rates = _Kind(measured, [each.rate for each in measured])
        self.ratios = _Kind(
            measured,
            [
                None if each.read_mean is None or each.write_mean is None else each.read_mean / each.write_mean
                for each in measured
            ],
        )

    def residuals(self, parameters: Array) -> tuple[Array, Array]:
        """Measured minus modeled logarithms of rates and ratios."""
        found = self.model.means(parameters, self.rates.loads)
        ratios = np.log(found.read / found.write)[..., self.ratios.at]
        return self.rates.values - np.log(found.rate), self.ratios.values - ratios

    def spreads(self, samples: Array) -> Array:
        """Standard deviations of the model's error, and of noise with what the model does not follow of itself."""
        found = np.exp(samples[..., -2:])
        found[..., 1] = np.hypot(found[..., 1], self.model.own_error)
        return np.asarray(found)

    def white(self, parameters: Array, spreads: Array) -> Array:
        """All residuals in standard deviations, none correlated with another."""
        rates, ratios = self.residuals(parameters)
        parts = self.rates.errors.white(rates, spreads), self.ratios.errors.white(ratios, spreads)
        return np.concatenate(parts, -1)

    def log_probability(self, samples: Array) -> Array:
        """Logarithm of the posterior's density, but for a constant, at each of `samples`.

        Walkers may jump to where nothing is finite; nothing that far away is probable.
        """
        at = np.clip(samples, self.low, self.high)
        parameters, spreads = at[..., :-2], self.spreads(at)
        rates, ratios = self.residuals(parameters)
        found = (
            self.rates.errors.log_likelihood(rates, spreads)
            + self.ratios.errors.log_likelihood(ratios, spreads)
            - 0.5 * np.sum(((parameters - self.medians) / self.sds) ** 2, -1)
            - 0.5 * np.sum(((at[..., -2:] - _SPREAD_MEDIANS) / _SPREAD_SDS) ** 2, -1)
        )
        return np.where(np.all(at == samples, -1), found, -np.inf)


class _Expected(NamedTuple):
    """Means and standard deviations of logarithms as they would be measured: a row for each sample."""

    mean: Array
    spread: Array

    def drawn(self, rng: np.random.Generator) -> Array:
        """One value of each."""
        return np.asarray(self.mean + rng.standard_normal(self.mean.shape) * self.spread)


class Posterior:
    """What the box may be.

    Attributes
    ----------
    observed
        What was measured.
    samples
        Logarithms of parameters, and of the two spreads: (samples, parameters + 2).
    """

    def __init__(self, observed: Observed, samples: Array) -> None:
        self.observed = observed
        self.samples = samples

    def draws(self, loads: Sequence[BoxLoad], rng: np.random.Generator) -> tuple[Array, Array]:
        """Logarithms of rates, and of latencies of reads over writes, as they would be measured.

        A row for each sample, a column for each load.
        """
        rates, ratios = self._expected(Columns.of(loads))
        return rates.drawn(rng), ratios.drawn(rng)

    def modeled_rates(self, loads: Columns) -> Array:
        """Logarithms of rates with the model's error as it is expected, without noise: a row for each sample."""
        return self._expected(loads)[0].mean

    def _expected(self, loads: Columns) -> list[_Expected]:
        parameters, spreads = self.samples[:, :-2], self.observed.spreads(self.samples)
        found = self.observed.model.means(parameters, loads)
        expected = []
        for modeled, kind, residuals in zip(
            (np.log(found.rate), np.log(found.read / found.write)),
            (self.observed.rates, self.observed.ratios),
            self.observed.residuals(parameters),
            strict=True,
        ):
            mean, variance = kind.errors.expected(loads, residuals, spreads)
            expected.append(_Expected(modeled + mean, np.sqrt(variance + spreads[:, 1:] ** 2)))
        return expected

    def predict(self, loads: Sequence[BoxLoad], seed: int = 0) -> list[Prediction]:
        """What is expected of other loads."""
        rates, ratios = self.draws(loads, np.random.default_rng(seed))
        share = np.array([load.read_share for load in loads])
        outstanding = np.array([load.outstanding for load in loads])
        # Little's law: outstanding = rate * (share * read + (1 - share) * write).
        write = outstanding / np.exp(rates) / (share * np.exp(ratios) + 1 - share)
        levels = ((1 - _INSIDE) / 2, 0.5, (1 + _INSIDE) / 2)
        found = [np.quantile(each, levels, axis=0) for each in (np.exp(rates), write * np.exp(ratios), write)]
        low, middle, high = (np.stack([each[level] for each in found], -1).tolist() for level in range(3))
        ranges = [[(one, other) for one, other in zip(*pair, strict=True)] for pair in zip(low, high, strict=True)]
        return [Prediction._make([*values, *ends]) for values, ends in zip(middle, ranges, strict=True)]


def learn(measured: Sequence[Measured], *, model: Model = BLACK_BOX, seed: int = 0, steps: int = 1500) -> Posterior:
    """Sample what the box may be.

    Parameters
    ----------
    measured
        What was measured, one or more.
    model
        What the box may be; default: anything.
    seed
        Of the walkers.
    steps
        Of each walker; the first third is left out.

    Raises
    ------
    InputError
        If nothing was measured, or emcee is not installed.
    """
    if not measured:
        raise InputError("measurements", "none", "expected: one or more")
    try:
        import emcee
    except ImportError:
        raise InputError("learning a box", "emcee is not installed", how_to_install("learn")) from None
    observed, rng = Observed(measured, model), np.random.default_rng(seed)
    best = _best(observed, rng)
    slopes = _slopes(best[:-2], observed, observed.spreads(best))
    spread = np.linalg.inv(slopes.T @ slopes)
    walkers = 2 * ((len(best) * _WALKERS_EACH + 1) // 2)
    begin = np.hstack(
        [
            rng.multivariate_normal(best[:-2], spread, walkers, method="cholesky"),
            best[-2:] + 0.2 * rng.standard_normal((walkers, 2)),
        ]
    )
    moves = [(emcee.moves.DEMove(), 0.7), (emcee.moves.DESnookerMove(), 0.1), (emcee.moves.StretchMove(), 0.2)]
    sampler = emcee.EnsembleSampler(walkers, len(best), observed.log_probability, vectorize=True, moves=moves)
    state = emcee.State(
        np.clip(begin, observed.low, observed.high), random_state=np.random.RandomState(seed).get_state()
    )
    sampler.run_mcmc(state, steps, skip_initial_state_check=True)
    kept: Array = sampler.get_chain(discard=steps // 3, thin=max(1, steps // 75), flat=True)
    return Posterior(observed, kept)


def _best(observed: Observed, rng: np.random.Generator) -> Array:
    """The most probable parameters, of those that are found from the prior's middle and from around it."""
    found = []
    for k in range(_STARTS):
        at = observed.medians + (rng.standard_normal(len(observed.sds)) * observed.sds / 2 if k else 0)
        spreads: Any = _SPREAD_MEDIANS
        for _ in range(2):
            at = optimize.least_squares(
                _misfit,
                at,
                _slopes,
                bounds=(observed.low[:-2], observed.high[:-2]),
                args=(observed, observed.spreads(spreads)),
            ).x
            spreads = optimize.minimize(partial(_improbability, observed, at), spreads, method="Nelder-Mead").x
        found.append(np.concatenate([at, spreads]))
    return max(found, key=lambda each: float(observed.log_probability(each)))


def _improbability(observed: Observed, parameters: Array, spreads: Array) -> float:
    return -float(observed.log_probability(np.concatenate([parameters, spreads])))


def _misfit(parameters: Array, observed: Observed, spreads: Array) -> Array:
    """Residuals and distances from the prior's middle, in standard deviations: (..., n)."""
    return np.concatenate([observed.white(parameters, spreads), (parameters - observed.medians) / observed.sds], -1)


def _slopes(parameters: Array, observed: Observed, spreads: Array) -> Array:
    """Derivatives of `_misfit`, from one evaluation of many: (n, parameters)."""
    moved = parameters + _STEP * np.vstack([np.zeros(len(parameters)), np.eye(len(parameters))])
    found = _misfit(moved, observed, spreads)
    return np.asarray((found[1:] - found[0]).T / _STEP)
