"""A log, every record of which is on the medium before the next: what counts is what a flush costs the drive."""

from __future__ import annotations

from functools import cache

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

TEXT = """
kernel: linux-6.12
machine: {model: server, memory: 4GiB, drives: {model: %s, count: 1}}
file_systems: {/log: {kind: %s, on: disk0, overrides: {barrier: %s}}}
workload: {kind: programs, steps: [{program: dd, size: 512KiB, block_size: 4KiB, oflag: dsync}]}
"""
DISK, CONSUMER, PROTECTED = "WD5000AAKS", "Corsair-MP600-1TB", "Samsung-PM9A3-3840GB"


@cache
def records(drive: str, kind: str = "ext4", barrier: str = "true") -> float:
    """Records of 4 KiB a second."""
    prediction = simulate(document_from(TEXT % (drive, kind, barrier)).spec(), Sample(scale=1))
    return 128 / prediction.figures["dd.seconds"]


@pytest.mark.parametrize("kind", ["ext4", "xfs-v5"])
def test_capacitors_make_a_log_fast(kind: str) -> None:
    """An SSD whose cache survives a power failure takes ten times as many records as one that has to program its flash
    for each, and that one ten times as many as a disk, which has to turn. The cause is the flush of each commit:
    without barriers the two SSDs are alike within a factor of two, and a disk's cache takes dozens of times as many.
    """
    assert records(PROTECTED, kind) > 8 * records(CONSUMER, kind)
    assert records(CONSUMER, kind) > 8 * records(DISK, kind)
    assert records(DISK, kind) < 120, "two turns a record at the least"
    assert records(PROTECTED, kind, "false") < 2 * records(CONSUMER, kind, "false")
    assert records(DISK, kind, "false") > 20 * records(DISK, kind)
