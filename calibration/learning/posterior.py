"""What is known of a box after some measurements: samples of its parameters, and predictions from them.

A measured rate is what the box of the parameters does, times the model's error, times noise; the sizes of both are
unknown too. By Little's law a load of a constant number of I/Os says two things: the rate, and, where both kinds were
timed, how much longer writes take than reads. The posterior is sampled by an ensemble of walkers (Goodman and Weare
2010; ter Braak 2006; emcee). They begin all over the prior, and the measurements count more and more (sequential Monte
Carlo: Del Moral, Doucet and Jasra 2006), so all boxes are found that fit, not only those around the likeliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...model.core.errors import InputError
from ...model.files.extras import how_to_install
from .box import BLACK_BOX
from .errors_of_model import CorrelatedErrors
from .loads import Array, BoxLoad, Columns, Measured
from .model import Model

SPREADS = ("the model's error", "noise")
_NOISE = (0.03, 0.5)
"""Assumed: one run of a load is 3 % off the mean of many, and standard deviation of that number's logarithm."""
_FARTHEST = 6.0
"""Standard deviations from the prior's middle that are looked at."""
_FIRST, _WALKERS = 8000, 400
"""Samples of the prior, and those that go on."""
_EFFECTIVE = 0.5
"""How much more the measurements count at once: so much that this share of the walkers still tells as much as all."""
_STEPS_BETWEEN = 15
_BISECTIONS = 40
_KEPT = 4000
_INSIDE = 0.9


class Prediction(NamedTuple):
    """What is expected of one load.

    Attributes
    ----------
    rate, read_mean, write_mean
        Medians: I/Os a second; seconds, None of a kind that the load has not.
    rate_range, read_range, write_range
        Between them it lies with a probability of 90 %.
    """

    rate: float
    read_mean: float | None
    write_mean: float | None
    rate_range: tuple[float, float]
    read_range: tuple[float, float] | None
    write_range: tuple[float, float] | None


def _of_its_kinds(predicted: Prediction, share: float) -> Prediction:
    """Without latencies of reads or writes where the load has none."""
    if share == 0:
        return predicted._replace(read_mean=None, read_range=None)
    return predicted._replace(write_mean=None, write_range=None) if share == 1 else predicted


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
        middle, widths = _prior(model)
        self._middle, self._widths = middle, widths
        self.low, self.high = middle - _FARTHEST * widths, middle + _FARTHEST * widths
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

    def log_probability(self, samples: Array, weight: float = 1.0) -> Array:
        """Logarithm of prior times likelihood to the `weight`, but for a constant, at each of `samples`."""
        prior = -0.5 * np.sum(((samples - self._middle) / self._widths) ** 2, -1)
        return np.asarray(prior + weight * self.log_likelihood(samples))

    def log_likelihood(self, samples: Array) -> Array:
        """Logarithm of the measurements' density, but for a constant, at each of `samples`.

        Walkers may jump to where nothing is finite; nothing that far away is probable.
        """
        at = np.clip(samples, self.low, self.high)
        rates, ratios = self.residuals(at[..., :-2])
        spreads = self.spreads(at)
        found = self.rates.errors.log_likelihood(rates, spreads) + self.ratios.errors.log_likelihood(ratios, spreads)
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
        predicted = [Prediction._make([*values, *ends]) for values, ends in zip(middle, ranges, strict=True)]
        return [_of_its_kinds(each, load.read_share) for each, load in zip(predicted, loads, strict=True)]


def learn(measured: Sequence[Measured], *, model: Model = BLACK_BOX, seed: int = 0, steps: int = 600) -> Posterior:
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
        Of each walker once the measurements count in full; the first quarter is left out.

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
    moves = [(emcee.moves.DEMove(), 0.7), (emcee.moves.StretchMove(), 0.3)]
    chance = np.random.RandomState(seed).get_state()

    def walked(start: Array, weight: float, steps: int) -> Any:
        nonlocal chance
        count, parameters = start.shape
        density = partial(observed.log_probability, weight=weight)
        sampler = emcee.EnsembleSampler(count, parameters, density, vectorize=True, moves=moves)
        state = emcee.State(start, random_state=chance)
        chance = sampler.run_mcmc(state, steps, skip_initial_state_check=True).random_state
        return sampler

    walkers, weight = draw_from_prior(_FIRST, rng, model), 0.0
    while weight < 1:
        found = observed.log_likelihood(walkers)
        more = _more(found - np.max(found), 1 - weight)
        weight = min(1.0, weight + more)
        walkers = walkers[_resampled(more * (found - np.max(found)), rng)]
        walkers = walked(walkers, weight, _STEPS_BETWEEN).get_last_sample().coords
    chain = walked(walkers, 1.0, steps).get_chain(discard=steps // 4, flat=True)
    kept: Array = chain[:: max(1, len(chain) // _KEPT)]
    return Posterior(observed, kept)


def draw_from_prior(count: int, rng: np.random.Generator, model: Model = BLACK_BOX) -> Array:
    """Logarithms of parameters and of the two spreads before anything is measured: (count, parameters + 2)."""
    middle, widths = _prior(model)
    return np.asarray(middle + widths * rng.standard_normal((count, len(middle))))


def _prior(model: Model) -> tuple[Array, Array]:
    """Means and standard deviations of these logarithms."""
    medians = np.log([each.median for each in model.parameters])
    sds = np.array([each.sd for each in model.parameters])
    sizes = (model.error, _NOISE)
    return (
        np.concatenate([medians, np.log([each[0] for each in sizes])]),
        np.concatenate([sds, [each[1] for each in sizes]]),
    )


def _more(found: Array, most: float) -> float:
    """How much more weight the likelihoods, logarithms of at most 0, may get at once, up to `most`."""

    def effective(more: float) -> float:
        weights = np.exp(more * found)
        return float(np.sum(weights) ** 2 / np.sum(weights**2))

    if effective(most) >= _EFFECTIVE * _WALKERS:
        return most
    low, high = 0.0, most
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if effective(middle) >= _EFFECTIVE * _WALKERS else (low, middle)
    return high


def _resampled(logarithms: Array, rng: np.random.Generator) -> Array:
    """Numbers of the walkers that go on, each as often as its weight says (systematic resampling), mixed."""
    upto = np.cumsum(np.exp(logarithms))
    places = (rng.random() + np.arange(_WALKERS)) / _WALKERS * upto[-1]
    return rng.permutation(np.minimum(np.searchsorted(upto, places), len(upto) - 1))
