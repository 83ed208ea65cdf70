"""Queues of saturated members: how far they drift apart, and how many I/Os that takes."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.layouts import StripedLayout
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.statistics.latency_histogram import LatencyHistogram

GIB = 1 << 30
SERVICE_S = 1e-3


def latencies(members: int, depth: int, ios: int, skipped: int = 0) -> LatencyHistogram:
    """Latencies of `ios` random reads after `skipped` ones, `depth` outstanding, on RAID 0 of members of 1 ms each."""
    engine = Engine(1)
    drives = [FixedServiceDevice(engine, f"d{i}", GIB, linear_service(SERVICE_S), 1) for i in range(members)]
    load = ClosedLoad(
        engine, StripeArray(engine, "md0", drives, StripedLayout([GIB] * members, 65536)), size=4096, depth=depth
    )
    engine.run(until=skipped * SERVICE_S / members)
    load.read_latency = LatencyHistogram()
    engine.run(until=(skipped + ios) * SERVICE_S / members)
    return load.read_latency


def test_queues_of_saturated_members_drift_apart() -> None:
    """Protects percentiles of arrays at saturation. All ways to divide N outstanding I/Os among M members become about
    equally likely, so a member has more than x of them with probability (1 - x/N)^(M-1). The median is below the mean,
    the 99th percentile at three times it. This takes some N^2/M I/Os. Counter-tests: a short run, and a single member.
    """
    depth, members = 64, 4
    mean_s = depth / members * SERVICE_S
    settling = depth**2 // members
    found = latencies(members, depth, 40 * settling, 2 * settling)
    assert found.mean == pytest.approx(mean_s, rel=0.1)
    for percent in (50, 90, 99):
        expected_s = depth * (1 - (1 - percent / 100) ** (1 / (members - 1))) * SERVICE_S
        assert found.percentile(percent) == pytest.approx(expected_s, rel=0.2)
    soon = latencies(members, depth, settling // 8, depth)
    assert soon.percentile(99) < 0.75 * found.percentile(99)
    single = latencies(1, depth // members, settling, depth)
    assert single.percentile(99) == pytest.approx(mean_s, rel=0.02)
