"""Latencies counted in log-linear bins, as fio counts them.

The bins are those of fio's ``stat.h`` and ``stat.c`` (``plat_val_to_idx``): nanoseconds below 128 are exact; above,
every power of two is divided into 64 bins, so a bin is at most 1/64 of its value wide and its middle is at most
1/128 away from what was counted. Memory does not grow with the number of latencies.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

BINS_PER_GROUP: Final = 64
GROUPS: Final = 58  # 0-63 ns, 64-127 ns, then one for every power of two up to 2^63 ns
_BITS: Final = 6
_BUFFERED: Final = 4096


class LatencyHistogram:
    """Counts of latencies, with their percentiles, mean and extremes.

    Adding is an append; the bins are filled by numpy a few thousand at a time. The sum is kept in whole
    nanoseconds, so the mean does not depend on the order of addition.
    """

    __slots__ = ("_counts", "_max_s", "_min_s", "_pending", "_total_ns")

    def __init__(self) -> None:
        self._counts: NDArray[np.int64] = np.zeros(GROUPS * BINS_PER_GROUP, dtype=np.int64)
        self._pending: list[float] = []
        self._total_ns = 0
        self._min_s = float("inf")
        self._max_s = 0.0

    def add(self, seconds: float) -> None:
        """Count one latency (s)."""
        pending = self._pending
        pending.append(seconds)
        if len(pending) >= _BUFFERED:
            self._flush()

    def merge(self, other: LatencyHistogram) -> None:
        """Add everything `other` has counted."""
        self._flush()
        other._flush()
        self._counts += other._counts
        self._total_ns += other._total_ns
        self._min_s = min(self._min_s, other._min_s)
        self._max_s = max(self._max_s, other._max_s)

    @property
    def counts(self) -> NDArray[np.int64]:
        """A copy of the count of every bin, shape (GROUPS * BINS_PER_GROUP,)."""
        self._flush()
        return self._counts.copy()

    @property
    def count(self) -> int:
        """How many latencies have been counted."""
        self._flush()
        return int(self._counts.sum())

    @property
    def total_ns(self) -> int:
        """Sum of the latencies (ns)."""
        self._flush()
        return self._total_ns

    @property
    def mean(self) -> float:
        """Mean latency (s); NaN if nothing was counted."""
        count = self.count
        return self._total_ns / count * 1e-9 if count else float("nan")

    @property
    def min(self) -> float:
        """Smallest latency (s); NaN if nothing was counted."""
        return self._min_s if self.count else float("nan")

    @property
    def max(self) -> float:
        """Largest latency (s); NaN if nothing was counted."""
        return self._max_s if self.count else float("nan")

    def percentile(self, percent: float) -> float:
        """The latency (s) that `percent` of the latencies do not exceed, within 1/64 of its value.

        Parameters
        ----------
        percent
            0 to 100; 50 is the median.

        Returns
        -------
        float
            The middle of the bin that holds the nearest rank; NaN if nothing was counted.
        """
        if not 0 <= percent <= 100:
            raise ValueError(f"percentile {percent}; 0 to 100")
        count = self.count
        if not count:
            return float("nan")
        cumulative = np.cumsum(self._counts)
        rank = max(1.0, percent / 100 * count)
        middle = bin_middle_ns(int(np.searchsorted(cumulative, rank - 1e-9 * rank))) * 1e-9
        return min(max(middle, self._min_s), self._max_s)

    def bins(self) -> list[tuple[float, int]]:
        """(latency in ns, count) of every bin that holds anything, as fio's json+ lists them."""
        counts = self.counts
        return [(bin_middle_ns(int(index)), int(counts[index])) for index in np.flatnonzero(counts)]

    def _flush(self) -> None:
        if not self._pending:
            return
        seconds = np.array(self._pending)
        self._pending.clear()
        smallest = float(seconds.min())
        if not smallest >= 0:
            raise ValueError(f"a latency of {smallest} s was recorded")
        self._min_s = min(self._min_s, smallest)
        self._max_s = max(self._max_s, float(seconds.max()))
        nanoseconds = np.minimum(np.rint(seconds * 1e9), 2.0**62).astype(np.int64)
        self._total_ns += sum(nanoseconds.tolist())
        # frexp's exponent is the bit length, exactly, for whole numbers below 2^53 and close enough above.
        shift = np.maximum(np.frexp(nanoseconds.astype(np.float64))[1].astype(np.int64) - (_BITS + 1), 0)
        index = (shift << _BITS) + (nanoseconds >> shift)
        self._counts += np.bincount(index, minlength=self._counts.size)


def bin_of_ns(nanoseconds: int) -> int:
    """Index of the bin that counts a latency."""
    shift = max(nanoseconds.bit_length() - (_BITS + 1), 0)
    return (shift << _BITS) + (nanoseconds >> shift)


def bin_middle_ns(index: int) -> float:
    """The latency (ns) that represents a bin: itself below 128 ns, the middle of the bin above."""
    if index < 2 * BINS_PER_GROUP:
        return float(index)
    shift = (index >> _BITS) - 1
    return float((BINS_PER_GROUP + index % BINS_PER_GROUP) << shift) + 0.5 * (1 << shift)


def bin_edges_ns(index: int) -> tuple[float, float]:
    """Between which latencies (ns) a bin counts: half a nanosecond around itself below 128 ns."""
    if index < 2 * BINS_PER_GROUP:
        return max(0.0, index - 0.5), index + 0.5
    shift = (index >> _BITS) - 1
    low = (BINS_PER_GROUP + index % BINS_PER_GROUP) << shift
    return float(low), float(low + (1 << shift))
