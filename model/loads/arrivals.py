"""When the I/Os of an open load come: distances between them, without end.

Each is an iterator of seconds that :class:`raidsim.model.loads.open_load.OpenLoad` takes one by one. None looks at
the device, so two arrays under the same load see the same moments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

BLOCK = 4096
"""Random numbers drawn at once."""


def constant(iops: float, first: float = 1.0) -> Iterator[float]:
    """Equal distances.

    Parameters
    ----------
    iops
        I/Os a second.
    first
        When the first comes, as a share of the distance: jobs with different ones take turns.
    """
    pause_s = 1.0 / iops
    yield first * pause_s
    while True:
        yield pause_s


def poisson(random: np.random.Generator, iops: float) -> Iterator[float]:
    """Exponential distances: `iops` I/Os a second that know nothing of each other."""
    while True:
        yield from random.exponential(1.0 / iops, BLOCK).tolist()


def bursty(random: np.random.Generator, iops: float, factor: float, share: float, length_s: float) -> Iterator[float]:
    """Bursts and calm times in turn, both of exponential length, with Poisson arrivals of two rates.

    This is the Markov-modulated Poisson process of two states (Fischer and Meier-Hellstern, "The Markov-modulated
    Poisson process (MMPP) cookbook", Performance Evaluation 18, 1993). With mean rate r, factor f and share p:

    * during a burst the rate is f r, between bursts (1 - p f) / (1 - p) r;
    * bursts last `length_s` on average, calm times (1 - p) / p times as long.

    It is made of a Poisson process of rate 1 on a clock that goes as fast as the rate of the moment, so it draws one
    exponential number per I/O and one per burst or calm time, and with a factor of 1 it is a Poisson process.

    Parameters
    ----------
    random
        What it draws from.
    iops
        Mean I/Os a second.
    factor
        Rate during a burst over the mean rate, 1 to 1 / `share`.
    share
        Share of the time in which there is a burst, above 0 and below 1.
    length_s
        Mean length of a burst (s).
    """
    # (1 - p f) of a factor that fills the bursts is 0 but for rounding.
    calm_rate = max(0.0, iops * (1.0 - share * factor) / (1.0 - share))
    rates = (calm_rate, iops * factor)
    lengths_s = (length_s * (1.0 - share) / share, length_s)
    states, amounts = random.spawn(2)
    stays = _exponentials(states)
    now = int(states.random() < share)
    left_s = lengths_s[now] * next(stays)
    for amount in _exponentials(amounts):
        gap_s = 0.0
        while amount >= rates[now] * left_s:
            amount -= rates[now] * left_s
            gap_s += left_s
            now = 1 - now
            left_s = lengths_s[now] * next(stays)
        inside_s = amount / rates[now]
        left_s -= inside_s
        yield gap_s + inside_s


def histogram(random: np.random.Generator, gaps: Mapping[float, float], scale: float = 1.0) -> Iterator[float]:
    """Independent distances of a histogram, even within each class.

    Parameters
    ----------
    random
        What it draws from.
    gaps
        Upper end (s) of each class in ascending order, and the share of the distances in it; the first begins at 0.
    scale
        A factor on all distances.
    """
    ends = np.array([0.0, *gaps]) * scale
    reached = np.array([0.0, *np.cumsum(list(gaps.values()))])
    reached[-1] = 1.0
    while True:
        # A distribution function that is a straight line within each class is inverted by interpolation.
        yield from np.interp(random.random(BLOCK), reached, ends).tolist()


def listed(random: np.random.Generator, times: Sequence[float], scale: float = 1.0) -> Iterator[float]:
    """Independent distances out of a list of them, each as likely; `scale` is a factor on all."""
    scaled = np.array(times) * scale
    while True:
        yield from scaled[random.integers(0, len(scaled), BLOCK)].tolist()


def constant_think(mean_s: float) -> Iterator[float]:
    """A user who always thinks as long."""
    while True:
        yield mean_s


def exponential_think(random: np.random.Generator, mean_s: float) -> Iterator[float]:
    """A user whose times of thinking are exponential."""
    while True:
        yield from random.exponential(mean_s, BLOCK).tolist()


def _exponentials(random: np.random.Generator) -> Iterator[float]:
    while True:
        yield from random.standard_exponential(BLOCK).tolist()
