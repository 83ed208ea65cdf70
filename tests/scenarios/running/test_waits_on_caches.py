"""What I/Os through SSD caches wait for is told by what is behind the cache, not as time of the CPU."""

from __future__ import annotations

import math

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

CACHED = """
machine: {model: server, drives: {disk: {model: Exos-10E2400-2400GB}, flash: {model: Samsung-PM9A3-3840GB}}}
caches: {c0: {on: disk, cache: flash, size: 4GiB, kind: KIND}}
workload: {kind: load, targets: [c0], read_share: 50%, depth: 8, span: 8GiB, warm_up: 0s, duration: 2s}
"""
KINDS = [
    ("dm-cache", "writethrough"),
    ("dm-cache", "writeback"),
    ("dm-cache", "passthrough"),
    ("bcache", "writearound"),
    ("bcache", "writethrough"),
    ("bcache", "writeback"),
    ("dm-writecache", None),
]


@pytest.mark.parametrize(("kind", "mode"), KINDS)
def test_a_slow_io_does_not_wait_for_the_cpu(kind: str, mode: str | None) -> None:
    """Writes to both devices lost their trail, and a fifth of a write of dm-cache was CPU time that nobody needed."""
    chosen = kind if mode is None else f"{kind}, mode: {mode}"
    found = simulate(document_from(CACHED.replace("KIND", chosen)).spec())
    for op, times in found.waits.items():
        whole = math.fsum(times.values())
        assert whole == pytest.approx(found.figures[f"{op}_mean_seconds"])
        assert times.get("CPU", 0.0) < max(0.02 * whole, 30e-6), (op, times)
