"""How far a simulated distribution of response times is from the measured one.

The demerit of C. Ruemmler and J. Wilkes ("An introduction to disk drive modeling", IEEE Computer 27(3), 1994) is the
root mean square of the horizontal distance between the two distribution curves. Two samples of the same size have it
between their values of the same rank. It is given as a share of the measured mean.

A distribution says little about single requests: one that is too slow and one that is too fast can hide each other.
The mean deviation per request is shown next to it. It cannot be small on a drive whose rotation the trace does not fix,
because its times are coarse or the drive's speed is not known to a few millionths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Demerit:
    """Simulated response times next to the measured ones.

    Attributes
    ----------
    ios
        Number of requests.
    measured_s, simulated_s
        Mean response times (s).
    rms_s
        Root mean square of the distance between the distributions (s).
    deviation_s
        Mean of the absolute difference of each request (s).
    """

    ios: int
    measured_s: float
    simulated_s: float
    rms_s: float
    deviation_s: float

    @property
    def share(self) -> float:
        """The demerit as a share of the measured mean."""
        return self.rms_s / self.measured_s

    @property
    def deviation_share(self) -> float:
        """The mean deviation of a request as a share of the measured mean."""
        return self.deviation_s / self.measured_s

    @classmethod
    def of(cls, measured_s: Sequence[float], simulated_s: Sequence[float]) -> Demerit | None:
        """The demerit of response times (s), both in the order of the requests; None if there are none."""
        if not measured_s:
            return None
        measured, simulated = np.asarray(measured_s), np.asarray(simulated_s)
        distance = np.sort(simulated) - np.sort(measured)
        return cls(
            len(measured),
            float(measured.mean()),
            float(simulated.mean()),
            float(np.sqrt(np.mean(distance**2))),
            float(np.abs(simulated - measured).mean()),
        )
