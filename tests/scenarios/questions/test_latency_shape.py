"""Flat or steep: what a run says of its latencies at a lock."""

from __future__ import annotations

import pytest

from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.latency_shape import latency_shape
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

TEXT = """
kernel: {kernel}
machine:
  model: nvme-server
  cpu: {{model: server-core, cores: {jobs}}}
  drives: {{model: {drive}, count: 4}}
arrays: {{md0: {{level: raid5}}}}
workload: {{kind: load, block_size: 4KiB, read_share: 100%, jobs: {jobs}, depth: {depth}, warm_up: 1ms, duration: 2ms}}
"""


def said(kernel: str, drive: str, jobs: int, depth: int) -> str | None:
    """What is said of a run."""
    text = TEXT.format(kernel=kernel, drive=drive, jobs=jobs, depth=depth)
    return latency_shape(simulate(document_from(text).spec(), Sample()))


def test_latencies_at_a_lock_are_flat() -> None:
    """Protects the sign of a software ceiling, and the remedy that needs no other kernel."""
    words = said("linux-5.10", "RAM-disk", 48, 1)
    assert words is not None
    assert words.startswith("Latencies are flat, as in one queue: the 99th percentile is 1")
    assert words.endswith("Several arrays have a lock each.")


@pytest.mark.parametrize(
    ("kernel", "drive", "jobs", "depth"),
    [("linux-5.10", "RAM-disk", 1, 1), ("linux-6.1", "Samsung-870-EVO-1TB", 4, 64)],
)
def test_nothing_is_said_where_no_lock_limits(kernel: str, drive: str, jobs: int, depth: int) -> None:
    """The counter-tests: one reader with one I/O at a time, and drives that limit."""
    assert said(kernel, drive, jobs, depth) is None
