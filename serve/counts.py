"""What a server has done: requests, their simulated latencies, and the lateness of the answers."""

from __future__ import annotations

from typing import Any

from ..model.core.request import FLUSH, READ, TRIM, WRITE
from ..model.statistics import LatencyHistogram
from .array import Io

MOST_LATE = 0.05
"""Mean lateness as a share of the mean latency, above which clients see another array than the simulated one."""
NAMES = {READ: "read", WRITE: "write", FLUSH: "flush", TRIM: "trim"}
"""Kinds of requests, as they are shown."""


class Counts:
    """Requests that were answered.

    Parameters
    ----------
    speed
        Simulated seconds per second of the wall clock; None for as fast as possible, which has no lateness.

    Attributes
    ----------
    latencies
        Simulated latencies (s) of each kind of request.
    lateness
        How much later than simulated the answers were sent (s of the wall clock).
    first_s, last_s
        Simulated times (s) of the first arrival and the last completion.
    recent
        Latencies by kind, and lateness under None, that somebody looks at and replaces (:mod:`.recent`); None: nobody.
    """

    def __init__(self, speed: float | None) -> None:
        self.speed = speed
        self.latencies = {op: LatencyHistogram() for op in NAMES}
        self.lateness = LatencyHistogram()
        self.read_bytes = self.write_bytes = 0
        self.first_s = float("inf")
        self.last_s = 0.0
        self.recent: dict[int | None, LatencyHistogram] | None = None

    def add(self, io: Io, late_s: float) -> None:
        """Count a request that was answered `late_s` (s of the wall clock) after its simulated completion."""
        self.latencies[io.op].add(io.completed_s - io.arrived_s)
        if self.speed is not None:
            self.lateness.add(late_s)
        if self.recent is not None:
            self.recent[io.op].add(io.completed_s - io.arrived_s)
            self.recent[None].add(late_s)
        if io.op == READ:
            self.read_bytes += io.size
        elif io.op == WRITE:
            self.write_bytes += io.size
        self.first_s = min(self.first_s, io.arrived_s)
        self.last_s = max(self.last_s, io.completed_s)

    @property
    def late_share(self) -> float:
        """Mean lateness as a share of the mean latency, both in seconds of the wall clock."""
        if self.speed is None:
            return 0.0
        waited_s = sum(each.total_ns for each in self.latencies.values()) / self.speed
        late_s = self.lateness.total_ns
        return late_s / waited_s if waited_s else float("inf") if late_s else 0.0

    @property
    def is_late(self) -> bool:
        """Whether the answers were too late to show what the simulated array is like."""
        return self.late_share > MOST_LATE

    def document(self) -> dict[str, Any]:
        """Everything as plain data; times in seconds."""
        seconds = max(0.0, self.last_s - self.first_s)
        found: dict[str, Any] = {"simulated_s": seconds, "requests": {}}
        for op, name in NAMES.items():
            each = self.latencies[op]
            if each.count:
                found["requests"][name] = {
                    "count": each.count,
                    "per_second": each.count / seconds if seconds else None,
                    **_summary(each),
                }
        found["read_bytes"], found["write_bytes"] = self.read_bytes, self.write_bytes
        if self.speed is not None and self.lateness.count:
            share = self.late_share
            found["lateness"] = {
                **_summary(self.lateness),
                "share_of_latency": share if share != float("inf") else None,
                "too_late": self.is_late,
            }
        return found


def _summary(latencies: LatencyHistogram) -> dict[str, float]:
    return {
        "mean_s": latencies.mean,
        "p50_s": latencies.percentile(50.0),
        "p99_s": latencies.percentile(99.0),
        "max_s": latencies.max,
    }
