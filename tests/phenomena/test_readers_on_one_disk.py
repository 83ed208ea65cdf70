"""Several programs read one disk in order: a scheduler that waits for their next reads keeps most of its rate."""

from __future__ import annotations

import pytest

from raidsim.tests.phenomena.machine_variants import LINUX_26, ONE, Case, Change, rate

LINUX_26_CFQ = "linux-2.6.20"


def _kept(kernel: str, readers: int, *changes: Change) -> float:
    """Share of one reader's rate that all have together."""
    one = rate(Case(kernel, "read", ONE, block_size=65536))
    return rate(Case(kernel, "read", ONE * readers, block_size=65536, kernel_changes=changes)) / one


@pytest.mark.parametrize("kernel", [LINUX_26, LINUX_26_CFQ])
@pytest.mark.parametrize("readers", [2, 4])
def test_readers_in_order_lose_little_to_each_other(kernel: str, readers: int) -> None:
    """Protects the point of anticipation and of slices: the disk seeks a few times a second, not with every read."""
    assert 0.65 < _kept(kernel, readers) < 0.95


@pytest.mark.parametrize(
    ("kernel", "change"), [(LINUX_26, ("queue.anticipation", 0.0)), (LINUX_26_CFQ, ("queue.slice_idle", 0.0))]
)
def test_without_waiting_they_lose_most(kernel: str, change: Change) -> None:
    """The counter-test: the same schedulers without idling serve a read here and a read there."""
    assert _kept(kernel, 2, change) < 0.4
