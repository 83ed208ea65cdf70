"""What fio's thread sees of an I/O on an NVMe drive: its core wakes up before it does."""

from __future__ import annotations

import pytest

from raidsim.scenarios.fio.result import LatencySeries
from raidsim.tests.scenarios.fio.fio_runs import only

NVME = """
name: one drive
machine:
  model: nvme-server
  cpu: {{model: server-core, cores: 2, idle_states: {states}}}
  drives: {{model: Intel-Optane-P4800X-375GB, count: 1}}
workload: {{kind: load}}
"""
JOB = "[a] filename=/dev/disk0 rw=randread bs=4k direct=1 ioengine={engine} iodepth={depth} number_ios=400 size=1g"
STATES = "[[1us, 1us], [4us, 3us], [600us, 41us]]"


def latency(states: str, depth: int = 1, engine: str = "libaio") -> LatencySeries:
    """Completion latencies of single reads, with these idle states."""
    found = only(JOB.format(depth=depth, engine=engine), NVME.format(states=states))
    return found.directions["read"].clat


@pytest.mark.parametrize("engine", ["libaio", "io_uring", "psync"])
def test_a_job_with_one_io_waits_for_its_core(engine: str) -> None:
    """A drive of about 10 us leaves the core in its second state: each read is complete 3 us later."""
    asleep, awake = latency(STATES, engine=engine), latency("[]", engine=engine)
    assert asleep.mean - awake.mean == pytest.approx(3e-6, rel=0.05)


def test_a_busy_core_does_not_sleep() -> None:
    """With 64 I/Os outstanding the core has no time to sleep, and the states change nothing."""
    assert latency(STATES, 64).mean == pytest.approx(latency("[]", 64).mean, rel=0.01)
