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


ARRAY = """
name: an array of drives
machine:
  model: nvme-server
  cpu: {{model: server-core, cores: 8, prices: {{bio: {bio}, clone: 3us}}}}
  drives: {{model: Intel-Optane-P4800X-375GB, count: {count}}}
arrays:
  md0: {{level: {level}}}
workload: {{kind: load}}
"""


@pytest.mark.parametrize(
    ("level", "count", "rw", "passed_us"),
    [
        ("raid0", 2, "randread", 2),
        ("raid1", 2, "randwrite", 6),
        ("raid5", 3, "randread", 2),
        ("raid6", 4, "randread", 2),
        ("raid5", 3, "randwrite", 5.4),
    ],
)
def test_a_thread_pays_for_what_md_does_with_its_io(level: str, count: int, rw: str, passed_us: float) -> None:
    """Protects slat, system time, and the rate of one job on many cores: md passes on an I/O (2 us) or clones it for
    each mirror (3 us) inside the submission, also where a read goes past the stripe cache. A write to RAID 5 passes it
    on, clones it, and finds a stripe head (0.4 us). Counter-test: a job on a drive pays for its own I/O alone.
    """
    job = f"[a] filename=/dev/{{on}} rw={rw} bs=4k direct=1 ioengine=libaio iodepth={{depth}} number_ios=400 size=1g"
    machine = ARRAY.format(level=level, count=count, bio="2us")
    for depth in (1, 32):
        found = (only(job.format(on=on, depth=depth), machine) for on in ("md0", "disk0"))
        array, drive = (each.directions[rw.removeprefix("rand")] for each in found)
        assert array.slat.mean - drive.slat.mean == pytest.approx(passed_us * 1e-6, rel=0.06)  # with waits for locks
        assert array.lat.mean == pytest.approx(array.slat.mean + array.clat.mean, abs=2e-9)
    assert array.lat.mean > 1.3 * drive.lat.mean  # of the thread that has no time left


@pytest.mark.parametrize("engine", ["libaio", "psync"])
@pytest.mark.parametrize("passed_us", [2, 6, 0])
def test_a_drive_has_an_io_after_md_has_passed_it_on(engine: str, passed_us: float) -> None:
    """Protects the latency of single I/Os on arrays of fast drives: md maps an I/O before a member begins with it, so
    RAID 0 adds that to `slat` (or to a whole pread) and takes nothing from `clat`. Counter-test: 0 us add nothing.
    """
    job = f"[a] filename=/dev/{{on}} rw=randread bs=4k direct=1 ioengine={engine} iodepth=1 number_ios=400 size=1g"
    machine = ARRAY.format(level="raid0", count=2, bio=f"{passed_us}us")
    found = (only(job.format(on=on), machine) for on in ("md0", "disk0"))
    array, drive = (each.directions["read"] for each in found)
    assert array.lat.mean - drive.lat.mean == pytest.approx(passed_us * 1e-6, rel=0.05, abs=1e-8)
    if engine == "libaio":
        assert array.clat.mean == pytest.approx(drive.clat.mean, rel=0.01)
