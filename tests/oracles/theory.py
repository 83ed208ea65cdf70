"""The textbook: queues, forks and joins, closed networks, and the mechanics of a disk, in formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import lambertw


def pollaczek_khinchine(rate: float, mean_s: float, second_moment: float) -> float:
    """Mean time in an M/G/1 queue (s), first come first served: Kleinrock, Queueing Systems I, equation 5.70."""
    return mean_s + rate * second_moment / (2 * (1 - rate * mean_s))


def gated(load: float, vacation_s: float, second_moment: float) -> float:
    """What vacations add to the mean time in an M/G/1 queue (s), which end with serving all who came.

    Takagi, Queueing Analysis 1, 1991. `load` is that of the customers; the moments are those of a vacation.
    """
    return second_moment / (2 * vacation_s) + load * vacation_s / (1 - load)


def two_lists(shares: NDArray[np.float64], held: int, pace: float) -> float:
    """Hit rate of the page cache of Linux 2.6 for independent requests: an inactive and an active list (mm/vmscan.c).

    The approximation of Che, Tung and Wang (2002) for each list, as Martina, Garetto and Leonardi ("A unified approach
    to the performance analysis of caching systems", INFOCOM 2014) have it for caches of several lists: a page stays on
    a list for the list's characteristic time, the same for all pages. The second use on the inactive list activates a
    page; one that was used on the active list needs only one more when it is back. The times that a page is out,
    inactive and active are those of a renewal process. The two characteristic times follow from the number of pages
    held, and from the lists' pace.

    Parameters
    ----------
    shares
        Of the requests, by page.
    held
        Pages in memory.
    pace
        By how much slower the active list turns than the inactive one is reclaimed, both as shares: 1 or 0.5.
    """

    def inside(inactive_time: float, active_time: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        uses = shares * inactive_time
        unused, used_active = np.exp(-uses), -np.expm1(-shares * active_time)
        once = 1 - unused
        leaves = unused * (used_active + (1 - used_active) * (1 + uses))
        stay = used_active * once + (1 - used_active) * (2 - unused * (2 + uses))
        inactive = (leaves * once + once * stay) / shares
        active = once * active_time
        whole = leaves / shares + inactive + active
        return inactive / whole, active / whole

    def active_time(inactive_time: float) -> float:
        return float(brentq(lambda time: sum(each.sum() for each in inside(inactive_time, time)) - held, 0.0, 1e9))

    def off_pace(inactive_time: float) -> float:
        time = active_time(inactive_time)
        inactive, active = inside(inactive_time, time)
        missed = float(shares @ (1 - inactive - active))
        return time * missed / float(inactive.sum()) - 1 / pace

    longest = float(brentq(lambda time: inside(time, 0.0)[0].sum() - held, 1e-3, 1e9))
    found = float(brentq(off_pace, 0.02 * longest, longest * (1 - 1e-9)))
    inactive, active = inside(found, active_time(found))
    return float(shares @ (inactive + active))


def erlang_c(rate: float, mean_s: float, servers: int) -> float:
    """Mean time in an M/M/c queue (s): Kleinrock, Queueing Systems I, section 3.5 (Erlang's C formula)."""
    offered = rate * mean_s
    load = offered / servers
    last = offered**servers / math.factorial(servers) / (1 - load)
    waits = last / (sum(offered**n / math.factorial(n) for n in range(servers)) + last)
    return mean_s + waits * mean_s / (servers * (1 - load))


def harmonic(count: int) -> float:
    """1 + 1/2 + ... + 1/count."""
    return sum(1 / n for n in range(1, count + 1))


def fork_join(rate: float, mean_s: float, members: int) -> float:
    """Mean time of a request that has a part at each of some M/M/1 queues (s).

    Two: exact, (12 - load) / 8 times that of one queue (Flatto and Hahn, "Two parallel queues created by arrivals with
    two demands", SIAM Journal on Applied Mathematics 44, 1984). More: the approximation of Nelson and Tantawi
    ("Approximate analysis of fork/join synchronization in parallel queues", IEEE Transactions on Computers 37, 1988),
    which is within 5 %.
    """
    load = rate * mean_s
    two = (12 - load) / 8 * mean_s / (1 - load)
    share = harmonic(members) / harmonic(2)
    return (share + 4 / 11 * (1 - share) * load) * two


def mean_value_analysis(demands: Sequence[float], customers: int, think_s: float = 0.0) -> tuple[float, list[float]]:
    """Throughput of a closed network of exponential stations (1/s), and mean numbers at the stations.

    Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks", Journal of the ACM 27, 1980.

    Parameters
    ----------
    demands
        Visits times service time at each station (s).
    customers
        How many go round.
    think_s
        Time that each is nowhere between (s).
    """
    inside = [0.0] * len(demands)
    rate = 0.0
    for number in range(1, customers + 1):
        times = [demand * (1 + there) for demand, there in zip(demands, inside, strict=True)]
        rate = number / (think_s + sum(times))
        inside = [rate * time for time in times]
    return rate, inside


def machine_repair(users: int, think_s: float, mean_s: float, servers: int) -> float:
    """Throughput of users who think and then ask one of some servers (1/s), both exponential: M/M/c//N.

    Kleinrock, Queueing Systems I, section 3.8; a birth-death process whose states are the users who wait.
    """
    weights = [1.0]
    for waiting in range(1, users + 1):
        weights.append(weights[-1] * (users - waiting + 1) / think_s * mean_s / min(waiting, servers))
    total = sum(weights)
    return sum(weight / total * (users - waiting) / think_s for waiting, weight in enumerate(weights))


def asymptotic_bound(demands: Sequence[float], customers: int, think_s: float = 0.0) -> float:
    """The most a closed network can do, whatever is random (1/s): Denning and Buzen, ACM Computing Surveys 10, 1978."""
    return min(1 / max(demands), customers / (sum(demands) + think_s))


def balanced_job_bound(demands: Sequence[float], customers: int) -> float:
    """The least that exponential stations do (1/s).

    Zahorjan, Sevcik, Eager and Galler, "Balanced job bound analysis of queueing networks", Communications of the ACM
    25, 1982.
    """
    return customers / (sum(demands) + (customers - 1) * max(demands))


def mean_seek(times: Sequence[float] | NDArray[np.floating[Any]], weights: NDArray[np.float64]) -> float:
    """Mean seek between two sectors at random (s).

    Parameters
    ----------
    times
        Seek time by distance in cylinders (s).
    weights
        Bytes of each cylinder: more lie at the rim, where a track holds more.
    """
    shares = np.asarray(weights, dtype=float) / np.sum(weights)
    size = 1 << (2 * len(shares)).bit_length()
    spectrum = np.fft.rfft(shares, size)
    chances = np.fft.irfft(spectrum * spectrum.conjugate(), size)[: len(shares)]
    chances[1:] *= 2
    return float(chances @ np.asarray(times[: len(shares)], dtype=float))


def longest_wait(phases: NDArray[np.float64]) -> float:
    """Mean of the longest of the waits for platters that turn alike, in turns: 1 - (sum of squares of the gaps) / 2.

    Between them are the gaps; a moment at random falls into a gap with a chance as long as the gap, and what is waited
    for longest came round just before that moment.
    """
    ends = np.sort(phases % 1.0)
    gaps = np.diff(np.append(ends, ends[0] + 1.0))
    return float(1 - (gaps**2).sum() / 2)


def greedy_collection(utilization: float) -> float:
    """Flash writes per host write of random overwrites, if the block with the fewest valid units is collected.

    Luojie and Kurkoski, "An improved analytic expression for write amplification in NAND flash", ICNC 2012, with
    Lambert's W; of large blocks. `utilization` is data over the flash that is not kept free.
    """
    decay = 1 / utilization + float(lambertw(-math.exp(-1 / utilization) / utilization).real)
    return -1 / math.expm1(-decay)
