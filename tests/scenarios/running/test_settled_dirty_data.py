"""Runs on pools settle although each transaction group empties dirty data, and not before those that fill are full."""

from __future__ import annotations

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

POOL = """
machine: {model: server, memory: 64GiB, drives: {model: Exos-15E900-900GB, count: 2}}
pools: {tank: {vdevs: mirrors, datasets: {vm: {volume: 100GiB, volblocksize: 64KiB}}}}
zfs_parameters: {zfs_dirty_data_max: 4GiB}
"""


def predicted(load: str) -> Prediction:
    """What a load on the volume gives that says nothing of its times."""
    return simulate(document_from(f"{POOL}workload: {{{load}}}").spec())


def test_what_each_group_empties_is_settled() -> None:
    """A group each 5 s is no trend, so a run on a slow pool ends; before the first group reads are a third faster."""
    found = predicted("block_size: 16KiB, read_share: 70%, depth: 32, independent: true")
    assert found.settled
    assert 10.0 < found.measured_s < 300.0
    assert found.rate < 42e6


def test_what_fills_is_not() -> None:
    """Streams of writes go at the speed of memory until 60 % of the limit are dirty; the rate is that of the disks."""
    found = predicted("block_size: 1MiB, read_share: 0%, pattern: sequential, depth: 8, precision: 10%")
    assert found.rate < 350e6
