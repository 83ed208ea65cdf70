"""Rate and response of a closed network of queues, for many loads and many parameter sets at once.

A constant number of I/Os is outstanding. Each visits every station, where it needs a service of its kind (read or
write), and passes fixed delays that hold up nobody else. A station is K servers with a queue each, among which I/Os
are spread evenly: worker threads, cores, drives. Such a network has a product form (Baskett, Chandy, Muntz and
Palacios 1975). Its means come from approximate mean value analysis: an arriving I/O sees the queues that N - 1 of N
would leave (Bard 1979, Schweitzer 1979). With one chain, all queues follow from the rate, so one number is to be
solved for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_HALVINGS = 40
"""Of the interval in which the rate lies: the last is far below a rounding."""


class Station(NamedTuple):
    """Servers that I/Os queue for.

    Attributes
    ----------
    read, write
        Seconds that an I/O of that kind takes of all servers together: of one, times their number.
    servers
        How many there are, each with its queue; need not be whole.
    """

    read: Array
    write: Array
    servers: Array


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


def solve(stations: Sequence[Station], read: Array, write: Array, share: Array, outstanding: Array) -> Means:
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

    Returns
    -------
    Means
        Of the shape that all parameters have together.
    """
    fewer = (outstanding - 1) / outstanding
    delay = share * read + (1 - share) * write
    demands = [share * station.read + (1 - share) * station.write for station in stations]
    slowest = np.max(
        [np.broadcast_to(demand * fewer, np.broadcast(demand, outstanding).shape) for demand in demands], 0
    )
    low = np.zeros(np.broadcast(delay, slowest).shape)
    # No faster than with nothing in the way, nor than the slowest station allows.
    bare = delay + sum(demand * station.servers for demand, station in zip(demands, stations, strict=True))
    high = np.minimum(outstanding / bare, 1 / np.maximum(slowest, np.finfo(float).tiny))
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        inside = rate * delay + sum(
            rate * demand * station.servers / np.maximum(1 - rate * demand * fewer, np.finfo(float).tiny)
            for demand, station in zip(demands, stations, strict=True)
        )
        above = inside > outstanding
        low, high = np.where(above, low, rate), np.where(above, rate, high)
    rate = (low + high) / 2
    # Servers, and those ahead, that each second of service costs an arriving I/O.
    costs = [
        station.servers / np.maximum(1 - rate * demand * fewer, np.finfo(float).tiny)
        for demand, station in zip(demands, stations, strict=True)
    ]
    return Means(
        rate,
        read + sum(station.read * cost for station, cost in zip(stations, costs, strict=True)),
        write + sum(station.write * cost for station, cost in zip(stations, costs, strict=True)),
    )
