"""What loads did, window of simulated time by window.

The loads count as they always do. The engine runs from one end of a window to the next, and the counters are read in
between, so that an I/O costs nothing for it and happens when it would happen anyway. All loads count their latencies
in the same two histograms. There are never more than :data:`MOST` windows: neighbors are joined when there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...model.core.engine import Engine
from ...model.loads.direct_load import DirectLoad
from ...model.loads.open_load import OpenLoad
from ...model.loads.trace_load import TimedTrace
from ...model.statistics.batch_means import Estimate, ratio_estimate
from ...model.statistics.latency_histogram import LatencyHistogram, bin_of_ns
from ...model.statistics.percentile_interval import Counts, percentile_estimate
from .base.drift import Drift, drift_of
from .base.slow_stores import Stores

MOST = 512
LOOK_S = 0.05
"""Simulated time between two looks at a load that may be hopeless, during the warm-up."""
_HOPELESS_S = 0.1
"""Time after which an open load may be hopeless: no I/O that an idle machine serves takes longer."""
_HOPELESS_IOS = 4000
"""Backlog from which it may be."""
_HOPELESS_SHARE = 0.2
"""A load of which less than this share is served is hopeless. What makes the beginning slow, as bits of a bitmap that
are not yet set, costs a smaller factor."""
CONFIDENCE = 0.9
_LEAST_IOS = 16
"""Latencies below which their mean has no interval."""
_READS, _WRITES = 0, 1


class LoadWindows:
    """The windows since the last :meth:`begin`.

    Parameters
    ----------
    engine
        The clock.
    loads
        Whose I/Os are counted.
    stores
        Asked at the end of every window; None: there are none.

    Attributes
    ----------
    began, length
        When the first window began, and how long each is (s).
    """

    def __init__(self, engine: Engine, loads: Sequence[DirectLoad], stores: Callable[[], Stores] | None = None) -> None:
        self._engine = engine
        self._loads = loads
        self._open = [load for load in loads if isinstance(load, OpenLoad | TimedTrace)]
        self._look = stores or Stores
        self._completed = 0
        self.began = self.length = 0.0
        self._histograms = (LatencyHistogram(), LatencyHistogram())
        self._flows: list[tuple[int, ...]] = []
        self._stores: list[tuple[float, ...]] = []
        self._batches: tuple[list[Counts], list[Counts]] = ([], [])
        self._share_histograms()

    def _share_histograms(self) -> None:
        for load in self._loads:
            load.read_latency, load.write_latency = self._histograms

    def begin(self, length: float, restart: Callable[[], None] | None = None, completed: int | None = None) -> None:
        """Forget the windows so far; the next ones are `length` (s) long.

        The loads' own counters begin anew, by `restart` together with others, or alone. If the windows of another load
        have done that already, :attr:`completed` is what it was before.
        """
        now = self._engine.now
        self._completed = self.completed if completed is None else completed
        if restart is not None:
            restart()
        else:
            for load in self._loads:
                load.start_statistics(now)
        self._histograms = (LatencyHistogram(), LatencyHistogram())
        self._share_histograms()
        self.began, self.length = now, length
        self._flows, self._stores, self._batches = [], [], ([], [])
        self._last: tuple[int, ...] = (0, 0, 0, 0, 0, self.arrived)
        self._seen = tuple(histogram.counts for histogram in self._histograms)

    def end(self) -> None:
        """Nothing more is looked at: what all loads counted in common is the first one's."""
        nothing = (LatencyHistogram(), LatencyHistogram())
        for load in self._loads[1:]:
            load.read_latency, load.write_latency = nothing

    @property
    def ios(self) -> int:
        """I/Os completed since :meth:`begin`, or since the loads' own counters began anew."""
        return sum(load.reads + load.writes for load in self._loads)

    @property
    def completed(self) -> int:
        """I/Os completed since the windows exist."""
        return self._completed + self.ios

    @property
    def arrived(self) -> int:
        """I/Os of open loads that have come since the loads exist."""
        return sum(load.arrived for load in self._open)

    @property
    def backlog(self) -> int:
        """I/Os of open loads that have come and are not complete."""
        return self.arrived - self.completed

    @property
    def is_open(self) -> bool:
        """Whether all loads send at their own times."""
        return len(self._open) == len(self._loads)

    def is_hopeless(self, since_s: float) -> bool:
        """Whether the loads are open, and hardly any I/O has been served in the time (s) since they began."""
        if not self.is_open:
            return False
        backlog = self.backlog
        served = self.arrived - backlog
        return since_s >= _HOPELESS_S and backlog >= _HOPELESS_IOS and served < _HOPELESS_SHARE * self.arrived

    @property
    def count(self) -> int:
        """Whole windows so far."""
        return len(self._flows)

    @property
    def span(self) -> float:
        """Seconds of the windows."""
        return self.length * self.count

    @property
    def next_end(self) -> float:
        """When the next window ends (s)."""
        return self.began + self.length * (self.count + 1)

    def run(self) -> None:
        """Simulate the next window."""
        self._engine.run_to(self.next_end)
        self.close()

    def close(self) -> None:
        """Read the counters: a window is over."""
        reads = writes = moved = 0
        for load in self._loads:
            reads += load.reads
            writes += load.writes
            moved += load.bytes
        reading, writing = self._histograms
        arrived = self.arrived
        now = (moved, reads, writes, reading.total_ns, writing.total_ns, arrived)
        self._flows.append(tuple(a - b for a, b in zip(now, self._last, strict=True)))
        self._last = now
        backlog = self.backlog if self._open else 0
        self._stores.append((backlog, *self._look()))
        seen = []
        for histogram, before, batches in zip(self._histograms, self._seen, self._batches, strict=True):
            counts = histogram.counts
            fresh = counts - before
            bins = np.flatnonzero(fresh)
            batches.append((bins, fresh[bins]))
            seen.append(counts)
        self._seen = tuple(seen)

    def join(self) -> None:
        """Make one window of every two; of an odd number the first is left out."""
        odd = self.count % 2
        if odd:
            raise ValueError(f"{self.count} windows cannot be joined in pairs")
        flows, stores = self._flows, self._stores
        self._flows = [
            tuple(a + b for a, b in zip(first, second, strict=True))
            for first, second in zip(flows[::2], flows[1::2], strict=True)
        ]
        self._stores = stores[1::2]
        reads, writes = (
            [
                (np.concatenate((first[0], second[0])), np.concatenate((first[1], second[1])))
                for first, second in zip(batches[::2], batches[1::2], strict=True)
            ]
            for batches in self._batches
        )
        self._batches = (reads, writes)
        self.length *= 2

    # what the windows say

    @property
    def flows(self) -> NDArray[np.float64]:
        """Of every window: bytes, reads, writes, latencies of reads and of writes (ns), arrivals."""
        return np.array(self._flows, dtype=float).reshape(self.count, len(self._last))

    @property
    def stores(self) -> NDArray[np.float64]:
        """At the end of every window: I/Os of open loads that are not complete, and what the stores hold."""
        return np.array(self._stores, dtype=float).reshape(self.count, 1 + len(Stores._fields))

    def served(self) -> list[NDArray[np.float64]]:
        """Reads, writes or both that were completed in every window, of the directions that the loads have."""
        flows = self.flows
        reads = any(load.read_share > 0 for load in self._loads)
        writes = any(load.read_share < 1 for load in self._loads)
        return [flows[:, 1 + op] for op, there in ((_READS, reads), (_WRITES, writes)) if there]

    def seen(self) -> NDArray[np.float64]:
        """What the loads see in every window: the latencies of open loads, I/Os otherwise."""
        flows = self.flows
        ios = flows[:, 1] + flows[:, 2]
        if not self.is_open:
            return ios
        latency_ns = flows[:, 3] + flows[:, 4]
        whole, count = float(latency_ns.sum()), float(ios.sum())
        if not count:
            return latency_ns
        # Deviations from the mean, so that windows with few I/Os say little.
        return latency_ns - whole / count * ios + whole / len(ios)

    def throughput(self) -> Estimate:
        """I/Os per second."""
        flows = self.flows
        return ratio_estimate(flows[:, 1] + flows[:, 2], self._seconds(), CONFIDENCE)

    def mean_latency(self) -> Estimate:
        """Mean latency (s) of all I/Os."""
        flows = self.flows
        return _mean(flows[:, 3] + flows[:, 4], flows[:, 1] + flows[:, 2])

    def estimates(self) -> dict[str, Estimate]:
        """Everything with its interval; names as in
        :attr:`raidsim.scenarios.running.base.prediction.Prediction.estimates`.
        """
        flows = self.flows
        found = {"rate": ratio_estimate(flows[:, 0], self._seconds(), CONFIDENCE), "iops": self.throughput()}
        if flows[:, 1:3].sum():
            found["mean_seconds"] = self.mean_latency()
        for op, name in ((_READS, "read"), (_WRITES, "write")):
            if flows[:, 1 + op].sum():
                found[f"{name}_mean_seconds"] = _mean(flows[:, 3 + op], flows[:, 1 + op])
                whole = self._histograms[op]
                found[f"{name}_p99_seconds"] = percentile_estimate(self._batches[op], whole, 99.0, CONFIDENCE)
        return found

    def drift(self) -> Drift | None:
        """What has risen or fallen all the while; nothing, of loads whose backlog grows for ever."""
        return drift_of(self.seen(), self.flows, self.is_open, self.length)

    def beyond(self, op: str, limit_s: float) -> tuple[int, int]:
        """I/Os of "read" or "write" that took longer than a limit (s) for sure, and how many there were in all."""
        counts = self._histograms[_READS if op == "read" else _WRITES].counts
        return int(counts[bin_of_ns(int(1e9 * limit_s)) + 1 :].sum()), int(counts.sum())

    def _seconds(self) -> NDArray[np.float64]:
        return np.full(self.count, self.length)


def _mean(sums_ns: NDArray[np.float64], counts: NDArray[np.float64]) -> Estimate:
    """Mean latency (s); with few I/Os there are too many windows without any for an interval."""
    known = ratio_estimate(sums_ns * 1e-9, counts, CONFIDENCE)
    if counts.sum() >= _LEAST_IOS:
        return known
    return Estimate(known.mean, float("inf"), CONFIDENCE, known.batches, 0.0, known.lag1, known.correlated)
