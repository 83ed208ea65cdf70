"""Two sequential readers on a mirror of a hardware controller: a drive each, or both on both."""

from __future__ import annotations

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

TEXT = """
kernel: linux-5.4
machine:
  model: server
  drives: {{model: Constellation-ES.3-4TB-SAS, count: 2, overrides: {{minimum_prefetch: 0B}}}}
  controllers: {{c: {{model: LSI-9361-8i, overrides: {{write_policy: write-through, read_ahead_rows: 0, {changes}}}}}}}
arrays: {{md0: {{level: {level}, members: [{members}], controller: c}}}}
workload: {{kind: load, targets: [md0], pattern: sequential, jobs: {jobs}, depth: {depth}, span: 16GiB,
  warm_up: 300ms, duration: 700ms}}
"""


def rate(depth: int, jobs: int = 2, level: str = "raid1", members: str = "disk0, disk1", changes: str = "") -> float:
    """Bytes/s of sequential 4 KiB reads in two places of a volume."""
    text = TEXT.format(depth=depth, jobs=jobs, level=level, members=members, changes=changes)
    return simulate(document_from(text).spec()).rate


def alone() -> float:
    """Bytes/s of one reader on one drive."""
    return rate(256, 1, "raid0", "disk0")


def test_more_than_the_volume_takes_sends_both_readers_to_both_drives() -> None:
    """The rule counts commands: where both readers wait for the volume's queue, the drives' queues differ by more than
    four all the time, and heads move between both places.
    """
    assert rate(256) < 0.8 * alone()


def test_short_queues_leave_each_reader_its_drive() -> None:
    """Counter-test: with two commands each the queues never differ by more than four, and both drives stream."""
    assert rate(2) == pytest.approx(2 * rate(2, 1, "raid0", "disk0"), rel=0.1)


def test_one_reader_gains_nothing_from_a_second_drive() -> None:
    """Counter-test of both: a single reader with a short queue has the rate of one drive."""
    assert rate(2, 1) == pytest.approx(rate(2, 1, "raid0", "disk0"), rel=0.05)
