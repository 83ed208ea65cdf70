"""Kyber of Linux 6.1: reads, writes and discards have tokens each, and fewer of them while another kind is too slow.

Nothing is sorted: each kind goes out first come, first served, in batches by turns. How many requests of a kind the
device may hold is scaled by how long requests take, from histograms of quarters of the target latency: when a kind is
slow inside the device (its 90th percentile above the target), every kind that is fast in all (99th percentile below
its target) gets fewer tokens, and one that is slow in all gets more. Source: block/kyber-iosched.c (kyber_timer_fn,
calculate_percentile, kyber_dispatch_request).

Left out: other commands, which the model does not have, and that requests of different hardware queues are batched
apart.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import ClassVar, Final

from ..core.request import READ, TRIM
from .base import QueuedRequest, Scheduler

_KINDS: Final = 3
_DISCARD: Final = 2
_QUARTERS: Final = 4
"""Buckets of the histogram up to the target: it has as many above it."""
_BUCKETS: Final = 2 * _QUARTERS
_SAMPLES: Final = 500
"""A histogram is looked at when it has so many samples, or is so old:"""
_OLD_S: Final = 1.0
_LOOK_S: Final = 0.1
"""So long after a completion all histograms are looked at."""
_UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class KyberSettings:
    """The tunables of kyber, and what is fixed in its source; each for reads and writes."""

    target_s: tuple[float, float] = (0.002, 0.010)
    """Latency (s) that is still good (read_lat_nsec, write_lat_nsec)."""
    depth: tuple[int, int] = (256, 128)
    """Most tokens: requests in the device."""
    batch: tuple[int, int] = (16, 8)
    """Requests of one kind in a row."""
    discard_target_s: float = 5.0
    discard_depth: int = 64
    discard_batch: int = 1
    """The same of discards."""


class _Histogram:
    """Latencies of one kind of request, in quarters of the target."""

    __slots__ = ("_counts", "_quarter_s", "_since")

    def __init__(self, target_s: float) -> None:
        self._quarter_s = target_s / _QUARTERS
        self._counts = [0] * _BUCKETS
        self._since = -1.0

    def add(self, latency_s: float) -> None:
        """One more."""
        self._counts[min(int(latency_s / self._quarter_s), _BUCKETS - 1)] += 1

    def percentile(self, percent: int, now: float) -> int:
        """The bucket of this percentile, after which it starts anew; unknown while there are too few samples."""
        counts = self._counts
        samples = sum(counts)
        if not samples:
            return _UNKNOWN
        if self._since < 0.0:
            self._since = now
        if samples < _SAMPLES and now < self._since + _OLD_S:
            return _UNKNOWN
        self._since = -1.0
        left = -(-samples * percent // 100)
        bucket = 0
        while bucket < _BUCKETS - 1 and counts[bucket] < left:
            left -= counts[bucket]
            bucket += 1
        self._counts = [0] * _BUCKETS
        return bucket


class Kyber(Scheduler):
    """Tokens for reads, writes and discards.

    Parameters
    ----------
    max_bytes
        Largest merged request (bytes).
    settings
        Targets and limits.

    Attributes
    ----------
    depth
        Reads, writes and discards that the device may hold now.
    """

    __slots__ = (
        "_batch",
        "_batched",
        "_fifo",
        "_in_device",
        "_kind",
        "_known_total",
        "_look_at",
        "_most",
        "_total",
        "_under_way",
        "depth",
    )
    name: ClassVar[str] = "kyber"
    listed: ClassVar[bool] = True
    async_share: ClassVar[float] = 0.75  # KYBER_ASYNC_PERCENT

    def __init__(self, max_bytes: int, settings: KyberSettings | None = None) -> None:
        super().__init__(max_bytes)
        settings = settings or KyberSettings()
        self._batch = (*settings.batch, settings.discard_batch)
        self._most = (*settings.depth, settings.discard_depth)
        targets_s = (*settings.target_s, settings.discard_target_s)
        self._fifo: tuple[deque[QueuedRequest], ...] = (deque(), deque(), deque())
        self._kind = READ
        self._batched = 0
        self._under_way = [0] * _KINDS
        self.depth = list(self._most)
        self._in_device = [_Histogram(target_s) for target_s in targets_s]
        self._total = [_Histogram(target_s) for target_s in targets_s]
        self._known_total = [_UNKNOWN] * _KINDS
        self._look_at = -1.0

    def _insert(self, queued: QueuedRequest, now: float) -> None:
        self._fifo[_kind_of(queued)].append(queued)

    def next(self, now: float) -> QueuedRequest | None:
        """The next of the batch, or of another kind; None if nothing is queued that has a token."""
        if 0.0 <= self._look_at <= now:
            self._look(now)
        kind = self._kind
        if self._batched >= self._batch[kind] or not self._may_send(kind):
            self._batched = 0
            for _ in range(_KINDS):
                kind = (kind + 1) % _KINDS
                if self._may_send(kind):
                    break
            else:
                return None
            self._kind = kind
        self._batched += 1
        self._under_way[kind] += 1
        return self._take(self._fifo[kind].popleft())

    def _may_send(self, kind: int) -> bool:
        return bool(self._fifo[kind]) and self._under_way[kind] < self.depth[kind]

    def completed(self, queued: QueuedRequest, now: float) -> None:
        """Give the token back, and note how long it took in the device and in all."""
        if 0.0 <= self._look_at <= now:
            self._look(now)
        kind = _kind_of(queued)
        self._under_way[kind] -= 1
        self._in_device[kind].add(now - queued.submitted)
        self._total[kind].add(now - queued.arrived)
        if self._look_at < 0.0:
            self._look_at = now + _LOOK_S

    def _look(self, now: float) -> None:
        """Scale the depths."""
        self._look_at = -1.0
        # Each histogram is asked, because asking begins it anew.
        slow = [histogram.percentile(90, now) >= _QUARTERS for histogram in self._in_device]
        congested = any(slow)
        for kind in range(_KINDS):
            found = self._total[kind].percentile(99, now)
            if congested:
                if found == _UNKNOWN:
                    found = self._known_total[kind]
                self._known_total[kind] = _UNKNOWN
            elif found != _UNKNOWN:
                self._known_total[kind] = found
            if found != _UNKNOWN and (congested or found >= _QUARTERS):
                scaled = self.depth[kind] * (found + 1) // _QUARTERS
                self.depth[kind] = min(max(scaled, 1), self._most[kind])


def _kind_of(queued: QueuedRequest) -> int:
    return _DISCARD if queued.op == TRIM else queued.op
