"""How likely an array loses data: an absorbing Markov chain of failures and repairs.

Members fail at a constant rate and are rebuilt one at a time, as in Patterson, Gibson and Katz, "A Case for Redundant
Arrays of Inexpensive Disks" (SIGMOD 1988), section 5. A state is the number of members that are missing and the number
of spare drives that stand by. The chain ends in one of two ways: more members are missing than the array survives, or
a rebuild with no redundancy left meets a sector that cannot be read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEP = 0.5
"""Transitions per member of the chain in the time whose probabilities are worked out by a series."""
_TERMS = 24
"""Terms of it: what is left out is below 0.5^24 / 24!, 1e-31."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A group of members.

    Attributes
    ----------
    members
        How many.
    failure_rate
        Of one member (1/s).
    tolerated
        Probability that the array survives one more loss when this number of members is missing already: 1 up to what
        it survives whichever they are; its length is the number of losses that may be survived.
    rebuild_s
        Mean time to rebuild a member (s); infinite if it does not get done.
    replacement_s
        Mean time until a failed drive has been replaced (s): before the rebuild if no spare stands by, and until a
        used spare has been replaced.
    spares
        Drives that stand by.
    unreadable
        Probability that a rebuild with this number of members missing meets a sector that cannot be read and is held
        nowhere else; as long as `tolerated`, or one longer (with none missing there is no rebuild).
    stress
        Factor on the failure rate of the others while members are missing.
    """

    members: int
    failure_rate: float
    tolerated: Sequence[float]
    rebuild_s: float
    replacement_s: float = 0.0
    spares: int = 0
    unreadable: Sequence[float] = ()
    stress: float = 1.0

    def losses(self, seconds: float, missing: int = 0) -> tuple[float, float]:
        """Probabilities that within `seconds` the array is lost, and that a sector is lost first.

        Parameters
        ----------
        seconds
            How long.
        missing
            Members that are missing when it begins.
        """
        rates, start = self._rates(missing)
        after = _probabilities(rates, seconds)[start]
        return float(after[-2]), float(after[-1])

    def losses_per_second(self) -> tuple[float, float]:
        """Long-run rates (1/s) at which the array is lost, and sectors are, if it begins anew after each loss.

        They are the reciprocal of the mean time until the chain ends, split by how it ends. States are eliminated one
        by one, without a subtraction, so that rates of 1e-30 are exact (Grassmann, Taksar and Heyman, "Regenerative
        Analysis and Steady State Distributions for Markov Chains", Operations Research 33, 1985).
        """
        rates, start = self._rates(0)
        ends = len(rates) - 2
        order = [state for state in range(ends) if state != start]
        # The mean time (s) that is spent for each second in a state, those eliminated included.
        spent = np.ones(ends)
        left = [start, *order]
        while len(left) > 1:
            state = left.pop()
            leaving = float(rates[state, left].sum() + rates[state, ends:].sum())
            for other in left:
                share = rates[other, state] / leaving if leaving else 0.0
                if share:
                    rates[other, left] += share * rates[state, left]
                    rates[other, ends:] += share * rates[state, ends:]
                    rates[other, other] = 0.0
                    spent[other] += share * spent[state]
        array, sector = (float(rate) / float(spent[start]) for rate in rates[start, ends:])
        return array, sector

    def _rates(self, missing: int) -> tuple[NDArray[np.float64], int]:
        """Rates from state to state, the two ends last, and the state that it begins in."""
        most, spares = len(self.tolerated), self.spares
        ends = (most + 1) * (spares + 1)
        rates = np.zeros((ends + 2, ends + 2))

        def state(missing: int, standing_by: int) -> int:
            return missing * (spares + 1) + standing_by

        for lost in range(most + 1):
            for standing_by in range(spares + 1):
                here = state(lost, standing_by)
                fails = (self.members - lost) * self.failure_rate * (self.stress if lost else 1.0)
                survived = self.tolerated[lost] if lost < most else 0.0
                if lost < most:
                    rates[here, state(lost + 1, standing_by)] += fails * survived
                rates[here, ends] += fails * (1.0 - survived)
                if standing_by < spares and self.replacement_s > 0:
                    rates[here, state(lost, standing_by + 1)] += 1.0 / self.replacement_s
                if not lost:
                    continue
                waits = 0.0 if standing_by else self.replacement_s
                repaired = 1.0 / max(self.rebuild_s + waits, 1e-9)
                unreadable = self.unreadable[lost] if lost < len(self.unreadable) else 0.0
                left = max(0, standing_by - 1) if self.replacement_s > 0 else standing_by
                rates[here, state(lost - 1, left)] += repaired * (1.0 - unreadable)
                rates[here, ends + 1] += repaired * unreadable
        return rates, state(missing, spares)


def _probabilities(rates: NDArray[np.float64], seconds: float) -> NDArray[np.float64]:
    """Probabilities of being in each state after `seconds`, from each state.

    Uniformisation over a time so short that a series of a few terms is exact, then squared until the time is reached.
    Only numbers that are not negative are added and multiplied, so the smallest probabilities are as exact as the
    others (Moler and Van Loan, "Nineteen Dubious Ways to Compute the Exponential of a Matrix", method 3).
    """
    leaving = rates.sum(axis=1)
    fastest = float(leaving.max())
    if not fastest or not seconds:
        return np.eye(len(rates))
    doublings = max(0, math.ceil(math.log2(fastest * seconds / _STEP)))
    expected = math.ldexp(fastest * seconds, -doublings)
    once = rates / fastest
    once[np.diag_indices_from(once)] = 1.0 - leaving / fastest
    term = np.eye(len(rates)) * math.exp(-expected)
    total = term.copy()
    for number in range(1, _TERMS + 1):
        term = term @ once * (expected / number)
        total += term
    for _ in range(doublings):
        # Each row is a distribution; without this, rounding would be doubled with every step.
        total = total @ total
        total /= total.sum(axis=1, keepdims=True)
    return total
