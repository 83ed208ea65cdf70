"""The least time a head needs between commands, whatever the order in which its drive serves them.

A drive with many commands to choose from takes the one that its head reaches soonest, so the mean seek and half a turn
are no bound. This is one. Wherever the head is, the share of all places that it reaches within t is at most

    A(t) = sum over distances d of 2 b(d) min(1, (t - seek(d)) / turn),      b(d): share of the bytes on one cylinder,

which is the distribution of the time X to a random place at best. Let the drive serve n commands. If their order were
fixed beforehand, their positioning times would add up to at least n independent X, and by Chernoff's bound

    P(sum <= n B) <= exp(-n I(B)),      I(B) = max over s of (-s B - ln E exp(-s X)).

The order is chosen as the places become known: with C to choose from at every step there are C^n orders at most, and
the best of them is below n B with a probability of at most C^n exp(-n I(B)). That vanishes as long as I(B) > ln C. So
no policy takes less than B per command, with

    B = max over s of (-ln C - ln E exp(-s X)) / s.

(Union bound and Chernoff bound: M. Mitzenmacher and E. Upfal, "Probability and Computing", 2005, chapters 1 and 4.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ....model.disk.mechanics.geometry import SECTOR
from ....model.disk.spec import DriveSpec, mechanics

_STEPS = 512
_EXPONENTS = np.logspace(0.5, 6.5, 241)
"""1/s; times of an arm are between microseconds and a second."""

Times = NDArray[np.float64]


@lru_cache(maxsize=128)
def reach(drive: DriveSpec, writes: bool, region: int, size: int, cached: float) -> tuple[Times, Times]:
    """Times (s), and the largest share of random places that the head reaches within them.

    Parameters
    ----------
    drive
        The drive.
    writes
        Whether the head must settle for writing.
    region
        Bytes of the drive that the places lie in.
    size
        Bytes of a command: places are no nearer to each other.
    cached
        Share of the places that need no head at all.
    """
    geometry, seeks = mechanics(drive)
    turn = geometry.revolution_s
    table = seeks.table(writes)
    track = max(zone.sectors_per_track for zone in geometry.zones) * SECTOR
    of_cylinder = geometry.heads * track / region
    shares = np.full(len(table), 2.0 * of_cylinder)
    shares[0] = of_cylinder
    # Cylinders beyond those that hold the region, if all were as large as the outermost, add nothing.
    held = np.minimum(1.0, np.cumsum(shares))
    shares = np.diff(held, prepend=0.0)
    # All that is sought in one step of the table counts with the step's shortest time.
    edges = np.unique(np.linspace(0, len(table), min(len(table), 2048) + 1).astype(int))
    starts = table[edges[:-1]]
    weights = np.add.reduceat(shares, edges[:-1])
    grid = size / track * turn
    times = np.linspace(0.0, float(starts.max()) + turn, _STEPS)
    # A place is passed at grid points only, so a window may hold one more of them than its length says.
    passed = np.clip((times[:, None] + grid - starts[None, :]) / turn, 0.0, 1.0) * (times[:, None] >= starts[None, :])
    share = passed @ weights + cached
    return times, np.minimum(1.0, np.where(times >= times[-1], 1.0, share))


@lru_cache(maxsize=128)
def log_moments(drive: DriveSpec, writes: bool, region: int, size: int, cached: float) -> Times:
    """ln E exp(-s X) for every exponent s, with X as early within each step of :func:`reach` as it can be."""
    times, share = reach(drive, writes, region, size, cached)
    steps = np.diff(share, prepend=0.0)
    early = np.concatenate([times[:1], times[:-1]])
    return np.log(np.exp(-np.outer(_EXPONENTS, early)) @ steps)


def least_positioning(parts: Sequence[tuple[float, Times]], log_choices: float) -> float:
    """The bound B (s) per command.

    Parameters
    ----------
    parts
        Kinds of commands: share of all commands that are of this kind and go to fresh places, and their log moments.
    log_choices
        ln C, the mean over all commands.
    """
    exponent = -sum((share * moments for share, moments in parts), np.zeros(len(_EXPONENTS))) - log_choices
    return max(0.0, float(np.max(exponent / _EXPONENTS)))


def least_time(times: Times, share: Times, quantile: float, tries: int = 1) -> float:
    """Time (s) that no more than `quantile` of the commands beat, on this number of drives."""
    within = np.minimum(1.0, tries * share)
    return float(times[max(0, int(np.searchsorted(within, quantile)) - 1)])


def least_mean(times: Times, share: Times, tries: int = 1) -> float:
    """Lower bound of the mean time (s), on this number of drives."""
    within = np.minimum(1.0, tries * share)
    return float(np.sum((1.0 - within[1:]) * np.diff(times)))
