"""What passes bcache by: long streams, threads whose last ones were long, and more while the cache is congested.

The last 128 streams are known by where they ended. A thread that begins another one adds the length of its last one to
a mean with the weight 1/8; above the cutoff all that it does passes the cache by. The cutoff falls while the cache
answers late: each I/O above the threshold counts with its milliseconds, each other one and each millisecond takes one
off. Source: Linux 6.1, drivers/md/bcache/request.c (check_should_bypass, add_sequential, bch_get_congested), io.c.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

_STREAMS: Final = 128
_KNOWN_S: Final = 5.0
_WEIGHT: Final = 8
_MOST_CONGESTED: Final = 1024
_HALF_BITS: Final = 16
"""Mean number of bits that are set in a random word, which the kernel takes off."""
_SECTOR: Final = 512
READ_THRESHOLD_S: Final = 2e-3
WRITE_THRESHOLD_S: Final = 20e-3
"""I/Os of the cache that take longer count as congestion."""


class Congestion:
    """The latency of the cache above a threshold, summed up and forgotten with time."""

    __slots__ = ("_last", "_level")

    def __init__(self) -> None:
        self._level = 0
        self._last = 0.0

    def note(self, seconds: float, threshold: float, now: float) -> None:
        """An I/O of the cache has taken this time (s)."""
        if seconds > threshold:
            self._last = now
            self._level -= min(int(seconds * 1e3), _MOST_CONGESTED + self._level)
        elif self._level < 0:
            self._level += 1

    def cutoff(self, now: float) -> int:
        """Bytes from which on a stream passes by for it; 0: it is not congested."""
        level = int((now - self._last) * 1e3) + self._level
        if level >= 0:
            return 0
        level += _MOST_CONGESTED
        whole, part = divmod(max(level, 0), 64)
        sectors = (1 << whole) * (64 + part) // 64 - _HALF_BITS
        return max(sectors, 1) * _SECTOR


class Bypass:
    """The streams and threads of a cached device.

    Parameters
    ----------
    cutoff
        Bytes from which on a stream passes by; 0: none does.

    Attributes
    ----------
    congestion
        Of the cache.
    """

    __slots__ = ("_cutoff", "_last", "_mean", "_streams", "congestion")

    def __init__(self, cutoff: int) -> None:
        self._cutoff = cutoff
        self.congestion = Congestion()
        # Where a stream ended: its length, and until when (s) it is known.
        self._streams: OrderedDict[int, tuple[int, float]] = OrderedDict()
        self._last: dict[int, int] = {}
        self._mean: dict[int, float] = {}

    def passes(self, issuer: int, offset: int, size: int, now: float) -> bool:
        """Whether the next I/O of a thread passes the cache by."""
        congested = self.congestion.cutoff(now)
        if not self._cutoff and not congested:
            return False
        length, until = self._streams.pop(offset, (0, 0.0))
        if now >= until:
            mean = self._mean.get(issuer, 0.0)
            self._mean[issuer] = ((_WEIGHT - 1) * mean + self._last.get(issuer, 0)) / _WEIGHT
            length = 0
        length += size
        self._streams[offset + size] = length, now + _KNOWN_S
        if len(self._streams) > _STREAMS:
            self._streams.popitem(last=False)
        self._last[issuer] = length
        length = max(length, int(self._mean.get(issuer, 0.0)))
        return 0 < self._cutoff <= length or 0 < congested <= length
