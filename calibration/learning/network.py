"""Rate and response of a closed network of queues, for many loads and many parameter sets at once.

A constant number of I/Os is outstanding. Each visits every station, where it needs a service of its kind (read or
write), and passes fixed delays that hold up nobody else. A station is K servers with a queue each, among which I/Os
are spread evenly: worker threads, cores, drives. Such a network has a product form (Baskett, Chandy, Muntz and
Palacios 1975). Its means come from approximate mean value analysis: an arriving I/O sees the queues that N - 1 of N
would leave (Bard 1979, Schweitzer 1979). With one chain, all queues follow from the rate, so one number is to be
solved for.

Real devices queue less than that before they saturate: servers share a queue, and times are regular. A station of m
servers with one queue waits rho^(sqrt(2 (m + 1)) - 1) / (m (1 - rho)) services at a utilization of rho (Sakasegawa
1977), which is rho / (1 - rho) for m = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_MOST_STEPS = 50
ALONE = np.ones(1)
_LEAST = 1e-300
_NEAR = 1e-6
"""Relative size of a step after which the next one is below a rounding; it takes about eight."""


class Station(NamedTuple):
    """Servers that I/Os queue for.

    Attributes
    ----------
    read, write
        Seconds that an I/O of that kind takes of all servers together: of one, times their number.
    servers
        How many there are, each with its queue; need not be whole.
    write_servers
        Of how many of them a write waits for its share of the work: 1 if a buffer spreads writes over all of them, so
        one write outstanding is as fast as many; as many as there are, unless given.
    """

    read: Array
    write: Array
    servers: Array
    write_servers: Array | None = None

    @property
    def read_service(self) -> Array:
        """Seconds that a read is served if nothing else is there."""
        return self.read * self.servers

    @property
    def write_service(self) -> Array:
        """The same of a write."""
        return self.write * (self.servers if self.write_servers is None else self.write_servers)


class Means(NamedTuple):
    """What a network does in the long run.

    Attributes
    ----------
    rate
        I/Os a second.
    read, write
        Mean response of an I/O of that kind, seconds.
    """

    rate: Array
    read: Array
    write: Array


def solve(
    stations: Sequence[Station], read: Array, write: Array, share: Array, outstanding: Array, sharing: Array = ALONE
) -> Means:
    """Means of the network.

    Parameters
    ----------
    stations
        Where I/Os queue; the arrays of all are broadcast against each other and the following.
    read, write
        Seconds that an I/O of that kind is delayed besides.
    share
        Reads among all I/Os, 0 to 1.
    outstanding
        I/Os under way at any time, 1 or more.
    sharing
        Servers that share a queue, 1 or more.

    Returns
    -------
    Means
        Of the shape that all parameters have together.
    """
    fewer = (outstanding - 1) / outstanding
    delay = share * read + (1 - share) * write
    parts = np.broadcast_arrays(
        delay,
        np.asarray(outstanding, float),
        *(share * station.read + (1 - share) * station.write for station in stations),
        *(share * station.read_service + (1 - share) * station.write_service for station in stations),
    )
    seen = np.stack(parts[2 : 2 + len(stations)]) * fewer
    works = np.stack(parts[2 + len(stations) :])
    waiting = _Waiting(sharing)
    between = _between(delay, outstanding, works, seen, waiting)
    # Of an arriving I/O: its own service, and those ahead.
    services = 1 + waiting.services(seen / between)[0]
    return Means(
        1 / between,
        read + sum(station.read_service * count for station, count in zip(stations, services, strict=True)),
        write + sum(station.write_service * count for station, count in zip(stations, services, strict=True)),
    )


class _Waiting:
    """Services for which an arriving I/O waits, by utilization."""

    def __init__(self, sharing: Array) -> None:
        self.sharing = sharing
        self.power = np.sqrt(2 * (sharing + 1)) - 1

    def services(self, utilization: Array) -> tuple[Array, Array]:
        """Their number, and its derivative times the utilization."""
        free = 1 - utilization
        logarithm = np.log(np.maximum(utilization, _LEAST))
        found = np.exp(self.power * logarithm) / (self.sharing * free)
        return found, found * (self.power + utilization / free)


def _between(delay: Array, outstanding: Array, works: Array, seen: Array, waiting: _Waiting) -> Array:
    """Seconds t from one completion to the next, by Newton's method.

    With `works` and `seen` per station in the first dimension, outstanding * t = delay + sum of works * (1 + services
    waited for at a utilization of seen / t). The difference of both sides falls and is convex in t, so from below no
    step goes too far. Below is what it would be without waiting, and with that at the slowest station alone, of at
    least (1 / (1 - rho) - power) / m services, a quadratic equation.
    """
    slowest = np.argmax(seen, 0)[np.newaxis]
    pole, own = (np.take_along_axis(each, slowest, 0)[0] for each in (seen, works))
    alone = delay + np.sum(works, 0)
    own = own / waiting.sharing
    rest = alone - own * waiting.power
    linear = outstanding * pole + rest + own
    root = (linear + np.sqrt(np.maximum(linear**2 - 4 * outstanding * rest * pole, 0))) / (2 * outstanding)
    found = np.maximum(root, alone / outstanding)
    for _ in range(_MOST_STEPS):
        waited, slope = waiting.services(seen / found)
        step = (alone + np.sum(works * waited, 0) - outstanding * found) / (
            np.sum(works * slope, 0) / found + outstanding
        )
        found = found + step
        if np.max(np.abs(step) / found) < _NEAR:
            break
    return np.asarray(found)
