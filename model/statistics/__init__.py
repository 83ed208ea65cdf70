"""What a run is summed up with: latency percentiles, means with intervals, and who was busy.

The parts stand in their own files; this one is where others import them from.
"""

from __future__ import annotations

from .batch_means import BatchMeans, BatchRates, Estimate
from .latency_histogram import LatencyHistogram
from .usage import SATURATED, Limit, Usage, bottleneck, limit

__all__ = [
    "SATURATED",
    "BatchMeans",
    "BatchRates",
    "Estimate",
    "LatencyHistogram",
    "Limit",
    "Usage",
    "bottleneck",
    "limit",
]
